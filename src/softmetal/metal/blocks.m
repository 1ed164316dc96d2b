// SPDX-License-Identifier: MIT
// The blocks runtime. It is here because the two that a program on Linux may meet do not do: GNUstep Base 1.28's
// _Block_copy leaves clang's stack blocks on the stack, and libBlocksRuntime retains no captured object. The
// symbols are protected: libMetal always uses its own, whatever the program was linked with first.
// Layouts and flags are those of the published block ABI. Thread-safe.
#import <Foundation/Foundation.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("protected")))

enum { // of a block and of a __block variable
    COUNT_ONE = 2,
    COUNT_MASK = 0xfffe,
    ON_HEAP = 1 << 24,
    HAS_HELPERS = 1 << 25,
    IS_GLOBAL = 1 << 28,
};

enum { // of a captured value
    CAPTURED_OBJECT = 3,
    CAPTURED_BLOCK = 7,
    CAPTURED_BYREF = 8,
    FROM_BYREF = 128, // inside a __block variable, which does not own its value
};

struct descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *block);
};

struct block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void);
    const struct descriptor *descriptor;
};

struct byref {
    void *isa;
    struct byref *forwarding;
    int flags, size;
    void (*keep)(struct byref *to, struct byref *from); // only if HAS_HELPERS
    void (*destroy)(struct byref *byref);
};

EXPORTED void *_NSConcreteStackBlock[32], *_NSConcreteMallocBlock[32], *_NSConcreteGlobalBlock[32];

void *_Block_copy(const void *source) EXPORTED;
void _Block_release(const void *block) EXPORTED;
void _Block_object_assign(void *destination, const void *object, const int kind) EXPORTED;
void _Block_object_dispose(const void *object, const int kind) EXPORTED;

static void add_reference(int *flags)
{
    __atomic_fetch_add(flags, COUNT_ONE, __ATOMIC_RELAXED);
}

// True if it was the last.
static bool drop_reference(int *flags)
{
    return (__atomic_sub_fetch(flags, COUNT_ONE, __ATOMIC_ACQ_REL) & COUNT_MASK) == 0;
}

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        abort();
    return memory;
}

void *_Block_copy(const void *source)
{
    struct block *block = (struct block *)source;
    if (!block || block->flags & IS_GLOBAL)
        return block;
    if (__atomic_load_n(&block->flags, __ATOMIC_RELAXED) & ON_HEAP) {
        add_reference(&block->flags);
        return block;
    }
    struct block *copy = allocate(block->descriptor->size);
    memcpy(copy, block, block->descriptor->size);
    copy->isa = _NSConcreteMallocBlock;
    copy->flags = (block->flags & ~0xffff) | ON_HEAP | COUNT_ONE;
    if (copy->flags & HAS_HELPERS)
        copy->descriptor->copy(copy, block);
    return copy;
}

void _Block_release(const void *object)
{
    struct block *block = (struct block *)object;
    if (!block || !(__atomic_load_n(&block->flags, __ATOMIC_RELAXED) & ON_HEAP) || !drop_reference(&block->flags))
        return;
    if (block->flags & HAS_HELPERS)
        block->descriptor->dispose(block);
    free(block);
}

// The first block that is copied moves the variable to the heap; the frame and the block own it together.
static struct byref *move_to_heap(struct byref *on_stack)
{
    struct byref *copy = allocate((size_t)on_stack->size);
    memcpy(copy, on_stack, (size_t)on_stack->size);
    copy->flags = on_stack->flags | ON_HEAP | 2 * COUNT_ONE;
    copy->forwarding = copy;
    on_stack->forwarding = copy;
    if (copy->flags & HAS_HELPERS)
        copy->keep(copy, on_stack);
    return copy;
}

static struct byref *copy_byref(struct byref *byref)
{
    struct byref *current = byref->forwarding;
    if (!(__atomic_load_n(&current->flags, __ATOMIC_RELAXED) & ON_HEAP))
        return move_to_heap(byref);
    add_reference(&current->flags);
    return current;
}

static void release_byref(struct byref *byref)
{
    struct byref *current = byref->forwarding;
    if (!(__atomic_load_n(&current->flags, __ATOMIC_RELAXED) & ON_HEAP) || !drop_reference(&current->flags))
        return;
    if (current->flags & HAS_HELPERS)
        current->destroy(current);
    free(current);
}

void _Block_object_assign(void *destination, const void *object, const int kind)
{
    const void **to = destination;
    if (kind & FROM_BYREF)
        *to = object;
    else if (kind & CAPTURED_BYREF)
        *to = copy_byref((struct byref *)object);
    else if ((kind & CAPTURED_BLOCK) == CAPTURED_BLOCK)
        *to = _Block_copy(object);
    else if ((kind & CAPTURED_BLOCK) == CAPTURED_OBJECT)
        *to = [(id)object retain];
}

void _Block_object_dispose(const void *object, const int kind)
{
    if (kind & FROM_BYREF)
        return;
    if (kind & CAPTURED_BYREF)
        release_byref((struct byref *)object);
    else if ((kind & CAPTURED_BLOCK) == CAPTURED_BLOCK)
        _Block_release(object);
    else if ((kind & CAPTURED_BLOCK) == CAPTURED_OBJECT)
        [(id)object release];
}
