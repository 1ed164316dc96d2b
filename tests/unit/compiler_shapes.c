// SPDX-License-Identifier: MIT
// What the front end finds in declarations of every shape (compiler_shapes.metal): kernels, their arguments
// and indices, thread limits, function constants; and that every pipeline of the file compiles.
#include "unit/compiler_support.h"

typedef struct expected_argument {
    const char *name;
    sm_argument_kind kind;
    uint32_t index;
} expected_argument;

typedef struct expected_function {
    const char *name;
    uint32_t max_threads;
    size_t count;
    expected_argument arguments[5];
} expected_function;

enum { BUFFER = SM_ARGUMENT_BUFFER, THREADGROUP = SM_ARGUMENT_THREADGROUP, BUILTIN = SM_ARGUMENT_BUILTIN };

static const expected_function functions[] = {
    {"in_namespace", 0, 1, {{"o", BUFFER, 0}}},
    {"scaled_inside", 0, 1, {{"o", BUFFER, 0}}},
    {"scaled_outside", 0, 1, {{"o", BUFFER, 0}}},
    {"deep", 0, 1, {{"o", BUFFER, 0}}},
    // By attribute first, then by order: the free index 0 for c, 1 for t.
    {"attributes",
     256,
     5,
     {{"args", BUFFER, 2},
      {"c", BUFFER, 0},
      {"t", THREADGROUP, 1},
      {"u", THREADGROUP, 0},
      {"g", BUILTIN, 0}}},
    {"renamed", 64, 1, {{"o", BUFFER, 0}}},
    {"optional_buffers", 0, 3, {{"a", BUFFER, 0}, {"b", BUFFER, 0}, {"o", BUFFER, 1}}},
    {"overloaded_2", 0, 2, {{"a", BUFFER, 0}, {"b", BUFFER, 1}}},
    {"overloaded_3", 0, 3, {{"a", BUFFER, 0}, {"b", BUFFER, 1}, {"c", BUFFER, 2}}},
    {"threadgroup_locals", 0, 2, {{"o", BUFFER, 0}, {"l", BUILTIN, 0}}},
    {"bodies",
     0,
     5,
     {{"s", BUFFER, 0}, {"o", BUFFER, 1}, {"k", BUFFER, 2}, {"g", BUILTIN, 0}, {"t", BUILTIN, 0}}},
    {"no_arguments", 0, 0, {{0}}},
    {"void_arguments", 0, 0, {{0}}},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const struct {
    const char *name, *type;
    uint32_t index;
    bool required;
} constants[] = {
    {"A", "int", 4, true},           {"F", "float", 5, false}, {"H", "half", 6, true},
    {"V", "metal::float4", 7, true}, {"U", "uint", 11, true},  {"X", "bool", 20, true},
    {"Y", "bool", 21, true},         {"Q", "int", 30, false},
};
enum { CONSTANTS = sizeof constants / sizeof *constants };

static void check_functions(const sm_library *library)
{
    CHECK_EQ(sm_library_function_count(library), FUNCTIONS);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const expected_function *want = &functions[i];
        const sm_function *found = sm_library_find(library, want->name);
        if (!test_record(found != NULL, __FILE__, __LINE__, want->name))
            continue;
        CHECK_EQ(found->max_threads, want->max_threads);
        if (!CHECK_EQ(found->argument_count, want->count))
            continue;
        for (size_t k = 0; k < want->count; k++) {
            CHECK_STR(found->arguments[k].name, want->arguments[k].name);
            CHECK_EQ(found->arguments[k].kind, want->arguments[k].kind);
            if (want->arguments[k].kind != SM_ARGUMENT_BUILTIN)
                CHECK_EQ(found->arguments[k].index, want->arguments[k].index);
        }
    }
    CHECK(sm_library_find(library, "not_a_kernel") == NULL);
    CHECK(sm_library_find(library, "not_compute") == NULL);
    CHECK(sm_library_find(library, "original") == NULL);
}

static void check_constants(const sm_library *library)
{
    size_t count;
    const sm_constant *found = sm_library_constants(library, &count);
    if (!CHECK_EQ(count, CONSTANTS))
        return;
    for (size_t i = 0; i < CONSTANTS; i++) {
        CHECK_STR(found[i].name, constants[i].name);
        CHECK_STR(found[i].type, constants[i].type);
        CHECK_EQ(found[i].index, constants[i].index);
        CHECK_EQ(found[i].required, constants[i].required);
    }
}

static void check_pipelines(sm_library *library)
{
    sm_pipeline *pipelines[FUNCTIONS] = {NULL};
    char *log = NULL;
    for (size_t i = 0; i < FUNCTIONS; i++)
        CHECK_EQ(sm_pipeline_create(library, sm_library_function(library, i), NULL, 0, &pipelines[i], &log),
                 0);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const sm_kernel *kernel = pipelines[i] ? sm_pipeline_kernel(pipelines[i], &log) : NULL;
        if (!test_record(kernel != NULL, __FILE__, __LINE__, sm_library_function(library, i)->name))
            printf("    %s\n", log ? log : "");
        free(log);
        log = NULL;
        sm_pipeline_release(pipelines[i]);
    }
}

int main(void)
{
    size_t length;
    compiler_start();
    char *text = compiler_read("unit/compiler_shapes.metal", &length);
    sm_library *library = compiler_library(text, NULL);
    if (library) {
        CHECK_STR(sm_library_source(library), text);
        check_functions(library);
        check_constants(library);
        if (sm_library_function_count(library) == FUNCTIONS)
            check_pipelines(library);
        sm_library_release(library);
    }
    free(text);
    return test_end();
}
