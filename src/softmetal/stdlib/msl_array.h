// SPDX-License-Identifier: MIT
// metal::array. A plain aggregate.
#pragma once
#include "msl_traits.h"

namespace metal {
template <class T, size_t N>
struct array {
    T __elems[N ? N : 1];

    static constexpr size_t size() { return N; }
    static constexpr size_t max_size() { return N; }
    static constexpr bool empty() { return N == 0; }
    constexpr T &operator[](size_t i) { return __elems[i]; }
    constexpr const T &operator[](size_t i) const { return __elems[i]; }
    constexpr T *data() { return __elems; }
    constexpr const T *data() const { return __elems; }
    constexpr T *begin() { return __elems; }
    constexpr T *end() { return __elems + N; }
    constexpr const T *begin() const { return __elems; }
    constexpr const T *end() const { return __elems + N; }
    constexpr T &front() { return __elems[0]; }
    constexpr T &back() { return __elems[N - 1]; }
    constexpr const T &front() const { return __elems[0]; }
    constexpr const T &back() const { return __elems[N - 1]; }
    constexpr void fill(const T &x)
    {
        for (size_t i = 0; i < N; i++)
            __elems[i] = x;
    }
};
} // namespace metal
