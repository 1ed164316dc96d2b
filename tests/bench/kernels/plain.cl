// SPDX-License-Identifier: MIT
// A plain map, a sum that ends in an atomic add, a histogram with atomics in local memory, and a kernel that
// does nothing: the counterpart of plain.metal in OpenCL. Run by the benchmark only.

typedef struct {
    uint count;
    uint stride; // threads of the grid
} plain_params;

kernel void saxpy(global const float *x, global float *y, const plain_params p)
{
    const uint i = get_global_id(0);
    if (i < p.count)
        y[i] = 2.5f * x[i] + 0.5f * y[i];
}

kernel void sum_atomic(global const uint *x, global uint *sum, const plain_params p)
{
    local uint memory[256];
    const uint thread = get_local_id(0), threads = get_local_size(0);
    uint own = 0;
    for (uint i = get_global_id(0); i < p.count; i += p.stride)
        own += x[i];
    memory[thread] = own;
    for (uint step = threads / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread < step)
            memory[thread] += memory[thread + step];
    }
    if (thread == 0)
        atomic_add(sum, memory[0]);
}

kernel void histogram(global const uint *x, global uint *counts, const plain_params p)
{
    local uint own[256];
    const uint thread = get_local_id(0);
    own[thread] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < p.count; i += p.stride)
        atomic_add(&own[x[i] & 255], 1);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[thread], own[thread]);
}

kernel void nothing() {}
