// SPDX-License-Identifier: MIT
// Control flow of one function by block number: edges, dominators both ways, natural loops, and an order in
// which a loop's blocks stand together and before what follows the loop.
#include "lower.h"
#include <stdlib.h>
#include <string.h>

static void collect_edges(lower_cfg *cfg)
{
    for (uint32_t b = 0; b < cfg->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(cfg->block[b]);
        uint32_t n = LLVMGetNumSuccessors(end);
        cfg->succ[b] = lower_alloc(n, sizeof **cfg->succ);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t to = cfg_number(cfg, LLVMGetSuccessor(end, k));
            bool known = false;
            for (uint32_t j = 0; j < cfg->succ_count[b]; j++)
                known |= cfg->succ[b][j] == to;
            if (known)
                continue;
            cfg->succ[b][cfg->succ_count[b]++] = to;
            cfg->pred_count[to]++;
        }
    }
    uint32_t *filled = lower_alloc(cfg->count, sizeof *filled);
    for (uint32_t b = 0; b < cfg->count; b++)
        cfg->pred[b] = lower_alloc(cfg->pred_count[b], sizeof **cfg->pred);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++) {
            uint32_t to = cfg->succ[b][k];
            cfg->pred[to][filled[to]++] = b;
        }
}

// A graph seen from either end; node `count` is the virtual root of the backward one.
typedef struct graph {
    uint32_t nodes, root;
    uint32_t **next, *next_count, **prev, *prev_count;
} graph;

static uint32_t *post_order(const graph *g, uint32_t *length)
{
    uint32_t *order = lower_alloc(g->nodes, sizeof *order);
    uint32_t *stack = lower_alloc(g->nodes + 1, sizeof *stack);
    uint32_t *at = lower_alloc(g->nodes, sizeof *at);
    bool *seen = lower_alloc(g->nodes, sizeof *seen);
    uint32_t depth = 0;
    *length = 0;
    stack[depth++] = g->root;
    seen[g->root] = true;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (at[b] < g->next_count[b]) {
            uint32_t to = g->next[b][at[b]++];
            if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        } else {
            order[(*length)++] = b;
            depth--;
        }
    }
    return order;
}

// Cooper, Harvey and Kennedy's iterative dominators.
static uint32_t *dominators(const graph *g)
{
    uint32_t length;
    uint32_t *order = post_order(g, &length);
    uint32_t *rank = lower_alloc(g->nodes, sizeof *rank);
    uint32_t *idom = lower_alloc(g->nodes, sizeof *idom);
    memset(idom, 0xff, g->nodes * sizeof *idom);
    for (uint32_t i = 0; i < length; i++)
        rank[order[i]] = i;
    idom[g->root] = g->root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = length; i-- > 0;) {
            uint32_t b = order[i], best = CFG_NONE;
            if (b == g->root)
                continue;
            for (uint32_t k = 0; k < g->prev_count[b]; k++) {
                uint32_t p = g->prev[b][k];
                if (idom[p] == CFG_NONE)
                    continue;
                if (best == CFG_NONE) {
                    best = p;
                    continue;
                }
                uint32_t q = best;
                while (p != q) {
                    while (rank[p] < rank[q])
                        p = idom[p];
                    while (rank[q] < rank[p])
                        q = idom[q];
                }
                best = p;
            }
            if (best != idom[b]) {
                idom[b] = best;
                changed = true;
            }
        }
    }
    return idom;
}

static void find_dominators(lower_cfg *cfg)
{
    graph forward = {cfg->count, 0, cfg->succ, cfg->succ_count, cfg->pred, cfg->pred_count};
    cfg->idom = dominators(&forward);
    cfg->idom[0] = CFG_NONE;
}

static void find_post_dominators(lower_cfg *cfg)
{
    uint32_t n = cfg->count, exits = 0;
    graph back = {n + 1, n, NULL, NULL, NULL, NULL};
    back.next = lower_alloc(n + 1, sizeof *back.next);
    back.prev = lower_alloc(n + 1, sizeof *back.prev);
    back.next_count = lower_alloc(n + 1, sizeof *back.next_count);
    back.prev_count = lower_alloc(n + 1, sizeof *back.prev_count);
    back.next[n] = lower_alloc(n, sizeof(uint32_t));
    uint32_t *virtual_exit = lower_alloc(1, sizeof *virtual_exit);
    *virtual_exit = n;
    for (uint32_t b = 0; b < n; b++) {
        back.next[b] = cfg->pred[b];
        back.next_count[b] = cfg->pred_count[b];
        back.prev[b] = cfg->succ[b];
        back.prev_count[b] = cfg->succ_count[b];
        if (!cfg->succ_count[b]) {
            back.next[n][exits++] = b;
            back.prev[b] = virtual_exit;
            back.prev_count[b] = 1;
        }
    }
    back.next_count[n] = exits;
    cfg->ipdom = dominators(&back);
    for (uint32_t b = 0; b < n; b++)
        if (cfg->ipdom[b] == n)
            cfg->ipdom[b] = CFG_NONE;
}

bool cfg_dominates(const lower_cfg *cfg, uint32_t a, uint32_t b)
{
    while (b != CFG_NONE && b != a)
        b = cfg->idom[b];
    return b == a;
}

static void add_loop_body(lower_cfg *cfg, uint32_t header, bool *body)
{
    uint32_t *stack = lower_alloc(cfg->count, sizeof *stack), depth = 0;
    body[header] = true;
    for (uint32_t k = 0; k < cfg->pred_count[header]; k++) {
        uint32_t latch = cfg->pred[header][k];
        if (cfg_dominates(cfg, header, latch) && !body[latch]) {
            body[latch] = true;
            stack[depth++] = latch;
        }
    }
    while (depth) {
        uint32_t b = stack[--depth];
        for (uint32_t k = 0; k < cfg->pred_count[b]; k++)
            if (!body[cfg->pred[b][k]]) {
                body[cfg->pred[b][k]] = true;
                stack[depth++] = cfg->pred[b][k];
            }
    }
    free(stack);
}

