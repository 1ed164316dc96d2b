// SPDX-License-Identifier: MIT
// Matrices of all nine shapes in float and half against plain loops over doubles, and their layout in memory.
#include "msl/harness.h"
#include "msl/reference.h"

enum { N = 33, RESULTS = 9, SHAPES = 9, INPUTS = 64 };

// in: a, b, s (16 numbers each, column by column, columns of four) and a vector; w: the results alike.
static void expect(const float *in, int C, int R, double w[RESULTS][16])
{
    const float *a = in, *b = in + 16, *s = in + 32, *v = in + 48;
    for (int c = 0; c < C; c++) {
        w[7][c] = 0;
        for (int r = 0; r < R; r++) {
            int at = 4 * c + r;
            double product = 0;
            w[0][at] = a[at] + b[at];
            w[1][at] = a[at] - b[at];
            w[2][at] = a[at] * 2.0 + 0.5 * b[at];
            w[3][at] = -a[at];
            for (int k = 0; k < C; k++)
                product += (double)a[4 * k + r] * s[4 * c + k];
            w[4][at] = product;
            w[5][4 * r + c] = a[at];
            w[6][r] = (c ? w[6][r] : 0) + (double)a[at] * v[c];
            w[7][c] += (double)a[at] * v[r];
            w[8][at] = c == 0 ? b[4 + r] : a[at] + b[at];
            if (c == C - 1 && r == 1)
                w[8][at] *= 3;
        }
    }
}

static void shapes(const char *kernel)
{
    static float in[N][INPUTS], out[N][SHAPES][RESULTS][16];
    // Small whole numbers and halves: every result is exact in half too.
    for (int i = 0; i < N * INPUTS; i++)
        in[i / INPUTS][i % INPUTS] = (float)((int)(ref_bits() % 17) - 8) / 2;
    for (size_t i = 0; i < sizeof out / 4; i++)
        ((float *)out)[i] = NAN;
    RUN(.kernel = kernel, .threads = {N}, .group = {32}, .args = {BUF(in), BUF(out)});
    for (int shape = 0; shape < SHAPES; shape++) {
        ref_worst worst[RESULTS] = {{0}};
        for (int i = 0; i < N; i++) {
            double want[RESULTS][16];
            for (int k = 0; k < RESULTS * 16; k++)
                want[k / 16][k % 16] = NAN;
            expect(in[i], shape / 3 + 2, shape % 3 + 2, want);
            for (int k = 0; k < RESULTS * 16; k++)
                ref_same(&worst[k / 16], out[i][shape][k / 16][k % 16], want[k / 16][k % 16], k % 16);
        }
        for (int r = 0; r < RESULTS; r++) {
            char what[60];
            snprintf(what, sizeof what, "%s %dx%d, result %d", kernel, shape / 3 + 2, shape % 3 + 2, r);
            CHECK_WORST(&worst[r], what);
        }
    }
}

static double determinant(const double *m, int n, int stride)
{
    if (n == 1)
        return m[0];
    double sum = 0, minor[16];
    for (int k = 0; k < n; k++) {
        for (int c = 0, to = 0; c < n; c++)
            if (c != k) {
                for (int r = 1; r < n; r++)
                    minor[4 * to + r - 1] = m[stride * c + r];
                to++;
            }
        sum += (k % 2 ? -1 : 1) * m[stride * k] * determinant(minor, n - 1, 4);
    }
    return sum;
}

typedef struct transform {
    float turn[12], place[16];
    uint16_t small[4];
    uint16_t unused[4];
} transform;

static void others(void)
{
    transform t = {{0}, {0}, {0, 0, 0x4500, 0}, {0}}; // 5.0
    float out[16] = {0};
    double turn[12], place[16];
    for (int i = 0; i < 16; i++)
        place[i] = t.place[i] = ref_random(-3, 3);
    for (int i = 0; i < 12; i++)
        turn[i] = t.turn[i] = ref_random(-3, 3);
    RUN(.kernel = "others", .threads = {1}, .group = {1}, .args = {VAL(t), BUF(out)});
    CHECK_NEAR(out[0], determinant(place, 2, 4), 1e-5);
    CHECK_NEAR(out[1], determinant(turn, 3, 4), 1e-4);
    CHECK_NEAR(out[2], determinant(place, 4, 4), 1e-3);
    CHECK_EQ(out[3], 32);
    CHECK_EQ(out[4], 2);
    CHECK_EQ(out[5], 83);
    CHECK_EQ(out[6], 5);
    CHECK_EQ(out[7], 128);
    CHECK_EQ(out[8], 48 + 1600);
    CHECK_EQ(out[9], 32 + 3200);
    CHECK_NEAR(out[10], ref_round(&ref_half, place[13]), 0);
    CHECK_NEAR(out[11], 2 * place[7], 0);
    for (int r = 0; r < 4; r++)
        CHECK_NEAR(out[12 + r], place[r] + 2 * place[4 + r] + 3 * place[8 + r] + place[12 + r], 1e-5);
}

int main(void)
{
    msl_load("matrix.metal");
    shapes("shapes_float");
    shapes("shapes_half");
    others();
    return msl_end();
}
