// SPDX-License-Identifier: MIT
// Threadgroup variables inside a kernel arrive as thread-local globals. They become places in the memory that
// the executor gives each running threadgroup.
#include "kernel_abi.h"
#include "lower.h"
#include <string.h>

static uint32_t place_of(lower_unit *unit, lower_map *places, LLVMValueRef global)
{
    uintptr_t known;
    if (map_get(places, global, &known))
        return (uint32_t)known;
    uint32_t align = LLVMGetAlignment(global) > 16 ? LLVMGetAlignment(global) : 16;
    uint64_t at = (unit->threadgroup_bytes + align - 1) & ~(uint64_t)(align - 1);
    uint64_t end = at + LLVMABISizeOfType(unit->layout, LLVMGlobalGetValueType(global));
    if (end > 1u << 24)
        lower_fail("the kernel has %llu bytes of threadgroup variables", (unsigned long long)end);
    unit->threadgroup_bytes = (uint32_t)end;
    map_put(places, global, (uintptr_t)at);
    return (uint32_t)at;
}

static LLVMValueRef group_call(lower_unit *unit, LLVMBuilderRef builder)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMPointerTypeInContext(unit->context, 0), NULL, 0, 0);
    LLVMValueRef function = LLVMGetNamedFunction(unit->module, "__sm_group");
    if (!function)
        function = LLVMAddFunction(unit->module, "__sm_group", type);
    return LLVMBuildCall2(builder, type, function, NULL, 0, "");
}

static LLVMValueRef build_address(lower_unit *unit, LLVMBuilderRef builder, uint32_t place)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(unit->context), i64 = LLVMInt64TypeInContext(unit->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(unit->context, 0);
    LLVMValueRef field = LLVMConstInt(i64, offsetof(sm_group, variables), 0);
    LLVMValueRef from = LLVMBuildInBoundsGEP2(builder, i8, group_call(unit, builder), &field, 1, "");
    LLVMValueRef base = LLVMBuildLoad2(builder, pointer, from, "");
    LLVMValueRef offset = LLVMConstInt(i64, place, 0);
    return LLVMBuildInBoundsGEP2(builder, i8, base, &offset, 1, "");
}

static bool is_address_of_global(LLVMValueRef i)
{
    size_t length;
    return LLVMIsAIntrinsicInst(i) &&
           strncmp(LLVMGetValueName2(LLVMGetCalledValue(i), &length), "llvm.threadlocal.address", 24) == 0;
}

static bool is_threadgroup_memory(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    if (!LLVMIsALoadInst(pointer))
        return false;
    LLVMValueRef from = LLVMGetOperand(pointer, 0);
    while (LLVMIsAGetElementPtrInst(from))
        from = LLVMGetOperand(from, 0);
    return builtin_of(from) == BUILTIN_GROUP;
}

static LLVMValueRef pick(LLVMBuilderRef b, LLVMIntPredicate take_old, LLVMValueRef old, LLVMValueRef operand)
{
    return LLVMBuildSelect(b, LLVMBuildICmp(b, take_old, old, operand, ""), old, operand, "");
}

static LLVMValueRef combine(LLVMBuilderRef b, LLVMAtomicRMWBinOp op, LLVMValueRef old, LLVMValueRef operand)
{
    switch (op) {
    case LLVMAtomicRMWBinOpXchg:
        return operand;
    case LLVMAtomicRMWBinOpAdd:
        return LLVMBuildAdd(b, old, operand, "");
    case LLVMAtomicRMWBinOpSub:
        return LLVMBuildSub(b, old, operand, "");
    case LLVMAtomicRMWBinOpAnd:
        return LLVMBuildAnd(b, old, operand, "");
    case LLVMAtomicRMWBinOpOr:
        return LLVMBuildOr(b, old, operand, "");
    case LLVMAtomicRMWBinOpXor:
        return LLVMBuildXor(b, old, operand, "");
    case LLVMAtomicRMWBinOpMax:
        return pick(b, LLVMIntSGT, old, operand);
    case LLVMAtomicRMWBinOpMin:
        return pick(b, LLVMIntSLT, old, operand);
    case LLVMAtomicRMWBinOpUMax:
        return pick(b, LLVMIntUGT, old, operand);
    case LLVMAtomicRMWBinOpUMin:
        return pick(b, LLVMIntULT, old, operand);
    default:
        return NULL;
    }
}

// One thread of the machine runs a whole threadgroup: atomics on its memory need no lock. Volatile, because
// lanes may meet at one address, so that these accesses are not independent over the lanes.
static void unlock_atomic(LLVMBuilderRef builder, LLVMValueRef i)
{
    LLVMValueRef pointer = LLVMGetOperand(i, 0);
    LLVMPositionBuilderBefore(builder, i);
    LLVMValueRef old = LLVMBuildLoad2(builder, LLVMTypeOf(i), pointer, "");
    LLVMSetVolatile(old, 1);
    LLVMValueRef value = combine(builder, LLVMGetAtomicRMWBinOp(i), old, LLVMGetOperand(i, 1));
    if (!value) {
        LLVMInstructionEraseFromParent(old);
        return;
    }
    LLVMSetVolatile(LLVMBuildStore(builder, value, pointer), 1);
    LLVMReplaceAllUsesWith(i, old);
    LLVMInstructionEraseFromParent(i);
}

void threadgroup_place(lower_unit *unit)
{
    lower_map places = {0};
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(unit->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_address_of_global(i))
                continue;
            LLVMPositionBuilderBefore(builder, i);
            uint32_t place = place_of(unit, &places, LLVMGetOperand(i, 0));
            LLVMReplaceAllUsesWith(i, build_address(unit, builder, place));
            LLVMInstructionEraseFromParent(i);
        }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(unit->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsAAtomicRMWInst(i) && is_threadgroup_memory(LLVMGetOperand(i, 0)))
                unlock_atomic(builder, i);
        }
    LLVMDisposeBuilder(builder);
}
