// SPDX-License-Identifier: MIT
// The benchmark's cases: sizes as they occur in inference of language models, how each is dispatched on both
// sides, and what counts as its work. New cases are rows of the table at the end.
#include "bench/cases.h"

#include <math.h>
#include <string.h>

enum { F32 = 4, F16 = 2, BLOCK = 32, Q8_0 = 34, Q4_0 = 18 }; // bytes, and weights of a block

static void add_buffer(bench_data *data, size_t bytes)
{
    data->bytes[data->buffer_count++] = bytes;
}

static void add_param(bench_data *data, uint32_t value)
{
    data->param[data->param_count++] = value;
}

static void add_float_param(bench_data *data, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_param(data, bits);
}

// ---- matrix-matrix: size[0] is n ----

static void matmul_lay_out(const bench_case *self, bench_data *data)
{
    for (int i = 0; i < 3; i++)
        add_buffer(data, (size_t)self->size[0] * self->size[0] * F32);
    add_param(data, self->size[0]);
}

static double matmul_work(const bench_case *self)
{
    return 2.0 * self->size[0] * self->size[0] * self->size[0];
}

// ---- matrix-vector: size is rows, columns; work is the bytes of the matrix, which is read once ----

static double matvec_bytes(const bench_case *self, double weight_bytes)
{
    return weight_bytes * self->size[0] * self->size[1];
}

static void matvec_lay_out(const bench_case *self, bench_data *data)
{
    add_buffer(data, (size_t)self->work(self));
    add_buffer(data, (size_t)self->size[1] * F32);
    add_buffer(data, (size_t)self->size[0] * F32);
    add_param(data, self->size[1]);
}

static double matvec_f32_work(const bench_case *self)
{
    return matvec_bytes(self, F32);
}

static double matvec_f16_work(const bench_case *self)
{
    return matvec_bytes(self, F16);
}

static double matvec_q8_0_work(const bench_case *self)
{
    return matvec_bytes(self, (double)Q8_0 / BLOCK);
}

static double matvec_q4_0_work(const bench_case *self)
{
    return matvec_bytes(self, (double)Q4_0 / BLOCK);
}

// ---- softmax and norm: size is rows, columns; work is one read and one write ----

static double rows_work(const bench_case *self)
{
    return 2.0 * F32 * self->size[0] * self->size[1];
}

static void rows_lay_out(const bench_case *self, bench_data *data)
{
    add_buffer(data, (size_t)self->size[0] * self->size[1] * F32);
    add_buffer(data, (size_t)self->size[0] * self->size[1] * F32);
    add_param(data, self->size[1]);
}

// ---- attention: size is heads, tokens ----

static void attention_lay_out(const bench_case *self, bench_data *data, size_t queries, size_t width)
{
    size_t head = width * F32;
    add_buffer(data, self->size[0] * queries * head);
    add_buffer(data, self->size[0] * self->size[1] * head);
    add_buffer(data, self->size[0] * self->size[1] * head);
    add_buffer(data, self->size[0] * queries * head);
    add_param(data, self->size[1]);
    add_float_param(data, 1.0f / sqrtf((float)width));
}

static void prefill_lay_out(const bench_case *self, bench_data *data)
{
    attention_lay_out(self, data, self->size[1], PREFILL_WIDTH);
}

static void decode_lay_out(const bench_case *self, bench_data *data)
{
    attention_lay_out(self, data, 1, DECODE_WIDTH);
}

// Two products over the half of the scores that a causal mask leaves.
static double prefill_work(const bench_case *self)
{
    return 2.0 * self->size[0] * self->size[1] * self->size[1] * PREFILL_WIDTH;
}

static double decode_work(const bench_case *self)
{
    return 2.0 * F32 * self->size[0] * self->size[1] * DECODE_WIDTH;
}

// ---- plain kernels: size is count, threads ----

static void saxpy_lay_out(const bench_case *self, bench_data *data)
{
    add_buffer(data, (size_t)self->size[0] * F32);
    add_buffer(data, (size_t)self->size[0] * F32);
    add_param(data, self->size[0]);
    add_param(data, self->size[1]);
}

static void counting_lay_out(const bench_case *self, bench_data *data)
{
    add_buffer(data, (size_t)self->size[0] * sizeof(uint32_t));
    add_buffer(data, HISTOGRAM_BINS * sizeof(uint32_t));
    add_param(data, self->size[0]);
    add_param(data, self->size[1]);
}

static double saxpy_work(const bench_case *self)
{
    return 3.0 * F32 * self->size[0];
}

static double counting_work(const bench_case *self)
{
    return (double)sizeof(uint32_t) * self->size[0];
}

// ---- the table ----

#define SAME_GRID(...) .metal_groups = __VA_ARGS__, .opencl_groups = __VA_ARGS__
#define SAME_THREADS(...) .metal_threads = __VA_ARGS__, .opencl_threads = __VA_ARGS__
#define SAME_KERNEL(text) .metal_kernel = (text), .opencl_kernel = (text)

#define MATMUL(n)                                                                                            \
    .file = "matmul", .size = {n}, .lay_out = matmul_lay_out, .fill = bench_fill_floats,                     \
    .error = bench_matmul_error, .tolerance = 1e-5, .work = matmul_work, .unit = "GFLOP/s"

#define MATVEC(rows, columns, type)                                                                          \
    .file = "matvec", .size = {rows, columns}, SAME_GRID({rows, 1, 1}), SAME_THREADS({32, 1, 1}),            \
    .lay_out = matvec_lay_out, .fill = bench_fill_##type, .error = bench_matvec_##type##_error,              \
    .tolerance = 1e-5, .work = matvec_##type##_work, .unit = "GB/s", .opencl_kernel = "matvec_" #type,       \
    .barriers = true

