// SPDX-License-Identifier: MIT
// How a kernel's parameters get their values. The compiler ends a pipeline's unit with
//     SM_KERNEL_ENTRY((expression), SM_SRC(buffer, 0), SM_SRC(thread_position_in_grid, 0), ...)
// where the expression names the kernel function (a template instance, a cast of an overload; in parentheses
// if it has commas), with one source per parameter in order. This defines sm_kernel_thread, from which the
// lowering starts.
#pragma once
#include "kernel_abi.h"
#include "msl_vector.h"

namespace metal {
enum class __sm_attribute {
    buffer,
    threadgroup,
    thread_position_in_grid,
    thread_position_in_threadgroup,
    threadgroup_position_in_grid,
    thread_index_in_threadgroup,
    thread_index_in_simdgroup,
    simdgroup_index_in_threadgroup,
    thread_index_in_quadgroup,
    quadgroup_index_in_threadgroup,
    threads_per_grid,
    threads_per_threadgroup,
    threadgroups_per_grid,
    threads_per_simdgroup,
    thread_execution_width,
    simdgroups_per_threadgroup,
    quadgroups_per_threadgroup,
    threads_per_quadgroup,
    dispatch_threads_per_threadgroup,
    dispatch_simdgroups_per_threadgroup,
    dispatch_quadgroups_per_threadgroup,
    grid_origin,
    grid_size,
};
struct __sm_source {
    __sm_attribute attribute;
    uint index;
};

// A position or size as the parameter's type: a scalar takes x, vectors what they have room for.
template <class P>
inline P __sm_coordinates(uint x, uint y, uint z)
{
    if constexpr (!__sm_is_vector<P>)
        return (P)x;
    else if constexpr (requires(P p) { p.z; })
        return P(x, y, z);
    else
        return P(x, y);
}
template <class P>
inline P __sm_coordinates(const sm_u32 *at)
{
    return __sm_coordinates<P>(at[0], at[1], at[2]);
}
inline uint __sm_dispatched_threads()
{
    const sm_u32 *size = __sm_args()->group_size;
    return size[0] * size[1] * size[2];
}

template <class P, __sm_attribute A>
inline P __sm_builtin()
{
    using enum __sm_attribute;
    if constexpr (A == thread_position_in_grid)
        return __sm_coordinates<P>(__sm_grid_x(), __sm_grid_y(), __sm_grid_z());
    else if constexpr (A == thread_position_in_threadgroup)
        return __sm_coordinates<P>(__sm_x(), __sm_y(), __sm_z());
    else if constexpr (A == threadgroup_position_in_grid)
        return __sm_coordinates<P>(__sm_group()->position);
    else if constexpr (A == thread_index_in_threadgroup)
        return (P)__sm_index();
    else if constexpr (A == thread_index_in_simdgroup)
        return (P)__sm_lane();
    else if constexpr (A == simdgroup_index_in_threadgroup)
        return (P)__sm_simd_index();
    else if constexpr (A == thread_index_in_quadgroup)
        return (P)(__sm_index() & 3);
    else if constexpr (A == quadgroup_index_in_threadgroup)
        return (P)(__sm_index() / 4);
    else if constexpr (A == threads_per_grid || A == grid_size)
        return __sm_coordinates<P>(__sm_args()->grid);
    else if constexpr (A == threads_per_threadgroup)
        return __sm_coordinates<P>(__sm_group()->size);
    else if constexpr (A == threadgroups_per_grid)
        return __sm_coordinates<P>(__sm_args()->groups);
    else if constexpr (A == dispatch_threads_per_threadgroup)
        return __sm_coordinates<P>(__sm_args()->group_size);
    else if constexpr (A == threads_per_simdgroup || A == thread_execution_width)
        return (P)SM_LANES;
    else if constexpr (A == threads_per_quadgroup)
        return (P)4;
    else if constexpr (A == simdgroups_per_threadgroup)
        return (P)__sm_group()->simds;
    else if constexpr (A == quadgroups_per_threadgroup)
        return (P)((__sm_group()->threads + 3) / 4);
    else if constexpr (A == dispatch_simdgroups_per_threadgroup)
        return (P)((__sm_dispatched_threads() + SM_LANES - 1) / SM_LANES);
    else if constexpr (A == dispatch_quadgroups_per_threadgroup)
        return (P)((__sm_dispatched_threads() + 3) / 4);
    else
        return __sm_coordinates<P>(0, 0, 0); // grid_origin
}

template <class P, __sm_source S>
struct __sm_parameter {
    static constexpr bool is_memory =
        S.attribute == __sm_attribute::buffer || S.attribute == __sm_attribute::threadgroup;
    static_assert(!is_memory || is_pointer_v<P> || is_reference_v<P>,
                  "a buffer or threadgroup parameter must be a pointer or a reference");
    using pointee = remove_pointer_t<remove_reference_t<P>>;

