// SPDX-License-Identifier: MIT
// simdgroup matrices in float, half and bfloat against triple loops over doubles, in both representations
// (with and without thread_elements). All numbers are such that sums are exact in the narrowest type.
#include "msl/harness.h"
#include "msl/reference.h"

typedef struct type {
    const char *name;
    const ref_format *format;
    int size;
} type;
static const type types[] = {{"float", &ref_float, 4}, {"half", &ref_half, 2}, {"bfloat", &ref_bfloat, 2}};
enum { FLOAT, HALF, BFLOAT };

static void put(const type *t, uint8_t *bytes, int i, double x)
{
    uint32_t bits = ref_encode(t->format, x);
    memcpy(bytes + i * t->size, &bits, (size_t)t->size);
}
static double get(const type *t, const uint8_t *bytes, int i)
{
    uint32_t bits = 0;
    memcpy(&bits, bytes + i * t->size, (size_t)t->size);
    return ref_decode(t->format, bits);
}
// Whole numbers from -3 to 3: a sum of eight products is below 2^7, exact in bfloat too.
static double small(void)
{
    return (double)(ref_bits() % 7) - 3;
}

static void product(int dt, int at, int bt)
{
    enum { SIMDS = 3 };
    const type *D = &types[dt], *A = &types[at], *B = &types[bt];
    static uint8_t a[4096], b[4096], d[4096];
    double av[512], bv[512], dv[SIMDS * 64];
    ref_worst worst = {0};
    char kernel[60];
    for (int i = 0; i < 512; i++) {
        put(A, a, i, av[i] = small());
        put(B, b, i, bv[i] = small());
    }
    for (int i = 0; i < SIMDS * 64; i++)
        put(D, d, i, dv[i] = small());
    snprintf(kernel, sizeof kernel, "product_%s_%s_%s", D->name, A->name, B->name);
    RUN(.kernel = kernel, .groups = {1}, .group = {SIMDS * 32}, .args = {BUF(a), BUF(b), BUF(d)});
    for (int i = 0; i < SIMDS * 64; i++) {
        int simd = i / 64, row = i / 8 % 8, column = i % 8;
        double sum = dv[i];
        for (int k = 0; k < 8; k++) // b is transposed
            sum += av[simd * 3 + (row + 1) * 20 + k + 2] * bv[simd * 3 + (column + 3) * 24 + k + 4];
        ref_same(&worst, get(D, d, i), sum, i);
    }
    CHECK_WORST(&worst, kernel);
}

static double times(const double *a, int a_step, const double *b, int b_step, int row, int column, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * a_step + k] * b[k * b_step + column];
    return sum;
}

static void expect_forms(const double *a, const double *b, double *w)
{
    for (int i = 0; i < 64; i++) {
        int row = i / 8, column = i % 8;
        double x = a[row * 16 + column + 8], sum = 0;
        w[row * 16 + column] = x;
        w[column * 16 + row + 8] = x;
        for (int k = 0; k < 8; k++)
            sum += a[row * 16 + k + 8] * a[(column + 8) * 16 + k + 8];
        w[128 + i] = sum;
        w[192 + i] = 2.5;
        w[256 + i] = row == column ? 3 : 0;
        w[576 + i] = times(b, 16, a, 16, row, column, 8) + a[row * 16 + column];
    }
    for (int i = 0; i < 256; i++)
        w[320 + i] = times(a, 16, a, 16, i / 16, i % 16, 16);
    for (int i = 0; i < 128; i++) {
        int row = i / 16 - 1, column = i % 16 - 1; // the origin 1 is (1, 1)
        w[640 + i] = row >= 0 && column >= 0 && column < 8 ? w[576 + row * 8 + column] : a[i];
    }
}

static void forms(void)
{
    float a[256], out[1024] = {0};
    uint16_t b[256], narrow[64] = {0};
    double av[256], bv[256], want[768];
    ref_worst worst = {0};
    for (int i = 0; i < 256; i++) {
        av[i] = a[i] = (float)small();
        bv[i] = small();
        b[i] = (uint16_t)ref_encode(&ref_half, bv[i]);
    }
    RUN(.kernel = "forms", .groups = {1}, .group = {32},
        .args = {BUF(a), BUF(b), BUF(out), BUF(narrow), SHARED(1024)});
    expect_forms(av, bv, want);
    for (int i = 0; i < 768; i++)
        ref_same(&worst, out[i], want[i], i);
    for (int i = 0; i < 64; i++) {
        int at = i / 8 * 16 + i % 8;
        ref_same(&worst, narrow[i], b[at], 10000 + i);
    }
    CHECK_WORST(&worst, "forms");
}

static void expect_elements(const double *a, double *w)
{
    const double *x = a, *half_y = a + 64;
    double y[64];
    for (int i = 0; i < 64; i++) {
        w[i] = x[i];
        w[64 + i] = y[i] = 2 * half_y[i];
        w[256 + i] = 2.5;
    }
    for (int i = 0; i < 64; i++) {
        int row = i / 8, column = i % 8;
        double z = times(x, 8, y, 8, row, column, 8), other = y[i];
        w[128 + column * 8 + row] = column % 2 ? z * 2 : z + 1;
        for (int k = 0; k < 8; k++)
            other += x[row * 8 + k] * half_y[column * 8 + k];
        w[192 + i] = other;
    }
}

static void elements(int which)
{
    const type *t = &types[which];
    uint8_t a[512], out[320 * 4] = {0};
    uint16_t places[32][2] = {{0}};
    double av[128], want[320];
    ref_worst worst = {0};
    char kernel[40];
    bool seen[64] = {false};
    for (int i = 0; i < 128; i++)
        put(t, a, i, av[i] = small());
    snprintf(kernel, sizeof kernel, "elements_%s", t->name);
    RUN(.kernel = kernel, .groups = {1}, .group = {32}, .args = {BUF(a), BUF(out), BUF(places)});
    expect_elements(av, want);
    for (int i = 0; i < 320; i++)
        ref_same(&worst, get(t, out, i), ref_round(t->format, want[i]), i);
    CHECK_WORST(&worst, kernel);
    for (int lane = 0; lane < 32; lane++)
        seen[places[lane][1] * 8 + places[lane][0]] = seen[places[lane][1] * 8 + places[lane][0] + 1] = true;
    for (int i = 0; i < 64; i++)
        CHECK(seen[i]);
}

int main(void)
{
    msl_load("tiles.metal");
    product(FLOAT, FLOAT, FLOAT);
    product(FLOAT, HALF, HALF);
    product(HALF, HALF, HALF);
    product(FLOAT, HALF, FLOAT);
    product(FLOAT, BFLOAT, BFLOAT);
    product(BFLOAT, BFLOAT, BFLOAT);
    forms();
    msl_load("tiles_elements.metal");
    elements(FLOAT);
    elements(HALF);
    elements(BFLOAT);
    return msl_end();
}
