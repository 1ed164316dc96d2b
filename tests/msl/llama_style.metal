// SPDX-License-Identifier: MIT
// Kernels in the manner of llama.cpp: block-quantised weights, one simdgroup per few rows, sums by simd_sum and
// threadgroup memory, matrix products with simdgroup matrices, argument structs, function constants, host names.
#include <metal_stdlib>
using namespace metal;

#define BLOCK 32
#define SIMD_WIDTH 32
#define FOR_UNROLL(x) _Pragma("clang loop unroll(full)") for (x)

typedef struct {
    half d;
    uint8_t qs[BLOCK / 2];
} block_4; // 18 bytes
typedef struct {
    half d;
    int8_t qs[BLOCK];
} block_8; // 34 bytes

typedef struct {
    int32_t columns, rows;
    uint64_t row_bytes;
} mul_mv_args;

// ---- matrix times vector, two rows per simdgroup, 16 numbers per lane and step

kernel void mul_mv_q4(constant mul_mv_args &args [[buffer(0)]], device const char *weights [[buffer(1)]],
                      device const float *y [[buffer(2)]], device float *out [[buffer(3)]],
                      uint3 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]],
                      ushort simd [[simdgroup_index_in_threadgroup]])
{
    const short ROWS = 2, SIMDS = 2;
    const int first = (group.x * SIMDS + simd) * ROWS;
    if (first >= args.rows)
        return;
    device const block_4 *ax[ROWS];
    FOR_UNROLL (short row = 0; row < ROWS; row++)
        ax[row] = (device const block_4 *)(weights + min(first + row, args.rows - 1) * args.row_bytes);
    float yl[16], sum[ROWS] = {0.f};
    const short part = lane % 2, start = lane / 2;
    for (int ib = start; ib < args.columns / BLOCK; ib += SIMD_WIDTH / 2) {
        device const float *yb = y + ib * BLOCK + part * 8;
        float sum_y = 0.f;
        FOR_UNROLL (short i = 0; i < 8; i++) {
            yl[i] = yb[i];
            yl[i + 8] = yb[i + 16];
            sum_y += yb[i] + yb[i + 16];
        }
        FOR_UNROLL (short row = 0; row < ROWS; row++) {
            device const block_4 &b = ax[row][ib];
            float acc = 0.f;
            FOR_UNROLL (short i = 0; i < 8; i++) {
                uint8_t q = b.qs[part * 8 + i];
                acc += yl[i] * (q & 0xF) + yl[i + 8] * (q >> 4);
            }
            sum[row] += (float)b.d * (acc - 8.f * sum_y);
        }
    }
    FOR_UNROLL (short row = 0; row < ROWS; row++) {
        const float total = simd_sum(sum[row]);
        if (lane == 0 && first + row < args.rows)
            out[first + row] = total;
    }
}

// One row per threadgroup of several simdgroups, which meet in threadgroup memory.
constant short NSG [[function_constant(600)]];

kernel void mul_mv_q8(constant mul_mv_args &args [[buffer(0)]], device const char *weights [[buffer(1)]],
                      device const float *y [[buffer(2)]], device float *out [[buffer(3)]],
                      threadgroup char *shmem [[threadgroup(0)]], uint row [[threadgroup_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]], ushort simd [[simdgroup_index_in_threadgroup]])
{
    threadgroup float *partial = (threadgroup float *)shmem;
    device const block_8 *x = (device const block_8 *)(weights + row * args.row_bytes);
    float sum = 0.f;
    for (int ib = simd; ib < args.columns / BLOCK; ib += NSG)
        sum += (float)x[ib].d * x[ib].qs[lane] * y[ib * BLOCK + lane];
    sum = simd_sum(sum);
    if (simd == 0)
        partial[lane] = 0.f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0)
        partial[simd] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd == 0) {
        const float total = simd_sum(partial[lane]);
        if (lane == 0)
            out[row] = total;
    }
}

// ---- matrix times matrix: 32x32 tiles in half through threadgroup memory, four simdgroups

