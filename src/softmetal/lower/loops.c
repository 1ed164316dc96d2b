// SPDX-License-Identifier: MIT
// Which loops inside a lane are better run with the lanes innermost, as if the lanes met at each turn: those
// whose accesses lie side by side over the lanes. Of the others, those with accesses that lie side by side in
// no direction are kept from LLVM's loop vectoriser, which would load each element singly; vectors of
// neighbours within one turn serve them better.
#include "lower.h"
#include <stdlib.h>

// How a value moves from lane to lane, or (with a header) from turn to turn of a loop.
typedef struct direction {
    const lower_uniform *u;
    const lower_cfg *cfg;
    uint32_t header; // CFG_NONE: over the lanes
} direction;

enum { STRIDE_UNKNOWN = INT32_MIN, STRIDE_DEPTH = 12, NEIGHBOURS = 4 };

static int stride_of(const direction *d, LLVMValueRef value, int depth);

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

static LLVMTargetDataRef layout_of(LLVMValueRef instruction)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(instruction);
    return LLVMGetModuleDataLayout(LLVMGetGlobalParent(LLVMGetBasicBlockParent(block)));
}

static int stride_of_gep(const direction *d, LLVMValueRef gep, int depth)
{
    int stride = stride_of(d, LLVMGetOperand(gep, 0), depth);
    int n = LLVMGetNumOperands(gep);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (int k = 1; k < n; k++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)k);
        if (k > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
            continue;
        }
        if (k > 1)
            type = LLVMGetElementType(type);
        LLVMValueRef size = LLVMConstInt(LLVMInt64TypeInContext(LLVMGetTypeContext(type)),
                                         LLVMABISizeOfType(layout_of(gep), type), 0);
        stride = sum_of(stride, constant_times(stride_of(d, index, depth), size));
    }
    return stride;
}

// The step of a loop variable, or NULL if this incoming value is not the variable plus a step.
static LLVMValueRef step_of(LLVMValueRef phi, LLVMValueRef in)
{
    if (LLVMIsABinaryOperator(in) && LLVMGetInstructionOpcode(in) == LLVMAdd) {
        if (LLVMGetOperand(in, 0) == phi)
            return LLVMGetOperand(in, 1);
        return LLVMGetOperand(in, 1) == phi ? LLVMGetOperand(in, 0) : NULL;
    }
    if (LLVMIsAGetElementPtrInst(in) && LLVMGetOperand(in, 0) == phi && LLVMGetNumOperands(in) == 2)
        return LLVMGetOperand(in, 1);
    return NULL;
}

// Over lanes a loop variable moves with its start, if every step is the same in all lanes.
static int phi_over_lanes(const direction *d, LLVMValueRef phi, int depth)
{
    int stride = STRIDE_UNKNOWN;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef in = LLVMGetIncomingValue(phi, k), step = step_of(phi, in);
        if (step && uniform_value(d->u, step))
            continue;
        int start = stride_of(d, in, depth);
        if (start == STRIDE_UNKNOWN || (stride != STRIDE_UNKNOWN && stride != start))
            return STRIDE_UNKNOWN;
        stride = start;
    }
    return stride;
}

static int phi_over_turns(const direction *d, LLVMValueRef phi)
{
    if (cfg_number(d->cfg, LLVMGetInstructionParent(phi)) != d->header)
        return STRIDE_UNKNOWN;
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMValueRef in = LLVMGetIncomingValue(phi, k), step = step_of(phi, in);
        if (!step || !LLVMIsAConstantInt(step))
            continue;
        long long by = LLVMConstIntGetSExtValue(step);
        if (LLVMIsAGetElementPtrInst(in))
            by *= (long long)LLVMABISizeOfType(layout_of(phi), LLVMGetGEPSourceElementType(in));
        return by > 65536 || by < -65536 ? STRIDE_UNKNOWN : (int)by;
    }
    return STRIDE_UNKNOWN;
}

static bool stands_still(const direction *d, LLVMValueRef value)
{
    if (!LLVMIsAInstruction(value))
        return true;
    if (d->header == CFG_NONE)
        return uniform_value(d->u, value);
    return !cfg_in_loop(d->cfg, cfg_number(d->cfg, LLVMGetInstructionParent(value)), d->header);
}

