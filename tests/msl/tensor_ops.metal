// SPDX-License-Identifier: MIT
// Tensors and matmul2d: products of fragments whose places the source computes by itself, of cooperative tensors that
// say where their elements are, of tensors in threadgroup and device memory with ragged edges, by one thread, by one and
// by four simdgroups; reductions and chained products.
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

// The first of the elements of a 16x16 fragment that a lane has: column and row.
short2 place_of(ushort lane)
{
    short quad = lane >> 2;
    return short2(((quad & 2) | (lane & 1)) * 4, (quad & 4) | ((lane >> 1) & 3));
}

template <typename T>
vec<T, 8> read_fragment(device const T *from, int step, ushort lane)
{
    vec<T, 8> fragment;
    short2 at = place_of(lane);
    for (short i = 0; i < 8; i++)
        fragment[i] = from[(at.y + i / 4 * 8) * step + at.x + i % 4];
    return fragment;
}
template <typename T>
void write_fragment(thread const vec<T, 8> &fragment, device T *to, int step, ushort lane)
{
    short2 at = place_of(lane);
    for (short i = 0; i < 8; i++)
        to[(at.y + i / 4 * 8) * step + at.x + i % 4] = fragment[i];
}

// c is 16x32, the left side 16x16, the right one 16x32 or, transposed, 32x16. Two simdgroups, each with its own.
template <typename A, typename B, typename C, bool ta, bool tb, bool add>
kernel void fragments(device const A *a [[buffer(0)]], device const B *b [[buffer(1)]], device C *c [[buffer(2)]],
                      ushort lane [[thread_index_in_simdgroup]], ushort simd [[simdgroup_index_in_threadgroup]])
{
    a += simd * 256, b += simd * 512, c += simd * 512;
    constexpr auto what = matmul2d_descriptor(16, 32, 16, ta, tb, true,
                                              add ? matmul2d_descriptor::mode::multiply_accumulate
                                                  : matmul2d_descriptor::mode::multiply);
    matmul2d<what, metal::execution_simdgroup> product;
    auto left = product.template get_left_input_cooperative_tensor<A, B, C>();
    auto right = product.template get_right_input_cooperative_tensor<A, B, C>();
    auto sum = product.template get_destination_cooperative_tensor<metal::remove_addrspace_t<decltype(left)>,
                                                                  metal::remove_addrspace_t<decltype(right)>, C>();
    vec<A, 8> a0 = read_fragment(a, 16, lane);
    vec<B, 8> b0 = read_fragment(b, tb ? 16 : 32, lane), b1 = read_fragment(b + (tb ? 256 : 16), tb ? 16 : 32, lane);
    vec<C, 8> c0 = read_fragment(c, 32, lane), c1 = read_fragment(c + 16, 32, lane);
    for (short i = 0; i < 8; i++) {
        left[i] = a0[i];
        right[i] = b0[i];
        right[8 + i] = b1[i];
        sum[i] = c0[i];
        sum[8 + i] = c1[i];
    }
    product.run(left, right, sum);
    for (short i = 0; i < 8; i++) {
        c0[i] = sum[i];
        c1[i] = sum[8 + i];
    }
    write_fragment(c0, c, 32, lane);
    write_fragment(c1, c + 16, 32, lane);
}
#define FRAGMENTS(name, A, B, C, ta, tb, add)                                              \
    template [[host_name("fragments_" name)]] kernel void fragments<A, B, C, ta, tb, add>( \
        device const A *, device const B *, device C *, ushort, ushort);
FRAGMENTS("half_nn", half, half, float, false, false, true)
FRAGMENTS("half_nt", half, half, float, false, true, true)
FRAGMENTS("half_tn", half, half, float, true, false, true)
FRAGMENTS("half_tt", half, half, float, true, true, true)
FRAGMENTS("half_set", half, half, float, false, false, false)
FRAGMENTS("float", float, float, float, false, true, true)
FRAGMENTS("bfloat", bfloat, bfloat, float, false, false, true)
FRAGMENTS("narrow", half, half, half, false, false, true)
FRAGMENTS("bnarrow", bfloat, bfloat, bfloat, false, true, true)
FRAGMENTS("mixed", half, bfloat, float, true, false, true)
FRAGMENTS("int8", int8_t, int8_t, int32_t, false, true, true)
FRAGMENTS("uint8", uint8_t, uint8_t, int32_t, false, false, false)

