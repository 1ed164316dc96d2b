// SPDX-License-Identifier: MIT
// SIMD-group functions. Each lane puts its operand into the simdgroup's slots and meets the others in
// __sm_simd_sync; the operation given there runs once for the lanes of the mask, and each lane takes its
// result. Reductions leave one result in out[0] for all; shuffles leave one per lane.
//
// The operations are written on 32-lane vectors, with what stands in the lanes outside of the mask replaced,
// so that full and partial masks are one path without branches and sums have one fixed order.
#pragma once
#include "kernel_abi.h"
#include "msl_integer.h"

namespace metal {
template <class T>
inline T *__sm_in(sm_simd *s, int operand = 0)
{
    static_assert(sizeof(T) <= 16, "a simdgroup operand has at most 16 bytes");
    return (T *)s->in[operand];
}
template <class T>
inline T *__sm_out(sm_simd *s)
{
    static_assert(sizeof(T) <= 16, "a simdgroup operand has at most 16 bytes");
    return (T *)s->out;
}

// Meets with operand x; the result is the same for all lanes (uniform) or its own for each.
template <class R, class T>
inline R __sm_meet_uniform(T x, sm_simd_op op)
{
    __sm_in<T>(__sm_simd())[__sm_lane()] = x;
    __sm_simd_sync(op);
    return __sm_out<R>(__sm_simd())[0];
}
template <class T>
inline T __sm_meet(T x, sm_simd_op op)
{
    __sm_in<T>(__sm_simd())[__sm_lane()] = x;
    __sm_simd_sync(op);
    return __sm_out<T>(__sm_simd())[__sm_lane()];
}
template <class T>
inline T __sm_meet_aux(T x, uint aux, sm_simd_op op)
{
    __sm_simd()->aux[__sm_lane()] = aux;
    return __sm_meet(x, op);
}

// ---- reductions and scans

template <class T, int N>
using __sm_lanes = T __attribute__((ext_vector_type(N)));

// What a reduction computes in: half and bfloat in float, rounded once at the end.
template <class T>
using __sm_wide = conditional_t<is_floating_point_v<T>, float, conditional_t<is_same_v<T, bool>, uchar, T>>;

// The operands of all lanes; lanes outside of the mask have `other`.
template <class T>
inline __sm_lanes<__sm_wide<T>, 32> __sm_gather(const T *in, uint mask, __sm_wide<T> other)
{
    __sm_lanes<__sm_wide<T>, 32> x;
    if constexpr (is_same_v<T, bfloat>) {
        __sm_lanes<ushort, 32> bits;
        __builtin_memcpy(&bits, in, sizeof bits);
        auto wide = __builtin_convertvector(bits, __sm_lanes<uint, 32>) << 16;
        x = __builtin_bit_cast(__sm_lanes<float, 32>, wide);
    } else {
        __sm_lanes<conditional_t<is_same_v<T, bool>, uchar, T>, 32> narrow;
        __builtin_memcpy(&narrow, in, sizeof(T) * 32);
        x = __builtin_convertvector(narrow, __sm_lanes<__sm_wide<T>, 32>);
    }
    if (mask != 0xffffffffu) {
        alignas(64) __sm_wide<T> each[32];
        __builtin_memcpy(each, &x, sizeof each);
        for (uint l = 0; l < 32; l++)
            each[l] = mask >> l & 1 ? each[l] : other;
        __builtin_memcpy(&x, each, sizeof each);
    }
    return x;
}
template <class T>
inline T __sm_narrow(__sm_wide<T> x)
{
    return __sm_cast<T>(x);
}

// What the reductions do with two operands, scalars or vectors of lanes, and what stands for a missing
// operand: a neutral value, or the operand of another lane if doubling it changes nothing.
struct __sm_do_sum {
    static constexpr bool idempotent = false;
    static constexpr int neutral = 0;
    template <class V>
    static inline V f(V a, V b)
    {
        return (V)(a + b);
    }
};
struct __sm_do_product {
    static constexpr bool idempotent = false;
    static constexpr int neutral = 1;
    template <class V>
    static inline V f(V a, V b)
    {
        return (V)(a * b);
    }
};
struct __sm_do_max {
    static constexpr bool idempotent = true;
    static constexpr int neutral = 0;
    template <class V>
    static inline V f(V a, V b)
    {
        if constexpr (__sm_is_vector<V>)
            return max(a, b);
        else
            return __builtin_elementwise_max(a, b);
    }
};
struct __sm_do_min {
    static constexpr bool idempotent = true;
    static constexpr int neutral = 0;
    template <class V>
    static inline V f(V a, V b)
    {
        if constexpr (__sm_is_vector<V>)
            return min(a, b);
        else
            return __builtin_elementwise_min(a, b);
    }
};
struct __sm_do_and {
    static constexpr bool idempotent = true;
    static constexpr int neutral = 0;
    template <class V>
    static inline V f(V a, V b)
    {
        return (V)(a & b);
    }
};
struct __sm_do_or {
    static constexpr bool idempotent = true;
    static constexpr int neutral = 0;
    template <class V>
    static inline V f(V a, V b)
    {
        return (V)(a | b);
    }
};
struct __sm_do_xor {
    static constexpr bool idempotent = false;
    static constexpr int neutral = 0;
    template <class V>
    static inline V f(V a, V b)
    {
        return (V)(a ^ b);
    }
};

// As many lanes as there are indices, from lane First on, of x followed by y.
template <int First, class V, size_t... I>
inline auto __sm_slice(V x, V y, index_sequence<I...>)
{
    return __builtin_shufflevector(x, y, (int)(I + First)...);
}
// Halves the number of lanes until one is left.
template <class Do, int N, class W>
inline W __sm_tree(__sm_lanes<W, N> x)
{
    if constexpr (N == 2) {
        return Do::template f<W>(x[0], x[1]);
    } else {
        auto low = __sm_slice<0>(x, x, make_index_sequence<N / 2>());
        auto high = __sm_slice<N / 2>(x, x, make_index_sequence<N / 2>());
        return __sm_tree<Do, N / 2, W>(Do::f(low, high));
    }
}

template <class T, class Do>
struct __sm_reduce {
    static void f(sm_simd *s, sm_u32 mask)
    {
        const T *in = __sm_in<T>(s);
        T first = in[__builtin_ctz(mask)];
        if constexpr (__sm_is_vector<T>) {
            T lanes[32];
            T missing = Do::idempotent ? first : T(Do::neutral);
            for (uint l = 0; l < 32; l++)
                lanes[l] = mask >> l & 1 ? in[l] : missing;
            for (int n = 16; n; n /= 2)
                for (int l = 0; l < n; l++)
                    lanes[l] = Do::f(lanes[l], lanes[l + n]);
            __sm_out<T>(s)[0] = lanes[0];
        } else {
            using W = __sm_wide<T>;
            auto x = __sm_gather<T>(in, mask, Do::idempotent ? (W)first : (W)Do::neutral);
            __sm_out<T>(s)[0] = __sm_narrow<T>(__sm_tree<Do, 32, W>(x));
        }
    }
};

// Inclusive scan by doubling distances; an exclusive one is it, moved up by a lane.
template <class Do, int Distance, class V>
inline V __sm_scan(V x, V neutral)
{
    if constexpr (Distance == 32) {
        return x;
    } else {
        V below = __sm_slice<32 - Distance>(neutral, x, make_index_sequence<32>());
        return __sm_scan<Do, Distance * 2>(Do::f(x, below), neutral);
    }
}
template <class T, class Do, bool Exclusive>
struct __sm_prefix {
    static void f(sm_simd *s, sm_u32 mask)
    {
        const T *in = __sm_in<T>(s);
        T *out = __sm_out<T>(s);
        if constexpr (__sm_is_vector<T>) {
            T sum = T(Do::neutral);
            for (uint l = 0; l < 32; l++) {
                T before = sum;
                if (mask >> l & 1)
                    sum = Do::f(sum, in[l]);
                out[l] = Exclusive ? before : sum;
            }
        } else {
            using W = __sm_wide<T>;
            __sm_lanes<W, 32> neutral = (W)Do::neutral;
            auto x = __sm_scan<Do, 1>(__sm_gather<T>(in, mask, (W)Do::neutral), neutral);
            if (Exclusive)
                x = __sm_slice<31>(neutral, x, make_index_sequence<32>());
            for (uint l = 0; l < 32; l++)
                out[l] = __sm_narrow<T>(x[l]);
        }
    }
};

#define SM_SIMD_REDUCE(name)                                                                                 \
    template <class T>                                                                                       \
    inline T simd_##name(T x)                                                                                \
    {                                                                                                        \
        return __sm_meet_uniform<T>(x, &__sm_reduce<T, __sm_do_##name>::f);                                  \
    }
SM_SIMD_REDUCE(sum)
SM_SIMD_REDUCE(product)
SM_SIMD_REDUCE(max)
SM_SIMD_REDUCE(min)
SM_SIMD_REDUCE(and)
SM_SIMD_REDUCE(or)
SM_SIMD_REDUCE(xor)
#undef SM_SIMD_REDUCE
#define SM_SIMD_PREFIX(kind, name, exclusive)                                                                \
    template <class T>                                                                                       \
    inline T simd_prefix_##kind##_##name(T x)                                                                \
    {                                                                                                        \
        return __sm_meet(x, &__sm_prefix<T, __sm_do_##name, exclusive>::f);                                  \
    }
SM_SIMD_PREFIX(inclusive, sum, false)
SM_SIMD_PREFIX(exclusive, sum, true)
SM_SIMD_PREFIX(inclusive, product, false)
SM_SIMD_PREFIX(exclusive, product, true)
#undef SM_SIMD_PREFIX

// ---- shuffles: each lane says in aux which lane it wants, with bit 5 for the second operand

template <class T>
struct __sm_shuffle {
    static void f(sm_simd *s, sm_u32)
    {
        const T *in = __sm_in<T>(s);
        T *out = __sm_out<T>(s);
        for (uint l = 0; l < 32; l++)
            out[l] = in[s->aux[l] & 31];
    }
};
template <class T>
struct __sm_shuffle_fill {
    static void f(sm_simd *s, sm_u32)
    {
        T *out = __sm_out<T>(s);
        for (uint l = 0; l < 32; l++)
            out[l] = __sm_in<T>(s, s->aux[l] >> 5 & 1)[s->aux[l] & 31];
    }
};
template <class T>
struct __sm_broadcast {
    static void f(sm_simd *s, sm_u32 mask)
    {
        T value = __sm_in<T>(s)[s->aux[__builtin_ctz(mask)] & 31];
        __sm_out<T>(s)[0] = value;
    }
};
template <class T>
struct __sm_broadcast_first {
    static void f(sm_simd *s, sm_u32 mask) { __sm_out<T>(s)[0] = __sm_in<T>(s)[__builtin_ctz(mask)]; }
};

// Where lane finds its operand in a shuffle within groups of `width` lanes; itself at the edge. Distances
// count as ushort in MSL, lane numbers as int here.
inline uint __sm_below(uint lane, uint distance, uint width)
{
    return (lane & (width - 1)) >= distance ? lane - distance : lane;
}
inline uint __sm_above(uint lane, uint distance, uint width)
{
    return (lane & (width - 1)) + distance < width ? lane + distance : lane;
}
inline uint __sm_rotate(uint lane, uint by, uint width)
{
    return (lane & ~(width - 1)) | ((lane + by) & (width - 1));
}
template <class T>
inline T __sm_shuffle_from(T x, uint from)
{
    return __sm_meet_aux(x, from, &__sm_shuffle<T>::f);
}
// Lanes for which the source falls outside of their group take it from the other end of `filling`.
template <class T>
inline T __sm_fill_from(T x, T filling, uint from, bool fill)
{
    __sm_in<T>(__sm_simd(), 1)[__sm_lane()] = filling;
    return __sm_meet_aux(x, from | (fill ? 32u : 0u), &__sm_shuffle_fill<T>::f);
}

template <class T>
inline T simd_shuffle(T x, ushort lane)
{
    return __sm_shuffle_from(x, lane);
}
template <class T>
inline T simd_shuffle_xor(T x, ushort mask)
{
    return __sm_shuffle_from(x, __sm_lane() ^ mask);
}
template <class T>
inline T simd_shuffle_up(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_below(__sm_lane(), delta, 32));
}
template <class T>
inline T simd_shuffle_down(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_above(__sm_lane(), delta, 32));
}
template <class T>
inline T simd_shuffle_rotate_up(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_rotate(__sm_lane(), -(uint)delta, 32));
}
template <class T>
inline T simd_shuffle_rotate_down(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_rotate(__sm_lane(), delta, 32));
}
template <class T>
inline T simd_shuffle_and_fill_up(T x, T filling, ushort delta, ushort modulo = 32)
{
    uint lane = __sm_lane();
    return __sm_fill_from(x, filling, __sm_rotate(lane, -(uint)delta, modulo),
                          (lane & (modulo - 1u)) < delta);
}
template <class T>
inline T simd_shuffle_and_fill_down(T x, T filling, ushort delta, ushort modulo = 32)
{
    uint lane = __sm_lane();
    bool fill = (lane & (modulo - 1u)) + delta >= modulo;
    return __sm_fill_from(x, filling, __sm_rotate(lane, delta, modulo), fill);
}
// MSL demands the same lane number from all lanes.
template <class T>
inline T simd_broadcast(T x, ushort lane)
{
    __sm_simd()->aux[__sm_lane()] = lane;
    return __sm_meet_uniform<T>(x, &__sm_broadcast<T>::f);
}
template <class T>
inline T simd_broadcast_first(T x)
{
    return __sm_meet_uniform<T>(x, &__sm_broadcast_first<T>::f);
}

