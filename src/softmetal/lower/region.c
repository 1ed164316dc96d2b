// SPDX-License-Identifier: MIT
// Builds the function of one region: a loop over the rows and lanes it is given, whose body is a copy of the
// region's blocks. What is live at the site is loaded from the frame first; what the region stored and a
// later site needs is written back on the way out. Each region of a cut kernel has two variants, one of them
// for whole simdgroups, unless it has very many.
#include "region.h"
#include "kernel_abi.h"
#include <stdio.h>
#include <string.h>

LLVMValueRef region_constant(const region_builder *r, uint64_t value)
{
    return LLVMConstInt(r->i32, value, 0);
}

LLVMValueRef region_at_offset(const region_builder *r, LLVMValueRef base, uint64_t offset)
{
    LLVMValueRef index = LLVMConstInt(r->i64, offset, 0);
    return LLVMBuildInBoundsGEP2(r->b, r->i8, base, &index, 1, "");
}

static LLVMValueRef load_word(const region_builder *r, LLVMValueRef base, uint64_t offset, const char *name)
{
    return LLVMBuildLoad2(r->b, r->i32, region_at_offset(r, base, offset), name);
}

static LLVMValueRef add_nuw(const region_builder *r, LLVMValueRef a, LLVMValueRef b, const char *name)
{
    LLVMValueRef sum = LLVMBuildAdd(r->b, a, b, name);
    if (LLVMIsAInstruction(sum)) {
        LLVMSetNUW(sum, 1);
    }
    return sum;
}

LLVMValueRef region_parallel(const region_builder *r, LLVMValueRef access)
{
    LLVMSetMetadata(access, r->access_kind, r->access_group);
    return access;
}

static void add_attribute(const region_builder *r, unsigned index, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(r->function, index, LLVMCreateEnumAttribute(r->unit->context, kind, 0));
}

static void declare(region_builder *r)
{
    LLVMTypeRef parameters[6] = {r->pointer, r->pointer, r->pointer, r->pointer, r->pointer, r->i32};
    char name[32];
    snprintf(name, sizeof name, r->full ? "region_%u_full" : "region_%u_part", r->site);
    r->function = LLVMAddFunction(r->unit->module, name, LLVMFunctionType(r->i32, parameters, 6, 0));
    LLVMSetLinkage(r->function, LLVMInternalLinkage);
    for (unsigned k = 1; k <= 5; k++) {
        add_attribute(r, k, "noalias");
        if (k > 2)
            add_attribute(r, k, "readonly");
    }
    add_attribute(r, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    r->frame = LLVMGetParam(r->function, 0);
    r->simd = LLVMGetParam(r->function, 1);
    r->group = LLVMGetParam(r->function, 2);
    r->args = LLVMGetParam(r->function, 3);
    r->rows = LLVMGetParam(r->function, 4);
    r->row_count = LLVMGetParam(r->function, 5);
    r->entry = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "entry");
    r->turn = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "turn");
    r->line = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "row");
    r->loop = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "lane");
    for (uint32_t b = 0; b < r->cfg->count; b++)
        if (r->live->region[r->site][b])
            r->copy[b] = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "");
    r->latch = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "next_lane");
    r->line_end = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "next_row");
    r->done = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "done");
}

// The stand-ins of variables.
static void build_entry(region_builder *r)
{
    LLVMPositionBuilderAtEnd(r->b, r->entry);
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!r->live->used_in[r->site][v] || (!variable->scalar && variable->in_frame))
            continue;
        r->local[v] = LLVMBuildAlloca(r->b, variable->type, "");
        if (variable->uniform)
            r->cell[v] = LLVMBuildAlloca(r->b, variable->type, "");
        LLVMSetAlignment(r->local[v], LLVMGetAlignment(variable->alloca));
        r->private_arrays |= !variable->scalar;
    }
    r->next_local = LLVMBuildAlloca(r->b, r->i32, "");
    r->least = LLVMBuildAlloca(r->b, r->i32, "");
    r->most = LLVMBuildAlloca(r->b, r->i32, "");
    LLVMBuildBr(r->b, r->turn);
}

// What all lanes of a row start from.
static void load_row(region_builder *r, LLVMValueRef first[BUILTIN_COUNT])
{
    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef own = load_word(r, r->row, offsetof(sm_row, x0) + 4 * d, "");
        LLVMValueRef position = load_word(r, r->group, offsetof(sm_group, position) + 4 * d, "");
        LLVMValueRef size = load_word(r, r->args, offsetof(sm_args, group_size) + 4 * d, "");
        first[BUILTIN_X + d] = own;
        first[BUILTIN_GRID_X + d] = LLVMBuildAdd(r->b, LLVMBuildMul(r->b, position, size, ""), own, "");
    }
    first[BUILTIN_INDEX] = load_word(r, r->row, offsetof(sm_row, first), "");
    first[BUILTIN_LANE] = r->full ? region_constant(r, 0) : load_word(r, r->row, offsetof(sm_row, lane0), "");
    first[BUILTIN_SIMD_INDEX] = LLVMBuildLShr(r->b, first[BUILTIN_INDEX], region_constant(r, 5), "");
}