// 24x40 = 24x20 * 20x40: sizes that leave parts of fragments empty, elements found by their own account.
kernel void odd_sizes(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]],
                      device atomic_uint *counts [[buffer(3)]])
{
    matmul2d<matmul2d_descriptor(24, 40, 20, false, true), execution_simdgroup> product;
    auto left = product.get_left_input_cooperative_tensor<half, half, float>();
    auto right = product.get_right_input_cooperative_tensor<half, half, float>();
    auto sum = product.get_destination_cooperative_tensor<decltype(left), decltype(right), float>();
    for (ushort i = 0; i < left.get_capacity(); i++) {
        auto at = left.get_multidimensional_index(i);
        left[i] = left.is_valid_element(i) ? a[at[1] * 20 + at[0]] : half(77.0h);
        atomic_fetch_add_explicit(&counts[0], left.is_valid_element(i) ? 1 : 0, memory_order_relaxed);
    }
    for (auto it = right.begin(); it != right.end(); ++it) {
        auto at = it.get_multidimensional_index();
        *it = right.is_valid_element(it) ? b[at[1] * 20 + at[0]] : half(99.0h);
        atomic_fetch_add_explicit(&counts[1], right.is_valid_element(it) ? 1 : 0, memory_order_relaxed);
    }
    product.run(left, right, sum);
    for (ushort i = 0; i < sum.get_capacity(); ++i) {
        if (!sum.get_mask(i))
            continue;
        auto at = sum.get_multidimensional_index(i);
        c[at[1] * 40 + at[0]] = sum[i];
        atomic_fetch_add_explicit(&counts[2], 1, memory_order_relaxed);
    }
}

// Only one element of each lane is looked at: the others must not be needed for it to be right.
kernel void one_element(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *out [[buffer(2)]],
                        ushort lane [[thread_index_in_simdgroup]])
{
    auto from = tensor(a, dextents<int, 2>(16, 16));
    auto with = tensor(b, extents<int, 32, 16>());
    matmul2d<matmul2d_descriptor(16, 32, 16), execution_simdgroup> product;
    auto left = product.get_left_input_cooperative_tensor<float, float, float>();
    auto sum = product.get_destination_cooperative_tensor<decltype(left), decltype(with), float>();
    left.load(from);
    product.run(left, with, sum);
    out[lane] = sum[11];
}

struct sizes {
    int m, n, k;
};

