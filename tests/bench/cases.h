// SPDX-License-Identifier: MIT
// Between the table of cases and the values they work on. Errors are the largest difference from a result in
// double precision, divided by the range of the values.
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "bench/bench.h"

enum { PREFILL_WIDTH = 64, DECODE_WIDTH = 128, HISTOGRAM_BINS = 256 };

void bench_fill_floats(const bench_case *self, bench_data *data);
void bench_fill_f32(const bench_case *self, bench_data *data);
void bench_fill_f16(const bench_case *self, bench_data *data);
void bench_fill_q8_0(const bench_case *self, bench_data *data);
void bench_fill_q4_0(const bench_case *self, bench_data *data);
void bench_fill_counting(const bench_case *self, bench_data *data);

double bench_matmul_error(const bench_case *self, const bench_data *data);
double bench_matvec_f32_error(const bench_case *self, const bench_data *data);
double bench_matvec_f16_error(const bench_case *self, const bench_data *data);
double bench_matvec_q8_0_error(const bench_case *self, const bench_data *data);
double bench_matvec_q4_0_error(const bench_case *self, const bench_data *data);
double bench_softmax_error(const bench_case *self, const bench_data *data);
double bench_rms_norm_error(const bench_case *self, const bench_data *data);
double bench_prefill_error(const bench_case *self, const bench_data *data);
double bench_decode_error(const bench_case *self, const bench_data *data);
double bench_saxpy_error(const bench_case *self, const bench_data *data);
double bench_sum_error(const bench_case *self, const bench_data *data);
double bench_histogram_error(const bench_case *self, const bench_data *data);

#endif