// The loop over the rows; returns how many lanes the current one has.
static LLVMValueRef build_rows(region_builder *r, LLVMValueRef first[BUILTIN_COUNT])
{
    LLVMPositionBuilderAtEnd(r->b, r->line);
    LLVMValueRef number = LLVMBuildPhi(r->b, r->i32, "row_number");
    LLVMValueRef wide = LLVMBuildZExt(r->b, number, r->i64, "");
    LLVMValueRef offset = LLVMBuildMul(r->b, wide, LLVMConstInt(r->i64, sizeof(sm_row), 0), "");
    r->row = r->full ? r->rows : LLVMBuildInBoundsGEP2(r->b, r->i8, r->rows, &offset, 1, "");
    load_row(r, first);
    LLVMValueRef count =
        r->full ? region_constant(r, SM_LANES) : load_word(r, r->row, offsetof(sm_row, count), "count");
    LLVMBuildBr(r->b, r->loop);
    LLVMPositionBuilderAtEnd(r->b, r->line_end);
    LLVMValueRef following = LLVMBuildNUWAdd(r->b, number, region_constant(r, 1), "");
    LLVMValueRef more = LLVMBuildICmp(r->b, LLVMIntULT, following, r->row_count, "");
    if (r->full)
        LLVMBuildBr(r->b, r->done);
    else
        LLVMBuildCondBr(r->b, more, r->line, r->done);
    LLVMValueRef incoming[2] = {region_constant(r, 0), following};
    LLVMBasicBlockRef from[2] = {r->turn, r->line_end};
    LLVMAddIncoming(number, incoming, from, r->full ? 1 : 2);
    return count;
}

static void build_cells(region_builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!variable->uniform || !variable->in_frame || !r->live->used_in[r->site][v])
            continue;
        LLVMValueRef from = region_at_offset(r, r->frame, variable->offset);
        r->held[v] = LLVMBuildLoad2(r->b, variable->type, from, "");
        LLVMBuildStore(r->b, r->held[v], r->cell[v]);
    }
}

LLVMTypeRef region_memory_type(const region_builder *r, LLVMTypeRef type)
{
    bool is_bit = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
    return is_bit ? r->i8 : type;
}

LLVMValueRef region_frame_address(region_builder *r, uint32_t v)
{
    const lower_variable *variable = &r->live->variable[v];
    LLVMValueRef base = region_at_offset(r, r->frame, variable->offset);
    LLVMTypeRef type = region_memory_type(r, variable->type);
    return LLVMBuildInBoundsGEP2(r->b, type, base, &r->lane64, 1, "");
}

static void load_live(region_builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!r->live->used_in[r->site][v])
            continue;
        if (!variable->scalar) {
            if (variable->in_frame)
                r->local[v] = region_frame_address(r, v);
            continue;
        }
        if (!r->site || !r->live->live_in[r->site][v])
            continue;
        LLVMValueRef value;
        if (variable->uniform) {
            value = r->held[v];
        } else {
            LLVMTypeRef type = region_memory_type(r, variable->type);
            value = region_parallel(r, LLVMBuildLoad2(r->b, type, region_frame_address(r, v), ""));
            if (type != variable->type)
                value = LLVMBuildTrunc(r->b, value, variable->type, "");
        }
        LLVMBuildStore(r->b, value, r->local[v]);
    }
}

static void build_lane_values(region_builder *r, LLVMValueRef first[BUILTIN_COUNT], LLVMValueRef i)
{
    bool cut = r->sites->count > 1;
    memcpy(r->builtin, first, sizeof r->builtin);
    r->builtin[BUILTIN_X] = add_nuw(r, first[BUILTIN_X], i, "x");
    r->builtin[BUILTIN_GRID_X] = add_nuw(r, first[BUILTIN_GRID_X], i, "grid_x");
    r->builtin[BUILTIN_INDEX] = add_nuw(r, first[BUILTIN_INDEX], i, "index");
    if (cut) {
        r->builtin[BUILTIN_LANE] = add_nuw(r, first[BUILTIN_LANE], i, "lane");
        r->lane64 = LLVMBuildZExt(r->b, r->builtin[BUILTIN_LANE], r->i64, "");
    } else {
        LLVMValueRef index = r->builtin[BUILTIN_INDEX];
        r->builtin[BUILTIN_LANE] = LLVMBuildAnd(r->b, index, region_constant(r, SM_LANES - 1), "lane");
        r->builtin[BUILTIN_SIMD_INDEX] = LLVMBuildLShr(r->b, index, region_constant(r, 5), "");
    }
    r->builtin[BUILTIN_GROUP] = r->group;
    r->builtin[BUILTIN_ARGS] = r->args;
    r->builtin[BUILTIN_SIMD] = r->simd;
    r->builtin[BUILTIN_NEVER] = LLVMConstInt(LLVMInt1TypeInContext(r->unit->context), 0, 0);
}