template <typename block_q, short per_block, void (*dequantize)(device const block_q *, short, thread half4x4 &)>
kernel void mul_mm(constant mul_mv_args &args [[buffer(0)]], device const char *weights [[buffer(1)]],
                   device const float *y [[buffer(2)]], device float *out [[buffer(3)]],
                   threadgroup uchar *shmem [[threadgroup(0)]], uint3 group [[threadgroup_position_in_grid]],
                   ushort t [[thread_index_in_threadgroup]], ushort simd [[simdgroup_index_in_threadgroup]])
{
    threadgroup half *sa = (threadgroup half *)shmem;          // 32 rows of weights, 32 columns
    threadgroup float *sb = (threadgroup float *)(shmem + 2048); // 32 rows of y
    const uint r0 = group.y * 32, r1 = group.x * 32;
    simdgroup_half8x8 ma[2];
    simdgroup_float8x8 mb[2];
    simdgroup_float8x8 mc[4];
    for (short i = 0; i < 4; i++)
        mc[i] = make_filled_simdgroup_matrix<float, 8>(0.f);
    for (int k = 0; k < args.columns; k += 32) {
        // 64 threads take 16 weights each.
        if (t < 64) {
            half4x4 temp;
            device const block_q *x = (device const block_q *)(weights + (r0 + t / 2) * args.row_bytes) + k / BLOCK;
            dequantize(x, t % 2, temp);
            FOR_UNROLL (short i = 0; i < 16; i++)
                sa[(t / 2) * 32 + (t % 2) * 16 + i] = temp[i / 4][i % 4];
        }
        for (short i = t; i < 1024; i += 128)
            sb[i] = y[(r1 + i / 32) * args.columns + k + i % 32];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short kk = 0; kk < 32; kk += 8) {
            for (short i = 0; i < 2; i++) {
                simdgroup_load(ma[i], sa + ((simd / 2) * 16 + i * 8) * 32 + kk, 32, 0, true);
                simdgroup_load(mb[i], sb + ((simd % 2) * 16 + i * 8) * 32 + kk, 32);
            }
            simdgroup_barrier(mem_flags::mem_none);
            FOR_UNROLL (short i = 0; i < 4; i++)
                simdgroup_multiply_accumulate(mc[i], mb[i / 2], ma[i % 2], mc[i]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (short i = 0; i < 4; i++)
        simdgroup_store(mc[i], out + (r1 + (simd % 2) * 16 + (i / 2) * 8) * args.rows + r0 + (simd / 2) * 16 + (i % 2) * 8,
                        args.rows);
}

void dequantize_q4(device const block_4 *xb, short part, thread half4x4 &reg)
{
    const float d = xb->d;
    float4x4 temp;
    for (int i = 0; i < 16; i++) {
        uint8_t q = xb->qs[i];
        temp[i / 4][i % 4] = d * ((part ? q >> 4 : q & 0xF) - 8);
    }
    reg = (half4x4)temp;
}
void dequantize_q8(device const block_8 *xb, short part, thread half4x4 &reg)
{
    for (int i = 0; i < 16; i++)
        reg[i / 4][i % 4] = (half)(xb->qs[i + 16 * part] * (float)xb->d);
}
typedef decltype(mul_mm<block_4, 1, dequantize_q4>) mul_mm_t;
template [[host_name("mul_mm_q4")]] kernel mul_mm_t mul_mm<block_4, 1, dequantize_q4>;
template [[host_name("mul_mm_q8")]] kernel mul_mm_t mul_mm<block_8, 1, dequantize_q8>;

// ---- rms norm, fused with a weight or not

struct norm_args {
    int32_t columns;
    float eps;
};
template <typename T, short F>
kernel void rms_norm(constant norm_args &args [[buffer(0)]], device const char *src [[buffer(1)]],
                     device const char *weight [[buffer(2)]], device char *dst [[buffer(3)]],
                     threadgroup float *shmem [[threadgroup(0)]], uint row [[threadgroup_position_in_grid]],
                     ushort tpitg [[thread_position_in_threadgroup]], ushort sgitg [[simdgroup_index_in_threadgroup]],
                     ushort tiisg [[thread_index_in_simdgroup]], ushort ntg [[threads_per_threadgroup]])
{
    if (sgitg == 0)
        shmem[tiisg] = 0.0f;
    device const T *x = (device const T *)src + row * (args.columns / 4);
    float sumf = 0.0f;
    for (int i = tpitg; i < args.columns / 4; i += ntg)
        sumf += dot(x[i], x[i]);
    sumf = simd_sum(sumf);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tiisg == 0)
        shmem[sgitg] = sumf;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sumf = shmem[tiisg];
    sumf = simd_sum(sumf);
    const float scale = 1.0f / sqrt(sumf / args.columns + args.eps);
    device T *y = (device T *)dst + row * (args.columns / 4);
    device const T *w = (device const T *)weight;
    for (int i = tpitg; i < args.columns / 4; i += ntg) {
        if (F == 1)
            y[i] = x[i] * scale;
        if (F == 2)
            y[i] = (x[i] * scale) * w[i];
    }
}
typedef decltype(rms_norm<float4, 1>) rms_norm_t;
template [[host_name("rms_norm_4")]] kernel rms_norm_t rms_norm<float4, 1>;
template [[host_name("rms_norm_mul_4")]] kernel rms_norm_t rms_norm<float4, 2>;

// ---- rotary embedding with corrections

struct rope_args {
    int32_t head, heads, tokens, dims;
    float base, scale, ext_factor, attn_factor, beta_fast, beta_slow;
    int32_t original;
};
static float correction_factor(int dims, int original, float rotations, float base)
{
    return dims * log(original / (rotations * 2 * M_PI_F)) / (2 * log(base));
}
static float ramp(const float low, const float high, const int i0)
{
    const float y = (i0 / 2 - low) / max(0.001f, high - low);
    return 1.0f - min(1.0f, max(0.0f, y));
}
template <typename T>
kernel void rope(constant rope_args &args [[buffer(0)]], device const T *src [[buffer(1)]],
                 device const int32_t *positions [[buffer(2)]], device T *dst [[buffer(3)]],
                 ushort tiitg [[thread_index_in_threadgroup]], ushort3 tptg [[threads_per_threadgroup]],
                 uint3 tgpig [[threadgroup_position_in_grid]])
{
    float low = max(0.0f, floor(correction_factor(args.dims, args.original, args.beta_fast, args.base)));
    float high = min(args.dims - 1.0f, ceil(correction_factor(args.dims, args.original, args.beta_slow, args.base)));
    const float theta_base = positions[tgpig.y], inv_dims = -1.f / args.dims;
    device const T *x = src + (tgpig.y * args.heads + tgpig.x) * args.head;
    device T *y = dst + (tgpig.y * args.heads + tgpig.x) * args.head;
    for (int i0 = 2 * tiitg; i0 < args.head; i0 += 2 * tptg.x) {
        if (i0 >= args.dims) {
            y[i0] = x[i0];
            y[i0 + 1] = x[i0 + 1];
            continue;
        }
        const float theta = theta_base * pow(args.base, inv_dims * i0), interpolated = args.scale * theta;
        float angle = interpolated, magnitude = args.attn_factor;
        if (args.ext_factor != 0.0f) {
            const float part = ramp(low, high, i0) * args.ext_factor;
            angle = interpolated * (1 - part) + theta * part;
            magnitude *= 1.0f + 0.1f * log(1.0f / args.scale);
        }
        const float c = cos(angle) * magnitude, s = sin(angle) * magnitude;
        const float x0 = x[i0], x1 = x[i0 + 1];
        y[i0] = x0 * c - x1 * s;
        y[i0 + 1] = x0 * s + x1 * c;
    }
}
template [[host_name("rope_f32")]] kernel void rope<float>(constant rope_args &, device const float *,
                                                           device const int32_t *, device float *, ushort, ushort3, uint3);
template [[host_name("rope_f16")]] kernel void rope<half>(constant rope_args &, device const half *, device const int32_t *,
                                                          device half *, ushort, ushort3, uint3);

// ---- softmax with a mask and a slope per head

struct soft_max_args {
    int32_t columns, rows, heads;
    float scale, max_bias, m0;
};
kernel void soft_max(constant soft_max_args &args [[buffer(0)]], device const float *src [[buffer(1)]],
                     device const half *mask [[buffer(2)]], device float *dst [[buffer(3)]],
                     threadgroup float *buf [[threadgroup(0)]], uint3 tgpig [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]],
                     uint t [[thread_index_in_threadgroup]], uint3 tptg [[threads_per_threadgroup]])
{
    const int head = tgpig.y, row = tgpig.x;
    device const float *x = src + (head * args.rows + row) * args.columns;
    device const half *m = mask ? mask + row * args.columns : nullptr;
    device float *y = dst + (head * args.rows + row) * args.columns;
    const float slope = args.max_bias > 0.0f ? pow(args.m0, head + 1.0f) : 1.0f;
    float lmax = -INFINITY;
    for (int i = t; i < args.columns; i += tptg.x)
        lmax = max(lmax, x[i] * args.scale + (m ? slope * m[i] : 0.0f));
    float largest = simd_max(lmax);
    if (tptg.x > SIMD_WIDTH) {
        if (simd == 0)
            buf[lane] = -INFINITY;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0)
            buf[simd] = largest;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        largest = simd_max(buf[lane]);
    }
    float lsum = 0.0f;
    for (int i = t; i < args.columns; i += tptg.x) {
        const float e = exp((x[i] * args.scale + (m ? slope * m[i] : 0.0f)) - largest);
        lsum += e;
        y[i] = e;
    }
    threadgroup_barrier(mem_flags::mem_none);
    float sum = simd_sum(lsum);
    if (tptg.x > SIMD_WIDTH) {
        if (simd == 0)
            buf[lane] = 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0)
            buf[simd] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = simd_sum(buf[lane]);
    }
    const float inv_sum = 1.0f / sum;
    for (int i = t; i < args.columns; i += tptg.x)
        y[i] *= inv_sum;
}

