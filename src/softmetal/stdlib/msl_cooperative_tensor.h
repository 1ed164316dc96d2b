// SPDX-License-Identifier: MIT
// Cooperative tensors: a matrix held in pieces by the threads of one or more simdgroups, or whole by one
// thread. Here are the layouts (which element of which lane stands for which place), element access, load and
// store. Sources rely on the layout of 16x16 fragments that Apple's GPUs have; it must not change.
#pragma once
#include "msl_simd.h"
#include "msl_tensor.h"

namespace metal {
namespace __sm_tensors {
// Of a 16x16 fragment a lane has two times four neighbours of a row: in this row and eight below it.
constexpr int __sm_lane_row(uint lane) { return (int)((lane >> 2 & 4) | (lane >> 1 & 3)); }
constexpr int __sm_lane_column(uint lane) { return (int)((lane >> 2 & 2) | (lane & 1)) * 4; }
enum { __sm_side = 16, __sm_per_lane = 8 };
constexpr int __sm_blocks(int length) { return (length + __sm_side - 1) / __sm_side; }

// A matrix as fragments, row by row of fragments; each of the simdgroups has as many, the last ones maybe too
// many: such elements are not valid. Places are (column, row).
template <int Rows, int Columns, int Simds>
struct __sm_fragments {
    static constexpr int rank = 2, rows = Rows, columns = Columns, simds = Simds;
    static constexpr int across = __sm_blocks(Columns), all = across * __sm_blocks(Rows);
    static constexpr int each = (all + Simds - 1) / Simds, capacity = each * __sm_per_lane;

    static constexpr array<int, 2> place(uint simd, uint lane, int i)
    {
        int fragment = (int)simd * each + i / __sm_per_lane;
        return {fragment % across * __sm_side + __sm_lane_column(lane) + i % 4,
                fragment / across * __sm_side + __sm_lane_row(lane) + i % __sm_per_lane / 4 * 8};
    }
};
// All of a matrix in one thread, row by row.
template <int Rows, int Columns>
struct __sm_whole {
    static constexpr int rank = 2, rows = Rows, columns = Columns, simds = 1;
    static constexpr int across = __sm_blocks(Columns), all = across * __sm_blocks(Rows), each = all;
    static constexpr int capacity = Rows * Columns;
    static constexpr array<int, 2> place(uint, uint, int i) { return {i % Columns, i / Columns}; }
};
// One value per row (or column) of a matrix in fragments of one simdgroup, in each lane that has elements of
// it.
template <class Matrix, bool ByRow>
struct __sm_reduced {
    static_assert(Matrix::simds == 1, "rows and columns are reduced within one simdgroup");
    static constexpr int rank = 1, simds = 1;
    static constexpr int length = ByRow ? Matrix::rows : Matrix::columns;
    static constexpr int per_block = ByRow ? 2 : 4, capacity = __sm_blocks(length) * per_block;

    static constexpr array<int, 1> place(uint, uint lane, int i)
    {
        int start = i / per_block * __sm_side;
        return {ByRow ? start + __sm_lane_row(lane) + i % 2 * 8 : start + __sm_lane_column(lane) + i % 4};
    }
    // Where the value stands that belongs to element i of the matrix.
    static constexpr int of(int i)
    {
        int fragment = i / __sm_per_lane;
        return ByRow ? fragment / Matrix::across * 2 + i % __sm_per_lane / 4
                     : fragment % Matrix::across * 4 + i % 4;
    }
};

template <class T, class Extents, class Layout>
struct cooperative_tensor {
    using element_type = T;
    using value_type = T;
    using extents_type = Extents;
    using layout = Layout;
    using index_type = typename Extents::index_type;
    using thread_index_type = uint16_t;

    // Zero at first: sources accumulate into a new one.
    T elements[Layout::capacity] = {};

