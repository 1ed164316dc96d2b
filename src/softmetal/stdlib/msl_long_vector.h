// SPDX-License-Identifier: MIT
// vec<T, N> with more than four components, which sources use as arrays with arithmetic. They have no
// component names and no swizzles, and the functions of the library do not take them.
#pragma once
#include "msl_vector.h"

namespace metal {
template <class T, int N>
    requires(N > 4)
struct vec<T, N> {
    T components[N];

    vec() = default;
    constexpr vec(T s)
    {
        for (int i = 0; i < N; i++)
            components[i] = s;
    }
    template <__sm_component... A>
        requires(sizeof...(A) == N)
    constexpr vec(A... given) : components{__sm_cast<T>(given)...}
    {
    }
    template <class U>
        requires(!is_same_v<U, T>)
    constexpr explicit vec(const vec<U, N> &from)
    {
        for (int i = 0; i < N; i++)
            components[i] = __sm_cast<T>(from.components[i]);
    }
    template <class I>
    constexpr T &operator[](I i)
    {
        return components[(size_t)i];
    }
    template <class I>
    constexpr const T &operator[](I i) const
    {
        return components[(size_t)i];
    }

#define SM_LONG_ARITHMETIC(op)                                                                               \
    friend constexpr vec operator op(const vec &p, const vec &q)                                             \
    {                                                                                                        \
        vec result;                                                                                          \
        for (int i = 0; i < N; i++)                                                                          \
            result.components[i] = T(p.components[i] op q.components[i]);                                    \
        return result;                                                                                       \
    }                                                                                                        \
    friend constexpr vec &operator op##=(vec & p, const vec & q) { return p = p op q; }
#define SM_LONG_COMPARE(op)                                                                                  \
    friend constexpr vec<bool, N> operator op(const vec & p, const vec & q)                                  \
    {                                                                                                        \
        vec<bool, N> result;                                                                                 \
        for (int i = 0; i < N; i++)                                                                          \
            result.components[i] = p.components[i] op q.components[i];                                       \
        return result;                                                                                       \
    }
    SM_LONG_ARITHMETIC(+)
    SM_LONG_ARITHMETIC(-)
    SM_LONG_ARITHMETIC(*)
    SM_LONG_ARITHMETIC(/)
    SM_LONG_ARITHMETIC(%)
    SM_LONG_ARITHMETIC(&)
    SM_LONG_ARITHMETIC(|)
    SM_LONG_ARITHMETIC(^)
    SM_LONG_COMPARE(==)
    SM_LONG_COMPARE(!=)
    SM_LONG_COMPARE(<)
    SM_LONG_COMPARE(<=)
    SM_LONG_COMPARE(>)
    SM_LONG_COMPARE(>=)
#undef SM_LONG_ARITHMETIC
#undef SM_LONG_COMPARE
    friend constexpr vec operator-(const vec &p)
    {
        vec result;
        for (int i = 0; i < N; i++)
            result.components[i] = T(-p.components[i]);
        return result;
    }
};
} // namespace metal