static bool is_loop_header(const lower_cfg *cfg, uint32_t b)
{
    for (uint32_t k = 0; k < cfg->pred_count[b]; k++)
        if (cfg_dominates(cfg, b, cfg->pred[b][k]))
            return true;
    return false;
}

// A loop is named by its header. Depths count how many bodies hold a block; the innermost has the deepest
// header.
static void find_loops(lower_cfg *cfg)
{
    uint32_t n = cfg->count;
    bool **body = lower_alloc(n, sizeof *body);
    memset(cfg->loop_header, 0xff, n * sizeof *cfg->loop_header);
    memset(cfg->loop_parent, 0xff, n * sizeof *cfg->loop_parent);
    for (uint32_t h = 0; h < n; h++) {
        if (!is_loop_header(cfg, h))
            continue;
        body[h] = lower_alloc(n, sizeof **body);
        add_loop_body(cfg, h, body[h]);
        for (uint32_t b = 0; b < n; b++)
            cfg->loop_depth[b] += body[h][b];
    }
    for (uint32_t h = 0; h < n; h++) {
        if (!body[h])
            continue;
        for (uint32_t b = 0; b < n; b++) {
            if (!body[h][b])
                continue;
            uint32_t *inner = &cfg->loop_header[b];
            if (*inner == CFG_NONE || cfg->loop_depth[h] > cfg->loop_depth[*inner])
                *inner = h;
            if (body[b] && b != h) {
                uint32_t *parent = &cfg->loop_parent[b];
                if (*parent == CFG_NONE || cfg->loop_depth[h] > cfg->loop_depth[*parent])
                    *parent = h;
            }
        }
    }
}

bool cfg_in_loop(const lower_cfg *cfg, uint32_t block, uint32_t header)
{
    uint32_t h = cfg->loop_header[block];
    while (h != CFG_NONE && h != header)
        h = cfg->loop_parent[h];
    return h == header && header != CFG_NONE;
}

// How many loops around `from` are left by the edge to `to`.
static uint32_t loops_left(const lower_cfg *cfg, uint32_t from, uint32_t to)
{
    uint32_t left = 0;
    for (uint32_t h = cfg->loop_header[from]; h != CFG_NONE && !cfg_in_loop(cfg, to, h);
         h = cfg->loop_parent[h])
        left++;
    return left;
}

static void find_order(lower_cfg *cfg)
{
    // Depth first, leaving edges first: what follows a loop then gets its number after the whole loop.
    uint32_t **sorted = lower_alloc(cfg->count, sizeof *sorted);
    for (uint32_t b = 0; b < cfg->count; b++) {
        uint32_t n = cfg->succ_count[b];
        sorted[b] = lower_alloc(n, sizeof **sorted);
        for (uint32_t k = 0; k < n; k++) {
            uint32_t to = cfg->succ[b][k], at = k;
            for (; at && loops_left(cfg, b, sorted[b][at - 1]) < loops_left(cfg, b, to); at--)
                sorted[b][at] = sorted[b][at - 1];
            sorted[b][at] = to;
        }
    }
    graph g = {cfg->count, 0, sorted, cfg->succ_count, cfg->pred, cfg->pred_count};
    uint32_t length;
    uint32_t *post = post_order(&g, &length);
    for (uint32_t i = 0; i < length; i++)
        cfg->order[post[i]] = length - 1 - i;
}

lower_cfg *cfg_build(LLVMValueRef function)
{
    lower_cfg *cfg = lower_alloc(1, sizeof *cfg);
    uint32_t n = LLVMCountBasicBlocks(function);
    cfg->function = function;
    cfg->count = n;
    cfg->block = lower_alloc(n, sizeof *cfg->block);
    LLVMGetBasicBlocks(function, cfg->block);
    for (uint32_t b = 0; b < n; b++)
        map_put(&cfg->number, cfg->block[b], b);
    cfg->succ = lower_alloc(n, sizeof *cfg->succ);
    cfg->pred = lower_alloc(n, sizeof *cfg->pred);
    cfg->succ_count = lower_alloc(n, sizeof *cfg->succ_count);
    cfg->pred_count = lower_alloc(n, sizeof *cfg->pred_count);
    cfg->loop_depth = lower_alloc(n, sizeof *cfg->loop_depth);
    cfg->loop_header = lower_alloc(n, sizeof *cfg->loop_header);
    cfg->loop_parent = lower_alloc(n, sizeof *cfg->loop_parent);
    cfg->order = lower_alloc(n, sizeof *cfg->order);
    collect_edges(cfg);
    find_dominators(cfg);
    find_post_dominators(cfg);
    find_loops(cfg);
    find_order(cfg);
    return cfg;
}

uint32_t cfg_number(const lower_cfg *cfg, LLVMBasicBlockRef block)
{
    return (uint32_t)map_or(&cfg->number, block, CFG_NONE);
}

void cfg_reach_until(const lower_cfg *cfg, uint32_t block, uint32_t stop, bool *seen)
{
    uint32_t *stack = lower_alloc(cfg->count + 1, sizeof *stack), depth = 0;
    stack[depth++] = block;
    for (bool first = true; depth; first = false) {
        uint32_t b = stack[--depth];
        if (!first && b == stop)
            continue;
        for (uint32_t k = 0; k < cfg->succ_count[b]; k++) {
            uint32_t to = cfg->succ[b][k];
            if (to != stop && !seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
    free(stack);
}
