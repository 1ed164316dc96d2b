// SPDX-License-Identifier: MIT
// Kernels in the manner of code generators: Tint (structs of module variables, tint_array, helper names), SPIRV-Cross
// (spvUnsafeArray, main0, mul24 wrappers, type-punned uints), naga (wrapped arrays, bounds checks, member structs), and
// tinygrad (names by shape, casts everywhere, hand-unrolled accumulators).
#include <metal_stdlib>
#include <simd/simd.h>
using namespace metal;

// ---- Tint: a tiled matrix product

template <typename T, size_t N>
struct tint_array {
    const constant T &operator[](size_t i) const constant { return elements[i]; }
    device T &operator[](size_t i) device { return elements[i]; }
    const device T &operator[](size_t i) const device { return elements[i]; }
    thread T &operator[](size_t i) thread { return elements[i]; }
    const thread T &operator[](size_t i) const thread { return elements[i]; }
    threadgroup T &operator[](size_t i) threadgroup { return elements[i]; }
    const threadgroup T &operator[](size_t i) const threadgroup { return elements[i]; }
    T elements[N];
};

#define TINT_ISOLATE_UB(VOLATILE_NAME) \
    { \
        volatile bool VOLATILE_NAME = false; \
        if (VOLATILE_NAME) \
            break; \
    }

struct Uniforms {
    /* 0x0000 */ uint dimAOuter;
    /* 0x0004 */ uint dimInner;
    /* 0x0008 */ uint dimBOuter;
    /* 0x000c */ tint_array<int8_t, 4> tint_pad;
};
struct Matrix {
    /* 0x0000 */ tint_array<float, 1> numbers;
};
struct tint_module_vars_struct {
    const device Matrix *firstMatrix;
    const device Matrix *secondMatrix;
    device Matrix *resultMatrix;
    const constant Uniforms *uniforms;
    threadgroup tint_array<tint_array<float, 16>, 16> *mm_Asub;
    threadgroup tint_array<tint_array<float, 16>, 16> *mm_Bsub;
};
struct tint_symbol_3 {
    tint_array<tint_array<float, 16>, 16> tint_symbol_1;
    tint_array<tint_array<float, 16>, 16> tint_symbol_2;
};

