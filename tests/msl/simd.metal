// SPDX-License-Identifier: MIT
// Every simd and quad operation in the lanes of a mask; the votes in both branches of it. The order of the slots is
// that of the table in tests/unit/msl_simd.m.
#include <metal_stdlib>
using namespace metal;

enum { SLOTS = 48 };

struct sink {
    device uchar *at;
    uint lane;
    uint slot;
    template <typename T>
    void put(T value)
    {
        *(device T *)(at + (slot * 32 + lane) * 16) = value;
        slot++;
    }
};

template <typename T>
void numeric(T x, T y, uint lane, thread sink &out)
{
    out.put(simd_sum(x));
    out.put(simd_product(y));
    out.put(simd_max(x));
    out.put(simd_min(x));
    out.put(simd_prefix_inclusive_sum(x));
    out.put(simd_prefix_exclusive_sum(x));
    out.put(simd_prefix_inclusive_product(y));
    out.put(simd_prefix_exclusive_product(y));
    out.put(quad_sum(x));
    out.put(quad_product(y));
    out.put(quad_max(x));
    out.put(quad_min(x));
    out.put(quad_prefix_inclusive_sum(x));
    out.put(quad_prefix_exclusive_sum(x));
    out.put(quad_prefix_inclusive_product(y));
    out.put(quad_prefix_exclusive_product(y));
}

template <typename T>
void moving(T x, T y, uint lane, thread sink &out)
{
    out.put(simd_shuffle(x, (ushort)((lane * 7 + 3) & 31)));
    out.put(simd_shuffle_xor(x, (ushort)5));
    out.put(simd_shuffle_up(x, (ushort)3));
    out.put(simd_shuffle_down(x, (ushort)3));
    out.put(simd_shuffle_rotate_up(x, (ushort)3));
    out.put(simd_shuffle_rotate_down(x, (ushort)3));
    out.put(simd_shuffle_and_fill_up(x, y, (ushort)3));
    out.put(simd_shuffle_and_fill_down(x, y, (ushort)3));
    out.put(simd_shuffle_and_fill_up(x, y, (ushort)3, (ushort)8));
    out.put(simd_shuffle_and_fill_down(x, y, (ushort)3, (ushort)8));
    out.put(simd_broadcast(x, (ushort)9));
    out.put(simd_broadcast_first(x));
    out.put(quad_shuffle(x, (ushort)((lane * 3 + 1) & 3)));
    out.put(quad_shuffle_xor(x, (ushort)2));
    out.put(quad_shuffle_up(x, (ushort)1));
    out.put(quad_shuffle_down(x, (ushort)1));
    out.put(quad_shuffle_rotate_up(x, (ushort)1));
    out.put(quad_shuffle_rotate_down(x, (ushort)1));
    out.put(quad_broadcast(x, (ushort)1));
    out.put(quad_broadcast_first(x));
}

template <typename T>
void bitwise(T x, thread sink &out)
{
    out.put(simd_and(x));
    out.put(simd_or(x));
    out.put(simd_xor(x));
    out.put(quad_and(x));
    out.put(quad_or(x));
    out.put(quad_xor(x));
}

template <typename T, bool Bits>
struct operations {
    static void all(T x, T y, uint lane, thread sink &out)
    {
        numeric(x, y, lane, out);
        moving(x, y, lane, out);
        bitwise(x, out);
    }
};
template <typename T>
struct operations<T, false> {
    static void all(T x, T y, uint lane, thread sink &out)
    {
        numeric(x, y, lane, out);
        moving(x, y, lane, out);
    }
};

template <typename T, bool Bits>
kernel void masked(device const T *x [[buffer(0)]], device const T *y [[buffer(1)]],
                   device uchar *out [[buffer(2)]], constant uint &mask [[buffer(3)]],
                   uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                   uint simd [[simdgroup_index_in_threadgroup]])
{
    sink to = {out + simd * SLOTS * 32 * 16, lane, 0};
    if (mask >> lane & 1)
        operations<T, Bits>::all(x[i], y[i], lane, to);
}

#define INSTANCE(T, bits) \
    template [[host_name("masked_" #T)]] kernel void masked<T, bits>( \
        device const T *, device const T *, device uchar *, constant uint &, uint, uint, uint);
INSTANCE(float, false)
INSTANCE(half, false)
INSTANCE(bfloat, false)
INSTANCE(int, true)
INSTANCE(uint, true)
INSTANCE(short, true)
INSTANCE(ushort, true)
INSTANCE(char, true)
INSTANCE(uchar, true)
INSTANCE(float4, false)
INSTANCE(half2, false)
INSTANCE(int3, true)

struct votes {
    uint ballot, any, all, active, first;
    uint quad_ballot, quad_any, quad_all, quad_active, quad_first;
    uint vote_any, vote_all;
};

votes vote(int x)
{
    votes v;
    simd_vote ballot = simd_ballot(x > 0);
    v.ballot = (uint)(simd_vote::vote_t)ballot;
    v.vote_any = ballot.any();
    v.vote_all = ballot.all();
    v.any = simd_any(x > 2);
    v.all = simd_all(x > -3);
    v.active = (uint)(ulong)simd_active_threads_mask();
    v.first = simd_is_first();
    v.quad_ballot = (uint)(quad_vote::vote_t)quad_ballot(x > 0);
    v.quad_any = quad_any(x > 2);
    v.quad_all = quad_all(x > -1);
    v.quad_active = (uint)(quad_vote::vote_t)quad_active_threads_mask();
    v.quad_first = quad_is_first();
    return v;
}

kernel void voting(device const int *x [[buffer(0)]], device votes *out [[buffer(1)]],
                   constant uint &mask [[buffer(2)]], uint i [[thread_position_in_grid]],
                   uint lane [[thread_index_in_simdgroup]])
{
    if (mask >> lane & 1)
        out[i] = vote(x[i]);
    else
        out[i] = vote(x[i]);
}
