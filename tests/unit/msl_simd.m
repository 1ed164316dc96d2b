// SPDX-License-Identifier: MIT
// Every simd and quad operation on every type it takes, with all lanes, in a divergent branch, and in a
// simdgroup that is not full. References work on the lanes of the mask alone; all values are exact.
#include "msl/harness.h"
#include "msl/reference.h"

enum { SLOTS = 48, THREADS = 77, SIMDS = 3, LANES = 32 };

typedef struct lanes {
    const double *x, *y;
    uint32_t mask;
    int lane, from, to; // of what counts as the group: the simdgroup or this lane's quad
} lanes;

static bool is_active(const lanes *s, int lane)
{
    return s->mask >> lane & 1;
}

typedef double (*combine)(double, double);
static double add(double a, double b)
{
    return a + b;
}
static double multiply(double a, double b)
{
    return a * b;
}
static double bits_and(double a, double b)
{
    return (double)((int64_t)a & (int64_t)b);
}
static double bits_or(double a, double b)
{
    return (double)((int64_t)a | (int64_t)b);
}
static double bits_xor(double a, double b)
{
    return (double)((int64_t)a ^ (int64_t)b);
}

// Over the active lanes below `end`; `start` if there are none.
static double fold(const lanes *s, const double *v, combine f, int end, double start)
{
    bool any = false;
    double result = start;
    for (int lane = s->from; lane < end; lane++) {
        if (!is_active(s, lane))
            continue;
        result = any ? f(result, v[lane]) : v[lane];
        any = true;
    }
    return result;
}

// What an operation reads from one other lane: that lane's value, or NaN if it is not active (undefined).
static double value_of(const lanes *s, const double *v, int lane)
{
    return is_active(s, lane) ? v[lane] : NAN;
}

static double moved(const lanes *s, int distance, bool stays)
{
    int lane = s->lane + distance, width = s->to - s->from;
    if (lane >= s->from && lane < s->to)
        return value_of(s, s->x, lane);
    return stays ? s->x[s->lane] : value_of(s, s->x, lane < s->from ? lane + width : lane - width);
}

static double filled(const lanes *s, int distance, int modulo)
{
    int lane = s->lane + distance, first = s->lane / modulo * modulo;
    if (lane < first)
        return value_of(s, s->y, lane + modulo);
    return lane < first + modulo ? value_of(s, s->x, lane) : value_of(s, s->y, lane - modulo);
}

static int first_active(const lanes *s)
{
    int lane = s->from;
    while (!is_active(s, lane))
        lane++;
    return lane;
}

#define EACH_OPERATION(OP)                                                                                   \
    OP(simd_sum, fold(s, s->x, add, s->to, 0))                                                               \
    OP(simd_product, fold(s, s->y, multiply, s->to, 1))                                                      \
    OP(simd_max, fold(s, s->x, fmax, s->to, 0))                                                              \
    OP(simd_min, fold(s, s->x, fmin, s->to, 0))                                                              \
    OP(simd_prefix_inclusive_sum, fold(s, s->x, add, s->lane + 1, 0))                                        \
    OP(simd_prefix_exclusive_sum, fold(s, s->x, add, s->lane, 0))                                            \
    OP(simd_prefix_inclusive_product, fold(s, s->y, multiply, s->lane + 1, 1))                               \
    OP(simd_prefix_exclusive_product, fold(s, s->y, multiply, s->lane, 1))                                   \
    OP(quad_sum, fold(s, s->x, add, s->to, 0))                                                               \
    OP(quad_product, fold(s, s->y, multiply, s->to, 1))                                                      \
    OP(quad_max, fold(s, s->x, fmax, s->to, 0))                                                              \
    OP(quad_min, fold(s, s->x, fmin, s->to, 0))                                                              \
    OP(quad_prefix_inclusive_sum, fold(s, s->x, add, s->lane + 1, 0))                                        \
    OP(quad_prefix_exclusive_sum, fold(s, s->x, add, s->lane, 0))                                            \
    OP(quad_prefix_inclusive_product, fold(s, s->y, multiply, s->lane + 1, 1))                               \
    OP(quad_prefix_exclusive_product, fold(s, s->y, multiply, s->lane, 1))                                   \
    OP(simd_shuffle, value_of(s, s->x, (s->lane * 7 + 3) & 31))                                              \
    OP(simd_shuffle_xor, value_of(s, s->x, s->lane ^ 5))                                                     \
    OP(simd_shuffle_up, moved(s, -3, true))                                                                  \
    OP(simd_shuffle_down, moved(s, 3, true))                                                                 \
    OP(simd_shuffle_rotate_up, moved(s, -3, false))                                                          \
    OP(simd_shuffle_rotate_down, moved(s, 3, false))                                                         \
    OP(simd_shuffle_and_fill_up, filled(s, -3, 32))                                                          \
    OP(simd_shuffle_and_fill_down, filled(s, 3, 32))                                                         \
    OP(simd_shuffle_and_fill_up_modulo, filled(s, -3, 8))                                                    \
    OP(simd_shuffle_and_fill_down_modulo, filled(s, 3, 8))                                                   \
    OP(simd_broadcast, value_of(s, s->x, 9))                                                                 \
    OP(simd_broadcast_first, s->x[first_active(s)])                                                          \
    OP(quad_shuffle, value_of(s, s->x, s->from + ((s->lane * 3 + 1) & 3)))                                   \
    OP(quad_shuffle_xor, value_of(s, s->x, s->lane ^ 2))                                                     \
    OP(quad_shuffle_up, moved(s, -1, true))                                                                  \
    OP(quad_shuffle_down, moved(s, 1, true))                                                                 \
    OP(quad_shuffle_rotate_up, moved(s, -1, false))                                                          \
    OP(quad_shuffle_rotate_down, moved(s, 1, false))                                                         \
    OP(quad_broadcast, value_of(s, s->x, s->from + 1))                                                       \
    OP(quad_broadcast_first, s->x[first_active(s)])                                                          \
    OP(simd_and, fold(s, s->x, bits_and, s->to, 0))                                                          \
    OP(simd_or, fold(s, s->x, bits_or, s->to, 0))                                                            \
    OP(simd_xor, fold(s, s->x, bits_xor, s->to, 0))                                                          \
    OP(quad_and, fold(s, s->x, bits_and, s->to, 0))                                                          \
    OP(quad_or, fold(s, s->x, bits_or, s->to, 0))                                                            \
    OP(quad_xor, fold(s, s->x, bits_xor, s->to, 0))

