// SPDX-License-Identifier: MIT
// Attention for one head per threadgroup column: a causal prefill in tiles of 16 queries by 16 keys, and one
// query over a cache (decode), by simd_sum with an online softmax or with all scores in threadgroup memory.
// q, k, v and out are [head][token][size] in f32. Counterpart: attention.cl. Run by the benchmark only.
#include <metal_stdlib>
using namespace metal;

struct attention_params {
    uint tokens; // keys of a head
    float scale;
};

constant constexpr uint TILE = 16, SIZE = 64;

// Thread (x, y) of 16x16 has score (query y, key x) of a tile, and columns x, x + 16, ... of query y's result.
kernel void attention_prefill(device const float *q [[buffer(0)]], device const float *k [[buffer(1)]],
                              device const float *v [[buffer(2)]], device float *out [[buffer(3)]],
                              constant attention_params &p [[buffer(4)]],
                              uint3 group [[threadgroup_position_in_grid]],
                              uint3 in [[thread_position_in_threadgroup]])
{
    threadgroup float tile_q[TILE][SIZE], tile_k[TILE][SIZE + 1], tile_v[TILE][SIZE], scores[TILE][TILE];
    const uint head = group.y * p.tokens * SIZE, query = group.x * TILE + in.y;
    float sum[SIZE / TILE] = {0}, largest = -INFINITY, total = 0;
    for (uint c = in.x; c < SIZE; c += TILE)
        tile_q[in.y][c] = q[head + query * SIZE + c] * p.scale;
    for (uint first = 0; first <= group.x * TILE; first += TILE) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint c = in.x; c < SIZE; c += TILE) {
            tile_k[in.y][c] = k[head + (first + in.y) * SIZE + c];
            tile_v[in.y][c] = v[head + (first + in.y) * SIZE + c];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float score = 0;
        for (uint c = 0; c < SIZE; c++)
            score += tile_q[in.y][c] * tile_k[in.x][c];
        scores[in.y][in.x] = first + in.x <= query ? score : -INFINITY;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float highest = largest;
        for (uint i = 0; i < TILE; i++)
            highest = max(highest, scores[in.y][i]);
        const float shrink = exp(largest - highest);
        largest = highest;
        total *= shrink;
        for (uint c = 0; c < SIZE / TILE; c++)
            sum[c] *= shrink;
        for (uint i = 0; i < TILE; i++) {
            const float weight = exp(scores[in.y][i] - highest);
            total += weight;
            for (uint c = 0; c < SIZE / TILE; c++)
                sum[c] += weight * tile_v[i][in.x + c * TILE];
        }
    }
    for (uint c = 0; c < SIZE / TILE; c++)
        out[head + query * SIZE + in.x + c * TILE] = sum[c] / total;
}

constant constexpr uint WIDE = 128, THREADS = 128, LANES = 32, SIMDS = THREADS / LANES;

// Each simdgroup takes every fourth key, each lane four columns; the four results are joined at the end.
kernel void attention_decode(device const float *q [[buffer(0)]], device const float *k [[buffer(1)]],
                             device const float *v [[buffer(2)]], device float *out [[buffer(3)]],
                             constant attention_params &p [[buffer(4)]],
                             uint group [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]],
                             uint simd [[simdgroup_index_in_threadgroup]])
{
    threadgroup float all_largest[SIMDS], all_total[SIMDS], all_sum[SIMDS][WIDE];
    const uint head = group * p.tokens * WIDE;
    float own[WIDE / LANES], sum[WIDE / LANES] = {0}, largest = -INFINITY, total = 0;
    for (uint c = 0; c < WIDE / LANES; c++)
        own[c] = q[group * WIDE + c * LANES + lane] * p.scale;
    for (uint token = simd; token < p.tokens; token += SIMDS) {
        float score = 0;
        for (uint c = 0; c < WIDE / LANES; c++)
            score += own[c] * k[head + token * WIDE + c * LANES + lane];
        score = simd_sum(score);
        const float highest = max(largest, score);
        const float shrink = exp(largest - highest), weight = exp(score - highest);
        largest = highest;
        total = total * shrink + weight;
        for (uint c = 0; c < WIDE / LANES; c++)
            sum[c] = sum[c] * shrink + weight * v[head + token * WIDE + c * LANES + lane];
    }
    for (uint c = 0; c < WIDE / LANES; c++)
        all_sum[simd][c * LANES + lane] = sum[c];
    if (lane == 0) {
        all_largest[simd] = largest;
        all_total[simd] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float highest = -INFINITY, result = 0;
    for (uint s = 0; s < SIMDS; s++)
        highest = max(highest, all_largest[s]);
    total = 0;
    for (uint s = 0; s < SIMDS; s++) {
        const float share = exp(all_largest[s] - highest);
        total += all_total[s] * share;
        result += all_sum[s][simd * LANES + lane] * share;
    }
    out[group * WIDE + simd * LANES + lane] = result / total;
}

constant constexpr uint MOST_TOKENS = 4096;

// One thread per key for the scores, one per column for the result.
kernel void attention_decode_local(device const float *q [[buffer(0)]], device const float *k [[buffer(1)]],
                                   device const float *v [[buffer(2)]], device float *out [[buffer(3)]],
                                   constant attention_params &p [[buffer(4)]],
                                   uint group [[threadgroup_position_in_grid]],
                                   uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float scores[MOST_TOKENS], memory[THREADS], own[WIDE];
    const uint head = group * p.tokens * WIDE;
    own[thread_index] = q[group * WIDE + thread_index] * p.scale;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float largest = -INFINITY, total = 0, result = 0;
    for (uint token = thread_index; token < p.tokens; token += THREADS) {
        float score = 0;
        for (uint c = 0; c < WIDE; c++)
            score += own[c] * k[head + token * WIDE + c];
        scores[token] = score;
        largest = max(largest, score);
    }
    memory[thread_index] = largest;
    for (uint step = THREADS / 2; step > 0; step /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (thread_index < step)
            memory[thread_index] = max(memory[thread_index], memory[thread_index + step]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    largest = memory[0];
    for (uint token = thread_index; token < p.tokens; token += THREADS)
        scores[token] = exp(scores[token] - largest);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint token = 0; token < p.tokens; token++) {
        total += scores[token];
        result += scores[token] * v[head + token * WIDE + thread_index];
    }
    out[group * WIDE + thread_index] = result / total;
}
