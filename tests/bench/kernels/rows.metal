// SPDX-License-Identifier: MIT
// Softmax and RMS norm, one threadgroup of 256 per row: sums of a simdgroup by simd_sum or simd_max, of the
// simdgroups in threadgroup memory; in the _local kernels all of it in threadgroup memory. Counterpart:
// rows.cl. Run by the benchmark only.
#include <metal_stdlib>
using namespace metal;

struct rows_params {
    uint columns;
};

constant constexpr uint THREADS = 256, LANES = 32, SIMDS = THREADS / LANES;

struct largest_of {
    static constexpr float first = -INFINITY;
    static float both(float a, float b) { return max(a, b); }
    static float all(float a) { return simd_max(a); }
};

struct sum_of {
    static constexpr float first = 0;
    static float both(float a, float b) { return a + b; }
    static float all(float a) { return simd_sum(a); }
};

// Over the whole threadgroup, by simdgroups.
struct by_simd {
    template <typename F> static float reduce(float value, threadgroup float *memory, uint thread_index)
    {
        const uint lane = thread_index % LANES;
        value = F::all(value);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0)
            memory[thread_index / LANES] = value;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        return F::all(lane < SIMDS ? memory[lane] : F::first);
    }
};

// The same by a tree.
struct by_tree {
    template <typename F> static float reduce(float value, threadgroup float *memory, uint thread_index)
    {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        memory[thread_index] = value;
        for (uint step = THREADS / 2; step > 0; step /= 2) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (thread_index < step)
                memory[thread_index] = F::both(memory[thread_index], memory[thread_index + step]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        return memory[0];
    }
};

template <typename By>
kernel void softmax(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                    constant rows_params &p [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float memory[THREADS];
    device const float *x = in + row * p.columns;
    device float *y = out + row * p.columns;
    float largest = -INFINITY;
    for (uint i = thread_index; i < p.columns; i += THREADS)
        largest = max(largest, x[i]);
    largest = By::template reduce<largest_of>(largest, memory, thread_index);
    float sum = 0;
    for (uint i = thread_index; i < p.columns; i += THREADS) {
        const float e = exp(x[i] - largest);
        sum += e;
        y[i] = e;
    }
    sum = By::template reduce<sum_of>(sum, memory, thread_index);
    const float scale = 1 / sum;
    for (uint i = thread_index; i < p.columns; i += THREADS)
        y[i] *= scale;
}

template <typename By>
kernel void rms_norm(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                     constant rows_params &p [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                     uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float memory[THREADS];
    device const float *x = in + row * p.columns;
    device float *y = out + row * p.columns;
    float sum = 0;
    for (uint i = thread_index; i < p.columns; i += THREADS)
        sum += x[i] * x[i];
    sum = By::template reduce<sum_of>(sum, memory, thread_index);
    const float scale = rsqrt(sum / p.columns + 1e-5f);
    for (uint i = thread_index; i < p.columns; i += THREADS)
        y[i] = x[i] * scale;
}

typedef decltype(softmax<by_simd>) rows_t;
template [[host_name("softmax")]] kernel rows_t softmax<by_simd>;
template [[host_name("softmax_local")]] kernel rows_t softmax<by_tree>;
template [[host_name("rms_norm")]] kernel rows_t rms_norm<by_simd>;
template [[host_name("rms_norm_local")]] kernel rows_t rms_norm<by_tree>;
