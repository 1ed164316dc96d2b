// SPDX-License-Identifier: MIT
// `for (i = lane; i < n; i += 32)`: i differs between lanes, but only by where it starts. Written as the
// start plus a uniform counter, an address computed from it is plain in the lane number on every turn.
#include "lower.h"

typedef struct induction {
    LLVMValueRef phi, start, step;
    LLVMBasicBlockRef entering, latch;
    bool is_pointer;
    LLVMTypeRef element; // of a pointer's step
} induction;

static bool read_step(const lower_uniform *u, LLVMValueRef phi, LLVMValueRef next, induction *found)
{
    if (LLVMIsABinaryOperator(next) && LLVMGetInstructionOpcode(next) == LLVMAdd) {
        int own = LLVMGetOperand(next, 0) == phi ? 0 : 1;
        found->step = LLVMGetOperand(next, 1 - (unsigned)own);
        return LLVMGetOperand(next, (unsigned)own) == phi && uniform_value(u, found->step);
    }
    if (LLVMIsAGetElementPtrInst(next) && LLVMGetOperand(next, 0) == phi && LLVMGetNumOperands(next) == 2) {
        found->step = LLVMGetOperand(next, 1);
        found->is_pointer = true;
        found->element = LLVMGetGEPSourceElementType(next);
        return uniform_value(u, found->step);
    }
    return false;
}

static bool find_induction(const lower_cfg *cfg, const lower_uniform *u, uint32_t header, LLVMValueRef phi,
                           induction *found)
{
    if (LLVMCountIncoming(phi) != 2 || uniform_value(u, phi))
        return false;
    unsigned back = cfg_in_loop(cfg, cfg_number(cfg, LLVMGetIncomingBlock(phi, 0)), header) ? 0 : 1;
    *found = (induction){.phi = phi,
                         .start = LLVMGetIncomingValue(phi, 1 - back),
                         .entering = LLVMGetIncomingBlock(phi, 1 - back),
                         .latch = LLVMGetIncomingBlock(phi, back)};
    if (cfg_in_loop(cfg, cfg_number(cfg, found->entering), header))
        return false;
    return read_step(u, phi, LLVMGetIncomingValue(phi, back), found) && slots_tree_is_cheap(u, found->start);
}

static void split(const induction *i, LLVMBuilderRef builder)
{
    LLVMTypeRef type = LLVMTypeOf(i->step);
    LLVMPositionBuilderBefore(builder, i->phi);
    LLVMValueRef counter = LLVMBuildPhi(builder, type, "turn");
    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(i->latch));
    LLVMValueRef next = LLVMBuildAdd(builder, counter, i->step, "");
    LLVMValueRef values[2] = {LLVMConstNull(type), next};
    LLVMBasicBlockRef blocks[2] = {i->entering, i->latch};
    LLVMAddIncoming(counter, values, blocks, 2);
    LLVMValueRef after = i->phi;
    while (LLVMIsAPHINode(after))
        after = LLVMGetNextInstruction(after);
    LLVMPositionBuilderBefore(builder, after);
    LLVMValueRef whole = i->is_pointer
                             ? LLVMBuildGEP2(builder, i->element, i->start, (LLVMValueRef[]){counter}, 1, "")
                             : LLVMBuildAdd(builder, i->start, counter, "");
    LLVMReplaceAllUsesWith(i->phi, whole);
    LLVMInstructionEraseFromParent(i->phi);
}

bool induction_split(const lower_cfg *cfg, const lower_uniform *u)
{
    LLVMBuilderRef builder = LLVMCreateBuilder();
    bool any = false;
    for (uint32_t h = 0; h < cfg->count; h++) {
        if (cfg->loop_header[h] != h)
            continue;
        for (LLVMValueRef phi = LLVMGetFirstInstruction(cfg->block[h]), next; LLVMIsAPHINode(phi);
             phi = next) {
            next = LLVMGetNextInstruction(phi);
            induction found;
            if (!find_induction(cfg, u, h, phi, &found))
                continue;
            split(&found, builder);
            any = true;
        }
    }
    LLVMDisposeBuilder(builder);
    return any;
}
