// SPDX-License-Identifier: MIT
// half and bfloat: all 65536 values to float and back, every tie between neighbours and the floats beside it,
// overflow, subnormals, NaN, each conversion between the two, and arithmetic rounded once per operation.
#include "msl/harness.h"
#include "msl/reference.h"

enum { ALL = 65536, PER_VALUE = 4, SUMS = 8, PAIRS = 20000 };

typedef struct kind {
    const char *name;
    const ref_format *format;
} kind;
static const kind kinds[] = {{"half", &ref_half}, {"bfloat", &ref_bfloat}};

static const char *named(const char *kernel, const kind *k)
{
    static char name[40];
    snprintf(name, sizeof name, "%s_%s", kernel, k->name);
    return name;
}

static void widen(const kind *k)
{
    static uint16_t bits[ALL];
    static float wide[ALL];
    static uint32_t classes[ALL];
    ref_worst values = {0}, kinds_of = {0};
    for (int i = 0; i < ALL; i++)
        bits[i] = (uint16_t)i;
    RUN(.kernel = named("widen", k), .threads = {ALL}, .group = {256},
        .args = {BUF(bits), BUF(wide), BUF(classes)});
    for (int i = 0; i < ALL; i++) {
        double x = ref_decode(k->format, (uint32_t)i);
        bool normal = isfinite(x) && fabs(x) >= ldexp(1, k->format->lowest);
        uint32_t want = (isnan(x) ? 1u : 0) | (isinf(x) ? 2u : 0) | (isfinite(x) ? 4u : 0) |
                        (normal ? 8u : 0) | (i >> 15 ? 16u : 0) | 32u;
        ref_same(&values, wide[i], x, i);
        if (!isnan(x))
            ref_same(&values, signbit(wide[i]) != 0, i >> 15, i);
        ref_same(&kinds_of, classes[i], want, i);
    }
    CHECK_WORST(&values, named("to float from", k));
    CHECK_WORST(&kinds_of, named("isnan, isinf, isfinite, isnormal, signbit of", k));
}

// For every value: itself, the middle between it and the next one away from zero, and the floats beside that.
static int floats_to_narrow(const kind *k, float *in)
{
    int n = 0;
    for (uint32_t i = 0; i < ALL; i++) {
        double x = ref_decode(k->format, i), next = ref_decode(k->format, i + 1);
        float middle =
            isinf(next) ? (float)(x + copysign(ref_ulp(k->format, x) / 2, x)) : (float)((x + next) / 2);
        in[n++] = (float)x;
        in[n++] = middle;
        in[n++] = nextafterf(middle, INFINITY);
        in[n++] = nextafterf(middle, -INFINITY);
    }
    const float special[] = {0x1p-149f, 0x1p-25f, 0x1.000002p-25f, -0x1p-26f, 65519.9f,    65520.0f,
                             -65520.0f, 1e30f,    3.4e38f,         -3.4e38f,  0x1.ffp127f, 0x1.fefffep127f,
                             NAN};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        in[n++] = special[i];
    return n;
}

static void narrow(const kind *k)
{
    static float in[ALL * PER_VALUE + 32];
    static uint16_t bits[ALL * PER_VALUE + 32][4];
    const char *const ways[] = {"assigned", "constructed", "in a vector", "through threadgroup memory"};
    ref_worst worst[4] = {{0}};
    int n = floats_to_narrow(k, in);
    RUN(.kernel = named("narrow", k), .threads = {(unsigned)n}, .group = {64}, .args = {BUF(in), BUF(bits)});
    for (int i = 0; i < n; i++) {
        for (int way = 0; way < 4; way++) {
            double got = ref_decode(k->format, bits[i][way]), want = ref_round(k->format, in[i]);
            ref_same(&worst[way], got, want, i);
            if (!isnan(want))
                ref_same(&worst[way], bits[i][way], ref_encode(k->format, in[i]), i);
        }
    }
    for (int way = 0; way < 4; way++)
        if (!CHECK_WORST(&worst[way], named("from float to", k)))
            printf("    %s\n", ways[way]);
}

