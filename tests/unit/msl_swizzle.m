// SPDX-License-Identifier: MIT
// Every swizzle of two to four components that can be read, every one that can be written, and every way to
// construct a vector from parts. The kernels are made here; a vector (a, b, c, d) shows as the number abcd.
#include "msl/harness.h"
#include "msl/reference.h"
#include <stdarg.h>

static const char head[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "uint code(uint2 v) { return v.x * 10 + v.y; }\n"
    "uint code(uint3 v) { return (v.x * 10 + v.y) * 10 + v.z; }\n"
    "uint code(uint4 v) { return code(v.xyz) * 10 + v.w; }\n"
    "template <typename T, int N> uint code(vec<T, N> v) { return code(vec<uint, N>(v)); }\n"
    "template <typename T, int N> uint code(packed_vec<T, N> v) { return code(vec<T, N>(v)); }\n";

enum { MOST = 800, TEXT = 1 << 18 };
static char *text;
static size_t used;
static uint32_t want[MOST], got[MOST];
static int lines;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    used += (size_t)vsnprintf(text + used, TEXT - used, format, list);
    va_end(list);
}

static void begin(const char *vector)
{
    used = 0;
    lines = 0;
    add("%skernel void k(device uint *out, constant uint4 &in)\n{\n    %s\n", head, vector);
}

static void run(const char *what)
{
    uint32_t in[4] = {1, 2, 3, 4};
    ref_worst worst = {0};
    add("}\n");
    msl_source(text);
    memset(got, 0, sizeof got);
    RUN(.kernel = "k", .threads = {1}, .group = {1}, .args = {BUF(got), VAL(in)});
    for (int i = 0; i < lines; i++)
        ref_same(&worst, got[i], want[i], i);
    CHECK_WORST(&worst, what);
}

// The names of choice number n of `length` components out of `size`, and the digits they read.
static uint32_t name(char *to, const char *letters, int n, int length, int size)
{
    uint32_t digits = 0;
    for (int i = 0; i < length; i++, n /= size) {
        to[i] = letters[n % size];
        digits = digits * 10 + (uint32_t)(n % size) + 1;
    }
    to[length] = 0;
    return digits;
}

static int power(int base, int n)
{
    return n ? base * power(base, n - 1) : 1;
}

static void read_all(const char *declaration, const char *letters, int size)
{
    begin(declaration);
    for (int length = 2; length <= 4; length++)
        for (int n = 0; n < power(size, length); n++) {
            char swizzle[5];
            want[lines] = name(swizzle, letters, n, length, size);
            add("    out[%d] = code(v.%s);\n", lines++, swizzle);
        }
    run(declaration);
}

static bool distinct(const char *swizzle)
{
    for (const char *c = swizzle; *c; c++)
        if (strchr(c + 1, *c))
            return false;
    return true;
}

// 5678 (or its first digits) put where the swizzle says, into 1234.
static uint32_t written(const char *swizzle, const char *letters, int size)
{
    uint32_t digits[4] = {1, 2, 3, 4}, number = 0;
    for (int i = 0; swizzle[i]; i++)
        digits[strchr(letters, swizzle[i]) - letters] = 5 + (uint32_t)i;
    for (int i = 0; i < size; i++)
        number = number * 10 + digits[i];
    return number;
}

static void write_all(const char *declaration, const char *element, const char *letters, int size)
{
    const char *const fresh[] = {"5, 6", "5, 6, 7", "5, 6, 7, 8"};
    begin(declaration);
    for (int length = 2; length <= size; length++)
        for (int n = 0; n < power(size, length); n++) {
            char swizzle[5];
            name(swizzle, letters, n, length, size);
            if (!distinct(swizzle))
                continue;
            want[lines] = written(swizzle, letters, size);
            add("    { auto u = v; u.%s = %s%d(%s); out[%d] = code(u); }\n", swizzle, element, length,
                fresh[length - 2], lines++);
        }
    run(declaration);
}

