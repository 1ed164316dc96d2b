// SPDX-License-Identifier: MIT
// How matmul2d multiplies: its descriptor, what a lane brings to the meeting of its simdgroup, and the work
// done there on blocks of 16x16, in float (in int where all is integer). Blocks are fetched from the lanes'
// cooperative tensors or from memory, and the product is put back in the same ways. Nothing here asks for
// the lane or meets others: it runs once for all.
#pragma once
#include "msl_cooperative_tensor.h"
#include "msl_limits.h"
#include "msl_math.h"

namespace mpp {
namespace tensor_ops {
struct matmul2d_descriptor {
    enum class mode { multiply, multiply_accumulate };
    int m, n, k;
    bool transpose_left, transpose_right, relaxed_precision;
    mode matmul_mode;

    constexpr matmul2d_descriptor(int rows, int columns, int depth = (int)metal::__sm_tensors::dynamic_extent,
                                  bool left_transposed = false, bool right_transposed = false,
                                  bool relaxed = false, mode what = mode::multiply)
        : m(rows), n(columns), k(depth), transpose_left(left_transposed), transpose_right(right_transposed),
          relaxed_precision(relaxed), matmul_mode(what)
    {
    }
};
template <class T>
inline constexpr T dynamic_length_v = metal::numeric_limits<T>::max();
template <class T>
struct dynamic_length {
    static constexpr T value = dynamic_length_v<T>;
};
} // namespace tensor_ops
} // namespace mpp

namespace metal {
namespace __sm_tensors {
using __sm_matmul = mpp::tensor_ops::matmul2d_descriptor;
constexpr bool __sm_fixed_depth(const __sm_matmul &d) { return d.k > 0 && d.k < 0x7fffffff; }

// What a lane brings to the meeting. Memory operands are the same in all lanes.
template <class Destination, class Left, class Right>
struct __sm_exchange {
    Destination destination;
    Left left;
    Right right;
    uint simd;