#define REFERENCE(name, expression)                                                                          \
    static double ref_##name(const lanes *s)                                                                 \
    {                                                                                                        \
        return expression;                                                                                   \
    }
EACH_OPERATION(REFERENCE)

static const struct operation {
    const char *name;
    double (*reference)(const lanes *);
} operations[] = {
#define ROW(name, expression) {#name, ref_##name},
    EACH_OPERATION(ROW)};
enum { OPERATIONS = sizeof operations / sizeof *operations, WITHOUT_BITS = OPERATIONS - 6 };

// How a component is stored: kind 'f' with a format, 'i' or 'u' with a size.
typedef struct element {
    const char *name;
    char kind;
    int size, components, step; // step: bytes from thread to thread
    const ref_format *format;
} element;

static const element elements[] = {
    {"float", 'f', 4, 1, 4, &ref_float},   {"half", 'f', 2, 1, 2, &ref_half},
    {"bfloat", 'f', 2, 1, 2, &ref_bfloat}, {"int", 'i', 4, 1, 4, NULL},
    {"uint", 'u', 4, 1, 4, NULL},          {"short", 'i', 2, 1, 2, NULL},
    {"ushort", 'u', 2, 1, 2, NULL},        {"char", 'i', 1, 1, 1, NULL},
    {"uchar", 'u', 1, 1, 1, NULL},         {"float4", 'f', 4, 4, 16, &ref_float},
    {"half2", 'f', 2, 2, 4, &ref_half},    {"int3", 'i', 4, 3, 16, NULL},
};

static void store(const element *e, uint8_t *at, double value)
{
    uint32_t bits = e->format ? ref_encode(e->format, value) : (uint32_t)(int32_t)value;
    memcpy(at, &bits, (size_t)e->size);
}

static double load(const element *e, const uint8_t *at)
{
    uint32_t bits = 0;
    memcpy(&bits, at, (size_t)e->size);
    if (e->format)
        return ref_decode(e->format, bits);
    int unused = 32 - 8 * e->size;
    return e->kind == 'u' ? bits : (double)((int32_t)(bits << unused) >> unused);
}

static double x[4][SIMDS * LANES], y[4][SIMDS * LANES];

static void make_input(const element *e)
{
    for (int c = 0; c < e->components; c++) {
        for (int i = 0; i < SIMDS * LANES; i++) {
            int sign = e->kind == 'u' ? 0 : 3;
            x[c][i] = (double)(ref_bits() % 7) - sign;
            // Few factors, so that no product leaves any type.
            y[c][i] = i % 9 == 2 ? 2 : i % 32 == 5 ? 3 : i % 11 == 7 && sign ? -1 : 1;
        }
    }
}

static uint8_t in_x[THREADS * 16], in_y[THREADS * 16], out[SIMDS * SLOTS * LANES * 16];

static void check_lane(const element *e, int simd, lanes *s, ref_worst *worst)
{
    int count = e->kind == 'f' ? WITHOUT_BITS : OPERATIONS;
    for (int slot = 0; slot < count; slot++) {
        bool quad = strncmp(operations[slot].name, "quad", 4) == 0;
        s->from = quad ? s->lane & ~3 : 0;
        s->to = quad ? s->from + 4 : LANES;
        const uint8_t *at = out + ((simd * SLOTS + slot) * LANES + s->lane) * 16;
        for (int c = 0; c < e->components; c++) {
            s->x = x[c] + simd * LANES;
            s->y = y[c] + simd * LANES;
            double truth = operations[slot].reference(s);
            if (!isnan(truth))
                ref_same(&worst[slot], load(e, at + c * e->size), truth, simd * LANES + s->lane);
        }
    }
}

