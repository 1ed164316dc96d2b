// SPDX-License-Identifier: MIT
// What all encoders have: their beginning and end, the context they are for the dispatches of a thread, debug
// groups, signposts, labels and fences. Runs on the program's threads.
#include "hooks.h"
#include "tap.h"

#include <string.h>

// ---- entries ----
struct mt_encoder_entry *mt_know_encoder(id encoder, struct mt_cb_entry *commands, uint8_t kind, uint8_t form,
                                         uint8_t dispatch_type)
{
    struct mt_class *cls = mt_swizzle_fast(encoder, kind == MT_ENCODER_BLIT ? MT_ROLE_BLIT : MT_ROLE_COMPUTE);
    struct mt_encoder_entry *entry = mt_objects_add(MT_KIND_ENCODER, encoder, NULL);
    if (!entry || !cls)
        return NULL;
    entry->o.id = mt_record_next(MT_COUNT_ENCODER);
    entry->head = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, 0);
    entry->cls = cls;
    entry->command_buffer = commands->o.id;
    entry->pipeline = NULL;
    entry->place = NULL;
    entry->dispatch_threadgroups = cls->original[MT_HOOK_COMPUTE_dispatchThreadgroups];
    entry->set_pipeline = cls->original[MT_HOOK_COMPUTE_setComputePipelineState];
    if (entry->has_threadgroup_bytes)
        memset(entry->threadgroup_bytes, 0, sizeof entry->threadgroup_bytes);
    entry->has_threadgroup_bytes = false;
    mt_encoder_set_fast(entry, cls->nested || mt_os_ticks_from_clock ? NULL : encoder);
    struct mt_rec_encoder_begin record = {
        .word = MT_REC_WORD(MT_REC_ENCODER_BEGIN, 0),
        .encoder = entry->o.id,
        .command_buffer = commands->o.id,
        .kind = kind,
        .dispatch_type = dispatch_type,
        .form = form,
    };
    if (mt_record_event(&record)) {
        entry->place = mt_record_here;
        __atomic_store_n(&mt_record_here->context, entry, __ATOMIC_RELAXED);
    }
    return entry;
}

// An encoder is the context of one thread's stream at most: whoever had it before loses it, so that an entry
// that is used again is never taken for the encoder it was.
static void leave_place(struct mt_encoder_entry *encoder)
{
    struct mt_record_place *place = encoder->place;
    encoder->place = NULL;
    if (place && __atomic_load_n(&place->context, __ATOMIC_RELAXED) == encoder)
        __atomic_store_n(&place->context, mt_record_no_context, __ATOMIC_RELAXED);
}

bool mt_context(struct mt_encoder_entry *encoder)
{
    if (__atomic_load_n(&mt_record_here->context, __ATOMIC_RELAXED) == encoder)
        return true;
    struct mt_rec_context record = {
        .word = MT_REC_WORD(MT_REC_CONTEXT, 0),
        .encoder = encoder->o.id,
        .command_buffer = encoder->command_buffer,
    };
    if (!mt_record_event(&record))
        return false;
    leave_place(encoder);
    encoder->place = mt_record_here;
    __atomic_store_n(&mt_record_here->context, encoder, __ATOMIC_RELAXED);
    return true;
}

void mt_encoder_ended(struct mt_encoder_entry *encoder)
{
    struct mt_slot instead[1];
    struct mt_rec_encoder_end *record = mt_record_open(1, instead);
    record->word = MT_REC_WORD(MT_REC_ENCODER_END, 0);
    record->encoder = encoder->o.id;
    mt_record_close(record, 1, instead);
    mt_encoder_set_fast(encoder, NULL);
    leave_place(encoder);
    mt_objects_remove(&encoder->o);
}

static void slow_down(void *context, struct mt_object *entry)
{
    (void)context;
    struct mt_encoder_entry *encoder = (struct mt_encoder_entry *)entry;
    if (encoder->cls && encoder->cls->nested)
        mt_encoder_set_fast(encoder, NULL);
}

