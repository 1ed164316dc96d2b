// SPDX-License-Identifier: MIT
// Matrices of all shapes: products, sums, transposes, determinants, constructors, layout in memory.
#include <metal_stdlib>
using namespace metal;

// Everything about a matrix of C columns and R rows, 4 x 4 elements per result: a, b and a square one s (C columns) are
// read from 16 numbers, column by column.
template <typename T, int C, int R>
matrix<T, C, R> read(device const float *from)
{
    matrix<T, C, R> m;
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            m[c][r] = T(from[4 * c + r]);
    return m;
}
template <typename T, int C, int R>
void write(device float *to, matrix<T, C, R> m)
{
    for (int c = 0; c < C; c++)
        for (int r = 0; r < R; r++)
            to[4 * c + r] = float(m[c][r]);
}
template <typename T, int N>
vec<T, N> read_vector(device const float *from)
{
    vec<T, N> v;
    for (int i = 0; i < N; i++)
        v[i] = T(from[i]);
    return v;
}
template <typename T, int N>
void write(device float *to, vec<T, N> v)
{
    for (int i = 0; i < N; i++)
        to[i] = float(v[i]);
}

enum { RESULTS = 9 };
template <typename T, int C, int R>
void shape(device const float *in, device float *out)
{
    matrix<T, C, R> a = read<T, C, R>(in), b = read<T, C, R>(in + 16);
    matrix<T, C, C> s = read<T, C, C>(in + 32);
    write(out, a + b);
    write(out + 16, a - b);
    write(out + 32, a * T(2) + T(0.5f) * b);
    write(out + 48, -a);
    write(out + 64, a * s);
    write(out + 80, transpose(a));
    write(out + 96, a * read_vector<T, C>(in + 48));
    write(out + 112, read_vector<T, R>(in + 48) * a);
    a += b;
    a[0] = b[1];
    a[C - 1].y *= T(3);
    write(out + 128, a);
}

template <typename T>
kernel void shapes(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                   uint i [[thread_position_in_grid]])
{
    in += 64 * i;
    out += 9 * RESULTS * 16 * i;
    shape<T, 2, 2>(in, out);
    shape<T, 2, 3>(in, out + 144);
    shape<T, 2, 4>(in, out + 2 * 144);
    shape<T, 3, 2>(in, out + 3 * 144);
    shape<T, 3, 3>(in, out + 4 * 144);
    shape<T, 3, 4>(in, out + 5 * 144);
    shape<T, 4, 2>(in, out + 6 * 144);
    shape<T, 4, 3>(in, out + 7 * 144);
    shape<T, 4, 4>(in, out + 8 * 144);
}
template [[host_name("shapes_float")]] kernel void shapes<float>(device const float *, device float *, uint);
template [[host_name("shapes_half")]] kernel void shapes<half>(device const float *, device float *, uint);

struct transform {
    float3x3 turn; // three columns of 16 bytes
    float4x4 place;
    half2x2 small;
};

kernel void others(device const transform *t [[buffer(0)]], device float *out [[buffer(1)]])
{
    out[0] = determinant(float2x2(t->place[0].xy, t->place[1].xy));
    out[1] = determinant(t->turn);
    out[2] = determinant(t->place);
    float2x2 scalars(1, 2, 3, 4);
    float4x4 diagonal(2.0f);
    float3x3 columns(float3(1, 2, 3), float3(4, 5, 6), float3(7, 8, 9));
    out[3] = scalars[1][0] * 10 + scalars[0][1];
    out[4] = diagonal[2][2] + diagonal[1][2] * 100;
    out[5] = columns[2].y * 10 + columns[0].z;
    out[6] = float(t->small[1][0]);
    out[7] = sizeof(transform);
    out[8] = sizeof(float3x3) + alignof(float3x3) * 100;
    out[9] = sizeof(half4x3) + sizeof(float2x4) * 100;
    half4x4 narrow = half4x4(t->place);
    out[10] = float(narrow[3][1]);
    float4x4 product = diagonal;
    product *= t->place;
    out[11] = product[1][3];
    float4 point = t->place * float4(1, 2, 3, 1);
    *(device packed_float4 *)(out + 12) = point;
}
