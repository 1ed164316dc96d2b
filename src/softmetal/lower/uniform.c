// SPDX-License-Identifier: MIT
// Which values are the same in all lanes of a simdgroup that come to them together. A uniform value needs one
// cell in the frame instead of 32, and keeps addresses plain for the vectoriser. Saying "varying" is always
// safe.
#include "kernel_abi.h"
#include "lower.h"
#include <stdlib.h>
#include <string.h>

typedef struct analysis {
    lower_uniform *u;
    LLVMTargetDataRef layout;
    bool written[SM_MAX_BUFFERS]; // some store goes through this buffer argument
    bool written_unknown;         // some store goes through a pointer of unknown origin
    bool changed;
} analysis;

enum { BASE_UNKNOWN = -1, BASE_PRIVATE = -2, BASE_INVARIANT = -3, BASE_SIMD = -4, BASE_CONSTANT = -5 };

static LLVMValueRef strip_address(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsABitCastInst(pointer) ||
           (LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
        pointer = LLVMGetOperand(pointer, 0);
    return pointer;
}

// The byte offset of a pointer from the args block if it is a constant, else -1.
static long constant_offset(const analysis *a, LLVMValueRef pointer)
{
    long offset = 0;
    for (; LLVMIsAGetElementPtrInst(pointer); pointer = LLVMGetOperand(pointer, 0)) {
        LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
        for (int k = 1; k < LLVMGetNumOperands(pointer); k++) {
            LLVMValueRef index = LLVMGetOperand(pointer, (unsigned)k);
            if (!LLVMIsAConstantInt(index))
                return -1;
            long i = (long)LLVMConstIntGetSExtValue(index);
            if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
                offset += (long)LLVMOffsetOfElement(a->layout, type, (unsigned)i);
                type = LLVMStructGetTypeAtIndex(type, (unsigned)i);
                continue;
            }
            if (k > 1)
                type = LLVMGetElementType(type);
            offset += i * (long)LLVMABISizeOfType(a->layout, type);
        }
    }
    return offset;
}

// Where a pointer comes from: a buffer argument's index, or one of BASE_...
static int base_of(const analysis *a, LLVMValueRef pointer)
{
    LLVMValueRef base = strip_address(pointer);
    if (LLVMIsAAllocaInst(base))
        return BASE_PRIVATE;
    if (LLVMIsAGlobalVariable(base))
        return LLVMIsGlobalConstant(base) ? BASE_CONSTANT : BASE_PRIVATE;
    switch (builtin_of(base)) {
    case BUILTIN_ARGS:
    case BUILTIN_GROUP:
        return BASE_INVARIANT;
    case BUILTIN_SIMD:
        return BASE_SIMD;
    default:
        break;
    }
    if (!LLVMIsALoadInst(base))
        return BASE_UNKNOWN;
    LLVMValueRef from = LLVMGetOperand(base, 0);
    if (builtin_of(strip_address(from)) == BUILTIN_GROUP)
        return BASE_PRIVATE; // threadgroup memory
    if (builtin_of(strip_address(from)) != BUILTIN_ARGS)
        return BASE_UNKNOWN;
    long offset = constant_offset(a, from);
    return offset < 0 || offset >= (long)(SM_MAX_BUFFERS * sizeof(void *)) ? BASE_UNKNOWN : (int)(offset / 8);
}

static void note_write(analysis *a, LLVMValueRef pointer)
{
    int base = base_of(a, pointer);
    if (base >= 0)
        a->written[base] = true;
    else if (base == BASE_UNKNOWN)
        a->written_unknown = true;
}

static bool is_pointer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static void find_writes(analysis *a, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore:
        note_write(a, LLVMGetOperand(i, 1));
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        note_write(a, LLVMGetOperand(i, 0));
        break;
    case LLVMCall:
        if (builtin_of(i) == BUILTIN_NONE)
            for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
                if (is_pointer(LLVMGetOperand(i, k)))
                    note_write(a, LLVMGetOperand(i, k));
        break;
    default:
        break;
    }
}

bool uniform_value(const lower_uniform *u, LLVMValueRef value)
{
    return !map_or(&u->varying, value, 0);
}

static bool operands_uniform(const lower_uniform *u, LLVMValueRef i)
{
    int n = LLVMGetNumOperands(i);
    for (int k = 0; k < n; k++)
        if (!uniform_value(u, LLVMGetOperand(i, (unsigned)k)))
            return false;
    return true;
}

static bool load_uniform(const analysis *a, LLVMValueRef i)
{
    if (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic || !operands_uniform(a->u, i))
        return false;
    int base = base_of(a, LLVMGetOperand(i, 0));
    if (base >= 0)
        return !a->written[base] && !a->written_unknown;
    return base == BASE_INVARIANT || base == BASE_SIMD || base == BASE_CONSTANT;
}

static bool call_uniform(const analysis *a, LLVMValueRef i)
{
    lower_builtin builtin = builtin_of(i);
    if (builtin != BUILTIN_NONE)
        return builtin_is_uniform(builtin);
    LLVMValueRef callee = LLVMGetCalledValue(i);
    if (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
        return false;
    // A function of numbers only: intrinsics and the mathematics library.
    for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++)
        if (is_pointer(LLVMGetOperand(i, k)))
            return false;
    return operands_uniform(a->u, i);
}

static bool instruction_uniform(const analysis *a, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMVAArg:
        return false;
    case LLVMLoad:
        return load_uniform(a, i);
    case LLVMCall:
        return call_uniform(a, i);
    case LLVMPHI:
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
            if (!uniform_value(a->u, LLVMGetIncomingValue(i, k)))
                return false;
        return true;
    default:
        return operands_uniform(a->u, i);
    }
}

