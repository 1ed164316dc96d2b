// SPDX-License-Identifier: MIT
// Kernels in the manner of MLX: a tiled gemm whose fragments live in registers through thread_elements, reductions and
// scans over any operator, arg-reduce with structs through shuffles, a sort within threadgroups.
#include <metal_stdlib>
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
using namespace metal;

#define STEEL_CONST static constant constexpr const
#define STEEL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")

typedef bfloat bfloat16_t;

// ---- gemm with fragments

template <typename T>
struct BaseFrag {
    STEEL_CONST int kFragRows = 8;
    STEEL_CONST int kElems = 2;
    typedef metal::vec<T, kElems> frag_type;

    METAL_FUNC static constexpr short2 get_coord(ushort lane)
    {
        const short qid = lane / 4;
        const short fm = (qid & 4) + ((lane / 2) % 4);
        const short fn = (qid & 2) * 2 + (lane % 2) * 2;
        return short2{fn, fm};
    }
    template <typename Src>
    METAL_FUNC static constexpr void load(thread frag_type &dst, Src src, int str_x, int str_y)
    {
        STEEL_PRAGMA_UNROLL
        for (short j = 0; j < kElems; j++)
            dst[j] = static_cast<T>(src[str_x * 0 + j * str_y]);
    }
    METAL_FUNC static constexpr void mma(thread frag_type &D, thread frag_type &A, thread frag_type &B, thread frag_type &C)
    {
        simdgroup_matrix<T, 8, 8> d, a, b, c;
        reinterpret_cast<thread frag_type &>(a.thread_elements()) = A;
        reinterpret_cast<thread frag_type &>(b.thread_elements()) = B;
        reinterpret_cast<thread frag_type &>(c.thread_elements()) = C;
        simdgroup_multiply_accumulate(d, a, b, c);
        D = reinterpret_cast<thread frag_type &>(d.thread_elements());
    }
};

template <typename T, int kRows_, int kCols_>
struct Tile {
    using Frag = BaseFrag<T>;
    STEEL_CONST int kRows = kRows_;
    STEEL_CONST int kCols = kCols_;
    typename Frag::frag_type val[kRows * kCols];

    METAL_FUNC void clear() thread
    {
        STEEL_PRAGMA_UNROLL
        for (short i = 0; i < kRows * kCols; i++)
            val[i] = typename Frag::frag_type(0);
    }
    METAL_FUNC thread typename Frag::frag_type &at(const short i, const short j) { return val[i * kCols + j]; }
    template <typename U>
    METAL_FUNC void load(const threadgroup U *src, int ld)
    {
        for (short i = 0; i < kRows; i++)
            for (short j = 0; j < kCols; j++)
                Frag::load(at(i, j), &src[i * 8 * ld + j * 8], ld, 1);
    }
    template <typename U>
    METAL_FUNC void store_safe(device U *dst, int ld, short2 limits)
    {
        for (short i = 0; i < kRows; i++)
            for (short j = 0; j < kCols; j++)
                for (short e = 0; e < 2; e++)
                    if (i * 8 < limits.y && j * 8 + e < limits.x)
                        dst[i * 8 * ld + j * 8 + e] = static_cast<U>(at(i, j)[e]);
    }
};

struct GemmParams {
    const int M;
    const int N;
    const int K;
};