// dst[n][m] = sum of w[m][k] * x[n][k], 64 by 32 at a time: w goes through threadgroup memory, x is read in place. With four
// simdgroups; the accumulator is not set to zero by the source.
template <typename W>
kernel void staged(constant sizes &size [[buffer(0)]], device const W *w [[buffer(1)]], device float *x [[buffer(2)]],
                   device float *dst [[buffer(3)]], threadgroup char *memory [[threadgroup(0)]],
                   uint3 group [[threadgroup_position_in_grid]], ushort thread_index [[thread_index_in_threadgroup]])
{
    constexpr int NM = 64, NN = 32, NK = 48;
    threadgroup W *tile = (threadgroup W *)memory;
    const int m0 = group.y * NM, n0 = group.x * NN;
    auto tw = tensor(tile, dextents<int32_t, 2>(NK, NM));
    auto tx = tensor(x, dextents<int32_t, 2>(size.k, size.n), array<int, 2>({1, size.k}));
    matmul2d<matmul2d_descriptor(NN, NM, static_cast<int>(dynamic_extent), false, true, true,
                                 matmul2d_descriptor::mode::multiply_accumulate),
             execution_simdgroups<4>>
        product;
    auto sum = product.get_destination_cooperative_tensor<decltype(tx), decltype(tw), float>();
    for (int k0 = 0; k0 < size.k; k0 += NK) {
        for (int i = thread_index; i < NM * NK; i += 128)
            tile[i] = m0 + i / NK < size.m && k0 + i % NK < size.k ? w[(m0 + i / NK) * size.k + k0 + i % NK] : W(55);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const int left = min(NK, size.k - k0);
        auto part = tensor(tile, dextents<int32_t, 2>(left, NM), array<int, 2>({1, NK}));
        auto rows = tensor(x + k0 + n0 * size.k, dextents<int32_t, 2>(left, size.n - n0), array<int, 2>({1, size.k}));
        product.run(rows, part, sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    auto to = tensor(dst, dextents<int32_t, 2>(size.m, size.n), array<int, 2>({1, size.m}));
    sum.store(to.slice(m0, n0));
}
#define STAGED(W)                                                                                                  \
    template [[host_name("staged_" #W)]] kernel void staged<W>(constant sizes &, device const W *, device float *, \
                                                               device float *, threadgroup char *, uint3, ushort);
STAGED(float)
STAGED(half)
STAGED(bfloat)

// Both operands and the result in threadgroup memory, explicit types as well.
kernel void all_staged(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]],
                       ushort thread_index [[thread_index_in_threadgroup]])
{
    constexpr int NM = 64, NN = 32, NK = 32;
    threadgroup half sa[NM * NK], sb[NN * NK];
    threadgroup float sc[NM * NN];
    auto tA = tensor<threadgroup half, dextents<int32_t, 2>, tensor_inline>(sa, dextents<int32_t, 2>(NK, NM));
    auto tB = tensor<threadgroup half, dextents<int32_t, 2>, tensor_inline>(sb, dextents<int32_t, 2>(NN, NK));
    matmul2d<matmul2d_descriptor(NN, NM, NK, true, true, false, matmul2d_descriptor::mode::multiply_accumulate),
             execution_simdgroups<4>>
        product;
    auto sum = product.get_destination_cooperative_tensor<decltype(tA), decltype(tB), float>();
    for (int turn = 0; turn < 2; turn++) {
        for (int i = thread_index; i < NM * NK; i += 128)
            sa[i] = a[turn * NM * NK + i];
        for (int i = thread_index; i < NN * NK; i += 128)
            sb[i] = b[turn * NN * NK + i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        auto left = tB.slice(0, 0);
        auto right = tA.slice(0, 0);
        product.run(left, right, sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    auto tC = tensor<threadgroup float, dextents<int32_t, 2>, tensor_inline>(sc, dextents<int32_t, 2>(NM, NN));
    sum.store(tC);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = thread_index; i < NM * NN; i += 128)
        c[i] = sc[i];
}

// c (+)= a * b in tiles of TM by TN straight from device memory to device memory; whole tiles with static sizes.
template <typename A, typename C, bool add, typename Scope, int TM, int TN>
void memory_tile(constant sizes &size, device A *a, device A *b, device C *c, uint2 group)
{
    tensor<device A, dextents<int32_t, 2>, tensor_inline> ta(a, dextents<int32_t, 2>(size.k, size.m));
    tensor<device A, extents<int, dynamic_extent, dynamic_extent>, tensor_inline> tb(
        b, extents<int, dynamic_extent, dynamic_extent>{size.n, size.k}, array<int, 2>{1, size.n});
    auto tc = tensor<device C, dextents<int32_t, 2>, tensor_inline>(c, dextents<int32_t, 2>(size.n, size.m));
    constexpr auto what = matmul2d_descriptor(TM, TN, dynamic_length_v<int>, false, false, false,
                                              add ? matmul2d_descriptor::mode::multiply_accumulate
                                                  : matmul2d_descriptor::mode::multiply);
    const int row = group.y * TM, column = group.x * TN;
    if (row + TM <= size.m && column + TN <= size.n) {
        auto left = ta.template slice<dynamic_extent, TM>(0, row);
        auto right = tb.template slice<TN, dynamic_extent>(column, 0);
        auto to = tc.template slice<TN, TM>(column, row);
        matmul2d<what, Scope>{}.run(left, right, to);
    } else {
        auto left = ta.slice(0, row);
        auto right = tb.slice(column, 0);
        auto to = tc.slice(column, row);
        matmul2d<what, Scope> product;
        product.run(left, right, to);
    }
}
#define MEMORY(name, A, C, add, Scope, TM, TN)                                                                          \
    kernel void memory_##name(constant sizes &size [[buffer(0)]], device A *a [[buffer(1)]], device A *b [[buffer(2)]], \
                              device C *c [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]])                  \
    {                                                                                                                   \
        memory_tile<A, C, add, Scope, TM, TN>(size, a, b, c, group);                                                    \
    }
MEMORY(half, half, float, true, execution_simdgroups<4>, 32, 48)
MEMORY(set, float, float, false, execution_simdgroups<2>, 32, 48)
MEMORY(narrow, half, half, false, execution_simdgroup, 32, 48)
MEMORY(int8, int8_t, int, true, execution_simdgroups<4>, 32, 48)
MEMORY(odd, half, float, true, execution_simdgroups<2>, 24, 40)
MEMORY(alone, float, float, true, execution_thread, 32, 48)

// One thread alone: 5x7 = 5x18 * 18x7, cooperative in name only.
kernel void alone(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
                  uint i [[thread_position_in_grid]])
{
    matmul2d<matmul2d_descriptor(5, 7, 18, false, true), execution_thread> product;
    auto left = product.get_left_input_cooperative_tensor<float, float, float>();
    auto sum = product.get_destination_cooperative_tensor<decltype(left), decltype(left), float>();
    left.load(tensor(a + i * 90, extents<int, 18, 5>()));
    auto right = tensor(b + i * 126, extents<int, 18, 7>());
    product.run(left, right, sum);
    sum.store(tensor(c + i * 35, extents<int, 7, 5>()));
}

// The scores s = q * k of 32 columns, their rows divided by the largest of each, times v: a product goes into the next
// one without leaving the lanes. Also the sums of rows and columns.
kernel void chain(device float *q [[buffer(0)]], device float *k [[buffer(1)]], device float *v [[buffer(2)]],
                  device float *out [[buffer(3)]], device float *rows [[buffer(4)]], device float *columns [[buffer(5)]])
{
    auto tq = tensor(q, extents<int, 16, 16>());
    auto tk = tensor(k, extents<int, 16, 32>());
    auto tv = tensor(v, extents<int, 48, 32>());
    matmul2d<matmul2d_descriptor(16, 32, 16, false, true), execution_simdgroup> scores;
    matmul2d<matmul2d_descriptor(16, 48, 32), execution_simdgroup> values;
    auto s = scores.get_destination_cooperative_tensor<decltype(tq), decltype(tk), float>();
    scores.run(tq, tk, s);
    auto largest = scores.get_row_reduction_destination_cooperative_tensor<decltype(tq), decltype(tk), float>();
    auto total = scores.get_row_reduction_destination_cooperative_tensor<decltype(tq), decltype(tk), float>();
    auto below = scores.get_column_reduction_destination_cooperative_tensor<decltype(tq), decltype(tk), float>();
    reduce_rows(s, largest, reduction_operation::max, reduction_operation_identity<float>::max_identity);
    reduce_rows(s, total);
    reduce_columns(s, below, reduction_operation::min, reduction_operation_identity<float>::min_identity);
    if (is_iterator_compatible(s, largest))
        for (auto it = s.begin(); it != s.end(); it++)
            *it -= *largest.map_iterator(it);
    if (!values.is_compatible_as_left_input<float, float, float>(s))
        return;
    auto left = values.get_left_input_cooperative_tensor<float, float, float>(s);
    auto sum = values.get_destination_cooperative_tensor<decltype(left), decltype(tv), float>();
    values.run(left, tv, sum);
    sum.store(tensor(out, extents<int, 48, 16>()));
    total.store(tensor(rows, extents<int, 16>()));
    below.store(tensor(columns, extents<int, 32>()));
}

kernel void views(device float *data [[buffer(0)]], device int *out [[buffer(1)]])
{
    tensor<device float, dextents<int, 3>, tensor_inline> whole(data, dextents<int, 3>{4, 5, 6});
    auto part = whole.slice(1, 2, 3);
    auto fixed = whole.slice<2, dynamic_extent, 1>(0, 1, 1);
    extents<int, dynamic_extent, 4, dynamic_extent> some(3, 2);
    auto other = tensor(data, extents<int, 8, 3>(), array<int, 2>{3, 24});
    for (int i = 0; i < 3; i++) {
        out[i] = whole.get_extent(i);
        out[3 + i] = whole.get_stride(i);
        out[7 + i] = part.get_extent(i);
    }
    out[6] = part[array<int, 3>{2, 0, -1}] + part.get(0, 0, 0) - 40;
    out[10] = fixed.get_extent(1);
    out[11] = fixed.get_extent(0);
    out[12] = fixed.get(0, 0, 0);
    out[13] = some.extent(0);
    out[14] = some.rank_dynamic();
    out[15] = other.get(0, 1);
}
