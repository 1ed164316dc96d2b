// SPDX-License-Identifier: MIT
// Matrix-vector products y = a * x with one simdgroup per row, rows of f32, f16, q8_0 or q4_0 (blocks of 32
// weights with one f16 scale). The lanes' sums meet by simd_sum, or in the _local kernels by a tree in
// threadgroup memory. Counterpart: matvec.cl, where all are trees. Run by the benchmark only.
#include <metal_stdlib>
using namespace metal;

struct matvec_params {
    uint columns;
};

struct block_q8_0 {
    half d;
    char q[32];
};

struct block_q4_0 {
    half d;
    uchar q[16]; // weight i in the low half of q[i], weight i + 16 in the high half
};

constant constexpr uint LANES = 32;

static float dot_row(device const float *row, device const float *x, uint columns, uint lane)
{
    float sum = 0;
    for (uint i = lane; i < columns; i += LANES)
        sum += row[i] * x[i];
    return sum;
}

static float dot_row(device const half *row, device const float *x, uint columns, uint lane)
{
    device const half4 *row4 = (device const half4 *)row;
    device const float4 *x4 = (device const float4 *)x;
    float sum = 0;
    for (uint i = lane; i < columns / 4; i += LANES)
        sum += dot(float4(row4[i]), x4[i]);
    return sum;
}

// Four lanes share a block, eight weights each.
static float dot_row(device const block_q8_0 *row, device const float *x, uint columns, uint lane)
{
    const uint part = lane % 4 * 8;
    float sum = 0;
    for (uint i = lane / 4; i < columns / 32; i += LANES / 4) {
        device const char *q = row[i].q + part;
        device const float *y = x + i * 32 + part;
        float block = 0;
        for (uint j = 0; j < 8; j++)
            block += float(q[j]) * y[j];
        sum += block * float(row[i].d);
    }
    return sum;
}

// Two lanes share a block, eight bytes each: eight weights of its first half and eight of its second.
static float dot_row(device const block_q4_0 *row, device const float *x, uint columns, uint lane)
{
    const uint part = lane % 2 * 8;
    float sum = 0;
    for (uint i = lane / 2; i < columns / 32; i += LANES / 2) {
        device const uchar *q = row[i].q + part;
        device const float *y = x + i * 32 + part;
        float block = 0, offset = 0;
        for (uint j = 0; j < 8; j++) {
            block += float(q[j] & 15) * y[j] + float(q[j] >> 4) * y[j + 16];
            offset += y[j] + y[j + 16];
        }
        sum += (block - 8 * offset) * float(row[i].d);
    }
    return sum;
}

// How many elements of T hold a row of `columns` weights.
template <typename T> uint row_length(uint columns)
{
    return columns;
}
template <> uint row_length<block_q8_0>(uint columns)
{
    return columns / 32;
}
template <> uint row_length<block_q4_0>(uint columns)
{
    return columns / 32;
}

template <typename T>
kernel void matvec(device const T *a [[buffer(0)]], device const float *x [[buffer(1)]],
                   device float *y [[buffer(2)]], constant matvec_params &p [[buffer(3)]],
                   uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]])
{
    const float sum = simd_sum(dot_row(a + row * row_length<T>(p.columns), x, p.columns, lane));
    if (lane == 0)
        y[row] = sum;
}

template <typename T>
kernel void matvec_local(device const T *a [[buffer(0)]], device const float *x [[buffer(1)]],
                         device float *y [[buffer(2)]], constant matvec_params &p [[buffer(3)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_threadgroup]])
{
    threadgroup float sums[LANES];
    sums[lane] = dot_row(a + row * row_length<T>(p.columns), x, p.columns, lane);
    for (uint step = LANES / 2; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane < step)
            sums[lane] += sums[lane + step];
    }
    if (lane == 0)
        y[row] = sums[0];
}

typedef decltype(matvec<float>) matvec_f32_t;
template [[host_name("matvec_f32")]] kernel matvec_f32_t matvec<float>;
typedef decltype(matvec<half>) matvec_f16_t;
template [[host_name("matvec_f16")]] kernel matvec_f16_t matvec<half>;
typedef decltype(matvec<block_q8_0>) matvec_q8_0_t;
template [[host_name("matvec_q8_0")]] kernel matvec_q8_0_t matvec<block_q8_0>;
typedef decltype(matvec<block_q4_0>) matvec_q4_0_t;
template [[host_name("matvec_q4_0")]] kernel matvec_q4_0_t matvec<block_q4_0>;
template [[host_name("matvec_local_f32")]] kernel matvec_f32_t matvec_local<float>;
template [[host_name("matvec_local_f16")]] kernel matvec_f16_t matvec_local<half>;
template [[host_name("matvec_local_q8_0")]] kernel matvec_q8_0_t matvec_local<block_q8_0>;
template [[host_name("matvec_local_q4_0")]] kernel matvec_q4_0_t matvec_local<block_q4_0>;
