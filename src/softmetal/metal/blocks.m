// SPDX-License-Identifier: MIT
// The blocks runtime: what clang's code calls for blocks and __block variables, after the published block
// ABI. It is here because the two that a program on Linux may meet do not do: GNUstep Base 1.28's _Block_copy
// leaves clang's blocks on the stack, and Debian's libBlocksRuntime retains no captured object. A program
// uses this one if -lMetal comes before -lgnustep-base; libMetal itself always does (-Bsymbolic-functions),
// and so must never trust the isa or the counts of a block that it did not copy. Any thread may call it.
#include "block_layout.h"

#import <Foundation/Foundation.h>

#include <Block.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { // of a captured value
    CAPTURED_OBJECT = 3,
    CAPTURED_BLOCK = 7,
    CAPTURED_BYREF = 8,
    KIND_MASK = CAPTURED_BLOCK | CAPTURED_BYREF,
    FROM_BYREF = 128, // inside a __block variable, which does not own its value
};

struct byref {
    void *isa;
    struct byref *forwarding;
    int flags, size;
    void (*keep)(struct byref *to, struct byref *from); // only if HAS_HELPERS
    void (*destroy)(struct byref *byref);
};

// ---- counts: 16 bits of the flags. One that ever was full stays so, and its owner is never freed. ----
static void add_reference(int *flags)
{
    int old = __atomic_load_n(flags, __ATOMIC_RELAXED);
    while ((old & COUNT_MASK) != COUNT_MASK &&
           !__atomic_compare_exchange_n(flags, &old, old + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

// True if it was the last.
static bool drop_reference(int *flags)
{
    int old = __atomic_load_n(flags, __ATOMIC_RELAXED);
    while ((old & COUNT_MASK) != COUNT_MASK && (old & COUNT_MASK) != 0)
        if (__atomic_compare_exchange_n(flags, &old, old - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return (old & COUNT_MASK) == 1;
    return false;
}

// ---- blocks ----
// What the block captured is kept by the functions that its program was linked with. They may leave a
// captured block on the stack (GNUstep) or an object unretained (libBlocksRuntime): a crash later that nobody
// understands.
static void warn_of_other_runtime(void)
{
    const char *path = __atomic_exchange_n(&sm_other_block_runtime, NULL, __ATOMIC_RELAXED);
    if (path)
        fprintf(stderr,
                "softmetal: this program's blocks use %s, which does not keep what they capture; "
                "link -lMetal before it\n",
                path);
}

static struct block *move_block(const struct block *block)
{
    struct block *copy = malloc(block->descriptor->size);
    if (!copy)
        return NULL;
    memcpy(copy, block, block->descriptor->size);
    copy->isa = sm_heap_block_class;
    copy->flags = (block->flags & ~COUNT_MASK) | ON_HEAP | 1;
    copy->reserved = 0; // where GNUstep's runtime counts
    if (copy->flags & HAS_HELPERS) {
        if (__atomic_load_n(&sm_other_block_runtime, __ATOMIC_RELAXED))
            warn_of_other_runtime();
        copy->descriptor->copy(copy, block);
    }
    return copy;
}

// A heap block of another runtime is copied once more: that runtime may count in another way.
EXPORTED void *_Block_copy(const void *source)
{
    struct block *block = (struct block *)source;
    if (!block || __atomic_load_n(&block->flags, __ATOMIC_RELAXED) & IS_GLOBAL)
        return block;
    if (!sm_block_is_ours(block))
        return move_block(block);
    add_reference(&block->flags);
    return block;
}

EXPORTED void _Block_release(const void *object)
{
    struct block *block = (struct block *)object;
    if (!block || !sm_block_is_ours(block) || !drop_reference(&block->flags))
        return;
    if (block->flags & HAS_HELPERS)
        block->descriptor->dispose(block);
    free(block);
}

// ---- __block variables ----
// The first block that is copied moves the variable to the heap; the frame and the block own it together.
static struct byref *move_byref(struct byref *on_stack)
{
    struct byref *copy = malloc((size_t)on_stack->size);
    if (!copy)
        abort(); // the caller is compiled code that cannot be told
    memcpy(copy, on_stack, (size_t)on_stack->size);
    copy->flags = (on_stack->flags & ~COUNT_MASK) | ON_HEAP | 2;
    copy->forwarding = copy;
    on_stack->forwarding = copy;
    if (copy->flags & HAS_HELPERS)
        copy->keep(copy, on_stack);
    return copy;
}

static bool is_on_heap(struct byref *byref)
{
    return __atomic_load_n(&byref->flags, __ATOMIC_RELAXED) & ON_HEAP;
}

static struct byref *copy_byref(struct byref *byref)
{
    struct byref *current = byref->forwarding;
    if (!is_on_heap(current))
        return move_byref(byref);
    add_reference(&current->flags);
    return current;
}

static void release_byref(struct byref *byref)
{
    struct byref *current = byref->forwarding;
    if (!is_on_heap(current) || !drop_reference(&current->flags))
        return;
    if (current->flags & HAS_HELPERS)
        current->destroy(current);
    free(current);
}

// ---- what the compiler's helpers call for each captured value ----
EXPORTED void _Block_object_assign(void *destination, const void *object, const int kind)
{
    const void **to = destination;
    if (kind & FROM_BYREF)
        *to = object;
    else if (kind & CAPTURED_BYREF)
        *to = copy_byref((struct byref *)object);
    else if ((kind & KIND_MASK) == CAPTURED_BLOCK)
        *to = _Block_copy(object);
    else if ((kind & KIND_MASK) == CAPTURED_OBJECT)
        *to = [(id)object retain];
}

EXPORTED void _Block_object_dispose(const void *object, const int kind)
{
    if (kind & FROM_BYREF)
        return;
    if (kind & CAPTURED_BYREF)
        release_byref((struct byref *)object);
    else if ((kind & KIND_MASK) == CAPTURED_BLOCK)
        _Block_release(object);
    else if ((kind & KIND_MASK) == CAPTURED_OBJECT)
        [(id)object release];
}
