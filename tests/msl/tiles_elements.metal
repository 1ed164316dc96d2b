// SPDX-License-Identifier: MIT
// simdgroup_matrix with thread_elements, where each lane has two elements: which ones they are, changing them, and
// products around that. Written as fragments in the manner of matrix libraries that keep their own tiles.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// The row and the first column of what a lane holds.
ushort2 place_of(ushort lane)
{
    ushort quad = lane / 4;
    return ushort2((quad & 2) * 2 + (lane % 2) * 2, (quad & 4) + (lane / 2) % 4);
}

template <typename T>
kernel void elements(device const T *a [[buffer(0)]], device T *out [[buffer(1)]], device ushort2 *places [[buffer(2)]],
                     uint lane [[thread_index_in_simdgroup]])
{
    simdgroup_matrix<T, 8, 8> x, y, z;
    ushort2 place = place_of((ushort)lane);
    places[lane] = place;
    simdgroup_load(x, a, 8);
    // What this lane has, to where it says it is.
    vec<T, 2> mine = x.thread_elements();
    out[place.y * 8 + place.x] = mine.x;
    out[place.y * 8 + place.x + 1] = mine.y;
    // A tile made of elements only: twice the other half of a.
    y.thread_elements() = vec<T, 2>(a[64 + place.y * 8 + place.x], a[64 + place.y * 8 + place.x + 1]) * T(2);
    simdgroup_store(y, out + 64);
    simdgroup_multiply(z, x, y);
    z.thread_elements()[0] += T(1);
    z.thread_elements()[1] *= T(2);
    simdgroup_store(z, out + 128, 8, 0, true);
    simdgroup_load(z, a + 64, 8, ulong2(0, 0), true);
    simdgroup_multiply_accumulate(z, x, z, y);
    simdgroup_store(z, out + 192);
    simdgroup_matrix<T, 8, 8> d(T(4)), f = make_filled_simdgroup_matrix<T, 8, 8>(T(0.5f));
    simdgroup_multiply_accumulate(z, d, f, f);
    simdgroup_store(z, out + 256);
}
#define INSTANCE(T) \
    template [[host_name("elements_" #T)]] kernel void elements<T>(device const T *, device T *, device ushort2 *, uint);
INSTANCE(float)
INSTANCE(half)
INSTANCE(bfloat)