static int stride_of_builtin(const direction *d, lower_builtin builtin)
{
    bool along_x = builtin == BUILTIN_X || builtin == BUILTIN_GRID_X || builtin == BUILTIN_INDEX ||
                   builtin == BUILTIN_LANE;
    return along_x && d->header == CFG_NONE ? 1 : 0;
}

static int stride_of_sum(const direction *d, LLVMValueRef value, int depth)
{
    return sum_of(stride_of(d, LLVMGetOperand(value, 0), depth),
                  stride_of(d, LLVMGetOperand(value, 1), depth));
}

static int stride_of(const direction *d, LLVMValueRef value, int depth)
{
    if (stands_still(d, value))
        return 0;
    if (depth-- <= 0)
        return STRIDE_UNKNOWN;
    if (builtin_of(value) != BUILTIN_NONE)
        return stride_of_builtin(d, builtin_of(value));
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMOr: // of disjoint bits, as instcombine writes an addition
        return stride_of_sum(d, value, depth);
    case LLVMSub:
        return stride_of(d, LLVMGetOperand(value, 1), depth) == 0
                   ? stride_of(d, LLVMGetOperand(value, 0), depth)
                   : STRIDE_UNKNOWN;
    case LLVMMul:
        return constant_times(stride_of(d, LLVMGetOperand(value, 0), depth), LLVMGetOperand(value, 1));
    case LLVMShl: {
        LLVMValueRef by = LLVMGetOperand(value, 1);
        if (!LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) > 16)
            return STRIDE_UNKNOWN;
        LLVMValueRef factor = LLVMConstInt(LLVMTypeOf(by), 1ull << LLVMConstIntGetZExtValue(by), 0);
        return constant_times(stride_of(d, LLVMGetOperand(value, 0), depth), factor);
    }
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
        return stride_of(d, LLVMGetOperand(value, 0), depth);
    case LLVMGetElementPtr:
        return stride_of_gep(d, value, depth);
    case LLVMPHI:
        return d->header == CFG_NONE ? phi_over_lanes(d, value, depth) : phi_over_turns(d, value);
    default:
        return STRIDE_UNKNOWN;
    }
}

typedef struct loop_facts {
    bool has_call, has_inner, has_private;
    uint32_t near, far;       // accesses that lie side by side over the lanes, and others
    uint32_t scattered_turns; // accesses that do not over the turns
} loop_facts;

static bool is_private(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer) != NULL;
}

// A few neighbours per lane, as in float4, are taken apart by LLVM and count as side by side; taking apart
// half4 costs more than it brings.
static bool is_near(int stride, uint64_t size)
{
    uint64_t reach = size < 4 ? size : NEIGHBOURS * size;
    return stride != STRIDE_UNKNOWN && (uint64_t)abs(stride) <= reach;
}

static void look_at(const lower_uniform *u, const lower_cfg *cfg, uint32_t header, LLVMValueRef i,
                    loop_facts *facts)
{
    bool load = LLVMIsALoadInst(i), store = LLVMIsAStoreInst(i);
    if (!load && !store) {
        bool call = LLVMIsACallInst(i) != NULL;
        bool atomic = LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
        LLVMValueRef callee = call ? LLVMGetCalledValue(i) : NULL;
        facts->has_call |= atomic || builtin_is_sync(builtin_of(i)) ||
                           (call && (!LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee)));
        return;
    }
    LLVMValueRef pointer = LLVMGetOperand(i, store ? 1 : 0);
    uint64_t size = LLVMABISizeOfType(layout_of(i), LLVMTypeOf(store ? LLVMGetOperand(i, 0) : i));
    direction over_lanes = {u, cfg, CFG_NONE}, over_turns = {u, cfg, header};
    bool near = is_near(stride_of(&over_lanes, pointer, STRIDE_DEPTH), size);
    facts->has_private |= is_private(pointer);
    facts->near += near;
    facts->far += !near;
    facts->scattered_turns += !is_near(stride_of(&over_turns, pointer, STRIDE_DEPTH), size);
}

