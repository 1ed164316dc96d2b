// SPDX-License-Identifier: MIT
// The language around the arithmetic: forms of arguments, structs shared with the host, pointers inside of
// structs, templates and their host names, address spaces, macros and versions given by the program.
#include "msl/harness.h"
#include "msl/reference.h"

static void orders(void)
{
    float a[10], b = 3, c[10], first[10];
    int32_t d[2] = {7, 9};
    int8_t second[10];
    uint32_t third = 5;
    for (int i = 0; i < 10; i++)
        a[i] = first[i] = (float)i, second[i] = (int8_t)(-i), c[i] = 0;
    RUN(.kernel = "by_order", .threads = {10}, .group = {4}, .args = {BUF(a), VAL(b), BUF(c), VAL(d)});
    for (int i = 0; i < 10; i++)
        CHECK_EQ(c[i], i * 3 + 9);
    RUN(.kernel = "mixed_order", .threads = {10}, .group = {4},
        .args = {BUF(first), BUF(second), VAL(third), BUF(c)});
    for (int i = 0; i < 10; i++)
        CHECK_EQ(c[i], i * 100 - i + 5);
}

typedef struct arguments {
    int32_t n;
    uint64_t stride[2];
    float eps;
    struct {
        uint16_t rank;
        uint8_t flags[3];
    } details;
    uint32_t which;
    float p[3];
    float q[4] __attribute__((aligned(16)));
    bool yes;
} arguments;

static void structs(void)
{
    arguments args[2];
    memset(args, 0, sizeof args);
    args[0] = (arguments){-5, {1, 77}, 0.125f, {12, {1, 2, 3}}, 1, {1, 2, 3}, {4, 5, 6, 7}, true};
    args[1] = args[0];
    args[1].q[0] = 40;
    float out[10] = {0};
    const double want[10] = {-5, 77, 0.125, 123, 1, 3, 7, 1, sizeof(arguments), 36};
    RUN(.kernel = "structs", .threads = {1}, .group = {1}, .args = {VAL(args[0]), BUF(out), BUF(args)});
    for (int i = 0; i < 10; i++)
        CHECK_NEAR(out[i], want[i], 0);
}

// Buffers that hold the addresses of others; the kernel reaches them through no argument of its own.
static void through_pointers(void)
{
    struct table {
        uint64_t data, indices;
        uint32_t count;
    } tables[2];
    id<MTLBuffer> data[2], indices[2];
    @autoreleasepool {
        for (int k = 0; k < 2; k++) {
            data[k] = [[msl.device newBufferWithLength:40 options:0] autorelease];
            indices[k] = [[msl.device newBufferWithLength:40 options:0] autorelease];
            for (int i = 0; i < 10; i++)
                ((int32_t *)[indices[k] contents])[i] = 9 - i;
            tables[k] = (struct table){[data[k] gpuAddress], [indices[k] gpuAddress], k ? 10 : 5};
        }
        RUN(.kernel = "through_pointers", .threads = {20}, .group = {20}, .args = {BUF(tables)});
        for (int i = 0; i < 10; i++) {
            CHECK_EQ(((float *)[data[0] contents])[9 - i], i < 5 ? 2 * i : 0);
            CHECK_EQ(((float *)[data[1] contents])[9 - i], 2 * i + 1);
        }
    }
}

static void templates(void)
{
    float f[8] = {1, 2, 3, 4, 5, 6, 7, 8}, k = 10;
    int32_t n[8] = {1, 2, 3, 4, 5, 6, 7, 8}, m = 2;
    RUN(.kernel = "apply_float_2", .threads = {4}, .group = {4}, .args = {BUF(f), VAL(k)});
    RUN(.kernel = "apply_int_4", .threads = {2}, .group = {2}, .args = {BUF(n), VAL(m)});
    CHECK_EQ(f[0], 50);
    CHECK_EQ(f[6], 1130);
    CHECK_EQ(n[0], 60);
    CHECK_EQ(n[4], 348);
    NSArray *names = [msl.library functionNames];
    CHECK([names containsObject:@"apply_float_2"] && [names containsObject:@"by_order"]);
    CHECK(![names containsObject:@"apply"] && ![names containsObject:@"pick"]);
}

static void pieces(void)
{
    float d[4] = {1, 2}, c[4] = {3, 4};
    int32_t out[16] = {0};
    const int32_t want[16] = {78345612, 882, 34, 4, 31, 13, 39, 16, 7, 3, 1, 8, 1317, 127, 81, 48};
    RUN(.kernel = "pieces", .threads = {1}, .group = {1}, .args = {BUF(d), BUF(c), BUF(out), SHARED(16)});
    for (int i = 0; i < 16; i++)
        if (!CHECK_EQ(out[i], want[i]))
            printf("    piece %d\n", i);
    CHECK_EQ(d[0], 2);
}

static void macros(void)
{
    int32_t out[5] = {0};
    MTLCompileOptions *options = [[[MTLCompileOptions alloc] init] autorelease];
    [options setPreprocessorMacros:@{@"PLAIN" : @"", @"NUMBER" : @42, @"EXPRESSION(x)" : @"((x) * 5)"}];
    [options setLanguageVersion:MTLLanguageVersion2_4];
    msl_load_with("language.metal", options);
    RUN(.kernel = "macros", .threads = {1}, .group = {1}, .args = {BUF(out)});
    CHECK_EQ(out[0], 1);
    CHECK_EQ(out[1], 42);
    CHECK_EQ(out[2], 15);
    CHECK_EQ(out[3], 240);
    CHECK_EQ(out[4], 1);
    memset(out, 0, sizeof out);
    [options setPreprocessorMacros:nil];
    [options setLanguageVersion:MTLLanguageVersion3_1];
    msl_load_with("language.metal", options);
    RUN(.kernel = "macros", .threads = {1}, .group = {1}, .args = {BUF(out)});
    CHECK_EQ(out[0] + out[1] + out[2], 0);
    CHECK_EQ(out[3], 310);
}

int main(void)
{
    msl_load("language.metal");
    orders();
    structs();
    through_pointers();
    templates();
    pieces();
    CHECK_EQ([msl_new_pipeline("limited", nil) maxTotalThreadsPerThreadgroup], 64);
    CHECK_EQ([msl_new_pipeline("by_order", nil) maxTotalThreadsPerThreadgroup], 1024);
    macros();
    return msl_end();
}
