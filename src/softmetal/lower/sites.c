// SPDX-License-Identifier: MIT
// Where a kernel is cut. A site is a block: behind each synchronisation, on both sides of a branch that has
// one inside and where its paths meet again, and at the head of inner loops that are better run with the
// lanes innermost. Any choice of joins is right, since the executor copes with lanes that part; these make it
// fast.
#include "kernel_abi.h"
#include "lower.h"
#include <stdlib.h>

// ---- how an address moves from lane to lane ----
enum { STRIDE_UNKNOWN = INT32_MIN };

static int stride_of(const lower_uniform *u, LLVMValueRef value, int depth);

static int constant_times(int stride, LLVMValueRef factor)
{
    if (stride == 0)
        return 0;
    if (stride == STRIDE_UNKNOWN || !LLVMIsAConstantInt(factor))
        return STRIDE_UNKNOWN;
    long long product = stride * LLVMConstIntGetSExtValue(factor);
    return product > 65536 || product < -65536 ? STRIDE_UNKNOWN : (int)product;
}

static int sum_of(int a, int b)
{
    return a == STRIDE_UNKNOWN || b == STRIDE_UNKNOWN ? STRIDE_UNKNOWN : a + b;
}

static int stride_of_gep(const lower_uniform *u, LLVMValueRef gep, int depth)
{
    int stride = stride_of(u, LLVMGetOperand(gep, 0), depth);
    int n = LLVMGetNumOperands(gep);
    LLVMTargetDataRef layout =
        LLVMGetModuleDataLayout(LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(gep))));
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (int k = 1; k < n; k++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)k);
        if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
            continue;
        }
        if (k > 1)
            type = LLVMGetElementType(type);
        int step = stride_of(u, index, depth);
        LLVMValueRef size = LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(type)),
                                         LLVMABISizeOfType(layout, type), 0);
        stride = sum_of(stride, constant_times(step, size));
    }
    return stride;
}

// An induction variable moves with its start, if every step is the same in all lanes.
static int stride_of_phi(const lower_uniform *u, LLVMValueRef phi, int depth)
{
    int stride = STRIDE_UNKNOWN;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef in = LLVMGetIncomingValue(phi, k);
        bool step = (LLVMIsABinaryOperator(in) && LLVMGetInstructionOpcode(in) == LLVMAdd &&
                     ((LLVMGetOperand(in, 0) == phi && uniform_value(u, LLVMGetOperand(in, 1))) ||
                      (LLVMGetOperand(in, 1) == phi && uniform_value(u, LLVMGetOperand(in, 0))))) ||
                    (LLVMIsAGetElementPtrInst(in) && LLVMGetOperand(in, 0) == phi &&
                     LLVMGetNumOperands(in) == 2 && uniform_value(u, LLVMGetOperand(in, 1)));
        if (step)
            continue;
        int start = stride_of(u, in, depth);
        if (start == STRIDE_UNKNOWN || (stride != STRIDE_UNKNOWN && stride != start))
            return STRIDE_UNKNOWN;
        stride = start;
    }
    return stride;
}

