// SPDX-License-Identifier: MIT
// Buffers and heaps: their coming and going, as a running total of the process. Runs on the program's
// threads. Objects die wherever their last reference goes, also inside other calls of Metal's, so a release
// is recorded at any depth; never keeps an object alive or sends to one that is going.
#include "hooks.h"
#include "know.h"
#include "objc/sends.h"

// ---- totals ----
static uint64_t add_to_total(const struct mt_memory_entry *entry, bool is_release)
{
    if (entry->kind == MT_MEMORY_HEAP_BUFFER) // its heap counts
        return __atomic_load_n(&mt_tap.allocated_bytes, __ATOMIC_RELAXED);
    if (is_release)
        return __atomic_sub_fetch(&mt_tap.allocated_bytes, entry->bytes, __ATOMIC_RELAXED);
    return __atomic_add_fetch(&mt_tap.allocated_bytes, entry->bytes, __ATOMIC_RELAXED);
}

static void record_memory(const struct mt_memory_entry *entry, bool is_release)
{
    uint64_t total = add_to_total(entry, is_release);
    struct mt_rec_memory record = {
        .word = MT_REC_WORD(MT_REC_MEMORY, entry->kind | (is_release ? MT_MEMORY_FREE : 0)),
        .number = entry->o.id,
        .bytes = entry->bytes,
        .total = total,
    };
    mt_record_event(&record);
}

static uint64_t size_of(id object, enum mt_role role)
{
    uint64_t bytes = mt_objc_responds(object, "allocatedSize") ? mtl_resource_allocatedSize(object) : 0;
    if (bytes > 0)
        return bytes;
    return role == MT_ROLE_HEAP ? mtl_heap_size(object) : mtl_buffer_length(object);
}

static void define_memory(id object, enum mt_role role, enum mt_memory_kind kind)
{
    uint64_t bytes = size_of(object, role);
    bool taken_over;
    struct mt_memory_entry *entry = mt_objects_add(MT_KIND_MEMORY, object, &taken_over);
    if (!entry)
        return;
    if (taken_over) // its dealloc was not seen
        record_memory(entry, true);
    entry->o.id = mt_record_next(MT_COUNT_ALLOCATION);
    entry->bytes = bytes;
    entry->kind = kind;
    record_memory(entry, false);
}

void mt_know_memory(id object, enum mt_role role, enum mt_memory_kind kind)
{
    if (!object)
        return;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    mt_swizzle(object, role);
    define_memory(object, role, kind);
    mt_ours_end(&ours);
}

// The address may be another object's as soon as the call is forwarded: the entry goes before that.
static void forget(id self)
{
    struct mt_memory_entry *entry = mt_objects_find(MT_KIND_MEMORY, self);
    if (!entry)
        return;
    record_memory(entry, true);
    mt_objects_remove(&entry->o);
}

void mt_hook_BUFFER_dealloc(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_BUFFER_dealloc);
    forget(self);
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}

void mt_hook_HEAP_dealloc(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_HEAP_dealloc);
    forget(self);
    MT_FORWARD(call, void)(self, op);
    mt_call_end(&call);
}

// ---- what a device makes ----
static id after_new(struct mt_call *call, id object, enum mt_role role, enum mt_memory_kind kind)
{
    if (call->outermost)
        mt_know_memory(object, role, kind);
    mt_call_end(call);
    return object;
}

id mt_hook_DEVICE_newBuffer(id self, SEL op, NSUInteger length, NSUInteger options)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newBuffer);
    id buffer = MT_FORWARD(call, id, NSUInteger, NSUInteger)(self, op, length, options);
    return after_new(&call, buffer, MT_ROLE_BUFFER, MT_MEMORY_BUFFER);
}

id mt_hook_DEVICE_newBufferWithBytes(id self, SEL op, const void *bytes, NSUInteger length,
                                     NSUInteger options)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newBufferWithBytes);
    id buffer = MT_FORWARD(call, id, const void *, NSUInteger, NSUInteger)(self, op, bytes, length, options);
    return after_new(&call, buffer, MT_ROLE_BUFFER, MT_MEMORY_BUFFER);
}

// The deallocator is the program's code, and runs inside the buffer's dealloc.
static void give_memory_back(void *context, void *memory, NSUInteger length)
{
    struct mt_call *suspended = mt_calls_suspend();
    mt_objc_block_call_memory(context, memory, length);
    mt_calls_resume(suspended);
}

// A block in its place, owned by the caller; NULL if there is no need or no memory.
static void *wrap_deallocator(const struct mt_call *call, void *deallocator)
{
    if (!call->outermost || !deallocator)
        return NULL;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    void *kept = mt_objc_block_copy(deallocator);
    void *block = kept ? mt_objc_block_memory(give_memory_back, kept, mt_objc_block_release) : NULL;
    if (!block)
        mt_objc_block_release(kept);
    mt_ours_end(&ours);
    return block;
}

id mt_hook_DEVICE_newBufferNoCopy(id self, SEL op, void *memory, NSUInteger length, NSUInteger options,
                                  void *deallocator)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newBufferNoCopy);
    void *wrapped = wrap_deallocator(&call, deallocator);
    id buffer = MT_FORWARD(call, id, void *, NSUInteger, NSUInteger,
                           void *)(self, op, memory, length, options, wrapped ? wrapped : deallocator);
    after_new(&call, buffer, MT_ROLE_BUFFER, MT_MEMORY_NO_COPY);
    mt_objc_block_release(wrapped);
    return buffer;
}

id mt_hook_DEVICE_newHeap(id self, SEL op, id descriptor)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_DEVICE_newHeap);
    id heap = MT_FORWARD(call, id, id)(self, op, descriptor);
    return after_new(&call, heap, MT_ROLE_HEAP, MT_MEMORY_HEAP);
}

// ---- what a heap makes ----
id mt_hook_HEAP_newBuffer(id self, SEL op, NSUInteger length, NSUInteger options)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_HEAP_newBuffer);
    id buffer = MT_FORWARD(call, id, NSUInteger, NSUInteger)(self, op, length, options);
    return after_new(&call, buffer, MT_ROLE_BUFFER, MT_MEMORY_HEAP_BUFFER);
}

id mt_hook_HEAP_newBufferAtOffset(id self, SEL op, NSUInteger length, NSUInteger options, NSUInteger offset)
{
    struct mt_call call;
    mt_call_begin(&call, self, MT_HOOK_HEAP_newBufferAtOffset);
    id buffer = MT_FORWARD(call, id, NSUInteger, NSUInteger, NSUInteger)(self, op, length, options, offset);
    return after_new(&call, buffer, MT_ROLE_BUFFER, MT_MEMORY_HEAP_BUFFER);
}
