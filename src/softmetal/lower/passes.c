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

// The answer of a simdgroup operation must be read where the lane takes part in it: LLVM, which sees one
// lane, would move the load behind a loop that other lanes still run. While it optimises, these loads are
// volatile.
static void hold_answers(LLVMValueRef function, bool hold)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsALoadInst(i))
                continue;
            LLVMValueRef base = LLVMGetOperand(i, 0);
            while (LLVMIsAGetElementPtrInst(base))
                base = LLVMGetOperand(base, 0);
            if (builtin_of(base) == BUILTIN_SIMD)
                LLVMSetVolatile(i, hold);
        }
}

// The backend turns a conversion to bfloat into a call of a function that no library here has; the one in the
// standard library is plain integer code, which can be inlined and vectorised.
static void replace_bfloat_conversions(const lower_unit *unit)
{
    LLVMValueRef convert = LLVMGetNamedFunction(unit->module, "__truncsfbf2");
    LLVMTypeRef single = LLVMFloatTypeInContext(unit->context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); convert && f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b && f != convert; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
                if (!LLVMIsAFPTruncInst(i) || kind != LLVMBFloatTypeKind)
                    continue;
                LLVMPositionBuilderBefore(builder, i);
                LLVMValueRef from = LLVMGetOperand(i, 0);
                if (LLVMTypeOf(from) != single)
                    from = LLVMBuildFPTrunc(builder, from, single, "");
                LLVMTypeRef type = LLVMGlobalGetValueType(convert);
                LLVMReplaceAllUsesWith(i, LLVMBuildCall2(builder, type, convert, &from, 1, ""));
                LLVMInstructionEraseFromParent(i);
            }
    LLVMDisposeBuilder(builder);
}

static void add_function_attribute(const lower_unit *unit, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (unsigned)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(unit->context, kind, 0));
}

// Two synchronisations that end both sides of a branch are two, however alike they look.
static void keep_syncs_apart(const lower_unit *unit)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("nomerge", 7);
    LLVMAttributeRef nomerge = LLVMCreateEnumAttribute(unit->context, kind, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (builtin_is_sync(builtin_of(i)))
                    LLVMAddCallSiteAttribute(i, (unsigned)LLVMAttributeFunctionIndex, nomerge);
}

void passes_prepare(lower_unit *unit)
{
    replace_bfloat_conversions(unit);
    keep_syncs_apart(unit);
    breaks_hold(unit);
    prepare_functions(unit);
    passes_run(unit, "always-inline,globaldce,function(sroa)", false);
    hold_answers(unit->kernel, true);
    // The named pipelines vectorise whatever the options say, except functions that must not touch vector
    // registers. Vectors inside one lane would keep the lanes from being vectorised.
    add_function_attribute(unit, unit->kernel, "noimplicitfloat");
    passes_run(unit, "default<O2>", false);
    hold_answers(unit->kernel, false);
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
