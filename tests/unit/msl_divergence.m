// SPDX-License-Identifier: MIT
// Simd operations in divergent control flow: nested ifs, switch, &&, ?:, loops with trip counts by lane,
// break, continue, early return of lanes and of helpers. The reference goes through the same steps for all
// lanes at once, with the set of lanes that are there written out at each step.
#include "msl/harness.h"
#include "msl/reference.h"

enum { RESULTS = 24, LANES = 32, THREADS = 50, UNSET = 0xdddddddd };

static uint32_t want[LANES][RESULTS];

typedef bool (*condition)(unsigned lane);

static uint32_t those(uint32_t mask, condition holds)
{
    uint32_t chosen = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        if ((mask >> lane & 1) && holds(lane))
            chosen |= 1u << lane;
    return chosen;
}

static void set(uint32_t mask, int result, uint32_t value)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            want[lane][result] = value;
}

static uint32_t sum_of(uint32_t mask)
{
    uint32_t sum = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            sum += lane;
    return sum;
}

static uint32_t highest(uint32_t mask)
{
    return mask ? 31u - (uint32_t)__builtin_clz(mask) : 0;
}

#define CONDITION(name, expression)                                                                          \
    static bool name(unsigned lane)                                                                          \
    {                                                                                                        \
        return expression;                                                                                   \
    }
CONDITION(is_odd, lane & 1)
CONDITION(has_2, lane & 2)
CONDITION(below_4, lane < 4)
CONDITION(below_8, lane < 8)
CONDITION(below_10, lane < 10)
CONDITION(below_11, lane < 11)
CONDITION(mod5_0, lane % 5 == 0)
CONDITION(mod5_1, lane % 5 == 1)
CONDITION(mod5_2, lane % 5 == 2)
CONDITION(mod4_0, lane % 4 == 0)
CONDITION(mod3_0, lane % 3 == 0)
CONDITION(mod3_1, lane % 3 == 1)
CONDITION(mod3_2, lane % 3 == 2)

static void expect_branches(uint32_t all)
{
    uint32_t odd = those(all, is_odd), even = all & ~odd;
    set(odd, 0, odd);
    set(even, 0, even);
    set(those(odd, has_2), 1, those(odd, has_2));
    set(odd & ~those(odd, has_2), 1, ~(odd & ~those(odd, has_2)));
    set(odd, 2, odd);
    set(those(even, below_4), 1, those(even, below_4));
    set(those(even, below_8), 2, those(even, below_8));
    set(all, 3, all);

    uint32_t zero = those(all, mod5_0), one = those(all, mod5_1), two = those(all, mod5_2);
    set(zero, 4, zero ^ (zero | one));
    set(one, 4, zero | one);
    set(two, 4, two);
    set(all & ~(zero | one | two), 4, (all & ~(zero | one | two)) + 1);
    set(all, 5, all);

    uint32_t low = those(all, below_10);
    set(low, 6, 0);
    set(all & ~low, 6, all >> 12 & 1);
    set(all, 7, 1);
    uint32_t fourth = those(all, mod4_0);
    set(fourth, 8, sum_of(fourth));
    set(all & ~fourth, 8, highest(all & ~fourth));
    set(those(all, mod3_1), 9, 1000);
    set(those(all, mod3_2), 9, all & ~those(all, mod3_1));
    set(those(all, mod3_0), 9, (uint32_t)__builtin_popcount(those(all, mod3_0)));
    set(all, 10, all);
    set(those(all, below_11), 11, sum_of(those(all, below_11)));
    set(all & ~those(all, below_11), 11, sum_of(all & ~those(all, below_11)));
}

// hash = hash * 31 + value in the lanes of the mask.
static void mix(uint32_t *hash, uint32_t mask, uint32_t value)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        if (mask >> lane & 1)
            hash[lane] = hash[lane] * 31 + value;
}

static void take(uint32_t *hash, uint32_t all, int result)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (all >> lane & 1)
            want[lane][result] = hash[lane];
        hash[lane] = 0;
    }
}