void mt_encoders_of_nested_classes(void)
{
    mt_objects_each(MT_KIND_ENCODER, slow_down, NULL);
}

// ---- hooks ----
static struct mt_encoder_entry *entry_of(const struct mt_call *call)
{
    return call->outermost ? mt_encoder_of(call->self) : NULL;
}

static void name(id self, SEL op, enum mt_role role, enum mt_hook hook, enum mt_record_type type, id text)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, role, hook);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder)
        mt_record_name(type, MT_OBJECT_ENCODER, encoder->o.id, text);
    MT_FORWARD(call, void, id)(self, op, text);
    mt_call_end(&call);
}

static void pop_group(id self, SEL op, enum mt_role role, enum mt_hook hook)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, role, hook);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder)
        mt_record_name(MT_REC_GROUP_POP, MT_OBJECT_ENCODER, encoder->o.id, NULL);
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}

static void fence_used(id self, SEL op, enum mt_role role, enum mt_hook hook, enum mt_sync_kind kind,
                       id fence)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, role, hook);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder) {
        struct mt_rec_sync record = {
            .word = MT_REC_WORD(MT_REC_SYNC, kind),
            .object = encoder->o.id,
            .value = (uintptr_t)fence,
        };
        mt_record_event(&record);
    }
    MT_FORWARD(call, void, id)(self, op, fence);
    mt_call_end(&call);
}

static void end_encoding(id self, SEL op, enum mt_role role, enum mt_hook hook)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, role, hook);
    struct mt_encoder_entry *encoder = entry_of(&call);
    if (encoder)
        mt_encoder_ended(encoder);
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}

// The same seven for each role.
#define ENCODER_HOOKS(role)                                                                                  \
    void mt_hook_##role##_pushDebugGroup(id self, SEL op, id group)                                          \
    {                                                                                                        \
        name(self, op, MT_ROLE_##role, MT_HOOK_##role##_pushDebugGroup, MT_REC_GROUP_PUSH, group);           \
    }                                                                                                        \
    void mt_hook_##role##_popDebugGroup(id self, SEL op)                                                     \
    {                                                                                                        \
        pop_group(self, op, MT_ROLE_##role, MT_HOOK_##role##_popDebugGroup);                                 \
    }                                                                                                        \
    void mt_hook_##role##_insertDebugSignpost(id self, SEL op, id signpost)                                  \
    {                                                                                                        \
        name(self, op, MT_ROLE_##role, MT_HOOK_##role##_insertDebugSignpost, MT_REC_SIGNPOST, signpost);     \
    }                                                                                                        \
    void mt_hook_##role##_setLabel(id self, SEL op, id label)                                                \
    {                                                                                                        \
        name(self, op, MT_ROLE_##role, MT_HOOK_##role##_setLabel, MT_REC_LABEL, label);                      \
    }                                                                                                        \
    void mt_hook_##role##_updateFence(id self, SEL op, id fence)                                             \
    {                                                                                                        \
        fence_used(self, op, MT_ROLE_##role, MT_HOOK_##role##_updateFence, MT_SYNC_FENCE_UPDATE, fence);     \
    }                                                                                                        \
    void mt_hook_##role##_waitForFence(id self, SEL op, id fence)                                            \
    {                                                                                                        \
        fence_used(self, op, MT_ROLE_##role, MT_HOOK_##role##_waitForFence, MT_SYNC_FENCE_WAIT, fence);      \
    }                                                                                                        \
    void mt_hook_##role##_endEncoding(id self, SEL op)                                                       \
    {                                                                                                        \
        end_encoding(self, op, MT_ROLE_##role, MT_HOOK_##role##_endEncoding);                                \
    }
ENCODER_HOOKS(COMPUTE)
ENCODER_HOOKS(BLIT)
