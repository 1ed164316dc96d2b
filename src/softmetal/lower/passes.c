// SPDX-License-Identifier: MIT
// LLVM's own passes before and after the cutting, and the object file.
#include "lower.h"
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

void passes_run(const lower_unit *unit, const char *passes, bool vectorise)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, vectorise);
    LLVMPassBuilderOptionsSetSLPVectorization(options, vectorise);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, vectorise);
    LLVMErrorRef error = LLVMRunPasses(unit->module, passes, unit->machine, options);
    if (error)
        lower_fail("%s: %s", passes, LLVMGetErrorMessage(error));
    LLVMDisposePassBuilderOptions(options);
}

static bool stays_a_call(LLVMValueRef function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", 8);
    return strstr(name, "__sm_") &&
           LLVMGetEnumAttributeAtIndex(function, (unsigned)LLVMAttributeFunctionIndex, noinline);
}

static void force_inline(const lower_unit *unit, LLVMValueRef function)
{
    static const char *const against[] = {"noinline", "optnone"};
    unsigned at = (unsigned)LLVMAttributeFunctionIndex;
    for (size_t k = 0; k < sizeof against / sizeof *against; k++)
        LLVMRemoveEnumAttributeAtIndex(function, at,
                                       LLVMGetEnumAttributeKindForName(against[k], strlen(against[k])));
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAddAttributeAtIndex(function, at, LLVMCreateEnumAttribute(unit->context, always, 0));
}

static void prepare_functions(const lower_unit *unit)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || f == unit->kernel)
            continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        if (!stays_a_call(f))
            force_inline(unit, f);
    }
}

static void drop_lifetimes(LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!LLVMIsAIntrinsicInst(i))
                continue;
            size_t length;
            const char *name = LLVMGetValueName2(LLVMGetCalledValue(i), &length);
            if (strncmp(name, "llvm.lifetime.", 14) == 0 ||
                strncmp(name, "llvm.experimental.noalias.scope", 31) == 0)
                LLVMInstructionEraseFromParent(i);
        }
}

void passes_prepare(lower_unit *unit)
{
    prepare_functions(unit);
    passes_run(unit, "always-inline,globaldce", false);
    passes_run(unit, "default<O2>", false);
    drop_lifetimes(unit->kernel);
    // simplifycfg and friends may have left switches with repeated targets and critical edges; phis are
    // stored at the ends of predecessors, so each edge into one needs a block of its own.
    passes_run(unit, "function(sroa,loop-simplify,lcssa,break-crit-edges)", false);
}

void passes_finish(lower_unit *unit)
{
    passes_run(unit, "default<O3>", true);
}

void passes_emit(const lower_unit *unit, const char *path)
{
    char *message = NULL;
    if (LLVMTargetMachineEmitToFile(unit->machine, unit->module, path, LLVMObjectFile, &message))
        lower_fail("%s: %s", path, message);
}
