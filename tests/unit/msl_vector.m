// SPDX-License-Identifier: MIT
// Vectors of all element types and sizes: operators, comparisons, shifts, conversions from each type to each
// other, layout of plain and packed vectors. References are per component, in 64-bit integers or doubles,
// brought to the type at the end.
#include "msl/harness.h"
#include "msl/reference.h"

enum { N = 64, SLOTS = 32, TYPES = 12 };

typedef struct type {
    const char *name;
    int size;
    bool is_signed;
    const ref_format *format; // NULL for integers
} type;
static const type types[TYPES] = {
    {"bool", 1, false, NULL},     {"char", 1, true, NULL},          {"uchar", 1, false, NULL},
    {"short", 2, true, NULL},     {"ushort", 2, false, NULL},       {"int", 4, true, NULL},
    {"uint", 4, false, NULL},     {"long", 8, true, NULL},          {"ulong", 8, false, NULL},
    {"half", 2, true, &ref_half}, {"bfloat", 2, true, &ref_bfloat}, {"float", 4, true, &ref_float},
};

// One component: a float's value in f, an integer's in i (as its 64 bits).
typedef struct value {
    double f;
    int64_t i;
} value;

static int64_t wrap(const type *t, int64_t x)
{
    int unused = 64 - 8 * t->size;
    if (t == &types[0])
        return x != 0;
    return t->is_signed ? (int64_t)((uint64_t)x << unused) >> unused
                        : (int64_t)((uint64_t)x << unused >> unused);
}

static value load(const type *t, const void *at)
{
    uint64_t bits = 0;
    memcpy(&bits, at, (size_t)t->size);
    if (t->format)
        return (value){.f = ref_decode(t->format, (uint32_t)bits)};
    return (value){.i = wrap(t, (int64_t)bits)};
}

static void store(const type *t, void *at, value v)
{
    uint64_t bits = t->format ? ref_encode(t->format, v.f) : (uint64_t)v.i;
    memcpy(at, &bits, (size_t)t->size);
}

static bool less(const type *t, value a, value b)
{
    if (t->format)
        return a.f < b.f;
    return t->is_signed ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
}

static bool equal(const type *t, value a, value b)
{
    return t->format ? a.f == b.f : a.i == b.i;
}

static value number(const type *t, int64_t n)
{
    return t->format ? (value){.f = (double)n} : (value){.i = n};
}

static value divide(const type *t, value a, value b)
{
    if (t->format)
        return (value){.f = a.f / b.f};
    if (!t->is_signed)
        return (value){.i = (int64_t)((uint64_t)a.i / (uint64_t)b.i)};
    return (value){.i = a.i / b.i};
}

#define BOTH(expression_f, expression_i)                                                                     \
    (t->format ? (value){.f = ref_round(t->format, expression_f)} : (value){.i = (int64_t)(expression_i)})
#define U(x) ((uint64_t)(x).i)

typedef struct operands {
    value a, b, b_x, b_y; // of this component; the first two components of b
    bool any_more, all_differ;
} operands;

static value clamped(const type *t, value a)
{
    value low = number(t, 2), high = number(t, 5);
    return less(t, a, low) ? low : less(t, high, a) ? high : a;
}

static value arithmetic(const type *t, int slot, const operands *o)
{
    value a = o->a, b = o->b;
    switch (slot) {
    case 0:
        return BOTH(a.f + b.f, U(a) + U(b));
    case 1:
        return BOTH(a.f - b.f, U(a) - U(b));
    case 2:
        return BOTH(a.f * b.f, U(a) * U(b));
    case 3:
        return divide(t, a, b);
    case 4:
        return BOTH(-a.f, -U(a));
    case 5:
        return BOTH(a.f + o->b_x.f, U(a) + U(o->b_x));
    case 6:
        return BOTH(a.f * o->b_y.f, U(a) * U(o->b_y));
    case 7:
        return BOTH(ref_round(t->format, a.f + b.f) - 1, U(a) + U(b) - 1);
    case 8:
        return BOTH(ref_round(t->format, a.f + 1) + 1, U(a) + 2);
    case 9:
        return less(t, b, a) ? b : a;
    case 10:
        return less(t, a, b) ? b : a;
    case 11:
        return clamped(t, a);
    case 12:
        return less(t, a, b) ? b : a;
    case 13:
        return number(t, equal(t, a, b));
    case 14:
        return number(t, !less(t, b, a));
    case 15:
        return number(t, o->any_more);
    case 16:
        return number(t, o->all_differ);
    default:
        return number(t, less(t, a, b) || equal(t, a, b));
    }
}

