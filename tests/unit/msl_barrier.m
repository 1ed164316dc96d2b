// SPDX-License-Identifier: MIT
// Barriers in loops, helpers, switches and after early returns; threadgroup memory as argument and as
// variable. References go step by step over plain arrays.
#include "msl/harness.h"
#include "msl/reference.h"

static void tree_sum(unsigned group, unsigned groups)
{
    float in[4096], out[64] = {0};
    ref_worst worst = {0};
    for (unsigned i = 0; i < group * groups; i++)
        in[i] = ref_random(-1, 1);
    RUN(.kernel = "tree_sum", .groups = {groups}, .group = {group},
        .args = {BUF(in), BUF(out), SHARED((group + 3) / 4 * 16)});
    for (unsigned g = 0; g < groups; g++) {
        double sum = 0;
        for (unsigned i = 0; i < group; i++)
            sum += in[g * group + i];
        ref_note(&worst, fabs(out[g] - sum), 2e-5, out[g], sum, g);
    }
    CHECK_WORST(&worst, "tree_sum");
}

static void helpers(void)
{
    enum { N = 256 };
    int in[N];
    float out[N][8] = {{0}};
    ref_worst worst[8] = {{0}};
    for (int i = 0; i < N; i++)
        in[i] = (int)(ref_bits() % 200) - 100;
    RUN(.kernel = "helpers", .groups = {1}, .group = {N}, .args = {BUF(in), BUF(out)});
    for (int t = 0; t < N; t++) {
        double three = 0, five = 0;
        int other = t % 16 * 16 + t / 16;
        for (int k = 0; k < 5; k++) {
            three += k < 3 ? in[(t + k) % N] : 0;
            five += in[(t + k) % N] * 0.5;
        }
        const double want[8] = {three,      five,       three + 3,
                                in[77] * 2, in[77] * 3, in[t % 4] + in[3 - t % 4] + 3,
                                in[other],  in[1] + 2};
        for (int r = 0; r < 8; r++)
            ref_same(&worst[r], out[t][r], want[r], t);
    }
    for (int r = 0; r < 8; r++)
        CHECK_WORST(&worst[r], "helpers");
}

static void smooth_reference(double *one, unsigned n, unsigned rounds)
{
    double two[1024];
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned t = 0; t < n; t++)
            two[t] = 0.25 * one[(t + n - 1) % n] + 0.5 * one[t] + 0.25 * one[(t + 1) % n];
        for (unsigned t = 0; t < n; t++) {
            if (round % 3 == 2)
                one[n - 1 - t] = two[t];
            else
                one[t] = round % 2 ? two[t] * 0.5 : two[t] + 1;
        }
    }
}

static void smooth(unsigned n, uint32_t rounds)
{
    float data[1024];
    double one[1024];
    ref_worst worst = {0};
    for (unsigned i = 0; i < n; i++)
        one[i] = data[i] = ref_random(-1, 1);
    RUN(.kernel = "smooth", .groups = {1}, .group = {n},
        .args = {MEM(data, n * sizeof *data), VAL(rounds), SHARED((n + 3) / 4 * 16),
                 SHARED((n + 3) / 4 * 16)});
    smooth_reference(one, n, rounds);
    for (unsigned i = 0; i < n; i++)
        ref_note(&worst, fabs(data[i] - one[i]), 1e-5, data[i], one[i], i);
    CHECK_WORST(&worst, "smooth");
}

static void early_return(uint32_t stay)
{
    enum { N = 256, UNSET = -7 };
    int in[N], out[N];
    ref_worst worst = {0};
    for (int i = 0; i < N; i++)
        in[i] = (int)(ref_bits() % 1000), out[i] = UNSET;
    RUN(.kernel = "early_return", .groups = {1}, .group = {N}, .args = {BUF(in), BUF(out), VAL(stay)});
    for (int t = 0; t < N; t++) {
        int want = UNSET, cell = t / 5 * 5, lanes = 0;
        for (int other = cell / 32 * 32; other < cell / 32 * 32 + 32 && other < (int)stay; other++)
            lanes += other % 5 != 4;
        if (t < (int)stay && t % 5 != 4)
            want = (in[(int)stay - 1 - cell] + lanes) * 2;
        ref_same(&worst, out[t], want, t);
    }
    CHECK_WORST(&worst, "early_return");
}

static void within_simd(void)
{
    enum { N = 128 };
    int data[N], want[N], next[N];
    ref_worst worst = {0};
    for (int i = 0; i < N; i++)
        want[i] = data[i] = (int)(ref_bits() % 100);
    RUN(.kernel = "within_simd", .groups = {1}, .group = {N}, .args = {BUF(data)});
    for (int round = 0; round < 5; round++) {
        for (int t = 0; t < N; t++)
            next[t / 32 * 32 + (t + 5) % 32] = want[t / 32 * 32 + (t + 1) % 32] * 3 + t % 32;
        memcpy(want, next, sizeof want);
    }
    for (int t = 0; t < N; t++)
        ref_same(&worst, data[t], want[t], t);
    CHECK_WORST(&worst, "within_simd");
}

static void dynamic(void)
{
    float out[64] = {0};
    ref_worst worst = {0};
    RUN(.kernel = "dynamic", .groups = {1}, .group = {64},
        .args = {BUF(out), SHARED(64), SHARED(1024), SHARED(128)});
    for (int t = 0; t < 64; t++) {
        int o = 63 - t;
        ref_same(&worst, out[t], (o - 32) + (o + 3) + o * 0.5 + o * 100.0, t);
    }
    CHECK_WORST(&worst, "dynamic");
}

int main(void)
{
    msl_load("barrier.metal");
    tree_sum(256, 5);
    tree_sum(1000, 3);
    tree_sum(45, 7);
    helpers();
    smooth(256, 10);
    smooth(33, 7);
    smooth(1024, 4);
    smooth(64, 0);
    early_return(256);
    early_return(128);
    early_return(100);
    early_return(3);
    within_simd();
    dynamic();
    return msl_end();
}
