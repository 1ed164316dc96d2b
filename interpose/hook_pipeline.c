// SPDX-License-Identifier: MIT
// Compute pipelines: what they are called in the report, how long Metal took to make them, and what a
// threadgroup of theirs may be. Runs on the program's threads and, for the forms with a completion handler,
// on Metal's. A pipeline has its number before the program has the pipeline: dispatches only copy it.
#include "hooks.h"
#include "making.h"
#include "objc/sends.h"

enum { PIPELINE_ASYNC = 1, PIPELINE_DESCRIPTOR = 2, PIPELINE_REFLECTION = 4, PIPELINE_LATE = 8 };

static uint16_t small_number(NSUInteger number)
{
    return number > UINT16_MAX ? UINT16_MAX : (uint16_t)number;
}

static void define_pipeline(const struct mt_making *making, struct mt_object *entry, id object,
                            uint32_t number, uint32_t error)
{
    (void)entry;
    struct mt_rec_pipeline record = {
        .word = MT_REC_WORD(MT_REC_PIPELINE, number),
        .function = making->function,
        .device = making->owner,
        .name = making->name,
        .error = error,
        .max_threads = small_number(mtl_pipeline_maxTotalThreadsPerThreadgroup(object)),
        .width = small_number(mtl_pipeline_threadExecutionWidth(object)),
        .begin = making->begin,
        .end = making->end,
        .static_threadgroup_bytes = (uint32_t)mtl_pipeline_staticThreadgroupMemoryLength(object),
        .constants = making->constants,
        .flags = making->form | (making->is_async ? PIPELINE_ASYNC : 0),
    };
    mt_record_define(&record);
}

static const struct mt_making_kind pipeline_kind = {
    .kind = MT_KIND_PIPELINE,
    .role = MT_ROLE_PIPELINE,
    .counter = MT_COUNT_PIPELINE,
    .unexplained = "no pipeline",
    .define = define_pipeline,
};

static void look_at_function(struct mt_making *making, id function)
{
    const struct mt_function_entry *known = function ? mt_objects_find(MT_KIND_FUNCTION, function) : NULL;
    if (known) {
        making->function = known->o.id;
        making->constants = known->constants;
        making->name = known->name;
    } else {
        making->name = mt_text_of(mtl_name(function));
    }
}

static void begin_pipeline(struct mt_making *making, const struct mt_call *call, id function, uint32_t flags,
                           id *error)
{
    *making = (struct mt_making){.kind = &pipeline_kind, .recorded = call->outermost, .form = flags};
    if (call->outermost) {
        struct mt_ours ours;
        mt_ours_begin(&ours);
        struct mt_device_entry *device = mt_know_device(call->self);
        making->owner = device ? device->o.id : 0;
        look_at_function(making, function);
        mt_ours_end(&ours);
    }
    mt_making_begin(making, error);
}

static void begin_described_pipeline(struct mt_making *making, const struct mt_call *call, id descriptor,
                                     uint32_t flags, id *error)
{
    flags |= PIPELINE_DESCRIPTOR;
    if (!call->outermost) {
        begin_pipeline(making, call, NULL, flags, error);
        return;
    }
    struct mt_ours ours;
    mt_ours_begin(&ours);
    uint32_t label = mt_text_of(mtl_label(descriptor));
    begin_pipeline(making, call, mtl_pipelineDescriptor_computeFunction(descriptor), flags, error);
    if (label)
        making->name = label;
    mt_ours_end(&ours);
}

static id end_pipeline(struct mt_making *making, struct mt_call *call, id pipeline)
{
    mt_making_end(making, pipeline);
    mt_call_end(call);
    return pipeline;
}

id mt_hook_DEVICE_newPipeline(id self, SEL op, id function, id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newPipeline);
    begin_pipeline(&making, &call, function, 0, error);
    return end_pipeline(&making, &call, MT_FORWARD(call, id, id, id *)(self, op, function, making.place));
}

id mt_hook_DEVICE_newPipelineReflection(id self, SEL op, id function, NSUInteger options, id *reflection,
                                        id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newPipelineReflection);
    begin_pipeline(&making, &call, function, reflection ? PIPELINE_REFLECTION : 0, error);
    id pipeline = MT_FORWARD(call, id, id, NSUInteger, id *, id *)(self, op, function, options, reflection,
                                                                   making.place);
    return end_pipeline(&making, &call, pipeline);
}

id mt_hook_DEVICE_newPipelineDescriptor(id self, SEL op, id descriptor, NSUInteger options, id *reflection,
                                        id *error)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newPipelineDescriptor);
    begin_described_pipeline(&making, &call, descriptor, reflection ? PIPELINE_REFLECTION : 0, error);
    id pipeline = MT_FORWARD(call, id, id, NSUInteger, id *, id *)(self, op, descriptor, options, reflection,
                                                                   making.place);
    return end_pipeline(&making, &call, pipeline);
}

// ---- with a completion handler ----
void mt_hook_DEVICE_newPipelineAsync(id self, SEL op, id function, void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newPipelineAsync);
    begin_pipeline(&making, &call, function, 0, NULL);
    void *ours = mt_making_handler(&making, handler);
    MT_FORWARD(call, void, id, void *)(self, op, function, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

void mt_hook_DEVICE_newPipelineOptionsAsync(id self, SEL op, id function, NSUInteger options, void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newPipelineOptionsAsync);
    begin_pipeline(&making, &call, function, PIPELINE_REFLECTION, NULL);
    void *ours = mt_making_reflection_handler(&making, handler);
    MT_FORWARD(call, void, id, NSUInteger, void *)(self, op, function, options, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

void mt_hook_DEVICE_newPipelineDescriptorAsync(id self, SEL op, id descriptor, NSUInteger options,
                                               void *handler)
{
    struct mt_call call;
    struct mt_making making;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newPipelineDescriptorAsync);
    begin_described_pipeline(&making, &call, descriptor, PIPELINE_REFLECTION, NULL);
    void *ours = mt_making_reflection_handler(&making, handler);
    MT_FORWARD(call, void, id, NSUInteger, void *)(self, op, descriptor, options, ours ? ours : handler);
    mt_call_end(&call);
    mt_objc_block_release(ours);
}

// ---- from before the tap was there ----
struct mt_pipeline_entry *mt_know_pipeline_late(id pipeline)
{
    if (!pipeline)
        return NULL;
    bool define;
    struct mt_pipeline_entry *entry =
        mt_know_claim(MT_KIND_PIPELINE, pipeline, MT_COUNT_PIPELINE, false, &define);
    if (!define)
        return entry;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    struct mt_device_entry *device = mt_know_device(mtl_device(pipeline));
    struct mt_making making = {
        .form = PIPELINE_LATE,
        .owner = device ? device->o.id : 0,
        .name = mt_text_of(mtl_label(pipeline)),
    };
    entry->made = mt_os_ticks();
    define_pipeline(&making, &entry->o, pipeline, entry->o.id, 0);
    mt_ours_end(&ours);
    return entry;
}
