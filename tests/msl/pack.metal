// SPDX-License-Identifier: MIT
// Normalised integers packed in one word, to and from float and half. The order is that of tests/unit/msl_pack.m.
#include <metal_stdlib>
using namespace metal;

enum { FORMATS = 7 };

kernel void pack(device const float4 *in [[buffer(0)]], device uint *out [[buffer(1)]], device uint *from_half [[buffer(2)]],
                 uint i [[thread_position_in_grid]])
{
    float4 f = in[i];
    half4 h = half4(f);
    device uint *r = out + i * FORMATS;
    r[0] = pack_float_to_unorm4x8(f);
    r[1] = pack_float_to_snorm4x8(f);
    r[2] = pack_float_to_unorm2x16(f.xy);
    r[3] = pack_float_to_snorm2x16(f.xy);
    r[4] = pack_float_to_unorm10a2(f);
    r[5] = pack_float_to_unorm565(f.xyz);
    r[6] = pack_float_to_srgb_unorm4x8(f);
    r = from_half + i * FORMATS;
    r[0] = pack_half_to_unorm4x8(h);
    r[1] = pack_half_to_snorm4x8(h);
    r[2] = pack_half_to_unorm2x16(h.xy);
    r[3] = pack_half_to_snorm2x16(h.xy);
    r[4] = pack_half_to_unorm10a2(h);
    r[5] = pack_half_to_unorm565(h.xyz);
    r[6] = pack_half_to_srgb_unorm4x8(h);
}

kernel void unpack(device const uint *in [[buffer(0)]], device float4 *out [[buffer(1)]],
                   device half4 *to_half [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    uint w = in[i];
    device float4 *r = out + i * FORMATS;
    r[0] = unpack_unorm4x8_to_float(w);
    r[1] = unpack_snorm4x8_to_float(w);
    r[2] = float4(unpack_unorm2x16_to_float(w), 0, 0);
    r[3] = float4(unpack_snorm2x16_to_float(w), 0, 0);
    r[4] = unpack_unorm10a2_to_float(w);
    r[5] = float4(unpack_unorm565_to_float((ushort)w), 0);
    r[6] = unpack_unorm4x8_srgb_to_float(w);
    device half4 *h = to_half + i * FORMATS;
    h[0] = unpack_unorm4x8_to_half(w);
    h[1] = unpack_snorm4x8_to_half(w);
    h[2] = half4(unpack_unorm2x16_to_half(w), 0, 0);
    h[3] = half4(unpack_snorm2x16_to_half(w), 0, 0);
    h[4] = unpack_unorm10a2_to_half(w);
    h[5] = half4(unpack_unorm565_to_half((ushort)w), 0);
    h[6] = unpack_unorm4x8_srgb_to_half(w);
}
