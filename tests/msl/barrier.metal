// SPDX-License-Identifier: MIT
// Barriers wherever they may stand, and threadgroup memory of every kind: arguments, arrays, structs and scalars, in
// kernels, helpers and templates.
#include <metal_stdlib>
using namespace metal;

// Barriers in a loop, over a group of any size.
kernel void tree_sum(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                     threadgroup float *scratch [[threadgroup(0)]], uint i [[thread_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]],
                     uint group [[threadgroup_position_in_grid]])
{
    scratch[t] = in[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint width = n; width > 1;) {
        uint half_width = (width + 1) / 2;
        if (t < width / 2)
            scratch[t] += scratch[t + half_width];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        width = half_width;
    }
    if (t == 0)
        out[group] = scratch[0];
}

// Helpers and templates with memory and barriers of their own; each instance has its own memory.
template <typename T, int N>
T shifted_sum(T x, uint t)
{
    threadgroup T cells[256 + N];
    cells[t] = x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    T sum = 0;
    for (int k = 0; k < N; k++)
        sum += cells[(t + k) % 256];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return sum;
}

void publish(threadgroup int &cell, int value, uint t)
{
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 77)
        cell = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

struct couple {
    int first;
    packed_float3 rest;
};

kernel void helpers(device const int *in [[buffer(0)]], device float *out [[buffer(1)]],
                    uint t [[thread_index_in_threadgroup]])
{
    threadgroup int cell;
    threadgroup couple pairs[4];
    threadgroup short grid[16][16];
    int x = in[t];
    device float *r = out + t * 8;
    r[0] = shifted_sum<int, 3>(x, t);
    r[1] = shifted_sum<float, 5>(x * 0.5f, t);
    r[2] = shifted_sum<int, 3>(x + 1, t);
    publish(cell, x * 2, t);
    r[3] = cell;
    publish(cell, x * 3, t);
    r[4] = cell;
    if (t < 4) {
        pairs[t].first = x;
        pairs[t].rest = packed_float3(x + 1, x + 2, x + 3);
    }
    grid[t / 16][t % 16] = (short)x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    r[5] = pairs[t % 4].first + pairs[3 - t % 4].rest[2];
    r[6] = grid[t % 16][t / 16];
    r[7] = pairs[1].rest.y;
}

// Several per round, in a loop whose length is an argument, with two buffers that change places.
kernel void smooth(device float *data [[buffer(0)]], constant uint &rounds [[buffer(1)]],
                   threadgroup float *one [[threadgroup(0)]], threadgroup float *two [[threadgroup(1)]],
                   uint t [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]])
{
    one[t] = data[t];
    for (uint round = 0; round < rounds; round++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        two[t] = 0.25f * one[(t + n - 1) % n] + 0.5f * one[t] + 0.25f * one[(t + 1) % n];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (round % 3 == 2) {
            one[n - 1 - t] = two[t];
            continue;
        }
        one[t] = two[t];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (round == 100)
            break;
        switch (round % 2) {
        case 0:
            threadgroup_barrier(mem_flags::mem_device);
            one[t] += 1.0f;
            break;
        default:
            one[t] *= 0.5f;
            threadgroup_barrier(mem_flags::mem_none);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    data[t] = one[t];
}

// Whole simdgroups and single lanes are gone before the barriers come.
kernel void early_return(device const int *in [[buffer(0)]], device int *out [[buffer(1)]],
                         constant uint &stay [[buffer(2)]], uint t [[thread_index_in_threadgroup]])
{
    threadgroup int cells[256];
    cells[t] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t >= stay)
        return;
    cells[t] = in[t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int sum = cells[stay - 1 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t % 5 == 4)
        return;
    cells[t] = sum + simd_sum(1);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[t] = cells[t / 5 * 5] * 2;
}

// Lanes of one simdgroup through threadgroup and device memory.
kernel void within_simd(device int *data [[buffer(0)]], uint t [[thread_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]])
{
    threadgroup int cells[128];
    uint base = t - lane;
    for (int round = 0; round < 5; round++) {
        cells[t] = data[t];
        simdgroup_barrier(mem_flags::mem_threadgroup);
        int next = cells[base + (lane + 1) % 32] * 3 + (int)lane;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        data[base + (lane + 5) % 32] = next;
        simdgroup_barrier(mem_flags::mem_device);
    }
}

// Dynamic memory of several types; each argument begins at an aligned place and none overlaps another.
kernel void dynamic(device float *out [[buffer(0)]], threadgroup char *bytes [[threadgroup(0)]],
                    threadgroup float4 *vectors [[threadgroup(1)]], threadgroup half *halves [[threadgroup(2)]],
                    uint t [[thread_index_in_threadgroup]])
{
    threadgroup float own[64];
    bytes[t] = (char)(t - 32);
    vectors[t] = float4(t, t + 1, t + 2, t + 3);
    halves[t] = (half)(t * 0.5f);
    own[t] = t * 100.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint o = 63 - t;
    out[t] = bytes[o] + vectors[o].w + halves[o] + own[o];
}
