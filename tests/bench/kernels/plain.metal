// SPDX-License-Identifier: MIT
// A plain map, a sum that ends in an atomic add, a histogram with atomics in threadgroup memory, and a kernel
// that does nothing. Counterpart: plain.cl. Run by the benchmark only.
#include <metal_stdlib>
using namespace metal;

struct plain_params {
    uint count;
    uint stride; // threads of the grid
};

kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                  constant plain_params &p [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i < p.count)
        y[i] = 2.5f * x[i] + 0.5f * y[i];
}

kernel void sum_atomic(device const uint *x [[buffer(0)]], device atomic_uint *sum [[buffer(1)]],
                       constant plain_params &p [[buffer(2)]], uint at [[thread_position_in_grid]],
                       uint thread_index [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]])
{
    threadgroup uint memory[256];
    uint own = 0;
    for (uint i = at; i < p.count; i += p.stride)
        own += x[i];
    memory[thread_index] = own;
    for (uint step = threads / 2; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (thread_index < step)
            memory[thread_index] += memory[thread_index + step];
    }
    if (thread_index == 0)
        atomic_fetch_add_explicit(sum, memory[0], memory_order_relaxed);
}

kernel void histogram(device const uint *x [[buffer(0)]], device atomic_uint *counts [[buffer(1)]],
                      constant plain_params &p [[buffer(2)]], uint at [[thread_position_in_grid]],
                      uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup atomic_uint own[256];
    atomic_store_explicit(&own[thread_index], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = at; i < p.count; i += p.stride)
        atomic_fetch_add_explicit(&own[x[i] & 255], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint count = atomic_load_explicit(&own[thread_index], memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[thread_index], count, memory_order_relaxed);
}

kernel void nothing() {}
