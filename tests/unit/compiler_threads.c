// SPDX-License-Identifier: MIT
// The compiler's interface from eight threads at once: same and different libraries, constants of every kind
// of type, pipelines that are dropped before they are compiled, statistics that add up.
#include "unit/compiler_support.h"

#include <pthread.h>

enum { THREADS = 8, LIBRARIES = 3, PIPELINES = 4, CONSTANTS = 8 };

static const char source[] = "#include <metal_stdlib>\n"
                             "using namespace metal;\n"
                             "constant float4 V [[function_constant(0)]];\n"
                             "constant half H [[function_constant(1)]];\n"
                             "constant ulong L [[function_constant(2)]];\n"
                             "constant short3 S [[function_constant(3)]];\n"
                             "constant bool2 B [[function_constant(4)]];\n"
                             "constant bfloat F [[function_constant(5)]];\n"
                             "constant char C [[function_constant(6)]];\n"
                             "constant uint N [[function_constant(7)]];\n"
                             "kernel void k(device float *o [[buffer(0)]]) { o[0] = V.y + H + (float)L + S.z "
                             "+ B.y + float(F) + C + N + EXTRA; }\n";

// Types as MTLDataType has them: float4, half, ulong, short3, bool2, bfloat, char, uint.
static const uint32_t types[CONSTANTS] = {6, 16, 85, 39, 54, 121, 45, 33};

static _Atomic int failures;
static _Atomic int kernels;

static void fail(const char *what, char *log)
{
    failures++;
    printf("%s: %s\n", what, log ? log : "");
    free(log);
}

static void set_constants(sm_constant_value *values, long number)
{
    memset(values, 0, CONSTANTS * sizeof *values);
    for (uint32_t i = 0; i < CONSTANTS; i++) {
        values[i].index = i;
        values[i].type = types[i];
        for (unsigned byte = 0; byte < sizeof values[i].bytes; byte++)
            values[i].bytes[byte] = (uint8_t)(number * 7 + i * 13 + byte * 29);
    }
    values[1].name = "H"; // one by name
    values[4].bytes[0] = 1;
    values[4].bytes[1] = 0;
}

static void use_pipelines(sm_library *library, long number)
{
    sm_constant_value values[CONSTANTS];
    sm_pipeline *pipelines[PIPELINES];
    char *log = NULL;
    set_constants(values, number % 2);
    for (int i = 0; i < PIPELINES; i++) {
        values[7].bytes[0] = (uint8_t)i;
        if (sm_pipeline_create(library, sm_library_find(library, "k"), values, CONSTANTS, &pipelines[i],
                               &log)) {
            fail("pipeline", log);
            return;
        }
    }
    sm_library_release(library); // a pipeline keeps what it needs
    for (int i = 0; i < PIPELINES; i++) {
        if (i != 1 && !sm_pipeline_kernel(pipelines[i], &log))
            fail("kernel", log);
        kernels += i != 1;
        sm_pipeline_release(pipelines[i]); // the second before it is compiled, perhaps
    }
}

static void *thread_main(void *argument)
{
    long number = (long)argument;
    char extra[16];
    snprintf(extra, sizeof extra, "%ld", number % LIBRARIES);
    sm_macro macro = {"EXTRA", extra};
    sm_compile_options options = {.macros = &macro, .macro_count = 1, .fast_math = true};
    sm_library *library = NULL;
    char *log = NULL;
    if (sm_library_create(source, strlen(source), &options, &library, &log))
        fail("library", log);
    else
        use_pipelines(library, number);
    return NULL;
}

int main(void)
{
    compiler_start();
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_main, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(failures, 0);
    CHECK_EQ(kernels, THREADS * (PIPELINES - 1));
    sm_compiler_stats stats;
    sm_compiler_get_stats(&stats);
    CHECK_EQ(stats.libraries_built + stats.libraries_cached, THREADS);
    CHECK_INT(stats.pipelines_built + stats.pipelines_cached, >=, LIBRARIES * (PIPELINES - 1));
    CHECK_INT(stats.pipelines_built + stats.pipelines_cached, <=, THREADS * PIPELINES);
    printf("libraries: %d built, pipelines: %d built\n", (int)stats.libraries_built,
           (int)stats.pipelines_built);
    return test_end();
}