static value bitwise(const type *t, int slot, value a, value b)
{
    unsigned distance = (unsigned)b.i & (8 * (unsigned)t->size - 1);
    uint64_t shifted = (uint64_t)wrap(t, (int64_t)(U(a) << 2));
    switch (slot) {
    case 0:
        return (value){.i = t->is_signed ? a.i % b.i : (int64_t)(U(a) % U(b))};
    case 1:
        return (value){.i = a.i & b.i};
    case 2:
        return (value){.i = a.i | b.i};
    case 3:
        return (value){.i = a.i ^ b.i};
    case 4:
        return (value){.i = ~a.i};
    case 5:
        return (value){.i = (int64_t)(U(a) << distance)};
    case 6:
        return (value){.i = t->is_signed ? a.i >> distance : (int64_t)(U(a) >> distance)};
    default: {
        int64_t x = (int64_t)(shifted ^ U(b));
        return (value){.i = t->is_signed ? x >> 1 : (int64_t)((uint64_t)wrap(t, x) >> 1)};
    }
    }
}
enum { ARITHMETIC = 18, BITWISE = 8 };

static void check_operators(const type *t, const uint8_t *a, const uint8_t *b, const uint8_t *out, int i,
                            ref_worst *worst)
{
    for (int width = 2; width <= 4; width++) {
        operands o = {.all_differ = true};
        for (int c = 0; c < width; c++) {
            value p = load(t, a + (4 * i + c) * t->size), q = load(t, b + (4 * i + c) * t->size);
            o.any_more |= less(t, q, p);
            o.all_differ &= !equal(t, p, q);
        }
        o.b_x = load(t, b + 4 * i * t->size);
        o.b_y = load(t, b + (4 * i + 1) * t->size);
        for (int slot = 0; slot < ARITHMETIC + (t->format ? 0 : BITWISE); slot++) {
            for (int c = 0; c < width; c++) {
                o.a = load(t, a + (4 * i + c) * t->size);
                o.b = load(t, b + (4 * i + c) * t->size);
                value want =
                    slot < ARITHMETIC ? arithmetic(t, slot, &o) : bitwise(t, slot - ARITHMETIC, o.a, o.b);
                value got = load(t, out + (((i * 3 + width - 2) * SLOTS + slot) * 4 + c) * t->size);
                want.i = wrap(t, want.i);
                double error = t->format ? ref_error(t->format, got.f, want.f) : got.i != want.i;
                // Only a division may be off, by an ulp: fast math takes the reciprocal.
                ref_note(&worst[slot], error, slot == 3 && t->format ? 1.01 : 0,
                         t->format ? got.f : (double)got.i, t->format ? want.f : (double)want.i, i * 4 + c);
            }
        }
    }
}

// Does the number, without its fraction, have a place in the type?
static bool fits(const type *to, double x)
{
    if (to->format || to == &types[0])
        return true;
    double top = ldexp(1, 8 * to->size - (to->is_signed ? 1 : 0));
    return x < top && (to->is_signed ? x >= -top : x > -1);
}

static value convert(const type *from, const type *to, value v)
{
    if (to == &types[0])
        return (value){.i = from->format ? v.f != 0 : v.i != 0};
    if (from->format)
        return to->format ? v
                          : (value){.i = v.f < 0 || to->is_signed ? (int64_t)v.f : (int64_t)(uint64_t)v.f};
    if (to->format)
        return (value){.f = from->is_signed ? (double)v.i : (double)(uint64_t)v.i};
    return (value){.i = wrap(to, v.i)};
}

static void check_conversions(const type *t, const uint8_t *a, const uint8_t *converted, int i,
                              ref_worst *worst)
{
    for (int u = 0; u < TYPES; u++) {
        const type *to = &types[u];
        for (int c = 0; c < 4; c++) {
            value from = load(t, a + (4 * i + c) * t->size), want = convert(t, to, from);
            value got = load(to, converted + (i * TYPES + u) * 32 + c * to->size);
            if (t->format && !fits(to, from.f))
                continue;
            if (to->format)
                ref_same(&worst[u], got.f, ref_round(to->format, want.f), i * 4 + c);
            else
                ref_note(&worst[u], got.i != want.i, 0, (double)got.i, (double)want.i, i * 4 + c);
        }
    }
}

// Small numbers, so that floats are exact and quotients matter, with extreme ones among the integers of a.
static value input(const type *t, bool divisor)
{
    int64_t n = (int64_t)(ref_bits() % 41) - (t->is_signed ? 20 : 0);
    if (t->format)
        return (value){.f = divisor && n == 0 ? 3 : (double)n / (ref_bits() % 4 == 0 ? 8 : 1)};
    if (!divisor && ref_bits() % 3 == 0)
        n = (int64_t)ref_bits();
    n = wrap(t, n);
    return (value){.i = divisor && n == 0 && t != &types[0] ? 3 : n};
}

