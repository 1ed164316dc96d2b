// SPDX-License-Identifier: MIT
// shows: a capture's window has exactly the buffers asked for, holds back others, and never for ever
// The pure half of a capture, played through with no Metal and no thread.
#include "unit/test.h"

#include "window.h"

static struct mt_window_state state;

static void begin(enum mt_window_kind kind, uint64_t first, uint64_t count)
{
    mt_window_begin(&state, &(struct mt_window){.kind = kind, .first = first, .count = count});
}

// A creation with nothing beside it; starts the capture if it is to. True if it was asked for.
static bool create(uint32_t id, uint64_t thread)
{
    bool start;
    enum mt_window_side side = mt_window_create_begins(&state, &start);
    CHECK(mt_window_edge_clear(&state, side));
    if (start)
        mt_window_started(&state, true);
    mt_window_create_ends(&state, side, id, thread);
    return side == MT_WINDOW_INSIDE;
}

static enum mt_window_commit commit(uint32_t id, uint64_t thread)
{
    enum mt_window_commit answer = mt_window_commit_begins(&state, id, thread);
    if (answer == MT_WINDOW_TRACKED)
        mt_window_commit_ends(&state);
    return answer;
}

static void stop(void)
{
    CHECK(mt_window_stop_due(&state));
    mt_window_stops(&state);
    mt_window_stopped(&state);
}

static void test_buffers(void)
{
    begin(MT_WINDOW_CB, 2, 2);
    CHECK(!create(1, 1));
    CHECK(!create(2, 1));
    CHECK_EQ(state.phase, MT_WINDOW_WAITING);
    CHECK(create(3, 1));
    CHECK_EQ(state.phase, MT_WINDOW_RUNNING);
    CHECK(create(4, 1));
    CHECK(!create(5, 1));
    CHECK_EQ(commit(2, 1), MT_WINDOW_PASS); // made before the start: not in it
    CHECK_EQ(commit(3, 1), MT_WINDOW_TRACKED);
    CHECK_EQ(commit(4, 1), MT_WINDOW_TRACKED);
    CHECK_EQ(commit(5, 1), MT_WINDOW_HOLD);
    mt_window_finished(&state, 3);
    CHECK(!mt_window_stop_due(&state));
    mt_window_finished(&state, 3); // counts once
    CHECK(!mt_window_stop_due(&state));
    mt_window_finished(&state, 4);
    stop();
    CHECK_EQ(commit(5, 1), MT_WINDOW_PASS);
    struct mt_window_result result = mt_window_result(&state);
    CHECK_EQ(result.first, 3);
    CHECK_EQ(result.last, 4);
    CHECK_EQ(result.count, 2);
    CHECK_EQ(result.extra, 0);
    CHECK(!result.cut);
}

static void test_steps(void)
{
    begin(MT_WINDOW_STEP, 1, 2);
    mt_window_waits(&state); // nothing was made yet: no step
    CHECK(!create(1, 1));
    CHECK(!create(2, 1));
    mt_window_waits(&state);
    mt_window_waits(&state); // in a row: one boundary
    CHECK(create(3, 1));
    mt_window_waits(&state);
    CHECK(create(4, 1));
    CHECK(create(5, 1));
    for (uint32_t id = 3; id <= 5; id++) {
        CHECK_EQ(commit(id, 1), MT_WINDOW_TRACKED);
        mt_window_finished(&state, id);
    }
    CHECK(!mt_window_stop_due(&state)); // the step may go on
    mt_window_waits(&state);
    stop();
    CHECK(!create(6, 1));
}

static void test_first_step(void)
{
    begin(MT_WINDOW_STEP, 0, 1);
    CHECK(create(1, 1));
    CHECK_EQ(commit(1, 1), MT_WINDOW_TRACKED);
    CHECK(create(2, 1)); // early: made before the wait
    mt_window_waits(&state);
    mt_window_finished(&state, 1);
    CHECK(!mt_window_stop_due(&state));
    CHECK(!create(3, 2));
    CHECK_EQ(commit(3, 2), MT_WINDOW_HOLD);
    CHECK_EQ(commit(2, 1), MT_WINDOW_TRACKED);
    mt_window_finished(&state, 2);
    stop();
}

