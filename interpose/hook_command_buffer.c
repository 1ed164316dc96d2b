// SPDX-License-Identifier: MIT
// Command buffers: commit with our handlers, waits, debug groups, labels, events; and waits for shared
// events. The handlers are blocks inside the buffer's entry, so that a commit allocates nothing; they run on
// Metal's threads, read the times from the buffer they are given, and keep nothing alive.
#include "capture.h"
#include "hooks.h"
#include "objc/sends.h"
#include "tap.h"

#include <errno.h>
#include <stddef.h>

// ---- entries ----
// A finished buffer's entry stays, since programs like to wait for buffers that are done. When there get to
// be many, those of long ago go.
enum { REMEMBERED = 4096 };
static struct {
    uint32_t entries; // since the last sweep
    mt_lock sweeping;
} remembered;
static _Thread_local struct mt_cb_entry *last MT_TLS; // that this thread used
enum { RECENT = 8 };
static _Thread_local struct mt_cb_entry *recent[RECENT] MT_TLS; // that it made, by address

static void sweep_one(void *context, struct mt_object *object)
{
    struct mt_cb_entry *entry = (struct mt_cb_entry *)object;
    uint32_t newest = *(uint32_t *)context;
    if (__atomic_load_n(&entry->finished, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&entry->handlers, __ATOMIC_ACQUIRE) && newest - entry->o.id > REMEMBERED)
        mt_objects_remove(object);
}

static __attribute__((noinline)) void sweep(uint32_t newest)
{
    if (__atomic_exchange_n(&remembered.sweeping.taken, 1, __ATOMIC_ACQUIRE))
        return; // another thread does it
    __atomic_store_n(&remembered.entries, 0, __ATOMIC_RELAXED);
    mt_objects_each(MT_KIND_COMMAND_BUFFER, sweep_one, &newest);
    mt_lock_drop(&remembered.sweeping);
}

// The object at this address is another one now. Its entry is used again unless a handler is still to come.
static struct mt_cb_entry *take_over(struct mt_cb_entry *old, id commands)
{
    if (old->o.id && !old->committed) {
        struct mt_rec_cb_note record = {.word = MT_REC_WORD(MT_REC_CB_DISCARD, 0),
                                        .command_buffer = old->o.id};
        mt_record_event(&record);
        if (mt_tap_captures())
            mt_capture_finished(old->o.id);
    }
    if (__atomic_load_n(&old->handlers, __ATOMIC_ACQUIRE) == 0)
        return old;
    mt_objects_abandon(&old->o);
    return mt_objects_add(MT_KIND_COMMAND_BUFFER, commands, NULL);
}

static void record_create(struct mt_cb_entry *entry)
{
    uint32_t command_buffer = mt_record_next(MT_COUNT_COMMAND_BUFFER);
    entry->o.id = command_buffer;
    if (mt_tap_captures()) {
        bool disturbed = false;
        bool wanted = mt_capture_created(command_buffer, &disturbed);
        entry->flags |= wanted || disturbed ? MT_CB_CAPTURED : 0;
    }
    struct mt_slot instead[1];
    struct mt_rec_cb_create *record = mt_record_open(1, instead);
    record->word = MT_REC_WORD(MT_REC_CB_CREATE, 0);
    record->command_buffer = command_buffer;
    record->flags = entry->flags;
    record->queue = entry->queue;
    mt_record_close(record, 1, instead);
}

static __attribute__((noinline)) struct mt_cb_entry *add_entry(id commands)
{
    bool taken_over;
    struct mt_cb_entry *entry = mt_objects_add(MT_KIND_COMMAND_BUFFER, commands, &taken_over);
    if (entry && taken_over)
        entry = take_over(entry, commands);
    else if (entry && __atomic_add_fetch(&remembered.entries, 1, __ATOMIC_RELAXED) > 2 * REMEMBERED && last)
        sweep(last->o.id);
    return entry;
}

// Memory is used again at once, so a new buffer often lies where an earlier one of this thread was. Its entry
// is still in the table, as long as it is too young to be swept.
static struct mt_cb_entry *find_entry(id commands)
{
    struct mt_cb_entry **place = &recent[(uintptr_t)commands >> 5 & (RECENT - 1)];
    struct mt_cb_entry *entry = *place;
    if (__builtin_expect(entry && mt_object_is(&entry->o, commands) &&
                             __atomic_load_n(&entry->finished, __ATOMIC_RELAXED) && last &&
                             last->o.id - entry->o.id < REMEMBERED / 2 &&
                             !__atomic_load_n(&entry->handlers, __ATOMIC_ACQUIRE),
                         1))
        return entry;
    entry = add_entry(commands);
    *place = entry;
    return entry;
}

