// SPDX-License-Identifier: MIT
// Atomics, fences and barriers. Threadgroups of one dispatch run on several OS threads, so device atomics are
// real ones; every order is at least the relaxed one that MSL offers.
#pragma once
#include "kernel_abi.h"
#include "msl_math.h"

namespace metal {
enum memory_order {
    memory_order_relaxed = __ATOMIC_RELAXED,
    memory_order_acquire = __ATOMIC_ACQUIRE,
    memory_order_release = __ATOMIC_RELEASE,
    memory_order_acq_rel = __ATOMIC_ACQ_REL,
    memory_order_seq_cst = __ATOMIC_SEQ_CST,
};
enum thread_scope {
    thread_scope_thread,
    thread_scope_simdgroup,
    thread_scope_threadgroup,
    thread_scope_device,
};
enum class mem_flags : uint {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_threadgroup_imageblock = 8,
    mem_object_data = 16,
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return (mem_flags)((uint)a | (uint)b); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return (mem_flags)((uint)a & (uint)b); }

template <class T>
struct _atomic {
    T __value;
};
template <class T>
using atomic = _atomic<T>;
typedef _atomic<int> atomic_int;
typedef _atomic<uint> atomic_uint;
typedef _atomic<bool> atomic_bool;
typedef _atomic<float> atomic_float;
typedef _atomic<long> atomic_long;
typedef _atomic<ulong> atomic_ulong;

// The integer that has the bits of T, for what the compiler's atomics do on integers only.
template <class T>
using __sm_bits =
    conditional_t<sizeof(T) == 1, uchar,
                  conditional_t<sizeof(T) == 2, ushort, conditional_t<sizeof(T) == 4, uint, ulong>>>;
// Seen through this, an atomic has its natural alignment in spite of -fmax-type-align; without it the
// compiler calls libatomic for 64 bits.
template <class T>
struct alignas(sizeof(T)) __sm_cell {
    T value;
};
#define SM_CELL(type, p) (&((__sm_cell<type> *)(p))->value)

template <class T>
inline T atomic_load_explicit(const volatile _atomic<T> *p, memory_order)
{
    return __builtin_bit_cast(T, __atomic_load_n(SM_CELL(__sm_bits<T>, p), __ATOMIC_RELAXED));
}
template <class T>
inline void atomic_store_explicit(volatile _atomic<T> *p, type_identity_t<T> x, memory_order)
{
    __atomic_store_n(SM_CELL(__sm_bits<T>, p), __builtin_bit_cast(__sm_bits<T>, x), __ATOMIC_RELAXED);
}
template <class T>
inline T atomic_exchange_explicit(volatile _atomic<T> *p, type_identity_t<T> x, memory_order)
{
    __sm_bits<T> bits = __builtin_bit_cast(__sm_bits<T>, x);
    return __builtin_bit_cast(T, __atomic_exchange_n(SM_CELL(__sm_bits<T>, p), bits, __ATOMIC_RELAXED));
}
template <class T>
inline bool atomic_compare_exchange_weak_explicit(volatile _atomic<T> *p, T *expected, type_identity_t<T> x,
                                                  memory_order, memory_order)
{
    return __atomic_compare_exchange_n(SM_CELL(__sm_bits<T>, p), (__sm_bits<T> *)expected,
                                       __builtin_bit_cast(__sm_bits<T>, x), true, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

// Replaces the value by change(value) and returns the old one.
template <class T, class F>
inline T __sm_atomic_change(volatile _atomic<T> *p, F change)
{
    __sm_bits<T> old = __atomic_load_n(SM_CELL(__sm_bits<T>, p), __ATOMIC_RELAXED), next;
    do
        next = __builtin_bit_cast(__sm_bits<T>, (T)change(__builtin_bit_cast(T, old)));
    while (!__atomic_compare_exchange_n(SM_CELL(__sm_bits<T>, p), &old, next, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
    return __builtin_bit_cast(T, old);
}
#define SM_ATOMIC_FETCH(name, expression)                                                                    \
    template <class T>                                                                                       \
    inline T atomic_fetch_##name##_explicit(volatile _atomic<T> *p, type_identity_t<T> x, memory_order)      \
    {                                                                                                        \
        if constexpr (__is_integral(T) && !is_same_v<T, bool>)                                               \
            return __atomic_fetch_##name(SM_CELL(T, p), x, __ATOMIC_RELAXED);                                \
        else                                                                                                 \
            return __sm_atomic_change(p, [=](T old) { return (T)(expression); });                            \
    }
SM_ATOMIC_FETCH(add, old + x)
SM_ATOMIC_FETCH(sub, old - x)
SM_ATOMIC_FETCH(and, old &x)
SM_ATOMIC_FETCH(or, old | x)
SM_ATOMIC_FETCH(xor, old ^ x)
SM_ATOMIC_FETCH(max, old < x ? x : old)
SM_ATOMIC_FETCH(min, x < old ? x : old)
#undef SM_ATOMIC_FETCH
// MSL's 64-bit atomics have no result.
template <class T>
inline void atomic_max_explicit(volatile _atomic<T> *p, type_identity_t<T> x, memory_order order)
{
    atomic_fetch_max_explicit(p, x, order);
}
template <class T>
inline void atomic_min_explicit(volatile _atomic<T> *p, type_identity_t<T> x, memory_order order)
{
    atomic_fetch_min_explicit(p, x, order);
}

inline void atomic_thread_fence(mem_flags, memory_order = memory_order_seq_cst,
                                thread_scope = thread_scope_device)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void threadgroup_barrier(mem_flags, memory_order = memory_order_relaxed,
                                thread_scope = thread_scope_threadgroup)
{
    __sm_barrier();
}

inline void __sm_op_nothing(sm_simd *, sm_u32) {}
// With mem_none nothing that one lane wrote has to be seen by another, and lanes cannot observe each other's
// progress in any other way: no meeting is needed.
inline void simdgroup_barrier(mem_flags flags, memory_order = memory_order_relaxed,
                              thread_scope = thread_scope_simdgroup)
{
    if (flags != mem_flags::mem_none)
        __sm_simd_sync(&__sm_op_nothing);
}
} // namespace metal