// A step without end is cut.
static void test_never_waits(void)
{
    begin(MT_WINDOW_STEP, 0, 1);
    uint32_t id = 1;
    for (; id <= MT_WINDOW_MAX_STEP_BUFFERS; id++) {
        CHECK(create(id, 1));
        commit(id, 1);
        mt_window_finished(&state, id);
    }
    CHECK(mt_window_result(&state).cut);
    CHECK(!create(id, 1));
    CHECK_EQ(commit(id, 1), MT_WINDOW_HOLD);
    stop();
    begin(MT_WINDOW_CB, 0, UINT64_MAX);
    for (id = 1; id <= MT_WINDOW_MAX_BUFFERS; id++)
        CHECK(create(id, 1));
    CHECK(!create(id, 1));
    CHECK(mt_window_result(&state).cut);
}

// ---- what must not be held ----
static void test_same_thread(void)
{
    begin(MT_WINDOW_CB, 0, 1);
    CHECK(create(1, 7));
    CHECK(!create(2, 7));
    CHECK_EQ(commit(2, 7), MT_WINDOW_TRACKED); // 1 would never come otherwise
    CHECK(!create(3, 8));
    CHECK_EQ(commit(3, 8), MT_WINDOW_HOLD); // 1 may come from thread 7
    CHECK_EQ(commit(1, 7), MT_WINDOW_TRACKED);
    CHECK(!create(4, 7));
    CHECK_EQ(commit(4, 7), MT_WINDOW_HOLD);
    mt_window_finished(&state, 1);
    stop();
    CHECK_EQ(mt_window_result(&state).extra, 1);
}

static void test_forced(void)
{
    begin(MT_WINDOW_CB, 0, 1);
    create(1, 1);
    create(2, 2);
    create(3, 2);
    CHECK_EQ(mt_window_commit_begins(&state, 2, 2), MT_WINDOW_HOLD);
    CHECK_EQ(mt_window_commit_forced(&state), MT_WINDOW_TRACKED);
    mt_window_finished(&state, 1);      // dropped
    CHECK(!mt_window_stop_due(&state)); // a commit is under way
    mt_window_commit_ends(&state);
    CHECK(mt_window_stop_due(&state));
    CHECK_EQ(commit(3, 2), MT_WINDOW_HOLD); // until it is stopped, any moment now
    mt_window_stops(&state);
    CHECK_EQ(mt_window_commit_begins(&state, 4, 2), MT_WINDOW_HOLD); // a short while
    CHECK_EQ(mt_window_commit_forced(&state), MT_WINDOW_PASS);
    mt_window_stopped(&state);
    CHECK_EQ(mt_window_result(&state).extra, 1);
    begin(MT_WINDOW_CB, 0, 1);
    create(1, 1);
    create(2, 2);
    create(3, 2);
    CHECK_EQ(mt_window_commit_begins(&state, 2, 2), MT_WINDOW_HOLD);
    CHECK_EQ(mt_window_commit_forced(&state), MT_WINDOW_TRACKED);
    CHECK_EQ(commit(3, 2), MT_WINDOW_TRACKED); // holding did not help: once is enough
    CHECK_EQ(mt_window_result(&state).extra, 2);
}

// One that was asked for is never committed: others do not fill the disk meanwhile.
static void test_too_many(void)
{
    begin(MT_WINDOW_CB, 0, 1);
    create(1, 1);
    for (uint32_t id = 2; id < 2 + MT_WINDOW_MAX_EXTRA; id++) {
        CHECK(!mt_window_stop_due(&state));
        create(id, 1);
        CHECK_EQ(commit(id, 1), MT_WINDOW_TRACKED);
    }
    create(1000, 1);
    CHECK_EQ(commit(1000, 1), MT_WINDOW_HOLD); // even if the thread that stops it comes late
    stop();
    CHECK_EQ(mt_window_result(&state).unfinished, 1);
    CHECK_EQ(mt_window_result(&state).extra, MT_WINDOW_MAX_EXTRA);
}