struct mt_cb_entry *mt_know_command_buffer(id commands, struct mt_queue_entry *queue, uint32_t flags)
{
    struct mt_class *cls = mt_swizzle_fast(commands, MT_ROLE_COMMAND_BUFFER);
    struct mt_cb_entry *entry = find_entry(commands);
    if (!entry || !cls)
        return NULL;
    entry->cls = cls;
    entry->queue = queue ? queue->o.id : 0;
    entry->flags = flags;
    entry->committed = false;
    __atomic_store_n(&entry->finished, false, __ATOMIC_RELAXED);
    entry->scheduled = 0;
    record_create(entry);
    last = entry;
    return entry;
}

// From before the tap was there.
static struct mt_cb_entry *seen_late(id commands)
{
    int saved = errno;
    struct mt_call ours;
    mt_calls_ours_begin(&ours);
    id queue = mtl_commandBuffer_commandQueue(commands);
    struct mt_queue_entry *known = queue ? mt_objects_find(MT_KIND_QUEUE, queue) : NULL;
    if (queue && !known)
        known = mt_know_queue(queue, NULL, 0, true);
    mt_calls_ours_end(&ours);
    errno = saved;
    return mt_know_command_buffer(commands, known, MT_CB_SEEN_LATE);
}

static struct mt_cb_entry *entry_of(const struct mt_call *call)
{
    if (!call->outermost)
        return NULL;
    if (__builtin_expect(last && mt_object_is(&last->o, call->self), 1))
        return last;
    struct mt_cb_entry *entry = mt_objects_find(MT_KIND_COMMAND_BUFFER, call->self);
    last = __builtin_expect(entry != NULL, 1) ? entry : seen_late(call->self);
    return last;
}

// ---- our handlers ----
// The methods that a completed handler asks, found once per class.
struct answers {
    Class cls;
    NSUInteger (*status)(id, SEL);
    double (*times[2])(id, SEL);
    SEL status_selector, selectors[2];
};

static bool find_answer(Class cls, const char *name, SEL *selector, mt_objc_imp *imp)
{
    struct mt_objc_method method;
    *selector = mt_objc_selector(name);
    if (!mt_objc_method(cls, *selector, &method))
        return false;
    *imp = method.imp;
    return true;
}

static const struct answers *answers_of(Class cls)
{
    static struct answers *newest;
    static const char *const names[2] = {"GPUStartTime", "GPUEndTime"};
    struct answers *known = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
    if (__builtin_expect(known && known->cls == cls, 1))
        return known;
    known = mt_arena(sizeof *known);
    if (!known)
        return NULL;
    known->cls = cls;
    mt_objc_imp imp;
    if (!find_answer(cls, "status", &known->status_selector, &imp))
        return NULL;
    known->status = (NSUInteger(*)(id, SEL))imp;
    for (int i = 0; i < 2; i++) {
        if (find_answer(cls, names[i], &known->selectors[i], &imp))
            known->times[i] = (double (*)(id, SEL))imp;
    }
    __atomic_store_n(&newest, known, __ATOMIC_RELEASE);
    return known;
}

static uint64_t answered_ns(const struct answers *answers, int which, id commands)
{
    double seconds = answers->times[which] ? answers->times[which](commands, answers->selectors[which]) : 0;
    return (uint64_t)(int64_t)(seconds * 1e9 + 0.5);
}

static void mark_captured(struct mt_cb_entry *entry)
{
    entry->flags |= mt_capture_runs() ? MT_CB_CAPTURED : 0;
}

static void handler_ran(struct mt_cb_entry *entry)
{
    __atomic_fetch_sub(&entry->handlers, 1, __ATOMIC_RELEASE);
}

static void on_scheduled(struct mt_objc_fixed_block *block, id commands)
{
    (void)commands;
    struct mt_cb_entry *entry =
        (struct mt_cb_entry *)((char *)block - offsetof(struct mt_cb_entry, on_scheduled));
    __atomic_store_n(&entry->scheduled, mt_os_ticks(), __ATOMIC_RELAXED);
    handler_ran(entry);
}

static __attribute__((noinline)) uint32_t error_of(id commands)
{
    int saved = errno;
    struct mt_call ours;
    mt_calls_ours_begin(&ours);
    uint32_t text = mt_error_text_of(mtl_commandBuffer_error(commands));
    mt_calls_ours_end(&ours);
    errno = saved;
    return text;
}

