// SPDX-License-Identifier: MIT
// The Integer chapter of MSL, and min, max, clamp and abs for integers and all vectors. Branch-free where the
// loop over lanes has to vectorise.
#pragma once
#include "msl_limits.h"
#include "msl_math.h"

namespace metal {
template <class T>
concept __sm_integer = is_integral_v<T> && !is_same_v<T, bool>;
template <class T>
concept __sm_any_type = true;

// Wide enough for a product of two.
template <class T>
using __sm_wider = conditional_t<(sizeof(T) <= 4), conditional_t<is_signed_v<T>, long, ulong>,
                                 conditional_t<is_signed_v<T>, __int128, unsigned __int128>>;

template <class T>
constexpr T __sm_madsat(T a, T b, T c)
{
    using W = __sm_wider<T>;
    W x = (W)a * (W)b + (W)c, low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
    return (T)(x < low ? low : x > high ? high : x);
}
// The compiler's own would promote what is narrower than int, and saturate there.
template <class T>
constexpr T __sm_addsat(T a, T b)
{
    if constexpr (sizeof(T) >= 4)
        return __builtin_elementwise_add_sat(a, b);
    int x = (int)a + (int)b, low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
    return (T)(x < low ? low : x > high ? high : x);
}
template <class T>
constexpr T __sm_subsat(T a, T b)
{
    if constexpr (sizeof(T) >= 4)
        return __builtin_elementwise_sub_sat(a, b);
    int x = (int)a - (int)b, low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
    return (T)(x < low ? low : x > high ? high : x);
}
template <class T>
constexpr T __sm_reverse_bits(T x)
{
    if constexpr (sizeof(T) == 1)
        return (T)__builtin_bitreverse8((uchar)x);
    else if constexpr (sizeof(T) == 2)
        return (T)__builtin_bitreverse16((ushort)x);
    else if constexpr (sizeof(T) == 4)
        return (T)__builtin_bitreverse32((uint)x);
    else
        return (T)__builtin_bitreverse64((ulong)x);
}
template <class T>
constexpr T __sm_extract_bits(T x, uint offset, uint bits)
{
    constexpr uint width = sizeof(T) * 8;
    if (bits == 0 || offset >= width)
        return 0;
    if (bits > width - offset)
        bits = width - offset;
    T top = (T)((make_unsigned_t<T>)x << (width - offset - bits));
    return (T)(top >> (width - bits));
}
template <class T>
constexpr T __sm_insert_bits(T base, T insert, uint offset, uint bits)
{
    using U = make_unsigned_t<T>;
    constexpr uint width = sizeof(T) * 8;
    if (bits == 0 || offset >= width)
        return base;
    U mask = (U)((bits >= width ? (U) ~(U)0 : (U)(((U)1 << bits) - 1)) << offset);
    return (T)(((U)base & (U)~mask) | ((U)((U)insert << offset) & mask));
}

// Plain overloads, one set per type, so that arguments convert as Metal's do.
#define SM_INTEGER(T)                                                                                        \
    constexpr T max(T a, T b) { return a < b ? b : a; }                                                      \
    constexpr T min(T a, T b) { return b < a ? b : a; }                                                      \
    constexpr T clamp(T x, T low, T high) { return min(max(x, low), high); }                                 \
    constexpr T max3(T a, T b, T c) { return max(max(a, b), c); }                                            \
    constexpr T min3(T a, T b, T c) { return min(min(a, b), c); }                                            \
    constexpr T median3(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }                         \
    constexpr T abs(T a) { return (T)(a < T(0) ? -a : a); }                                                  \
    constexpr make_unsigned_t<T> absdiff(T a, T b)                                                           \
    {                                                                                                        \
        using U = make_unsigned_t<T>;                                                                        \
        return a > b ? (U)((U)a - (U)b) : (U)((U)b - (U)a);                                                  \
    }                                                                                                        \
    inline T addsat(T a, T b) { return __sm_addsat(a, b); }                                                  \
    inline T subsat(T a, T b) { return __sm_subsat(a, b); }                                                  \
    constexpr T hadd(T a, T b) { return (T)((a & b) + ((a ^ b) >> 1)); }                                     \
    constexpr T rhadd(T a, T b) { return (T)((a | b) - ((a ^ b) >> 1)); }                                    \
    constexpr T mulhi(T a, T b) { return (T)((__sm_wider<T>)a * (__sm_wider<T>)b >> (sizeof(T) * 8)); }      \
    constexpr T madhi(T a, T b, T c) { return (T)(mulhi(a, b) + c); }                                        \
    constexpr T madsat(T a, T b, T c) { return __sm_madsat(a, b, c); }                                       \
    constexpr T popcount(T a) { return (T)__builtin_popcountg((make_unsigned_t<T>)a); }                      \
    constexpr T clz(T a) { return (T)__builtin_clzg((make_unsigned_t<T>)a, (int)sizeof(T) * 8); }            \
    constexpr T ctz(T a) { return (T)__builtin_ctzg((make_unsigned_t<T>)a, (int)sizeof(T) * 8); }            \
    constexpr T reverse_bits(T a) { return __sm_reverse_bits(a); }                                           \
    constexpr T rotate(T a, T by)                                                                            \
    {                                                                                                        \
        using U = make_unsigned_t<T>;                                                                        \
        constexpr uint last = sizeof(T) * 8 - 1;                                                             \
        return (T)(U)((U)((U)a << ((uint)by & last)) | (U)((U)a >> (-(uint)by & last)));                     \
    }                                                                                                        \
    constexpr T extract_bits(T a, uint offset, uint bits) { return __sm_extract_bits(a, offset, bits); }     \
    constexpr T insert_bits(T base, T insert, uint offset, uint bits)                                        \
    {                                                                                                        \
        return __sm_insert_bits(base, insert, offset, bits);                                                 \
    }
SM_INTEGER(char)
SM_INTEGER(int8_t)
SM_INTEGER(uchar)
SM_INTEGER(short)
SM_INTEGER(ushort)
SM_INTEGER(int)
SM_INTEGER(uint)
SM_INTEGER(long)
SM_INTEGER(ulong)
#undef SM_INTEGER

constexpr int mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
constexpr uint mul24(uint a, uint b) { return (a & 0xffffffu) * (b & 0xffffffu); }
constexpr int mad24(int a, int b, int c) { return mul24(a, b) + c; }
constexpr uint mad24(uint a, uint b, uint c) { return mul24(a, b) + c; }

#define SM_VECTOR1(name)                                                                                     \
    template <__sm_integer T, int N>                                                                         \
    inline vec<T, N> name(const vec<T, N> &p)                                                                \
    {                                                                                                        \
        return __sm_map<T>([](T e) { return name(e); }, p);                                                  \
    }
SM_VECTOR1(popcount)
SM_VECTOR1(clz)
SM_VECTOR1(ctz)
SM_VECTOR1(reverse_bits)
#undef SM_VECTOR1
template <class T, int N>
inline vec<T, N> abs(const vec<T, N> &p)
{
    return __sm_map<T>([](T e) { return (T)abs(e); }, p);
}
template <__sm_integer T, int N>
inline vec<make_unsigned_t<T>, N> absdiff(const vec<T, N> &p, const vec<T, N> &q)
{
    return __sm_map<make_unsigned_t<T>>([](T e, T f) { return absdiff(e, f); }, p, q);
}
template <__sm_integer T, int N>
inline vec<T, N> extract_bits(const vec<T, N> &p, uint offset, uint bits)
{
    return __sm_map<T>([=](T e) { return extract_bits(e, offset, bits); }, p);
}
template <__sm_integer T, int N>
inline vec<T, N> insert_bits(const vec<T, N> &base, const vec<T, N> &insert, uint offset, uint bits)
{
    return __sm_map<T>([=](T e, T f) { return insert_bits(e, f, offset, bits); }, base, insert);
}
SM_VECTOR2(max, __sm_any_type)
SM_VECTOR2(min, __sm_any_type)
SM_VECTOR3(max3, __sm_any_type)
SM_VECTOR3(min3, __sm_any_type)
SM_VECTOR3(median3, __sm_any_type)
SM_VECTOR3(clamp, __sm_any_type)
SM_VECTOR2(addsat, __sm_integer)
SM_VECTOR2(subsat, __sm_integer)
SM_VECTOR2(hadd, __sm_integer)
SM_VECTOR2(rhadd, __sm_integer)
SM_VECTOR2(mulhi, __sm_integer)
SM_VECTOR2(rotate, __sm_integer)
SM_VECTOR2(mul24, __sm_integer)
SM_VECTOR3(mad24, __sm_integer)
SM_VECTOR3(madhi, __sm_integer)
SM_VECTOR3(madsat, __sm_integer)

// The namespaces in which a source names its wish for precision. Both are the same code: it is as precise as
// libm, and speed comes from the vectoriser.
// clang-format off: it would indent each line more than the last
#define SM_EVERY_FUNCTION(M) \
    M(abs) M(acos) M(acosh) M(asin) M(asinh) M(atan) M(atan2) M(atanh) M(ceil) M(clamp) M(copysign) \
    M(cos) M(cosh) M(cospi) M(cross) M(distance) M(distance_squared) M(divide) M(dot) M(exp) M(exp10) \
    M(exp2) M(fabs) M(faceforward) M(fdim) M(floor) M(fma) M(fmax) M(fmax3) M(fmedian3) M(fmin) M(fmin3) \
    M(fmod) M(fract) M(frexp) M(ilogb) M(isfinite) M(isinf) M(isnan) M(isnormal) M(isordered) \
    M(isunordered) M(ldexp) M(length) M(length_squared) M(log) M(log10) M(log2) M(max) M(max3) \
    M(median3) M(min) M(min3) M(mix) M(modf) M(nextafter) M(normalize) M(pow) M(powr) M(reflect) \
    M(refract) M(rint) M(round) M(rsqrt) M(saturate) M(select) M(sign) M(signbit) M(sin) M(sincos) \
    M(sinh) M(sinpi) M(smoothstep) M(sqrt) M(step) M(tan) M(tanh) M(tanpi) M(trunc)
// clang-format on
#define SM_USE(name) using metal::name;
namespace precise {
SM_EVERY_FUNCTION(SM_USE)
}
namespace fast {
SM_EVERY_FUNCTION(SM_USE)
}
#undef SM_USE
} // namespace metal
