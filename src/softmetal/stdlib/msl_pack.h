// SPDX-License-Identifier: MIT
// Pack and unpack functions of MSL: normalised integers in one word, to and from float and half vectors.
#pragma once
#include "msl_integer.h"

namespace metal {
inline float __sm_from_unorm(uint x, uint shift, uint bits)
{
    uint top = (1u << bits) - 1;
    return (float)((x >> shift) & top) / (float)top;
}
inline float __sm_from_snorm(uint x, uint shift, uint bits)
{
    int value = (int)(x << (32 - shift - bits)) >> (32 - bits);
    return __builtin_fmaxf((float)value / (float)((1 << (bits - 1)) - 1), -1.0f);
}
inline uint __sm_to_unorm(float x, uint shift, uint bits)
{
    return (uint)__builtin_rintf(saturate(x) * (float)((1u << bits) - 1)) << shift;
}
inline uint __sm_to_snorm(float x, uint shift, uint bits)
{
    int value = (int)__builtin_rintf(clamp(x, -1.0f, 1.0f) * (float)((1 << (bits - 1)) - 1));
    return ((uint)value & ((1u << bits) - 1)) << shift;
}
inline float __sm_from_srgb(float x) { return x <= 0.04045f ? x / 12.92f : pow((x + 0.055f) / 1.055f, 2.4f); }
inline float __sm_to_srgb(float x)
{
    x = saturate(x);
    return x <= 0.0031308f ? x * 12.92f : 1.055f * pow(x, 1.0f / 2.4f) - 0.055f;
}

inline float4 unpack_unorm4x8_to_float(uint p)
{
    return float4(__sm_from_unorm(p, 0, 8), __sm_from_unorm(p, 8, 8), __sm_from_unorm(p, 16, 8),
                  __sm_from_unorm(p, 24, 8));
}
inline float4 unpack_snorm4x8_to_float(uint p)
{
    return float4(__sm_from_snorm(p, 0, 8), __sm_from_snorm(p, 8, 8), __sm_from_snorm(p, 16, 8),
                  __sm_from_snorm(p, 24, 8));
}
inline float4 unpack_unorm4x8_srgb_to_float(uint p)
{
    float4 f = unpack_unorm4x8_to_float(p);
    return float4(__sm_from_srgb(f.x), __sm_from_srgb(f.y), __sm_from_srgb(f.z), f.w);
}
inline float2 unpack_unorm2x16_to_float(uint p)
{
    return float2(__sm_from_unorm(p, 0, 16), __sm_from_unorm(p, 16, 16));
}
inline float2 unpack_snorm2x16_to_float(uint p)
{
    return float2(__sm_from_snorm(p, 0, 16), __sm_from_snorm(p, 16, 16));
}
inline float4 unpack_unorm10a2_to_float(uint p)
{
    return float4(__sm_from_unorm(p, 0, 10), __sm_from_unorm(p, 10, 10), __sm_from_unorm(p, 20, 10),
                  __sm_from_unorm(p, 30, 2));
}
inline float3 unpack_unorm565_to_float(ushort p)
{
    return float3(__sm_from_unorm(p, 11, 5), __sm_from_unorm(p, 5, 6), __sm_from_unorm(p, 0, 5));
}

inline uint pack_float_to_unorm4x8(float4 f)
{
    return __sm_to_unorm(f.x, 0, 8) | __sm_to_unorm(f.y, 8, 8) | __sm_to_unorm(f.z, 16, 8) |
           __sm_to_unorm(f.w, 24, 8);
}
inline uint pack_float_to_snorm4x8(float4 f)
{
    return __sm_to_snorm(f.x, 0, 8) | __sm_to_snorm(f.y, 8, 8) | __sm_to_snorm(f.z, 16, 8) |
           __sm_to_snorm(f.w, 24, 8);
}
inline uint pack_float_to_srgb_unorm4x8(float4 f)
{
    return pack_float_to_unorm4x8(float4(__sm_to_srgb(f.x), __sm_to_srgb(f.y), __sm_to_srgb(f.z), f.w));
}
inline uint pack_float_to_unorm2x16(float2 f)
{
    return __sm_to_unorm(f.x, 0, 16) | __sm_to_unorm(f.y, 16, 16);
}
inline uint pack_float_to_snorm2x16(float2 f)
{
    return __sm_to_snorm(f.x, 0, 16) | __sm_to_snorm(f.y, 16, 16);
}
inline uint pack_float_to_unorm10a2(float4 f)
{
    return __sm_to_unorm(f.x, 0, 10) | __sm_to_unorm(f.y, 10, 10) | __sm_to_unorm(f.z, 20, 10) |
           __sm_to_unorm(f.w, 30, 2);
}
inline ushort pack_float_to_unorm565(float3 f)
{
    return (ushort)(__sm_to_unorm(f.x, 11, 5) | __sm_to_unorm(f.y, 5, 6) | __sm_to_unorm(f.z, 0, 5));
}

// The same for half.
#define SM_PACK_HALF(format, word, N)                                                                        \
    inline half##N unpack_##format##_to_half(word p) { return half##N(unpack_##format##_to_float(p)); }      \
    inline word pack_half_to_##format(half##N h) { return pack_float_to_##format(float##N(h)); }
SM_PACK_HALF(unorm4x8, uint, 4)
SM_PACK_HALF(snorm4x8, uint, 4)
SM_PACK_HALF(unorm2x16, uint, 2)
SM_PACK_HALF(snorm2x16, uint, 2)
SM_PACK_HALF(unorm10a2, uint, 4)
SM_PACK_HALF(unorm565, ushort, 3)
#undef SM_PACK_HALF
inline half4 unpack_unorm4x8_srgb_to_half(uint p) { return half4(unpack_unorm4x8_srgb_to_float(p)); }
inline uint pack_half_to_srgb_unorm4x8(half4 h) { return pack_float_to_srgb_unorm4x8(float4(h)); }
} // namespace metal