enum { SIDE_LEAVES = 1, SIDE_STAYS = 2 };

// What a path from `from` can come to within one turn of a loop, without passing `but`: its end, or the
// outside.
static int ways_from(const lower_cfg *cfg, uint32_t from, uint32_t header, uint32_t but)
{
    bool *seen = lower_alloc(cfg->count, sizeof *seen);
    uint32_t *stack = lower_alloc(cfg->count, sizeof *stack), depth = 0;
    int ways = 0;
    if (from != but)
        stack[depth++] = from;
    seen[from] = true;
    while (depth) {
        uint32_t b = stack[--depth];
        if (b == header || !cfg_in_loop(cfg, b, header)) {
            ways |= b == header ? SIDE_STAYS : SIDE_LEAVES;
            continue;
        }
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++) {
            uint32_t to = cfg->succ[b][k];
            if (to != but && !seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
    free(seen);
    free(stack);
    return ways;
}

// Do lanes that part at this branch decide there whether they leave the loop on this turn? Not if all of them
// come through one block first: then that block's branch decides.
static bool decides_leaving(const lower_cfg *cfg, uint32_t block, uint32_t header)
{
    int ways = 0;
    for (uint32_t k = 0; k < cfg->succ_count[block]; k++)
        ways |= ways_from(cfg, cfg->succ[block][k], header, CFG_NONE);
    if (ways != (SIDE_LEAVES | SIDE_STAYS))
        return false;
    for (uint32_t m = 0; m < cfg->count; m++) {
        if (m == header || m == block || cfg->pred_count[m] < 2 || !cfg_in_loop(cfg, m, header))
            continue;
        int around = 0;
        for (uint32_t k = 0; k < cfg->succ_count[block]; k++)
            around |= ways_from(cfg, cfg->succ[block][k], header, m);
        if (!around)
            return false;
    }
    return true;
}

// Lanes leave this loop on different turns: what it hands to the outside differs.
static void mark_exits(analysis *a, uint32_t header, bool *joins)
{
    const lower_cfg *cfg = a->u->cfg;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t k = 0; cfg_in_loop(cfg, b, header) && k < cfg->succ_count[b]; k++) {
            uint32_t to = cfg->succ[b][k];
            if (!cfg_in_loop(cfg, to, header) && !joins[to])
                a->changed = joins[to] = true;
        }
}

// Lanes part at this branch. They meet again at its post-dominator, and wait for each other there, so that
// what lanes on one side compute alike stays alike; but a phi where paths from different sides come together
// differs. A loop that lanes leave one by one is such a branch too: inside it those that stay are together,
// and its values reach the outside only through the phis of loop-closed form.
static void mark_joins(analysis *a, uint32_t block, bool *joins)
{
    const lower_cfg *cfg = a->u->cfg;
    uint32_t meet = cfg->ipdom[block];
    uint8_t *sides = lower_alloc(cfg->count, sizeof *sides);
    bool *seen = lower_alloc(cfg->count, sizeof *seen);
    for (uint32_t k = 0; k < cfg->succ_count[block]; k++) {
        uint32_t to = cfg->succ[block][k];
        if (to == meet)
            continue;
        memset(seen, 0, cfg->count * sizeof *seen);
        seen[to] = true;
        cfg_reach_until(cfg, to, meet, seen);
        for (uint32_t b = 0; b < cfg->count; b++)
            sides[b] += seen[b] && sides[b] < 2;
    }
    for (uint32_t b = 0; b < cfg->count; b++)
        if ((sides[b] > 1 || b == meet) && !joins[b])
            a->changed = joins[b] = true;
    for (uint32_t h = cfg->loop_header[block]; h != CFG_NONE; h = cfg->loop_parent[h])
        if (decides_leaving(cfg, block, h))
            mark_exits(a, h, joins);
    free(seen);
    free(sides);
}

static bool parts_lanes(const analysis *a, LLVMValueRef terminator)
{
    if (LLVMGetNumSuccessors(terminator) < 2)
        return false;
    return !uniform_value(a->u, LLVMGetOperand(terminator, 0));
}

static void analyse_block(analysis *a, uint32_t block, bool *joins, bool *done)
{
    lower_uniform *u = a->u;
    LLVMBasicBlockRef ref = u->cfg->block[block];
    for (LLVMValueRef i = LLVMGetFirstInstruction(ref); i; i = LLVMGetNextInstruction(i)) {
        if (!uniform_value(u, i))
            continue;
        bool joined = LLVMIsAPHINode(i) && joins[block];
        if (joined || !instruction_uniform(a, i)) {
            map_put(&u->varying, i, 1);
            a->changed = true;
        }
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(ref);
    if (!done[block] && parts_lanes(a, end)) {
        done[block] = true;
        mark_joins(a, block, joins);
    }
}

lower_uniform *uniform_analyse(const lower_cfg *cfg)
{
    analysis a = {.u = lower_alloc(1, sizeof *a.u)};
    a.layout = LLVMGetModuleDataLayout(LLVMGetGlobalParent(cfg->function));
    a.u->cfg = cfg;
    bool *joins = lower_alloc(cfg->count, sizeof *joins);
    bool *done = lower_alloc(cfg->count, sizeof *done);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i))
            find_writes(&a, i);
    do {
        a.changed = false;
        for (uint32_t b = 0; b < cfg->count; b++)
            analyse_block(&a, b, joins, done);
    } while (a.changed);
    return a.u;
}
