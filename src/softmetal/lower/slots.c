// SPDX-License-Identifier: MIT
// Takes the function out of SSA form between segments. A segment is a stretch of a block without a
// synchronisation inside. What one segment computes and another uses goes through a slot, or is computed
// again where it is used if that is cheap: an address that is plain in the lane number must stay so for the
// vectoriser.
#include "lower.h"

enum { REMATERIALISE_NODES = 24 };

typedef struct segments {
    lower_map number;    // instruction -> segment
    LLVMValueRef *first; // by segment: where to insert (first instruction that is not a phi)
    uint32_t *block;     // by segment
    uint32_t count, capacity;
} segments;

static uint32_t add_segment(segments *s, uint32_t block)
{
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
        LLVMValueRef *first = lower_alloc(capacity, sizeof *first);
        uint32_t *owner = lower_alloc(capacity, sizeof *owner);
        for (uint32_t i = 0; i < s->count; i++) {
            first[i] = s->first[i];
            owner[i] = s->block[i];
        }
        s->first = first;
        s->block = owner;
        s->capacity = capacity;
    }
    s->block[s->count] = block;
    s->first[s->count] = NULL;
    return s->count++;
}

static segments *find_segments(const lower_cfg *cfg)
{
    segments *s = lower_alloc(1, sizeof *s);
    for (uint32_t b = 0; b < cfg->count; b++) {
        uint32_t current = add_segment(s, b);
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i)) {
            map_put(&s->number, i, current);
            if (!s->first[current] && !LLVMIsAPHINode(i))
                s->first[current] = i;
            if (builtin_is_sync(builtin_of(i)))
                current = add_segment(s, b);
        }
    }
    return s;
}

static uint32_t segment_of(const segments *s, LLVMValueRef i)
{
    return (uint32_t)map_or(&s->number, i, CFG_NONE);
}

static bool is_cheap(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMICmp:
    case LLVMSelect:
        return true;
    default:
        return false;
    }
}

// A load from the dispatch's arguments: the same wherever it is done.
static bool is_invariant_load(LLVMValueRef i)
{
    if (!LLVMIsALoadInst(i))
        return false;
    LLVMValueRef from = LLVMGetOperand(i, 0);
    while (LLVMIsAGetElementPtrInst(from))
        from = LLVMGetOperand(from, 0);
    lower_builtin builtin = builtin_of(from);
    return builtin == BUILTIN_ARGS || builtin == BUILTIN_GROUP;
}

static bool is_pure_builtin(LLVMValueRef i)
{
    lower_builtin builtin = builtin_of(i);
    return builtin != BUILTIN_NONE && !builtin_is_sync(builtin);
}

// Can this value be computed again from lane numbers, arguments, constants and uniform values?
static bool tree_is_cheap(const lower_uniform *u, LLVMValueRef value, int *budget)
{
    if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value) || is_pure_builtin(value))
        return true;
    if (--*budget < 0)
        return false;
    if (is_invariant_load(value))
        return tree_is_cheap(u, LLVMGetOperand(value, 0), budget);
    if (!is_cheap(value))
        return uniform_value(u, value);
    int n = LLVMGetNumOperands(value);
    for (int k = 0; k < n; k++)
        if (!tree_is_cheap(u, LLVMGetOperand(value, (unsigned)k), budget))
            return uniform_value(u, value);
    return true;
}

bool slots_tree_is_cheap(const lower_uniform *u, LLVMValueRef value)
{
    int budget = REMATERIALISE_NODES;
    return tree_is_cheap(u, value, &budget);
}

static bool worth_repeating(const lower_uniform *u, LLVMValueRef value)
{
    if (is_pure_builtin(value) || is_invariant_load(value))
        return true;
    return !uniform_value(u, value) && is_cheap(value) && slots_tree_is_cheap(u, value);
}

typedef struct copying {
    const lower_uniform *u;
    LLVMBuilderRef builder;
    segments *s;
    lower_map *copies; // by segment: value -> its copy there
} copying;

