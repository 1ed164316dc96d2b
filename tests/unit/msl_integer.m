// SPDX-License-Identifier: MIT
// The integer functions on all types against 128-bit arithmetic, with the extreme values among the operands.
#include "msl/harness.h"
#include "msl/reference.h"

enum { N = 1024, SLOTS = 24 };
typedef __int128 wide;

typedef struct type {
    const char *name;
    unsigned bits;
    bool is_signed;
} type;
static const type types[] = {{"char", 8, true},     {"uchar", 8, false}, {"short", 16, true},
                             {"ushort", 16, false}, {"int", 32, true},   {"uint", 32, false},
                             {"long", 64, true},    {"ulong", 64, false}};
static const char *const names[SLOTS] = {"abs",
                                         "absdiff",
                                         "addsat",
                                         "subsat",
                                         "hadd",
                                         "rhadd",
                                         "mulhi",
                                         "madhi",
                                         "madsat",
                                         "popcount",
                                         "clz",
                                         "ctz",
                                         "reverse_bits",
                                         "rotate",
                                         "extract_bits",
                                         "insert_bits",
                                         "max3",
                                         "min3",
                                         "median3",
                                         "clamp",
                                         "min",
                                         "max",
                                         "extract_bits, all",
                                         "insert_bits, top"};

static wide lowest(const type *t)
{
    return t->is_signed ? -((wide)1 << t->bits) / 2 : 0;
}
static wide highest(const type *t)
{
    wide all = ((wide)1 << t->bits) - 1;
    return t->is_signed ? all >> 1 : all;
}
static wide saturate(const type *t, wide x)
{
    return x < lowest(t) ? lowest(t) : x > highest(t) ? highest(t) : x;
}
// The low bits as a number of the type.
static wide wrap(const type *t, wide x)
{
    wide modulus = (wide)1 << t->bits;
    x = ((x % modulus) + modulus) % modulus;
    return x > highest(t) ? x - modulus : x;
}
static wide floor_half(wide x)
{
    return x >= 0 ? x / 2 : -((-x + 1) / 2);
}
static int bit(wide x, int n)
{
    return (int)((unsigned __int128)x >> n & 1);
}
static wide at_least(wide a, wide b)
{
    return a > b ? a : b;
}
static wide at_most(wide a, wide b)
{
    return a < b ? a : b;
}

static wide high_part(const type *t, wide a, wide b)
{
    // The product of two ulong fills 128 bits without a sign.
    if (!t->is_signed)
        return (wide)((unsigned __int128)a * (unsigned __int128)b >> t->bits);
    return a * b >> t->bits;
}

static wide multiply_add_saturated(const type *t, wide a, wide b, wide c)
{
    wide product;
    if (t->bits < 64)
        return saturate(t, a * b + c);
    if (t->is_signed)
        return saturate(t, a * b + c); // below 2^126
    if (__builtin_mul_overflow(a, b, &product) || product > highest(t))
        return highest(t);
    return saturate(t, product + c);
}

static int count(const type *t, wide x, int which)
{
    int set = 0, leading = 0, trailing = 0;
    for (int i = 0; i < (int)t->bits; i++)
        set += bit(x, i);
    while (leading < (int)t->bits && !bit(x, (int)t->bits - 1 - leading))
        leading++;
    while (trailing < (int)t->bits && !bit(x, trailing))
        trailing++;
    return which == 0 ? set : which == 1 ? leading : trailing;
}

static wide moved_bits(const type *t, wide x, int rotation)
{
    wide result = 0;
    for (int i = 0; i < (int)t->bits; i++) {
        int to = rotation < 0 ? (int)t->bits - 1 - i : (i + rotation) % (int)t->bits;
        result |= (wide)bit(x, i) << to;
    }
    return wrap(t, result);
}

static wide extracted(const type *t, wide x, int from, int n)
{
    wide result = 0;
    for (int i = 0; i < n; i++)
        result |= (wide)bit(x, from + i) << i;
    return t->is_signed && bit(x, from + n - 1) ? result - ((wide)1 << n) : result;
}

static wide inserted(const type *t, wide base, wide x, int from, int n)
{
    wide result = 0;
    for (int i = 0; i < (int)t->bits; i++)
        result |= (wide)(i >= from && i < from + n ? bit(x, i - from) : bit(base, i)) << i;
    return wrap(t, result);
}