float mm_readA(uint row, uint col, tint_module_vars_struct tint_module_vars)
{
    if ((row < (*tint_module_vars.uniforms).dimAOuter) & (col < (*tint_module_vars.uniforms).dimInner)) {
        float const result = (*tint_module_vars.firstMatrix).numbers[((row * (*tint_module_vars.uniforms).dimInner) + col)];
        return result;
    }
    return 0.0f;
}
float mm_readB(uint row, uint col, tint_module_vars_struct tint_module_vars)
{
    if ((row < (*tint_module_vars.uniforms).dimInner) & (col < (*tint_module_vars.uniforms).dimBOuter))
        return (*tint_module_vars.secondMatrix).numbers[((row * (*tint_module_vars.uniforms).dimBOuter) + col)];
    return 0.0f;
}
void tint_main_inner(uint3 local_id, uint3 global_id, uint tint_local_index, tint_module_vars_struct tint_module_vars)
{
    {
        uint v = tint_local_index;
        {
            uint2 tint_loop_idx = uint2(4294967295u);
            while (true) {
                TINT_ISOLATE_UB(tint_volatile_false)
                if (all((tint_loop_idx == uint2(0u)))) {
                    break;
                }
                if ((v >= 256u)) {
                    break;
                }
                (*tint_module_vars.mm_Asub)[(v / 16u)][(v % 16u)] = 0.0f;
                (*tint_module_vars.mm_Bsub)[(v / 16u)][(v % 16u)] = 0.0f;
                {
                    uint const tint_low_inc = (tint_loop_idx.x - 1u);
                    tint_loop_idx.x = tint_low_inc;
                    uint const tint_carry = uint((tint_low_inc == 4294967295u));
                    tint_loop_idx.y = (tint_loop_idx.y - tint_carry);
                    v = (v + 64u);
                }
                continue;
            }
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tint_array<float, 4> acc = {};
    uint const numTiles = (((*tint_module_vars.uniforms).dimInner + 15u) / 16u);
    {
        uint t = 0u;
        while (true) {
            TINT_ISOLATE_UB(tint_volatile_false_1)
            if (!((t < numTiles))) {
                break;
            }
            for (uint e = tint_local_index; (e < 256u); e = (e + 64u)) {
                uint const r = (e / 16u), c = (e % 16u);
                (*tint_module_vars.mm_Asub)[r][c] = mm_readA((((global_id.y / 8u) * 16u) + r), ((t * 16u) + c), tint_module_vars);
                (*tint_module_vars.mm_Bsub)[r][c] = mm_readB(((t * 16u) + r), (((global_id.x / 8u) * 16u) + c), tint_module_vars);
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint k = 0u; (k < 16u); k = (k + 1u)) {
                for (uint q = 0u; (q < 4u); q = (q + 1u)) {
                    uint const r = ((local_id.y * 2u) + (q / 2u)), c = ((local_id.x * 2u) + (q % 2u));
                    acc[q] = fma((*tint_module_vars.mm_Asub)[r][k], (*tint_module_vars.mm_Bsub)[k][c], acc[q]);
                }
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            {
                t = (t + 1u);
            }
            continue;
        }
    }
    for (uint q = 0u; (q < 4u); q = (q + 1u)) {
        uint const r = ((global_id.y * 2u) + (q / 2u)), c = ((global_id.x * 2u) + (q % 2u));
        if (((r < (*tint_module_vars.uniforms).dimAOuter) & (c < (*tint_module_vars.uniforms).dimBOuter))) {
            (*tint_module_vars.resultMatrix).numbers[((r * (*tint_module_vars.uniforms).dimBOuter) + c)] = acc[q];
        }
    }
}
kernel void tint_matmul(uint3 local_id [[thread_position_in_threadgroup]], uint3 global_id [[thread_position_in_grid]],
                        uint tint_local_index [[thread_index_in_threadgroup]],
                        const device Matrix *firstMatrix [[buffer(1)]], const device Matrix *secondMatrix [[buffer(2)]],
                        device Matrix *resultMatrix [[buffer(3)]], const constant Uniforms *uniforms [[buffer(0)]],
                        threadgroup tint_symbol_3 *v_1 [[threadgroup(0)]])
{
    tint_module_vars_struct const tint_module_vars = tint_module_vars_struct{.firstMatrix = firstMatrix,
        .secondMatrix = secondMatrix, .resultMatrix = resultMatrix, .uniforms = uniforms,
        .mm_Asub = (&(*v_1).tint_symbol_1), .mm_Bsub = (&(*v_1).tint_symbol_2)};
    tint_main_inner(local_id, global_id, tint_local_index, tint_module_vars);
}

// ---- SPIRV-Cross: a histogram with a prefix sum

template <typename T, size_t Num>
struct spvUnsafeArray {
    T elements[Num ? Num : 1];
    thread T &operator[](size_t pos) thread { return elements[pos]; }
    constexpr const thread T &operator[](size_t pos) const thread { return elements[pos]; }
    device T &operator[](size_t pos) device { return elements[pos]; }
    constexpr const device T &operator[](size_t pos) const device { return elements[pos]; }
    constexpr const constant T &operator[](size_t pos) const constant { return elements[pos]; }
    threadgroup T &operator[](size_t pos) threadgroup { return elements[pos]; }
    constexpr const threadgroup T &operator[](size_t pos) const threadgroup { return elements[pos]; }
};
template <typename T>
inline T spvSubgroupBroadcast(T value, ushort lane)
{
    return simd_broadcast(value, lane);
}
inline uint4 spvSubgroupBallot(bool value)
{
    simd_vote vote = simd_ballot(value);
    return uint4(as_type<uint2>((simd_vote::vote_t)vote), 0, 0);
}
inline uint spvSubgroupBallotExclusiveBitCount(uint4 ballot, uint gl_SubgroupInvocationID)
{
    uint4 mask = uint4(extract_bits(0xFFFFFFFF, 0, min(gl_SubgroupInvocationID, 32u)),
                       extract_bits(0xFFFFFFFF, 0, (uint)max((int)gl_SubgroupInvocationID - 32, 0)), uint2(0));
    uint4 b = ballot & mask;
    return popcount(b.x) + popcount(b.y) + popcount(b.z) + popcount(b.w);
}
struct SSBO {
    uint count;
    uint4 values[1];
};
struct Result {
    uint bins[16];
    uint starts[16];
    uint odd_rank[1];
};
constant uint3 gl_WorkGroupSize [[maybe_unused]] = uint3(64u, 1u, 1u);
constant spvUnsafeArray<uint, 4> _weights = spvUnsafeArray<uint, 4>({1u, 2u, 3u, 4u});

kernel void histogram_main0(const device SSBO &_17 [[buffer(0)]], device Result &_29 [[buffer(1)]],
                            uint3 gl_LocalInvocationID [[thread_position_in_threadgroup]],
                            uint gl_LocalInvocationIndex [[thread_index_in_threadgroup]],
                            uint gl_SubgroupInvocationID [[thread_index_in_simdgroup]],
                            uint gl_SubgroupID [[simdgroup_index_in_threadgroup]])
{
    threadgroup spvUnsafeArray<uint, 16> bins;
    threadgroup uint carried;
    if (gl_LocalInvocationIndex < 16u) {
        atomic_store_explicit((threadgroup atomic_uint *)&bins[gl_LocalInvocationIndex], 0u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint _45 = gl_LocalInvocationID.x; _45 < _17.count; _45 += gl_WorkGroupSize.x) {
        uint _52 = _17.values[_45][3u & _45];
        uint _60 = atomic_fetch_add_explicit((threadgroup atomic_uint *)&bins[_52 & 15u], _weights[_52 & 3u], memory_order_relaxed);
        (void)_60;
    }
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    uint4 _70 = spvSubgroupBallot((_17.values[gl_LocalInvocationIndex].x & 1u) != 0u);
    _29.odd_rank[gl_LocalInvocationIndex] = spvSubgroupBallotExclusiveBitCount(_70, gl_SubgroupInvocationID);
    if (gl_LocalInvocationIndex < 16u) {
        uint _81 = bins[gl_LocalInvocationIndex];
        _29.bins[gl_LocalInvocationIndex] = _81;
        uint _84 = simd_prefix_exclusive_sum(_81);
        carried = spvSubgroupBroadcast(_84 + _81, ushort(15));
        _29.starts[gl_LocalInvocationIndex] = as_type<uint>(as_type<float>(_84));
    }
}

// ---- naga: particles with wrapped arrays and bounds checks

struct _mslBufferSizes {
    uint size1;
    uint size2;
};
struct type_7 {
    metal::float2 inner[3];
};
struct Particle {
    metal::float2 pos;
    metal::float2 vel;
};
typedef Particle type_3[1];
struct Params {
    float deltaT;
    float rule1Distance;
    metal::float2 pull;
    metal::float2x2 turn;
};
struct DefaultConstructible {
    template <typename T>
    operator T() && { return T{}; }
};
metal::float2 _naga_helper(const type_7 list, metal::float2 at)
{
    metal::float2 sum = metal::float2(0.0, 0.0);
    uint i = 0u;
    uint2 loop_bound = uint2(4294967295u);
    bool loop_init = true;
    while (true) {
        if (metal::all(loop_bound == uint2(0u))) { break; }
        loop_bound -= uint2(loop_bound.y == 0u, 1u);
        if (!loop_init) {
            i = i + 1u;
        }
        loop_init = false;
        if (i < 3u) {
        } else {
            break;
        }
        {
            metal::float2 _e1 = i < 3u ? list.inner[i] : DefaultConstructible();
            sum = sum + (_e1 - at);
        }
    }
    return sum;
}
kernel void naga_particles(metal::uint3 global_invocation_id [[thread_position_in_grid]],
                           constant Params &params [[user(fake0)]] [[buffer(0)]],
                           device type_3 const &particlesSrc [[user(fake0)]] [[buffer(1)]],
                           device type_3 &particlesDst [[user(fake0)]] [[buffer(2)]],
                           constant _mslBufferSizes &_buffer_sizes [[user(fake0)]] [[buffer(3)]])
{
    metal::float2 vPos = {};
    metal::float2 vVel = {};
    uint index = global_invocation_id.x;
    uint count = 1 + (_buffer_sizes.size1 - 0 - 16) / 16;
    if (index >= count) {
        return;
    }
    vPos = uint(index) < count ? particlesSrc[index].pos : DefaultConstructible();
    vVel = uint(index) < count ? particlesSrc[index].vel : DefaultConstructible();
    metal::float2 cMass = metal::float2(0.0, 0.0);
    int cMassCount = 0;
    for (uint i = 0u; i < count; i++) {
        if (i == index) {
            continue;
        }
        metal::float2 _e5 = particlesSrc[i].pos;
        if (metal::distance(_e5, vPos) < params.rule1Distance) {
            cMass = cMass + _e5;
            cMassCount = as_type<int>(as_type<uint>(cMassCount) + as_type<uint>(1));
        }
    }
    if (cMassCount > 0) {
        cMass = cMass / metal::float2(static_cast<float>(cMassCount)) - vPos;
    }
    type_7 corners = type_7 {metal::float2(0.0), params.pull, metal::float2(-1.0, 1.0)};
    vVel = params.turn * (vVel + cMass * 0.25 + _naga_helper(corners, vPos) * 0.125);
    vVel = metal::clamp(vVel, metal::float2(-1.0), metal::float2(1.0));
    particlesDst[index].pos = vPos + vVel * params.deltaT;
    particlesDst[index].vel = vVel;
}

// ---- tinygrad: a product of halves with float sums, four results per thread, and a reduction with a local array

kernel void r_8_8_4_4_16(device float *data0_1024, device half *data1_1024, device half *data2_1024,
                         uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]])
{
    float acc0[4];
    int gidx0 = gid.x; /* 8 */
    int gidx1 = gid.y; /* 8 */
    int lidx0 = lid.x; /* 4 */
    int alu0 = (gidx1 << 2);
    acc0[0] = 0.0f;
    acc0[1] = 0.0f;
    acc0[2] = 0.0f;
    acc0[3] = 0.0f;
    for (int ridx0 = 0; ridx0 < 8; ridx0++) {
        half4 val0 = (*((device half4 *)((data1_1024 + (((alu0 + lidx0) << 5) + (ridx0 << 2))))));
        half4 val1 = (*((device half4 *)((data2_1024 + ((ridx0 << 7) + (gidx0 << 2))))));
        half4 val2 = (*((device half4 *)((data2_1024 + (((ridx0 << 7) + (gidx0 << 2)) + 32)))));
        half4 val3 = (*((device half4 *)((data2_1024 + (((ridx0 << 7) + (gidx0 << 2)) + 64)))));
        half4 val4 = (*((device half4 *)((data2_1024 + (((ridx0 << 7) + (gidx0 << 2)) + 96)))));
        acc0[0] = (acc0[0] + ((float)(val0.x) * (float)(val1.x)) + ((float)(val0.y) * (float)(val2.x)) +
                   ((float)(val0.z) * (float)(val3.x)) + ((float)(val0.w) * (float)(val4.x)));
        acc0[1] = (acc0[1] + ((float)(val0.x) * (float)(val1.y)) + ((float)(val0.y) * (float)(val2.y)) +
                   ((float)(val0.z) * (float)(val3.y)) + ((float)(val0.w) * (float)(val4.y)));
        acc0[2] = (acc0[2] + ((float)(val0.x) * (float)(val1.z)) + ((float)(val0.y) * (float)(val2.z)) +
                   ((float)(val0.z) * (float)(val3.z)) + ((float)(val0.w) * (float)(val4.z)));
        acc0[3] = (acc0[3] + ((float)(val0.x) * (float)(val1.w)) + ((float)(val0.y) * (float)(val2.w)) +
                   ((float)(val0.z) * (float)(val3.w)) + ((float)(val0.w) * (float)(val4.w)));
    }
    *((device float4 *)((data0_1024 + (((alu0 + lidx0) << 5) + (gidx0 << 2))))) =
        float4((0.0f < acc0[0] ? acc0[0] : 0.0f), max(acc0[1], 0.0f), (acc0[2] < 0.0f ? 0.0f : acc0[2]), fmax(acc0[3], 0.0f));
}

kernel void r_16_16_16(device float *data0_16, device float *data1_4096, uint3 gid [[threadgroup_position_in_grid]],
                       uint3 lid [[thread_position_in_threadgroup]])
{
    threadgroup __attribute__((aligned(16))) float temp0[16];
    int gidx0 = gid.x; /* 16 */
    int lidx0 = lid.x; /* 16 */
    float acc0 = -INFINITY;
    for (int ridx0 = 0; ridx0 < 16; ridx0++) {
        float val0 = (*(data1_4096 + ((gidx0 << 8) + (lidx0 << 4) + ridx0)));
        bool alu1 = (acc0 < val0);
        acc0 = (alu1 ? val0 : acc0);
    }
    *(temp0 + lidx0) = acc0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if ((((bool)(lidx0)) != 1)) {
        float acc1 = -INFINITY;
        for (int ridx1 = 0; ridx1 < 16; ridx1++) {
            float val1 = (*(temp0 + ridx1));
            acc1 = max(acc1, val1);
        }
        *(data0_16 + gidx0) = (exp2((acc1 * 1.4426950408889634f)) + (float)((int)(acc1)));
    }
}
