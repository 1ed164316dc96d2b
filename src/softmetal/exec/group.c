// SPDX-License-Identifier: MIT
// Runs one threadgroup: each simdgroup from site to site until it stands at a barrier or has returned, then
// the next one. Lanes mostly move together; when they part, the lanes at the lowest site go first, so that
// those ahead wait where the paths meet again, as on a GPU with lane masks. Runs on a worker thread; may be
// left by a jump at any point inside a region.
#include "exec_internal.h"
#include <string.h>

typedef struct run {
    sm_worker *worker;
    const sm_kernel *kernel;
    const sm_args *args;
    sm_simd_state *state;
    sm_simd *simd;
    uint8_t *frame;
} run;

// Cuts a simdgroup into stretches along x; in the usual shapes there is one.
static void make_rows(sm_simd_state *state, const uint32_t size[3], uint32_t first, uint32_t lanes)
{
    state->row_count = 0;
    state->lanes = lanes == SM_LANES ? UINT32_MAX : (1u << lanes) - 1;
    for (uint32_t lane = 0; lane < lanes;) {
        uint32_t index = first + lane;
        uint32_t x = index % size[0], left = size[0] - x;
        uint32_t count = left < lanes - lane ? left : lanes - lane;
        state->row[state->row_count++] = (sm_row){.x0 = x,
                                                  .y = index / size[0] % size[1],
                                                  .z = index / size[0] / size[1],
                                                  .first = index,
                                                  .lane0 = lane,
                                                  .count = count};
        lane += count;
    }
}

static void shape_simds(sm_worker *worker)
{
    const sm_group *group = &worker->group;
    if (memcmp(worker->shape, group->size, sizeof worker->shape) == 0)
        return;
    memcpy(worker->shape, group->size, sizeof worker->shape);
    for (uint32_t s = 0; s < group->simds; s++) {
        uint32_t left = group->threads - s * SM_LANES;
        make_rows(&worker->state[s], group->size, s * SM_LANES, left < SM_LANES ? left : SM_LANES);
    }
}

static void set_lanes(sm_simd_state *state, const sm_row *row, uint32_t site)
{
    for (uint32_t lane = row->lane0; lane < row->lane0 + row->count; lane++)
        state->lane[lane] = (uint16_t)site;
}

// Runs all lanes from the site they stand at.
static void step_together(const run *r)
{
    sm_simd_state *state = r->state;
    const sm_site *site = &r->kernel->site[state->site];
    if (site->op)
        site->op(r->simd, state->lanes);
    uint32_t next = site->region(r->frame, r->simd, &r->worker->group, r->args, state->row, state->row_count);
    state->site = (uint16_t)next;
    if (next < SM_SITE_DIVERGED)
        return;
    state->together = false;
    if (next == SM_SITE_DONE)
        state->done = state->lanes;
    else
        memcpy(state->lane, r->simd->next, sizeof state->lane);
}

// Notes lanes that have returned or came to a barrier.
static void note_arrivals(const run *r, uint32_t mask)
{
    sm_simd_state *state = r->state;
    for (uint32_t left = mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left), bit = 1u << lane;
        if (state->lane[lane] == SM_SITE_DONE)
            state->done |= bit;
        else if (r->kernel->site[state->lane[lane]].kind == SM_SITE_BARRIER)
            state->waiting |= bit;
    }
}

// The stretch of set bits in mask from `lane` on, within one row.
static sm_row stretch(const sm_row *row, uint32_t mask, uint32_t lane)
{
    uint32_t count = 0;
    while (lane + count < row->lane0 + row->count && mask >> (lane + count) & 1)
        count++;
    sm_row part = *row;
    uint32_t skipped = lane - row->lane0;
    part.x0 += skipped;
    part.first += skipped;
    part.lane0 = lane;
    part.count = count;
    return part;
}