// Uniform parts are left to a uniform slot, except the address of an argument.
static LLVMValueRef copy_tree(copying *c, LLVMValueRef value, uint32_t segment, bool is_address)
{
    if (!LLVMIsAInstruction(value) || segment_of(c->s, value) == segment)
        return value;
    bool repeat = is_pure_builtin(value) || is_invariant_load(value) ||
                  (is_cheap(value) && (is_address || !uniform_value(c->u, value)));
    if (!repeat)
        return value;
    uintptr_t known;
    if (map_get(&c->copies[segment], value, &known))
        return (LLVMValueRef)known;
    int n = is_pure_builtin(value) ? 0 : LLVMGetNumOperands(value);
    LLVMValueRef operands[REMATERIALISE_NODES + 8];
    for (int k = 0; k < n; k++)
        operands[k] =
            copy_tree(c, LLVMGetOperand(value, (unsigned)k), segment, is_invariant_load(value) || is_address);
    LLVMValueRef copy = LLVMInstructionClone(value);
    for (int k = 0; k < n; k++)
        LLVMSetOperand(copy, (unsigned)k, operands[k]);
    LLVMPositionBuilderBefore(c->builder, c->s->first[segment]);
    LLVMInsertIntoBuilder(c->builder, copy);
    if (!uniform_value(c->u, value))
        map_put((lower_map *)&c->u->varying, copy, 1);
    map_put(&c->s->number, copy, segment);
    map_put(&c->copies[segment], value, (uintptr_t)copy);
    return copy;
}

static void copy_into_uses(copying *c, LLVMValueRef value)
{
    uint32_t home = segment_of(c->s, value);
    for (LLVMUseRef use = LLVMGetFirstUse(value), next; use; use = next) {
        next = LLVMGetNextUse(use);
        LLVMValueRef user = LLVMGetUser(use);
        uint32_t at = segment_of(c->s, user);
        if (LLVMIsAPHINode(user) || at == home || at == CFG_NONE)
            continue;
        LLVMValueRef copy = copy_tree(c, value, at, false);
        int n = LLVMGetNumOperands(user);
        for (int k = 0; k < n; k++)
            if (LLVMGetOperand(user, (unsigned)k) == value)
                LLVMSetOperand(user, (unsigned)k, copy);
        next = LLVMGetFirstUse(value);
        // Start again: the list changed. Uses that stay (phis, home) are passed over by the filter below.
        while (next && (LLVMIsAPHINode(LLVMGetUser(next)) || segment_of(c->s, LLVMGetUser(next)) == home ||
                        segment_of(c->s, LLVMGetUser(next)) == CFG_NONE))
            next = LLVMGetNextUse(next);
    }
}

void slots_rematerialise(const lower_cfg *cfg, const lower_uniform *u)
{
    copying c = {.u = u, .builder = LLVMCreateBuilder(), .s = find_segments(cfg)};
    c.copies = lower_alloc(c.s->count, sizeof *c.copies);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i))
            if (worth_repeating(u, i))
                copy_into_uses(&c, i);
    LLVMDisposeBuilder(c.builder);
}

static LLVMValueRef new_slot(const lower_cfg *cfg, LLVMBuilderRef builder, LLVMTypeRef type)
{
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(cfg->block[0]));
    return LLVMBuildAlloca(builder, type, "slot");
}

// Every phi becomes a slot that its predecessors store.
static void demote_phis(const lower_cfg *cfg, const lower_uniform *u, lower_slots *slots,
                        LLVMBuilderRef builder)
{
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef phi; (phi = LLVMGetFirstInstruction(cfg->block[b])) && LLVMIsAPHINode(phi);) {
            // From the last phi up, so that each load stands behind the remaining phis.
            for (LLVMValueRef next; (next = LLVMGetNextInstruction(phi)) && LLVMIsAPHINode(next);)
                phi = next;
            LLVMValueRef slot = new_slot(cfg, builder, LLVMTypeOf(phi));
            bool uniform = uniform_value(u, phi);
            for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
                LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
                LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(from));
                LLVMBuildStore(builder, LLVMGetIncomingValue(phi, k), slot);
            }
            LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(phi));
            LLVMValueRef load = LLVMBuildLoad2(builder, LLVMTypeOf(phi), slot, "phi");
            if (!uniform_value(u, phi))
                map_put((lower_map *)&u->varying, load, 1);
            LLVMReplaceAllUsesWith(phi, load);
            LLVMInstructionEraseFromParent(phi);
            map_put(&slots->uniform, slot, uniform);
        }
}

