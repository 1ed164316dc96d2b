// SPDX-License-Identifier: MIT
// Matrix products c = a * b, row-major, n a multiple of 32: the counterpart of matmul.metal in OpenCL.
// Run by the benchmark only.

typedef struct {
    uint n;
} matmul_params;

kernel void matmul_naive(global const float *a, global const float *b, global float *c, const matmul_params p)
{
    const uint x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    for (uint k = 0; k < p.n; k++)
        sum += a[y * p.n + k] * b[k * p.n + x];
    c[y * p.n + x] = sum;
}

#define TILE 16

kernel void matmul_tiled(global const float *a, global const float *b, global float *c, const matmul_params p)
{
    local float tile_a[TILE][TILE], tile_b[TILE][TILE];
    const uint x = get_global_id(0), y = get_global_id(1), in_x = get_local_id(0), in_y = get_local_id(1);
    float sum = 0;
    for (uint k0 = 0; k0 < p.n; k0 += TILE) {
        tile_a[in_y][in_x] = a[y * p.n + k0 + in_x];
        tile_b[in_y][in_x] = b[(k0 + in_y) * p.n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++)
            sum += tile_a[in_y][k] * tile_b[k][in_x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * p.n + x] = sum;
}
