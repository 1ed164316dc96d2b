// SPDX-License-Identifier: MIT
// Copies a region's blocks into the body of its loop over lanes, with positions, slots and exits put in their
// places. What all lanes do alike and first is copied in front of the loop instead. Accesses to memory are
// marked independent, as those of different lanes between two synchronisations are, so that the vectoriser
// needs no proof.
#include "kernel_abi.h"
#include "region.h"

static LLVMBasicBlockRef target_of(region_builder *r, LLVMBasicBlockRef old)
{
    uint32_t to = cfg_number(r->cfg, old);
    uint32_t site = r->sites->at_block[to];
    return site == CFG_NONE ? r->copy[to] : region_leave_to(r, site);
}

static LLVMValueRef mapped(region_builder *r, LLVMValueRef old)
{
    uintptr_t known;
    if (map_get(&r->value, old, &known))
        return (LLVMValueRef)known;
    if (map_get(&r->live->index, old, &known))
        return r->local[known];
    return old;
}

static bool knows_base(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAArgument(pointer) || LLVMIsAGlobalVariable(pointer) || LLVMIsALoadInst(pointer);
}

// A private array is shared by the turns of the loop: what may reach it is not independent.
static void mark_access(region_builder *r, LLVMValueRef copy)
{
    bool load = LLVMIsALoadInst(copy), store = LLVMIsAStoreInst(copy);
    if ((!load && !store) || LLVMGetVolatile(copy))
        return;
    LLVMValueRef base = LLVMGetOperand(copy, store ? 1 : 0);
    while (LLVMIsAGetElementPtrInst(base))
        base = LLVMGetOperand(base, 0);
    if (LLVMIsAAllocaInst(base) || (r->private_arrays && !knows_base(base)))
        return;
    if (r->private_arrays && LLVMIsALoadInst(base) && LLVMIsAAllocaInst(LLVMGetOperand(base, 0)))
        return;
    region_parallel(r, copy);
}

static LLVMValueRef copy_mapped(region_builder *r, LLVMValueRef old)
{
    LLVMValueRef copy = LLVMInstructionClone(old);
    LLVMInsertIntoBuilder(r->b, copy);
    int n = LLVMGetNumOperands(copy);
    for (int k = 0; k < n; k++) {
        LLVMValueRef operand = LLVMGetOperand(copy, (unsigned)k);
        if (!LLVMValueIsBasicBlock(operand))
            LLVMSetOperand(copy, (unsigned)k, mapped(r, operand));
    }
    map_put(&r->value, old, (uintptr_t)copy);
    return copy;
}

static bool is_hoistable(const region_builder *r, const lower_map *stored, LLVMValueRef i)
{
    if (LLVMIsATerminatorInst(i) || LLVMIsAAllocaInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
        LLVMIsAAtomicCmpXchgInst(i) || !uniform_value(r->uniform, i))
        return false;
    if (LLVMIsACallInst(i) &&
        (!LLVMIsAIntrinsicInst(i) || LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind))
        return false;
    int n = LLVMGetNumOperands(i);
    uintptr_t known;
    for (int k = 0; k < n; k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (LLVMIsAAllocaInst(operand)) {
            bool load = LLVMIsALoadInst(i) && map_get(&r->live->index, operand, &known);
            if (!load || !r->held[known] || map_or(stored, operand, 0))
                return false;
        } else if (LLVMIsAInstruction(operand) && !map_get(&r->value, operand, &known)) {
            return false;
        }
    }
    return true;
}

// What the region does first and alike in all lanes is done once, before the loop over them.
void region_hoist_uniform(region_builder *r)
{
    LLVMBasicBlockRef block = r->cfg->block[r->sites->site[r->site].block];
    lower_map stored = {0};
    uintptr_t v;
    r->value = (lower_map){0};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        lower_builtin builtin = builtin_of(i);
        if (LLVMIsAStoreInst(i))
            map_put(&stored, LLVMGetOperand(i, 1), 1);
        if (builtin == BUILTIN_GROUP || builtin == BUILTIN_ARGS || builtin == BUILTIN_SIMD)
            map_put(&r->value, i,
                    (uintptr_t)(builtin == BUILTIN_GROUP  ? r->group
                                : builtin == BUILTIN_ARGS ? r->args
                                                          : r->simd));
        else if (!is_hoistable(r, &stored, i))
            continue;
        else if (LLVMIsALoadInst(i) && map_get(&r->live->index, LLVMGetOperand(i, 0), &v))
            map_put(&r->value, i, (uintptr_t)r->held[v]);
        else
            copy_mapped(r, i);
    }
}

static void copy_instruction(region_builder *r, LLVMValueRef old)
{
    uintptr_t hoisted;
    if (map_get(&r->value, old, &hoisted))
        return;
    lower_builtin builtin = builtin_of(old);
    if (LLVMIsAAllocaInst(old) || builtin_is_sync(builtin))
        return;
    if (builtin != BUILTIN_NONE) {
        map_put(&r->value, old, (uintptr_t)r->builtin[builtin]);
        return;
    }
    mark_access(r, copy_mapped(r, old));
}

static void copy_terminator(region_builder *r, LLVMValueRef old)
{
    if (LLVMIsAReturnInst(old)) {
        LLVMBuildBr(r->b, region_leave_to(r, r->sites->count));
        return;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b);
    LLVMValueRef copy = LLVMInstructionClone(old);
    LLVMInsertIntoBuilder(r->b, copy);
    unsigned n = LLVMGetNumSuccessors(old);
    for (unsigned k = 0; k < n; k++)
        LLVMSetSuccessor(copy, k, target_of(r, LLVMGetSuccessor(old, k)));
    if (n > 1)
        LLVMSetOperand(copy, 0, mapped(r, LLVMGetOperand(copy, 0)));
    LLVMPositionBuilderAtEnd(r->b, here);
}

void region_copy_blocks(region_builder *r)
{
    for (uint32_t b = 0; b < r->cfg->count; b++) {
        if (!r->copy[b])
            continue;
        LLVMPositionBuilderAtEnd(r->b, r->copy[b]);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(r->cfg->block[b]);
        for (LLVMValueRef i = LLVMGetFirstInstruction(r->cfg->block[b]); i != end;
             i = LLVMGetNextInstruction(i))
            copy_instruction(r, i);
        copy_terminator(r, end);
    }
}
