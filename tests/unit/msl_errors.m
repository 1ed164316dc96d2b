// SPDX-License-Identifier: MIT
// Sources that do not compile: the error's domain and code, and clang's message with the line of the user's
// text, whatever stands before it.
#include "msl/harness.h"

typedef struct wrong {
    const char *source;
    const char *has[3];
} wrong;

#define HEAD                                                                                                 \
    "#include <metal_stdlib>\n"                                                                              \
    "using namespace metal;\n"
static const wrong sources[] = {
    {HEAD "kernel void k(device float *a)\n{\n    a[0] = 1\n}\n",
     {"program_source:5:13: error: expected ';'", "a[0] = 1"}},
    {HEAD "kernel void k(device float *a, uint i [[thread_position_in_grid]])\n{\n\n\n    a[i] = b[i];\n}\n",
     {"program_source:7:12: error: use of undeclared identifier 'b'", "a[i] = b[i];"}},
    {HEAD
     "/* a comment\n   of three\n   lines */\nkernel void k(device float *a)\n{\n    a[0] = nothing(1);\n}\n",
     {"program_source:8:", "error: use of undeclared identifier 'nothing'"}},
    // Inside of a macro: where it is used.
    {HEAD "#define STORE(x) x = missing\nkernel void k(device float *a)\n{\n    STORE(a[0]);\n}\n",
     {"program_source:6:5: error: use of undeclared identifier 'missing'"}},
    // #line moves the numbers, with and without a name.
    {HEAD "#line 100\nkernel void k(device float *a)\n{\n    a[0] = b;\n}\n", {"program_source:102:"}},
    {HEAD "#line 7 \"other.metal\"\nkernel void k(device float *a)\n{\n    a[0] = b;\n}\n",
     {"other.metal:9:12: error:"}},
    // In templates, where things are rewritten on the same line, and after text that goes on over lines.
    {HEAD
     "template <typename T>\nT twice(T x)\n{\n    return x * nope;\n}\nkernel void k(device float *a)\n{\n"
     "    a[0] = twice(a[1]);\n}\n",
     {"program_source:6:16: error: use of undeclared identifier 'nope'"}},
    {HEAD "kernel void k(device float *a [[buffer(0)]],\n    threadgroup float *t [[threadgroup(0)]],\n"
          "    uint i [[thread_position_in_grid]])\n{\n    threadgroup float x[4]; "
          "threadgroup_barrier(mem_flags::mem_none); a[i] = y;\n}\n",
     {"program_source:7:", "error: use of undeclared identifier 'y'"}},
    {HEAD "#define LONG 1 + \\\n    2 + \\\n    3\nkernel void k(device float *a) { a[0] = LONG; }\nint "
          "broken = \"text\";\n",
     {"program_source:7:", "error:"}},
    {HEAD "kernel void k(device float *a)\n{\n    float4 v = float4(1, 2);\n    a[0] = v.xyq;\n}\n",
     {"program_source:6:", "error:"}},
    {HEAD "kernel void k(device float *a)\n{\n    a[0] = 1;\n", {"program_source:6:", "error: expected '}'"}},
    {HEAD "#include \"not_there.h\"\nkernel void k(device float *a) {}\n",
     {"program_source:3:10: ", "not_there.h", "file not found"}},
    {HEAD "#error this is refused\n", {"program_source:3:2: error: this is refused"}},
    {HEAD "kernel int k(device float *a) { return 1; }\n", {"program_source:3:", "error:"}},
};

static void wrong_sources(void)
{
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        if (!CHECK(!msl_compile(sources[i].source, nil)))
            printf("    source %zu compiles\n", i);
        for (int k = 0; k < 3 && sources[i].has[k]; k++)
            if (!CHECK_HAS(msl.error, sources[i].has[k]))
                printf("    source %zu\n", i);
        // Nothing of ours shows.
        CHECK(strstr(msl.error, "__sm_") == NULL && strstr(msl.error, "/share/softmetal") == NULL);
    }
}

static void error_object(void)
{
    NSError *error = nil;
    id<MTLLibrary> library = [msl.device newLibraryWithSource:@"kernel void k( {" options:nil error:&error];
    CHECK(library == nil);
    CHECK([[error domain] isEqualToString:MTLLibraryErrorDomain]);
    CHECK_EQ([error code], MTLLibraryErrorCompileFailure);
    CHECK_HAS([[error localizedDescription] UTF8String], "program_source:1:");
    // Without a place for the error.
    CHECK([msl.device newLibraryWithSource:@"nonsense" options:nil error:NULL] == nil);
    // An unknown function is nil; and the next library is as good as ever.
    msl_source(HEAD "kernel void fine(device float *a) { a[0] = 2; }\n");
    CHECK([msl.library newFunctionWithName:@"other"] == nil);
    float a[1] = {0};
    RUN(.kernel = "fine", .threads = {1}, .group = {1}, .args = {BUF(a)});
    CHECK_EQ(a[0], 2);
}

int main(void)
{
    msl_start();
    wrong_sources();
    error_object();
    return msl_end();
}
