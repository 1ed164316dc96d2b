// SPDX-License-Identifier: MIT
// The mathematical functions, each on its own row of inputs, in straight lines so that the loop over threads
// vectorises. The lists are in the order of tests/unit/msl_math.m.
#include <metal_stdlib>
using namespace metal;

#define EACH1(F) \
    F(exp) F(exp2) F(exp10) F(log) F(log2) F(log10) F(sin) F(cos) F(tan) F(asin) F(acos) F(atan) F(sinh) F(cosh) \
    F(tanh) F(asinh) F(acosh) F(atanh) F(sinpi) F(cospi) F(tanpi) F(sqrt) F(rsqrt) F(floor) F(ceil) F(trunc) F(rint) \
    F(round) F(fabs) F(fract) F(saturate) F(sign) F(abs)
#define EACH2(F) \
    F(pow) F(powr) F(atan2) F(fmod) F(divide) F(fmax) F(fmin) F(copysign) F(fdim) F(step) F(max) F(min) F(nextafter)
#define EACH3(F) F(fma) F(mix) F(clamp) F(smoothstep) F(fmax3) F(fmin3) F(fmedian3)

#define UNARY(f) out[n * row++ + i] = SPACE f(in[n * (row) + i]);
#define BINARY(f) out[n * row++ + i] = SPACE f(in[n * (row) + i], second[n * (row) + i]);
#define TERNARY(f) out[n * row++ + i] = SPACE f(in[n * (row) + i], second[n * (row) + i], third[n * (row) + i]);

template <typename T>
kernel void unary(device const T *in [[buffer(0)]], device T *out [[buffer(3)]], constant uint &n [[buffer(4)]],
                  uint i [[thread_position_in_grid]])
{
    uint row = 0;
#define SPACE
    EACH1(UNARY)
}
template <typename T>
kernel void several(device const T *in [[buffer(0)]], device const T *second [[buffer(1)]],
                    device const T *third [[buffer(2)]], device T *out [[buffer(3)]], constant uint &n [[buffer(4)]],
                    uint i [[thread_position_in_grid]])
{
    uint row = 0;
    EACH2(BINARY)
    EACH3(TERNARY)
}
#define INSTANCES(T) \
    template [[host_name("unary_" #T)]] kernel void unary<T>(device const T *, device T *, constant uint &, uint); \
    template [[host_name("several_" #T)]] kernel void several<T>(device const T *, device const T *, device const T *, \
                                                                 device T *, constant uint &, uint);
INSTANCES(float)
INSTANCES(half)
INSTANCES(bfloat)
#undef SPACE

#define SPACE precise::
kernel void unary_precise(device const float *in [[buffer(0)]], device float *out [[buffer(3)]],
                          constant uint &n [[buffer(4)]], uint i [[thread_position_in_grid]])
{
    uint row = 0;
    EACH1(UNARY)
}
#undef SPACE
#define SPACE fast::
kernel void unary_fast(device const float *in [[buffer(0)]], device float *out [[buffer(3)]],
                       constant uint &n [[buffer(4)]], uint i [[thread_position_in_grid]])
{
    uint row = 0;
    EACH1(UNARY)
}
#undef SPACE

// Two in a vector of four with others.
#define VECTOR(f) \
    { \
        float4 v = f(float4(in[n * row + i], 0.5f, in[n * row + n - 1 - i], 0.25f)); \
        out[n * row + i] = i % 2 ? v.x : f(float2(0.5f, in[n * row + i])).y; \
        row++; \
    }
kernel void unary_vector(device const float *in [[buffer(0)]], device float *out [[buffer(3)]],
                         constant uint &n [[buffer(4)]], uint i [[thread_position_in_grid]])
{
    uint row = 0;
    EACH1(VECTOR)
}

// What has two results, or another type of result; 12 floats per thread.
kernel void two_results(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                        uint i [[thread_position_in_grid]])
{
    device float *r = out + 12 * i;
    float x = in[i], c, whole;
    int e;
    r[0] = sincos(x, c);
    r[1] = c;
    r[2] = modf(x, whole);
    r[3] = whole;
    r[4] = frexp(x, e);
    r[5] = e;
    r[6] = ldexp(x, 5) + ldexp(x, -7);
    r[7] = ilogb(x);
    float4 cc;
    r[8] = sincos(float4(0, x, 1, 2), cc).y;
    r[9] = cc.y;
    int3 ee;
    r[10] = frexp(float3(1, 2, x), ee).z;
    r[11] = ee.z;
}

// Geometric functions; 20 floats per thread from two vectors.
kernel void geometric(device const float4 *a [[buffer(0)]], device const float4 *b [[buffer(1)]],
                      device float *out [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    device float *r = out + 20 * i;
    float4 p = a[i], q = b[i];
    float3 n = normalize(q.xyz);
    r[0] = dot(p, q);
    r[1] = dot(p.xy, q.xy);
    r[2] = dot(p.xyz, q.xyz);
    r[3] = length(p.xyz);
    r[4] = length_squared(p.xy);
    r[5] = distance(p, q);
    r[6] = distance_squared(p.xyz, q.xyz);
    *(device packed_float3 *)(r + 7) = normalize(p.xyz);
    *(device packed_float3 *)(r + 10) = cross(p.xyz, q.xyz);
    *(device packed_float3 *)(r + 13) = reflect(p.xyz, n);
    *(device packed_float3 *)(r + 16) = faceforward(p.xyz, q.xyz, float3(1, 0, 0));
    r[19] = refract(normalize(p.xyz), n, 0.5f).y;
}

// Infinities and NaN, without fast math.
kernel void special(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                    uint i [[thread_position_in_grid]])
{
    device float *r = out + 16 * i;
    float x = in[i];
    r[0] = exp(x);
    r[1] = log(x);
    r[2] = sqrt(x);
    r[3] = rsqrt(x);
    r[4] = 1.0f / x;
    r[5] = floor(x);
    r[6] = fmax(x, 1.0f);
    r[7] = fmin(x, 1.0f);
    r[8] = pow(x, 2.0f);
    r[9] = tanh(x);
    r[10] = atan(x);
    r[11] = isnan(x) + 2 * isinf(x) + 4 * isfinite(x) + 8 * isnormal(x) + 16 * signbit(x);
    r[12] = sin(x);
    r[13] = x == x;
    r[14] = isordered(x, 1.0f) + 2 * isunordered(x, 1.0f);
    r[15] = copysign(3.0f, x);
}