static bool used_elsewhere(const segments *s, LLVMValueRef value)
{
    uint32_t home = segment_of(s, value);
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        if (segment_of(s, LLVMGetUser(use)) != home)
            return true;
    return false;
}

// One store behind the definition, one load at the head of each other segment that uses it.
static void demote_value(const lower_cfg *cfg, const lower_uniform *u, lower_slots *slots, segments *s,
                         LLVMBuilderRef builder, LLVMValueRef value)
{
    uint32_t home = segment_of(s, value);
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef slot = new_slot(cfg, builder, type);
    map_put(&slots->uniform, slot, uniform_value(u, value));
    lower_map loads = {0};
    for (LLVMUseRef use; (use = LLVMGetFirstUse(value));) {
        while (use && segment_of(s, LLVMGetUser(use)) == home)
            use = LLVMGetNextUse(use);
        if (!use)
            break;
        LLVMValueRef user = LLVMGetUser(use);
        uint32_t at = segment_of(s, user);
        LLVMValueRef load = (LLVMValueRef)map_or(&loads, (void *)(uintptr_t)(at + 1), 0);
        if (!load) {
            LLVMPositionBuilderBefore(builder, s->first[at]);
            load = LLVMBuildLoad2(builder, type, slot, "reload");
            map_put(&s->number, load, at);
            if (!uniform_value(u, value))
                map_put((lower_map *)&u->varying, load, 1);
            map_put(&loads, (void *)(uintptr_t)(at + 1), (uintptr_t)load);
        }
        int n = LLVMGetNumOperands(user);
        for (int k = 0; k < n; k++)
            if (LLVMGetOperand(user, (unsigned)k) == value)
                LLVMSetOperand(user, (unsigned)k, load);
    }
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(value));
    LLVMValueRef store = LLVMBuildStore(builder, value, slot);
    map_put(&s->number, store, home);
}

lower_slots *slots_demote(const lower_cfg *cfg, const lower_uniform *u)
{
    lower_slots *slots = lower_alloc(1, sizeof *slots);
    LLVMBuilderRef builder = LLVMCreateBuilder();
    demote_phis(cfg, u, slots, builder);
    segments *s = find_segments(cfg);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!LLVMIsAAllocaInst(i) && used_elsewhere(s, i))
                demote_value(cfg, u, slots, s, builder, i);
        }
    LLVMDisposeBuilder(builder);
    return slots;
}

// No value crosses a synchronisation any more, and there are no phis: cutting a block is moving its tail.
void slots_split_at_syncs(LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilder();
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!builtin_is_sync(builtin_of(i)))
                continue;
            LLVMBasicBlockRef tail = LLVMCreateBasicBlockInContext(context, "behind");
            LLVMInsertExistingBasicBlockAfterInsertBlock((LLVMPositionBuilderAtEnd(builder, b), builder),
                                                         tail);
            LLVMPositionBuilderAtEnd(builder, tail);
            for (LLVMValueRef move = LLVMGetNextInstruction(i), next; move; move = next) {
                next = LLVMGetNextInstruction(move);
                LLVMInstructionRemoveFromParent(move);
                LLVMInsertIntoBuilder(builder, move);
            }
            LLVMPositionBuilderAtEnd(builder, b);
            LLVMBuildBr(builder, tail);
            break;
        }
    LLVMDisposeBuilder(builder);
}

bool slot_is_scalar(LLVMValueRef alloca)
{
    LLVMTypeRef type = LLVMGetAllocatedType(alloca);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMArrayTypeKind || kind == LLVMStructTypeKind)
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(alloca); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool load = LLVMIsALoadInst(user) && LLVMTypeOf(user) == type && !LLVMGetVolatile(user);
        bool store = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == alloca &&
                     LLVMGetOperand(user, 0) != alloca && LLVMTypeOf(LLVMGetOperand(user, 0)) == type &&
                     !LLVMGetVolatile(user);
        if (!load && !store)
            return false;
    }
    return true;
}