static void run_masked(const run *r, const sm_site *site, uint32_t mask)
{
    sm_simd_state *state = r->state;
    sm_row part[SM_LANES];
    uint32_t parts = 0;
    for (uint32_t i = 0; i < state->row_count; i++) {
        const sm_row *row = &state->row[i];
        for (uint32_t lane = row->lane0; lane < row->lane0 + row->count; lane++) {
            if (!(mask >> lane & 1))
                continue;
            part[parts] = stretch(row, mask, lane);
            lane += part[parts++].count - 1;
        }
    }
    uint32_t next = site->region(r->frame, r->simd, &r->worker->group, r->args, part, parts);
    for (uint32_t i = 0; i < parts; i++) {
        size_t bytes = part[i].count * sizeof *state->lane;
        if (next != SM_SITE_DIVERGED)
            set_lanes(state, &part[i], next);
        else
            memcpy(state->lane + part[i].lane0, r->simd->next + part[i].lane0, bytes);
    }
}

// Runs the lanes at the lowest site; false if none can move.
static bool step_apart(const run *r)
{
    sm_simd_state *state = r->state;
    uint32_t able = state->lanes & ~state->done & (~state->waiting | state->released);
    uint32_t lowest = SM_SITE_DONE, mask = 0;
    for (uint32_t left = able; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (state->lane[lane] < lowest) {
            lowest = state->lane[lane];
            mask = 0;
        }
        if (state->lane[lane] == lowest)
            mask |= 1u << lane;
    }
    if (!mask)
        return false;
    state->waiting &= ~mask;
    state->released &= ~mask;
    const sm_site *site = &r->kernel->site[lowest];
    if (site->op)
        site->op(r->simd, mask);
    run_masked(r, site, mask);
    note_arrivals(r, mask);
    return true;
}

// Apart lanes that all stand at one site again move together from there.
static void gather(const run *r)
{
    sm_simd_state *state = r->state;
    if (state->done)
        return;
    uint32_t count = (uint32_t)__builtin_popcount(state->lanes);
    for (uint32_t lane = 1; lane < count; lane++)
        if (state->lane[lane] != state->lane[0])
            return;
    state->together = true;
    state->site = state->lane[0];
}

// Until every lane has returned or stands at a barrier.
static void run_simd(const run *r)
{
    sm_simd_state *state = r->state;
    for (;;) {
        while (state->together) {
            if (r->kernel->site[state->site].kind == SM_SITE_BARRIER && !state->released) {
                state->waiting = state->lanes;
                return;
            }
            state->waiting = state->released = 0;
            step_together(r);
            if (!state->together && !state->done)
                note_arrivals(r, state->lanes);
        }
        if (state->done == state->lanes || !step_apart(r))
            return;
        gather(r);
    }
}

static void run_cut(sm_worker *worker, const sm_kernel *kernel, const sm_args *args)
{
    const sm_group *group = &worker->group;
    shape_simds(worker);
    for (uint32_t s = 0; s < group->simds; s++) {
        sm_simd_state *state = &worker->state[s];
        state->waiting = state->released = state->done = 0;
        state->together = true;
        state->site = 0;
    }
    for (bool running = true; running;) {
        running = false;
        for (uint32_t s = 0; s < group->simds; s++) {
            sm_simd_state *state = &worker->state[s];
            if (state->done == state->lanes)
                continue;
            run r = {worker, kernel,           args,
                     state,  &worker->simd[s], worker->frames + (size_t)s * kernel->frame_bytes};
            run_simd(&r);
            running |= state->done != state->lanes;
        }
        // Whoever has not returned stands at a barrier: let all through.
        for (uint32_t s = 0; s < group->simds; s++)
            worker->state[s].released = worker->state[s].waiting;
    }
}

// A kernel that never synchronises needs no simdgroups: one call per line of threads.
static void run_whole(sm_worker *worker, const sm_kernel *kernel, const sm_args *args)
{
    const sm_group *group = &worker->group;
    sm_row row = {.count = group->size[0]};
    for (row.z = 0; row.z < group->size[2]; row.z++)
        for (row.y = 0; row.y < group->size[1]; row.y++) {
            kernel->site[0].region(worker->frames, &worker->simd[0], group, args, &row, 1);
            row.first += row.count;
        }
}

void sm_group_run(sm_worker *worker, const sm_kernel *kernel, const sm_args *args)
{
    if (kernel->sites == 1)
        run_whole(worker, kernel, args);
    else
        run_cut(worker, kernel, args);
}
