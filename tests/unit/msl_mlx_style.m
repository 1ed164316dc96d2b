// SPDX-License-Identifier: MIT
// Kernels in the manner of MLX against double precision: gemm with fragments, reduce, arg-reduce, scan, sort.
#include "msl/harness.h"
#include "msl/reference.h"

typedef struct type {
    const ref_format *format;
    size_t size;
} type;
static const type float_type = {&ref_float, 4}, half_type = {&ref_half, 2}, bfloat_type = {&ref_bfloat, 2};

static double put(const type *t, void *bytes, int i, double x)
{
    uint32_t bits = ref_encode(t->format, x);
    memcpy((char *)bytes + (size_t)i * t->size, &bits, t->size);
    return ref_decode(t->format, bits);
}
static double get(const type *t, const void *bytes, int i)
{
    uint32_t bits = 0;
    memcpy(&bits, (const char *)bytes + (size_t)i * t->size, t->size);
    return ref_decode(t->format, bits);
}

static void gemm(const char *kernel, const type *t, int M, int N, int K, bool transpose)
{
    enum { MOST = 80 * 80 };
    static float a[MOST], b[MOST], d[MOST];
    static double av[MOST], bv[MOST];
    int32_t params[3] = {M, N, K};
    ref_worst worst = {0};
    for (int i = 0; i < MOST; i++) {
        av[i] = put(t, a, i, ref_random(-1, 1));
        bv[i] = put(t, b, i, ref_random(-1, 1));
        put(t, d, i, 99);
    }
    RUN(.kernel = kernel, .groups = {(unsigned)(N + 31) / 32, (unsigned)(M + 31) / 32}, .group = {32, 2, 2},
        .args = {BUF(a), BUF(b), BUF(d), VAL(params)});
    for (int i = 0; i < M * N; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++)
            sum += av[i / N * K + k] * (transpose ? bv[i % N * K + k] : bv[k * N + i % N]);
        double got = get(t, d, i), allowed = 1e-5 + (t == &float_type ? 0 : ref_ulp(t->format, sum));
        ref_note(&worst, fabs(got - sum), allowed, got, sum, i);
    }
    ref_same(&worst, get(t, d, M * N), 99, M * N); // nothing beyond the end
    CHECK_WORST(&worst, kernel);
}

static void reduce(void)
{
    enum { N = 9999 };
    static float f[N];
    static uint8_t u[N];
    static uint16_t h[N], b[N];
    float f_sum[1];
    int32_t u_sum[1];
    uint16_t h_max[1], b_max[1];
    double sum = 0, whole = 0, largest_h = -INFINITY, largest_b = -INFINITY;
    uint64_t n = N;
    for (int i = 0; i < N; i++) {
        sum += f[i] = ref_random(-1, 1);
        whole += u[i] = (uint8_t)ref_bits();
        largest_h = fmax(largest_h, put(&half_type, h, i, ref_random(-900, -1)));
        largest_b = fmax(largest_b, put(&bfloat_type, b, i, ref_random(-900, 50)));
    }
    RUN(.kernel = "all_reduce_sum_float32", .groups = {1}, .group = {256},
        .args = {BUF(f), BUF(f_sum), VAL(n)});
    RUN(.kernel = "all_reduce_sum_uint8", .groups = {1}, .group = {1024},
        .args = {BUF(u), BUF(u_sum), VAL(n)});
    RUN(.kernel = "all_reduce_max_float16", .groups = {1}, .group = {32},
        .args = {BUF(h), BUF(h_max), VAL(n)});
    RUN(.kernel = "all_reduce_max_bfloat16", .groups = {1}, .group = {96},
        .args = {BUF(b), BUF(b_max), VAL(n)});
    CHECK_NEAR(f_sum[0], sum, 1e-3);
    CHECK_NEAR(u_sum[0], whole, 0);
    CHECK_NEAR(get(&half_type, h_max, 0), largest_h, 0);
    CHECK_NEAR(get(&bfloat_type, b_max, 0), largest_b, 0);
}

