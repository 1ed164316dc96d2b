// SPDX-License-Identifier: MIT
// Pack and unpack functions against the definition of normalised integers, for values inside and outside of
// the range.
#include "msl/harness.h"
#include "msl/reference.h"

enum { N = 512, FORMATS = 7 };

// Where each component lies in the word; a width of 0 ends the list.
static const struct packing {
    const char *name;
    bool is_signed, is_srgb;
    struct {
        unsigned shift, bits;
    } at[4];
} formats[FORMATS] = {
    {"unorm4x8", false, false, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}},
    {"snorm4x8", true, false, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}},
    {"unorm2x16", false, false, {{0, 16}, {16, 16}}},
    {"snorm2x16", true, false, {{0, 16}, {16, 16}}},
    {"unorm10a2", false, false, {{0, 10}, {10, 10}, {20, 10}, {30, 2}}},
    {"unorm565", false, false, {{11, 5}, {5, 6}, {0, 5}}},
    {"unorm4x8_srgb", false, true, {{0, 8}, {8, 8}, {16, 8}, {24, 8}}},
};

static double to_srgb(double x)
{
    return x <= 0.0031308 ? x * 12.92 : 1.055 * pow(x, 1 / 2.4) - 0.055;
}
static double from_srgb(double x)
{
    return x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);
}

static double largest(const struct packing *p, int c)
{
    return ldexp(1, (int)p->at[c].bits - (p->is_signed ? 1 : 0)) - 1;
}

static double decoded(const struct packing *p, int c, uint32_t word)
{
    double x = word >> p->at[c].shift & ((1u << p->at[c].bits) - 1);
    if (p->is_signed && x > largest(p, c))
        x -= ldexp(1, (int)p->at[c].bits);
    x = fmax(x / largest(p, c), -1);
    return p->is_srgb && c < 3 ? from_srgb(x) : x;
}

// How far the packed component is from the number, in steps of the format: half a step at most, and a little
// more where fast math or sRGB's pow rounds the other way.
static void check_packed(const struct packing *p, const double *x, uint32_t word, ref_worst *worst, int i)
{
    for (int c = 0; c < 4 && p->at[c].bits; c++) {
        double limited = fmin(fmax(x[c], p->is_signed ? -1 : 0), 1);
        double want = (p->is_srgb && c < 3 ? to_srgb(limited) : limited) * largest(p, c);
        double got = word >> p->at[c].shift & ((1u << p->at[c].bits) - 1);
        if (p->is_signed && got > largest(p, c))
            got -= ldexp(1, (int)p->at[c].bits);
        ref_note(worst, fabs(got - want), 0.501, got, want, i * 4 + c);
    }
}

static void pack(void)
{
    static float in[N][4];
    static uint32_t out[N][FORMATS], from_half[N][FORMATS];
    ref_worst worst[2][FORMATS] = {{{0}}};
    for (int i = 0; i < 4 * N; i++)
        in[i / 4][i % 4] = i % 9 ? ref_random(-1.2, 1.2) : (float)(i / 9 % 3 - 1);
    RUN(.kernel = "pack", .threads = {N}, .group = {64}, .args = {BUF(in), BUF(out), BUF(from_half)});
    for (int i = 0; i < N; i++)
        for (int f = 0; f < FORMATS; f++) {
            double x[4], h[4];
            for (int c = 0; c < 4; c++)
                x[c] = in[i][c], h[c] = ref_round(&ref_half, x[c]);
            check_packed(&formats[f], x, out[i][f], &worst[0][f], i);
            check_packed(&formats[f], h, from_half[i][f], &worst[1][f], i);
        }
    for (int f = 0; f < FORMATS; f++)
        if (!CHECK_WORST(&worst[0][f], "pack_float_to") || !CHECK_WORST(&worst[1][f], "pack_half_to"))
            printf("    %s\n", formats[f].name);
}

static void unpack(void)
{
    static uint32_t in[N];
    static float out[N][FORMATS][4];
    static uint16_t to_half[N][FORMATS][4];
    ref_worst worst[2][FORMATS] = {{{0}}};
    for (int i = 0; i < N; i++)
        in[i] = i < 256 ? (uint32_t)i * 0x01010101u : (uint32_t)ref_bits();
    RUN(.kernel = "unpack", .threads = {N}, .group = {64}, .args = {BUF(in), BUF(out), BUF(to_half)});
    for (int i = 0; i < N; i++)
        for (int f = 0; f < FORMATS; f++)
            for (int c = 0; c < 4; c++) {
                double want = formats[f].at[c].bits ? decoded(&formats[f], c, in[i]) : 0;
                double h = ref_decode(&ref_half, to_half[i][f][c]);
                ref_note(&worst[0][f], fabs(out[i][f][c] - want), 1e-6, out[i][f][c], want, i * 4 + c);
                ref_note(&worst[1][f], ref_error(&ref_half, h, want), 1, h, want, i * 4 + c);
            }
    for (int f = 0; f < FORMATS; f++)
        if (!CHECK_WORST(&worst[0][f], "unpack_to_float") || !CHECK_WORST(&worst[1][f], "unpack_to_half"))
            printf("    %s\n", formats[f].name);
}

int main(void)
{
    msl_load("pack.metal");
    pack();
    unpack();
    return msl_end();
}