// ---- creations beside each other ----
static void test_edges(void)
{
    bool start;
    begin(MT_WINDOW_CB, 1, 1);
    CHECK_EQ(mt_window_create_begins(&state, &start), MT_WINDOW_BEFORE);
    CHECK(!start);
    CHECK_EQ(mt_window_create_begins(&state, &start), MT_WINDOW_INSIDE);
    CHECK(start);
    CHECK(!mt_window_edge_clear(&state, MT_WINDOW_INSIDE)); // the one before is still under way
    CHECK_EQ(mt_window_create_begins(&state, &start), MT_WINDOW_BEHIND);
    CHECK(!start);
    CHECK(!mt_window_edge_clear(&state, MT_WINDOW_BEHIND));
    mt_window_create_ends(&state, MT_WINDOW_BEFORE, 1, 1);
    CHECK(mt_window_edge_clear(&state, MT_WINDOW_INSIDE));
    mt_window_started(&state, true);
    CHECK(!mt_window_stop_due(&state)); // it is not there yet
    mt_window_create_ends(&state, MT_WINDOW_INSIDE, 2, 2);
    CHECK(mt_window_edge_clear(&state, MT_WINDOW_BEHIND));
    mt_window_create_ends(&state, MT_WINDOW_BEHIND, 3, 3);
    CHECK_EQ(commit(1, 1), MT_WINDOW_PASS);
    CHECK_EQ(commit(3, 3), MT_WINDOW_HOLD);
    CHECK_EQ(commit(2, 2), MT_WINDOW_TRACKED);
    mt_window_finished(&state, 2);
    stop();
}

// Metal gives no buffer: its place is free again.
static void test_no_buffer(void)
{
    begin(MT_WINDOW_CB, 1, 1);
    CHECK(!create(0, 1));
    CHECK(!create(1, 1));
    CHECK(create(0, 1));
    CHECK(!mt_window_stop_due(&state));
    CHECK(create(2, 1));
    CHECK(!create(3, 1));
    CHECK_EQ(mt_window_result(&state).first, 2);
    CHECK_EQ(mt_window_result(&state).count, 1);
    begin(MT_WINDOW_STEP, 0, 1);
    CHECK(create(0, 1));
    mt_window_waits(&state); // no step without a buffer
    CHECK(create(1, 1));
}

static void test_not_started(void)
{
    bool start;
    begin(MT_WINDOW_CB, 0, 1);
    enum mt_window_side side = mt_window_create_begins(&state, &start);
    CHECK(start);
    mt_window_started(&state, false);
    mt_window_create_ends(&state, side, 1, 1);
    CHECK(!mt_window_stop_due(&state));
    CHECK_EQ(commit(1, 1), MT_WINDOW_PASS);
    mt_window_create_begins(&state, &start);
    CHECK(!start); // once only
}

static void test_exit(void)
{
    begin(MT_WINDOW_CB, 0, 4);
    create(1, 1);
    create(2, 1);
    commit(1, 1);
    CHECK(!mt_window_stop_due(&state));
    mt_window_end(&state, false);
    CHECK(!mt_window_stop_due(&state)); // 1 runs; 2 is not waited for
    mt_window_finished(&state, 1);
    stop();
    begin(MT_WINDOW_CB, 0, 1);
    create(1, 1);
    commit(1, 1);
    mt_window_end(&state, true);
    stop();
    CHECK_EQ(mt_window_result(&state).unfinished, 1);
}

int main(void)
{
    test_buffers();
    test_steps();
    test_first_step();
    test_never_waits();
    test_same_thread();
    test_forced();
    test_too_many();
    test_edges();
    test_no_buffer();
    test_not_started();
    test_exit();
    return test_end();
}
