// SPDX-License-Identifier: MIT
// Loop metadata. It refers to itself and is distinct, which LLVM's C interface cannot make; the reader of its
// text can.
#include "lower.h"
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <string.h>

unsigned metadata_kind(LLVMContextRef context, const char *name)
{
    return LLVMGetMDKindIDInContext(context, name, (unsigned)strlen(name));
}

LLVMValueRef metadata_loop(LLVMContextRef context, const char *property, LLVMValueRef *parallel_accesses)
{
    char text[512];
    int length = snprintf(text, sizeof text,
                          "define void @f(ptr %%p) {\n"
                          "  br label %%l\n"
                          "l:\n"
                          "  store i8 0, ptr %%p, !llvm.access.group !0\n"
                          "  br label %%l, !llvm.loop !1\n"
                          "}\n"
                          "!0 = distinct !{}\n"
                          "!1 = distinct !{!1, !2, !3}\n"
                          "!2 = !{%s}\n"
                          "!3 = !{!\"llvm.loop.%s\", !0}\n",
                          property, parallel_accesses ? "parallel_accesses" : "own");
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, (size_t)length, "metadata");
    LLVMModuleRef module;
    char *message;
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        lower_fail("metadata: %s", message);
    LLVMBasicBlockRef loop = LLVMGetLastBasicBlock(LLVMGetNamedFunction(module, "f"));
    if (parallel_accesses)
        *parallel_accesses =
            LLVMGetMetadata(LLVMGetFirstInstruction(loop), metadata_kind(context, "llvm.access.group"));
    LLVMValueRef id = LLVMGetMetadata(LLVMGetBasicBlockTerminator(loop), metadata_kind(context, "llvm.loop"));
    LLVMDisposeModule(module);
    return id;
}
