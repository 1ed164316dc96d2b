// SPDX-License-Identifier: MIT
// mpp::tensor_ops as sources see it: matmul2d over tensors in memory and cooperative tensors, and the
// reductions of the latter. The lanes of a simdgroup put their operands into an exchange each and meet; one
// operation does the whole of the simdgroup's work, and each lane takes its part back. Several simdgroups
// share the blocks of the destination and never meet each other here.
#pragma once
#include "msl_matmul_blocks.h"

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
    using held =
        __sm::cooperative_tensor<metal::remove_cv_t<T>, __sm::extents<Coord, (size_t)Columns, (size_t)Rows>,
                                 metal::conditional_t<alone, __sm::__sm_whole<Rows, Columns>,
                                                      __sm::__sm_fragments<Rows, Columns, simds>>>;
    template <class To, class From>
    static inline To convert(const From &from)
    {
        static_assert(
            metal::is_same_v<typename To::layout, typename From::layout>,
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
    using cooperative_tensor_row_reduction_destination_t = __sm::cooperative_tensor<
        T, __sm::extents<Coord, (size_t)Descriptor.m>,
        __sm::__sm_reduced<__sm::__sm_fragments<Descriptor.m, Descriptor.n, simds>, true>>;
    template <class Left, class Right, class T, class Coord = int, class... A>
    using cooperative_tensor_column_reduction_destination_t = __sm::cooperative_tensor<
        T, __sm::extents<Coord, (size_t)Descriptor.n>,
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