// Asks only methods that are not hooked and only answer.
static void record_done(const struct mt_cb_entry *entry, id commands)
{
    const struct answers *answers = answers_of(mt_objc_class_fast(commands));
    NSUInteger status = answers ? answers->status(commands, answers->status_selector) : MTL_STATUS_COMPLETED;
    uint64_t start = answers ? answered_ns(answers, 0, commands) : 0;
    uint64_t end = answers ? answered_ns(answers, 1, commands) : 0;
    uint32_t error = __builtin_expect(status == MTL_STATUS_ERROR, 0) ? error_of(commands) : 0;
    struct mt_slot instead[2];
    struct mt_rec_cb_done *record = mt_record_open(2, instead);
    record->word = MT_REC_WORD(MT_REC_CB_DONE, status);
    record->command_buffer = entry->o.id;
    record->scheduled = __atomic_load_n(&entry->scheduled, __ATOMIC_RELAXED);
    record->gpu_start_ns = start;
    record->gpu_end_ns = end;
    record->error = error;
    record->flags = entry->flags;
    mt_record_close(record, 2, instead);
}

static void on_completed(struct mt_objc_fixed_block *block, id commands)
{
    struct mt_cb_entry *entry =
        (struct mt_cb_entry *)((char *)block - offsetof(struct mt_cb_entry, on_completed));
    if (mt_tap_captures())
        mark_captured(entry);
    record_done(entry, commands);
    if (mt_tap_captures())
        mt_capture_finished(entry->o.id);
    __atomic_store_n(&entry->finished, true, __ATOMIC_RELAXED);
    handler_ran(entry);
}

static void add_handler(struct mt_cb_entry *entry, enum mt_hook hook, SEL selector, void *block)
{
    // Where super may come back to us the message has to take the way of all others.
    if (entry->cls->nested || !entry->cls->original[hook]) {
        if (hook == MT_HOOK_COMMAND_BUFFER_addCompletedHandler)
            mtl_commandBuffer_addCompletedHandler(entry->o.object, block);
        else
            mtl_commandBuffer_addScheduledHandler(entry->o.object, block);
        return;
    }
    ((void (*)(id, SEL, void *))entry->cls->original[hook])(entry->o.object, selector, block);
}

static void add_our_handlers(struct mt_cb_entry *entry)
{
    if (!entry->on_completed.isa && (!mt_objc_fixed_block(&entry->on_scheduled, on_scheduled) ||
                                     !mt_objc_fixed_block(&entry->on_completed, on_completed)))
        return;
    __atomic_store_n(&entry->handlers, 2, __ATOMIC_RELAXED);
    add_handler(entry, MT_HOOK_COMMAND_BUFFER_addScheduledHandler, mt_tap.add_scheduled,
                &entry->on_scheduled);
    add_handler(entry, MT_HOOK_COMMAND_BUFFER_addCompletedHandler, mt_tap.add_completed,
                &entry->on_completed);
}

// ---- submission ----
void mt_hook_COMMAND_BUFFER_enqueue(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_enqueue);
    struct mt_cb_entry *entry = entry_of(&call);
    if (entry) {
        struct mt_rec_cb_enqueue record = {.word = MT_REC_WORD(MT_REC_CB_ENQUEUE, 0),
                                           .command_buffer = entry->o.id};
        mt_record_event(&record);
    }
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}

static uint32_t before_commit(struct mt_cb_entry *entry)
{
    // Some private ways of committing use the same object again; handlers of its first life may be due.
    if (__builtin_expect(entry->committed, 0)) {
        if (__atomic_load_n(&entry->handlers, __ATOMIC_ACQUIRE))
            return entry->o.id;
        entry->flags |= MT_CB_REUSED;
        entry->scheduled = 0;
        record_create(entry);
    }
    if (mt_tap_captures()) {
        mt_capture_before_commit(entry->o.id);
        mark_captured(entry);
    }
    entry->committed = true;
    add_our_handlers(entry);
    mt_record_anchor();
    struct mt_slot instead[1];
    struct mt_rec_cb_commit *record = mt_record_open(1, instead);
    record->word = MT_REC_WORD(MT_REC_CB_COMMIT, 0);
    record->command_buffer = entry->o.id;
    record->flags = entry->flags;
    record->allocated_bytes = __atomic_load_n(&mt_tap.allocated_bytes, __ATOMIC_RELAXED);
    mt_record_close(record, 1, instead);
    return entry->o.id;
}

