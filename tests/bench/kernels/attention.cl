// SPDX-License-Identifier: MIT
// Attention, a causal prefill in tiles and one query over a cache: the counterpart of attention.metal in
// OpenCL, with a tree in local memory for each simd_sum. Run by the benchmark only.

typedef struct {
    uint tokens; // keys of a head
    float scale;
} attention_params;

#define TILE 16
#define SIZE 64

kernel void attention_prefill(global const float *q, global const float *k, global const float *v,
                              global float *out, const attention_params p)
{
    local float tile_q[TILE][SIZE], tile_k[TILE][SIZE + 1], tile_v[TILE][SIZE], scores[TILE][TILE];
    const uint x = get_local_id(0), y = get_local_id(1);
    const uint head = get_group_id(1) * p.tokens * SIZE, query = get_group_id(0) * TILE + y;
    float sum[SIZE / TILE] = {0}, largest = -INFINITY, total = 0;
    for (uint c = x; c < SIZE; c += TILE)
        tile_q[y][c] = q[head + query * SIZE + c] * p.scale;
    for (uint first = 0; first <= get_group_id(0) * TILE; first += TILE) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = x; c < SIZE; c += TILE) {
            tile_k[y][c] = k[head + (first + y) * SIZE + c];
            tile_v[y][c] = v[head + (first + y) * SIZE + c];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float score = 0;
        for (uint c = 0; c < SIZE; c++)
            score += tile_q[y][c] * tile_k[x][c];
        scores[y][x] = first + x <= query ? score : -INFINITY;
        barrier(CLK_LOCAL_MEM_FENCE);
        float highest = largest;
        for (uint i = 0; i < TILE; i++)
            highest = fmax(highest, scores[y][i]);
        const float shrink = exp(largest - highest);
        largest = highest;
        total *= shrink;
        for (uint c = 0; c < SIZE / TILE; c++)
            sum[c] *= shrink;
        for (uint i = 0; i < TILE; i++) {
            const float weight = exp(scores[y][i] - highest);
            total += weight;
            for (uint c = 0; c < SIZE / TILE; c++)
                sum[c] += weight * tile_v[i][x + c * TILE];
        }
    }
    for (uint c = 0; c < SIZE / TILE; c++)
        out[head + query * SIZE + x + c * TILE] = sum[c] / total;
}

#define WIDE 128
#define THREADS 128
#define LANES 32
#define TEAMS (THREADS / LANES)

kernel void attention_decode(global const float *q, global const float *k, global const float *v,
                             global float *out, const attention_params p)
{
    local float all_largest[TEAMS], all_total[TEAMS], all_sum[TEAMS][WIDE], memory[TEAMS][LANES];
    const uint group = get_group_id(0), lane = get_local_id(0) % LANES, team = get_local_id(0) / LANES;
    const uint head = group * p.tokens * WIDE;
    float own[WIDE / LANES], sum[WIDE / LANES] = {0}, largest = -INFINITY, total = 0;
    for (uint c = 0; c < WIDE / LANES; c++)
        own[c] = q[group * WIDE + c * LANES + lane] * p.scale;
    // The number of keys is a multiple of TEAMS, so that all go round alike.
    for (uint first = 0; first < p.tokens; first += TEAMS) {
        const uint token = first + team;
        float score = 0;
        for (uint c = 0; c < WIDE / LANES; c++)
            score += own[c] * k[head + token * WIDE + c * LANES + lane];
        barrier(CLK_LOCAL_MEM_FENCE);
        memory[team][lane] = score;
        for (uint step = LANES / 2; step > 0; step /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < step)
                memory[team][lane] += memory[team][lane + step];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        score = memory[team][0];
        const float highest = fmax(largest, score);
        const float shrink = exp(largest - highest), weight = exp(score - highest);
        largest = highest;
        total = total * shrink + weight;
        for (uint c = 0; c < WIDE / LANES; c++)
            sum[c] = sum[c] * shrink + weight * v[head + token * WIDE + c * LANES + lane];
    }
    for (uint c = 0; c < WIDE / LANES; c++)
        all_sum[team][c * LANES + lane] = sum[c];
    if (lane == 0) {
        all_largest[team] = largest;
        all_total[team] = total;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float highest = -INFINITY, result = 0;
    for (uint s = 0; s < TEAMS; s++)
        highest = fmax(highest, all_largest[s]);
    total = 0;
    for (uint s = 0; s < TEAMS; s++) {
        const float share = exp(all_largest[s] - highest);
        total += all_total[s] * share;
        result += all_sum[s][team * LANES + lane] * share;
    }
    out[group * WIDE + team * LANES + lane] = result / total;
}

#define MOST_TOKENS 4096

kernel void attention_decode_local(global const float *q, global const float *k, global const float *v,
                                   global float *out, const attention_params p)
{
    local float scores[MOST_TOKENS], memory[THREADS], own[WIDE];
    const uint group = get_group_id(0), thread = get_local_id(0);
    const uint head = group * p.tokens * WIDE;
    own[thread] = q[group * WIDE + thread] * p.scale;
    barrier(CLK_LOCAL_MEM_FENCE);
    float largest = -INFINITY, total = 0, result = 0;
    for (uint token = thread; token < p.tokens; token += THREADS) {
        float score = 0;
        for (uint c = 0; c < WIDE; c++)
            score += own[c] * k[head + token * WIDE + c];
        scores[token] = score;
        largest = fmax(largest, score);
    }
    memory[thread] = largest;
    for (uint step = THREADS / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (thread < step)
            memory[thread] = fmax(memory[thread], memory[thread + step]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    largest = memory[0];
    for (uint token = thread; token < p.tokens; token += THREADS)
        scores[token] = exp(scores[token] - largest);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint token = 0; token < p.tokens; token++) {
        total += scores[token];
        result += scores[token] * v[head + token * WIDE + thread];
    }
    out[group * WIDE + thread] = result / total;
}
