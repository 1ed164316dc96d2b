// SPDX-License-Identifier: MIT
// Function constants: every type, set by index, by name and as a range, derived and undefined ones,
// conditional arguments, and the errors when a needed one has no value.
#include "msl/harness.h"
#include "msl/reference.h"

static MTLFunctionConstantValues *values(void)
{
    return [[[MTLFunctionConstantValues alloc] init] autorelease];
}

static MTLFunctionConstantValues *all_values(bool by_name)
{
    MTLFunctionConstantValues *v = values();
    const bool flag = true, switches[4] = {true, false, true, false};
    const int32_t number = -7, pair[2] = {3, 4};
    const uint32_t unsigned_number = 4000000000u;
    const float scale = 0.375f, offset[4] = {1, 2, 3, 4};
    const uint16_t half_of_five = 0x4100; // 2.5
    const int16_t small = -300;
    const uint8_t byte_number = 200;
    const uint64_t wide = 0x123456789abcull;
    const struct {
        const char *name;
        const void *value;
        MTLDataType type;
    } rows[] = {{"flag", &flag, MTLDataTypeBool},
                {"number", &number, MTLDataTypeInt},
                {"unsigned_number", &unsigned_number, MTLDataTypeUInt},
                {"scale", &scale, MTLDataTypeFloat},
                {"narrow", &half_of_five, MTLDataTypeHalf},
                {"small", &small, MTLDataTypeShort},
                {"byte_number", &byte_number, MTLDataTypeUChar},
                {"offset", offset, MTLDataTypeFloat4},
                {"pair_of", pair, MTLDataTypeInt2},
                {"wide", &wide, MTLDataTypeULong},
                {"switches", switches, MTLDataTypeBool3}};
    for (NSUInteger i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (by_name)
            [v setConstantValue:rows[i].value
                           type:rows[i].type
                       withName:[NSString stringWithUTF8String:rows[i].name]];
        else
            [v setConstantValue:rows[i].value type:rows[i].type atIndex:i];
    }
    return v;
}

static void all_kinds(bool by_name)
{
    float out[16] = {0};
    const float want[15] = {1, -7, 4000000000.0f, 0.375f, 2.5f, -300, 200, 1, 2, 3, 4, 304, -13, 1, 5};
    RUN(.kernel = "all_kinds", .constants = all_values(by_name), .threads = {1}, .group = {1},
        .args = {BUF(out)});
    for (int i = 0; i < 15; i++)
        if (!CHECK_NEAR(out[i], want[i], 0))
            printf("    constant %d, set by %s\n", i, by_name ? "name" : "index");
}

static void derived(MTLFunctionConstantValues *v, double sum, double has_width, double has_extra,
                    bool extra_bound)
{
    float out[4] = {-1, -1, -1, -1}, extra[32] = {0};
    RUN(.kernel = "derived", .constants = v, .threads = {32}, .group = {32},
        .args = {BUF(out), {extra, sizeof extra, extra_bound ? MSL_BUFFER : MSL_UNBOUND}});
    CHECK_NEAR(out[0], sum, 0);
    CHECK_NEAR(out[1], has_width, 0);
    CHECK_NEAR(out[2], has_extra, 0);
    for (int i = 0; i < 32; i++)
        CHECK_NEAR(extra[i], extra_bound ? 2 * i : 0, 0);
}

static void undefined_and_derived(void)
{
    const uint32_t width = 100, narrow_width = 4;
    const bool on = true, off = false;
    MTLFunctionConstantValues *v = values();
    derived(v, 45, 0, 0, false);
    [v setConstantValue:&width type:MTLDataTypeUInt atIndex:20];
    derived(v, 4950, 1, 0, false);
    [v setConstantValue:&on type:MTLDataTypeBool withName:@"has_extra"];
    derived(v, 4950, 1, 1, true);
    [v setConstantValue:&off type:MTLDataTypeBool atIndex:21];
    v = values();
    [v setConstantValue:&narrow_width type:MTLDataTypeUInt withName:@"width"];
    [v setConstantValue:&off type:MTLDataTypeBool withName:@"has_extra"];
    derived(v, 6, 1, 1, false);
    [v reset];
    derived(v, 45, 0, 0, false);
}

static void ranges(void)
{
    const char source[] = "#include <metal_stdlib>\n"
                          "using namespace metal;\n"
                          "constant float a [[function_constant(3)]];\n"
                          "constant float b [[function_constant(4)]];\n"
                          "constant float c [[function_constant(5)]];\n"
                          "kernel void k(device float *out) { out[0] = a * 100 + b * 10 + c; }\n";
    const float three[] = {1, 2, 3};
    float out[1];
    MTLFunctionConstantValues *v = values();
    msl_source(source);
    [v setConstantValues:three type:MTLDataTypeFloat withRange:NSMakeRange(3, 3)];
    RUN(.kernel = "k", .constants = v, .threads = {1}, .group = {1}, .args = {BUF(out)});
    CHECK_EQ(out[0], 123);
    // Of those that are set one may be missing, and is zero; with none at all the message names the first.
    v = values();
    [v setConstantValues:three type:MTLDataTypeFloat withRange:NSMakeRange(3, 2)];
    RUN(.kernel = "k", .constants = v, .threads = {1}, .group = {1}, .args = {BUF(out)});
    CHECK_EQ(out[0], 120);
    CHECK(msl_new_pipeline("k", values()) == nil);
    CHECK_HAS(msl.error, "'a' at index 3");
    // A value of another type is refused.
    v = values();
    [v setConstantValues:three type:MTLDataTypeInt withRange:NSMakeRange(3, 3)];
    CHECK(msl_new_pipeline("k", v) == nil);
    CHECK_HAS(msl.error, "'a'");
    NSDictionary *declared =
        [[[msl.library newFunctionWithName:@"k"] autorelease] functionConstantsDictionary];
    CHECK_EQ([declared count], 3);
    MTLFunctionConstant *b = [declared objectForKey:@"b"];
    CHECK_EQ([b index], 4);
    CHECK_EQ([b type], MTLDataTypeFloat);
}

int main(void)
{
    msl_load("constants.metal");
    all_kinds(false);
    all_kinds(true);
    undefined_and_derived();
    ranges();
    return msl_end();
}
