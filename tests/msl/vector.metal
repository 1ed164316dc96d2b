// SPDX-License-Identifier: MIT
// Vectors of every element type and size: operators, comparisons, shifts, conversions to every other type, packed
// vectors in memory. The order of the slots is that of tests/unit/msl_vector.m.
#include <metal_stdlib>
using namespace metal;

// Writes component by component, so that nothing of the layout of vectors is taken for granted.
template <typename T>
struct sink {
    device T *at;
    template <int N>
    void put(vec<T, N> v)
    {
        for (int c = 0; c < N; c++)
            at[c] = v[c];
        at += 4;
    }
};

template <typename T, int N>
void arithmetic(vec<T, N> a, vec<T, N> b, thread sink<T> &out)
{
    out.put(a + b);
    out.put(a - b);
    out.put(a * b);
    out.put(a / b);
    out.put(-a);
    out.put(a + b.x);
    out.put(b.y * a);
    vec<T, N> c = a;
    c += b;
    c -= T(1);
    out.put(c);
    c = a;
    c++;
    ++c;
    out.put(c--);
    out.put(min(a, b));
    out.put(max(a, b));
    out.put(clamp(a, vec<T, N>(T(2)), vec<T, N>(T(5))));
    out.put(select(a, b, a < b));
    out.put(vec<T, N>(a == b));
    out.put(vec<T, N>(a <= b));
    out.put(vec<T, N>(any(a > b)));
    out.put(vec<T, N>(all(a != b)));
    out.put(vec<T, N>(!(a >= b) || (a == b)));
}

template <typename T, int N>
void bitwise(vec<T, N> a, vec<T, N> b, thread sink<T> &out)
{
    out.put(a % b);
    out.put(a & b);
    out.put(a | b);
    out.put(a ^ b);
    out.put(~a);
    out.put(a << b);
    out.put(a >> b);
    vec<T, N> c = a;
    c <<= 2;
    c ^= b;
    c >>= 1;
    out.put(c);
}

template <typename T, bool Integer>
struct operators {
    template <int N>
    static void all(vec<T, N> a, vec<T, N> b, thread sink<T> &out)
    {
        arithmetic(a, b, out);
        bitwise(a, b, out);
    }
};
template <typename T>
struct operators<T, false> {
    template <int N>
    static void all(vec<T, N> a, vec<T, N> b, thread sink<T> &out)
    {
        arithmetic(a, b, out);
    }
};

// To all twelve types, 4 x 8 bytes each.
template <typename T>
void conversions(vec<T, 4> a, device uchar *out)
{
#define CONVERT(n, U) \
    { \
        vec<U, 4> u4 = vec<U, 4>(a); \
        vec<U, 3> u3 = vec<U, 3>(a.yzw); \
        vec<U, 2> u2(a.zw); \
        device U *to = (device U *)(out + n * 32); \
        to[0] = u4.x; \
        to[1] = u3.x; \
        to[2] = u2.x; \
        to[3] = static_cast<U>(a.w); \
    }
    CONVERT(0, bool)
    CONVERT(1, char)
    CONVERT(2, uchar)
    CONVERT(3, short)
    CONVERT(4, ushort)
    CONVERT(5, int)
    CONVERT(6, uint)
    CONVERT(7, long)
    CONVERT(8, ulong)
    CONVERT(9, half)
    CONVERT(10, bfloat)
    CONVERT(11, float)
}

enum { SLOTS = 32 };

template <typename T, bool Integer>
kernel void vectors(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *out [[buffer(2)]],
                    device uchar *converted [[buffer(3)]], uint i [[thread_position_in_grid]])
{
    vec<T, 4> p = *(device const vec<T, 4> *)(a + 4 * i), q = vec<T, 4>(b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3]);
    sink<T> to;
    to.at = out + i * 3 * SLOTS * 4;
    operators<T, Integer>::all(p.xy, q.xy, to);
    to.at = out + (i * 3 + 1) * SLOTS * 4;
    operators<T, Integer>::all(p.xyz, q.xyz, to);
    to.at = out + (i * 3 + 2) * SLOTS * 4;
    operators<T, Integer>::all(p, q, to);
    conversions(p, converted + i * 12 * 32);
}
#define INSTANCE(T, integer) \
    template [[host_name("vectors_" #T)]] kernel void vectors<T, integer>(device const T *, device const T *, \
                                                                          device T *, device uchar *, uint);
INSTANCE(char, true)
INSTANCE(uchar, true)
INSTANCE(short, true)
INSTANCE(ushort, true)
INSTANCE(int, true)
INSTANCE(uint, true)
INSTANCE(long, true)
INSTANCE(ulong, true)
INSTANCE(half, false)
INSTANCE(bfloat, false)
INSTANCE(float, false)

// Logical operators of bool vectors, and bool to all the others.
kernel void vectors_bool(device const bool *a [[buffer(0)]], device const bool *b [[buffer(1)]],
                         device uchar *out [[buffer(2)]], device uchar *converted [[buffer(3)]],
                         uint i [[thread_position_in_grid]])
{
    bool4 p = bool4(a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3]);
    bool4 q = *(device const bool4 *)(b + 4 * i);
    uchar4 r = uchar4(p && q) + uchar4(p || q) * uchar(2) + uchar4(!p) * uchar(4) + uchar4(p == q) * uchar(8);
    r += uchar4(select(p, q, q)) * uchar(16) + uchar(any(p) ? 32 : 0) + uchar(all(q) ? 64 : 0);
    *(device packed_uchar4 *)(out + 4 * i) = packed_uchar4(r);
    conversions(p, converted + i * 12 * 32);
}

// sizeof and alignof of vectors and packed vectors, in the order of the types above: size2, align2, size3, ...
kernel void sizes(device uint *out [[buffer(0)]])
{
#define SIZES(T) \
    *out++ = sizeof(T##2), *out++ = alignof(T##2), *out++ = sizeof(T##3), *out++ = alignof(T##3), \
    *out++ = sizeof(T##4), *out++ = alignof(T##4), *out++ = sizeof(packed_##T##2), *out++ = alignof(packed_##T##2), \
    *out++ = sizeof(packed_##T##3), *out++ = alignof(packed_##T##3), *out++ = sizeof(packed_##T##4), \
    *out++ = alignof(packed_##T##4);
    SIZES(bool)
    SIZES(char)
    SIZES(uchar)
    SIZES(short)
    SIZES(ushort)
    SIZES(int)
    SIZES(uint)
    SIZES(long)
    SIZES(ulong)
    SIZES(half)
    SIZES(bfloat)
    SIZES(float)
}

// As the host lays it out: 4 + 12 + 6 + 2 + 3 + 1 + 8 bytes.
struct shared_with_host {
    float f;
    packed_float3 p;
    packed_half3 h;
    packed_char2 c;
    packed_uchar3 u;
    bool b;
    packed_short4 s;
};

kernel void packed(device shared_with_host *data [[buffer(0)]], uint i [[thread_position_in_grid]])
{
    device shared_with_host &d = data[i];
    float3 p = d.p;
    d.f = dot(p, float3(1, 2, 3)) + d.p.x + d.p[2];
    d.p = p.zyx * 2.0f;
    d.p.y += 0.5f;
    d.h = packed_half3(half3(d.h) + half3(1));
    d.c.xy = d.c.yx;
    d.u *= uchar3(2, 3, 4);
    d.b = !d.b;
    short4 s = short4(d.s) + d.s;
    d.s = s.wzyx;
}