static void arg_reduce(void)
{
    enum { ROWS = 9, N = 777 };
    static float x[ROWS][N];
    uint32_t out[ROWS];
    uint64_t n = N;
    // Whole numbers, so that the largest comes more than once and the first must win.
    for (int i = 0; i < ROWS * N; i++)
        x[i / N][i % N] = (float)(ref_bits() % 50) - 100;
    RUN(.kernel = "argmax_float32", .groups = {ROWS}, .group = {128}, .args = {BUF(x), BUF(out), VAL(n)});
    for (int r = 0; r < ROWS; r++) {
        int best = 0;
        for (int i = 1; i < N; i++)
            best = x[r][i] > x[r][best] ? i : best;
        CHECK_EQ(out[r], best);
    }
}

static void scan(void)
{
    enum { ROWS = 3, N = 1500 };
    static float f[ROWS * N], f_out[ROWS * N];
    static int8_t c[ROWS * N];
    static int32_t c_out[ROWS * N];
    uint64_t n = N;
    ref_worst inclusive = {0}, exclusive = {0};
    double f_sum = 0;
    int c_sum = 0;
    for (int i = 0; i < ROWS * N; i++)
        f[i] = ref_random(0, 1), c[i] = (int8_t)ref_bits();
    RUN(.kernel = "scan_inclusive_float", .groups = {ROWS}, .group = {128},
        .args = {BUF(f), BUF(f_out), VAL(n)});
    RUN(.kernel = "scan_exclusive_char", .groups = {ROWS}, .group = {64},
        .args = {BUF(c), BUF(c_out), VAL(n)});
    for (int i = 0; i < ROWS * N; i++) {
        f_sum = i % N ? f_sum + f[i] : f[i];
        ref_note(&inclusive, fabs(f_out[i] - f_sum), 1e-3, f_out[i], f_sum, i);
        c_sum = i % N ? c_sum + c[i - 1] : 0;
        ref_same(&exclusive, c_out[i], c_sum, i);
    }
    CHECK_WORST(&inclusive, "scan_inclusive_float");
    CHECK_WORST(&exclusive, "scan_exclusive_char");
}

static void sort(const char *kernel, const type *t, int n, unsigned group, bool with_index)
{
    enum { ROWS = 4, MOST = 256 };
    static float in[ROWS * MOST], out[ROWS * MOST];
    static uint32_t at[ROWS * MOST];
    int32_t size = n;
    double sum_in = 0, sum_out = 0;
    ref_worst order = {0};
    for (int i = 0; i < ROWS * n; i++)
        sum_in += put(t, in, i, i % 5 ? ref_random(-9, 9) : (double)(int)ref_random(-9, 9));
    RUN(.kernel = kernel, .groups = {1, ROWS}, .group = {group},
        .args = {BUF(in), BUF(out), BUF(at), VAL(size)});
    for (int i = 0; i < ROWS * n; i++) {
        double got = get(t, out, i);
        sum_out += got;
        if (i % n)
            ref_note(&order, get(t, out, i - 1) <= got ? 0 : 1, 0, got, get(t, out, i - 1), i);
        if (with_index) {
            ref_same(&order, got, get(t, in, i / n * n + (int)at[i]), i);
            if (i % n && get(t, out, i - 1) == got) // stable
                ref_note(&order, at[i - 1] < at[i] ? 0 : 1, 0, at[i], at[i - 1], i);
        }
    }
    CHECK_WORST(&order, kernel);
    CHECK_NEAR(sum_out, sum_in, 1e-9);
}

int main(void)
{
    msl_load("mlx_style.metal");
    gemm("gemm_nn_float32", &float_type, 64, 64, 48, false);
    gemm("gemm_nn_float32", &float_type, 61, 75, 39, false);
    gemm("gemm_nt_float16", &half_type, 33, 40, 50, true);
    gemm("gemm_nt_bfloat16", &bfloat_type, 70, 31, 16, true);
    reduce();
    arg_reduce();
    scan();
    sort("sort_float", &float_type, 256, 64, true);
    sort("sort_float", &float_type, 201, 64, true);
    sort("sort_half", &half_type, 230, 128, false);
    return msl_end();
}
