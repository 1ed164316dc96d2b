// SPDX-License-Identifier: MIT
// From Metal Shading Language text to a kernel that runs: the whole interface of src/softmetal/compiler.
// Plain C, thread-safe, no Objective-C. Functions return 0 or -errno; texts handed out are malloc'd.
#ifndef SOFTMETAL_COMPILER_H
#define SOFTMETAL_COMPILER_H

#include "kernel_abi.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sm_library sm_library;
typedef struct sm_pipeline sm_pipeline;

typedef struct sm_macro {
    const char *name, *value; // value "" for a plain definition
} sm_macro;

typedef struct sm_compile_options {
    const sm_macro *macros;
    size_t macro_count;
    uint32_t language_version; // MTLLanguageVersion: major << 16 | minor; 0 is the newest
    bool fast_math;
    const char *file_name; // shown in messages; NULL: "program_source"
} sm_compile_options;

// Preprocesses, rewrites and checks. On -EINVAL *log has the compiler's messages with the user's line numbers
// ("program_source:12:5: error: ..."); on success *log may have warnings or be NULL. Other errors (no
// compiler found, no space) are told in *log too.
int sm_library_create(const char *source, size_t length, const sm_compile_options *options, sm_library **out,
                      char **log);
sm_library *sm_library_retain(sm_library *library);
void sm_library_release(sm_library *library);
const char *sm_library_source(const sm_library *library); // the user's text

typedef enum sm_argument_kind {
    SM_ARGUMENT_BUFFER,
    SM_ARGUMENT_THREADGROUP,
    SM_ARGUMENT_BUILTIN,
} sm_argument_kind;

typedef struct sm_argument {
    const char *name;
    const char *type;      // as written, without qualifiers: "float", "args_t"
    sm_argument_kind kind; // builtins are listed too, to keep the order of the parameters
    uint32_t index;
    bool reads, writes; // by constness of the pointer
    bool is_constant;   // constant address space
} sm_argument;

typedef struct sm_constant {
    const char *name, *type;
    uint32_t index;
    bool required; // has no is_function_constant_defined() guard in the source
} sm_constant;

typedef struct sm_function {
    const char *name;             // host name
    uint32_t max_threads;         // [[max_total_threads_per_threadgroup]], 0 if none
    const sm_argument *arguments; // in order of the parameters
    size_t argument_count;
} sm_function;

size_t sm_library_function_count(const sm_library *library);
const sm_function *sm_library_function(const sm_library *library, size_t i);
const sm_function *sm_library_find(const sm_library *library, const char *name);
// Function constants declared in the library.
const sm_constant *sm_library_constants(const sm_library *library, size_t *count);

// The value of one function constant; by name if name is not NULL, else by index.
typedef struct sm_constant_value {
    const char *name;
    uint32_t index;
    uint32_t type; // MTLDataType
    uint8_t bytes[32];
} sm_constant_value;

// Returns at once; a background thread compiles (or takes it from the cache). function must belong to
// library.
int sm_pipeline_create(sm_library *library, const sm_function *function, const sm_constant_value *values,
                       size_t value_count, sm_pipeline **out, char **log);
sm_pipeline *sm_pipeline_retain(sm_pipeline *pipeline);
void sm_pipeline_release(sm_pipeline *pipeline);
// Waits until it is compiled, moving it to the front of the queue. On error NULL and *log says why (the
// caller frees it); asking again gives the same answer.
const sm_kernel *sm_pipeline_kernel(sm_pipeline *pipeline, char **log);

// How many compiler runs this process started, for tests and benchmarks ("a second run compiles nothing").
typedef struct sm_compiler_stats {
    uint64_t libraries_built, libraries_cached, pipelines_built, pipelines_cached;
} sm_compiler_stats;
void sm_compiler_get_stats(sm_compiler_stats *out);

#endif
