// SPDX-License-Identifier: MIT
// vec<T, N>: MSL's vectors as classes of scalars. Component by component on purpose: the loop over the lanes
// of a simdgroup is what becomes SIMD, and LLVM vectorises loops of scalars only.
//
// Two details of the layout matter to the code that comes out:
//  - the alignment is put on the first member, not on the class: the compiler then still honours
//  -fmax-type-align,
//    and a float4 pointer made from an odd offset does not fault;
//  - vectors are passed in memory (__sm_in_memory): in registers they would be pairs of <2 x float>, and what
//  is
//    left of those after inlining keeps a loop from being vectorised.
#pragma once
#include "msl_swizzle.h"
#include "msl_traits.h"

namespace metal {
template <class T, int N>
struct vec;
template <class T, int N>
struct packed_vec;

template <class V>
inline constexpr bool __sm_is_vector = false;
template <class T, int N>
inline constexpr bool __sm_is_vector<vec<T, N>> = true;
template <class T, int N>
inline constexpr bool __sm_is_vector<packed_vec<T, N>> = true;
// What may stand for one component in a constructor.
template <class S>
concept __sm_component = !__sm_is_vector<S>;
template <class V, class T, int N>
concept __sm_vector_of = is_same_v<V, vec<T, N>> || is_same_v<V, packed_vec<T, N>>;

// A member that makes the x86-64 calling convention pass the class in memory: it has a field off its
// alignment. There is no room for it in two bytes.
template <int Bytes>
struct __sm_in_memory {
    struct __attribute__((packed)) {
        char even;
        short odd;
    } fields;
};
template <>
struct __sm_in_memory<2> {};

// The components with their two names, swizzles and subscripts, shared by vec and packed_vec.
#define SM_SUBSCRIPT(N)                                                                                      \
    template <class I>                                                                                       \
    constexpr T &operator[](I i)                                                                             \
    {                                                                                                        \
        if (__builtin_is_constant_evaluated())                                                               \
            return SM_AT##N((size_t)i);                                                                      \
        return (&x)[(size_t)i];                                                                              \
    }                                                                                                        \
    template <class I>                                                                                       \
    constexpr const T &operator[](I i) const                                                                 \
    {                                                                                                        \
        if (__builtin_is_constant_evaluated())                                                               \
            return SM_AT##N((size_t)i);                                                                      \
        return (&x)[(size_t)i];                                                                              \
    }
#define SM_AT2(i) (i == 0 ? x : y)
#define SM_AT3(i) (i == 0 ? x : i == 1 ? y : z)
#define SM_AT4(i) (i == 0 ? x : i == 1 ? y : i == 2 ? z : w)

template <class T, int N, int Align>
struct __sm_fields;
template <class T, int Align>
struct __sm_fields<T, 2, Align> {
    union {
        struct {
            alignas(Align) T x;
            T y;
        };
        struct {
            T r, g;
        };
        __sm_in_memory<2 * sizeof(T)> __sm_how_passed;
    };
    __sm_fields() = default;
    constexpr __sm_fields(T p, T q) : x(p), y(q) {}
    SM_SUBSCRIPT(2)
    SM_SWIZZLES2
};
template <class T, int Align>
struct __sm_fields<T, 3, Align> {
    union {
        struct {
            alignas(Align) T x;
            T y, z;
        };
        struct {
            T r, g, b;
        };
        __sm_in_memory<3 * sizeof(T)> __sm_how_passed;
    };
    __sm_fields() = default;
    constexpr __sm_fields(T p, T q, T s) : x(p), y(q), z(s) {}
    SM_SUBSCRIPT(3)
    SM_SWIZZLES3
};
template <class T, int Align>
struct __sm_fields<T, 4, Align> {
    union {
        struct {
            alignas(Align) T x;
            T y, z, w;
        };
        struct {
            T r, g, b, a;
        };
        __sm_in_memory<4 * sizeof(T)> __sm_how_passed;
    };
    __sm_fields() = default;
    constexpr __sm_fields(T p, T q, T s, T t) : x(p), y(q), z(s), w(t) {}
    SM_SUBSCRIPT(4)
    SM_SWIZZLES4
};

#define SM_ZIP2(e) e(x), e(y)
#define SM_ZIP3(e) e(x), e(y), e(z)
#define SM_ZIP4(e) e(x), e(y), e(z), e(w)

// What every vector class has. Binary operators take vectors; a scalar operand arrives as a vector of copies
// through the converting constructor.
#define SM_VEC_MEMBERS(N)                                                                                    \
    vec() = default;                                                                                         \
    template <class U>                                                                                       \
    constexpr explicit vec(const vec<U, N> &from)                                                            \
        requires(!is_same_v<U, T>)                                                                           \
        : base(SM_ZIP##N(SM_CONVERT))                                                                        \
    {                                                                                                        \
    }                                                                                                        \
    SM_VEC_ARITHMETIC(N, +, SM_ADD)                                                                          \
    SM_VEC_ARITHMETIC(N, -, SM_SUB)                                                                          \
    SM_VEC_ARITHMETIC(N, *, SM_MUL)                                                                          \
    SM_VEC_ARITHMETIC(N, /, SM_DIV)                                                                          \
    SM_VEC_ARITHMETIC(N, %, SM_MOD)                                                                          \
    SM_VEC_ARITHMETIC(N, &, SM_AND)                                                                          \
    SM_VEC_ARITHMETIC(N, |, SM_OR)                                                                           \
    SM_VEC_ARITHMETIC(N, ^, SM_XOR)                                                                          \
    SM_VEC_ARITHMETIC(N, <<, SM_SHL)                                                                         \
    SM_VEC_ARITHMETIC(N, >>, SM_SHR)                                                                         \
    SM_VEC_COMPARE(N, ==, SM_EQ)                                                                             \
    SM_VEC_COMPARE(N, !=, SM_NE)                                                                             \
    SM_VEC_COMPARE(N, <, SM_LT)                                                                              \
    SM_VEC_COMPARE(N, <=, SM_LE)                                                                             \
    SM_VEC_COMPARE(N, >, SM_GT)                                                                              \
    SM_VEC_COMPARE(N, >=, SM_GE)                                                                             \
    SM_VEC_COMPARE(N, &&, SM_LAND)                                                                           \
    SM_VEC_COMPARE(N, ||, SM_LOR)                                                                            \
    friend constexpr vec operator+(const vec &p) { return p; }                                               \
    friend constexpr vec operator-(const vec &p) { return vec(SM_ZIP##N(SM_NEG)); }                          \
    friend constexpr vec operator~(const vec &p) { return vec(SM_ZIP##N(SM_NOT)); }                          \
    friend constexpr vec<bool, N> operator!(const vec &p) { return vec<bool, N>(SM_ZIP##N(SM_LNOT)); }       \
    friend constexpr vec &operator++(vec &p) { return p = p + vec(T(1)); }                                   \
    friend constexpr vec &operator--(vec &p) { return p = p - vec(T(1)); }                                   \
    friend constexpr vec operator++(vec &p, int)                                                             \
    {                                                                                                        \
        vec old = p;                                                                                         \
        ++p;                                                                                                 \
        return old;                                                                                          \
    }                                                                                                        \
    friend constexpr vec operator--(vec &p, int)                                                             \
    {                                                                                                        \
        vec old = p;                                                                                         \
        --p;                                                                                                 \
        return old;                                                                                          \
    }

#define SM_VEC_ARITHMETIC(N, op, e)                                                                          \
    friend constexpr vec operator op(const vec &p, const vec &q) { return vec(SM_ZIP##N(e)); }               \
    friend constexpr vec &operator op##=(vec & p, const vec & q) { return p = vec(SM_ZIP##N(e)); }
#define SM_VEC_COMPARE(N, op, e)                                                                             \
    friend constexpr vec<bool, N> operator op(const vec & p, const vec & q)                                  \
    {                                                                                                        \
        return vec<bool, N>(SM_ZIP##N(e));                                                                   \
    }
#define SM_ADD(c) T(p.c + q.c)
#define SM_SUB(c) T(p.c - q.c)
#define SM_MUL(c) T(p.c *q.c)
#define SM_DIV(c) T(p.c / q.c)
#define SM_MOD(c) T(p.c % q.c)
#define SM_AND(c) T(p.c & q.c)
#define SM_OR(c) T(p.c | q.c)
#define SM_XOR(c) T(p.c ^ q.c)
// MSL takes the shift distance modulo the width of the type.
#define SM_SHL(c) T(p.c << (q.c & T(sizeof(T) * 8 - 1)))
#define SM_SHR(c) T(p.c >> (q.c & T(sizeof(T) * 8 - 1)))
#define SM_EQ(c) p.c == q.c
#define SM_NE(c) p.c != q.c
#define SM_LT(c) p.c < q.c
#define SM_LE(c) p.c <= q.c
#define SM_GT(c) p.c > q.c
#define SM_GE(c) p.c >= q.c
#define SM_LAND(c) bool(bool(p.c) & bool(q.c))
#define SM_LOR(c) bool(bool(p.c) | bool(q.c))
#define SM_NEG(c) T(-p.c)
#define SM_NOT(c) T(~p.c)
#define SM_LNOT(c) !p.c
#define SM_CONVERT(c) __sm_cast<T>(from.c)

template <class T>
struct vec<T, 2> : __sm_fields<T, 2, 2 * sizeof(T)> {
    using base = __sm_fields<T, 2, 2 * sizeof(T)>;
    constexpr vec(T s) : base(s, s) {}
    constexpr vec(T p, T q) : base(p, q) {}
    template <__sm_component A, __sm_component B>
    constexpr vec(A p, B q) : base(__sm_cast<T>(p), __sm_cast<T>(q))
    {
    }
    SM_VEC_MEMBERS(2)
};

// Fewer components than the vector has are for lists in braces: the rest is zero.
template <class T>
struct vec<T, 3> : __sm_fields<T, 3, 4 * sizeof(T)> {
    using base = __sm_fields<T, 3, 4 * sizeof(T)>;
    constexpr vec(T s) : base(s, s, s) {}
    constexpr vec(T p, T q, T s) : base(p, q, s) {}
    template <__sm_component A, __sm_component B, __sm_component C = T>
    constexpr vec(A p, B q, C s = C(0)) : base(__sm_cast<T>(p), __sm_cast<T>(q), __sm_cast<T>(s))
    {
    }
    template <__sm_vector_of<T, 2> V>
    constexpr vec(const V &p, T q) : base(p.x, p.y, q)
    {
    }
    template <__sm_vector_of<T, 2> V>
    constexpr vec(T p, const V &q) : base(p, q.x, q.y)
    {
    }
    SM_VEC_MEMBERS(3)
};

template <class T>
struct vec<T, 4> : __sm_fields<T, 4, 4 * sizeof(T)> {
    using base = __sm_fields<T, 4, 4 * sizeof(T)>;
    constexpr vec(T s) : base(s, s, s, s) {}
    constexpr vec(T p, T q, T s, T t) : base(p, q, s, t) {}
    template <__sm_component A, __sm_component B, __sm_component C, __sm_component D = T>
    constexpr vec(A p, B q, C s, D t = D(0))
        : base(__sm_cast<T>(p), __sm_cast<T>(q), __sm_cast<T>(s), __sm_cast<T>(t))
    {
    }
    template <__sm_vector_of<T, 2> V, __sm_vector_of<T, 2> W>
    constexpr vec(const V &p, const W &q) : base(p.x, p.y, q.x, q.y)
    {
    }
    template <__sm_vector_of<T, 2> V>
    constexpr vec(const V &p, T q, T s) : base(p.x, p.y, q, s)
    {
    }
    template <__sm_vector_of<T, 2> V>
    constexpr vec(T p, const V &q, T s) : base(p, q.x, q.y, s)
    {
    }
    template <__sm_vector_of<T, 2> V>
    constexpr vec(T p, T q, const V &s) : base(p, q, s.x, s.y)
    {
    }
    template <__sm_vector_of<T, 3> V>
    constexpr vec(const V &p, T q) : base(p.x, p.y, p.z, q)
    {
    }
    template <__sm_vector_of<T, 3> V>
    constexpr vec(T p, const V &q) : base(p, q.x, q.y, q.z)
    {
    }
    SM_VEC_MEMBERS(4)
};

// f applied to each component: how the functions of the library reach vectors.
template <class R, class F, class T, int N>
constexpr vec<R, N> __sm_map(F f, const vec<T, N> &p)
{
    if constexpr (N == 2)
        return vec<R, 2>(f(p.x), f(p.y));
    else if constexpr (N == 3)
        return vec<R, 3>(f(p.x), f(p.y), f(p.z));
    else
        return vec<R, 4>(f(p.x), f(p.y), f(p.z), f(p.w));
}
template <class R, class F, class T, class U, int N>
constexpr vec<R, N> __sm_map(F f, const vec<T, N> &p, const vec<U, N> &q)
{
    if constexpr (N == 2)
        return vec<R, 2>(f(p.x, q.x), f(p.y, q.y));
    else if constexpr (N == 3)
        return vec<R, 3>(f(p.x, q.x), f(p.y, q.y), f(p.z, q.z));
    else
        return vec<R, 4>(f(p.x, q.x), f(p.y, q.y), f(p.z, q.z), f(p.w, q.w));
}
template <class R, class F, class T, class U, class W, int N>
constexpr vec<R, N> __sm_map(F f, const vec<T, N> &p, const vec<U, N> &q, const vec<W, N> &s)
{
    if constexpr (N == 2)
        return vec<R, 2>(f(p.x, q.x, s.x), f(p.y, q.y, s.y));
    else if constexpr (N == 3)
        return vec<R, 3>(f(p.x, q.x, s.x), f(p.y, q.y, s.y), f(p.z, q.z, s.z));
    else
        return vec<R, 4>(f(p.x, q.x, s.x), f(p.y, q.y, s.y), f(p.z, q.z, s.z), f(p.w, q.w, s.w));
}

// Only the bits are taken over; both types have the same size.
template <class To, class From>
constexpr To as_type(From from)
{
    static_assert(sizeof(To) == sizeof(From), "as_type needs types of the same size");
    return __builtin_bit_cast(To, from);
}
} // namespace metal
using metal::as_type;

// The element types that vectors and packed vectors are made of.
#define SM_EACH_ELEMENT(M)                                                                                   \
    M(bool) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(half) M(bfloat) M(float)
#define SM_VEC_NAMES(T)                                                                                      \
    namespace metal {                                                                                        \
    typedef vec<T, 2> T##2;                                                                                  \
    typedef vec<T, 3> T##3;                                                                                  \
    typedef vec<T, 4> T##4;                                                                                  \
    }                                                                                                        \
    using metal::T##2;                                                                                       \
    using metal::T##3;                                                                                       \
    using metal::T##4;
SM_EACH_ELEMENT(SM_VEC_NAMES)
#undef SM_VEC_NAMES
