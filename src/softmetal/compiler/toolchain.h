// SPDX-License-Identifier: MIT
// Where clang, lld, the lowering tool and the standard library are, and what identifies them in the cache.
#ifndef SOFTMETAL_COMPILER_TOOLCHAIN_H
#define SOFTMETAL_COMPILER_TOOLCHAIN_H

#include "hash.h"
#include "text.h"

typedef struct sm_toolchain {
    char *clang, *lld, *lower;   // lower may not exist: then pipelines fail with a message
    char *share;                 // folder of kernel_abi.h
    char *stdlib;                // folder of msl.h, macros.h and include/
    char *builtins;              // clang's runtime library for half and bfloat conversions, or NULL
    char front_id[SM_HASH_TEXT]; // clang, standard library, processor
    char id[SM_HASH_TEXT];       // all of that, the lowering and the linker
} sm_toolchain;

// Found once per process and never freed. -ENOENT and *log if something is missing.
int sm_toolchain_get(const sm_toolchain **out, char **log);

// A growing argv. Strings are not copied.
typedef struct sm_arguments {
    const char *items[128];
    size_t count;
    bool overflow;
} sm_arguments;

void sm_arguments_add(sm_arguments *arguments, const char *argument);
void sm_arguments_add_all(sm_arguments *arguments, const char *const *list);

// Runs a tool to its end: 0, -EINVAL if it failed (*messages is never empty then), or -errno.
int sm_run_tool(const sm_arguments *arguments, sm_text *messages);

// Starts argv with clang and the flags that every C++ step shares; they must be the same for all of them,
// or clang refuses the precompiled headers.
void sm_add_clang(sm_arguments *arguments, const sm_toolchain *tools, bool fast_math, bool distributed);

#endif
