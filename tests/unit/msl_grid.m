// SPDX-License-Identifier: MIT
// Grids of all shapes: every position attribute in every thread, ragged edges in one, two and three
// dimensions, dispatches by threadgroups, by threads and from a buffer; each thread runs once.
#include "msl/harness.h"
#include "msl/reference.h"

typedef struct record {
    uint32_t in_grid[3], in_group[3], group[3], group_size[3], dispatch_size[3], grid[3], groups[3];
    uint32_t index, lane, simd, simds, dispatch_simds, width, execution, quad, quad_lane, quads, visits;
} record;
enum { FIELDS = sizeof(record) / 4 };

typedef struct shape {
    unsigned grid[3], group[3];
    enum { THREADS, GROUPS, INDIRECT } how; // for the last two the grid is a multiple of the group
} shape;

static const shape shapes[] = {
    {{1, 1, 1}, {1, 1, 1}, THREADS},       {{1000, 1, 1}, {64, 1, 1}, THREADS},
    {{100, 50, 1}, {8, 8, 1}, THREADS},    {{33, 17, 1}, {16, 16, 1}, THREADS},
    {{10, 11, 13}, {4, 4, 4}, THREADS},    {{3, 700, 1}, {1, 256, 1}, THREADS},
    {{20, 9, 7}, {7, 5, 3}, THREADS},      {{100, 1, 1}, {33, 1, 1}, THREADS},
    {{1500, 2, 1}, {1000, 1, 1}, THREADS}, {{1030, 1, 2}, {1024, 1, 1}, THREADS},
    {{5, 1, 1}, {256, 1, 1}, THREADS},     {{6, 6, 66}, {2, 2, 64}, THREADS},
    {{24, 16, 2}, {8, 8, 1}, GROUPS},      {{14, 10, 6}, {7, 5, 3}, GROUPS},
    {{99, 3, 1}, {33, 1, 1}, GROUPS},      {{2048, 1, 1}, {1024, 1, 1}, GROUPS},
    {{14, 15, 3}, {7, 5, 3}, INDIRECT},    {{192, 2, 1}, {64, 1, 1}, INDIRECT},
};

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// What the thread at (x, y, z) must see.
static record expected(const shape *s, unsigned x, unsigned y, unsigned z)
{
    record r = {.in_grid = {x, y, z}, .width = 32, .execution = 32, .visits = 1};
    for (int d = 0; d < 3; d++) {
        unsigned group = s->group[d];
        r.group[d] = r.in_grid[d] / group;
        r.in_group[d] = r.in_grid[d] % group;
        r.group_size[d] = smaller(group, s->grid[d] - r.group[d] * group);
        r.dispatch_size[d] = group;
        r.grid[d] = s->grid[d];
        r.groups[d] = (s->grid[d] + group - 1) / group;
    }
    unsigned threads = r.group_size[0] * r.group_size[1] * r.group_size[2];
    r.index = (r.in_group[2] * r.group_size[1] + r.in_group[1]) * r.group_size[0] + r.in_group[0];
    r.lane = r.index % 32;
    r.simd = r.index / 32;
    r.simds = (threads + 31) / 32;
    r.dispatch_simds = (s->group[0] * s->group[1] * s->group[2] + 31) / 32;
    r.quad = r.index / 4;
    r.quad_lane = r.index % 4;
    r.quads = (threads + 3) / 4;
    return r;
}

static void run(const char *kernel, const shape *s, void *out, size_t size)
{
    uint32_t grid[4] = {s->grid[0], s->grid[1], s->grid[2], 0};
    msl_call call = {.kernel = kernel, .indirect = s->how == INDIRECT, .args = {MEM(out, size), VAL(grid)}};
    for (int d = 0; d < 3; d++) {
        call.group[d] = s->group[d];
        call.threads[d] = s->grid[d];
        call.groups[d] = s->how == THREADS ? 0 : s->grid[d] / s->group[d];
    }
    msl_run_at(&call, __FILE__, __LINE__);
}

static void check_narrow(const shape *s, ref_worst *worst, const uint32_t *got, const record *r, long at)
{
    const uint32_t want[8] = {
        r->in_grid[0] + r->in_grid[1] * 1000,
        r->in_group[0] + r->in_group[1] * 1000 + r->in_group[2] * 1000000,
        r->group[0],
        r->group_size[0] + r->group_size[1] * 1000,
        r->index,
        r->lane + r->simd * 1000,
        r->group_size[0] * r->group_size[1] * r->group_size[2],
        1,
    };
    (void)s;
    for (int i = 0; i < 8; i++)
        ref_same(&worst[i], got[i], want[i], at);
}

static void check(const shape *s)
{
    size_t count = (size_t)s->grid[0] * s->grid[1] * s->grid[2];
    record *out = calloc(count, sizeof *out);
    uint32_t(*few)[8] = calloc(count, sizeof *few);
    ref_worst worst[FIELDS] = {{0}}, narrow[8] = {{0}};
    run("positions", s, out, count * sizeof *out);
    run("narrow", s, few, count * sizeof *few);
    for (size_t i = 0; i < count; i++) {
        record want = expected(s, i % s->grid[0], i / s->grid[0] % s->grid[1], i / s->grid[0] / s->grid[1]);
        for (int f = 0; f < FIELDS; f++)
            ref_same(&worst[f], ((uint32_t *)&out[i])[f], ((uint32_t *)&want)[f], (long)i);
        check_narrow(s, narrow, few[i], &want, (long)i);
    }
    for (int f = 0; f < FIELDS + 8; f++) {
        char what[100];
        snprintf(what, sizeof what, "grid %u,%u,%u in %u,%u,%u: %s %d", s->grid[0], s->grid[1], s->grid[2],
                 s->group[0], s->group[1], s->group[2], f < FIELDS ? "word" : "narrow",
                 f < FIELDS ? f : f - FIELDS);
        CHECK_WORST(f < FIELDS ? &worst[f] : &narrow[f - FIELDS], what);
    }
    free(out);
    free(few);
}

int main(void)
{
    msl_load("grid.metal");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check(&shapes[i]);
    return msl_end();
}
