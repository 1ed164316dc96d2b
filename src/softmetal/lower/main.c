// SPDX-License-Identifier: MIT
// softmetal-lower IN.bc -o OUT.o [--emit-llvm FILE]: the command line and the order of the steps.
#include "lower.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *input, *output, *dump_before, *dump_after;
} command;

static command parse(int count, char **words)
{
    command c = {0};
    for (int i = 1; i < count; i++) {
        const char **into = strcmp(words[i], "-o") == 0                ? &c.output
                            : strcmp(words[i], "--dump-cut") == 0      ? &c.dump_before
                            : strcmp(words[i], "--dump-finished") == 0 ? &c.dump_after
                                                                       : NULL;
        if (into && i + 1 < count)
            *into = words[++i];
        else if (words[i][0] != '-' && !c.input)
            c.input = words[i];
        else
            lower_fail(
                "usage: softmetal-lower IN.bc -o OUT.o [--dump-cut FILE.ll] [--dump-finished FILE.ll]");
    }
    if (!c.input || !c.output)
        lower_fail("usage: softmetal-lower IN.bc -o OUT.o");
    return c;
}

static void open_machine(lower_unit *unit)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    LLVMTargetRef target;
    if (LLVMGetTargetFromTriple(triple, &target, &message))
        lower_fail("%s", message);
    unit->machine = LLVMCreateTargetMachine(target, triple, LLVMGetHostCPUName(), LLVMGetHostCPUFeatures(),
                                            LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelDefault);
    unit->layout = LLVMCreateTargetDataLayout(unit->machine);
}

static void open_unit(lower_unit *unit, const char *path)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    unit->context = LLVMContextCreate();
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message))
        lower_fail("%s: %s", path, message);
    if (LLVMParseIRInContext(unit->context, buffer, &unit->module, &message))
        lower_fail("%s: %s", path, message);
    open_machine(unit);
    unit->kernel = LLVMGetNamedFunction(unit->module, "sm_kernel_thread");
    if (!unit->kernel || LLVMIsDeclaration(unit->kernel))
        lower_fail("%s: no sm_kernel_thread in it", path);
    // The lists of what must stay would outlive the kernel function, which goes.
    static const char *const keep[] = {"llvm.used", "llvm.compiler.used"};
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
        if (LLVMGetNamedGlobal(unit->module, keep[i]))
            LLVMDeleteGlobal(LLVMGetNamedGlobal(unit->module, keep[i]));
}

// Only a recursive function or one called through a pointer is left after inlining; it has no lanes to ask
// for.
static void check_inlined(const lower_unit *unit)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(unit->module); f; f = LLVMGetNextFunction(f)) {
        if (f == unit->kernel)
            continue;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (builtin_of(i) != BUILTIN_NONE)
                    lower_fail("a recursive function, or one called through a pointer, uses thread positions "
                               "or synchronises: not supported");
    }
}

static void dump(const lower_unit *unit, const char *path)
{
    char *message = NULL;
    if (path && LLVMPrintModuleToFile(unit->module, path, &message))
        lower_fail("%s: %s", path, message);
}

static void cut(lower_unit *unit)
{
    lower_map loops = {0};
    lower_cfg *cfg = cfg_build(unit->kernel);
    lower_uniform *uniform = uniform_analyse(cfg);
    if (induction_split(cfg, uniform))
        uniform = uniform_analyse(cfg);
    loops_choose(cfg, uniform, &loops);
    slots_rematerialise(cfg, uniform);
    lower_slots *slots = slots_demote(cfg, uniform);
    slots_split_at_syncs(unit->kernel);
    cfg = cfg_build(unit->kernel);
    lower_sites *sites = sites_find(cfg, &loops);
    lower_live *live = live_analyse(cfg, sites, slots, unit->layout);
    LLVMValueRef *regions = lower_alloc(sites->count, sizeof(LLVMValueRef));
    for (uint32_t s = 0; s < sites->count; s++)
        regions[s] = region_build(unit, cfg, sites, live, uniform, s);
    table_build(unit, sites, live, regions);
}

int main(int count, char **words)
{
    static const char *const llvm[] = {"softmetal-lower", "-vector-library=LIBMVEC-X86"};
    command c = parse(count, words);
    lower_unit unit = {0};
    LLVMParseCommandLineOptions(2, llvm, NULL);
    open_unit(&unit, c.input);
    passes_prepare(&unit);
    check_inlined(&unit);
    threadgroup_place(&unit);
    cut(&unit);
    LLVMDeleteFunction(unit.kernel);
    char *message = NULL;
    if (LLVMVerifyModule(unit.module, LLVMReturnStatusAction, &message)) {
        dump(&unit, c.dump_before);
        lower_fail("internal error: %s", message);
    }
    dump(&unit, c.dump_before);
    passes_finish(&unit);
    dump(&unit, c.dump_after);
    passes_emit(&unit, c.output);
    return 0;
}
