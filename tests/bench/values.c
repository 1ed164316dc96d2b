// SPDX-License-Identifier: MIT
// What the benchmark's kernels work on, and the check of their results against double precision. Values come
// from a hash of their place, so that filling twice gives the same. Of large results a part is checked.
#include "bench/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED_ROWS = 16, BLOCK = 32 };

typedef struct block_q8_0 {
    _Float16 d;
    int8_t q[BLOCK];
} block_q8_0;

typedef struct block_q4_0 {
    _Float16 d;
    uint8_t q[BLOCK / 2];
} block_q4_0;

// ---- filling ----

static uint32_t hash(uint32_t seed, size_t at)
{
    uint32_t x = (uint32_t)at * 0x9e3779b1u + seed * 0x85ebca6bu + 1;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static float value_at(uint32_t seed, size_t at)
{
    return (float)(int32_t)hash(seed, at) * 0x1p-31f;
}

static void fill_buffer(bench_data *data, unsigned buffer)
{
    float *values = data->buffer[buffer];
    for (size_t i = 0; i < data->bytes[buffer] / sizeof *values; i++)
        values[i] = value_at(buffer, i);
}

// Every buffer, results too: a result that is not written is then wrong.
void bench_fill_floats(const bench_case *self, bench_data *data)
{
    (void)self;
    for (unsigned b = 0; b < data->buffer_count; b++)
        fill_buffer(data, b);
}

void bench_fill_f32(const bench_case *self, bench_data *data)
{
    bench_fill_floats(self, data);
}

void bench_fill_f16(const bench_case *self, bench_data *data)
{
    _Float16 *values = data->buffer[0];
    (void)self;
    for (size_t i = 0; i < data->bytes[0] / sizeof *values; i++)
        values[i] = (_Float16)value_at(0, i);
    fill_buffer(data, 1);
    fill_buffer(data, 2);
}

void bench_fill_q8_0(const bench_case *self, bench_data *data)
{
    block_q8_0 *blocks = data->buffer[0];
    (void)self;
    for (size_t i = 0; i < data->bytes[0] / sizeof *blocks; i++) {
        blocks[i].d = (_Float16)(value_at(1, i) / 127);
        for (size_t j = 0; j < BLOCK; j++)
            blocks[i].q[j] = (int8_t)((int)(hash(0, i * BLOCK + j) % 255) - 127);
    }
    fill_buffer(data, 1);
    fill_buffer(data, 2);
}

void bench_fill_q4_0(const bench_case *self, bench_data *data)
{
    block_q4_0 *blocks = data->buffer[0];
    (void)self;
    for (size_t i = 0; i < data->bytes[0] / sizeof *blocks; i++) {
        blocks[i].d = (_Float16)(value_at(1, i) / 8);
        for (size_t j = 0; j < BLOCK / 2; j++)
            blocks[i].q[j] = (uint8_t)hash(0, i * BLOCK + j);
    }
    fill_buffer(data, 1);
    fill_buffer(data, 2);
}

void bench_fill_counting(const bench_case *self, bench_data *data)
{
    uint32_t *values = data->buffer[0];
    for (size_t i = 0; i < self->size[0]; i++)
        values[i] = hash(0, i);
    memset(data->buffer[1], 0, data->bytes[1]);
}

// ---- checking ----

// NaN counts as infinitely wrong.
static double larger(double error, double difference)
{
    double size = fabs(difference);
    return size <= error ? error : size == size ? size : INFINITY;
}

static size_t row_step(size_t rows)
{
    return rows > CHECKED_ROWS ? rows / CHECKED_ROWS : 1;
}

double bench_matmul_error(const bench_case *self, const bench_data *data)
{
    const float *a = data->buffer[0], *b = data->buffer[1], *c = data->buffer[2];
    size_t n = self->size[0];
    double error = 0;
    for (size_t i = 0; i < n; i += row_step(n) - 1) {
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += (double)a[i * n + k] * b[k * n + j];
            error = larger(error, c[i * n + j] - sum);
        }
    }
    return error / sqrt((double)n);
}

static double f32_weight(const void *row, size_t i)
{
    return ((const float *)row)[i];
}

static double f16_weight(const void *row, size_t i)
{
    return (double)((const _Float16 *)row)[i];
}

static double q8_0_weight(const void *row, size_t i)
{
    const block_q8_0 *block = (const block_q8_0 *)row + i / BLOCK;
    return (double)block->d * block->q[i % BLOCK];
}

static double q4_0_weight(const void *row, size_t i)
{
    const block_q4_0 *block = (const block_q4_0 *)row + i / BLOCK;
    size_t at = i % BLOCK;
    int q = at < BLOCK / 2 ? block->q[at] & 15 : block->q[at - BLOCK / 2] >> 4;
    return (double)block->d * (q - 8);
}

