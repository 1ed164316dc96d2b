// SPDX-License-Identifier: MIT
// LLVM's own passes before and after the cutting, and the object file.
#include "lower.h"
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>

void passes_run(const lower_unit *unit, const char *passes, bool vectorise)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, vectorise);
    LLVMPassBuilderOptionsSetSLPVectorization(options, vectorise);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, vectorise);
    LLVMPassBuilderOptionsSetLoopUnrolling(options, vectorise);
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

static LLVMAttributeRef attribute(const lower_unit *unit, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMCreateEnumAttribute(unit->context, kind, 0);
}

static void add_function_attribute(const lower_unit *unit, LLVMValueRef function, const char *name)
{
    LLVMAddAttributeAtIndex(function, (unsigned)LLVMAttributeFunctionIndex, attribute(unit, name));
}

static const char answer_prefix[] = "__sm_answer.";

static LLVMValueRef answer_function(const lower_unit *unit, LLVMTypeRef type)
{
    char name[64], *spelling = LLVMPrintTypeToString(type);
    snprintf(name, sizeof name, "%s%s", answer_prefix, spelling);
    LLVMDisposeMessage(spelling);
    LLVMValueRef function = LLVMGetNamedFunction(unit->module, name);
    if (function)
        return function;
    LLVMTypeRef pointer = LLVMPointerTypeInContext(unit->context, 0);
    function = LLVMAddFunction(unit->module, name, LLVMFunctionType(type, &pointer, 1, 0));
    add_function_attribute(unit, function, "convergent");
    add_function_attribute(unit, function, "nounwind");
    return function;
}

static bool reads_answer(LLVMValueRef i)
{
    if (!LLVMIsALoadInst(i))
        return false;
    LLVMValueRef base = LLVMGetOperand(i, 0);
    while (LLVMIsAGetElementPtrInst(base))
        base = LLVMGetOperand(base, 0);
    return builtin_of(base) == BUILTIN_SIMD;
}

static bool is_held_answer(LLVMValueRef i)
{
    size_t length;
    LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
    return callee && LLVMIsAFunction(callee) &&
           strncmp(LLVMGetValueName2(callee, &length), answer_prefix, sizeof answer_prefix - 1) == 0;
}

static LLVMValueRef held_answer(const lower_unit *unit, LLVMBuilderRef builder, LLVMValueRef load)
{
    LLVMValueRef function = answer_function(unit, LLVMTypeOf(load)), from = LLVMGetOperand(load, 0);
    LLVMValueRef call = LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &from, 1, "");
    LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex, attribute(unit, "nomerge"));
    LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex, attribute(unit, "convergent"));
    return call;
}

// The answer of a simdgroup operation must be read where the lane takes part in it: LLVM, which sees one
// lane, would move the load behind a loop that other lanes still run, or behind a branch. While it optimises,
// these loads are calls that may not be moved.
static void hold_answers(const lower_unit *unit, bool hold)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(unit->kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (hold ? !reads_answer(i) : !is_held_answer(i))
                continue;
            LLVMPositionBuilderBefore(builder, i);
            LLVMValueRef other = hold ? held_answer(unit, builder, i)
                                      : LLVMBuildLoad2(builder, LLVMTypeOf(i), LLVMGetOperand(i, 0), "");
            LLVMReplaceAllUsesWith(i, other);
            LLVMInstructionEraseFromParent(i);
        }
    LLVMDisposeBuilder(builder);
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

// Two synchronisations that end both sides of a branch are two, however alike they look.
static void keep_syncs_apart(const lower_unit *unit)
{
    LLVMAttributeRef nomerge = attribute(unit, "nomerge");
    for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (builtin_is_sync(builtin_of(i)))
                    LLVMAddCallSiteAttribute(i, (unsigned)LLVMAttributeFunctionIndex, nomerge);
}

static bool is_cast(LLVMValueRef i)
{
    return LLVMIsAZExtInst(i) || LLVMIsASExtInst(i) || LLVMIsATruncInst(i);
}

// One copy of each, first in the kernel: the later ones are replaced by the first that is met.
static void merge_into_entry(LLVMBuilderRef builder, LLVMValueRef *first, LLVMValueRef i, LLVMValueRef behind)
{
    if (*first) {
        LLVMReplaceAllUsesWith(i, *first);
        LLVMInstructionEraseFromParent(i);
        return;
    }
    *first = i;
    LLVMInstructionRemoveFromParent(i);
    LLVMPositionBuilderBefore(builder, behind);
    LLVMInsertIntoBuilder(builder, i);
}

static void merge_casts(LLVMBuilderRef builder, LLVMValueRef call)
{
    LLVMValueRef behind = LLVMGetNextInstruction(call);
    for (LLVMUseRef use = LLVMGetFirstUse(call); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef cast = LLVMGetUser(use);
        if (!is_cast(cast))
            continue;
        for (LLVMUseRef other = LLVMGetNextUse(use), next; other; other = next) {
            next = LLVMGetNextUse(other);
            LLVMValueRef same = LLVMGetUser(other), first = cast;
            if (is_cast(same) && LLVMGetInstructionOpcode(same) == LLVMGetInstructionOpcode(cast) &&
                LLVMTypeOf(same) == LLVMTypeOf(cast))
                merge_into_entry(builder, &first, same, behind);
        }
        LLVMInstructionRemoveFromParent(cast);
        LLVMPositionBuilderBefore(builder, behind);
        LLVMInsertIntoBuilder(builder, cast);
    }
}

// Positions are asked for once, at the start: seen by LLVM as partly redundant they would become phis, which
// hide from the cut that they are plain lane numbers.
static void gather_positions(const lower_unit *unit)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(unit->context);
    LLVMValueRef first[BUILTIN_COUNT] = {0};
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(unit->kernel);
    LLVMValueRef top = LLVMGetFirstInstruction(entry);
    for (LLVMBasicBlockRef b = entry; b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            lower_builtin builtin = builtin_of(i);
            if (builtin == BUILTIN_NONE || builtin_is_sync(builtin) || builtin == BUILTIN_NEVER || i == top)
                continue;
            merge_into_entry(builder, &first[builtin], i, top);
        }
    for (int k = 0; k < BUILTIN_COUNT; k++)
        if (first[k])
            merge_casts(builder, first[k]);
    LLVMDisposeBuilder(builder);
}

void passes_prepare(lower_unit *unit)
{
    replace_bfloat_conversions(unit);
    keep_syncs_apart(unit);
    breaks_hold(unit);
    prepare_functions(unit);
    passes_run(unit, "always-inline,globaldce,function(sroa)", false);
    gather_positions(unit);
    hold_answers(unit, true);
    // The named pipelines vectorise whatever the options say, except functions that must not touch vector
    // registers. Vectors inside one lane would keep the lanes from being vectorised.
    add_function_attribute(unit, unit->kernel, "noimplicitfloat");
    passes_run(unit,
               "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate),"
               "loop(indvars),instcombine<no-verify-fixpoint>)",
               false);
    // Small loops of constant length are unrolled now; what else unrolling can do is left for after the cut.
    lower_cfg *cfg = cfg_build(unit->kernel);
    loops_keep_rolled(cfg, uniform_analyse(cfg));
    passes_run(unit, "function(loop(loop-unroll-full),sroa)", false);
    passes_run(unit, "default<O2>", false);
    hold_answers(unit, false);
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