    // What sums are made in.
    using wide = conditional_t<is_integral_v<typename Destination::value_type> &&
                                   is_integral_v<typename Left::value_type> &&
                                   is_integral_v<typename Right::value_type>,
                               int, float>;
};
template <class Wide>
struct __sm_block {
    alignas(64) Wide at[__sm_side][__sm_side];
};
// The lanes that take part, and one of them for what all have alike.
template <class Exchange>
struct __sm_party {
    Exchange *const *lane;
    uint mask;
    inline const Exchange &any() const { return *lane[__builtin_ctz(mask)]; }
};
// How much of a block lies before the end.
constexpr int __sm_rest(long length, long from)
{
    return length <= from ? 0 : length - from < __sm_side ? (int)(length - from) : __sm_side;
}

// N neighbours as another type, in one go.
template <int N, class To, class From>
inline void __sm_copy_run(To *to, const From *from)
{
    if constexpr (is_same_v<From, bfloat> && is_same_v<To, float>) {
        __sm_lanes<ushort, N> bits;
        __builtin_memcpy(&bits, from, sizeof bits);
        auto wide = __builtin_convertvector(bits, __sm_lanes<uint, N>) << 16;
        __builtin_memcpy(to, &wide, sizeof wide);
    } else if constexpr (is_same_v<From, bfloat> || is_same_v<To, bfloat>) {
        for (int i = 0; i < N; i++)
            to[i] = __sm_cast<To>(from[i]);
    } else {
        __sm_lanes<remove_cv_t<From>, N> run;
        __builtin_memcpy(&run, from, sizeof run);
        auto converted = __builtin_convertvector(run, __sm_lanes<To, N>);
        __builtin_memcpy(to, &converted, sizeof converted);
    }
}

// Block (row, column) of an operand: of fragments in the lanes, of a matrix in one thread, of memory.
template <class X, class T, class E, int R, int C, int S, class Wide>
inline void __sm_fetch(const __sm_party<X> &party,
                       cooperative_tensor<T, E, __sm_fragments<R, C, S>> X::*operand, int row, int column,
                       __sm_block<Wide> &to)
{
    using layout = __sm_fragments<R, C, S>;
    int fragment = row * layout::across + column - (int)party.any().simd * (S > 1 ? layout::each : 0);
    if (party.mask != 0xffffffffu)
        to = {};
    for (uint l = 0; l < SM_LANES; l++) {
        if (!(party.mask >> l & 1))
            continue;
        const T *from = (party.lane[l]->*operand).elements + fragment * __sm_per_lane;
        __sm_copy_run<4>(&to.at[__sm_lane_row(l)][__sm_lane_column(l)], from);
        __sm_copy_run<4>(&to.at[__sm_lane_row(l) + 8][__sm_lane_column(l)], from + 4);
    }
}
template <class X, class T, class E, int R, int C, class Wide>
inline void __sm_fetch(const __sm_party<X> &party, cooperative_tensor<T, E, __sm_whole<R, C>> X::*operand,
                       int row, int column, __sm_block<Wide> &to)
{
    const T *from = (party.any().*operand).elements + (row * C + column) * __sm_side;
    int rows = __sm_rest(R, row * __sm_side), columns = __sm_rest(C, column * __sm_side);
    to = {};
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            to.at[i][j] = __sm_cast<Wide>(from[i * C + j]);
}
template <class X, class T, class E, class D, class... G, class Wide>
inline void __sm_fetch(const __sm_party<X> &party, tensor<T, E, D, G...> X::*operand, int row, int column,
                       __sm_block<Wide> &to)
{
    const tensor<T, E, D, G...> &from = party.any().*operand;
    long down = from.get_stride(1), along = from.get_stride(0);
    const T *line = from.data + row * __sm_side * down + column * __sm_side * along;
    int rows = __sm_rest(from.get_extent(1), row * __sm_side);
    int columns = __sm_rest(from.get_extent(0), column * __sm_side);
    if (rows < __sm_side || columns < __sm_side)
        to = {};
    for (int i = 0; i < rows; i++, line += down) {
        if (along == 1 && columns == __sm_side)
            __sm_copy_run<__sm_side>(to.at[i], line);
        else
            for (int j = 0; j < columns; j++)
                to.at[i][j] = __sm_cast<Wide>(line[j * along]);
    }
}

// Block (row, column) of the product to where it belongs. `M` is the descriptor: memory may go on behind the
// tile.
template <__sm_matmul M, class X, class T, class E, int R, int C, int S, class Wide>
inline void __sm_put(const __sm_party<X> &party,
                     cooperative_tensor<T, E, __sm_fragments<R, C, S>> X::*operand, int row, int column,
                     const __sm_block<Wide> &from)
{
    using layout = __sm_fragments<R, C, S>;
    int fragment = row * layout::across + column - (int)party.any().simd * (S > 1 ? layout::each : 0);
    for (uint l = 0; l < SM_LANES; l++) {
        if (!(party.mask >> l & 1))
            continue;
        T *to = (party.lane[l]->*operand).elements + fragment * __sm_per_lane;
        __sm_copy_run<4>(to, &from.at[__sm_lane_row(l)][__sm_lane_column(l)]);
        __sm_copy_run<4>(to + 4, &from.at[__sm_lane_row(l) + 8][__sm_lane_column(l)]);
    }
}
template <__sm_matmul M, class X, class T, class E, int R, int C, class Wide>
inline void __sm_put(const __sm_party<X> &party, cooperative_tensor<T, E, __sm_whole<R, C>> X::*operand,
                     int row, int column, const __sm_block<Wide> &from)
{
    T *to = (party.lane[0]->*operand).elements + (row * C + column) * __sm_side;
    for (int i = 0; i < __sm_rest(R, row * __sm_side); i++)
        for (int j = 0; j < __sm_rest(C, column * __sm_side); j++)
            to[i * C + j] = __sm_cast<T>(from.at[i][j]);
}
template <__sm_matmul M, class X, class T, class E, class D, class... G, class Wide>
inline void __sm_put(const __sm_party<X> &party, tensor<T, E, D, G...> X::*operand, int row, int column,
                     const __sm_block<Wide> &from)
{
    const tensor<T, E, D, G...> &to = party.any().*operand;
    long rows = to.get_extent(1) < M.m ? to.get_extent(1) : M.m;
    long columns = to.get_extent(0) < M.n ? to.get_extent(0) : M.n;
    for (long i = row * __sm_side; i < rows && i < (row + 1) * __sm_side; i++)
        for (long j = column * __sm_side; j < columns && j < (column + 1) * __sm_side; j++)
            to.data[i * to.get_stride(1) + j * to.get_stride(0)] =
                __sm_cast<T>(from.at[i % __sm_side][j % __sm_side]);
}

// Blocks of `Size` in two rows, so far apart, change places across the diagonal.
template <int Size, class Row, size_t... C>
inline void __sm_exchange_corners(Row &upper, Row &lower, index_sequence<C...>)
{
    Row a = upper, b = lower;
    upper = __builtin_shufflevector(a, b, (int)(C & Size ? __sm_side + C - Size : C)...);
    lower = __builtin_shufflevector(a, b, (int)(C & Size ? __sm_side + C : C + Size)...);
}
template <int Size, class Row>
inline void __sm_transpose_step(Row *rows)
{
#pragma clang loop unroll(full)
    for (int i = 0; i < __sm_side; i++)
        if (!(i & Size))
            __sm_exchange_corners<Size>(rows[i], rows[i + Size], make_index_sequence<__sm_side>());
}
template <class Wide>
inline void __sm_transpose(__sm_block<Wide> &block)
{
    __sm_lanes<Wide, __sm_side> rows[__sm_side];
    __builtin_memcpy(rows, block.at, sizeof rows);
    __sm_transpose_step<8>(rows);
    __sm_transpose_step<4>(rows);
    __sm_transpose_step<2>(rows);
    __sm_transpose_step<1>(rows);
    __builtin_memcpy(block.at, rows, sizeof rows);
}
template <bool Transpose, class X, class Operand, class Wide>
inline void __sm_fetch_oriented(const __sm_party<X> &party, Operand X::*operand, int row, int column,
                                __sm_block<Wide> &to)
{
    if constexpr (Transpose) {
        __sm_fetch(party, operand, column, row, to);
        __sm_transpose(to);
    } else {
        __sm_fetch(party, operand, row, column, to);
    }
}

// c += a * b over the first `depth` columns of a, four rows at a time.
template <class Wide>
inline void __sm_multiply_block(__sm_block<Wide> &c, const __sm_block<Wide> &a, const __sm_block<Wide> &b,
                                int depth)
{
    using row = __sm_lanes<Wide, __sm_side>;
    constexpr int group = 4;
    for (int i = 0; i < __sm_side; i += group) {
        row sum[group];
        __builtin_memcpy(sum, c.at[i], sizeof sum);
        for (int k = 0; k < depth; k++) {
            row right;
            __builtin_memcpy(&right, b.at[k], sizeof right);
#pragma clang loop unroll(full)
            for (int g = 0; g < group; g++)
                sum[g] += (row)a.at[i + g][k] * right;
        }
        __builtin_memcpy(c.at[i], sum, sizeof sum);
    }
}

// The descriptor's depth, or that of the operands; never beyond what lies in memory.
template <__sm_matmul M, class X>
inline long __sm_depth(const X &x)
{
    long depth = __sm_fixed_depth(M) ? M.k : 0x7fffffffL;
    if constexpr (requires { x.left.data; })
        depth = min(depth, (long)x.left.get_extent(M.transpose_left ? 1 : 0));
    if constexpr (requires { x.right.data; })
        depth = min(depth, (long)x.right.get_extent(M.transpose_right ? 0 : 1));
    return depth;
}

// The blocks of the destination that belong to this simdgroup (or thread). Called, not inlined.
template <__sm_matmul M, int Simds, class X>
__attribute__((noinline)) void __sm_multiply_blocks(X *const *lane, uint mask)
{
    using blocks = __sm_fragments<M.m, M.n, Simds>;
    using block = __sm_block<typename X::wide>;
    __sm_party<X> party = {lane, mask};
    long depth = __sm_depth<M>(party.any());
    int first = (int)party.any().simd * blocks::each;
    for (int n = first; n < first + blocks::each && n < blocks::all; n++) {
        int row = n / blocks::across, column = n % blocks::across;
        block a, b, c = {};
        if constexpr (M.matmul_mode == __sm_matmul::mode::multiply_accumulate)
            __sm_fetch(party, &X::destination, row, column, c);
        for (long k = 0; k < depth; k += __sm_side) {
            __sm_fetch_oriented<M.transpose_left>(party, &X::left, row, (int)(k / __sm_side), a);
            __sm_fetch_oriented<M.transpose_right>(party, &X::right, (int)(k / __sm_side), column, b);
            __sm_multiply_block(c, a, b, __sm_rest(depth, k));
        }
        __sm_put<M>(party, &X::destination, row, column, c);
    }
}
template <__sm_matmul M, int Simds, class X>
struct __sm_multiply_meeting {
    static void f(sm_simd *s, sm_u32 mask) { __sm_multiply_blocks<M, Simds, X>(__sm_in<X *>(s), mask); }
};

template <class T>
struct __sm_operand {
    static constexpr bool good = false;
};
template <class T, class E, class D, class... G>
struct __sm_operand<tensor<T, E, D, G...>> {
    static constexpr bool good = E::rank() == 2, held = false;
};
template <class T, class E, class L>
struct __sm_operand<cooperative_tensor<T, E, L>> {
    static constexpr bool good = L::rank == 2, held = true;
};
} // namespace __sm_tensors
} // namespace metal