    static inline void *address()
    {
        if constexpr (S.attribute == __sm_attribute::threadgroup)
            return __sm_group()->memory + __sm_args()->threadgroup[S.index];
        else
            return __sm_args()->buffer[S.index];
    }
    static inline P get()
    {
        if constexpr (!is_memory)
            return __sm_builtin<remove_cvref_t<P>, S.attribute>();
        else if constexpr (is_reference_v<P>)
            return *(remove_reference_t<P> *)address();
        else
            return (P)address();
    }
    static constexpr sm_arg_layout layout()
    {
        if constexpr (requires { sizeof(pointee); } && !is_void_v<pointee>)
            return {(sm_u32)sizeof(pointee), (sm_u32)alignof(pointee)};
        else
            return {1, 1};
    }
};

struct __sm_layouts {
    sm_u32 count;
    sm_arg_layout entry[SM_MAX_BUFFERS * 2];
};
template <class F, __sm_source... S>
struct __sm_signature {
    static_assert(false, "a kernel returns void");
};
template <class... P, __sm_source... S>
struct __sm_signature<void (*)(P...), S...> {
    static_assert(sizeof...(P) == sizeof...(S), "a kernel needs one source for each parameter");
    template <auto F>
    static inline void call()
    {
        F(__sm_parameter<P, S>::get()...);
    }
    static constexpr __sm_layouts layouts()
    {
        __sm_layouts all = {};
        ((__sm_parameter<P, S>::is_memory ? (void)(all.entry[all.count++] = __sm_parameter<P, S>::layout())
                                          : (void)0),
         ...);
        return all;
    }
};
// Laid out as an array of sm_arg_layout, which is what the lowering reads; one element at least.
template <sm_u32 N>
struct __sm_layout_array {
    sm_arg_layout entry[N ? N : 1];
};
template <sm_u32 N>
constexpr __sm_layout_array<N> __sm_first_layouts(const __sm_layouts &all)
{
    __sm_layout_array<N> first = {};
    for (sm_u32 i = 0; i < N; i++)
        first.entry[i] = all.entry[i];
    return first;
}
} // namespace metal

#define SM_SRC(name, index) (metal::__sm_source{metal::__sm_attribute::name, index})
#define SM_EXPORTED extern "C" __attribute__((used, visibility("default")))
#define SM_KERNEL_ENTRY(expression, ...)                                                                     \
    template <auto F>                                                                                        \
    using __sm_entry = metal::__sm_signature<decltype(F) __VA_OPT__(, ) __VA_ARGS__>;                        \
    SM_EXPORTED void sm_kernel_thread(void) { __sm_entry<expression>::template call<expression>(); }         \
    SM_EXPORTED extern constexpr sm_u32 sm_arg_layouts_count = __sm_entry<expression>::layouts().count;      \
    SM_EXPORTED extern constexpr metal::__sm_layout_array<sm_arg_layouts_count> sm_arg_layouts =             \
        metal::__sm_first_layouts<sm_arg_layouts_count>(__sm_entry<expression>::layouts());
