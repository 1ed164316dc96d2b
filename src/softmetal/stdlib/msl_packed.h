// SPDX-License-Identifier: MIT
// packed_vec<T, N>: vectors with the alignment of their element, for memory shared with the host. Arithmetic
// gives ordinary vectors.
#pragma once
#include "msl_vector.h"

namespace metal {
#define SM_PACKED_MEMBERS(N)                                                                                 \
    packed_vec() = default;                                                                                  \
    constexpr packed_vec(T s) : packed_vec(vec<T, N>(s)) {}                                                  \
    template <class U>                                                                                       \
    constexpr explicit packed_vec(const vec<U, N> &from)                                                     \
        requires(!is_same_v<U, T>)                                                                           \
        : packed_vec(vec<T, N>(from))                                                                        \
    {                                                                                                        \
    }                                                                                                        \
    template <class... A>                                                                                    \
    constexpr packed_vec(A... parts)                                                                         \
        requires(sizeof...(A) > 1 && is_constructible_v<vec<T, N>, A...>)                                    \
        : packed_vec(vec<T, N>(parts...))                                                                    \
    {                                                                                                        \
    }                                                                                                        \
    template <class U>                                                                                       \
    constexpr explicit operator vec<U, N>() const                                                            \
        requires(!is_same_v<U, T>)                                                                           \
    {                                                                                                        \
        return vec<U, N>((vec<T, N>)*this);                                                                  \
    }                                                                                                        \
    friend constexpr vec<T, N> operator-(const packed_vec &p) { return -(vec<T, N>)p; }                      \
    friend constexpr vec<T, N> operator+(const packed_vec &p) { return p; }                                  \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, +)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, -)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, *)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, /)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, %)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, &)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, |)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, ^)                                                              \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, <<)                                                             \
    SM_PACKED_OPERATOR(N, vec<T SM_COMMA N>, >>)                                                             \
    SM_PACKED_OPERATOR(N, vec<bool SM_COMMA N>, ==)                                                          \
    SM_PACKED_OPERATOR(N, vec<bool SM_COMMA N>, !=)                                                          \
    SM_PACKED_OPERATOR(N, vec<bool SM_COMMA N>, <)                                                           \
    SM_PACKED_OPERATOR(N, vec<bool SM_COMMA N>, <=)                                                          \
    SM_PACKED_OPERATOR(N, vec<bool SM_COMMA N>, >)                                                           \
    SM_PACKED_OPERATOR(N, vec<bool SM_COMMA N>, >=)                                                          \
    SM_PACKED_ASSIGN(N, +)                                                                                   \
    SM_PACKED_ASSIGN(N, -)                                                                                   \
    SM_PACKED_ASSIGN(N, *)                                                                                   \
    SM_PACKED_ASSIGN(N, /)                                                                                   \
    SM_PACKED_ASSIGN(N, %)                                                                                   \
    SM_PACKED_ASSIGN(N, &)                                                                                   \
    SM_PACKED_ASSIGN(N, |)                                                                                   \
    SM_PACKED_ASSIGN(N, ^)                                                                                   \
    SM_PACKED_ASSIGN(N, <<)                                                                                  \
    SM_PACKED_ASSIGN(N, >>)
#define SM_COMMA ,

// Every mixture is spelled out: with conversions both ways between packed_vec and vec, fewer would be
// ambiguous.
#define SM_PACKED_OPERATOR(N, R, op)                                                                         \
    friend constexpr R operator op(const packed_vec &p, const packed_vec &q)                                 \
    {                                                                                                        \
        return (vec<T, N>)p op(vec<T, N>) q;                                                                 \
    }                                                                                                        \
    friend constexpr R operator op(const packed_vec &p, const vec<T, N> &q) { return (vec<T, N>)p op q; }    \
    friend constexpr R operator op(const vec<T, N> &p, const packed_vec &q) { return p op(vec<T, N>) q; }    \
    friend constexpr R operator op(const packed_vec &p, T q) { return (vec<T, N>)p op vec<T, N>(q); }        \
    friend constexpr R operator op(T p, const packed_vec &q) { return vec<T, N>(p) op(vec<T, N>) q; }
#define SM_PACKED_ASSIGN(N, op)                                                                              \
    friend constexpr packed_vec &operator op##=(packed_vec & p, const vec<T, N> &q)                          \
    {                                                                                                        \
        return p = packed_vec((vec<T, N>)p op q);                                                            \
    }

template <class T>
struct packed_vec<T, 2> : __sm_fields<T, 2, alignof(T)> {
    constexpr packed_vec(const vec<T, 2> &from) : __sm_fields<T, 2, alignof(T)>(from.x, from.y) {}
    constexpr operator vec<T, 2>() const { return vec<T, 2>(this->x, this->y); }
    SM_PACKED_MEMBERS(2)
};
template <class T>
struct packed_vec<T, 3> : __sm_fields<T, 3, alignof(T)> {
    constexpr packed_vec(const vec<T, 3> &from) : __sm_fields<T, 3, alignof(T)>(from.x, from.y, from.z) {}
    constexpr operator vec<T, 3>() const { return vec<T, 3>(this->x, this->y, this->z); }
    SM_PACKED_MEMBERS(3)
};
template <class T>
struct packed_vec<T, 4> : __sm_fields<T, 4, alignof(T)> {
    constexpr packed_vec(const vec<T, 4> &from)
        : __sm_fields<T, 4, alignof(T)>(from.x, from.y, from.z, from.w)
    {
    }
    constexpr operator vec<T, 4>() const { return vec<T, 4>(this->x, this->y, this->z, this->w); }
    SM_PACKED_MEMBERS(4)
};
} // namespace metal

#define SM_PACKED_NAMES(T)                                                                                   \
    namespace metal {                                                                                        \
    typedef packed_vec<T, 2> packed_##T##2;                                                                  \
    typedef packed_vec<T, 3> packed_##T##3;                                                                  \
    typedef packed_vec<T, 4> packed_##T##4;                                                                  \
    }                                                                                                        \
    using metal::packed_##T##2;                                                                              \
    using metal::packed_##T##3;                                                                              \
    using metal::packed_##T##4;
SM_EACH_ELEMENT(SM_PACKED_NAMES)
#undef SM_PACKED_NAMES
#undef SM_COMMA
