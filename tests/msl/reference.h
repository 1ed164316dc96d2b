// SPDX-License-Identifier: MIT
// What results are compared with: rounding to narrow formats, their encoding, distances in ulps and random
// numbers, in plain C on doubles. Shares no code and no builtin conversion with what is tested.
#ifndef TESTS_MSL_REFERENCE_H
#define TESTS_MSL_REFERENCE_H

#include "unit/test.h"

// A binary format: bits of the significand with its leading one, and the exponent e of the smallest normal
// number 2^e.
typedef struct ref_format {
    int digits, lowest, fraction_bits, exponent_bits;
    double largest;
} ref_format;

static const ref_format ref_half = {11, -14, 10, 5, 65504.0};
static const ref_format ref_bfloat = {8, -126, 7, 8, 0x1.fep127};
static const ref_format ref_float = {24, -126, 23, 8, 0x1.fffffep127};

static inline int ref_exponent(const ref_format *f, double x)
{
    int e = x == 0 || !isfinite(x) ? f->lowest : ilogb(x);
    return e < f->lowest ? f->lowest : e;
}

// Distance of neighbouring numbers around x.
static inline double ref_ulp(const ref_format *f, double x)
{
    return ldexp(1, ref_exponent(f, x) - f->digits + 1);
}

// To nearest, ties to even (which is what nearbyint does unless told otherwise).
static inline double ref_round(const ref_format *f, double x)
{
    if (x == 0 || !isfinite(x))
        return x;
    double step = ref_ulp(f, x), rounded = nearbyint(x / step) * step;
    return fabs(rounded) > f->largest ? copysign(INFINITY, x) : copysign(fabs(rounded), x);
}

static inline double ref_decode(const ref_format *f, uint32_t bits)
{
    uint32_t fraction = bits & ((1u << f->fraction_bits) - 1);
    uint32_t top = (1u << f->exponent_bits) - 1, exponent = bits >> f->fraction_bits & top;
    bool negative = bits >> (f->fraction_bits + f->exponent_bits) & 1;
    double x;
    if (exponent == top)
        x = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        x = ldexp(fraction, f->lowest - f->fraction_bits);
    else
        x = ldexp(fraction + (1u << f->fraction_bits), f->lowest + (int)exponent - 1 - f->fraction_bits);
    return negative ? -x : x;
}

// The bits of the number nearest to x; of a NaN some NaN.
static inline uint32_t ref_encode(const ref_format *f, double x)
{
    uint32_t sign = signbit(x) ? 1u << (f->fraction_bits + f->exponent_bits) : 0;
    uint32_t infinity = ((1u << f->exponent_bits) - 1) << f->fraction_bits;
    double magnitude = fabs(ref_round(f, x));
    if (isnan(x))
        return sign | infinity | 1;
    if (isinf(magnitude))
        return sign | infinity;
    uint32_t steps = (uint32_t)(magnitude / ref_ulp(f, magnitude));
    uint32_t above = (uint32_t)(ref_exponent(f, magnitude) - f->lowest) << f->fraction_bits;
    return sign | (above + steps);
}

// How far `got` is from the true value, in ulps of the format; 0 for a NaN where one is due, infinite if only
// one side is a NaN or an infinity. A result that would round to infinity may be infinite.
static inline double ref_error(const ref_format *f, double got, double truth)
{
    if (isnan(got) || isnan(truth))
        return isnan(got) && isnan(truth) ? 0 : INFINITY;
    if (got == truth || got == ref_round(f, truth))
        return 0;
    return isinf(got) || isinf(truth) ? INFINITY : fabs(got - truth) / ref_ulp(f, truth);
}

// The worst of many comparisons: counts as one check, and says where it was.
typedef struct ref_worst {
    double error, got, truth;
    long at, count, wrong;
} ref_worst;

static inline void ref_note(ref_worst *worst, double error, double allowed, double got, double truth, long at)
{
    worst->count++;
    if (error <= allowed)
        return;
    if (!worst->wrong++ || error > worst->error)
        *worst = (ref_worst){error, got, truth, at, worst->count, worst->wrong};
}

static inline void ref_same(ref_worst *worst, double got, double truth, long at)
{
    bool same = got == truth || (isnan(got) && isnan(truth));
    ref_note(worst, same ? 0 : fabs(got - truth), 0, got, truth, at);
}

static inline bool ref_check_at(const ref_worst *worst, const char *what, const char *file, int line)
{
    bool right = worst->count && !worst->wrong;
    if (!test_record(right, file, line, what))
        printf("    %ld of %ld wrong; at %ld: got %.9g, true %.17g, error %g\n", worst->wrong, worst->count,
               worst->at, worst->got, worst->truth, worst->error);
    return right;
}
#define CHECK_WORST(worst, what) ref_check_at(worst, what, __FILE__, __LINE__)

static inline uint64_t ref_bits(void)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717u;
}

// Uniform in [low, high), and a float so that kernels get the very number.
static inline float ref_random(double low, double high)
{
    return (float)(low + (high - low) * (double)(ref_bits() >> 11) * 0x1p-53);
}

#endif