#define LANES_WHERE(mask, expression)                                                                        \
    ({                                                                                                       \
        uint32_t chosen_ = 0;                                                                                \
        for (unsigned lane = 0; lane < LANES; lane++)                                                        \
            chosen_ |= ((mask) >> lane & 1) && (expression) ? 1u << lane : 0;                                \
        chosen_;                                                                                             \
    })

static void expect_counted_loops(uint32_t all, uint32_t *hash)
{
    for (unsigned n = 0; n < 7; n++) {
        uint32_t in = LANES_WHERE(all, n < lane % 7);
        mix(hash, in, in);
    }
    take(hash, all, 0);
    set(all, 1, all);

    uint32_t in = all;
    for (unsigned n = 0; n < 12; n++) {
        uint32_t on = LANES_WHERE(in, (lane + n) % 4 != 0), leave = LANES_WHERE(on, n == lane % 9);
        mix(hash, on, on);
        mix(hash, on & ~leave, on & ~leave);
        in &= ~leave;
    }
    take(hash, all, 2);
    set(all, 3, all);

    in = all;
    for (unsigned n = 0; n < 4; n++) {
        uint32_t inner = in;
        for (unsigned m = 0; m < 7; m++) {
            inner = LANES_WHERE(inner, m <= n + lane % 3 && !(m == 3 && lane % 5 == 0));
            mix(hash, inner, inner);
        }
        in = LANES_WHERE(in, !(n == 2 && lane % 8 == 1));
        mix(hash, in, sum_of(in));
    }
    take(hash, all, 4);
}

static void expect_while(uint32_t all, uint32_t *hash)
{
    unsigned n[LANES];
    uint32_t in = all;
    for (unsigned lane = 0; lane < LANES; lane++)
        n[lane] = lane % 4;
    while (in) {
        for (unsigned lane = 0; lane < LANES; lane++)
            n[lane] += in >> lane & 1 ? 2 : 0;
        uint32_t one = LANES_WHERE(in, n[lane] % 3 == 1), two = LANES_WHERE(in, n[lane] % 3 == 2);
        mix(hash, one, one);
        mix(hash, two, 7);
        mix(hash, one | two, one | two);
        in = LANES_WHERE(in, n[lane] < 9);
    }
    take(hash, all, 8);
    set(all, 9, all);
}

static void expect_loops(uint32_t all)
{
    uint32_t hash[LANES] = {0};
    expect_counted_loops(all, hash);
    // max(1, largest lane % 6) rounds: the first one happens before the condition.
    set(all, 5, 5);
    for (unsigned value = 0; value < 7; value++) {
        uint32_t same = LANES_WHERE(all, lane * 5 % 7 == value);
        set(same, 6, (uint32_t)__builtin_popcount(same));
    }
    set(all, 7, all);
    expect_while(all, hash);
    uint32_t in = LANES_WHERE(all, lane % 6 != 5);
    set(in, 10, in);
    for (unsigned m = 0; m < 4; m++) {
        in = LANES_WHERE(in, lane % 6 != m);
        set(in, 11 + (int)m, in);
    }
    set(in, 15, in);
}

static void check(const char *kernel, void (*expect)(uint32_t all))
{
    uint32_t got[THREADS][RESULTS];
    ref_worst worst[RESULTS] = {{0}};
    memset(got, UNSET & 0xff, sizeof got);
    RUN(.kernel = kernel, .threads = {THREADS}, .group = {THREADS}, .args = {BUF(got)});
    for (unsigned first = 0; first < THREADS; first += LANES) {
        unsigned count = THREADS - first < LANES ? THREADS - first : LANES;
        memset(want, UNSET & 0xff, sizeof want);
        expect(count == LANES ? ~0u : (1u << count) - 1);
        for (unsigned lane = 0; lane < count; lane++)
            for (int result = 0; result < RESULTS; result++)
                ref_same(&worst[result], got[first + lane][result], want[lane][result], first + lane);
    }
    for (int result = 0; result < RESULTS; result++) {
        char what[60];
        snprintf(what, sizeof what, "%s: r[%d]", kernel, result);
        CHECK_WORST(&worst[result], what);
    }
}

int main(void)
{
    msl_load("divergence.metal");
    check("branches", expect_branches);
    check("loops", expect_loops);
    return msl_end();
}
