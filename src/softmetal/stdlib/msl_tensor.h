// SPDX-License-Identifier: MIT
// Tensors of Metal 4 as views of memory: extents (static and dynamic), strides, slices. The first dimension
// is the innermost one. Handles, offsets and inline tensors are one thing here, because the host has no
// tensor objects. A slice without static sizes ends where its parent ends; static sizes are believed.
#pragma once
#include "msl_array.h"

namespace metal {
namespace __sm_tensors {
inline constexpr size_t dynamic_extent = (size_t)-1;

template <class Index, size_t... E>
struct extents {
    using index_type = Index;
    using size_type = make_unsigned_t<Index>;
    using rank_type = size_t;
    Index sizes[sizeof...(E)];

    static constexpr size_t rank() { return sizeof...(E); }
    static constexpr size_t rank_dynamic() { return ((E == dynamic_extent ? 1 : 0) + ... + 0); }
    static constexpr size_t static_extent(size_t dimension)
    {
        constexpr size_t all[] = {E...};
        return all[dimension];
    }
    constexpr Index extent(size_t dimension) const { return sizes[dimension]; }

    constexpr extents() : sizes{(E == dynamic_extent ? Index(0) : Index(E))...} {}
    // Either all of them, or the dynamic ones only.
    template <class... A>
        requires((sizeof...(A) == sizeof...(E) ||
                  sizeof...(A) == ((E == dynamic_extent ? 1 : 0) + ... + 0)) &&
                 sizeof...(A) > 0 && (is_convertible_v<A, Index> && ...))
    constexpr extents(A... given) : extents()
    {
        const Index values[] = {Index(given)...};
        fill(values, sizeof...(A));
    }
    template <class A, size_t N>
        requires(N == sizeof...(E) || N == ((E == dynamic_extent ? 1 : 0) + ... + 0))
    constexpr extents(const array<A, N> &given) : extents()
    {
        Index values[N];
        for (size_t i = 0; i < N; i++)
            values[i] = Index(given[i]);
        fill(values, N);
    }
    template <class I, size_t... O>
        requires(sizeof...(O) == sizeof...(E))
    constexpr extents(const extents<I, O...> &other)
    {
        for (size_t i = 0; i < sizeof...(E); i++)
            sizes[i] = Index(other.extent(i));
    }
    template <class I, size_t... O>
    constexpr bool operator==(const extents<I, O...> &other) const
    {
        bool same = sizeof...(O) == sizeof...(E);
        for (size_t i = 0; i < sizeof...(E) && same; i++)
            same = (size_t)sizes[i] == (size_t)other.extent(i);
        return same;
    }

  private:
    constexpr void fill(const Index *values, size_t count)
    {
        for (size_t i = 0, next = 0; i < sizeof...(E); i++)
            if (count == sizeof...(E) || static_extent(i) == dynamic_extent)
                sizes[i] = values[next++];
    }
};

template <class Index, class Sequence>
struct __sm_dynamic;
template <class Index, size_t... I>
struct __sm_dynamic<Index, index_sequence<I...>> {
    using type = extents<Index, (I - I + dynamic_extent)...>;
};
template <class Index, size_t Rank>
using dextents = typename __sm_dynamic<Index, make_index_sequence<Rank>>::type;

struct tensor_handle {};
struct tensor_offset {};
struct tensor_inline {};

template <class T, class Extents, class Descriptor = tensor_handle, class... Tags>
struct tensor {
    using element_type = T;
    using value_type = remove_cv_t<T>;
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = size_t;
    using data_handle_type = T *;
    static constexpr size_t Rank = Extents::rank();
    using strides_type = array<index_type, Rank>;

    T *data;
    Extents sizes;
    strides_type steps;

    tensor() = default;
    // Without strides the elements lie side by side.
    constexpr tensor(T *first, const Extents &given) : data(first), sizes(given)
    {
        index_type step = 1;
        for (size_t i = 0; i < Rank; i++) {
            steps[i] = step;
            step *= sizes.extent(i);
        }
    }
    template <class S>
    constexpr tensor(T *first, const Extents &given, const array<S, Rank> &strides)
        : data(first), sizes(given)
    {
        for (size_t i = 0; i < Rank; i++)
            steps[i] = (index_type)strides[i];
    }

