// SPDX-License-Identifier: MIT
// The integer functions for all eight types, as scalars and as vectors. The order of the slots is that of
// tests/unit/msl_integer.m.
#include <metal_stdlib>
using namespace metal;

enum { SLOTS = 24 };

template <typename T, typename V>
void functions(V a, V b, V c, V low, V high, thread V *r)
{
    r[0] = V(abs(a));
    r[1] = V(absdiff(a, b));
    r[2] = addsat(a, b);
    r[3] = subsat(a, b);
    r[4] = hadd(a, b);
    r[5] = rhadd(a, b);
    r[6] = mulhi(a, b);
    r[7] = madhi(a, b, c);
    r[8] = madsat(a, b, c);
    r[9] = popcount(a);
    r[10] = clz(a);
    r[11] = ctz(a);
    r[12] = reverse_bits(a);
    r[13] = rotate(a, b);
    r[14] = extract_bits(a, 3, 4);
    r[15] = insert_bits(a, b, 2, 5);
    r[16] = max3(a, b, c);
    r[17] = min3(a, b, c);
    r[18] = median3(a, b, c);
    r[19] = clamp(a, low, high);
    r[20] = min(a, b);
    r[21] = max(a, b);
    r[22] = extract_bits(a, 0, sizeof(T) * 8);
    r[23] = insert_bits(a, b, sizeof(T) * 8 - 1, 1);
}

template <typename T>
kernel void integer(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device const T *c [[buffer(2)]],
                    device T *out [[buffer(3)]], uint i [[thread_position_in_grid]])
{
    if (i % 4 < 2) {
        T r[SLOTS];
        functions<T, T>(a[i], b[i], c[i], min(b[i], c[i]), max(b[i], c[i]), r);
        for (uint s = 0; s < SLOTS; s++)
            out[i * SLOTS + s] = r[s];
    } else {
        vec<T, 3> r[SLOTS], b3 = vec<T, 3>(7, b[i], 7), c3 = vec<T, 3>(5, c[i], 6);
        functions<T, vec<T, 3>>(vec<T, 3>(3, a[i], 4), b3, c3, min(b3, c3), max(b3, c3), r);
        for (uint s = 0; s < SLOTS; s++)
            out[i * SLOTS + s] = r[s].y;
    }
}
#define INSTANCE(T) \
    template [[host_name("integer_" #T)]] kernel void integer<T>(device const T *, device const T *, device const T *, \
                                                                 device T *, uint);
INSTANCE(char)
INSTANCE(uchar)
INSTANCE(short)
INSTANCE(ushort)
INSTANCE(int)
INSTANCE(uint)
INSTANCE(long)
INSTANCE(ulong)

kernel void twenty_four(device const int *a [[buffer(0)]], device const int *b [[buffer(1)]], device int *out [[buffer(2)]],
                        uint i [[thread_position_in_grid]])
{
    out[4 * i] = mul24(a[i], b[i]);
    out[4 * i + 1] = mad24(a[i], b[i], 5);
    out[4 * i + 2] = (int)mul24((uint)a[i], (uint)b[i]);
    out[4 * i + 3] = (int)mad24((uint)a[i], (uint)b[i], 9u);
}