template <typename T, int BM, int BN, int BK, bool transpose_b, typename Acc = float>
[[kernel, max_total_threads_per_threadgroup(128)]] void
gemm(const device T *A [[buffer(0)]], const device T *B [[buffer(1)]], device T *D [[buffer(2)]],
     const constant GemmParams *params [[buffer(3)]], uint simd_lane_id [[thread_index_in_simdgroup]],
     uint simd_group_id [[simdgroup_index_in_threadgroup]], uint3 tid [[threadgroup_position_in_grid]],
     uint3 lid [[thread_position_in_threadgroup]])
{
    threadgroup T As[BM * (BK + 4)];
    threadgroup T Bs[BK * (BN + 4)];
    const int c_row = tid.y * BM, c_col = tid.x * BN;
    const uint thread_idx = simd_group_id * 32 + simd_lane_id;
    const short tm = (simd_group_id / 2) * (BM / 2), tn = (simd_group_id % 2) * (BN / 2);
    const short2 coord = BaseFrag<Acc>::get_coord(simd_lane_id);
    Tile<Acc, BM / 16, 1> Atile;
    Tile<Acc, 1, BN / 16> Btile;
    Tile<Acc, BM / 16, BN / 16> Ctile;
    Ctile.clear();
    for (int k = 0; k < params->K; k += BK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_idx; i < BM * BK; i += 128) {
            int row = c_row + i / BK, col = k + i % BK;
            As[(i / BK) * (BK + 4) + i % BK] = row < params->M && col < params->K ? A[row * params->K + col] : T(0);
        }
        for (uint i = thread_idx; i < BK * BN; i += 128) {
            int row = k + i / BN, col = c_col + i % BN;
            bool inside = row < params->K && col < params->N;
            if (transpose_b)
                Bs[(i / BN) * (BN + 4) + i % BN] = inside ? B[col * params->K + row] : T(0);
            else
                Bs[(i / BN) * (BN + 4) + i % BN] = inside ? B[row * params->N + col] : T(0);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        STEEL_PRAGMA_UNROLL
        for (short kk = 0; kk < BK; kk += 8) {
            Atile.load(As + (tm + coord.y) * (BK + 4) + kk + coord.x, BK + 4);
            Btile.load(Bs + (kk + coord.y) * (BN + 4) + tn + coord.x, BN + 4);
            simdgroup_barrier(mem_flags::mem_none);
            STEEL_PRAGMA_UNROLL
            for (short m = 0; m < BM / 16; m++)
                for (short n = 0; n < BN / 16; n++)
                    BaseFrag<Acc>::mma(Ctile.at(m, n), Atile.at(m, 0), Btile.at(0, n), Ctile.at(m, n));
        }
    }
    const int row = c_row + tm + coord.y, col = c_col + tn + coord.x;
    if (row < params->M)
        Ctile.store_safe(D + row * params->N + col, params->N, short2(params->N - col, params->M - row));
}
#define instantiate_gemm(name, T, tb) \
    template [[host_name("gemm_" #name)]] [[kernel]] void gemm<T, 32, 32, 16, tb>( \
        const device T *, const device T *, device T *, const constant GemmParams *, uint, uint, uint3, uint3);
instantiate_gemm(nn_float32, float, false)
instantiate_gemm(nt_float16, half, true)
instantiate_gemm(nt_bfloat16, bfloat16_t, true)

// ---- reductions

template <typename U>
struct Sum {
    template <typename T>
    T simd_reduce(T val)
    {
        return simd_sum(val);
    }
    static constexpr constant U init = U(0);
    U operator()(U a, U b) { return a + b; }
};
template <typename U>
struct Max {
    template <typename T>
    T simd_reduce(T val)
    {
        return simd_max(val);
    }
    static constexpr constant U init = metal::numeric_limits<U>::lowest();
    U operator()(U a, U b) { return a > b ? a : b; }
};

template <typename T, typename U, typename Op, int N_READS = 4>
[[kernel]] void all_reduce(const device T *in [[buffer(0)]], device U *out [[buffer(1)]],
                           const constant size_t &in_size [[buffer(2)]], uint gid [[threadgroup_position_in_grid]],
                           uint3 lid [[thread_position_in_threadgroup]], uint3 lsize [[threads_per_threadgroup]],
                           uint simd_per_group [[simdgroups_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]])
{
    Op op;
    threadgroup U shared_vals[32];
    U total = Op::init;
    size_t blocks = in_size / (lsize.x * N_READS), extra = in_size - blocks * lsize.x * N_READS;
    const device T *at = in + lid.x * N_READS;
    for (size_t b = 0; b < blocks; b++) {
        for (int i = 0; i < N_READS; i++)
            total = op(static_cast<U>(at[i]), total);
        at += lsize.x * N_READS;
    }
    if (lid.x * N_READS < extra)
        for (int i = 0; i < N_READS && lid.x * N_READS + i < extra; i++)
            total = op(static_cast<U>(at[i]), total);
    total = op.simd_reduce(total);
    if (simd_per_group > 1) {
        if (simd_lane_id == 0)
            shared_vals[simd_group_id] = total;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        total = lid.x < simd_per_group ? shared_vals[lid.x] : Op::init;
        total = op.simd_reduce(total);
    }
    if (lid.x == 0)
        out[gid] = total;
}
#define instantiate_reduce(name, T, U, Op) \
    template [[host_name("all_reduce_" #name)]] [[kernel]] void all_reduce<T, U, Op<U>>( \
        const device T *, device U *, const constant size_t &, uint, uint3, uint3, uint, uint, uint);
instantiate_reduce(sum_float32, float, float, Sum)
instantiate_reduce(sum_uint8, uint8_t, int, Sum)
instantiate_reduce(max_float16, half, half, Max)
instantiate_reduce(max_bfloat16, bfloat16_t, bfloat16_t, Max)

// ---- arg reduce

template <typename U>
struct IndexValPair {
    uint32_t index;
    U val;
};
template <typename U>
struct ArgMax {
    static constexpr constant U init = metal::numeric_limits<U>::lowest();
    IndexValPair<U> reduce(IndexValPair<U> best, IndexValPair<U> current)
    {
        if (best.val < current.val || (best.val == current.val && best.index > current.index))
            return current;
        return best;
    }
};
template <typename U>
IndexValPair<U> simd_shuffle_down(IndexValPair<U> data, uint16_t delta)
{
    return IndexValPair<U>{simd_shuffle_down(data.index, delta), simd_shuffle_down(data.val, delta)};
}
template <typename T, typename Op>
[[kernel]] void arg_reduce(const device T *in [[buffer(0)]], device uint32_t *out [[buffer(1)]],
                           const constant size_t &axis_size [[buffer(2)]], uint gid [[threadgroup_position_in_grid]],
                           uint lid [[thread_position_in_threadgroup]], uint lsize [[threads_per_threadgroup]],
                           uint simd_lane_id [[thread_index_in_simdgroup]],
                           uint simd_group_id [[simdgroup_index_in_threadgroup]])
{
    Op op;
    IndexValPair<T> best{0, Op::init};
    threadgroup IndexValPair<T> local_data[32];
    for (uint i = lid; i < axis_size; i += lsize)
        best = op.reduce(best, IndexValPair<T>{i, in[gid * axis_size + i]});
    for (uint offset = 16; offset > 0; offset /= 2)
        best = op.reduce(best, simd_shuffle_down(best, offset));
    if (simd_lane_id == 0)
        local_data[simd_group_id] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd_group_id != 0)
        return;
    uint simds = (lsize + 31) / 32;
    best = simd_lane_id < simds ? local_data[simd_lane_id] : IndexValPair<T>{0, Op::init};
    for (uint offset = 16; offset > 0; offset /= 2)
        best = op.reduce(best, simd_shuffle_down(best, offset));
    if (lid == 0)
        out[gid] = best.index;
}
template [[host_name("argmax_float32")]] [[kernel]] void arg_reduce<float, ArgMax<float>>(
    const device float *, device uint32_t *, const constant size_t &, uint, uint, uint, uint, uint);

// ---- scan along rows

template <typename T, typename U, bool inclusive, int N_READS = 4>
[[kernel]] void scan(const device T *in [[buffer(0)]], device U *out [[buffer(1)]],
                     const constant size_t &axis_size [[buffer(2)]], uint gid [[threadgroup_position_in_grid]],
                     uint lid [[thread_position_in_threadgroup]], uint lsize [[threads_per_threadgroup]],
                     uint simd_size [[threads_per_simdgroup]], uint simd_lane_id [[thread_index_in_simdgroup]],
                     uint simd_group_id [[simdgroup_index_in_threadgroup]])
{
    in += gid * axis_size;
    out += gid * axis_size;
    U prefix = 0;
    U values[N_READS];
    threadgroup U simdgroup_sums[32];
    for (uint r = 0; r < (axis_size + lsize * N_READS - 1) / (lsize * N_READS); r++) {
        uint offset = r * lsize * N_READS + lid * N_READS;
        for (int i = 0; i < N_READS; i++)
            values[i] = offset + i < axis_size ? static_cast<U>(in[offset + i]) : U(0);
        for (int i = 1; i < N_READS; i++)
            values[i] += values[i - 1];
        U prev_thread = simd_prefix_exclusive_sum(values[N_READS - 1]);
        if (simd_lane_id == simd_size - 1)
            simdgroup_sums[simd_group_id] = prev_thread + values[N_READS - 1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simd_group_id == 0) {
            U prev_simdgroup = simd_prefix_exclusive_sum(simdgroup_sums[simd_lane_id]);
            simdgroup_sums[simd_lane_id] = prev_simdgroup;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = 0; i < N_READS; i++) {
            U before = prefix + simdgroup_sums[simd_group_id] + prev_thread;
            U value = inclusive ? before + values[i] : before + (i ? values[i - 1] : U(0));
            if (offset + i < axis_size)
                out[offset + i] = value;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simd_group_id == lsize / simd_size - 1 && simd_lane_id == simd_size - 1)
            simdgroup_sums[0] = prefix + simdgroup_sums[simd_group_id] + prev_thread + values[N_READS - 1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        prefix = simdgroup_sums[0];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
template [[host_name("scan_inclusive_float")]] [[kernel]] void scan<float, float, true>(
    const device float *, device float *, const constant size_t &, uint, uint, uint, uint, uint, uint);
template [[host_name("scan_exclusive_char")]] [[kernel]] void scan<char, int, false>(
    const device char *, device int *, const constant size_t &, uint, uint, uint, uint, uint, uint);

// ---- sort within a threadgroup: each thread its own few, then merges of doubling size

template <typename T>
METAL_FUNC void thread_swap(thread T &a, thread T &b)
{
    T w = a;
    a = b;
    b = w;
}
template <typename T, typename I, bool ARG, short BLOCK_THREADS, short N_PER_THREAD>
[[kernel]] void block_sort(const device T *inp [[buffer(0)]], device T *out [[buffer(1)]], device I *args [[buffer(2)]],
                           const constant int &size [[buffer(3)]], uint3 tid [[threadgroup_position_in_grid]],
                           uint3 lid [[thread_position_in_threadgroup]])
{
    constexpr short N = BLOCK_THREADS * N_PER_THREAD;
    threadgroup T tgp_vals[N];
    threadgroup I tgp_idxs[ARG ? N : 1];
    inp += tid.y * size;
    out += tid.y * size;
    args += tid.y * size;
    for (short i = lid.x; i < N; i += BLOCK_THREADS) {
        tgp_vals[i] = i < size ? inp[i] : T(INFINITY);
        if (ARG)
            tgp_idxs[i] = i;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    short idx = lid.x * N_PER_THREAD;
    thread T vals[N_PER_THREAD];
    thread I idxs[N_PER_THREAD];
    for (short i = 0; i < N_PER_THREAD; i++) {
        vals[i] = tgp_vals[idx + i];
        if (ARG)
            idxs[i] = tgp_idxs[idx + i];
    }
    for (short i = 0; i < N_PER_THREAD; i++)
        for (short j = i & 1; j < N_PER_THREAD - 1; j += 2)
            if (vals[j + 1] < vals[j]) {
                thread_swap(vals[j + 1], vals[j]);
                if (ARG)
                    thread_swap(idxs[j + 1], idxs[j]);
            }
    for (short merge_threads = 2; merge_threads <= BLOCK_THREADS; merge_threads *= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short i = 0; i < N_PER_THREAD; i++) {
            tgp_vals[idx + i] = vals[i];
            if (ARG)
                tgp_idxs[idx + i] = idxs[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const short group = lid.x / merge_threads, lane = lid.x % merge_threads;
        const short width = N_PER_THREAD * merge_threads, start = width * group;
        const short md = N_PER_THREAD * lane, half_width = width / 2;
        threadgroup T *a = tgp_vals + start, *b = a + half_width;
        // How many of the first md come from a.
        short low = max(0, md - half_width), high = min(md, half_width);
        while (low < high) {
            short mid = (low + high) / 2;
            if (b[md - 1 - mid] < a[mid])
                high = mid;
            else
                low = mid + 1;
        }
        short ia = low, ib = md - low;
        for (short i = 0; i < N_PER_THREAD; i++) {
            bool from_b = ib < half_width && (ia >= half_width || b[ib] < a[ia]);
            vals[i] = from_b ? b[ib] : a[ia];
            if (ARG)
                idxs[i] = tgp_idxs[start + (from_b ? half_width + ib : ia)];
            ib += from_b;
            ia += !from_b;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (short i = 0; i < N_PER_THREAD; i++) {
        if (idx + i < size) {
            out[idx + i] = vals[i];
            if (ARG)
                args[idx + i] = idxs[i];
        }
    }
}
template [[host_name("sort_float")]] [[kernel]] void block_sort<float, uint, true, 64, 4>(
    const device float *, device float *, device uint *, const constant int &, uint3, uint3);
template [[host_name("sort_half")]] [[kernel]] void block_sort<half, uint, false, 128, 2>(
    const device half *, device half *, device uint *, const constant int &, uint3, uint3);
