// SPDX-License-Identifier: MIT
// simdgroup_matrix without thread_elements: load and store with strides, origins and transposes, products of all
// mixtures of types, filling, copies, arrays of tiles. tiles_elements.metal has the other representation.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// d = a * b + c for tiles inside larger matrices.
template <typename D, typename A, typename B>
kernel void product(device const A *a [[buffer(0)]], device const B *b [[buffer(1)]], device D *d [[buffer(2)]],
                    uint simd [[simdgroup_index_in_threadgroup]])
{
    simdgroup_matrix<A, 8, 8> left;
    simdgroup_matrix<B, 8, 8> right;
    simdgroup_matrix<D, 8, 8> sum;
    simdgroup_load(left, a + simd * 3, 20, ulong2(2, 1));
    simdgroup_load(right, b + simd * 3, 24, ulong2(4, 3), true);
    simdgroup_load(sum, d + simd * 64);
    simdgroup_multiply_accumulate(sum, left, right, sum);
    simdgroup_store(sum, d + simd * 64);
}
#define INSTANCE(D, A, B) \
    template [[host_name("product_" #D "_" #A "_" #B)]] kernel void product<D, A, B>( \
        device const A *, device const B *, device D *, uint);
INSTANCE(float, float, float)
INSTANCE(float, half, half)
INSTANCE(half, half, half)
INSTANCE(float, half, float)
INSTANCE(float, bfloat, bfloat)
INSTANCE(bfloat, bfloat, bfloat)

// 1024 floats of results from two 16x16 matrices.
kernel void forms(device const float *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *out [[buffer(2)]],
                  device half *narrow [[buffer(3)]], threadgroup float *shared [[threadgroup(0)]],
                  uint t [[thread_index_in_threadgroup]])
{
    for (uint i = t; i < 256; i += 32)
        shared[i] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 x, y, z;
    simdgroup_half8x8 h;
    simdgroup_load(x, shared + 8, 16);
    simdgroup_store(x, out, 16);
    simdgroup_store(x, out, 16, ulong2(8, 0), true);
    simdgroup_load(y, shared, 16, ulong2(8, 8), true);
    simdgroup_multiply(z, x, y);
    simdgroup_store(z, out + 128, 8);
    z = make_filled_simdgroup_matrix<float, 8, 8>(2.5f);
    simdgroup_store(z, out + 192);
    z = simdgroup_float8x8(3.0f); // on the diagonal
    simdgroup_store(z, out + 256);
    simdgroup_float8x8 tiles[2][2];
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++) {
            tiles[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
            for (uint k = 0; k < 2; k++) {
                simdgroup_load(x, a + 128 * i + 8 * k, 16);
                simdgroup_load(y, a + 128 * k + 8 * j, 16);
                simdgroup_multiply_accumulate(tiles[i][j], x, y, tiles[i][j]);
            }
        }
    for (uint i = 0; i < 4; i++)
        simdgroup_store(tiles[i / 2][i % 2], out + 320, 16, ulong2(8 * (i % 2), 8 * (i / 2)));
    simdgroup_load(h, b, 16);
    simdgroup_load(x, a, 16);
    z = x;
    simdgroup_multiply_accumulate(z, h, x, x); // half times float plus float
    simdgroup_store(z, out + 576);
    simdgroup_store(h, narrow);
    simdgroup_store(z, shared, 16, 1);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < 128; i += 32)
        out[640 + i] = shared[i];
}