// ---- votes

// One bit per lane of the mask whose operand is not zero.
inline uint __sm_vote_bits(sm_simd *s, uint mask)
{
    __sm_lanes<uchar, 32> votes;
    __builtin_memcpy(&votes, s->in[0], sizeof votes);
    auto set = __builtin_convertvector(votes != (uchar)0, __sm_lanes<bool, 32>);
    return __builtin_bit_cast(uint, set) & mask;
}
inline void __sm_op_ballot(sm_simd *s, sm_u32 mask) { __sm_out<uint>(s)[0] = __sm_vote_bits(s, mask); }
inline void __sm_op_all(sm_simd *s, sm_u32 mask) { __sm_out<uint>(s)[0] = __sm_vote_bits(s, mask) == mask; }
inline void __sm_op_mask(sm_simd *s, sm_u32 mask) { __sm_out<uint>(s)[0] = mask; }
inline uint __sm_ballot(bool x) { return __sm_meet_uniform<uint>((uchar)x, &__sm_op_ballot); }
inline uint __sm_active_mask()
{
    __sm_simd_sync(&__sm_op_mask);
    return __sm_out<uint>(__sm_simd())[0];
}

class simd_vote {
  public:
    typedef ulong vote_t;
    simd_vote() = default;
    constexpr explicit simd_vote(vote_t bits) : bits_(bits) {}
    constexpr explicit operator vote_t() const { return bits_; }
    constexpr bool all() const { return (uint)bits_ == 0xffffffffu; }
    constexpr bool any() const { return bits_ != 0; }

  private:
    vote_t bits_;
};
inline simd_vote simd_ballot(bool x) { return simd_vote(__sm_ballot(x)); }
inline bool simd_any(bool x) { return __sm_ballot(x) != 0; }
inline bool simd_all(bool x) { return __sm_meet_uniform<uint>((uchar)x, &__sm_op_all) != 0; }
inline simd_vote simd_active_threads_mask() { return simd_vote(__sm_active_mask()); }
inline bool simd_is_first() { return (uint)__builtin_ctz(__sm_active_mask()) == __sm_lane(); }
inline bool simd_is_helper_thread() { return false; }
} // namespace metal
