// SPDX-License-Identifier: MIT
// Every atomic operation on every type, in device and in threadgroup memory. Results do not depend on the order of
// threads, or are checked as a set.
#include <metal_stdlib>
using namespace metal;

#define RELAXED memory_order_relaxed

// add, sub, and, or, xor, max, min at 0..6; 7: what was stored and loaded; 8: exchange; 9: a product by compare and
// exchange; 10: fetch_add whose results are the ticket numbers.
template <typename A, typename T>
void all_operations(A cells, device const T *in, device T *tickets, device T *exchanged, uint i)
{
    T x = in[i];
    atomic_fetch_add_explicit(&cells[0], x, RELAXED);
    atomic_fetch_sub_explicit(&cells[1], x, RELAXED);
    atomic_fetch_and_explicit(&cells[2], x | (T)0x40, RELAXED);
    atomic_fetch_or_explicit(&cells[3], x, RELAXED);
    atomic_fetch_xor_explicit(&cells[4], x, RELAXED);
    atomic_fetch_max_explicit(&cells[5], x, RELAXED);
    atomic_fetch_min_explicit(&cells[6], x, RELAXED);
    if (i == 7)
        atomic_store_explicit(&cells[7], x + atomic_load_explicit(&cells[7], RELAXED), RELAXED);
    exchanged[i] = atomic_exchange_explicit(&cells[8], x, RELAXED);
    T old = atomic_load_explicit(&cells[9], RELAXED);
    while (!atomic_compare_exchange_weak_explicit(&cells[9], &old, old * (T)(x | 1), RELAXED, RELAXED))
        ;
    tickets[i] = atomic_fetch_add_explicit(&cells[10], (T)1, RELAXED);
}

template <typename T>
kernel void in_device(device atomic<T> *cells [[buffer(0)]], device const T *in [[buffer(1)]],
                      device T *tickets [[buffer(2)]], device T *exchanged [[buffer(3)]],
                      uint i [[thread_position_in_grid]])
{
    all_operations(cells, in, tickets, exchanged, i);
}
template [[host_name("device_int")]] kernel void in_device<int>(device atomic<int> *, device const int *, device int *,
                                                                device int *, uint);
template [[host_name("device_uint")]] kernel void in_device<uint>(device atomic<uint> *, device const uint *,
                                                                  device uint *, device uint *, uint);

template <typename T>
kernel void in_threadgroup(device T *result [[buffer(0)]], device const T *in [[buffer(1)]],
                           device T *tickets [[buffer(2)]], device T *exchanged [[buffer(3)]],
                           uint i [[thread_position_in_grid]])
{
    threadgroup atomic<T> cells[11];
    if (i < 11)
        atomic_store_explicit(&cells[i], result[i], RELAXED);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    all_operations(cells, in, tickets, exchanged, i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < 11)
        result[i] = atomic_load_explicit(&cells[i], RELAXED);
}
template [[host_name("threadgroup_int")]] kernel void in_threadgroup<int>(device int *, device const int *, device int *,
                                                                          device int *, uint);
template [[host_name("threadgroup_uint")]] kernel void in_threadgroup<uint>(device uint *, device const uint *,
                                                                            device uint *, device uint *, uint);

struct counters {
    uint before;
    atomic_uint hits;
    uint after;
};

kernel void others(device atomic_float *sum [[buffer(0)]], device atomic_ulong *wide [[buffer(1)]],
                   device counters *in_struct [[buffer(2)]], volatile device atomic_bool *flag [[buffer(3)]],
                   device const float *in [[buffer(4)]], device float *exchanged [[buffer(5)]],
                   uint i [[thread_position_in_grid]])
{
    threadgroup atomic_float local;
    float x = in[i];
    atomic_fetch_add_explicit(&sum[0], x, RELAXED);
    atomic_fetch_sub_explicit(&sum[1], x, memory_order_relaxed);
    exchanged[i] = atomic_exchange_explicit(&sum[2], x, RELAXED);
    float old = atomic_load_explicit(&sum[3], RELAXED);
    while (x > old && !atomic_compare_exchange_weak_explicit(&sum[3], &old, x, RELAXED, RELAXED)) {
    }
    ulong key = ((ulong)as_type<uint>(x + 2.0f) << 32) | i;
    atomic_max_explicit(&wide[0], key, RELAXED);
    atomic_min_explicit(&wide[1], key, RELAXED);
    atomic_fetch_add_explicit(&in_struct[i % 3].hits, 1u, RELAXED);
    if (i == 5)
        atomic_store_explicit(flag, true, RELAXED);
    atomic_store_explicit(&local, 0.0f, RELAXED);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&local, 0.5f, RELAXED);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i % 64 == 0)
        atomic_fetch_add_explicit(&sum[4], atomic_load_explicit(&local, RELAXED), RELAXED);
}

// The last group to arrive adds up what the others left in device memory.
kernel void last_group(device const float *in [[buffer(0)]], device float *partial [[buffer(1)]],
                       device atomic_uint *arrived [[buffer(2)]], device float *total [[buffer(3)]],
                       uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
                       uint t [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]])
{
    threadgroup bool is_last;
    threadgroup atomic_int scaled;
    if (t == 0)
        atomic_store_explicit(&scaled, 0, RELAXED);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&scaled, (int)in[i], RELAXED);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
        partial[group] = atomic_load_explicit(&scaled, RELAXED);
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
        is_last = atomic_fetch_add_explicit(arrived, 1u, RELAXED) == groups - 1;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (!is_last || t != 0)
        return;
    float sum = 0;
    for (uint g = 0; g < groups; g++)
        sum += partial[g];
    total[0] = sum;
}