static void check_type(const type *t)
{
    static uint8_t a[N * 32], b[N * 32], out[N * 3 * SLOTS * 32], converted[N * TYPES * 32];
    ref_worst operators[SLOTS] = {{0}}, conversions[TYPES] = {{0}};
    char what[80];
    for (int i = 0; i < 4 * N; i++) {
        store(t, a + i * t->size, input(t, false));
        // The same pair now and then; no quotient of the least number and -1, which no type has.
        store(t, b + i * t->size, input(t, true));
        if (i % 7 == 3 && load(t, a + i * t->size).i + load(t, a + i * t->size).f != 0)
            memcpy(b + i * t->size, a + i * t->size, (size_t)t->size);
        value divisor = load(t, b + i * t->size);
        if (!t->format && t->is_signed && divisor.i == -1)
            store(t, b + i * t->size, (value){.i = -2});
    }
    snprintf(what, sizeof what, "vectors_%s", t->name);
    RUN(.kernel = what, .threads = {N}, .group = {N}, .args = {BUF(a), BUF(b), BUF(out), BUF(converted)});
    for (int i = 0; i < N; i++) {
        if (t != &types[0])
            check_operators(t, a, b, out, i, operators);
        check_conversions(t, a, converted, i, conversions);
    }
    for (int slot = 0; slot < SLOTS; slot++) {
        snprintf(what, sizeof what, "operator %d of %s", slot, t->name);
        if (operators[slot].count)
            CHECK_WORST(&operators[slot], what);
    }
    for (int u = 0; u < TYPES; u++) {
        snprintf(what, sizeof what, "from %s to %s", t->name, types[u].name);
        CHECK_WORST(&conversions[u], what);
    }
    if (t != &types[0])
        CHECK(operators[ARITHMETIC - 1].count > 0 &&
              (t->format || operators[ARITHMETIC + BITWISE - 1].count > 0));
    else
        for (int i = 0; i < 4 * N; i++) {
            const uint8_t *p = a + i / 4 * 4, *q = b + i / 4 * 4;
            int x = a[i], y = b[i], any = p[0] | p[1] | p[2] | p[3], all = q[0] & q[1] & q[2] & q[3];
            CHECK_EQ(out[i],
                     (x & y) + (x | y) * 2 + !x * 4 + (x == y) * 8 + (y ? y : x) * 16 + any * 32 + all * 64);
        }
}

static void check_layout(void)
{
    uint32_t got[TYPES * 12] = {0};
    RUN(.kernel = "sizes", .threads = {1}, .group = {1}, .args = {BUF(got)});
    for (int t = 0; t < TYPES; t++) {
        uint32_t s = (uint32_t)types[t].size;
        const uint32_t want[12] = {2 * s, 2 * s, 4 * s, 4 * s, 4 * s, 4 * s, 2 * s, s, 3 * s, s, 4 * s, s};
        for (int i = 0; i < 12; i++)
            if (!CHECK_EQ(got[t * 12 + i], want[i]))
                printf("    size or alignment %d of %s\n", i, types[t].name);
    }
}

typedef struct shared_with_host {
    float f, p[3];
    uint16_t h[3];
    int8_t c[2];
    uint8_t u[3];
    bool b;
    int16_t s[4];
} shared_with_host;

static void check_packed(void)
{
    shared_with_host data[33];
    _Static_assert(sizeof(shared_with_host) == 36, "the kernel's layout");
    for (int i = 0; i < 33; i++) {
        uint16_t h = (uint16_t)ref_encode(&ref_half, i);
        data[i] = (shared_with_host){1,     {(float)i, 2, 3},     {h, h, h}, {(int8_t)i, -5}, {1, 2, 3},
                                     i % 2, {(int16_t)i, 2, 3, 4}};
    }
    RUN(.kernel = "packed", .threads = {33}, .group = {32}, .args = {BUF(data)});
    for (int i = 0; i < 33; i++) {
        const shared_with_host *d = &data[i];
        CHECK_EQ(d->f, i + 4 + 9 + i + 3);
        CHECK(d->p[0] == 6 && d->p[1] == 4.5f && d->p[2] == 2 * i);
        CHECK_EQ(ref_decode(&ref_half, d->h[2]), i + 1);
        CHECK(d->c[0] == -5 && d->c[1] == i);
        CHECK(d->u[0] == 2 && d->u[1] == 6 && d->u[2] == 12);
        CHECK_EQ(d->b, !(i % 2));
        CHECK(d->s[0] == 8 && d->s[1] == 6 && d->s[2] == 4 && d->s[3] == 2 * i);
    }
}

int main(void)
{
    msl_load("vector.metal");
    for (int t = 0; t < TYPES; t++)
        check_type(&types[t]);
    check_layout();
    check_packed();
    return msl_end();
}
