// SPDX-License-Identifier: MIT
// How lanes leave a region: what they write back to the frame, which site each comes to, and whether all come
// to the same one.
#include "kernel_abi.h"
#include "region.h"
#include <stdlib.h>
#include <string.h>

// Does leaving this region towards any site write this variable back?
static bool writes_back(const region_builder *r, uint32_t v, uint32_t to)
{
    return r->live->variable[v].scalar && r->live->stored_in[r->site][v] && r->live->live_in[to][v];
}

// The way out towards a site; `to` is the number of sites for a return.
LLVMBasicBlockRef region_leave_to(region_builder *r, uint32_t to)
{
    if (r->leave[to])
        return r->leave[to];
    LLVMBasicBlockRef block = LLVMInsertBasicBlockInContext(r->unit->context, r->latch, "leave");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(r->b);
    r->leave[to] = block;
    if (r->leaving < 2)
        r->exits[r->leaving] = to == r->sites->count ? SM_SITE_DONE : to;
    r->leaving++;
    LLVMPositionBuilderAtEnd(r->b, block);
    for (uint32_t v = 0; to < r->sites->count && v < r->live->count; v++) {
        if (!writes_back(r, v, to))
            continue;
        const lower_variable *variable = &r->live->variable[v];
        if (variable->uniform)
            LLVMBuildStore(r->b, LLVMBuildLoad2(r->b, variable->type, r->local[v], ""), r->cell[v]);
    }
    LLVMBuildStore(r->b, region_constant(r, to == r->sites->count ? SM_SITE_DONE : to), r->next_local);
    LLVMBuildBr(r->b, r->latch);
    if (before)
        LLVMPositionBuilderAtEnd(r->b, before);
    return block;
}

static bool written_anywhere(const region_builder *r, uint32_t v)
{
    for (uint32_t to = 0; to < r->sites->count; to++)
        if (r->leave[to] && writes_back(r, v, to))
            return true;
    return false;
}

// A lane's own cells take whatever it holds, needed at this exit or not: a store without a condition.
static void store_varying(region_builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (variable->uniform || !written_anywhere(r, v))
            continue;
        LLVMValueRef value = LLVMBuildLoad2(r->b, variable->type, r->local[v], "");
        if (region_memory_type(r, variable->type) != variable->type)
            value = LLVMBuildZExt(r->b, value, r->i8, "");
        region_parallel(r, LLVMBuildStore(r->b, value, region_frame_address(r, v)));
    }
}

