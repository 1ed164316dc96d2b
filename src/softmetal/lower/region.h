// SPDX-License-Identifier: MIT
// What the files that build a region's function share. One builder per function; freed with the process.
#ifndef SOFTMETAL_LOWER_REGION_H
#define SOFTMETAL_LOWER_REGION_H

#include "lower.h"

typedef struct region_builder {
    const lower_unit *unit;
    const lower_cfg *cfg;
    const lower_sites *sites;
    const lower_live *live;
    const lower_uniform *uniform;
    uint32_t site;
    bool full; // for a whole simdgroup in one row: 32 lanes from lane 0
    LLVMValueRef function;
    LLVMBuilderRef b;
    LLVMTypeRef i8, i16, i32, i64, pointer;
    LLVMBasicBlockRef entry, turn, line, loop, latch, line_end, done;
    LLVMBasicBlockRef *copy;  // by block
    LLVMBasicBlockRef *leave; // by site, and [count] for the return
    LLVMValueRef *local;      // by variable: its stand-in here
    LLVMValueRef *held;       // by variable: what its cell holds as a turn begins
    LLVMValueRef *cell;       // by variable: uniform value to write back
    LLVMValueRef builtin[BUILTIN_COUNT];
    LLVMValueRef lane64, next_local, least, most;
    LLVMValueRef frame, simd, group, args, rows, row_count;
    LLVMValueRef row;  // the one being run
    uint32_t leaving;  // how many different exits
    bool parts;        // lanes may leave by different ones
    uint32_t exits[2]; // if there are two: their sites
    bool private_arrays;
    LLVMValueRef access_group, loop_id;
    unsigned access_kind, loop_kind;
    lower_map value;
} region_builder;

// region.c
LLVMValueRef region_constant(const region_builder *r, uint64_t value);
LLVMValueRef region_at_offset(const region_builder *r, LLVMValueRef base, uint64_t offset);
LLVMValueRef region_parallel(const region_builder *r, LLVMValueRef access);
LLVMTypeRef region_memory_type(const region_builder *r, LLVMTypeRef type);
LLVMValueRef region_frame_address(region_builder *r, uint32_t v);

// region_copy.c: the region's blocks as the body of the loop over lanes
void region_hoist_uniform(region_builder *r);
void region_copy_blocks(region_builder *r);

// region_exit.c: how lanes leave
LLVMBasicBlockRef region_leave_to(region_builder *r, uint32_t to);
bool region_lanes_may_part(const region_builder *r);
void region_build_latch(region_builder *r, LLVMValueRef i, LLVMValueRef count);
void region_build_done(region_builder *r);
void region_start_next(region_builder *r);

#endif
