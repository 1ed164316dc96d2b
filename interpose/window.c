// SPDX-License-Identifier: MIT
// Owns the decisions about a capture's window; window.h says what each function answers. Runs on whatever
// thread holds the lock of capture.c. Never waits, never allocates, never sends to Metal.
#include "window.h"

#include <string.h>

// ---- counting ----
// How far the program is, in what the window counts. A buffer about to be created lies inside if this is in
// the range that was asked for.
static uint64_t position_of(const struct mt_window_state *state)
{
    switch (state->asked.kind) {
    case MT_WINDOW_CB:
        return state->created;
    case MT_WINDOW_STEP:
        return state->steps;
    }
    return 0;
}

static uint64_t most_buffers(const struct mt_window_state *state)
{
    if (state->asked.kind == MT_WINDOW_STEP)
        return MT_WINDOW_MAX_STEP_BUFFERS;
    return state->asked.count < MT_WINDOW_MAX_BUFFERS ? state->asked.count : MT_WINDOW_MAX_BUFFERS;
}

static bool is_full(const struct mt_window_state *state)
{
    return state->count + state->creating[MT_WINDOW_INSIDE] >= most_buffers(state);
}

// Nothing that is created from now on was asked for.
static bool has_passed(const struct mt_window_state *state)
{
    return position_of(state) - state->asked.first >= state->asked.count || is_full(state);
}

static enum mt_window_side side_now(const struct mt_window_state *state)
{
    if (position_of(state) < state->asked.first)
        return MT_WINDOW_BEFORE;
    return has_passed(state) ? MT_WINDOW_BEHIND : MT_WINDOW_INSIDE;
}

static struct mt_window_buffer *find(struct mt_window_state *state, uint32_t id)
{
    // The last ones are asked for most.
    for (uint32_t i = state->count; i-- > 0;) {
        if (state->buffers[i].id == id)
            return &state->buffers[i];
    }
    return NULL;
}

void mt_window_begin(struct mt_window_state *state, const struct mt_window *asked)
{
    memset(state, 0, sizeof *state);
    state->asked = *asked;
}

// ---- creation ----
enum mt_window_side mt_window_create_begins(struct mt_window_state *state, bool *start)
{
    enum mt_window_side side = side_now(state);
    *start = side == MT_WINDOW_INSIDE && state->phase == MT_WINDOW_WAITING;
    if (*start)
        state->phase = MT_WINDOW_STARTING;
    state->created++;
    state->created_in_step++;
    state->creating[side]++;
    return side;
}

bool mt_window_edge_clear(const struct mt_window_state *state, enum mt_window_side side)
{
    return side == MT_WINDOW_BEFORE || state->creating[side - 1] == 0;
}

static void add_wanted(struct mt_window_state *state, uint32_t id, uint64_t thread)
{
    if (state->count == MT_WINDOW_MAX_BUFFERS)
        return;
    state->buffers[state->count++] = (struct mt_window_buffer){.id = id, .thread = thread};
    state->unfinished++;
}

void mt_window_create_ends(struct mt_window_state *state, enum mt_window_side side, uint32_t id,
                           uint64_t thread)
{
    state->creating[side]--;
    if (!id) {
        state->created--;
        state->created_in_step -= state->created_in_step > 0;
        return;
    }
    mt_window_seen(state, id);
    if (side == MT_WINDOW_INSIDE)
        add_wanted(state, id, thread);
}

void mt_window_seen(struct mt_window_state *state, uint32_t id)
{
    if (id > state->highest)
        state->highest = id;
}

// ---- the capture ----
void mt_window_started(struct mt_window_state *state, bool is_running)
{
    state->phase = is_running ? MT_WINDOW_RUNNING : MT_WINDOW_OVER;
    state->last_before = state->highest;
}

// Nothing is missing, or too much came along: whatever the program does, it is stopped as soon as the thread
// gets to it. Until then holding back is safe, and the limit is one.
static bool is_decided(const struct mt_window_state *state)
{
    if (state->extra >= MT_WINDOW_MAX_EXTRA)
        return true;
    return has_passed(state) && !state->creating[MT_WINDOW_INSIDE] && !state->unfinished;
}