    template <class Owner, class Reference>
    struct basic_iterator {
        Owner *owner;
        int index;
        inline Reference operator*() const { return owner->elements[index]; }
        inline basic_iterator &operator++() { return ++index, *this; }
        inline basic_iterator operator++(int) { return {owner, index++}; }
        inline basic_iterator &operator+=(int n) { return index += n, *this; }
        inline basic_iterator operator+(int n) const { return {owner, index + n}; }
        inline bool operator==(const basic_iterator &other) const { return index == other.index; }
        inline auto get_multidimensional_index() const { return owner->get_multidimensional_index(index); }
        inline bool is_valid_element() const { return owner->is_valid_element(index); }
    };
    using iterator = basic_iterator<cooperative_tensor, T &>;
    using const_iterator = basic_iterator<const cooperative_tensor, const T &>;

    static constexpr thread_index_type get_capacity() { return Layout::capacity; }
    static constexpr size_t get_rank() { return Layout::rank; }
    static constexpr index_type get_extent(size_t dimension) { return Extents::static_extent(dimension); }
    inline T &operator[](int i) { return elements[i]; }
    inline const T &operator[](int i) const { return elements[i]; }
    inline iterator begin() { return {this, 0}; }
    inline iterator end() { return {this, Layout::capacity}; }
    inline const_iterator begin() const { return {this, 0}; }
    inline const_iterator end() const { return {this, Layout::capacity}; }

    static inline array<index_type, Layout::rank> get_multidimensional_index(int i)
    {
        array<int, Layout::rank> at = place(i);
        array<index_type, Layout::rank> converted;
        for (int d = 0; d < Layout::rank; d++)
            converted[d] = (index_type)at[d];
        return converted;
    }
    static inline auto get_multidimensional_index(const const_iterator &it)
    {
        return get_multidimensional_index(it.index);
    }
    static inline auto get_multidimensional_index(const iterator &it)
    {
        return get_multidimensional_index(it.index);
    }
    static inline bool is_valid_element(int i)
    {
        array<int, Layout::rank> at = place(i);
        bool valid = true;
        for (int d = 0; d < Layout::rank; d++)
            valid = valid && at[d] < (int)Extents::static_extent(d);
        return valid;
    }
    static inline bool is_valid_element(const const_iterator &it) { return is_valid_element(it.index); }
    static inline bool is_valid_element(const iterator &it) { return is_valid_element(it.index); }
    static inline bool get_mask(int i) { return is_valid_element(i); }

    // What lies outside of the tensor is loaded as zero and not stored.
    template <class Memory>
    inline void load(const Memory &from)
    {
        for (int i = 0; i < Layout::capacity; i++)
            elements[i] = is_valid_element(i) && from.__sm_has(place(i)) ? __sm_cast<T>(from[place(i)])
                                                                         : __sm_cast<T>(0);
    }
    template <class Memory>
    inline void store(const Memory &to) const
    {
        for (int i = 0; i < Layout::capacity; i++)
            if (is_valid_element(i) && to.__sm_has(place(i)))
                to[place(i)] = __sm_cast<typename Memory::value_type>(elements[i]);
    }

    // From an element of a matrix to the value of its row or column, or to the same place.
    template <class Iterator>
    inline iterator map_iterator(const Iterator &it)
    {
        return {this, map_index<Iterator>(it)};
    }
    template <class Iterator>
    inline const_iterator map_iterator(const Iterator &it) const
    {
        return {this, map_index<Iterator>(it)};
    }

  private:
    static inline array<int, Layout::rank> place(int i)
    {
        return Layout::place(Layout::simds > 1 ? __sm_simd_index() % Layout::simds : 0, __sm_lane(), i);
    }
    template <class Iterator>
    static inline int map_index(const Iterator &it)
    {
        if constexpr (requires { Layout::of(0); })
            return Layout::of(it.index);
        else
            return it.index;
    }
};

template <class T>
inline constexpr bool __sm_is_cooperative = false;
template <class T, class E, class L>
inline constexpr bool __sm_is_cooperative<cooperative_tensor<T, E, L>> = true;
template <class T>
inline constexpr bool is_cooperative_tensor_v = __sm_is_cooperative<remove_cvref_t<T>>;

// Can elements of From be found in To by map_iterator?
template <class From, class To>
inline constexpr bool __sm_maps = is_same_v<From, To>;
template <class Matrix, bool ByRow>
inline constexpr bool __sm_maps<Matrix, __sm_reduced<Matrix, ByRow>> = true;
} // namespace __sm_tensors
} // namespace metal
