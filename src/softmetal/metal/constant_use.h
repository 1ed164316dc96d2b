// SPDX-License-Identifier: MIT
// Which function constants a kernel needs: those that its text, or the text of a function it calls, names.
#ifndef SOFTMETAL_METAL_CONSTANT_USE_H
#define SOFTMETAL_METAL_CONSTANT_USE_H

#include "compiler/compiler.h"

typedef struct sm_use_index sm_use_index;

// source and constants must outlive the index. NULL without memory.
sm_use_index *sm_use_index_new(const char *source, const sm_constant *constants, size_t count);
void sm_use_index_free(sm_use_index *index);
// Sets used[i] for each constant; thread-safe. Errs on the side of "not used": text that only macros build is
// not followed.
void sm_use_index_find(const sm_use_index *index, const char *function, bool *used);

#endif
