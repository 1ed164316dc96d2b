// SPDX-License-Identifier: MIT
// Which command buffers a capture is to have: a state that is fed with what the program does (create, commit,
// finish, wait) and answers when to start, what to hold back and when to stop. Pure: no Metal, no clock, no
// lock, no thread. capture.c calls everything here under its lock; unit tests call it without.
//
// A window is a range of positions. Its kind says what is counted: command buffers, steps. A new kind is a
// new way to count (position_of in window.c) and, if it needs one, a new event; all the rest stays.
#ifndef MT_WINDOW_H
#define MT_WINDOW_H

#include "options/options.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MT_WINDOW_MAX_BUFFERS = 4096, // in one capture, whatever was asked for
    MT_WINDOW_MAX_STEP_BUFFERS =
        256,                  // in a window of steps: programs that never wait have a step without end
    MT_WINDOW_MAX_EXTRA = 64, // so many that were not asked for end a capture
};

enum mt_window_phase {
    MT_WINDOW_WAITING,  // for its first buffer
    MT_WINDOW_STARTING, // a thread is about to start the capture
    MT_WINDOW_RUNNING,
    MT_WINDOW_STOPPING,
    MT_WINDOW_OVER, // stopped, or never started: nothing matters any more
};

// Where a command buffer lies that is being created.
enum mt_window_side { MT_WINDOW_BEFORE, MT_WINDOW_INSIDE, MT_WINDOW_BEHIND, MT_WINDOW_SIDES };

enum mt_window_commit {
    MT_WINDOW_PASS,    // the capture does not see it
    MT_WINDOW_TRACKED, // it will be in the capture: tell when its commit is over
    MT_WINDOW_HOLD,    // it would be in the capture and was not asked for
};

// One that was asked for.
struct mt_window_buffer {
    uint64_t thread; // that created it
    uint32_t id;
    bool committed, finished;
};

struct mt_window_state {
    struct mt_window asked;
    enum mt_window_phase phase;
    uint64_t created;                    // command buffers, in order of the beginning of their creation
    uint64_t steps, created_in_step;     // steps that are over; buffers since then
    uint32_t creating[MT_WINDOW_SIDES];  // creations under way
    uint32_t last_before;                // highest id from before the start: the capture sees none up to it
    uint32_t highest;                    // id
    uint32_t count, unfinished, pending; // asked for: all, not finished, of these those that were committed
    uint32_t committing;                 // commits under way that the capture sees
    uint32_t extra;                      // committed while it ran, not asked for
    uint32_t progress;                   // commits and ends of those asked for
    bool leaky;                          // holding back did not help once: no more of it
    bool ending, now;                    // stop when what was committed is done; stop in any case
    struct mt_window_buffer buffers[MT_WINDOW_MAX_BUFFERS];
};

void mt_window_begin(struct mt_window_state *state, const struct mt_window *asked);

// ---- creation ----
// A command buffer is about to be created. *start: by this very caller, who calls mt_window_started after it
// tried.
enum mt_window_side mt_window_create_begins(struct mt_window_state *state, bool *start);
// False while creations of the side before are under way. A creation waits for this, for a bounded time: then
// ids have the order of the sides, and none from before the window is made after the start.
bool mt_window_edge_clear(const struct mt_window_state *state, enum mt_window_side side);
// `id` 0: there is no buffer after all, and its place is free again.
void mt_window_create_ends(struct mt_window_state *state, enum mt_window_side side, uint32_t id,
                           uint64_t thread);
// A buffer that was made before anybody looked.
void mt_window_seen(struct mt_window_state *state, uint32_t id);

// ---- the capture ----
void mt_window_started(struct mt_window_state *state, bool is_running);
// True once it is to be stopped; mt_window_stops and mt_window_stopped follow.
bool mt_window_stop_due(const struct mt_window_state *state);
void mt_window_stops(struct mt_window_state *state);
void mt_window_stopped(struct mt_window_state *state);
// The program ends: what was not committed is not waited for; `now`: nothing is.
void mt_window_end(struct mt_window_state *state, bool now);
// What came of it: the lowest and the highest id that were asked for, 0 if there is none; how many of them
// did not finish; whether the limits above cut the window.
struct mt_window_result {
    uint32_t first, last, count, unfinished, extra;
    bool cut;
};
struct mt_window_result mt_window_result(const struct mt_window_state *state);

// ---- commands ----
enum mt_window_commit mt_window_commit_begins(struct mt_window_state *state, uint32_t id, uint64_t thread);
// One that was held for as long as may be.
enum mt_window_commit mt_window_commit_forced(struct mt_window_state *state);
// After a commit that was tracked.
void mt_window_commit_ends(struct mt_window_state *state);
// Done, or dropped without commit.
void mt_window_finished(struct mt_window_state *state, uint32_t id);
// A thread begins to wait for the GPU.
void mt_window_waits(struct mt_window_state *state);

#endif
