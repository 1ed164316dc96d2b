// SPDX-License-Identifier: MIT
// Compute encoders: the hot path. dispatchThreadgroups and setComputePipelineState look at the encoder that
// is the context of this thread's stream; if it is the one they were called on, they write their record and
// jump on to the original with the arguments where they are. Everything else goes the long way. The short way
// keeps no note of the call, so it is taken only on classes where super cannot come back to us.
#include "hooks.h"
#include "tap.h"

#define likely(condition) __builtin_expect(!!(condition), 1)

typedef void (*dispatch_method)(id, SEL, mtl_size, mtl_size);
typedef void (*pipeline_method)(id, SEL, id);

// ---- the long way ----
static struct mt_encoder_entry *entry_of(const struct mt_call *call)
{
    return call->outermost ? mt_encoder_of(call->self) : NULL;
}

static uint32_t pipeline_of(const struct mt_encoder_entry *encoder)
{
    return mt_rec_small((uint32_t)encoder->head);
}

static uint16_t threadgroup_units_of(const struct mt_encoder_entry *encoder)
{
    return (uint16_t)(encoder->head >> 32);
}

static uint16_t clamp16(NSUInteger value)
{
    return value < UINT16_MAX ? (uint16_t)value : UINT16_MAX;
}

static void record_dispatch(struct mt_encoder_entry *encoder, enum mt_record_type type, mtl_size grid,
                            mtl_size threads)
{
    if (!mt_context(encoder))
        return;
    struct mt_rec_dispatch record = {
        .word = MT_REC_WORD(type, pipeline_of(encoder)),
        .threadgroup_memory = threadgroup_units_of(encoder),
        .threadgroup = {clamp16(threads.width), clamp16(threads.height), clamp16(threads.depth)},
        .grid = {(uint32_t)grid.width, (uint32_t)grid.height, (uint32_t)grid.depth},
    };
    if (likely(!((grid.width | grid.height | grid.depth) >> 32))) {
        mt_record_event(&record);
        return;
    }
    struct mt_rec_dispatch_wide wide = {
        .word = MT_REC_WORD(MT_REC_DISPATCH_WIDE, pipeline_of(encoder)),
        .threadgroup_memory = record.threadgroup_memory,
        .threadgroup = {record.threadgroup[0], record.threadgroup[1], record.threadgroup[2]},
        .in_threads = type == MT_REC_DISPATCH_THREADS,
        .grid = {grid.width, grid.height, grid.depth},
    };
    mt_record_event(&wide);
}

// While the call is forwarded, dispatches that Metal makes on the same encoder take the long way as well,
// where they are seen to be nested.
static void dispatch_slowly(id self, SEL op, enum mt_hook hook, enum mt_record_type type, mtl_size grid,
                            mtl_size threads)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, hook);
    struct mt_encoder_entry *encoder = entry_of(&call);
    id fast = NULL;
    if (encoder) {
        record_dispatch(encoder, type, grid, threads);
        fast = encoder->fast;
        mt_encoder_set_fast(encoder, NULL);
    }
    MT_FORWARD(call, void, mtl_size, mtl_size)(self, op, grid, threads);
    if (encoder)
        mt_encoder_set_fast(encoder, fast);
    mt_call_end(&call);
}

static __attribute__((noinline)) void threadgroups_slowly(id self, SEL op, mtl_size groups, mtl_size threads)
{
    dispatch_slowly(self, op, MT_HOOK_COMPUTE_dispatchThreadgroups, MT_REC_DISPATCH_GROUPS, groups, threads);
}

// Metal may make a dispatchThreads of dispatchThreadgroups, so this one never goes the short way.
void mt_hook_COMPUTE_dispatchThreads(id self, SEL op, mtl_size grid, mtl_size threads)
{
    dispatch_slowly(self, op, MT_HOOK_COMPUTE_dispatchThreads, MT_REC_DISPATCH_THREADS, grid, threads);
}

void mt_hook_COMPUTE_dispatchIndirect(id self, SEL op, id buffer, NSUInteger offset, mtl_size threads)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_dispatchIndirect);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder) {
        mtl_size place = {offset & UINT32_MAX, offset >> 32, 0};
        record_dispatch(encoder, MT_REC_DISPATCH_INDIRECT, place, threads);
    }
    MT_FORWARD(call, void, id, NSUInteger, mtl_size)(self, op, buffer, offset, threads);
    mt_call_end(&call);
}

// ---- the short way ----
void mt_hook_COMPUTE_dispatchThreadgroups(id self, SEL op, mtl_size groups, mtl_size threads)
{
    struct mt_record_place *place = mt_record_here;
    const struct mt_encoder_entry *encoder = __atomic_load_n(&place->context, __ATOMIC_RELAXED);
    struct mt_slot *slot = place->cursor;
    if (!likely(mt_encoder_is_fast(encoder, self)) || !likely(slot != place->end) ||
        !likely(!((groups.width | groups.height | groups.depth) >> 32))) {
        threadgroups_slowly(self, op, groups, threads);
        return;
    }
    struct mt_rec_dispatch *record = (struct mt_rec_dispatch *)slot;
    slot->body[0] = encoder->head; // type, pipeline, threadgroup memory; the rest is written over
    record->threadgroup[0] = (uint16_t)threads.width;
    record->threadgroup[1] = (uint16_t)threads.height;
    record->threadgroup[2] = (uint16_t)threads.depth;
    record->grid[0] = (uint32_t)groups.width;
    record->grid[1] = (uint32_t)groups.height;
    record->grid[2] = (uint32_t)groups.depth;
    mt_record_publish(place, slot);
    ((dispatch_method)encoder->dispatch_threadgroups)(self, op, groups, threads);
}

