// SPDX-License-Identifier: MIT
// All position and size attributes, once as uint3 and uint, once as ushort and narrower vectors.
#include <metal_stdlib>
using namespace metal;

struct record {
    packed_uint3 in_grid, in_group, group, group_size, dispatch_size, grid, groups;
    uint index, lane, simd, simds, dispatch_simds, width, execution, quad, quad_lane, quads, visits;
};

kernel void positions(device record *out [[buffer(0)]], constant uint3 &grid_is [[buffer(1)]],
                      uint3 in_grid [[thread_position_in_grid]], uint3 in_group [[thread_position_in_threadgroup]],
                      uint3 group [[threadgroup_position_in_grid]], uint3 group_size [[threads_per_threadgroup]],
                      uint3 dispatch_size [[dispatch_threads_per_threadgroup]], uint3 grid [[threads_per_grid]],
                      uint3 groups [[threadgroups_per_grid]], uint index [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]],
                      uint simds [[simdgroups_per_threadgroup]],
                      uint dispatch_simds [[dispatch_simdgroups_per_threadgroup]],
                      uint width [[threads_per_simdgroup]], uint execution [[thread_execution_width]],
                      uint quad [[quadgroup_index_in_threadgroup]], uint quad_lane [[thread_index_in_quadgroup]],
                      uint quads [[quadgroups_per_threadgroup]])
{
    uint i = (in_grid.z * grid_is.y + in_grid.y) * grid_is.x + in_grid.x;
    device record &r = out[i];
    r.in_grid = in_grid;
    r.in_group = in_group;
    r.group = group;
    r.group_size = group_size;
    r.dispatch_size = dispatch_size;
    r.grid = grid;
    r.groups = groups;
    r.index = index;
    r.lane = lane;
    r.simd = simd;
    r.simds = simds;
    r.dispatch_simds = dispatch_simds;
    r.width = width;
    r.execution = execution;
    r.quad = quad;
    r.quad_lane = quad_lane;
    r.quads = quads;
    r.visits += 1;
}

// Narrow types, and with a barrier in between: threads then run in simdgroups instead of long rows.
kernel void narrow(device uint *out [[buffer(0)]], constant uint3 &grid_is [[buffer(1)]],
                   ushort2 in_grid [[thread_position_in_grid]], ushort3 in_group [[thread_position_in_threadgroup]],
                   ushort group [[threadgroup_position_in_grid]], ushort2 group_size [[threads_per_threadgroup]],
                   ushort index [[thread_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]],
                   ushort simd [[simdgroup_index_in_threadgroup]], uint3 full [[thread_position_in_grid]])
{
    threadgroup uint sum[1];
    if (index == 0)
        sum[0] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit((threadgroup atomic_uint *)sum, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device uint *r = out + ((full.z * grid_is.y + full.y) * grid_is.x + full.x) * 8;
    r[0] = in_grid.x + in_grid.y * 1000u;
    r[1] = in_group.x + in_group.y * 1000u + in_group.z * 1000000u;
    r[2] = group;
    r[3] = group_size.x + group_size.y * 1000u;
    r[4] = index;
    r[5] = lane + simd * 1000u;
    r[6] = sum[0];
    r[7] += 1;
}