static int stride_of(const lower_uniform *u, LLVMValueRef value, int depth)
{
    if (uniform_value(u, value))
        return 0;
    if (depth-- <= 0 || !LLVMIsAInstruction(value))
        return STRIDE_UNKNOWN;
    switch (builtin_of(value)) {
    case BUILTIN_X:
    case BUILTIN_GRID_X:
    case BUILTIN_INDEX:
    case BUILTIN_LANE:
        return 1;
    case BUILTIN_Y:
    case BUILTIN_Z:
    case BUILTIN_GRID_Y:
    case BUILTIN_GRID_Z:
        return 0;
    default:
        break;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMOr: // of disjoint bits, as instcombine writes an addition
        return sum_of(stride_of(u, LLVMGetOperand(value, 0), depth),
                      stride_of(u, LLVMGetOperand(value, 1), depth));
    case LLVMSub:
        return stride_of(u, LLVMGetOperand(value, 1), depth) == 0
                   ? stride_of(u, LLVMGetOperand(value, 0), depth)
                   : STRIDE_UNKNOWN;
    case LLVMMul:
        return constant_times(stride_of(u, LLVMGetOperand(value, 0), depth), LLVMGetOperand(value, 1));
    case LLVMShl: {
        LLVMValueRef by = LLVMGetOperand(value, 1);
        if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 16)
            return STRIDE_UNKNOWN;
        LLVMValueRef factor = LLVMConstInt(LLVMTypeOf(by), 1ull << LLVMConstIntGetZExtValue(by), 0);
        return constant_times(stride_of(u, LLVMGetOperand(value, 0), depth), factor);
    }
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
        return stride_of(u, LLVMGetOperand(value, 0), depth);
    case LLVMGetElementPtr:
        return stride_of_gep(u, value, depth);
    case LLVMPHI:
        return stride_of_phi(u, value, depth);
    default:
        return STRIDE_UNKNOWN;
    }
}

// ---- loops with the lanes innermost ----
typedef struct loop_facts {
    bool has_call, has_inner;
    uint32_t near, far; // accesses that lie side by side over the lanes, and others
} loop_facts;

static void look_at(const lower_uniform *u, LLVMValueRef i, loop_facts *facts)
{
    LLVMValueRef pointer;
    LLVMTypeRef type;
    if (LLVMIsALoadInst(i)) {
        pointer = LLVMGetOperand(i, 0);
        type = LLVMTypeOf(i);
    } else if (LLVMIsAStoreInst(i)) {
        pointer = LLVMGetOperand(i, 1);
        type = LLVMTypeOf(LLVMGetOperand(i, 0));
    } else {
        bool call = LLVMIsACallInst(i) != NULL;
        bool atomic = LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
        LLVMValueRef callee = call ? LLVMGetCalledValue(i) : NULL;
        facts->has_call |= atomic || builtin_is_sync(builtin_of(i)) ||
                           (call && (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee)));
        return;
    }
    LLVMTargetDataRef layout =
        LLVMGetModuleDataLayout(LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(i))));
    int stride = stride_of(u, pointer, 12);
    if (stride != STRIDE_UNKNOWN && abs(stride) <= (int)LLVMABISizeOfType(layout, type))
        facts->near++;
    else
        facts->far++;
}

static bool exit_nearly_uniform(const lower_uniform *u, uint32_t block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(u->cfg->block[block]);
    if (LLVMGetNumSuccessors(end) != 2)
        return LLVMGetNumSuccessors(end) < 2;
    LLVMValueRef condition = LLVMGetOperand(end, 0);
    if (uniform_value(u, condition))
        return true;
    return LLVMIsAICmpInst(condition) && stride_of(u, LLVMGetOperand(condition, 0), 12) != STRIDE_UNKNOWN &&
           stride_of(u, LLVMGetOperand(condition, 1), 12) != STRIDE_UNKNOWN;
}

static bool loop_wants_lanes_innermost(const lower_cfg *cfg, const lower_uniform *u, uint32_t header)
{
    loop_facts facts = {0};
    bool exits_fit = true;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!cfg_in_loop(cfg, b, header))
            continue;
        facts.has_inner |= cfg->loop_header[b] != header;
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i))
            look_at(u, i, &facts);
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++)
            if (!cfg_in_loop(cfg, cfg->succ[b][k], header))
                exits_fit &= exit_nearly_uniform(u, b);
    }
    return !facts.has_call && !facts.has_inner && exits_fit && facts.near > 0 && facts.far == 0;
}

void sites_choose_loops(const lower_cfg *cfg, const lower_uniform *u, lower_map *headers)
{
    for (uint32_t h = 0; h < cfg->count; h++)
        if (cfg->loop_header[h] == h && loop_wants_lanes_innermost(cfg, u, h))
            map_put(headers, cfg->block[h], 1);
}

// ---- the cuts ----
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
