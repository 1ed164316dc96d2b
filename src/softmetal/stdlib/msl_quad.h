// SPDX-License-Identifier: MIT
// Quad-group functions: those of msl_simd.h, within each four lanes. Every lane gets its quad's result, so
// results lie one per lane.
#pragma once
#include "msl_simd.h"

namespace metal {
// Calls visit(first lane, mask of four) for each quad that has a lane in the mask.
template <class F>
inline void __sm_each_quad(uint mask, F visit)
{
    for (uint q = 0; q < 32; q += 4)
        if (mask >> q & 15)
            visit(q, mask >> q & 15);
}

template <class T, class Do>
struct __sm_quad_reduce {
    static void f(sm_simd *s, sm_u32 mask)
    {
        const T *in = __sm_in<T>(s);
        T *out = __sm_out<T>(s);
        __sm_each_quad(mask, [=](uint q, uint active) {
            uint first = __builtin_ctz(active);
            T sum = in[q + first];
            for (uint l = first + 1; l < 4; l++)
                if (active >> l & 1)
                    sum = (T)Do::f(sum, in[q + l]);
            for (uint l = 0; l < 4; l++)
                out[q + l] = sum;
        });
    }
};
template <class T, class Do, bool Exclusive>
struct __sm_quad_prefix {
    static void f(sm_simd *s, sm_u32 mask)
    {
        const T *in = __sm_in<T>(s);
        T *out = __sm_out<T>(s);
        __sm_each_quad(mask, [=](uint q, uint active) {
            T sum = (T)Do::neutral;
            for (uint l = 0; l < 4; l++) {
                T before = sum;
                if (active >> l & 1)
                    sum = (T)Do::f(sum, in[q + l]);
                out[q + l] = Exclusive ? before : sum;
            }
        });
    }
};
template <class T>
struct __sm_quad_first {
    static void f(sm_simd *s, sm_u32 mask)
    {
        const T *in = __sm_in<T>(s);
        T *out = __sm_out<T>(s);
        __sm_each_quad(mask, [=](uint q, uint active) {
            T value = in[q + __builtin_ctz(active)];
            for (uint l = 0; l < 4; l++)
                out[q + l] = value;
        });
    }
};

#define SM_QUAD_REDUCE(name)                                                                                 \
    template <class T>                                                                                       \
    inline T quad_##name(T x)                                                                                \
    {                                                                                                        \
        return __sm_meet(x, &__sm_quad_reduce<T, __sm_do_##name>::f);                                        \
    }
SM_QUAD_REDUCE(sum)
SM_QUAD_REDUCE(product)
SM_QUAD_REDUCE(max)
SM_QUAD_REDUCE(min)
SM_QUAD_REDUCE(and)
SM_QUAD_REDUCE(or)
SM_QUAD_REDUCE(xor)
#undef SM_QUAD_REDUCE
#define SM_QUAD_PREFIX(kind, name, exclusive)                                                                \
    template <class T>                                                                                       \
    inline T quad_prefix_##kind##_##name(T x)                                                                \
    {                                                                                                        \
        return __sm_meet(x, &__sm_quad_prefix<T, __sm_do_##name, exclusive>::f);                             \
    }
SM_QUAD_PREFIX(inclusive, sum, false)
SM_QUAD_PREFIX(exclusive, sum, true)
SM_QUAD_PREFIX(inclusive, product, false)
SM_QUAD_PREFIX(exclusive, product, true)
#undef SM_QUAD_PREFIX

template <class T>
inline T quad_shuffle(T x, ushort lane)
{
    return __sm_shuffle_from(x, (__sm_lane() & ~3u) | (lane & 3u));
}
template <class T>
inline T quad_broadcast(T x, ushort lane)
{
    return quad_shuffle(x, lane);
}
template <class T>
inline T quad_broadcast_first(T x)
{
    return __sm_meet(x, &__sm_quad_first<T>::f);
}
template <class T>
inline T quad_shuffle_xor(T x, ushort mask)
{
    return __sm_shuffle_from(x, __sm_lane() ^ (mask & 3u));
}
template <class T>
inline T quad_shuffle_up(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_below(__sm_lane(), delta, 4));
}
template <class T>
inline T quad_shuffle_down(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_above(__sm_lane(), delta, 4));
}
template <class T>
inline T quad_shuffle_rotate_up(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_rotate(__sm_lane(), -(uint)delta, 4));
}
template <class T>
inline T quad_shuffle_rotate_down(T x, ushort delta)
{
    return __sm_shuffle_from(x, __sm_rotate(__sm_lane(), delta, 4));
}
template <class T>
inline T quad_shuffle_and_fill_up(T x, T filling, ushort delta, ushort modulo = 4)
{
    return simd_shuffle_and_fill_up(x, filling, delta, modulo);
}
template <class T>
inline T quad_shuffle_and_fill_down(T x, T filling, ushort delta, ushort modulo = 4)
{
    return simd_shuffle_and_fill_down(x, filling, delta, modulo);
}

class quad_vote {
  public:
    typedef uint vote_t;
    quad_vote() = default;
    constexpr explicit quad_vote(vote_t bits) : bits_(bits) {}
    constexpr explicit operator vote_t() const { return bits_; }
    constexpr bool all() const { return bits_ == 15; }
    constexpr bool any() const { return bits_ != 0; }

  private:
    vote_t bits_;
};
// The four bits of this lane's quad.
inline uint __sm_quad_of(uint bits) { return bits >> (__sm_lane() & ~3u) & 15; }
inline quad_vote quad_ballot(bool x) { return quad_vote(__sm_quad_of(__sm_ballot(x))); }
inline bool quad_any(bool x) { return __sm_quad_of(__sm_ballot(x)) != 0; }
inline bool quad_all(bool x) { return __sm_quad_of(__sm_ballot(!x)) == 0; }
inline quad_vote quad_active_threads_mask() { return quad_vote(__sm_quad_of(__sm_active_mask())); }
inline bool quad_is_first()
{
    return (uint)__builtin_ctz(__sm_quad_of(__sm_active_mask())) == (__sm_lane() & 3);
}
inline bool quad_is_helper_thread() { return false; }
} // namespace metal
