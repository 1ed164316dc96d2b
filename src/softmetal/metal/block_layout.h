// SPDX-License-Identifier: MIT
// A block in memory, as the published block ABI lays it out, and which blocks are ours to count. Shared by
// the blocks runtime (blocks.m) and the classes of blocks (block_classes.m); nothing else should look inside.
#ifndef SOFTMETAL_METAL_BLOCK_LAYOUT_H
#define SOFTMETAL_METAL_BLOCK_LAYOUT_H

#include <stdbool.h>

enum { // flags of a block and of a __block variable
    COUNT_MASK = 0xffff,
    ON_HEAP = 1 << 24,
    HAS_HELPERS = 1 << 25,
    IS_GLOBAL = 1 << 28, // also said of blocks that the compiler knows never to outlive their frame
};

struct block_descriptor {
    unsigned long reserved, size;
    void (*copy)(void *to, const void *from); // only if HAS_HELPERS
    void (*dispose)(const void *block);
};

struct block {
    void *isa;
    int flags, reserved;
    void (*invoke)(void);
    const struct block_descriptor *descriptor;
};

// isa of the blocks that our _Block_copy made. Hidden: it is never that of another runtime in the process.
extern void *sm_heap_block_class[32] __attribute__((visibility("hidden")));

// The library with the block functions that the program uses instead of ours; NULL if it uses ours, or was
// told.
extern const char *sm_other_block_runtime __attribute__((visibility("hidden")));

static inline bool sm_block_is_ours(const struct block *block)
{
    return block->isa == sm_heap_block_class;
}

#endif