static bool exit_nearly_uniform(const lower_uniform *u, const lower_cfg *cfg, uint32_t block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(cfg->block[block]);
    if (LLVMGetNumSuccessors(end) != 2)
        return LLVMGetNumSuccessors(end) < 2;
    LLVMValueRef condition = LLVMGetOperand(end, 0);
    direction over_lanes = {u, cfg, CFG_NONE};
    if (uniform_value(u, condition))
        return true;
    return LLVMIsAICmpInst(condition) &&
           stride_of(&over_lanes, LLVMGetOperand(condition, 0), STRIDE_DEPTH) != STRIDE_UNKNOWN &&
           stride_of(&over_lanes, LLVMGetOperand(condition, 1), STRIDE_DEPTH) != STRIDE_UNKNOWN;
}

static void hint(const lower_cfg *cfg, uint32_t header, const char *property)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(cfg->function));
    LLVMValueRef id = metadata_loop(context, property, NULL);
    for (uint32_t k = 0; k < cfg->pred_count[header]; k++)
        if (cfg_dominates(cfg, header, cfg->pred[header][k]))
            LLVMSetMetadata(LLVMGetBasicBlockTerminator(cfg->block[cfg->pred[header][k]]),
                            metadata_kind(context, "llvm.loop"), id);
}

typedef struct loop_view {
    loop_facts facts;
    bool exits_fit; // all lanes leave nearly together
} loop_view;

static loop_view view_loop(const lower_cfg *cfg, const lower_uniform *u, uint32_t header)
{
    loop_view view = {.exits_fit = true};
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!cfg_in_loop(cfg, b, header))
            continue;
        view.facts.has_inner |= cfg->loop_header[b] != header;
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i))
            look_at(u, cfg, header, i, &view.facts);
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++)
            if (!cfg_in_loop(cfg, cfg->succ[b][k], header))
                view.exits_fit &= exit_nearly_uniform(u, cfg, b);
    }
    return view;
}

// Ends at a constant that one or two vectors hold.
static bool is_short(const lower_cfg *cfg, uint32_t header)
{
    for (uint32_t b = 0; b < cfg->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(cfg->block[b]);
        if (!cfg_in_loop(cfg, b, header) || LLVMGetNumSuccessors(end) != 2)
            continue;
        LLVMValueRef condition = LLVMGetOperand(end, 0);
        LLVMValueRef bound = LLVMIsAICmpInst(condition) ? LLVMGetOperand(condition, 1) : NULL;
        if (bound && LLVMIsAConstantInt(bound) && LLVMConstIntGetZExtValue(bound) <= 16)
            return true;
    }
    return false;
}

void loops_choose(const lower_cfg *cfg, const lower_uniform *u, lower_map *headers)
{
    for (uint32_t h = 0; h < cfg->count; h++) {
        if (cfg->loop_header[h] != h)
            continue;
        loop_view view = view_loop(cfg, u, h);
        if (view.facts.has_call || view.facts.has_inner)
            continue;
        if (view.exits_fit && view.facts.near > 0 && view.facts.far == 0)
            map_put(headers, cfg->block[h], 1);
        else if (view.facts.scattered_turns)
            hint(cfg, h, "!\"llvm.loop.vectorize.enable\", i1 false");
        else if (!is_short(cfg,
                           h)) // undoes loops_keep_rolled, which also keeps vectors from being interleaved
            hint(cfg, h, "!\"llvm.loop.mustprogress\"");
    }
}

// A loop over neighbours that a lane has to itself is a vector in the end; unrolled it might not be found
// again. Arrays of the lane's own are different: only unrolled loops let them become registers.
void loops_keep_rolled(const lower_cfg *cfg, const lower_uniform *u)
{
    for (uint32_t h = 0; h < cfg->count; h++) {
        if (cfg->loop_header[h] != h)
            continue;
        loop_facts facts = view_loop(cfg, u, h).facts;
        if (!facts.has_call && !facts.has_inner && !facts.has_private && facts.far > 0 &&
            !facts.scattered_turns)
            hint(cfg, h, "!\"llvm.loop.unroll.disable\"");
    }
}