void mt_hook_COMMAND_BUFFER_commit(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_commit);
    struct mt_cb_entry *entry = entry_of(&call);
    uint32_t command_buffer = 0;
    if (entry) {
        int saved = errno;
        command_buffer = before_commit(entry);
        errno = saved;
    }
    MT_FORWARD(call, void)(self, op);
    if (command_buffer && mt_tap_captures())
        mt_capture_committed(command_buffer);
    mt_call_end(&call);
}

// ---- waits ----
static uint64_t record_wait(enum mt_record_type type, enum mt_wait_kind kind, uint32_t command_buffer,
                            uint64_t value, uint64_t begin)
{
    struct mt_slot instead[1];
    struct mt_rec_wait *record = mt_record_open(1, instead);
    record->word = MT_REC_WORD(type, kind);
    record->command_buffer = command_buffer;
    record->value = value;
    record->begin = begin;
    return mt_record_close(record, 1, instead);
}

static uint64_t wait_begins(enum mt_wait_kind kind, uint32_t command_buffer, uint64_t value)
{
    uint64_t begin = record_wait(MT_REC_WAIT_BEGIN, kind, command_buffer, value, 0);
    if (mt_tap_captures() && kind != MT_WAIT_SCHEDULED)
        mt_capture_wait_begins();
    return begin;
}

static void wait_ends(enum mt_wait_kind kind, uint32_t command_buffer, uint64_t value, uint64_t begin)
{
    record_wait(MT_REC_WAIT_END, kind, command_buffer, value, begin);
}

static void wait_for(id self, SEL op, enum mt_hook hook, enum mt_wait_kind kind)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, hook);
    struct mt_cb_entry *entry = entry_of(&call);
    uint32_t command_buffer = entry ? entry->o.id : 0;
    uint64_t begin = entry ? wait_begins(kind, command_buffer, 0) : 0;
    MT_FORWARD(call, void)(self, op);
    if (entry)
        wait_ends(kind, command_buffer, 0, begin);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_waitUntilCompleted(id self, SEL op)
{
    wait_for(self, op, MT_HOOK_COMMAND_BUFFER_waitUntilCompleted, MT_WAIT_COMPLETED);
}

void mt_hook_COMMAND_BUFFER_waitUntilScheduled(id self, SEL op)
{
    wait_for(self, op, MT_HOOK_COMMAND_BUFFER_waitUntilScheduled, MT_WAIT_SCHEDULED);
}

mtl_bool mt_hook_SHARED_EVENT_waitUntilSignaled(id self, SEL op, NSUInteger value, NSUInteger timeout_ms)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_SHARED_EVENT_waitUntilSignaled);
    bool outermost = call.outermost;
    uint64_t begin = outermost ? wait_begins(MT_WAIT_SHARED_EVENT, 0, value) : 0;
    mtl_bool signaled = MT_FORWARD(call, mtl_bool, NSUInteger, NSUInteger)(self, op, value, timeout_ms);
    if (outermost)
        wait_ends(MT_WAIT_SHARED_EVENT, 0, value, begin);
    mt_call_end(&call);
    return signaled;
}

// ---- what is noted and passed on ----
static void note(const struct mt_call *call, enum mt_record_type type, uint32_t kind)
{
    struct mt_cb_entry *entry = entry_of(call);
    if (!entry)
        return;
    struct mt_rec_cb_note record = {.word = MT_REC_WORD(type, kind), .command_buffer = entry->o.id};
    mt_record_event(&record);
}

void mt_hook_COMMAND_BUFFER_addScheduledHandler(id self, SEL op, void *handler)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_addScheduledHandler);
    note(&call, MT_REC_CB_HANDLER, 0);
    MT_FORWARD(call, void, void *)(self, op, handler);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_addCompletedHandler(id self, SEL op, void *handler)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_addCompletedHandler);
    note(&call, MT_REC_CB_HANDLER, 1);
    MT_FORWARD(call, void, void *)(self, op, handler);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_presentDrawable(id self, SEL op, id drawable)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_presentDrawable);
    note(&call, MT_REC_CB_PRESENT, 0);
    MT_FORWARD(call, void, id)(self, op, drawable);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_presentDrawableAtTime(id self, SEL op, id drawable, double time)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_presentDrawableAtTime);
    note(&call, MT_REC_CB_PRESENT, 1);
    MT_FORWARD(call, void, id, double)(self, op, drawable, time);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_presentDrawableAfter(id self, SEL op, id drawable, double duration)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_presentDrawableAfter);
    note(&call, MT_REC_CB_PRESENT, 2);
    MT_FORWARD(call, void, id, double)(self, op, drawable, duration);
    mt_call_end(&call);
}