static void arithmetic(const kind *k)
{
    static uint16_t a[PAIRS], b[PAIRS], out[PAIRS][SUMS];
    const char *const names[SUMS] = {"+", "-", "*", "/", "sqrt", "unary -", "max", "+= then *="};
    ref_worst worst[SUMS] = {{0}};
    for (int i = 0; i < PAIRS; i++) {
        // Near each other for half of them, so that ties and cancellations happen; no NaN, no infinity.
        a[i] = (uint16_t)(ref_bits() & 0xbbff);
        b[i] = i % 2 ? (uint16_t)((a[i] ^ (ref_bits() & 0x83ff)) & 0xbbff) : (uint16_t)(ref_bits() & 0xbbff);
        b[i] = b[i] & 0x7fff ? b[i] : 0x3c00;
    }
    RUN(.kernel = named("arithmetic", k), .threads = {PAIRS}, .group = {128},
        .args = {BUF(a), BUF(b), BUF(out)});
    for (int i = 0; i < PAIRS; i++) {
        double x = ref_decode(k->format, a[i]), y = ref_decode(k->format, b[i]);
        // x / y of doubles is rounded, but far below what a tie of the narrow type needs.
        const double want[SUMS] = {x + y,         x - y, x * y,      x / y,
                                   sqrt(fabs(x)), -x,    fmax(x, y), ref_round(k->format, x + y) * y};
        for (int s = 0; s < SUMS; s++)
            ref_same(&worst[s], ref_decode(k->format, out[i][s]), ref_round(k->format, want[s]), i);
    }
    for (int s = 0; s < SUMS; s++)
        if (!CHECK_WORST(&worst[s], named("arithmetic of", k)))
            printf("    %s\n", names[s]);
}

static const char between_source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void between(device const ushort *bits, device ushort2 *out,\n"
    "                    uint i [[thread_position_in_grid]])\n"
    "{\n"
    "    half h = as_type<half>(bits[i]);\n"
    "    bfloat b = as_type<bfloat>(bits[i]);\n"
    "    bfloat from_h = static_cast<bfloat>(h);\n"
    "    out[i] = ushort2(as_type<ushort>(from_h), as_type<ushort>((half)b));\n"
    "    out[i] = ushort2(as_type<ushort>((bfloat)h), as_type<ushort>(half(b)));\n"
    "}\n";

static void between(void)
{
    if (!CHECK(msl_compile(between_source, nil))) {
        printf("    %s\n", msl.error);
        return;
    }
    static uint16_t bits[ALL], out[ALL][2];
    ref_worst worst[2] = {{0}};
    for (int i = 0; i < ALL; i++)
        bits[i] = (uint16_t)i;
    RUN(.kernel = "between", .threads = {ALL}, .group = {256}, .args = {BUF(bits), BUF(out)});
    for (uint32_t i = 0; i < ALL; i++) {
        ref_same(&worst[0], ref_decode(&ref_bfloat, out[i][0]),
                 ref_round(&ref_bfloat, ref_decode(&ref_half, i)), i);
        ref_same(&worst[1], ref_decode(&ref_half, out[i][1]),
                 ref_round(&ref_half, ref_decode(&ref_bfloat, i)), i);
    }
    CHECK_WORST(&worst[0], "from half to bfloat");
    CHECK_WORST(&worst[1], "from bfloat to half");
}

// The reference must be sound itself: decoding and encoding are inverse.
static void self_check(const kind *k)
{
    ref_worst worst = {0};
    for (uint32_t i = 0; i < ALL; i++)
        if (!isnan(ref_decode(k->format, i)))
            ref_same(&worst, ref_encode(k->format, ref_decode(k->format, i)), i, i);
    CHECK_WORST(&worst, named("reference of", k));
}

int main(void)
{
    msl_load("narrow.metal");
    for (int k = 0; k < 2; k++) {
        self_check(&kinds[k]);
        widen(&kinds[k]);
        narrow(&kinds[k]);
        arithmetic(&kinds[k]);
    }
    between();
    return msl_end();
}