static void check_element(const element *e, uint32_t mask)
{
    ref_worst worst[SLOTS] = {{0}};
    char kernel[40];
    make_input(e);
    for (int i = 0; i < THREADS; i++)
        for (int c = 0; c < e->components; c++) {
            store(e, in_x + i * e->step + c * e->size, x[c][i]);
            store(e, in_y + i * e->step + c * e->size, y[c][i]);
        }
    snprintf(kernel, sizeof kernel, "masked_%s", e->name);
    memset(out, 0xee, sizeof out);
    RUN(.kernel = kernel, .threads = {THREADS}, .group = {THREADS},
        .args = {BUF(in_x), BUF(in_y), BUF(out), VAL(mask)});
    for (int i = 0; i < THREADS; i++) {
        uint32_t present = i / LANES == SIMDS - 1 ? (1u << THREADS % LANES) - 1 : ~0u;
        lanes s = {.mask = mask & present, .lane = i % LANES};
        if (is_active(&s, s.lane))
            check_lane(e, i / LANES, &s, worst);
    }
    for (int slot = 0; slot < (e->kind == 'f' ? WITHOUT_BITS : OPERATIONS); slot++) {
        char what[100];
        snprintf(what, sizeof what, "%s of %s, mask %08x", operations[slot].name, e->name, mask);
        // With few lanes no source of a shuffle may be active; with all lanes each operation is checked.
        if (worst[slot].count || mask == ~0u)
            CHECK_WORST(&worst[slot], what);
    }
}

typedef struct votes {
    uint32_t ballot, any, all, active, first;
    uint32_t quad_ballot, quad_any, quad_all, quad_active, quad_first;
    uint32_t vote_any, vote_all;
} votes;

static uint32_t where(const int32_t *v, uint32_t mask, int above)
{
    uint32_t bits = 0;
    for (int lane = 0; lane < LANES; lane++)
        if ((mask >> lane & 1) && v[lane] > above)
            bits |= 1u << lane;
    return bits;
}

static votes expected_votes(const int32_t *v, uint32_t mask, int lane)
{
    int quad = lane & ~3;
    uint32_t positive = where(v, mask, 0), four = mask >> quad & 15;
    return (votes){
        .ballot = positive,
        .any = where(v, mask, 2) != 0,
        .all = where(v, mask, -3) == mask,
        .active = mask,
        .first = (mask & ((1u << lane) - 1)) == 0,
        .quad_ballot = positive >> quad & 15,
        .quad_any = (where(v, mask, 2) >> quad & 15) != 0,
        .quad_all = (where(v, mask, -1) >> quad & 15) == four,
        .quad_active = four,
        .quad_first = (four & ((1u << (lane & 3)) - 1)) == 0,
        .vote_any = positive != 0,
        .vote_all = positive == ~0u,
    };
}

static const char *const vote_names[] = {
    "simd_ballot",   "simd_any",     "simd_all", "simd_active_threads_mask", "simd_is_first",
    "quad_ballot",   "quad_any",     "quad_all", "quad_active_threads_mask", "quad_is_first",
    "simd_vote.any", "simd_vote.all"};

static void check_votes(uint32_t mask, int lowest)
{
    int32_t v[SIMDS * LANES];
    votes got[THREADS];
    ref_worst worst[sizeof(votes) / 4] = {{0}};
    memset(got, 0, sizeof got);
    for (int i = 0; i < SIMDS * LANES; i++)
        v[i] = lowest + (int32_t)(ref_bits() % 5);
    RUN(.kernel = "voting", .threads = {THREADS}, .group = {THREADS}, .args = {BUF(v), BUF(got), VAL(mask)});
    for (int i = 0; i < THREADS; i++) {
        uint32_t present = i / LANES == SIMDS - 1 ? (1u << THREADS % LANES) - 1 : ~0u;
        uint32_t side = (mask >> i % LANES & 1 ? mask : ~mask) & present;
        votes want = expected_votes(v + i / LANES * LANES, side, i % LANES);
        for (size_t field = 0; field < sizeof want / 4; field++)
            ref_same(&worst[field], ((uint32_t *)&got[i])[field], ((uint32_t *)&want)[field], i);
    }
    for (size_t field = 0; field < sizeof(votes) / 4; field++)
        CHECK_WORST(&worst[field], vote_names[field]);
}

int main(void)
{
    // All, odd lanes, the first eight and the rest, one lane, a random choice and the rest.
    const uint32_t masks[] = {0xffffffffu, 0xaaaaaaaau, 0x000000ffu, 0xffffff00u,
                              0x00000200u, 0x9e3779b9u, 0x61c88646u};
    msl_load("simd.metal");
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
        for (size_t e = 0; e < sizeof elements / sizeof *elements; e++)
            check_element(&elements[e], masks[m]);
        check_votes(masks[m], -2);
        check_votes(masks[m], 1); // all positive
    }
    return msl_end();
}
