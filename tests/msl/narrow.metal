// SPDX-License-Identifier: MIT
// half and bfloat: conversions both ways, arithmetic in the type, classification.
#include <metal_stdlib>
using namespace metal;

template <typename T>
kernel void widen(device const ushort *bits [[buffer(0)]], device float *wide [[buffer(1)]],
                  device uint *classes [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    T x = as_type<T>(bits[i]);
    wide[i] = (float)x;
    classes[i] = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | isnormal(x) << 3 | signbit(x) << 4 |
                 (as_type<ushort>(x) == bits[i]) << 5;
}
template [[host_name("widen_half")]] kernel void widen<half>(device const ushort *, device float *, device uint *, uint);
template [[host_name("widen_bfloat")]] kernel void widen<bfloat>(device const ushort *, device float *, device uint *,
                                                                 uint);

// The same conversion written in several ways.
template <typename T>
kernel void narrow(device const float *in [[buffer(0)]], device ushort4 *bits [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    T assigned = in[i];
    vec<T, 2> pair = vec<T, 2>(float2(in[i], 1.0f));
    threadgroup T cell[64];
    cell[i % 64] = (T)in[i];
    bits[i] = ushort4(as_type<ushort>(assigned), as_type<ushort>(T(in[i])), as_type<ushort>(pair.x),
                      as_type<ushort>(cell[i % 64]));
}
template [[host_name("narrow_half")]] kernel void narrow<half>(device const float *, device ushort4 *, uint);
template [[host_name("narrow_bfloat")]] kernel void narrow<bfloat>(device const float *, device ushort4 *, uint);

enum { SUMS = 8 };
template <typename T>
kernel void arithmetic(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *out [[buffer(2)]],
                       uint i [[thread_position_in_grid]])
{
    device T *r = out + i * SUMS;
    T x = a[i], y = b[i];
    r[0] = x + y;
    r[1] = x - y;
    r[2] = x * y;
    r[3] = x / y;
    r[4] = sqrt(fabs(x));
    r[5] = -x;
    r[6] = max(x, y);
    T sum = x;
    sum += y;
    sum *= y; // rounded twice
    r[7] = sum;
}
template [[host_name("arithmetic_half")]] kernel void arithmetic<half>(device const half *, device const half *,
                                                                       device half *, uint);
template [[host_name("arithmetic_bfloat")]] kernel void arithmetic<bfloat>(device const bfloat *, device const bfloat *,
                                                                           device bfloat *, uint);
