// SPDX-License-Identifier: MIT
// Blocks made by hand after the published block ABI, so that any C compiler can build this file. Each holds a
// C function and a counted state with its context. libSystem (macOS), libBlocksRuntime or GNUstep Base
// (Linux) copies the literal to the heap. Another runtime in the process may copy the copy: the context is
// dropped when the last of them goes. Runs on whatever thread makes or drops one.
#include "objc/objc.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    BLOCK_HAS_COPY_DISPOSE = 1 << 25,
    BLOCK_IS_GLOBAL = 1 << 28,
    // GNUstep Base 1.28 exports a _Block_copy of its own that copies only blocks with this bit; without it
    // the block would stay on its maker's stack. The other runtimes do not branch on it.
    BLOCK_HAS_DESCRIPTOR = 1 << 29,
    BLOCK_HAS_SIGNATURE = 1 << 30,
};
#ifdef __APPLE__ // there the same bit says that the block returns a large struct
#define BLOCK_FLAGS (BLOCK_HAS_COPY_DISPOSE | BLOCK_HAS_SIGNATURE)
#else
#define BLOCK_FLAGS (BLOCK_HAS_COPY_DISPOSE | BLOCK_HAS_SIGNATURE | BLOCK_HAS_DESCRIPTOR)
#endif

typedef struct block_state {
    _Atomic unsigned copies;
    void *context;
    mt_objc_drop drop;
} block_state;

typedef struct block_descriptor {
    unsigned long reserved;
    unsigned long size;
    void (*copy)(void *to, const void *from);
    void (*dispose)(const void *dying);
    const char *signature; // type encoding, which debuggers and forwarding layers read
} block_descriptor;

typedef struct block {
    void *isa;
    int flags;
    int reserved;
    void (*invoke)(void);
    const block_descriptor *descriptor;
    void (*call)(void);
    block_state *state;
} block;

// The literal on the maker's stack is not counted: it is never disposed of.
static void copy_state(void *to, const void *from)
{
    (void)to;
    atomic_fetch_add(&((const block *)from)->state->copies, 1);
}

static void dispose(const void *dying)
{
    block_state *state = ((const block *)dying)->state;
    if (atomic_fetch_sub(&state->copies, 1) != 1)
        return;
    if (state->drop)
        state->drop(state->context);
    free(state);
}

static void invoke_object(const block *self, id object)
{
    ((mt_objc_on_object)self->call)(self->state->context, object);
}

static void invoke_result(const block *self, id object, id error)
{
    ((mt_objc_on_result)self->call)(self->state->context, object, error);
}

static void invoke_reflection(const block *self, id object, id reflection, id error)
{
    ((mt_objc_on_reflection)self->call)(self->state->context, object, reflection, error);
}

static void invoke_value(const block *self, id object, uint64_t value)
{
    ((mt_objc_on_value)self->call)(self->state->context, object, value);
}

static void invoke_memory(const block *self, void *pointer, NSUInteger length)
{
    ((mt_objc_on_memory)self->call)(self->state->context, pointer, length);
}

#define DESCRIPTOR(types) {.size = sizeof(block), .copy = copy_state, .dispose = dispose, .signature = types}

static const block_descriptor object_descriptor = DESCRIPTOR("v16@?0@8");
static const block_descriptor result_descriptor = DESCRIPTOR("v24@?0@8@16");
static const block_descriptor reflection_descriptor = DESCRIPTOR("v32@?0@8@16@24");
static const block_descriptor value_descriptor = DESCRIPTOR("v24@?0@8Q16");
static const block_descriptor memory_descriptor = DESCRIPTOR("v24@?0^v8Q16");

static void *copy_to_heap(const block *literal)
{
    void *copied = mt_objc_blocks()->copy(literal);
    if (copied && copied != literal)
        return copied;
    free(literal->state); // no memory, or a runtime that left the block on the stack
    return NULL;
}

static void *make(const block_descriptor *descriptor, void (*invoke)(void), void (*call)(void), void *context,
                  mt_objc_drop drop)
{
    const struct mt_objc_block_runtime *blocks = mt_objc_blocks();
    block_state *state = blocks ? malloc(sizeof *state) : NULL;
    if (!state)
        return NULL;
    atomic_init(&state->copies, 0);
    state->context = context;
    state->drop = drop;
    block literal = {
        .isa = blocks->stack_class,
        .flags = BLOCK_FLAGS,
        .invoke = invoke,
        .descriptor = descriptor,
        .call = call,
        .state = state,
    };
    return copy_to_heap(&literal);
}

typedef void (*any_function)(void);

void *mt_objc_block_object(mt_objc_on_object call, void *context, mt_objc_drop drop)
{
    return make(&object_descriptor, (any_function)invoke_object, (any_function)call, context, drop);
}

void *mt_objc_block_result(mt_objc_on_result call, void *context, mt_objc_drop drop)
{
    return make(&result_descriptor, (any_function)invoke_result, (any_function)call, context, drop);
}

void *mt_objc_block_reflection(mt_objc_on_reflection call, void *context, mt_objc_drop drop)
{
    return make(&reflection_descriptor, (any_function)invoke_reflection, (any_function)call, context, drop);
}

void *mt_objc_block_value(mt_objc_on_value call, void *context, mt_objc_drop drop)
{
    return make(&value_descriptor, (any_function)invoke_value, (any_function)call, context, drop);
}

void *mt_objc_block_memory(mt_objc_on_memory call, void *context, mt_objc_drop drop)
{
    return make(&memory_descriptor, (any_function)invoke_memory, (any_function)call, context, drop);
}

void mt_objc_block_release(void *made)
{
    if (made)
        mt_objc_blocks()->release(made);
}

void *mt_objc_block_copy(const void *program_block)
{
    const struct mt_objc_block_runtime *blocks = mt_objc_blocks();
    return program_block && blocks ? blocks->copy(program_block) : NULL;
}

void mt_objc_block_call_result(void *program_block, id object, id error)
{
    ((void (*)(void *, id, id))((block *)program_block)->invoke)(program_block, object, error);
}

void mt_objc_block_call_reflection(void *program_block, id object, id reflection, id error)
{
    block *called = program_block;
    ((void (*)(void *, id, id, id))called->invoke)(called, object, reflection, error);
}

void mt_objc_block_call_memory(void *program_block, void *pointer, NSUInteger length)
{
    block *called = program_block;
    ((void (*)(void *, void *, NSUInteger))called->invoke)(called, pointer, length);
}

// ---- blocks that stay where they are ----
static const struct { // without the helpers that BLOCK_HAS_COPY_DISPOSE stands for
    unsigned long reserved, size;
    const char *signature;
} fixed_descriptor = {.size = sizeof(struct mt_objc_fixed_block), .signature = "v16@?0@8"};

bool mt_objc_fixed_block(struct mt_objc_fixed_block *fixed,
                         void (*invoke)(struct mt_objc_fixed_block *block, id object))
{
    const struct mt_objc_block_runtime *blocks = mt_objc_blocks();
    if (!blocks)
        return false;
    *fixed = (struct mt_objc_fixed_block){
        .isa = blocks->global_class,
        .flags = BLOCK_IS_GLOBAL | (BLOCK_FLAGS & ~BLOCK_HAS_COPY_DISPOSE),
        .invoke = invoke,
        .descriptor = &fixed_descriptor,
    };
    return true;
}