static double matvec_error(const bench_case *self, const bench_data *data,
                           double (*weight)(const void *row, size_t i))
{
    size_t rows = self->size[0], columns = self->size[1], row_bytes = (size_t)self->work(self) / rows;
    const float *x = data->buffer[1], *y = data->buffer[2];
    double error = 0;
    for (size_t r = 0; r < rows; r += 3) {
        const char *row = (const char *)data->buffer[0] + r * row_bytes;
        double sum = 0;
        for (size_t i = 0; i < columns; i++)
            sum += weight(row, i) * x[i];
        error = larger(error, y[r] - sum);
    }
    return error / sqrt((double)columns);
}

double bench_matvec_f32_error(const bench_case *self, const bench_data *data)
{
    return matvec_error(self, data, f32_weight);
}

double bench_matvec_f16_error(const bench_case *self, const bench_data *data)
{
    return matvec_error(self, data, f16_weight);
}

double bench_matvec_q8_0_error(const bench_case *self, const bench_data *data)
{
    return matvec_error(self, data, q8_0_weight);
}

double bench_matvec_q4_0_error(const bench_case *self, const bench_data *data)
{
    return matvec_error(self, data, q4_0_weight);
}

double bench_softmax_error(const bench_case *self, const bench_data *data)
{
    size_t columns = self->size[1];
    double error = 0;
    for (size_t row = 0; row < self->size[0]; row++) {
        const float *x = (const float *)data->buffer[0] + row * columns;
        const float *y = (const float *)data->buffer[1] + row * columns;
        double sum = 0;
        for (size_t i = 0; i < columns; i++)
            sum += exp((double)x[i]);
        for (size_t i = 0; i < columns; i++)
            error = larger(error, y[i] - exp((double)x[i]) / sum);
    }
    return error * (double)columns;
}

double bench_rms_norm_error(const bench_case *self, const bench_data *data)
{
    size_t columns = self->size[1];
    double error = 0;
    for (size_t row = 0; row < self->size[0]; row++) {
        const float *x = (const float *)data->buffer[0] + row * columns;
        const float *y = (const float *)data->buffer[1] + row * columns;
        double sum = 0;
        for (size_t i = 0; i < columns; i++)
            sum += (double)x[i] * x[i];
        for (size_t i = 0; i < columns; i++)
            error = larger(error, y[i] - x[i] / sqrt(sum / (double)columns + 1e-5));
    }
    return error;
}

// One query over the first `keys` keys of its head.
static double attention_row_error(const float *q, const float *k, const float *v, const float *out,
                                  size_t keys, size_t width)
{
    double error = 0, total = 0, sum[DECODE_WIDTH] = {0};
    for (size_t t = 0; t < keys; t++) {
        double score = 0;
        for (size_t c = 0; c < width; c++)
            score += (double)q[c] * k[t * width + c];
        double weight = exp(score / sqrt((double)width));
        total += weight;
        for (size_t c = 0; c < width; c++)
            sum[c] += weight * v[t * width + c];
    }
    for (size_t c = 0; c < width; c++)
        error = larger(error, out[c] - sum[c] / total);
    return error;
}

double bench_prefill_error(const bench_case *self, const bench_data *data)
{
    const float *q = data->buffer[0], *k = data->buffer[1], *v = data->buffer[2], *out = data->buffer[3];
    size_t tokens = self->size[1], head_size = tokens * PREFILL_WIDTH;
    double error = 0;
    for (size_t head = 0; head < self->size[0] * head_size; head += head_size) {
        for (size_t t = 0; t < tokens; t++) {
            size_t at = head + t * PREFILL_WIDTH;
            error = larger(error,
                           attention_row_error(q + at, k + head, v + head, out + at, t + 1, PREFILL_WIDTH));
        }
    }
    return error;
}

double bench_decode_error(const bench_case *self, const bench_data *data)
{
    const float *q = data->buffer[0], *k = data->buffer[1], *v = data->buffer[2], *out = data->buffer[3];
    size_t tokens = self->size[1];
    double error = 0;
    for (size_t head = 0; head < self->size[0]; head++) {
        size_t one = head * DECODE_WIDTH, all = one * tokens;
        error =
            larger(error, attention_row_error(q + one, k + all, v + all, out + one, tokens, DECODE_WIDTH));
    }
    return error;
}

double bench_saxpy_error(const bench_case *self, const bench_data *data)
{
    const float *x = data->buffer[0], *y = data->buffer[1];
    double error = 0;
    for (size_t i = 0; i < self->size[0]; i++)
        error = larger(error, y[i] - (2.5 * x[i] + 0.5 * value_at(1, i)));
    return error;
}

double bench_sum_error(const bench_case *self, const bench_data *data)
{
    const uint32_t *values = data->buffer[0], *sum = data->buffer[1];
    uint32_t right = 0;
    for (size_t i = 0; i < self->size[0]; i++)
        right += values[i];
    return larger(0, (double)right - *sum);
}

double bench_histogram_error(const bench_case *self, const bench_data *data)
{
    const uint32_t *values = data->buffer[0], *counts = data->buffer[1];
    uint32_t right[HISTOGRAM_BINS] = {0};
    double error = 0;
    for (size_t i = 0; i < self->size[0]; i++)
        right[values[i] % HISTOGRAM_BINS]++;
    for (size_t i = 0; i < HISTOGRAM_BINS; i++)
        error = larger(error, (double)right[i] - counts[i]);
    return error;
}
