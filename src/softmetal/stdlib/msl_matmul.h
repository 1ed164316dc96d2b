// SPDX-License-Identifier: MIT
// mpp::tensor_ops: matmul2d over tensors in memory and cooperative tensors, and the reductions of the latter. The
// lanes of a simdgroup put their operands into an exchange each and meet; one operation then does the whole of the
// simdgroup's work on blocks of 16x16 in float (in int where all is integer), and each lane takes its part back.
// Several simdgroups share the blocks of the destination and never meet each other here.
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

    constexpr matmul2d_descriptor(int rows, int columns,
                                  int depth = (int)metal::__sm_tensors::dynamic_extent,
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

// Block (row, column) of an operand: of fragments in the lanes, of a matrix in one thread, of memory.
template <class X, class T, class E, int R, int C, int S, class Wide>
inline void __sm_fetch(const __sm_party<X> &party, cooperative_tensor<T, E, __sm_fragments<R, C, S>> X::*operand,
                       int row, int column, __sm_block<Wide> &to)
{
    using layout = __sm_fragments<R, C, S>;
    int fragment = row * layout::across + column - (int)party.any().simd * (S > 1 ? layout::each : 0);
    if (party.mask != 0xffffffffu)
        to = {};
    for (uint l = 0; l < SM_LANES; l++) {
        if (!(party.mask >> l & 1))
            continue;
        const T *from = (party.lane[l]->*operand).elements + fragment * __sm_per_lane;
        for (int i = 0; i < __sm_per_lane; i++)
            to.at[__sm_lane_row(l) + i / 4 * 8][__sm_lane_column(l) + i % 4] = __sm_cast<Wide>(from[i]);
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
            for (int j = 0; j < __sm_side; j++)
                to.at[i][j] = __sm_cast<Wide>(line[j]);
        else
            for (int j = 0; j < columns; j++)
                to.at[i][j] = __sm_cast<Wide>(line[j * along]);
    }
}

// Block (row, column) of the product to where it belongs. `M` is the descriptor: memory may go on behind the tile.
template <__sm_matmul M, class X, class T, class E, int R, int C, int S, class Wide>
inline void __sm_put(const __sm_party<X> &party, cooperative_tensor<T, E, __sm_fragments<R, C, S>> X::*operand,
                     int row, int column, const __sm_block<Wide> &from)
{
    using layout = __sm_fragments<R, C, S>;
    int fragment = row * layout::across + column - (int)party.any().simd * (S > 1 ? layout::each : 0);
    for (uint l = 0; l < SM_LANES; l++) {
        if (!(party.mask >> l & 1))
            continue;
        T *to = (party.lane[l]->*operand).elements + fragment * __sm_per_lane;
        for (int i = 0; i < __sm_per_lane; i++)
            to[i] = __sm_cast<T>(from.at[__sm_lane_row(l) + i / 4 * 8][__sm_lane_column(l) + i % 4]);
    }
}
template <__sm_matmul M, class X, class T, class E, int R, int C, class Wide>
inline void __sm_put(const __sm_party<X> &party, cooperative_tensor<T, E, __sm_whole<R, C>> X::*operand, int row,
                     int column, const __sm_block<Wide> &from)
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

template <bool Transpose, class X, class Operand, class Wide>
inline void __sm_fetch_oriented(const __sm_party<X> &party, Operand X::*operand, int row, int column,
                                __sm_block<Wide> &to)
{
    if constexpr (!Transpose) {
        __sm_fetch(party, operand, row, column, to);
    } else {
        __sm_block<Wide> stored;
        __sm_fetch(party, operand, column, row, stored);
        for (int i = 0; i < __sm_side; i++)
            for (int j = 0; j < __sm_side; j++)
                to.at[j][i] = stored.at[i][j];
    }
}

// c += a * b over the first `depth` columns of a, four rows at a time.
template <class Wide>
inline void __sm_multiply_block(__sm_block<Wide> &c, const __sm_block<Wide> &a, const __sm_block<Wide> &b, int depth)
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

namespace mpp {
namespace tensor_ops {
namespace __sm = metal::__sm_tensors;

template <matmul2d_descriptor Descriptor, class Scope, class... Args>
class matmul2d {
    static constexpr bool alone = metal::is_same_v<Scope, __sm::execution_thread>;
    static constexpr int simds = (int)Scope::static_size;
    static_assert(alone || metal::is_same_v<Scope, __sm::execution_simdgroups<Scope::static_size>>,
                  "the scope of matmul2d is execution_thread or execution_simdgroups<N>");

    template <class T, class Coord, int Rows, int Columns>
    using held = __sm::cooperative_tensor<
        metal::remove_cv_t<T>, __sm::extents<Coord, (size_t)Columns, (size_t)Rows>,
        metal::conditional_t<alone, __sm::__sm_whole<Rows, Columns>, __sm::__sm_fragments<Rows, Columns, simds>>>;
    template <class To, class From>
    static inline To convert(const From &from)
    {
        static_assert(metal::is_same_v<typename To::layout, typename From::layout>,
                      "this cooperative tensor has another layout: ask is_compatible_as_left_input or ..._right_input");
        To to;
        for (int i = 0; i < To::get_capacity(); i++)
            to[i] = metal::__sm_cast<typename To::value_type>(from[i]);
        return to;
    }
    template <class T>
    static constexpr bool can_be_input()
    {
        static_assert(__sm::__sm_fixed_depth(Descriptor), "cooperative tensors as inputs need a fixed k");
        static_assert(simds == 1, "cooperative tensors can be inputs of one simdgroup or thread only");
        return true;
    }

public:
    static constexpr matmul2d_descriptor descriptor = Descriptor;
    using scope = Scope;

    template <class LeftT, class RightT, class T, class Coord = int, class... A>
    using cooperative_tensor_left_input_t =
        held<LeftT, Coord, Descriptor.transpose_left ? Descriptor.k : Descriptor.m,
             Descriptor.transpose_left ? Descriptor.m : Descriptor.k>;
    template <class LeftT, class RightT, class T, class Coord = int, class... A>
    using cooperative_tensor_right_input_t =
        held<RightT, Coord, Descriptor.transpose_right ? Descriptor.n : Descriptor.k,
             Descriptor.transpose_right ? Descriptor.k : Descriptor.n>;
    template <class Left, class Right, class T, class Coord = int, class... A>
    using cooperative_tensor_destination_t = held<T, Coord, Descriptor.m, Descriptor.n>;
    template <class Left, class Right, class T, class Coord = int, class... A>
    using cooperative_tensor_row_reduction_destination_t =
        __sm::cooperative_tensor<T, __sm::extents<Coord, (size_t)Descriptor.m>,
                                 __sm::__sm_reduced<__sm::__sm_fragments<Descriptor.m, Descriptor.n, simds>, true>>;
    template <class Left, class Right, class T, class Coord = int, class... A>
    using cooperative_tensor_column_reduction_destination_t =
        __sm::cooperative_tensor<T, __sm::extents<Coord, (size_t)Descriptor.n>,
                                 __sm::__sm_reduced<__sm::__sm_fragments<Descriptor.m, Descriptor.n, simds>, false>>;

    template <class LeftT, class RightT, class T, class Coord = int, class... A>
    inline auto get_left_input_cooperative_tensor() const
    {
        static_assert(can_be_input<T>());
        return cooperative_tensor_left_input_t<LeftT, RightT, T, Coord>();
    }
    template <class LeftT, class RightT, class T, class Coord = int, class S, class E, class L>
    inline auto get_left_input_cooperative_tensor(const __sm::cooperative_tensor<S, E, L> &from) const
    {
        return convert<cooperative_tensor_left_input_t<LeftT, RightT, T, Coord>>(from);
    }
    template <class LeftT, class RightT, class T, class S, class E, class L>
    inline bool is_compatible_as_left_input(const __sm::cooperative_tensor<S, E, L> &) const
    {
        return metal::is_same_v<L, typename cooperative_tensor_left_input_t<LeftT, RightT, T>::layout>;
    }
    template <class LeftT, class RightT, class T, class Coord = int, class... A>
    inline auto get_right_input_cooperative_tensor() const
    {
        static_assert(can_be_input<T>());
        return cooperative_tensor_right_input_t<LeftT, RightT, T, Coord>();
    }
    template <class LeftT, class RightT, class T, class Coord = int, class S, class E, class L>
    inline auto get_right_input_cooperative_tensor(const __sm::cooperative_tensor<S, E, L> &from) const
    {
        return convert<cooperative_tensor_right_input_t<LeftT, RightT, T, Coord>>(from);
    }
    template <class LeftT, class RightT, class T, class S, class E, class L>
    inline bool is_compatible_as_right_input(const __sm::cooperative_tensor<S, E, L> &) const
    {
        return metal::is_same_v<L, typename cooperative_tensor_right_input_t<LeftT, RightT, T>::layout>;
    }
    template <class Left, class Right, class T, class Coord = int, class... A>
    inline auto get_destination_cooperative_tensor() const
    {
        return cooperative_tensor_destination_t<Left, Right, T, Coord>();
    }
    template <class Left, class Right, class T, class Coord = int, class... A>
    inline auto get_row_reduction_destination_cooperative_tensor() const
    {
        return cooperative_tensor_row_reduction_destination_t<Left, Right, T, Coord>();
    }
    template <class Left, class Right, class T, class Coord = int, class... A>
    inline auto get_column_reduction_destination_cooperative_tensor() const
    {
        return cooperative_tensor_column_reduction_destination_t<Left, Right, T, Coord>();
    }

    template <class Left, class Right, class Destination>
    inline void run(const Left &left, const Right &right, Destination &&destination) const
    {
        using D = metal::remove_cvref_t<Destination>;
        using exchange = __sm::__sm_exchange<D, Left, Right>;
        using operands = __sm::__sm_operand<D>;
        static_assert(__sm::__sm_operand<Left>::good && __sm::__sm_operand<Right>::good && operands::good,
                      "matmul2d takes tensors and cooperative tensors of two dimensions");
        static_assert(simds == 1 || (!__sm::__sm_operand<Left>::held && !__sm::__sm_operand<Right>::held),
                      "cooperative tensors can be inputs of one simdgroup or thread only");
        exchange mine = {destination, left, right, simds > 1 ? __sm_simd_index() % simds : 0};
        if constexpr (alone) {
            exchange *lane = &mine;
            __sm::__sm_multiply_blocks<Descriptor, 1>(&lane, 1);
        } else {
            metal::__sm_in<exchange *>(__sm_simd())[__sm_lane()] = &mine;
            __sm_simd_sync(&__sm::__sm_multiply_meeting<Descriptor, simds, exchange>::f);
            // Named behind the meeting too, each lane's exchange lives across it.
            __asm__ volatile("" : : "r"(&mine) : "memory");
        }
        if constexpr (operands::held)
            destination = mine.destination;
    }
};

enum class reduction_operation { sum, max, min };
template <class T>
struct reduction_operation_identity {
    static constexpr T sum_identity = (T)0;
    static constexpr T max_identity = metal::numeric_limits<T>::lowest();
    static constexpr T min_identity = metal::numeric_limits<T>::max();
};

template <class T>
inline T __sm_combine(reduction_operation what, T a, T b)
{
    if (what == reduction_operation::sum)
        return (T)(a + b);
    return what == reduction_operation::max ? metal::max(a, b) : metal::min(a, b);
}
// Each lane its own elements first, then with the lanes that have others of the same row or column.
template <class T, class E, class F, class Matrix, bool ByRow>
inline void __sm_reduce_lines(const __sm::cooperative_tensor<T, E, Matrix> &from,
                              __sm::cooperative_tensor<T, F, __sm::__sm_reduced<Matrix, ByRow>> &to,
                              reduction_operation what, T identity)
{
    using lines = __sm::__sm_reduced<Matrix, ByRow>;
    const ushort distances[] = {ByRow ? 1 : 2, ByRow ? 8 : 4, ByRow ? 0 : 16};
    bool sum = what == reduction_operation::sum;
#pragma clang loop unroll(full)
    for (int i = 0; i < to.get_capacity(); i++)
        to[i] = sum ? (T)0 : identity;
#pragma clang loop unroll(full)
    for (int i = 0; i < from.get_capacity(); i++)
        if (from.is_valid_element(i))
            to[lines::of(i)] = __sm_combine(what, to[lines::of(i)], from[i]);
#pragma clang loop unroll(full)
    for (int i = 0; i < to.get_capacity(); i++) {
#pragma clang loop unroll(full)
        for (int d = 0; d < (ByRow ? 2 : 3); d++)
            to[i] = __sm_combine(what, to[i], metal::simd_shuffle_xor(to[i], distances[d]));
        to[i] = sum ? (T)(to[i] + identity) : to[i];
    }
}
template <class T, class E, class F, class Matrix>
inline void reduce_rows(const __sm::cooperative_tensor<T, E, Matrix> &source,
                        __sm::cooperative_tensor<T, F, __sm::__sm_reduced<Matrix, true>> &destination,
                        reduction_operation what = reduction_operation::sum,
                        T identity = reduction_operation_identity<T>::sum_identity)
{
    __sm_reduce_lines(source, destination, what, identity);
}
template <class T, class E, class F, class Matrix>
inline void reduce_columns(const __sm::cooperative_tensor<T, E, Matrix> &source,
                           __sm::cooperative_tensor<T, F, __sm::__sm_reduced<Matrix, false>> &destination,
                           reduction_operation what = reduction_operation::sum,
                           T identity = reduction_operation_identity<T>::sum_identity)
{
    __sm_reduce_lines(source, destination, what, identity);
}
template <class S, class T, class E, class F, class From, class To>
inline bool is_iterator_compatible(const __sm::cooperative_tensor<S, E, From> &,
                                   const __sm::cooperative_tensor<T, F, To> &)
{
    return __sm::__sm_maps<From, To>;
}
} // namespace tensor_ops
} // namespace mpp