// ---- attention with a running maximum: 8 queries per simdgroup, keys and values in steps of 8

struct attention_args {
    int32_t queries, keys;
    float scale;
};
template <short D>
kernel void flash_attention(constant attention_args &args [[buffer(0)]], device const half *q [[buffer(1)]],
                            device const half *k [[buffer(2)]], device const half *v [[buffer(3)]],
                            device float *out [[buffer(4)]], threadgroup half *shared [[threadgroup(0)]],
                            uint group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]])
{
    constexpr short Q = 8, C = 8, D8 = D / 8;
    threadgroup half *sq = shared;                                  // Q x D
    threadgroup float *ss = (threadgroup float *)(shared + Q * D); // Q x C scores, then Q x Q scaling
    const uint first = group * Q;
    for (short i = lane; i < Q * D; i += SIMD_WIDTH)
        sq[i] = first + i / D < (uint)args.queries ? q[first * D + i] : (half)0;
    simdgroup_float8x8 lo[D8];
    FOR_UNROLL (short i = 0; i < D8; i++)
        lo[i] = make_filled_simdgroup_matrix<float, 8>(0.0f);
    float S[Q] = {[0 ... Q - 1] = 0.0f};
    float M[Q] = {[0 ... Q - 1] = -FLT_MAX / 2};
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (int c = 0; c < args.keys; c += C) {
        simdgroup_float8x8 mqk = make_filled_simdgroup_matrix<float, 8>(0.f);
        for (short i = 0; i < D8; i++) {
            simdgroup_half8x8 mq, mk;
            simdgroup_load(mq, sq + i * 8, D);
            simdgroup_load(mk, k + c * D + i * 8, D, 0, true);
            simdgroup_multiply_accumulate(mqk, mq, mk, mqk);
        }
        simdgroup_store(mqk, ss, C);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        for (short j = 0; j < Q; j++) {
            const float old = M[j];
            const float s = lane < C ? ss[j * C + lane] * args.scale : -FLT_MAX / 2;
            M[j] = simd_max(max(M[j], s));
            const float ms = exp(old - M[j]), vs = lane < C ? exp(s - M[j]) : 0.0f;
            S[j] = S[j] * ms + simd_sum(vs);
            if (lane < C)
                ss[j * C + lane] = vs;
            if (lane < Q)
                ss[Q * C + j * Q + lane] = lane == j ? ms : 0.0f; // a diagonal matrix
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_float8x8 scaling, weights;
        simdgroup_load(scaling, ss + Q * C, Q);
        simdgroup_load(weights, ss, C);
        for (short i = 0; i < D8; i++) {
            simdgroup_half8x8 mv;
            simdgroup_multiply(lo[i], scaling, lo[i]);
            simdgroup_load(mv, v + c * D + i * 8, D);
            simdgroup_multiply_accumulate(lo[i], weights, mv, lo[i]);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (short j = lane; j < Q * Q; j += SIMD_WIDTH)
        ss[Q * C + j] = 0.0f;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    FOR_UNROLL (short j = 0; j < Q; j++)
        if (lane == j)
            ss[Q * C + j * Q + j] = 1.0f / S[j];
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 scaling;
    simdgroup_load(scaling, ss + Q * C, Q);
    FOR_UNROLL (short i = 0; i < D8; i++) {
        simdgroup_multiply(lo[i], scaling, lo[i]);
        simdgroup_store(lo[i], out + first * D + i * 8, D);
    }
}
template [[host_name("flash_attention_64")]] kernel void flash_attention<64>(constant attention_args &, device const half *,
                                                                             device const half *, device const half *,
                                                                             device float *, threadgroup half *, uint,
                                                                             ushort);
