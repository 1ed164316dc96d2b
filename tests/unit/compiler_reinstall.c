// SPDX-License-Identifier: MIT
// A process that has begun to compile goes on when the standard library is replaced or removed under it (make
// install while a program runs): it has its own copy in the cache. Works in a folder that it makes and
// removes. shows: compiled libraries survive a reinstallation while a program runs
#define _GNU_SOURCE
#include "compiler/compiler.h"
#include "unit/test.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/softmetal-reinstall-XXXXXX";

static const char source[] = "#include <metal_stdlib>\n"
                             "using namespace metal;\n"
                             "kernel void a(device float *x) { x[0] = exp(x[0]); }\n"
                             "kernel void b(device float *x) { x[0] = log(x[0]); }\n"
                             "kernel void c(device float *x) { x[0] = sin(x[0]); }\n";

// The shell is the shortest way to copy, change and remove folders.
static bool shell(const char *format, const char *a, const char *b)
{
    char command[2048];
    snprintf(command, sizeof command, format, a, b);
    return system(command) == 0;
}

// build/tests/unit/compiler_reinstall: the tree to copy is build/.
static bool copy_home(void)
{
    char program[1024], home[64], cache[64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    for (int up = 0; up < 3; up++)
        *strrchr(program, '/') = '\0';
    snprintf(home, sizeof home, "%s/tree", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("SOFTMETAL_HOME", home, 1);
    setenv("SOFTMETAL_CACHE", cache, 1);
    return shell("mkdir '%s' && cp -r '%s/share' \"$SOFTMETAL_HOME\"", home, program) &&
           shell("mkdir '%s/libexec' && cp -r '%s/libexec/softmetal' \"$SOFTMETAL_HOME/libexec\"", home,
                 program);
}

static void compile(sm_library *library, const char *name)
{
    char *log = NULL;
    sm_pipeline *pipeline = NULL;
    const sm_function *function = sm_library_find(library, name);
    if (!CHECK(function) || !CHECK_EQ(sm_pipeline_create(library, function, NULL, 0, &pipeline, &log), 0))
        return;
    if (!CHECK(sm_pipeline_kernel(pipeline, &log)))
        printf("    %s\n", log ? log : "");
    free(log);
    sm_pipeline_release(pipeline);
}

static sm_library *make_library(const char *text)
{
    char *log = NULL;
    sm_library *library = NULL;
    sm_compile_options options = {.fast_math = true};
    if (!CHECK_EQ(sm_library_create(text, strlen(text), &options, &library, &log), 0))
        printf("    %s\n", log ? log : "");
    free(log);
    return library;
}

int main(void)
{
    if (!mkdtemp(folder) || !copy_home())
        return 1;
    sm_library *library = make_library(source);
    if (library) {
        compile(library, "a");
        CHECK(shell("for f in '%s'/tree/share/softmetal/*.h '%s'/tree/share/softmetal/stdlib/*.h;"
                    " do echo '// another size' >>\"$f\"; done",
                    folder, folder));
        compile(library, "b");
        CHECK(shell("rm '%s'/tree/share/softmetal/*.h '%s'/tree/share/softmetal/stdlib/msl*.h", folder,
                    folder));
        compile(library, "c");
    }
    sm_library *other = make_library("kernel void d(device float *x) { x[0] = 1; }\n");
    if (other)
        compile(other, "d");
    sm_library_release(library);
    sm_library_release(other);
    CHECK(shell("rm -r '%s'%s", folder, ""));
    return test_end();
}
