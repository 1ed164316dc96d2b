// SPDX-License-Identifier: MIT
// Keeps a simdgroup operation in front of a `break` or `return` inside its loop. To LLVM such a block lies
// behind the loop, and it may not be told any more from code that follows the loop; but lanes that leave at
// different turns must meet in it separately. An edge back to the loop's header that is never taken holds it
// in place. Runs on clang's unoptimised code, whose blocks still stand in the order of the source.
#include "lower.h"
#include <stdlib.h>
#include <string.h>

typedef struct holding {
    lower_unit *unit;
    lower_map syncs; // functions that synchronise, directly or through a call
    LLVMValueRef never;
    LLVMTypeRef never_type;
} holding;

static bool calls_sync(const holding *h, LLVMValueRef i)
{
    if (builtin_is_sync(builtin_of(i)))
        return true;
    if (!LLVMIsACallInst(i))
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(i);
    return callee && map_or(&h->syncs, callee, 0);
}

static bool block_syncs(const holding *h, LLVMBasicBlockRef block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (calls_sync(h, i))
            return true;
    return false;
}

static bool function_syncs(const holding *h, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (block_syncs(h, b))
            return true;
    return false;
}

static void find_syncing_functions(holding *h)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(h->unit->module); f; f = LLVMGetNextFunction(f))
            if (!map_or(&h->syncs, f, 0) && function_syncs(h, f)) {
                map_put(&h->syncs, f, 1);
                changed = true;
            }
    }
}

// The last block of the loop in source order: its highest latch.
static uint32_t loop_end(const lower_cfg *cfg, uint32_t header)
{
    uint32_t end = header;
    for (uint32_t k = 0; k < cfg->pred_count[header]; k++) {
        uint32_t latch = cfg->pred[header][k];
        if (latch > end && cfg_dominates(cfg, header, latch))
            end = latch;
    }
    return end;
}

// Does some path through this block, written inside the loop, synchronise on its way out?
static bool leaves_with_sync(const holding *h, const lower_cfg *cfg, uint32_t header, uint32_t end,
                             uint32_t block)
{
    bool *seen = lower_alloc(cfg->count, sizeof *seen);
    uint32_t *stack = lower_alloc(cfg->count, sizeof *stack), depth = 0;
    bool found = false;
    stack[depth++] = block;
    seen[block] = true;
    while (depth && !found) {
        uint32_t b = stack[--depth];
        found = block_syncs(h, cfg->block[b]);
        for (uint32_t k = 0; k < cfg->pred_count[b]; k++) {
            uint32_t from = cfg->pred[b][k];
            bool outside = from > header && from < end && !cfg_in_loop(cfg, from, header);
            if (outside && !seen[from]) {
                seen[from] = true;
                stack[depth++] = from;
            }
        }
    }
    free(seen);
    free(stack);
    return found;
}

static LLVMValueRef never(holding *h, LLVMBuilderRef builder)
{
    if (!h->never) {
        h->never_type = LLVMFunctionType(LLVMInt1TypeInContext(h->unit->context), NULL, 0, 0);
        h->never = LLVMGetNamedFunction(h->unit->module, "__sm_never");
        if (!h->never)
            h->never = LLVMAddFunction(h->unit->module, "__sm_never", h->never_type);
        unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
        LLVMAddAttributeAtIndex(h->never, (unsigned)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(h->unit->context, kind, 0));
    }
    return LLVMBuildCall2(builder, h->never_type, h->never, NULL, 0, "");
}

static void hold_block(holding *h, const lower_cfg *cfg, uint32_t block, uint32_t header)
{
    LLVMBasicBlockRef ref = cfg->block[block], to = cfg->block[header];
    LLVMValueRef end = LLVMGetBasicBlockTerminator(ref);
    bool leaves = LLVMIsAReturnInst(end) || (LLVMIsABranchInst(end) && !LLVMIsConditional(end));
    if (!leaves || LLVMIsAPHINode(LLVMGetFirstInstruction(to)))
        return;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(h->unit->context);
    LLVMBasicBlockRef out;
    if (LLVMIsAReturnInst(end)) {
        out = LLVMAppendBasicBlockInContext(h->unit->context, cfg->function, "");
        LLVMInstructionRemoveFromParent(end);
        LLVMPositionBuilderAtEnd(builder, out);
        LLVMInsertIntoBuilder(builder, end);
    } else {
        out = LLVMGetSuccessor(end, 0);
        LLVMInstructionEraseFromParent(end);
    }
    LLVMPositionBuilderAtEnd(builder, ref);
    LLVMBuildCondBr(builder, never(h, builder), to, out);
    LLVMDisposeBuilder(builder);
}

static void hold_loop(holding *h, const lower_cfg *cfg, uint32_t header)
{
    uint32_t end = loop_end(cfg, header);
    for (uint32_t b = header + 1; b < end; b++) {
        if (cfg_in_loop(cfg, b, header) || cfg->pred_count[b] == 0)
            continue;
        bool outward = cfg->succ_count[b] == 0;
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++)
            outward |= cfg->succ[b][k] > end || cfg->succ[b][k] < header;
        if (outward && leaves_with_sync(h, cfg, header, end, b))
            hold_block(h, cfg, b, header);
    }
}

void breaks_hold(lower_unit *unit)
{
    holding h = {.unit = unit};
    find_syncing_functions(&h);
    for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || !map_or(&h.syncs, f, 0) || LLVMCountBasicBlocks(f) < 3)
            continue;
        lower_cfg *cfg = cfg_build(f);
        for (uint32_t b = 0; b < cfg->count; b++)
            if (cfg->loop_header[b] == b)
                hold_loop(&h, cfg, b);
    }
}
