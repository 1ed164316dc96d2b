// SPDX-License-Identifier: MIT
// Devices: what they are, and the queues and shared events they make. Runs on the program's threads.
// Libraries and pipelines are in hook_library.c and hook_pipeline.c, memory in hook_memory.c.
#include "hooks.h"
#include "know.h"
#include "objc/sends.h"

// ---- what a device is ----
static uint32_t highest_family(id device)
{
    static const struct {
        uint16_t last, first;
    } rows[] = {
        {MTL_FAMILY_APPLE1 + 9, MTL_FAMILY_APPLE1},
        {MTL_FAMILY_MAC2, MTL_FAMILY_MAC2},
        {MTL_FAMILY_COMMON3, MTL_FAMILY_COMMON1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (uint32_t family = rows[i].last; family >= rows[i].first; family--) {
            if (mtl_device_supportsFamily(device, family))
                return family;
        }
    }
    return 0;
}

static void ask_families(id device, struct mt_rec_device *record)
{
    if (!mt_objc_responds(device, "supportsFamily:"))
        return;
    record->family = highest_family(device);
    if (mtl_device_supportsFamily(device, MTL_FAMILY_METAL4))
        record->metal3 = 2;
    else if (mtl_device_supportsFamily(device, MTL_FAMILY_METAL3))
        record->metal3 = 1;
}

static uint32_t sampling_points(id device)
{
    uint32_t points = 0;
    if (!mt_objc_responds(device, "supportsCounterSampling:"))
        return 0;
    for (unsigned point = MTL_SAMPLE_AT_STAGE; point <= MTL_SAMPLE_AT_BLIT; point++) {
        if (mtl_device_supportsCounterSampling(device, point))
            points |= 1U << point;
    }
    return points;
}

// Each question was new in some version of macOS.
static void define_device(id device, uint32_t number)
{
    struct mt_ours ours;
    mt_ours_begin(&ours);
    struct mt_rec_device record = {
        .word = MT_REC_WORD(MT_REC_DEVICE, number),
        .name = mt_text_of(mtl_name(device)),
        .sampling = sampling_points(device),
    };
    ask_families(device, &record);
    if (mt_objc_responds(device, "hasUnifiedMemory") && mtl_device_hasUnifiedMemory(device))
        record.flags |= MT_DEVICE_UNIFIED;
    if (mt_objc_responds(device, "isLowPower") && mtl_device_isLowPower(device))
        record.flags |= MT_DEVICE_LOW_POWER;
    if (mt_objc_responds(device, "registryID"))
        record.registry = mtl_device_registryID(device);
    if (mt_objc_responds(device, "recommendedMaxWorkingSetSize"))
        record.working_set_bytes = mtl_device_recommendedMaxWorkingSetSize(device);
    if (mt_objc_responds(device, "maxBufferLength"))
        record.max_buffer_bytes = mtl_device_maxBufferLength(device);
    if (mt_objc_responds(device, "maxThreadgroupMemoryLength"))
        record.max_threadgroup_memory = (uint32_t)mtl_device_maxThreadgroupMemoryLength(device);
    mt_record_define(&record);
    mt_ours_end(&ours);
}

struct mt_device_entry *mt_know_device(id device)
{
    if (!device)
        return NULL;
    struct mt_device_entry *entry = mt_objects_find(MT_KIND_DEVICE, device);
    if (entry)
        return entry;
    bool define;
    mt_swizzle(device, MT_ROLE_DEVICE);
    entry = mt_know_claim(MT_KIND_DEVICE, device, MT_COUNT_DEVICE, false, &define);
    if (define)
        define_device(device, entry->o.id);
    return entry;
}

// ---- queues ----
static void define_queue(id queue, struct mt_queue_entry *entry, uint32_t max_buffers, bool seen_late)
{
    struct mt_ours ours;
    mt_ours_begin(&ours);
    if (!entry->device_object)
        entry->device_object = mtl_device(queue);
    struct mt_device_entry *device = mt_know_device(entry->device_object);
    entry->device = device ? device->o.id : 0;
    struct mt_rec_queue record = {
        .word = MT_REC_WORD(MT_REC_QUEUE, entry->o.id),
        .device = entry->device,
        .max_buffers = max_buffers,
        .label = mt_text_of(mtl_label(queue)),
        .seen_late = seen_late,
    };
    mt_record_define(&record);
    mt_ours_end(&ours);
}

struct mt_queue_entry *mt_know_queue(id queue, id device, uint32_t max_buffers, bool seen_late)
{
    if (!queue)
        return NULL;
    bool define;
    mt_swizzle(queue, MT_ROLE_QUEUE);
    struct mt_queue_entry *entry = mt_know_claim(MT_KIND_QUEUE, queue, MT_COUNT_QUEUE, !seen_late, &define);
    if (define) {
        entry->device_object = device;
        define_queue(queue, entry, max_buffers, seen_late);
    }
    return entry;
}

static id after_queue(struct mt_call *call, id queue, uint32_t max_buffers)
{
    if (call->outermost)
        mt_know_queue(queue, call->self, max_buffers, false);
    mt_call_end(call);
    return queue;
}

id mt_hook_DEVICE_newCommandQueue(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newCommandQueue);
    return after_queue(&call, MT_FORWARD(call, id)(self, op), 0);
}

id mt_hook_DEVICE_newCommandQueueWithCount(id self, SEL op, NSUInteger count)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newCommandQueueWithCount);
    return after_queue(&call, MT_FORWARD(call, id, NSUInteger)(self, op, count), (uint32_t)count);
}

static uint32_t max_buffers_of(id descriptor)
{
    struct mt_ours ours;
    mt_ours_begin(&ours);
    NSUInteger count = 0;
    if (mt_objc_responds(descriptor, "maxCommandBufferCount"))
        count = mtl_queueDescriptor_maxCommandBufferCount(descriptor);
    mt_ours_end(&ours);
    return (uint32_t)count;
}

id mt_hook_DEVICE_newCommandQueueWithDescriptor(id self, SEL op, id descriptor)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newCommandQueueWithDescriptor);
    uint32_t max_buffers = call.outermost ? max_buffers_of(descriptor) : 0;
    return after_queue(&call, MT_FORWARD(call, id, id)(self, op, descriptor), max_buffers);
}

// ---- shared events: only so that waiting for one is seen ----
static id after_event(struct mt_call *call, id event)
{
    if (call->outermost)
        mt_swizzle(event, MT_ROLE_SHARED_EVENT);
    mt_call_end(call);
    return event;
}

id mt_hook_DEVICE_newSharedEvent(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newSharedEvent);
    return after_event(&call, MT_FORWARD(call, id)(self, op));
}

id mt_hook_DEVICE_newSharedEventWithHandle(id self, SEL op, id handle)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newSharedEventWithHandle);
    return after_event(&call, MT_FORWARD(call, id, id)(self, op, handle));
}