static wide reference(const type *t, int slot, wide a, wide b, wide c)
{
    wide low = at_most(b, c), high = at_least(b, c);
    switch (slot) {
    case 0:
        return a < 0 ? -a : a;
    case 1:
        return a > b ? a - b : b - a;
    case 2:
        return saturate(t, a + b);
    case 3:
        return saturate(t, a - b);
    case 4:
        return floor_half(a + b);
    case 5:
        return floor_half(a + b + 1);
    case 6:
        return high_part(t, a, b);
    case 7:
        return high_part(t, a, b) + c;
    case 8:
        return multiply_add_saturated(t, a, b, c);
    case 9:
        return count(t, a, 0);
    case 10:
        return count(t, a, 1);
    case 11:
        return count(t, a, 2);
    case 12:
        return moved_bits(t, a, -1);
    case 13:
        return moved_bits(t, a, (int)(((b % (int)t->bits) + (int)t->bits) % (int)t->bits));
    case 14:
        return extracted(t, a, 3, 4);
    case 15:
        return inserted(t, a, b, 2, 5);
    case 16:
        return at_least(a, high);
    case 17:
        return at_most(a, low);
    case 18:
    case 19:
        return at_least(low, at_most(high, a));
    case 20:
        return at_most(a, b);
    case 21:
        return at_least(a, b);
    case 22:
        return a;
    default:
        return inserted(t, a, b, (int)t->bits - 1, 1);
    }
}

static wide operand(const type *t, int i)
{
    const wide special[] = {lowest(t), highest(t), 0, 1, wrap(t, -1), lowest(t) + 1, highest(t) / 2};
    if (i % 3 == 0)
        return special[ref_bits() % 7];
    return wrap(t, (wide)(ref_bits() >> (i % 2 ? 0 : 64 - t->bits / 2)));
}

static wide load(const type *t, const uint8_t *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, t->bits / 8);
    return wrap(t, (wide)bits);
}

static void check(const type *t)
{
    static uint8_t in[3][N * 8], out[N * SLOTS * 8];
    static wide value[3][N];
    int size = (int)t->bits / 8;
    ref_worst worst[SLOTS] = {{0}};
    char kernel[40];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < N; i++) {
            value[k][i] = operand(t, (int)(ref_bits() % 6));
            memcpy(in[k] + i * size, &value[k][i], (size_t)size);
        }
    snprintf(kernel, sizeof kernel, "integer_%s", t->name);
    RUN(.kernel = kernel, .threads = {N}, .group = {64},
        .args = {BUF(in[0]), BUF(in[1]), BUF(in[2]), BUF(out)});
    for (int i = 0; i < N; i++)
        for (int s = 0; s < SLOTS; s++) {
            wide got = load(t, out + (i * SLOTS + s) * size);
            wide want = wrap(t, reference(t, s, value[0][i], value[1][i], value[2][i]));
            ref_note(&worst[s], got != want, 0, (double)got, (double)want, i);
        }
    for (int s = 0; s < SLOTS; s++)
        if (!CHECK_WORST(&worst[s], names[s]))
            printf("    of %s, operands %lld, %lld, %lld\n", t->name, (long long)value[0][worst[s].at],
                   (long long)value[1][worst[s].at], (long long)value[2][worst[s].at]);
}

static void twenty_four(void)
{
    int32_t a[N], b[N], out[N][4];
    ref_worst worst[4] = {{0}};
    for (int i = 0; i < N; i++) {
        a[i] = (int32_t)(ref_bits() % 0x800000) - 0x400000;
        b[i] = (int32_t)(ref_bits() % 0x800) - 0x400;
    }
    RUN(.kernel = "twenty_four", .threads = {N}, .group = {64}, .args = {BUF(a), BUF(b), BUF(out)});
    for (int i = 0; i < N; i++) {
        int32_t product = (int32_t)((int64_t)a[i] * b[i]);
        ref_same(&worst[0], out[i][0], product, i);
        ref_same(&worst[1], out[i][1], (int32_t)((uint32_t)product + 5), i);
        if (a[i] < 0 || b[i] < 0) // more than 24 bits without a sign: not defined
            continue;
        ref_same(&worst[2], out[i][2], product, i);
        ref_same(&worst[3], out[i][3], (int32_t)((uint32_t)product + 9), i);
    }
    for (int s = 0; s < 4; s++)
        CHECK_WORST(&worst[s], "mul24, mad24");
}

int main(void)
{
    msl_load("integer.metal");
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        check(&types[t]);
    twenty_four();
    return msl_end();
}