// ---- pipelines ----
static void remember_pipeline(struct mt_encoder_entry *encoder, id pipeline)
{
    struct mt_pipeline_entry *known = encoder->pipeline;
    if (!known || !mt_object_is(&known->o, pipeline)) {
        known = pipeline ? mt_objects_find(MT_KIND_PIPELINE, pipeline) : NULL;
        if (pipeline && !known)
            known = mt_know_pipeline_late(pipeline);
        encoder->pipeline = known;
    }
    uint32_t word = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, known ? known->o.id : 0);
    // Stored whole, since the next dispatch loads it whole.
    __atomic_store_n(&encoder->head, (encoder->head & ~(uint64_t)UINT32_MAX) | word, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void set_pipeline_slowly(id self, SEL op, id pipeline)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_setComputePipelineState);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder)
        remember_pipeline(encoder, pipeline);
    MT_FORWARD(call, void, id)(self, op, pipeline);
    mt_call_end(&call);
}

void mt_hook_COMPUTE_setComputePipelineState(id self, SEL op, id pipeline)
{
    struct mt_encoder_entry *encoder = __atomic_load_n(&mt_record_here->context, __ATOMIC_RELAXED);
    if (!likely(mt_encoder_is_fast(encoder, self))) {
        set_pipeline_slowly(self, op, pipeline);
        return;
    }
    remember_pipeline(encoder, pipeline);
    ((pipeline_method)encoder->set_pipeline)(self, op, pipeline);
}

// ---- the rest ----
static void add_up_threadgroup_memory(struct mt_encoder_entry *encoder, NSUInteger length, NSUInteger index)
{
    enum { INDICES = sizeof encoder->threadgroup_bytes / sizeof *encoder->threadgroup_bytes };
    if (index >= INDICES)
        return;
    encoder->has_threadgroup_bytes = true;
    encoder->threadgroup_bytes[index] = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
    uint64_t bytes = 0;
    for (unsigned i = 0; i < INDICES; i++)
        bytes += encoder->threadgroup_bytes[i];
    uint64_t units = clamp16((bytes + 15) / 16);
    encoder->head = (encoder->head & UINT32_MAX) | units << 32;
}

void mt_hook_COMPUTE_setThreadgroupMemoryLength(id self, SEL op, NSUInteger length, NSUInteger index)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_setThreadgroupMemoryLength);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder)
        add_up_threadgroup_memory(encoder, length, index);
    MT_FORWARD(call, void, NSUInteger, NSUInteger)(self, op, length, index);
    mt_call_end(&call);
}

static void record_barrier(const struct mt_call *call, enum mt_sync_kind kind, uint64_t value)
{
    struct mt_encoder_entry *encoder = entry_of(call);
    if (!encoder)
        return;
    struct mt_rec_sync record = {
        .word = MT_REC_WORD(MT_REC_SYNC, kind),
        .object = encoder->o.id,
        .value = value,
    };
    mt_record_event(&record);
}

void mt_hook_COMPUTE_memoryBarrierWithScope(id self, SEL op, NSUInteger scope)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_memoryBarrierWithScope);
    record_barrier(&call, MT_SYNC_BARRIER_SCOPE, scope);
    MT_FORWARD(call, void, NSUInteger)(self, op, scope);
    mt_call_end(&call);
}

void mt_hook_COMPUTE_memoryBarrierWithResources(id self, SEL op, const id *resources, NSUInteger count)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_memoryBarrierWithResources);
    record_barrier(&call, MT_SYNC_BARRIER_RESOURCES, count);
    MT_FORWARD(call, void, const id *, NSUInteger)(self, op, resources, count);
    mt_call_end(&call);
}

static void record_execute(const struct mt_call *call, bool indirect, uint64_t first, uint64_t count)
{
    struct mt_encoder_entry *encoder = entry_of(call);
    if (!encoder)
        return;
    struct mt_rec_execute record = {
        .word = MT_REC_WORD(MT_REC_EXECUTE, indirect),
        .encoder = encoder->o.id,
        .first = first,
        .count = count,
    };
    mt_record_event(&record);
}

void mt_hook_COMPUTE_executeCommands(id self, SEL op, id commands, ns_range range)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_executeCommands);
    record_execute(&call, false, range.location, range.length);
    MT_FORWARD(call, void, id, ns_range)(self, op, commands, range);
    mt_call_end(&call);
}

void mt_hook_COMPUTE_executeCommandsIndirect(id self, SEL op, id commands, id buffer, NSUInteger offset)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMPUTE, MT_HOOK_COMPUTE_executeCommandsIndirect);
    record_execute(&call, true, offset, 0);
    MT_FORWARD(call, void, id, id, NSUInteger)(self, op, commands, buffer, offset);
    mt_call_end(&call);
}