bool mt_window_stop_due(const struct mt_window_state *state)
{
    if (state->phase != MT_WINDOW_RUNNING)
        return false;
    if (state->now)
        return true;
    // Stopping in the middle of a commit breaks the trace.
    if (state->committing)
        return false;
    if (state->ending)
        return state->pending == 0;
    return is_decided(state);
}

void mt_window_stops(struct mt_window_state *state)
{
    state->phase = MT_WINDOW_STOPPING;
}

void mt_window_stopped(struct mt_window_state *state)
{
    state->phase = MT_WINDOW_OVER;
}

void mt_window_end(struct mt_window_state *state, bool now)
{
    state->ending = true;
    state->now = now;
}

struct mt_window_result mt_window_result(const struct mt_window_state *state)
{
    struct mt_window_result result = {
        .count = state->count,
        .unfinished = state->unfinished,
        .extra = state->extra,
        .cut = is_full(state) && (state->asked.kind == MT_WINDOW_STEP
                                      ? position_of(state) - state->asked.first < state->asked.count
                                      : state->asked.count > MT_WINDOW_MAX_BUFFERS),
    };
    for (uint32_t i = 0; i < state->count; i++) {
        uint32_t id = state->buffers[i].id;
        if (!result.first || id < result.first)
            result.first = id;
        if (id > result.last)
            result.last = id;
    }
    return result;
}

// ---- commands ----
static enum mt_window_commit track(struct mt_window_state *state)
{
    state->committing++;
    return MT_WINDOW_TRACKED;
}

static enum mt_window_commit track_extra(struct mt_window_state *state)
{
    state->extra++;
    return track(state);
}

static bool has_uncommitted(const struct mt_window_state *state, uint64_t thread)
{
    for (uint32_t i = 0; i < state->count; i++) {
        const struct mt_window_buffer *buffer = &state->buffers[i];
        if (buffer->thread == thread && !buffer->committed && !buffer->finished)
            return true;
    }
    return false;
}

static enum mt_window_commit commit_wanted(struct mt_window_state *state, struct mt_window_buffer *buffer)
{
    if (!buffer->committed && !buffer->finished)
        state->pending++;
    buffer->committed = true;
    state->progress++;
    return track(state);
}

enum mt_window_commit mt_window_commit_begins(struct mt_window_state *state, uint32_t id, uint64_t thread)
{
    if (state->phase != MT_WINDOW_RUNNING && state->phase != MT_WINDOW_STOPPING)
        return MT_WINDOW_PASS;
    struct mt_window_buffer *buffer = find(state, id);
    if (buffer)
        return commit_wanted(state, buffer);
    if (id <= state->last_before)
        return MT_WINDOW_PASS;
    if (state->phase == MT_WINDOW_STOPPING || is_decided(state))
        return MT_WINDOW_HOLD;
    // The thread that is held could be the one that has to commit what the capture waits for.
    if (state->leaky || !has_passed(state) || has_uncommitted(state, thread))
        return track_extra(state);
    return MT_WINDOW_HOLD;
}

enum mt_window_commit mt_window_commit_forced(struct mt_window_state *state)
{
    state->leaky = true;
    return state->phase == MT_WINDOW_RUNNING ? track_extra(state) : MT_WINDOW_PASS;
}

void mt_window_commit_ends(struct mt_window_state *state)
{
    state->committing--;
}

void mt_window_finished(struct mt_window_state *state, uint32_t id)
{
    struct mt_window_buffer *buffer = find(state, id);
    if (!buffer || buffer->finished)
        return;
    buffer->finished = true;
    state->progress++;
    state->unfinished--;
    state->pending -= buffer->committed;
}

// Waits in a row end one step, not several.
void mt_window_waits(struct mt_window_state *state)
{
    if (!state->created_in_step)
        return;
    state->created_in_step = 0;
    state->steps++;
}