    static constexpr size_t get_rank() { return Rank; }
    static constexpr size_t get_static_extent(size_t dimension) { return Extents::static_extent(dimension); }
    constexpr const Extents &extents() const { return sizes; }
    constexpr index_type get_extent(size_t dimension) const { return sizes.extent(dimension); }
    constexpr index_type get_stride(size_t dimension) const { return steps[dimension]; }
    constexpr const strides_type &strides() const { return steps; }
    constexpr T *data_handle() const { return data; }
    constexpr T *get_data_handle() const { return data; }

    template <class I>
    constexpr T &operator[](const array<I, Rank> &at) const
    {
        long offset = 0;
        for (size_t i = 0; i < Rank; i++)
            offset += (long)at[i] * steps[i];
        return data[offset];
    }
    template <class... I>
        requires(sizeof...(I) == Rank)
    constexpr value_type get(I... at) const
    {
        return (*this)[array<long, Rank>{(long)at...}];
    }
    template <class... I>
        requires(sizeof...(I) == Rank)
    constexpr void set(value_type x, I... at) const
    {
        (*this)[array<long, Rank>{(long)at...}] = x;
    }
    template <class I>
    constexpr bool __sm_has(const array<I, Rank> &at) const
    {
        bool has = true;
        for (size_t i = 0; i < Rank; i++)
            has = has && at[i] >= 0 && at[i] < sizes.extent(i);
        return has;
    }

    // Static sizes may be given for all dimensions; dynamic_extent stands for what is left.
    template <size_t... Size, class... I>
        requires(sizeof...(I) == Rank && (sizeof...(Size) == Rank || sizeof...(Size) == 0))
    constexpr auto slice(I... from) const
    {
        if constexpr (sizeof...(Size) == 0)
            return cut<dextents<index_type, Rank>>({(index_type)from...});
        else
            return cut<__sm_tensors::extents<index_type, Size...>>({(index_type)from...});
    }
    template <size_t... Size, class... I>
    constexpr auto static_slice(I... from) const
    {
        return slice<Size...>(from...);
    }

  private:
    template <class E>
    constexpr auto cut(const strides_type &from) const
    {
        using kind = conditional_t<is_same_v<Descriptor, tensor_handle>, tensor_offset, Descriptor>;
        E left;
        for (size_t i = 0; i < Rank; i++)
            if (E::static_extent(i) == dynamic_extent)
                left.sizes[i] = sizes.extent(i) > from[i] ? sizes.extent(i) - from[i] : 0;
        return tensor<T, E, kind, Tags...>(&(*this)[from], left, steps);
    }
};
template <class T, class I, size_t... E>
tensor(T *, const extents<I, E...> &) -> tensor<T, extents<I, E...>, tensor_inline>;
template <class T, class I, size_t... E, class S, size_t N>
tensor(T *, const extents<I, E...> &, const array<S, N> &) -> tensor<T, extents<I, E...>, tensor_inline>;

template <class T>
inline constexpr bool __sm_is_tensor = false;
template <class T, class E, class D, class... G>
inline constexpr bool __sm_is_tensor<tensor<T, E, D, G...>> = true;
template <class T>
inline constexpr bool is_tensor_v = __sm_is_tensor<remove_cvref_t<T>>;

// Which threads do an operation together.
template <size_t N>
struct execution_simdgroups {
    static_assert(N > 0, "execution_simdgroups needs at least one simdgroup");
    static constexpr size_t static_size = N;
    constexpr uint size() const { return N; }
};
template <size_t N>
struct execution_threads {
    static_assert(N == 1, "execution_threads takes one thread");
    static constexpr size_t static_size = N;
    constexpr uint size() const { return N; }
};
using execution_simdgroup = execution_simdgroups<1>;
using execution_thread = execution_threads<1>;
} // namespace __sm_tensors
} // namespace metal
