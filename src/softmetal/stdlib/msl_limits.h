// SPDX-License-Identifier: MIT
// numeric_limits for every scalar of MSL, half and bfloat among them. Compile-time only.
#pragma once
#include "msl_traits.h"

namespace metal {
template <class T>
struct numeric_limits {
    static constexpr bool is_specialized = false;
};
template <class T>
struct numeric_limits<const T> : numeric_limits<T> {};

template <class T, int Digits, int MaxExponent>
struct __sm_float_limits {
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
    static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;
    static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false, traps = false;
    static constexpr int digits = Digits, radix = 2, max_exponent = MaxExponent,
                         min_exponent = 3 - MaxExponent;
    static constexpr T infinity() { return (T)__builtin_inff(); }
    static constexpr T quiet_NaN() { return (T)__builtin_nanf(""); }
    static constexpr T signaling_NaN() { return (T)__builtin_nansf(""); }
    static constexpr T round_error() { return (T)0.5f; }
};
#define SM_FLOAT_LIMITS(T, digits, digits_10, max_exponent, largest, smallest, step, tiny)                   \
    template <>                                                                                              \
    struct numeric_limits<T> : __sm_float_limits<T, digits, max_exponent> {                                  \
        static constexpr int digits10 = digits_10;                                                           \
        static constexpr T max() { return (T)largest; }                                                      \
        static constexpr T min() { return (T)smallest; }                                                     \
        static constexpr T lowest() { return (T) - largest; }                                                \
        static constexpr T epsilon() { return (T)step; }                                                     \
        static constexpr T denorm_min() { return (T)tiny; }                                                  \
    };
SM_FLOAT_LIMITS(float, 24, 6, 128, 0x1.fffffep127f, 0x1p-126f, 0x1p-23f, 0x1p-149f)
SM_FLOAT_LIMITS(half, 11, 3, 16, 65504.0f, 0x1p-14f, 0x1p-10f, 0x1p-24f)
SM_FLOAT_LIMITS(bfloat, 8, 2, 128, 0x1.fep127f, 0x1p-126f, 0x1p-7f, 0x1p-133f)
#undef SM_FLOAT_LIMITS

template <class T>
struct __sm_int_limits {
    static constexpr bool is_specialized = true, is_integer = true, is_exact = true, is_bounded = true;
    static constexpr bool is_signed = T(-1) < T(0), is_modulo = !is_signed, is_iec559 = false;
    static constexpr bool has_infinity = false, has_quiet_NaN = false, has_signaling_NaN = false,
                          traps = false;
    static constexpr int radix = 2, digits = is_same_v<T, bool> ? 1 : sizeof(T) * 8 - is_signed;
    static constexpr int digits10 = digits * 3 / 10;
    static constexpr T max() { return (T)(~0ul >> (64 - digits)); }
    static constexpr T min() { return is_signed ? (T)(-(long)max() - 1) : (T)0; }
    static constexpr T lowest() { return min(); }
    static constexpr T epsilon() { return 0; }
    static constexpr T infinity() { return 0; }
    static constexpr T quiet_NaN() { return 0; }
    static constexpr T denorm_min() { return 0; }
};
#define SM_INT_LIMITS(T)                                                                                     \
    template <>                                                                                              \
    struct numeric_limits<T> : __sm_int_limits<T> {};
SM_INT_LIMITS(bool)
SM_INT_LIMITS(char)
SM_INT_LIMITS(signed char)
SM_INT_LIMITS(uchar)
SM_INT_LIMITS(short)
SM_INT_LIMITS(ushort)
SM_INT_LIMITS(int)
SM_INT_LIMITS(uint)
SM_INT_LIMITS(long)
SM_INT_LIMITS(ulong)
SM_INT_LIMITS(long long)
SM_INT_LIMITS(unsigned long long)
#undef SM_INT_LIMITS
} // namespace metal