static void build_turn(region_builder *r)
{
    LLVMPositionBuilderAtEnd(r->b, r->turn);
    build_cells(r);
}

static LLVMValueRef build_variant(region_builder r)
{
    LLVMValueRef first[BUILTIN_COUNT] = {0};
    r.copy = lower_alloc(r.cfg->count, sizeof *r.copy);
    r.leave = lower_alloc(r.sites->count + 1, sizeof *r.leave);
    r.local = lower_alloc(r.live->count, sizeof *r.local);
    r.cell = lower_alloc(r.live->count, sizeof *r.cell);
    r.held = lower_alloc(r.live->count, sizeof *r.held);
    // Only whole simdgroups, and kernels without sites, are worth unrolling.
    bool unroll = r.full || r.sites->count == 1;
    r.loop_id = metadata_loop(r.unit->context,
                              unroll ? "!\"llvm.loop.mustprogress\"" : "!\"llvm.loop.unroll.disable\"",
                              &r.access_group);
    r.access_kind = metadata_kind(r.unit->context, "llvm.access.group");
    r.loop_kind = metadata_kind(r.unit->context, "llvm.loop");
    declare(&r);
    build_entry(&r);
    build_turn(&r);
    if (r.site)
        region_hoist_uniform(&r);
    LLVMBuildBr(r.b, r.line);
    LLVMValueRef count = build_rows(&r, first);
    LLVMPositionBuilderAtEnd(r.b, r.loop);
    LLVMValueRef i = LLVMBuildPhi(r.b, r.i32, "i");
    build_lane_values(&r, first, i);
    load_live(&r);
    LLVMBuildBr(r.b, r.copy[r.sites->site[r.site].block]);
    region_copy_blocks(&r);
    r.parts = r.leaving > 1 && region_lanes_may_part(&r);
    region_start_next(&r);
    region_build_latch(&r, i, count);
    region_build_done(&r);
    return r.function;
}

// Beyond this many sites the second variant costs seconds of compiling.
enum { BOTH_VARIANTS_SITES = 64 };

// Most rows are whole simdgroups: knowing that, LLVM unrolls the lanes and keeps a loop's values in
// registers.
static LLVMValueRef build_choice(region_builder *r, LLVMValueRef full, LLVMValueRef part)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(full);
    char name[32];
    snprintf(name, sizeof name, "region_%u", r->site);
    LLVMValueRef choice = LLVMAddFunction(r->unit->module, name, type);
    LLVMSetLinkage(choice, LLVMInternalLinkage);
    LLVMValueRef parameters[6];
    LLVMGetParams(choice, parameters);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(r->unit->context, choice, "");
    LLVMBasicBlockRef whole = LLVMAppendBasicBlockInContext(r->unit->context, choice, "");
    LLVMBasicBlockRef rest = LLVMAppendBasicBlockInContext(r->unit->context, choice, "");
    LLVMPositionBuilderAtEnd(r->b, entry);
    LLVMValueRef count = load_word(r, parameters[4], offsetof(sm_row, count), "");
    LLVMValueRef is_whole = LLVMBuildICmp(r->b, LLVMIntEQ, count, region_constant(r, SM_LANES), "");
    LLVMBuildCondBr(r->b, is_whole, whole, rest);
    LLVMPositionBuilderAtEnd(r->b, whole);
    LLVMBuildRet(r->b, LLVMBuildCall2(r->b, type, full, parameters, 6, ""));
    LLVMPositionBuilderAtEnd(r->b, rest);
    LLVMBuildRet(r->b, LLVMBuildCall2(r->b, type, part, parameters, 6, ""));
    return choice;
}

LLVMValueRef region_build(const lower_unit *unit, const lower_cfg *cfg, const lower_sites *sites,
                          const lower_live *live, const lower_uniform *uniform, uint32_t site)
{
    region_builder r = {
        .unit = unit, .cfg = cfg, .sites = sites, .live = live, .uniform = uniform, .site = site};
    r.b = LLVMCreateBuilderInContext(unit->context);
    r.i8 = LLVMInt8TypeInContext(unit->context);
    r.i16 = LLVMInt16TypeInContext(unit->context);
    r.i32 = LLVMInt32TypeInContext(unit->context);
    r.i64 = LLVMInt64TypeInContext(unit->context);
    r.pointer = LLVMPointerTypeInContext(unit->context, 0);
    LLVMValueRef region = build_variant(r);
    if (sites->count > 1 && sites->count <= BOTH_VARIANTS_SITES) {
        r.full = true;
        region = build_choice(&r, build_variant(r), region);
    }
    LLVMDisposeBuilder(r.b);
    return region;
}