static void event(id self, SEL op, enum mt_hook hook, enum mt_sync_kind kind, id shared, uint64_t value)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, hook);
    struct mt_cb_entry *entry = entry_of(&call);
    if (entry) {
        struct mt_rec_sync record = {
            .word = MT_REC_WORD(MT_REC_SYNC, kind),
            .object = entry->o.id,
            .value = value,
            .other = (uintptr_t)shared,
        };
        mt_record_event(&record);
    }
    MT_FORWARD(call, void, id, NSUInteger)(self, op, shared, value);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_encodeWaitForEvent(id self, SEL op, id shared, NSUInteger value)
{
    event(self, op, MT_HOOK_COMMAND_BUFFER_encodeWaitForEvent, MT_SYNC_EVENT_WAIT, shared, value);
}

void mt_hook_COMMAND_BUFFER_encodeSignalEvent(id self, SEL op, id shared, NSUInteger value)
{
    event(self, op, MT_HOOK_COMMAND_BUFFER_encodeSignalEvent, MT_SYNC_EVENT_SIGNAL, shared, value);
}

static void name(id self, SEL op, enum mt_hook hook, enum mt_record_type type, id text)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, hook);
    struct mt_cb_entry *entry = entry_of(&call);
    if (entry)
        mt_record_name(type, MT_OBJECT_COMMAND_BUFFER, entry->o.id, text);
    MT_FORWARD(call, void, id)(self, op, text);
    mt_call_end(&call);
}

void mt_hook_COMMAND_BUFFER_pushDebugGroup(id self, SEL op, id group)
{
    name(self, op, MT_HOOK_COMMAND_BUFFER_pushDebugGroup, MT_REC_GROUP_PUSH, group);
}

void mt_hook_COMMAND_BUFFER_setLabel(id self, SEL op, id label)
{
    name(self, op, MT_HOOK_COMMAND_BUFFER_setLabel, MT_REC_LABEL, label);
}

void mt_hook_COMMAND_BUFFER_popDebugGroup(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_popDebugGroup);
    struct mt_cb_entry *entry = entry_of(&call);
    if (entry)
        mt_record_name(MT_REC_GROUP_POP, MT_OBJECT_COMMAND_BUFFER, entry->o.id, NULL);
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}

// ---- encoders ----
static id encoder_made(struct mt_call *call, id encoder, uint8_t kind, uint8_t form, uint8_t dispatch_type)
{
    struct mt_cb_entry *entry = encoder ? entry_of(call) : NULL;
    if (entry)
        mt_know_encoder(encoder, entry, kind, form, dispatch_type);
    mt_call_end(call);
    return encoder;
}

id mt_hook_COMMAND_BUFFER_computeEncoder(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_computeEncoder);
    return encoder_made(&call, MT_FORWARD(call, id)(self, op), MT_ENCODER_COMPUTE, 0, MTL_DISPATCH_SERIAL);
}

id mt_hook_COMMAND_BUFFER_computeEncoderWithType(id self, SEL op, NSUInteger type)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_computeEncoderWithType);
    id encoder = MT_FORWARD(call, id, NSUInteger)(self, op, type);
    return encoder_made(&call, encoder, MT_ENCODER_COMPUTE, 1, (uint8_t)type);
}

id mt_hook_COMMAND_BUFFER_computeEncoderWithDescriptor(id self, SEL op, id descriptor)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER,
                       MT_HOOK_COMMAND_BUFFER_computeEncoderWithDescriptor);
    uint8_t type = call.outermost ? (uint8_t)mtl_pass_dispatchType(descriptor) : 0;
    id encoder = MT_FORWARD(call, id, id)(self, op, descriptor);
    return encoder_made(&call, encoder, MT_ENCODER_COMPUTE, 2, type);
}

id mt_hook_COMMAND_BUFFER_blitEncoder(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_blitEncoder);
    return encoder_made(&call, MT_FORWARD(call, id)(self, op), MT_ENCODER_BLIT, 0, 0);
}

id mt_hook_COMMAND_BUFFER_blitEncoderWithDescriptor(id self, SEL op, id descriptor)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_COMMAND_BUFFER, MT_HOOK_COMMAND_BUFFER_blitEncoderWithDescriptor);
    id encoder = MT_FORWARD(call, id, id)(self, op, descriptor);
    return encoder_made(&call, encoder, MT_ENCODER_BLIT, 2, 0);
}