static const struct row {
    const char *code;
    uint32_t want;
} rows[] = {
    {"code(float4(float2(1, 2), float2(3, 4)))", 1234},
    {"code(float4(float2(1, 2), 3, 4))", 1234},
    {"code(float4(1, float2(2, 3), 4))", 1234},
    {"code(float4(1, 2, float2(3, 4)))", 1234},
    {"code(float4(float3(1, 2, 3), 4))", 1234},
    {"code(float4(1, float3(2, 3, 4)))", 1234},
    {"code(float3(float2(1, 2), 3))", 123},
    {"code(half3(1, half2(2, 3)))", 123},
    {"code(int4(7))", 7777},
    {"code(ushort2(9))", 99},
    {"code(uint4(in.xy, in.wz))", 1243},
    {"code(uint4(in.w, in.zyx))", 4321},
    {"code(int4(int2(in.xy), 8, 9))", 1289},
    {"code(float4(in))", 1234},
    {"code(packed_float3(1, 2, 3))", 123},
    {"code(packed_float4(packed_float3(1, 2, 3), 4))", 1234},
    {"code(float4(packed_float3(1, 2, 3), 4))", 1234},
    {"code(float3(packed_half3(1, 2, 3)))", 123},
    {"code(packed_int2(in.zw))", 34},
    {"code(in.wzyx.xy)", 43},
    {"code(in.wzyx.zw.yx)", 12},
    {"in.wzyx.w * 10 + in.a", 14},
    {"code(in.bgra)", 3214},
    {"code(uint2(in[3], in[1]))", 42},
    {"code(in.xy + in.zw)", 46},
    {"code(in.xxx * in.zyx)", 321},
    {"code(uint4(uchar4(in)) + uint4(1))", 2345},
    {"code(as_type<uchar4>(0x04030201u))", 1234},
    {"code(as_type<ushort2>(0x00070005u))", 57},
    {"as_type<uint>(half2(1.0h, 2.0h))", 0x40003c00},
    {"as_type<uint>(1.0f)", 0x3f800000},
    {"as_type<ushort>(bfloat(1.0f))", 0x3f80},
    {"code(as_type<uint2>(0x0000000300000002ul))", 23},
    {"(uint)as_type<int>(0xfffffffeu) + 5", 3},
    {"as_type<uint>(char4(-1, 0, 1, 2))", 0x020100ff},
};

static void rows_and_writes(void)
{
    begin("");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        want[lines] = rows[i].want;
        add("    out[%d] = %s;\n", lines++, rows[i].code);
    }
    const struct row writes[] = {
        {"uint4 v = in; v.xy += v.zw; v.z *= 2; out[%d] = code(v);", 4664},
        {"float4 v = float4(in); v.zw = v.xy; v.r = 9; out[%d] = code(v);", 9212},
        {"uint4 v = in; v.yx = v.xy; out[%d] = code(v);", 2134},
        {"uint3 v[2]; v[1] = in.yzw; v[1].xz = 8; out[%d] = code(v[1]);", 838},
        {"uint4 v = in; v[2] = 7; v.w--; out[%d] = code(v);", 1273},
        {"struct s { half3 h; } a; a.h = half3(1, 2, 3); a.h.zx = a.h.xz; out[%d] = code(a.h);", 321},
        {"uint4 v = in; thread uint4 *p = &v; p->xw = uint2(5, 6); (*p).y += 3; out[%d] = code(v);", 5536},
        {"int4 v = int4(in); v.xyz <<= 1; v.w = v.x; out[%d] = code(v);", 2462},
    };
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        want[lines] = writes[i].want;
        add("    { ");
        add(writes[i].code, lines++);
        add(" }\n");
    }
    run("constructors and assignments");
}

int main(void)
{
    text = calloc(1, TEXT);
    read_all("uint4 v = in;", "xyzw", 4);
    read_all("uint4 v = in;", "rgba", 4);
    read_all("half3 v = half3(in.xyz);", "xyz", 3);
    read_all("char2 v = char2(in.xy);", "rg", 2);
    read_all("packed_float4 v = packed_float4(float4(in));", "xyzw", 4);
    write_all("uint4 v = in;", "uint", "xyzw", 4);
    write_all("float4 v = float4(in);", "float", "rgba", 4);
    write_all("short3 v = short3(in.xyz);", "short", "xyz", 3);
    write_all("packed_half4 v = packed_half4(half4(in));", "half", "xyzw", 4);
    rows_and_writes();
    free(text);
    return msl_end();
}