#define ROWS(rows, columns)                                                                                  \
    .file = "rows", .size = {rows, columns}, SAME_GRID({rows, 1, 1}), SAME_THREADS({256, 1, 1}),             \
    .lay_out = rows_lay_out, .fill = bench_fill_floats, .work = rows_work, .unit = "GB/s",                   \
    .tolerance = 1e-5, .barriers = true

#define DECODE(heads, tokens)                                                                                \
    .file = "attention", .size = {heads, tokens}, SAME_GRID({heads, 1, 1}),                                  \
    SAME_THREADS({DECODE_WIDTH, 1, 1}), .lay_out = decode_lay_out, .fill = bench_fill_floats,                \
    .error = bench_decode_error, .tolerance = 1e-5, .work = decode_work, .unit = "GB/s", .barriers = true

#define PLAIN(count, threads)                                                                                \
    .file = "plain", .size = {count, threads}, SAME_GRID({(threads) / 256, 1, 1}),                           \
    SAME_THREADS({256, 1, 1}), .unit = "GB/s"

const bench_case bench_cases[] = {
    {.name = "matmul naive",
     MATMUL(512),
     SAME_KERNEL("matmul_naive"),
     SAME_GRID({32, 32, 1}),
     SAME_THREADS({16, 16, 1})},
    {.name = "matmul tiled",
     MATMUL(512),
     SAME_KERNEL("matmul_tiled"),
     SAME_GRID({32, 32, 1}),
     SAME_THREADS({16, 16, 1}),
     .barriers = true},
    {.name = "matmul simdgroup / tiled",
     MATMUL(512),
     .metal_kernel = "matmul_simdgroup",
     .opencl_kernel = "matmul_tiled",
     .metal_groups = {16, 16, 1},
     .metal_threads = {128, 1, 1},
     .opencl_groups = {32, 32, 1},
     .opencl_threads = {16, 16, 1},
     .barriers = true},
    {.name = "matvec f32 simd / tree", MATVEC(4096, 4096, f32), .metal_kernel = "matvec_f32"},
    {.name = "matvec f16 simd / tree", MATVEC(4096, 4096, f16), .metal_kernel = "matvec_f16"},
    {.name = "matvec q8_0 simd / tree", MATVEC(4096, 4096, q8_0), .metal_kernel = "matvec_q8_0"},
    {.name = "matvec q4_0 simd / tree", MATVEC(4096, 4096, q4_0), .metal_kernel = "matvec_q4_0"},
    {.name = "matvec f32 tree", MATVEC(4096, 4096, f32), .metal_kernel = "matvec_local_f32"},
    {.name = "matvec f16 tree", MATVEC(4096, 4096, f16), .metal_kernel = "matvec_local_f16"},
    {.name = "matvec q8_0 tree", MATVEC(4096, 4096, q8_0), .metal_kernel = "matvec_local_q8_0"},
    {.name = "matvec q4_0 tree", MATVEC(4096, 4096, q4_0), .metal_kernel = "matvec_local_q4_0"},
    {.name = "softmax simd / tree",
     ROWS(256, 4096),
     .error = bench_softmax_error,
     .metal_kernel = "softmax",
     .opencl_kernel = "softmax"},
    {.name = "softmax tree",
     ROWS(256, 4096),
     .error = bench_softmax_error,
     .metal_kernel = "softmax_local",
     .opencl_kernel = "softmax"},
    {.name = "rms norm simd / tree",
     ROWS(256, 4096),
     .error = bench_rms_norm_error,
     .metal_kernel = "rms_norm",
     .opencl_kernel = "rms_norm"},
    {.name = "rms norm tree",
     ROWS(256, 4096),
     .error = bench_rms_norm_error,
     .metal_kernel = "rms_norm_local",
     .opencl_kernel = "rms_norm"},
    {.name = "attention prefill",
     .file = "attention",
     SAME_KERNEL("attention_prefill"),
     .size = {8, 256},
     SAME_GRID({16, 8, 1}),
     SAME_THREADS({16, 16, 1}),
     .lay_out = prefill_lay_out,
     .fill = bench_fill_floats,
     .error = bench_prefill_error,
     .tolerance = 1e-5,
     .work = prefill_work,
     .unit = "GFLOP/s",
     .barriers = true},
    {.name = "attention decode simd / tree", DECODE(32, 1024), SAME_KERNEL("attention_decode")},
    {.name = "attention decode tree", DECODE(32, 1024), SAME_KERNEL("attention_decode_local")},
    {.name = "saxpy",
     PLAIN(1 << 22, 1 << 22),
     SAME_KERNEL("saxpy"),
     .lay_out = saxpy_lay_out,
     .fill = bench_fill_floats,
     .error = bench_saxpy_error,
     .tolerance = 1e-6,
     .work = saxpy_work},
    {.name = "sum, atomic add",
     PLAIN(1 << 22, 1 << 15),
     SAME_KERNEL("sum_atomic"),
     .lay_out = counting_lay_out,
     .fill = bench_fill_counting,
     .error = bench_sum_error,
     .work = counting_work,
     .barriers = true},
    {.name = "histogram, local atomics",
     PLAIN(1 << 22, 1 << 15),
     SAME_KERNEL("histogram"),
     .lay_out = counting_lay_out,
     .fill = bench_fill_counting,
     .error = bench_histogram_error,
     .work = counting_work,
     .barriers = true},
};
const size_t bench_case_count = sizeof bench_cases / sizeof *bench_cases;
