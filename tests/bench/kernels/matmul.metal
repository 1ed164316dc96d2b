// SPDX-License-Identifier: MIT
// Matrix products c = a * b, row-major, n a multiple of 32: one thread per element without and with tiles in
// threadgroup memory, and with simdgroup matrices. Counterpart: matmul.cl, the same kernels but for the last,
// which stands beside the tiled one. Run by the benchmark only.
#include <metal_stdlib>
using namespace metal;

struct matmul_params {
    uint n;
};

kernel void matmul_naive(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                         device float *c [[buffer(2)]], constant matmul_params &p [[buffer(3)]],
                         uint2 at [[thread_position_in_grid]])
{
    float sum = 0;
    for (uint k = 0; k < p.n; k++)
        sum += a[at.y * p.n + k] * b[k * p.n + at.x];
    c[at.y * p.n + at.x] = sum;
}

constant constexpr uint TILE = 16;

kernel void matmul_tiled(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                         device float *c [[buffer(2)]], constant matmul_params &p [[buffer(3)]],
                         uint2 at [[thread_position_in_grid]], uint2 in [[thread_position_in_threadgroup]])
{
    threadgroup float tile_a[TILE][TILE], tile_b[TILE][TILE];
    float sum = 0;
    for (uint k0 = 0; k0 < p.n; k0 += TILE) {
        tile_a[in.y][in.x] = a[at.y * p.n + k0 + in.x];
        tile_b[in.y][in.x] = b[(k0 + in.y) * p.n + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < TILE; k++)
            sum += tile_a[in.y][k] * tile_b[k][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * p.n + at.x] = sum;
}

// Four simdgroups make a 32x32 tile of c; each of them has a 16x16 quarter as 2x2 matrices of 8x8.
kernel void matmul_simdgroup(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
                             device float *c [[buffer(2)]], constant matmul_params &p [[buffer(3)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint simd [[simdgroup_index_in_threadgroup]])
{
    const uint top = group.y * 32 + (simd / 2) * 16, left = group.x * 32 + (simd % 2) * 16;
    simdgroup_float8x8 sum[2][2], rows[2], columns[2];
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++)
            sum[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint k = 0; k < p.n; k += 8) {
        for (uint i = 0; i < 2; i++) {
            simdgroup_load(rows[i], a + (top + 8 * i) * p.n + k, p.n);
            simdgroup_load(columns[i], b + k * p.n + left + 8 * i, p.n);
        }
        for (uint i = 0; i < 2; i++)
            for (uint j = 0; j < 2; j++)
                simdgroup_multiply_accumulate(sum[i][j], rows[i], columns[j], sum[i][j]);
    }
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++)
            simdgroup_store(sum[i][j], c + (top + 8 * i) * p.n + left + 8 * j, p.n);
}
