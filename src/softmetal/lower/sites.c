// SPDX-License-Identifier: MIT
// Where a kernel is cut. A site is a block: behind each synchronisation, on both sides of a branch that has
// one inside and where its paths meet again, and at the head of inner loops that are better run with the
// lanes innermost. Any choice of joins is right, since the executor copes with lanes that part; these make it
// fast.
#include "kernel_abi.h"
#include "lower.h"
#include <stdlib.h>

static bool mark_real_sites(const lower_cfg *cfg, const lower_map *loop_headers, lower_site *by_block,
                            bool *marked)
{
    bool any = false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(cfg->block[b]);
        LLVMValueRef last = LLVMGetPreviousInstruction(end);
        lower_builtin builtin = last ? builtin_of(last) : BUILTIN_NONE;
        if (builtin_is_sync(builtin)) {
            uint32_t tail = cfg->succ[b][0];
            LLVMValueRef op = builtin == BUILTIN_SIMD_SYNC ? LLVMGetOperand(last, 0) : NULL;
            if (op && !LLVMIsAFunction(op))
                lower_fail("a simdgroup operation is not a constant function");
            by_block[tail] = (lower_site){tail, op ? SM_SITE_SIMD : SM_SITE_BARRIER, op};
            marked[tail] = any = true;
        } else if (map_or(loop_headers, cfg->block[b], 0)) {
            by_block[b] = (lower_site){b, SM_SITE_JOIN, NULL};
            marked[b] = any = true;
        }
    }
    return any;
}

static bool is_local(LLVMValueRef i)
{
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
        return LLVMIsAAllocaInst(LLVMGetOperand(i, LLVMIsAStoreInst(i) ? 1 : 0)) != NULL;
    return !LLVMIsACallInst(i) && !LLVMIsAAtomicRMWInst(i) && !LLVMIsAAtomicCmpXchgInst(i);
}

// A block that only carries values over an edge: lanes that wait in front of it would see uniform ones
// change.
static uint32_t behind_edge_blocks(const lower_cfg *cfg, uint32_t block)
{
    while (cfg->pred_count[block] == 1 && cfg->succ_count[block] == 1) {
        LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[block]);
        while (!LLVMIsATerminatorInst(i) && is_local(i))
            i = LLVMGetNextInstruction(i);
        if (!LLVMIsATerminatorInst(i))
            return block;
        block = cfg->succ[block][0];
    }
    return block;
}

static void mark_join(uint32_t at, lower_site *by_block, bool *marked)
{
    if (at == CFG_NONE || at == 0 || marked[at])
        return;
    by_block[at] = (lower_site){at, SM_SITE_JOIN, NULL};
    marked[at] = true;
}

// Paths that come together, other than round a loop: lanes ahead wait here for those behind. This is where
// they meet when some return early, which moves the post-dominator to the end of the kernel.
static bool is_meeting(const lower_cfg *cfg, uint32_t block)
{
    uint32_t forward = 0;
    for (uint32_t k = 0; k < cfg->pred_count[block]; k++)
        forward += !cfg_dominates(cfg, block, cfg->pred[block][k]);
    return forward > 1;
}

static void mark_joins(const lower_cfg *cfg, const bool *real, lower_site *by_block, bool *marked)
{
    bool *seen = lower_alloc(cfg->count, sizeof *seen);
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (cfg->succ_count[b] < 2)
            continue;
        for (uint32_t k = 0; k < cfg->count; k++)
            seen[k] = false;
        cfg_reach_until(cfg, b, cfg->ipdom[b], seen);
        bool has_site = false;
        for (uint32_t k = 0; k < cfg->count && !has_site; k++)
            has_site = seen[k] && real[k];
        if (!has_site)
            continue;
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++)
            mark_join(behind_edge_blocks(cfg, cfg->succ[b][k]), by_block, marked);
        mark_join(cfg->ipdom[b], by_block, marked);
        for (uint32_t k = 0; k < cfg->count; k++)
            if (seen[k] && is_meeting(cfg, k))
                mark_join(k, by_block, marked);
    }
    free(seen);
}

lower_sites *sites_find(const lower_cfg *cfg, const lower_map *loop_headers)
{
    lower_site *by_block = lower_alloc(cfg->count, sizeof *by_block);
    bool *real = lower_alloc(cfg->count, sizeof *real);
    bool *marked = lower_alloc(cfg->count, sizeof *marked);
    if (mark_real_sites(cfg, loop_headers, by_block, real)) {
        for (uint32_t b = 0; b < cfg->count; b++)
            marked[b] = real[b];
        mark_joins(cfg, real, by_block, marked);
    }
    marked[0] = true;
    by_block[0] = (lower_site){0, SM_SITE_JOIN, NULL};
    lower_sites *sites = lower_alloc(1, sizeof *sites);
    sites->at_block = lower_alloc(cfg->count, sizeof *sites->at_block);
    sites->site = lower_alloc(cfg->count, sizeof *sites->site);
    uint32_t *block_at = lower_alloc(cfg->count, sizeof *block_at);
    for (uint32_t b = 0; b < cfg->count; b++) {
        sites->at_block[b] = CFG_NONE;
        block_at[cfg->order[b]] = b;
    }
    for (uint32_t i = 0; i < cfg->count; i++) {
        uint32_t b = block_at[i];
        if (!marked[b] || sites->at_block[b] != CFG_NONE)
            continue;
        sites->at_block[b] = sites->count;
        sites->site[sites->count++] = by_block[b];
    }
    if (sites->count >= SM_SITE_DIVERGED)
        lower_fail("the kernel has too many synchronisation points");
    return sites;
}
