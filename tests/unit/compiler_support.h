// SPDX-License-Identifier: MIT
// What the tests of the compiler share: where its parts are (a test program is not beside them), sources from
// tests/, and a library from a text with its messages as a failed check. Needs the environment of tests/run.
#ifndef TESTS_UNIT_COMPILER_SUPPORT_H
#define TESTS_UNIT_COMPILER_SUPPORT_H

#include "compiler/compiler.h"
#include "unit/test.h"

#include <stdlib.h>

static inline void compiler_start(void)
{
    const char *build = getenv("BUILD");
    if (!build) {
        printf("BUILD is not set: run this with tests/run\n");
        exit(1);
    }
    setenv("SOFTMETAL_HOME", build, 1);
}

// The text of tests/NAME, from malloc.
static inline char *compiler_read(const char *name, size_t *length)
{
    enum { MAX_BYTES = 1 << 18 };
    const char *top = getenv("SRC");
    char path[1000], *text = calloc(1, MAX_BYTES);
    snprintf(path, sizeof path, "%s/tests/%s", top ? top : ".", name);
    FILE *file = fopen(path, "rb");
    *length = text && file ? fread(text, 1, MAX_BYTES - 1, file) : 0;
    if (!*length) {
        printf("%s cannot be read (SRC is the source folder)\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

// NULL, and a failed check with the compiler's messages, if it does not compile.
static inline sm_library *compiler_library(const char *text, const sm_compile_options *options)
{
    static const sm_compile_options none = {.fast_math = true};
    sm_library *library = NULL;
    char *log = NULL;
    if (!CHECK_EQ(sm_library_create(text, strlen(text), options ? options : &none, &library, &log), 0))
        printf("    %s\n", log ? log : "no messages");
    free(log);
    return library;
}

#endif
