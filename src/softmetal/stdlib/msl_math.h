// SPDX-License-Identifier: MIT
// The chapters Math, Common, Geometric and Relational of MSL for float, half, bfloat and their vectors.
// Scalars of half and bfloat go through float. Calls reach LLVM as builtins without errno so that loops over
// them vectorise.
//
// bfloat overloads are constrained templates: sources that bring their own plain overloads for bfloat (as MLX
// does) then win without ambiguity.
#pragma once
#include "msl_vector.h"

namespace metal {
template <class T>
concept __sm_bfloat = is_same_v<T, bfloat>;
template <class T>
concept __sm_floating = is_floating_point_v<T>;

// A function of n values, given as an expression over floats a, b, c.
#define SM_MATH1(name, expression)                                                                           \
    inline float name(float a) { return expression; }                                                        \
    inline half name(half a_)                                                                                \
    {                                                                                                        \
        float a = (float)a_;                                                                                 \
        return (half)(expression);                                                                           \
    }                                                                                                        \
    template <__sm_bfloat B>                                                                                 \
    inline B name(B a_)                                                                                      \
    {                                                                                                        \
        float a = (float)a_;                                                                                 \
        return __sm_to_bfloat(expression);                                                                   \
    }                                                                                                        \
    template <__sm_floating T, int N>                                                                        \
    inline vec<T, N> name(const vec<T, N> &p)                                                                \
    {                                                                                                        \
        return __sm_map<T>([](T e) { return (T)name(e); }, p);                                               \
    }
#define SM_MATH2(name, expression)                                                                           \
    inline float name(float a, float b) { return expression; }                                               \
    inline half name(half a_, half b_)                                                                       \
    {                                                                                                        \
        float a = (float)a_, b = (float)b_;                                                                  \
        return (half)(expression);                                                                           \
    }                                                                                                        \
    template <__sm_bfloat B>                                                                                 \
    inline B name(B a_, B b_)                                                                                \
    {                                                                                                        \
        float a = (float)a_, b = (float)b_;                                                                  \
        return __sm_to_bfloat(expression);                                                                   \
    }                                                                                                        \
    SM_VECTOR2(name, __sm_floating)
#define SM_MATH3(name, expression)                                                                           \
    inline float name(float a, float b, float c) { return expression; }                                      \
    inline half name(half a_, half b_, half c_)                                                              \
    {                                                                                                        \
        float a = (float)a_, b = (float)b_, c = (float)c_;                                                   \
        return (half)(expression);                                                                           \
    }                                                                                                        \
    template <__sm_bfloat B>                                                                                 \
    inline B name(B a_, B b_, B c_)                                                                          \
    {                                                                                                        \
        float a = (float)a_, b = (float)b_, c = (float)c_;                                                   \
        return __sm_to_bfloat(expression);                                                                   \
    }                                                                                                        \
    SM_VECTOR3(name, __sm_floating)
// Scalar to vector, also with a scalar among the operands.
#define SM_VECTOR2(name, concept_)                                                                           \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(const vec<T, N> &p, const vec<T, N> &q)                                            \
    {                                                                                                        \
        return __sm_map<T>([](T e, T f) { return (T)name(e, f); }, p, q);                                    \
    }                                                                                                        \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(const vec<T, N> &p, type_identity_t<T> q)                                          \
    {                                                                                                        \
        return name(p, vec<T, N>(q));                                                                        \
    }                                                                                                        \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(type_identity_t<T> p, const vec<T, N> &q)                                          \
    {                                                                                                        \
        return name(vec<T, N>(p), q);                                                                        \
    }
#define SM_VECTOR3(name, concept_)                                                                           \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(const vec<T, N> &p, const vec<T, N> &q, const vec<T, N> &s)                        \
    {                                                                                                        \
        return __sm_map<T>([](T e, T f, T g) { return (T)name(e, f, g); }, p, q, s);                         \
    }                                                                                                        \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(const vec<T, N> &p, const vec<T, N> &q, type_identity_t<T> s)                      \
    {                                                                                                        \
        return name(p, q, vec<T, N>(s));                                                                     \
    }                                                                                                        \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(const vec<T, N> &p, type_identity_t<T> q, type_identity_t<T> s)                    \
    {                                                                                                        \
        return name(p, vec<T, N>(q), vec<T, N>(s));                                                          \
    }                                                                                                        \
    template <concept_ T, int N>                                                                             \
    inline vec<T, N> name(type_identity_t<T> p, type_identity_t<T> q, const vec<T, N> &s)                    \
    {                                                                                                        \
        return name(vec<T, N>(p), vec<T, N>(q), s);                                                          \
    }

// An angle in half turns, as a quarter turn and an exact rest of at most half of one: pi times the whole
// angle would lose the digits that count near the zeros.
struct __sm_half_turns {
    float rest;    // times pi, in [-0.25, 0.25]
    float quarter; // 0, 1, 2 or 3
    explicit __sm_half_turns(float a)
    {
        float quarters = __builtin_rintf(2.0f * a);
        rest = 3.14159265358979323846f * (a - 0.5f * quarters);
        quarter = quarters - 4.0f * __builtin_floorf(0.25f * quarters);
    }
};
inline float __sm_sinpi(float a)
{
    __sm_half_turns t(a);
    float sine = __builtin_sinf(t.rest), cosine = __builtin_cosf(t.rest);
    float first = t.quarter == 1.0f || t.quarter == 3.0f ? cosine : sine;
    return t.quarter >= 2.0f ? -first : first;
}
inline float __sm_cospi(float a)
{
    __sm_half_turns t(a);
    float sine = __builtin_sinf(t.rest), cosine = __builtin_cosf(t.rest);
    float first = t.quarter == 1.0f || t.quarter == 3.0f ? sine : cosine;
    return t.quarter == 1.0f || t.quarter == 2.0f ? -first : first;
}
inline float __sm_tanpi(float a)
{
    __sm_half_turns t(a);
    float sine = __builtin_sinf(t.rest), cosine = __builtin_cosf(t.rest);
    bool odd = t.quarter == 1.0f || t.quarter == 3.0f;
    float pole = t.quarter == 1.0f ? __builtin_inff() : -__builtin_inff();
    float cotangent = sine == 0.0f ? pole : -cosine / sine;
    return odd ? cotangent : sine / cosine;
}
// fract never reaches 1, as MSL demands; the plain difference does for tiny negative numbers.
inline float __sm_fract(float a)
{
    float f = a - __builtin_floorf(a);
    return f < 1.0f ? f : a == a ? 0x1.fffffep-1f : a;
}
inline float __sm_smoothstep(float low, float high, float x)
{
    float t = __builtin_fminf(__builtin_fmaxf((x - low) / (high - low), 0.0f), 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

// LLVM knows vector versions of exp, log, sin, cos and pow only. What kernels use most of the others is built
// on those, with the result as close as libm's (within 2 ulp), so that loops over it vectorise too.
inline float __sm_power_of_2(int n) { return __builtin_bit_cast(float, (uint)(n + 127) << 23); }
inline float __sm_exp2(float a)
{
    // Beyond these bounds the result is 0 or infinity anyway. Two factors, because 2^n alone may be out of
    // range.
    float x = a < -160.0f ? -160.0f : a > 130.0f ? 130.0f : a;
    float whole = __builtin_rintf(x);
    int n = (int)(x == x ? whole : 0.0f);
    return __builtin_expf((x - whole) * 0.693147180559945309f) * __sm_power_of_2(n / 2) *
           __sm_power_of_2(n - n / 2);
}
inline float __sm_log2(float a)
{
    // Exact for powers of two: the exponent is taken off first, so that the logarithm of [0.7, 1.4) is left.
    bool tiny = a < 0x1p-126f;
    uint bits = __builtin_bit_cast(uint, tiny ? a * 0x1p23f : a) - 0x3f3504f3u;
    int exponent = (int)bits >> 23;
    float mantissa = __builtin_bit_cast(float, (bits & 0x7fffffu) + 0x3f3504f3u);
    bool usual = a > 0.0f && a < __builtin_inff();
    float logarithm = __builtin_logf(usual ? mantissa : a);
    float whole = (float)(exponent - (tiny ? 23 : 0));
    return usual ? whole + logarithm * 1.44269504088896341f : logarithm;
}
inline float __sm_tanh(float a)
{
    // A polynomial near zero, where the quotient would cancel.
    float x = __builtin_fabsf(a), z = x * x;
    float p = ((((-0.00613125703f * z + 0.0210207259f) * z - 0.0538558321f) * z + 0.133328018f) * z -
               0.333333293f) *
                  z * x +
              x;
    float e = __builtin_expf(-2.0f * x);
    return __builtin_copysignf(x < 0.6f ? p : (1.0f - e) / (1.0f + e), a);
}

SM_MATH1(exp, __builtin_expf(a))
SM_MATH1(exp2, __sm_exp2(a))
SM_MATH1(exp10, __builtin_exp10f(a))
SM_MATH1(log, __builtin_logf(a))
SM_MATH1(log2, __sm_log2(a))
SM_MATH1(log10, __builtin_log10f(a))
SM_MATH1(sin, __builtin_sinf(a))
SM_MATH1(cos, __builtin_cosf(a))
SM_MATH1(tan, __builtin_tanf(a))
SM_MATH1(asin, __builtin_asinf(a))
SM_MATH1(acos, __builtin_acosf(a))
SM_MATH1(atan, __builtin_atanf(a))
SM_MATH1(sinh, __builtin_sinhf(a))
SM_MATH1(cosh, __builtin_coshf(a))
SM_MATH1(tanh, __sm_tanh(a))
SM_MATH1(asinh, __builtin_asinhf(a))
SM_MATH1(acosh, __builtin_acoshf(a))
SM_MATH1(atanh, __builtin_atanhf(a))
SM_MATH1(sinpi, __sm_sinpi(a))
SM_MATH1(cospi, __sm_cospi(a))
SM_MATH1(tanpi, __sm_tanpi(a))
SM_MATH1(sqrt, __builtin_sqrtf(a))
SM_MATH1(rsqrt, 1.0f / __builtin_sqrtf(a))
SM_MATH1(floor, __builtin_floorf(a))
SM_MATH1(ceil, __builtin_ceilf(a))
SM_MATH1(trunc, __builtin_truncf(a))
SM_MATH1(rint, __builtin_rintf(a))
SM_MATH1(round, __builtin_roundf(a))
SM_MATH1(fabs, __builtin_fabsf(a))
SM_MATH1(fract, __sm_fract(a))
SM_MATH1(saturate, __builtin_fminf(__builtin_fmaxf(a, 0.0f), 1.0f))
SM_MATH1(sign, (a > 0.0f ? 1.0f : a < 0.0f ? -1.0f : a == a ? a : 0.0f))
SM_MATH2(pow, __builtin_powf(a, b))
SM_MATH2(powr, __builtin_powf(a, b))
SM_MATH2(atan2, __builtin_atan2f(a, b))
SM_MATH2(fmod, __builtin_fmodf(a, b))
SM_MATH2(divide, a / b)
SM_MATH2(fmax, __builtin_fmaxf(a, b))
SM_MATH2(fmin, __builtin_fminf(a, b))
SM_MATH2(copysign, __builtin_copysignf(a, b))
SM_MATH2(fdim, (a > b ? a - b : a == a && b == b ? 0.0f : a + b))
SM_MATH2(step, (b < a ? 0.0f : 1.0f))
SM_MATH3(fma, __builtin_fmaf(a, b, c))
SM_MATH3(fmax3, __builtin_fmaxf(__builtin_fmaxf(a, b), c))
SM_MATH3(fmin3, __builtin_fminf(__builtin_fminf(a, b), c))
SM_MATH3(fmedian3, __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c)))
SM_MATH3(mix, a + (b - a) * c)
SM_MATH3(smoothstep, __sm_smoothstep(a, b, c))

// The next number in the type itself, so not by way of float.
template <class T, class Bits>
inline T __sm_nextafter(T from, T to)
{
    if (from != from || to != to)
        return from + to;
    if (from == to)
        return to;
    constexpr Bits sign = (Bits)((Bits)1 << (sizeof(T) * 8 - 1));
    Bits bits = __builtin_bit_cast(Bits, from);
    if (from == (T)0.0f)
        bits = (Bits)((__builtin_bit_cast(Bits, to) & sign) | 1);
    else
        bits = (Bits)((from < to) == (from > (T)0.0f) ? bits + 1 : bits - 1);
    return __builtin_bit_cast(T, bits);
}
inline float nextafter(float a, float b) { return __sm_nextafter<float, uint>(a, b); }
inline half nextafter(half a, half b) { return __sm_nextafter<half, ushort>(a, b); }
template <__sm_bfloat B>
inline B nextafter(B a, B b)
{
    return __sm_nextafter<bfloat, ushort>(a, b);
}
SM_VECTOR2(nextafter, __sm_floating)

// The overloads that the integers have too (see msl_integer.h).
#define SM_FLOAT_OVERLOADS(T)                                                                                \
    inline T abs(T a) { return fabs(a); }                                                                    \
    inline T max(T a, T b) { return fmax(a, b); }                                                            \
    inline T min(T a, T b) { return fmin(a, b); }                                                            \
    inline T max3(T a, T b, T c) { return fmax3(a, b, c); }                                                  \
    inline T min3(T a, T b, T c) { return fmin3(a, b, c); }                                                  \
    inline T median3(T a, T b, T c) { return fmedian3(a, b, c); }                                            \
    inline T clamp(T x, T low, T high) { return fmin(fmax(x, low), high); }                                  \
    inline bool isnan(T a) { return __builtin_isnan((float)a); }                                             \
    inline bool isinf(T a) { return __builtin_isinf((float)a); }                                             \
    inline bool isfinite(T a) { return __builtin_isfinite((float)a); }                                       \
    inline bool signbit(T a) { return __builtin_signbit((float)a); }                                         \
    inline bool isordered(T a, T b) { return a == a && b == b; }                                             \
    inline bool isunordered(T a, T b) { return a != a || b != b; }                                           \
    inline T ldexp(T a, int e) { return __sm_cast<T>(__builtin_ldexpf((float)a, e)); }                       \
    inline int ilogb(T a) { return __builtin_ilogbf((float)a); }                                             \
    inline T frexp(T a, int &e) { return __sm_cast<T>(__builtin_frexpf((float)a, &e)); }                     \
    inline T modf(T a, T &whole)                                                                             \
    {                                                                                                        \
        whole = trunc(a);                                                                                    \
        return __builtin_isinf((float)a) ? copysign((T)0.0f, a) : copysign((T)(a - whole), a);               \
    }                                                                                                        \
    inline T sincos(T a, T &cosine)                                                                          \
    {                                                                                                        \
        cosine = cos(a);                                                                                     \
        return sin(a);                                                                                       \
    }
SM_FLOAT_OVERLOADS(float)
SM_FLOAT_OVERLOADS(half)
#undef SM_FLOAT_OVERLOADS
inline bool isnormal(float a) { return __builtin_isnormal(a); }
// A half below its own normal range is normal as a float.
inline bool isnormal(half a)
{
    float magnitude = __builtin_fabsf((float)a);
    return magnitude >= 0x1p-14f && magnitude < __builtin_inff();
}

template <__sm_bfloat B>
inline B abs(B a)
{
    return fabs(a);
}
template <__sm_bfloat B>
inline B max(B a, B b)
{
    return fmax(a, b);
}
template <__sm_bfloat B>
inline B min(B a, B b)
{
    return fmin(a, b);
}
template <__sm_bfloat B>
inline B max3(B a, B b, B c)
{
    return fmax3(a, b, c);
}
template <__sm_bfloat B>
inline B min3(B a, B b, B c)
{
    return fmin3(a, b, c);
}
template <__sm_bfloat B>
inline B median3(B a, B b, B c)
{
    return fmedian3(a, b, c);
}
template <__sm_bfloat B>
inline B clamp(B x, B low, B high)
{
    return fmin(fmax(x, low), high);
}
template <__sm_bfloat B>
inline bool isnan(B a)
{
    return __builtin_isnan((float)a);
}
template <__sm_bfloat B>
inline bool isinf(B a)
{
    return __builtin_isinf((float)a);
}
template <__sm_bfloat B>
inline bool isfinite(B a)
{
    return __builtin_isfinite((float)a);
}
template <__sm_bfloat B>
inline bool isnormal(B a)
{
    return __builtin_isnormal((float)a);
}
template <__sm_bfloat B>
inline bool signbit(B a)
{
    return __builtin_signbit((float)a);
}
template <__sm_bfloat B>
inline B ldexp(B a, int e)
{
    return __sm_to_bfloat(__builtin_ldexpf((float)a, e));
}

// Vectors of what has its own result type or a second result.
#define SM_VECTOR_TEST(name)                                                                                 \
    template <__sm_floating T, int N>                                                                        \
    inline vec<bool, N> name(const vec<T, N> &p)                                                             \
    {                                                                                                        \
        return __sm_map<bool>([](T e) { return name(e); }, p);                                               \
    }
SM_VECTOR_TEST(isnan)
SM_VECTOR_TEST(isinf)
SM_VECTOR_TEST(isfinite)
SM_VECTOR_TEST(isnormal)
SM_VECTOR_TEST(signbit)
#undef SM_VECTOR_TEST
template <__sm_floating T, int N>
inline vec<bool, N> isordered(const vec<T, N> &p, const vec<T, N> &q)
{
    return (p == p) && (q == q);
}
template <__sm_floating T, int N>
inline vec<bool, N> isunordered(const vec<T, N> &p, const vec<T, N> &q)
{
    return (p != p) || (q != q);
}
template <__sm_floating T, int N>
inline vec<T, N> ldexp(const vec<T, N> &p, const vec<int, N> &e)
{
    return __sm_map<T>([](T x, int k) { return ldexp(x, k); }, p, e);
}
template <__sm_floating T, int N>
inline vec<int, N> ilogb(const vec<T, N> &p)
{
    return __sm_map<int>([](T x) { return ilogb(x); }, p);
}
template <__sm_floating T, int N>
inline vec<T, N> frexp(const vec<T, N> &p, vec<int, N> &e)
{
    vec<T, N> mantissa;
    for (int i = 0; i < N; i++)
        mantissa[i] = frexp(p[i], e[i]);
    return mantissa;
}
template <__sm_floating T, int N>
inline vec<T, N> modf(const vec<T, N> &p, vec<T, N> &whole)
{
    vec<T, N> part;
    for (int i = 0; i < N; i++)
        part[i] = modf(p[i], whole[i]);
    return part;
}
template <__sm_floating T, int N>
inline vec<T, N> sincos(const vec<T, N> &p, vec<T, N> &cosine)
{
    cosine = cos(p);
    return sin(p);
}

// Relational.
inline bool any(bool a) { return a; }
inline bool all(bool a) { return a; }
template <int N>
constexpr bool any(const vec<bool, N> &p)
{
    bool found = p.x | p.y;
    if constexpr (N > 2)
        found |= p.z;
    if constexpr (N > 3)
        found |= p.w;
    return found;
}
template <int N>
constexpr bool all(const vec<bool, N> &p)
{
    return !any(!p);
}
template <class T>
constexpr T select(T a, T b, bool c)
    requires(is_arithmetic_v<T>)
{
    return c ? b : a;
}
#define SM_SELECT(T)                                                                                         \
    constexpr T select(T a, T b, bool c) { return c ? b : a; }
SM_SELECT(float)
SM_SELECT(half)
SM_SELECT(int)
SM_SELECT(uint)
#undef SM_SELECT
template <class T, int N>
constexpr vec<T, N> select(const vec<T, N> &a, const vec<T, N> &b, const vec<bool, N> &c)
{
    return __sm_map<T>([](T e, T f, bool g) { return g ? f : e; }, a, b, c);
}
template <class T, int N>
constexpr vec<T, N> select(const vec<T, N> &a, const vec<T, N> &b, bool c)
{
    return c ? b : a;
}

// Geometric.
template <class T, int N>
inline T dot(const vec<T, N> &p, const vec<T, N> &q)
{
    T sum = p.x * q.x + p.y * q.y;
    if constexpr (N > 2)
        sum += p.z * q.z;
    if constexpr (N > 3)
        sum += p.w * q.w;
    return sum;
}
template <__sm_floating T, int N>
inline T length_squared(const vec<T, N> &p)
{
    return dot(p, p);
}
template <__sm_floating T, int N>
inline T length(const vec<T, N> &p)
{
    return sqrt(dot(p, p));
}
template <__sm_floating T, int N>
inline T distance_squared(const vec<T, N> &p, const vec<T, N> &q)
{
    return length_squared(p - q);
}
template <__sm_floating T, int N>
inline T distance(const vec<T, N> &p, const vec<T, N> &q)
{
    return length(p - q);
}
template <__sm_floating T, int N>
inline vec<T, N> normalize(const vec<T, N> &p)
{
    return p * vec<T, N>(rsqrt(dot(p, p)));
}
template <__sm_floating T>
inline vec<T, 3> cross(const vec<T, 3> &p, const vec<T, 3> &q)
{
    return vec<T, 3>(T(p.y * q.z - p.z * q.y), T(p.z * q.x - p.x * q.z), T(p.x * q.y - p.y * q.x));
}
template <__sm_floating T, int N>
inline vec<T, N> faceforward(const vec<T, N> &n, const vec<T, N> &incident, const vec<T, N> &reference)
{
    return dot(reference, incident) < T(0) ? n : -n;
}
template <__sm_floating T, int N>
inline vec<T, N> reflect(const vec<T, N> &incident, const vec<T, N> &n)
{
    return incident - vec<T, N>(T(2) * dot(n, incident)) * n;
}
template <__sm_floating T, int N>
inline vec<T, N> refract(const vec<T, N> &incident, const vec<T, N> &n, type_identity_t<T> eta)
{
    T cosine = dot(n, incident);
    T k = T(1) - eta * eta * (T(1) - cosine * cosine);
    if (k < T(0))
        return vec<T, N>(T(0));
    return vec<T, N>(eta) * incident - vec<T, N>(T(eta * cosine + sqrt(k))) * n;
}
} // namespace metal
