// SPDX-License-Identifier: MIT
// Private builtins of Apple's compiler that public sources call: MLX's bf16_math.h does the mathematics of
// bfloat through them. The last argument of the mathematical ones chooses precision and changes nothing here.
#pragma once
#include "msl_quad.h"

#define SM_BUILTIN1(name)                                                                                    \
    inline float __metal_##name(float a, int = 0) { return metal::name(a); }
SM_BUILTIN1(acos)
SM_BUILTIN1(acosh)
SM_BUILTIN1(asin)
SM_BUILTIN1(asinh)
SM_BUILTIN1(atan)
SM_BUILTIN1(atanh)
SM_BUILTIN1(ceil)
SM_BUILTIN1(cos)
SM_BUILTIN1(cosh)
SM_BUILTIN1(cospi)
SM_BUILTIN1(exp)
SM_BUILTIN1(exp10)
SM_BUILTIN1(exp2)
SM_BUILTIN1(fabs)
SM_BUILTIN1(floor)
SM_BUILTIN1(fract)
SM_BUILTIN1(log)
SM_BUILTIN1(log10)
SM_BUILTIN1(log2)
SM_BUILTIN1(rint)
SM_BUILTIN1(round)
SM_BUILTIN1(rsqrt)
SM_BUILTIN1(sin)
SM_BUILTIN1(sinh)
SM_BUILTIN1(sinpi)
SM_BUILTIN1(sqrt)
SM_BUILTIN1(tan)
SM_BUILTIN1(tanh)
SM_BUILTIN1(tanpi)
SM_BUILTIN1(trunc)
#undef SM_BUILTIN1
#define SM_BUILTIN2(name)                                                                                    \
    inline float __metal_##name(float a, float b, int = 0) { return metal::name(a, b); }
SM_BUILTIN2(atan2)
SM_BUILTIN2(divide)
SM_BUILTIN2(fmod)
SM_BUILTIN2(fmax)
SM_BUILTIN2(fmin)
SM_BUILTIN2(nextafter)
SM_BUILTIN2(pow)
SM_BUILTIN2(powr)
#undef SM_BUILTIN2
#define SM_BUILTIN3(name)                                                                                    \
    inline float __metal_##name(float a, float b, float c, int = 0) { return metal::name(a, b, c); }
SM_BUILTIN3(fma)
SM_BUILTIN3(fmax3)
SM_BUILTIN3(fmin3)
SM_BUILTIN3(fmedian3)
#undef SM_BUILTIN3
inline float __metal_ldexp(float a, int e, int = 0) { return metal::ldexp(a, e); }
template <class E>
inline float __metal_frexp(float a, E *exponent, int = 0)
{
    int e;
    float mantissa = metal::frexp(a, e);
    *exponent = e;
    return mantissa;
}

inline ushort __metal_get_simdgroup_size(ushort = 0) { return SM_LANES; }
inline ushort __metal_get_thread_index_in_simdgroup(ushort = 0) { return (ushort)__sm_lane(); }
#define SM_BUILTIN_SIMD(name)                                                                                \
    template <class T>                                                                                       \
    inline T __metal_simd_##name(T x)                                                                        \
    {                                                                                                        \
        return metal::simd_##name(x);                                                                        \
    }
SM_BUILTIN_SIMD(sum)
SM_BUILTIN_SIMD(product)
SM_BUILTIN_SIMD(max)
SM_BUILTIN_SIMD(min)
SM_BUILTIN_SIMD(prefix_inclusive_sum)
SM_BUILTIN_SIMD(prefix_exclusive_sum)
SM_BUILTIN_SIMD(prefix_inclusive_product)
SM_BUILTIN_SIMD(prefix_exclusive_product)
#undef SM_BUILTIN_SIMD
#define SM_BUILTIN_SIMD2(name)                                                                               \
    template <class T>                                                                                       \
    inline T __metal_simd_##name(T x, ushort by)                                                             \
    {                                                                                                        \
        return metal::simd_##name(x, by);                                                                    \
    }
SM_BUILTIN_SIMD2(broadcast)
SM_BUILTIN_SIMD2(shuffle)
SM_BUILTIN_SIMD2(shuffle_up)
SM_BUILTIN_SIMD2(shuffle_down)
SM_BUILTIN_SIMD2(shuffle_xor)
SM_BUILTIN_SIMD2(shuffle_rotate_up)
SM_BUILTIN_SIMD2(shuffle_rotate_down)
#undef SM_BUILTIN_SIMD2
// MLX asks for the exclusive or of floats: that of their bits.
inline float __metal_simd_xor(float x) { return as_type<float>(metal::simd_xor(as_type<uint>(x))); }
template <class T>
inline T __metal_simd_shuffle_and_fill_up(T x, T filling, ushort delta, ushort modulo)
{
    return metal::simd_shuffle_and_fill_up(x, filling, delta, modulo);
}
template <class T>
inline T __metal_simd_shuffle_and_fill_down(T x, T filling, ushort delta, ushort modulo)
{
    return metal::simd_shuffle_and_fill_down(x, filling, delta, modulo);
}
