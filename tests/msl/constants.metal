// SPDX-License-Identifier: MIT
// Function constants of all kinds: scalars, vectors, defaults, derived ones, arguments that depend on one.
#include <metal_stdlib>
using namespace metal;

constant bool flag [[function_constant(0)]];
constant int number [[function_constant(1)]];
constant uint unsigned_number [[function_constant(2)]];
constant float scale [[function_constant(3)]];
constant half narrow [[function_constant(4)]];
constant short small [[function_constant(5)]];
constant uchar byte_number [[function_constant(6)]];
constant float4 offset [[function_constant(7)]];
constant int2 pair_of [[function_constant(8)]];
constant uint width [[function_constant(20)]];
constant bool has_extra [[function_constant(21)]];
constant bool has_width = is_function_constant_defined(width);
constant uint used_width = has_width ? width : 10;
constant int twice = number * 2 + (flag ? 1 : 0);
constant ulong wide [[function_constant(9)]];
constant bool3 switches [[function_constant(10)]];

kernel void all_kinds(device float *out [[buffer(0)]])
{
    out[0] = flag ? 1.0f : 0.0f;
    out[1] = number;
    out[2] = unsigned_number;
    out[3] = scale;
    out[4] = narrow;
    out[5] = small;
    out[6] = byte_number;
    *(device packed_float4 *)(out + 7) = offset;
    out[11] = pair_of.x * 100 + pair_of.y;
    out[12] = twice;
    out[13] = wide == 0x123456789abcul;
    out[14] = switches.x + 2 * switches.y + 4 * switches.z;
}

// Its own copy with each set of values: the array's size is one of them.
kernel void derived(device float *out [[buffer(0)]], device float *extra [[buffer(1), function_constant(has_extra)]],
                    uint t [[thread_index_in_threadgroup]])
{
    float sum = 0;
    for (uint i = 0; i < used_width; i++)
        sum += i;
    if (t == 0) {
        out[0] = sum;
        out[1] = has_width;
        out[2] = is_function_constant_defined(has_extra);
    }
    if (is_function_constant_defined(has_extra) && has_extra)
        extra[t] = t * 2;
}
