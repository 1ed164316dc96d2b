// SPDX-License-Identifier: MIT
// Recognises calls of the pseudo-functions in kernel_abi.h.
#include "lower.h"
#include <string.h>

static const char *const names[BUILTIN_COUNT] = {
    [BUILTIN_X] = "__sm_x",
    [BUILTIN_Y] = "__sm_y",
    [BUILTIN_Z] = "__sm_z",
    [BUILTIN_GRID_X] = "__sm_grid_x",
    [BUILTIN_GRID_Y] = "__sm_grid_y",
    [BUILTIN_GRID_Z] = "__sm_grid_z",
    [BUILTIN_INDEX] = "__sm_index",
    [BUILTIN_LANE] = "__sm_lane",
    [BUILTIN_SIMD_INDEX] = "__sm_simd_index",
    [BUILTIN_GROUP] = "__sm_group",
    [BUILTIN_ARGS] = "__sm_args",
    [BUILTIN_SIMD] = "__sm_simd",
    [BUILTIN_SIMD_SYNC] = "__sm_simd_sync",
    [BUILTIN_BARRIER] = "__sm_barrier",
    [BUILTIN_NEVER] = "__sm_never",
};

lower_builtin builtin_of(LLVMValueRef instruction)
{
    if (!LLVMIsACallInst(instruction))
        return BUILTIN_NONE;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    if (!callee || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
        return BUILTIN_NONE;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    for (int b = BUILTIN_NONE + 1; b < BUILTIN_COUNT; b++)
        if (strcmp(name, names[b]) == 0)
            return (lower_builtin)b;
    return BUILTIN_NONE;
}

bool builtin_is_sync(lower_builtin builtin)
{
    return builtin == BUILTIN_SIMD_SYNC || builtin == BUILTIN_BARRIER;
}

// y and z are one value per row, but a simdgroup may span several rows.
bool builtin_is_uniform(lower_builtin builtin)
{
    return builtin == BUILTIN_SIMD_INDEX || builtin == BUILTIN_GROUP || builtin == BUILTIN_ARGS ||
           builtin == BUILTIN_SIMD || builtin == BUILTIN_NEVER;
}