// Marks the exits (by site; the last entry is the return) that a block of the region leads to.
static void exits_from(const region_builder *r, uint32_t from, bool *exits)
{
    bool *seen = lower_alloc(r->cfg->count, sizeof *seen);
    uint32_t *stack = lower_alloc(r->cfg->count, sizeof *stack), depth = 0;
    seen[from] = true;
    stack[depth++] = from;
    while (depth) {
        uint32_t b = stack[--depth];
        exits[r->sites->count] |= r->cfg->succ_count[b] == 0;
        for (uint32_t k = 0; k < r->cfg->succ_count[b]; k++) {
            uint32_t to = r->cfg->succ[b][k];
            if (r->sites->at_block[to] != CFG_NONE) {
                exits[r->sites->at_block[to]] = true;
            } else if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
    free(seen);
    free(stack);
}

// Can a branch that differs between lanes send them to different exits?
bool region_lanes_may_part(const region_builder *r)
{
    bool *exits = lower_alloc(r->sites->count + 1, sizeof *exits);
    for (uint32_t b = 0; b < r->cfg->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(r->cfg->block[b]);
        if (!r->live->region[r->site][b] || LLVMGetNumSuccessors(end) < 2 ||
            uniform_value(r->uniform, LLVMGetOperand(end, 0)))
            continue;
        memset(exits, 0, (r->sites->count + 1) * sizeof *exits);
        exits_from(r, b, exits);
        uint32_t count = 0;
        for (uint32_t k = 0; k <= r->sites->count; k++)
            count += exits[k];
        if (count > 1)
            return true;
    }
    return false;
}

static LLVMValueRef is_site(const region_builder *r, LLVMValueRef next, uint32_t site)
{
    return LLVMBuildICmp(r->b, LLVMIntEQ, next, region_constant(r, site), "");
}

// Which sites the lanes come to: of two, whether any lane comes to each; of more, the lowest and the highest.
static void note_next(region_builder *r)
{
    LLVMValueRef next = LLVMBuildLoad2(r->b, r->i32, r->next_local, "next");
    LLVMValueRef array = region_at_offset(r, r->simd, offsetof(sm_simd, next));
    LLVMValueRef own = LLVMBuildInBoundsGEP2(r->b, r->i16, array, &r->lane64, 1, "");
    region_parallel(r, LLVMBuildStore(r->b, LLVMBuildTrunc(r->b, next, r->i16, ""), own));
    LLVMValueRef least = LLVMBuildLoad2(r->b, r->i32, r->least, "");
    LLVMValueRef most = LLVMBuildLoad2(r->b, r->i32, r->most, "");
    if (r->leaving == 2) {
        LLVMValueRef is_first = LLVMBuildZExt(r->b, is_site(r, next, r->exits[0]), r->i32, "");
        LLVMValueRef is_second = LLVMBuildZExt(r->b, is_site(r, next, r->exits[1]), r->i32, "");
        LLVMBuildStore(r->b, LLVMBuildOr(r->b, least, is_first, ""), r->least);
        LLVMBuildStore(r->b, LLVMBuildOr(r->b, most, is_second, ""), r->most);
        return;
    }
    LLVMValueRef less = LLVMBuildICmp(r->b, LLVMIntULT, next, least, "");
    LLVMValueRef more = LLVMBuildICmp(r->b, LLVMIntUGT, next, most, "");
    LLVMBuildStore(r->b, LLVMBuildSelect(r->b, less, next, least, ""), r->least);
    LLVMBuildStore(r->b, LLVMBuildSelect(r->b, more, next, most, ""), r->most);
}

// All lanes' next sites: one, or SM_SITE_DIVERGED with each lane's own in sm_simd.next.
static LLVMValueRef common_next(region_builder *r)
{
    if (!r->parts)
        return LLVMBuildLoad2(r->b, r->i32, r->next_local, "");
    LLVMValueRef least = LLVMBuildLoad2(r->b, r->i32, r->least, "");
    LLVMValueRef most = LLVMBuildLoad2(r->b, r->i32, r->most, "");
    LLVMValueRef diverged = region_constant(r, SM_SITE_DIVERGED);
    if (r->leaving == 2) {
        LLVMValueRef no_second = is_site(r, most, 0), no_first = is_site(r, least, 0);
        LLVMValueRef other = LLVMBuildSelect(r->b, no_first, region_constant(r, r->exits[1]), diverged, "");
        return LLVMBuildSelect(r->b, no_second, region_constant(r, r->exits[0]), other, "");
    }
    LLVMValueRef same = LLVMBuildICmp(r->b, LLVMIntEQ, least, most, "");
    return LLVMBuildSelect(r->b, same, least, diverged, "");
}

void region_build_latch(region_builder *r, LLVMValueRef i, LLVMValueRef count)
{
    LLVMPositionBuilderAtEnd(r->b, r->latch);
    store_varying(r);
    if (r->parts)
        note_next(r);
    LLVMValueRef following = LLVMBuildNUWAdd(r->b, i, region_constant(r, 1), "");
    LLVMSetNSW(following, 1);
    LLVMValueRef again = LLVMBuildICmp(r->b, LLVMIntULT, following, count, "");
    LLVMValueRef branch = LLVMBuildCondBr(r->b, again, r->loop, r->line_end);
    LLVMSetMetadata(branch, r->loop_kind, r->loop_id);
    LLVMValueRef incoming[2] = {region_constant(r, 0), following};
    LLVMBasicBlockRef from[2] = {r->line, r->latch};
    LLVMAddIncoming(i, incoming, from, 2);
}

static void commit_cells(region_builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!variable->uniform || !written_anywhere(r, v))
            continue;
        LLVMValueRef value = LLVMBuildLoad2(r->b, variable->type, r->cell[v], "");
        LLVMBuildStore(r->b, value, region_at_offset(r, r->frame, variable->offset));
    }
}

static LLVMBasicBlockRef append(const region_builder *r, const char *name)
{
    return LLVMAppendBasicBlockInContext(r->unit->context, r->function, name);
}

void region_build_done(region_builder *r)
{
    LLVMPositionBuilderAtEnd(r->b, r->done);
    commit_cells(r);
    LLVMValueRef next = common_next(r);
    if (r->leave[r->site] && r->sites->site[r->site].kind == SM_SITE_JOIN) {
        LLVMBasicBlockRef leave = append(r, "leave");
        LLVMValueRef here = LLVMBuildICmp(r->b, LLVMIntEQ, next, region_constant(r, r->site), "");
        LLVMBuildCondBr(r->b, here, r->turn, leave);
        LLVMPositionBuilderAtEnd(r->b, leave);
    }
    LLVMBuildRet(r->b, next);
}

// Known only when the exits are: at the end of the block that begins a turn.
void region_start_next(region_builder *r)
{
    LLVMPositionBuilderBefore(r->b, LLVMGetBasicBlockTerminator(r->turn));
    LLVMBuildStore(r->b, region_constant(r, r->leaving == 2 ? 0 : UINT32_MAX), r->least);
    LLVMBuildStore(r->b, region_constant(r, 0), r->most);
    LLVMBuildStore(r->b, region_constant(r, SM_SITE_DONE), r->next_local);
}
