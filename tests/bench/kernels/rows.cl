// SPDX-License-Identifier: MIT
// Softmax and RMS norm, one work-group of 256 per row, with trees in local memory: the counterpart of
// rows.metal in OpenCL. Run by the benchmark only.

typedef struct {
    uint columns;
} rows_params;

#define THREADS 256
#define LARGER(a, b) fmax(a, b)
#define SUM(a, b) ((a) + (b))

#define REDUCE(value, both)                                                                                  \
    do {                                                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        memory[thread] = value;                                                                              \
        for (uint step = THREADS / 2; step > 0; step /= 2) {                                                 \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                    \
            if (thread < step)                                                                               \
                memory[thread] = both(memory[thread], memory[thread + step]);                                \
        }                                                                                                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        value = memory[0];                                                                                   \
    } while (0)

kernel void softmax(global const float *in, global float *out, const rows_params p)
{
    local float memory[THREADS];
    const uint row = get_group_id(0), thread = get_local_id(0);
    global const float *x = in + row * p.columns;
    global float *y = out + row * p.columns;
    float largest = -INFINITY;
    for (uint i = thread; i < p.columns; i += THREADS)
        largest = fmax(largest, x[i]);
    REDUCE(largest, LARGER);
    float sum = 0;
    for (uint i = thread; i < p.columns; i += THREADS) {
        const float e = exp(x[i] - largest);
        sum += e;
        y[i] = e;
    }
    REDUCE(sum, SUM);
    const float scale = 1 / sum;
    for (uint i = thread; i < p.columns; i += THREADS)
        y[i] *= scale;
}

kernel void rms_norm(global const float *in, global float *out, const rows_params p)
{
    local float memory[THREADS];
    const uint row = get_group_id(0), thread = get_local_id(0);
    global const float *x = in + row * p.columns;
    global float *y = out + row * p.columns;
    float sum = 0;
    for (uint i = thread; i < p.columns; i += THREADS)
        sum += x[i] * x[i];
    REDUCE(sum, SUM);
    const float scale = rsqrt(sum / p.columns + 1e-5f);
    for (uint i = thread; i < p.columns; i += THREADS)
        y[i] = x[i] * scale;
}
