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
    LLVMDisposeBuilder(builder);
}
