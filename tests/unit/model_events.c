// SPDX-License-Identifier: MIT
// The model on spools made of few records: what comes out is exactly what the records say. One thread.
// shows: command buffers, encoders, dispatches, waits and groups come out as recorded, whole or cut off
#define _GNU_SOURCE
#include "unit/model_log.h"

static struct spool_maker maker;

static void begin(void)
{
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    maker_string(&maker, 1, "one");
    maker_string(&maker, 2, "two");
    maker_string(&maker, 3, "three");
    maker_string(&maker, 4, "broken");
}

static struct model_log *run(void)
{
    struct model_log *log = log_run(&maker);
    maker_end(&maker);
    return log;
}

// One command buffer from create to wait, with everything in it.
static void make_whole(void)
{
    begin();
    MAKE(&maker, 1, maker_at(1), mt_rec_thread, MT_REC_THREAD, 0, .thread = 7, .os_thread = 777);
    MAKE(&maker, 1, maker_at(10), mt_rec_cb_create, MT_REC_CB_CREATE, 0, .command_buffer = 5, .queue = 2,
         .flags = MT_CB_UNRETAINED);
    maker_label(&maker, 1, 11, MT_REC_LABEL, MT_OBJECT_COMMAND_BUFFER, 5, 1);
    MAKE(&maker, 1, maker_at(12), mt_rec_cb_note, MT_REC_CB_HANDLER, 1, .command_buffer = 5);
    MAKE(&maker, 1, maker_at(13), mt_rec_cb_enqueue, MT_REC_CB_ENQUEUE, 0, .command_buffer = 5);
    MAKE(&maker, 1, maker_at(20), mt_rec_encoder_begin, MT_REC_ENCODER_BEGIN, 0, .encoder = 9,
         .command_buffer = 5, .dispatch_type = 1, .form = 2);
    maker_label(&maker, 1, 21, MT_REC_LABEL, MT_OBJECT_ENCODER, 9, 2);
    maker_dispatch(&maker, 1, 22, 3);
    MAKE(&maker, 1, maker_at(23), mt_rec_sync, MT_REC_SYNC, MT_SYNC_BARRIER_SCOPE, .object = 9, .value = 1);
    MAKE(&maker, 1, maker_at(24), mt_rec_dispatch, MT_REC_DISPATCH_THREADS, 4, .threadgroup_memory = 3,
         .threadgroup = {8, 4, 2}, .grid = {100, 200, 300});
    MAKE(&maker, 1, maker_at(25), mt_rec_dispatch, MT_REC_DISPATCH_INDIRECT, 4, .threadgroup = {64, 1, 1},
         .grid = {4096, 0, 0});
    MAKE(&maker, 1, maker_at(26), mt_rec_dispatch_wide, MT_REC_DISPATCH_WIDE, 4, .threadgroup = {1, 1, 1},
         .in_threads = 1, .grid = {UINT64_C(1) << 40, 1, 2});
    MAKE(&maker, 1, maker_at(27), mt_rec_sync, MT_REC_SYNC, MT_SYNC_FENCE_WAIT, .object = 9);
    MAKE(&maker, 1, maker_at(27), mt_rec_sync, MT_REC_SYNC, MT_SYNC_FENCE_UPDATE, .object = 9);
    MAKE(&maker, 1, maker_at(28), mt_rec_execute, MT_REC_EXECUTE, 0, .encoder = 9, .count = 10);
    maker_label(&maker, 1, 29, MT_REC_SIGNPOST, MT_OBJECT_ENCODER, 9, 3);
    maker_encoder_end(&maker, 1, 30, 9);
    MAKE(&maker, 1, maker_at(31), mt_rec_encoder_begin, MT_REC_ENCODER_BEGIN, 0, .encoder = 10,
         .command_buffer = 5, .kind = MT_ENCODER_BLIT);
    MAKE(&maker, 1, maker_at(32), mt_rec_blit, MT_REC_BLIT, MT_BLIT_COPY, .encoder = 10, .bytes = 1000);
    MAKE(&maker, 1, maker_at(33), mt_rec_blit, MT_REC_BLIT, MT_BLIT_FILL, .encoder = 10, .bytes = 24);
    maker_encoder_end(&maker, 1, 35, 10);
    MAKE(&maker, 1, maker_at(36), mt_rec_sync, MT_REC_SYNC, MT_SYNC_EVENT_WAIT, .object = 5, .value = 1);
    MAKE(&maker, 1, maker_at(36), mt_rec_sync, MT_REC_SYNC, MT_SYNC_EVENT_SIGNAL, .object = 5, .value = 2);
    MAKE(&maker, 1, maker_at(37), mt_rec_cb_note, MT_REC_CB_PRESENT, 0, .command_buffer = 5);
    maker_commit(&maker, 1, 40, 5);
    maker_wait(&maker, 1, 41, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 5, 0);
    MAKE(&maker, 2, maker_at(90), mt_rec_cb_done, MT_REC_CB_DONE, 4, .command_buffer = 5,
         .scheduled = maker_at(45), .gpu_start_ns = MAKER_START_NS + 50, .gpu_end_ns = MAKER_START_NS + 80,
         .flags = MT_CB_CAPTURED);
    maker_wait(&maker, 1, 95, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 5, 41);
}

static void check_whole_cb(const struct model_log *log)
{
    const struct mt_command_buffer *cb = log_find_cb(log, 5);
    CHECK_EQ(cb->queue, 2);
    CHECK_EQ(cb->flags, MT_CB_UNRETAINED | MT_CB_CAPTURED);
    CHECK_EQ(cb->status, 4);
    CHECK_EQ(cb->end, MT_CB_COMPLETED);
    CHECK_STR(as_string(cb->label), "one");
    CHECK_EQ(cb->error.length, 0);
    CHECK_EQ(cb->create_ns, 10);
    CHECK_EQ(cb->enqueue_ns, 13);
    CHECK_EQ(cb->first_encode_ns, 20);
    CHECK_EQ(cb->commit_ns, 40);
    CHECK_EQ(cb->scheduled_ns, 45);
    CHECK_EQ(cb->gpu_start_ns, 50);
    CHECK_EQ(cb->gpu_end_ns, 80);
    CHECK_EQ(cb->completed_ns, 90);
    CHECK_EQ(cb->encode_ns, 10 + 4);
    CHECK_EQ(cb->wait_ns, 95 - 41);
    CHECK_EQ(cb->waits, 1);
    CHECK_EQ(cb->encoders, 2);
    CHECK_EQ(cb->dispatches, 4);
    CHECK_EQ(cb->blits, 2);
    CHECK_EQ(cb->executes, 1);
    CHECK_EQ(cb->handlers, 1);
    CHECK_EQ(cb->presents, 1);
    CHECK_EQ(cb->event_waits, 1);
    CHECK_EQ(cb->event_signals, 1);
    CHECK_EQ(cb->create_thread, 7);
    CHECK_EQ(cb->commit_thread, 7);
    CHECK_EQ(cb->allocated_bytes, 4096);
}

static void check_whole_encoders(const struct model_log *log)
{
    const struct mt_encoder *encoder = log_find_encoder(log, 9);
    CHECK_EQ(encoder->command_buffer, 5);
    CHECK_EQ(encoder->thread, 7);
    CHECK_EQ(encoder->kind, MT_ENCODER_COMPUTE);
    CHECK_EQ(encoder->dispatch_type, 1);
    CHECK_EQ(encoder->form, 2);
    CHECK_STR(as_string(encoder->label), "two");
    CHECK_EQ(encoder->begin_ns, 20);
    CHECK_EQ(encoder->end_ns, 30);
    CHECK_EQ(encoder->dispatches, 4);
    CHECK_EQ(encoder->barriers, 1);
    CHECK_EQ(encoder->fence_waits, 1);
    CHECK_EQ(encoder->fence_updates, 1);
    CHECK_EQ(encoder->executes, 1);
    CHECK_EQ(encoder->signposts, 1);
    encoder = log_find_encoder(log, 10);
    CHECK_EQ(encoder->kind, MT_ENCODER_BLIT);
    CHECK_EQ(encoder->blits, 2);
    CHECK_EQ(encoder->blit_bytes, 1024);
}

static void check_whole_dispatches(const struct model_log *log)
{
    const struct mt_dispatch *d = log->dispatches;
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(d[i].encoder, 9);
        CHECK_EQ(d[i].command_buffer, 5);
        CHECK_EQ(d[i].thread, 7);
        CHECK_EQ(d[i].index, i);
        CHECK_EQ(d[i].barrier_before, i == 1);
        CHECK_EQ(d[i].group, 0);
    }
    CHECK_EQ(d[0].pipeline, 3);
    CHECK_EQ(d[0].form, MT_REC_DISPATCH_GROUPS);
    CHECK_EQ(d[0].time_ns, 22);
    CHECK(d[0].grid[0] == 3 && d[0].grid[1] == 2 && d[0].grid[2] == 3);
    CHECK(d[0].threadgroup[0] == 32 && d[0].threadgroup[1] == 1 && d[0].threadgroup[2] == 1);
    CHECK_EQ(d[1].form, MT_REC_DISPATCH_THREADS);
    CHECK_EQ(d[1].threadgroup_memory_bytes, 48);
    CHECK(d[1].grid[0] == 100 && d[1].grid[1] == 200 && d[1].grid[2] == 300);
    CHECK(d[1].threadgroup[0] == 8 && d[1].threadgroup[1] == 4 && d[1].threadgroup[2] == 2);
    CHECK_EQ(d[2].form, MT_REC_DISPATCH_INDIRECT);
    CHECK(d[2].grid[0] == 0 && d[2].grid[1] == 0 && d[2].grid[2] == 0);
    CHECK_EQ(d[3].form, MT_REC_DISPATCH_THREADS);
    CHECK(d[3].grid[0] == UINT64_C(1) << 40 && d[3].grid[1] == 1 && d[3].grid[2] == 2);
}

static void test_whole(void)
{
    make_whole();
    struct model_log *log = run();
    CHECK_STR(log->order, "DDDDEEWC");
    check_whole_cb(log);
    check_whole_encoders(log);
    check_whole_dispatches(log);
    CHECK_EQ(log->waits[0].command_buffer, 5);
    CHECK_EQ(log->waits[0].thread, 7);
    CHECK_EQ(log->waits[0].begin_ns, 41);
    CHECK_EQ(log->waits[0].end_ns, 95);
    struct mt_loss loss;
    mt_model_loss(log->model, &loss);
    CHECK_EQ(loss.unknown_context, 0);
    log_end(log);
}

// Two encoders in turn on one thread, and one encoder in turn on two threads.
static void test_contexts(void)
{
    begin();
    MAKE(&maker, 1, maker_at(1), mt_rec_thread, MT_REC_THREAD, 0, .thread = 1);
    MAKE(&maker, 2, maker_at(1), mt_rec_thread, MT_REC_THREAD, 0, .thread = 2);
    maker_create(&maker, 1, 2, 1);
    maker_create(&maker, 1, 3, 2);
    maker_encoder(&maker, 1, 4, 1, 1);
    maker_dispatch(&maker, 1, 5, 11);
    maker_encoder(&maker, 1, 6, 2, 2);
    maker_dispatch(&maker, 1, 7, 21);
    maker_context(&maker, 1, 8, 1, 1);
    maker_dispatch(&maker, 1, 9, 12);
    maker_encoder_end(&maker, 1, 10, 2); // of the other one: the context stays
    maker_dispatch(&maker, 1, 11, 13);
    maker_context(&maker, 2, 12, 1, 1); // goes on on another thread
    maker_dispatch(&maker, 2, 13, 14);
    maker_dispatch(&maker, 1, 14, 15);
    maker_encoder_end(&maker, 2, 15, 1);
    maker_encoder(&maker, 2, 16, 3, 2);
    maker_dispatch(&maker, 1, 17, 16); // of an encoder that has ended: no other may get it
    maker_encoder_end(&maker, 2, 18, 3);
    struct model_log *log = run();
    CHECK_EQ(log->dispatch_count, 7);
    CHECK_EQ(log->dispatches[6].encoder, 1);
    CHECK_EQ(log_find_encoder(log, 3)->dispatches, 0);
    const uint32_t expected[][4] = {{11, 1, 0, 1}, {21, 2, 0, 1}, {12, 1, 1, 1},
                                    {13, 1, 2, 1}, {14, 1, 3, 2}, {15, 1, 4, 1}};
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_EQ(log->dispatches[i].pipeline, expected[i][0]);
        CHECK_EQ(log->dispatches[i].encoder, expected[i][1]);
        CHECK_EQ(log->dispatches[i].command_buffer, expected[i][1]);
        CHECK_EQ(log->dispatches[i].index, expected[i][2]);
        CHECK_EQ(log->dispatches[i].thread, expected[i][3]);
    }
    CHECK_EQ(log_find_encoder(log, 1)->dispatches, 5);
    CHECK_EQ(log_find_encoder(log, 2)->dispatches, 1);
    CHECK_EQ(log_find_cb(log, 1)->dispatches, 6);
    log_end(log);
}

static void test_groups(void)
{
    begin();
    maker_create(&maker, 1, 1, 1);
    maker_label(&maker, 1, 2, MT_REC_GROUP_POP, MT_OBJECT_COMMAND_BUFFER, 1, 0); // of nothing
    maker_label(&maker, 1, 2, MT_REC_GROUP_PUSH, MT_OBJECT_COMMAND_BUFFER, 1, 1);
    maker_encoder(&maker, 1, 3, 1, 1);
    maker_dispatch(&maker, 1, 4, 1); // one
    maker_label(&maker, 1, 5, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, 1, 2);
    maker_label(&maker, 1, 6, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, 1, 3);
    maker_dispatch(&maker, 1, 7, 1); // one/two/three
    maker_label(&maker, 1, 8, MT_REC_GROUP_POP, MT_OBJECT_ENCODER, 1, 0);
    maker_dispatch(&maker, 1, 9, 1); // one/two
    maker_label(&maker, 1, 10, MT_REC_GROUP_POP, MT_OBJECT_ENCODER, 1, 0);
    maker_label(&maker, 1, 10, MT_REC_GROUP_POP, MT_OBJECT_ENCODER, 1, 0); // once too often
    maker_dispatch(&maker, 1, 11, 1);                                      // one
    maker_label(&maker, 1, 12, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, 1, 2);
    maker_dispatch(&maker, 1, 13, 1); // one/two, the same number as before
    maker_encoder_end(&maker, 1, 14, 1);
    maker_label(&maker, 1, 15, MT_REC_GROUP_POP, MT_OBJECT_COMMAND_BUFFER, 1, 0);
    maker_encoder(&maker, 1, 16, 2, 1);
    for (int i = 0; i < 200; i++)
        maker_label(&maker, 1, 17, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, 2, 3);
    maker_dispatch(&maker, 1, 18, 1);
    for (int i = 0; i < 199; i++)
        maker_label(&maker, 1, 19, MT_REC_GROUP_POP, MT_OBJECT_ENCODER, 2, 0);
    maker_dispatch(&maker, 1, 20, 1); // three
    struct model_log *log = run();
    const char *expected[] = {"one", "one/two/three", "one/two", "one", "one/two"};
    for (uint32_t i = 0; i < 5; i++)
        CHECK_STR(group_path(log->model, log->dispatches[i].group), expected[i]);
    CHECK_EQ(log->dispatches[2].group, log->dispatches[4].group);
    CHECK_STR(group_path(log->model, log_find_encoder(log, 1)->group), "one");
    CHECK_EQ(log_find_encoder(log, 2)->group, 0);
    CHECK_EQ(mt_model_group_depth(log->model, log->dispatches[5].group), 64); // as deep as is kept
    CHECK_STR(group_path(log->model, log->dispatches[6].group), "three");
    CHECK_EQ(mt_model_group_depth(log->model, 0), 0);
    CHECK_EQ(mt_model_group_depth(log->model, UINT32_MAX), 0);
    CHECK_EQ(mt_model_group_name(log->model, log->dispatches[0].group, 1).length, 0);
    log_end(log);
}

// How command buffers can end.
static void test_ends(void)
{
    begin();
    for (uint32_t cb = 1; cb <= 6; cb++)
        maker_create(&maker, 1, cb, cb);
    maker_commit(&maker, 1, 10, 1);
    maker_commit(&maker, 1, 11, 2);
    maker_commit(&maker, 1, 12, 3);
    maker_done(&maker, 1, 20, 1, 13, 14);
    MAKE(&maker, 1, maker_at(21), mt_rec_cb_done, MT_REC_CB_DONE, 5, .command_buffer = 2, .error = 4);
    MAKE(&maker, 1, maker_at(22), mt_rec_cb_note, MT_REC_CB_DISCARD, 0, .command_buffer = 4);
    MAKE(&maker, 1, maker_at(23), mt_rec_cb_note, MT_REC_CB_DISCARD, 0, .command_buffer = 3); // not true
    maker_encoder(&maker, 1, 24, 1, 5);
    maker_dispatch(&maker, 1, 25, 1);
    maker_done(&maker, 1, 30, 99, 26, 27); // its beginning is not in the spool
    struct model_log *log = run();
    CHECK_STR(log->order, "CCCDCECCC");
    CHECK_EQ(log_find_cb(log, 1)->end, MT_CB_COMPLETED);
    const struct mt_command_buffer *failed = log_find_cb(log, 2);
    CHECK_EQ(failed->end, MT_CB_FAILED);
    CHECK_EQ(failed->status, 5);
    CHECK_STR(as_string(failed->error), "broken");
    CHECK_EQ(failed->gpu_start_ns, MT_NO_TIME);
    CHECK_EQ(failed->gpu_end_ns, MT_NO_TIME);
    CHECK_EQ(failed->scheduled_ns, MT_NO_TIME);
    CHECK_EQ(log_find_cb(log, 3)->end, MT_CB_IN_FLIGHT);
    CHECK_EQ(log_find_cb(log, 3)->completed_ns, MT_NO_TIME);
    CHECK_EQ(log_find_cb(log, 4)->end, MT_CB_DISCARDED);
    CHECK_EQ(log_find_cb(log, 5)->end, MT_CB_UNCOMMITTED);
    CHECK_EQ(log_find_cb(log, 5)->commit_ns, MT_NO_TIME);
    CHECK_EQ(log_find_cb(log, 5)->dispatches, 1);
    CHECK_EQ(log_find_cb(log, 6)->first_encode_ns, MT_NO_TIME);
    const struct mt_command_buffer *late = log_find_cb(log, 99);
    CHECK_EQ(late->end, MT_CB_COMPLETED);
    CHECK_EQ(late->create_ns, MT_NO_TIME);
    CHECK_EQ(late->gpu_start_ns, 26);
    CHECK_EQ(log_find_encoder(log, 1)->end_ns, MT_NO_TIME);
    log_end(log);
}

// A command buffer is handed on when it is done and nobody waits for it any more.
static void test_waits(void)
{
    begin();
    maker_create(&maker, 1, 1, 1);
    maker_commit(&maker, 1, 2, 1);
    maker_wait(&maker, 1, 3, MT_REC_WAIT_BEGIN, MT_WAIT_SCHEDULED, 1, 0);
    maker_wait(&maker, 1, 4, MT_REC_WAIT_END, MT_WAIT_SCHEDULED, 1, 3);
    maker_wait(&maker, 1, 5, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 1, 0);
    maker_wait(&maker, 2, 6, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 1, 0);
    maker_done(&maker, 3, 10, 1, 3, 9);
    maker_wait(&maker, 1, 11, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 1, 5);
    maker_create(&maker, 1, 12, 2);
    maker_wait(&maker, 2, 13, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 1, 6);
    maker_wait(&maker, 2, 14, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 1, 0); // of what is done already
    maker_wait(&maker, 2, 15, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 1, 14);
    MAKE(&maker, 1, maker_at(16), mt_rec_wait, MT_REC_WAIT_BEGIN, MT_WAIT_SHARED_EVENT, .value = 42);
    MAKE(&maker, 1, maker_at(18), mt_rec_wait, MT_REC_WAIT_END, MT_WAIT_SHARED_EVENT, .value = 42,
         .begin = maker_at(16));
    maker_commit(&maker, 1, 20, 2);
    maker_wait(&maker, 1, 21, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 2, 0); // killed here
    struct model_log *log = run();
    CHECK_STR(log->order, "WWWCWWWC");
    const struct mt_command_buffer *cb = log_find_cb(log, 1);
    CHECK_EQ(cb->waits, 3);
    CHECK_EQ(cb->wait_ns, 1 + 6 + 7);
    CHECK_EQ(log->waits[0].kind, MT_WAIT_SCHEDULED);
    CHECK_EQ(log->waits[4].kind, MT_WAIT_SHARED_EVENT);
    CHECK_EQ(log->waits[4].value, 42);
    CHECK_EQ(log->waits[4].command_buffer, 0);
    CHECK_EQ(log->waits[4].begin_ns, 16);
    CHECK_EQ(log->waits[4].end_ns, 18);
    CHECK_EQ(log->waits[5].end_ns, MT_NO_TIME);
    CHECK_EQ(log->waits[5].begin_ns, 21);
    CHECK_EQ(log_find_cb(log, 2)->end, MT_CB_IN_FLIGHT);
    CHECK_EQ(log_find_cb(log, 2)->waits, 1);
    log_end(log);
}

static void test_horizon(void)
{
    begin();
    for (uint32_t cb = 1; cb <= 4; cb++) {
        maker_create(&maker, 1, cb, cb);
        maker_commit(&maker, 1, 10 * cb, cb);
    }
    maker_wait(&maker, 1, 45, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 1, 0);
    maker_done(&maker, 2, 50, 2, 21, 22);
    maker_done(&maker, 2, 51, 1, 11, 12); // done, but not handed on before the wait ends
    maker_done(&maker, 2, 52, 3, 31, 32);
    maker_wait(&maker, 1, 60, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 1, 45);
    maker_done(&maker, 2, 61, 4, 41, 42);
    struct model_log *log = run();
    const struct {
        uint32_t id;
        int64_t horizon;
    } expected[] = {{2, 10}, {3, 10}, {1, 40}, {4, INT64_MAX}};
    CHECK_EQ(log->cb_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_EQ(log->cbs[i].id, expected[i].id);
        CHECK_EQ(log->horizons[i], expected[i].horizon);
    }
    CHECK_EQ(mt_model_horizon_ns(log->model), INT64_MAX);
    log_end(log);
}

// Bounded: the front is gone, the segment's head says what held.
static void test_missing_front(void)
{
    begin();
    maker_header(&maker)->keep_bytes = 1 << 20;
    maker_header(&maker)->overwritten_segments = 3;
    maker_header(&maker)->overwritten_records = 300;
    maker.streams[1].next_number = 3;
    maker.streams[1].thread = 6;
    maker.streams[1].encoder = 50;
    maker.streams[1].command_buffer = 40;
    maker_dispatch(&maker, 1, 100, 1);
    MAKE(&maker, 1, maker_at(101), mt_rec_sync, MT_REC_SYNC, MT_SYNC_BARRIER_RESOURCES, .object = 50);
    maker_dispatch(&maker, 1, 102, 2);
    maker_encoder_end(&maker, 1, 103, 50);
    maker_dispatch(&maker, 1, 104, 3); // nobody's
    maker_encoder_end(&maker, 1, 105, 51);
    maker_commit(&maker, 1, 106, 40);
    maker_done(&maker, 1, 120, 40, 107, 108);
    maker_wait(&maker, 2, 125, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 40, 90);
    struct model_log *log = run();
    CHECK_STR(log->order, "DDEDECW");
    CHECK_EQ(log->dispatches[0].encoder, 50);
    CHECK_EQ(log->dispatches[0].command_buffer, 40);
    CHECK_EQ(log->dispatches[0].thread, 6);
    CHECK_EQ(log->dispatches[1].barrier_before, true);
    CHECK_EQ(log->dispatches[2].encoder, 0);
    const struct mt_encoder *encoder = log_find_encoder(log, 50);
    CHECK_EQ(encoder->begin_ns, MT_NO_TIME);
    CHECK_EQ(encoder->end_ns, 103);
    CHECK_EQ(encoder->dispatches, 2);
    CHECK_EQ(log_find_encoder(log, 51)->command_buffer, 0);
    const struct mt_command_buffer *cb = log_find_cb(log, 40);
    CHECK_EQ(cb->create_ns, MT_NO_TIME);
    CHECK_EQ(cb->commit_ns, 106);
    CHECK_EQ(cb->dispatches, 2);
    CHECK_EQ(cb->encode_ns, 0);
    CHECK_EQ(log->waits[0].begin_ns, 90);
    struct mt_loss loss;
    mt_model_loss(log->model, &loss);
    CHECK_EQ(loss.unknown_context, 1);
    CHECK_EQ(loss.overwritten_segments, 3);
    CHECK_EQ(loss.overwritten_records, 300);
    CHECK_EQ(loss.damage.missing_segments, 0);
    log_end(log);
}

static void test_others(void)
{
    begin();
    maker_header(&maker)->dropped_records = 2;
    MAKE(&maker, 1, maker_at(1), mt_rec_memory, MT_REC_MEMORY, MT_MEMORY_HEAP, .number = 3, .bytes = 100,
         .total = 500);
    MAKE(&maker, 1, maker_at(2), mt_rec_memory, MT_REC_MEMORY, MT_MEMORY_HEAP | MT_MEMORY_FREE, .number = 3,
         .bytes = 100, .total = 400);
    MAKE(&maker, 1, maker_at(3), mt_rec_capture, MT_REC_CAPTURE, 2, .event = MT_CAPTURE_STOPPED, .first = 1,
         .last = 4, .extra = 2);
    MAKE(&maker, 1, maker_at(4), mt_rec_drop, MT_REC_DROP, 0, .records = 5);
    MAKE(&maker, 1, maker_at(5), mt_rec_drop, MT_REC_DROP, 0, .records = 6);
    struct model_log *log = run();
    CHECK_STR(log->order, "MMP");
    CHECK_EQ(log->memory[0].kind, MT_MEMORY_HEAP);
    CHECK_EQ(log->memory[1].kind, MT_MEMORY_HEAP | MT_MEMORY_FREE);
    CHECK_EQ(log->memory[1].time_ns, 2);
    CHECK_EQ(log->memory[1].number, 3);
    CHECK_EQ(log->memory[1].bytes, 100);
    CHECK_EQ(log->memory[1].total_bytes, 400);
    CHECK_EQ(log->captures[0].event, MT_CAPTURE_STOPPED);
    CHECK_STR(as_string(log->captures[0].text), "two");
    CHECK_EQ(log->captures[0].last, 4);
    CHECK_EQ(log->captures[0].extra, 2);
    struct mt_loss loss;
    mt_model_loss(log->model, &loss);
    CHECK_EQ(loss.dropped_records, 11);
    log_end(log);
}

// Values that no recorder writes still give values that a view can use.
static void test_odd_values(void)
{
    begin();
    MAKE(&maker, 1, maker_at(1), mt_rec_encoder_begin, MT_REC_ENCODER_BEGIN, 0, .encoder = 1,
         .command_buffer = 1, .kind = 99);
    maker_encoder(&maker, 1, 2, 1, 1); // the same number again
    maker_encoder_end(&maker, 1, 3, 1);
    MAKE(&maker, 1, maker_at(4), mt_rec_wait, MT_REC_WAIT_END, 77, .begin = UINT64_MAX);
    MAKE(&maker, 1, maker_at(5), mt_rec_memory, MT_REC_MEMORY, 0xffffff);
    MAKE(&maker, 1, maker_at(6), mt_rec_capture, MT_REC_CAPTURE, 0xffffff, .event = 1000);
    maker_commit(&maker, 1, 7, 1);
    maker_commit(&maker, 1, 8, 1);
    maker_create(&maker, 1, 8, 0);
    maker_encoder(&maker, 1, 8, 0, 1);
    MAKE(&maker, 1, maker_at(9), mt_rec_cb_done, MT_REC_CB_DONE, 0xffffff, .command_buffer = 1,
         .scheduled = UINT64_MAX, .gpu_start_ns = 1, .gpu_end_ns = UINT64_MAX, .error = UINT32_MAX);
    struct model_log *log = run();
    CHECK_STR(log->order, "EWMPC");
    CHECK_EQ(log->encoders[0].kind, MT_ENCODER_COMPUTE);
    CHECK_EQ(log->waits[0].kind, MT_WAIT_SHARED_EVENT);
    CHECK(log->waits[0].begin_ns > log->waits[0].end_ns); // far away, and can be subtracted
    CHECK(log->waits[0].begin_ns <= INT64_C(1) << 62);
    CHECK_EQ(log->memory[0].kind, MT_MEMORY_NO_COPY | MT_MEMORY_FREE);
    CHECK_EQ(log->captures[0].event, MT_CAPTURE_FAILED);
    CHECK_EQ(log->captures[0].text.length, 0);
    CHECK_EQ(log->cbs[0].end, MT_CB_FAILED);
    CHECK_EQ(log->cbs[0].commit_ns, 7);
    CHECK(log->cbs[0].gpu_start_ns < 0);
    log_end(log);
}

// Many in flight at once, finished in another order; ids from the whole range.
static void test_many(void)
{
    begin();
    enum { COUNT = 400 };
    uint32_t ids[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        ids[i] = i * UINT32_C(2654435761) + 1;
        maker_create(&maker, 1, 1 + i, ids[i]);
        maker_encoder(&maker, 1, 1 + i, ids[i], ids[i]);
        maker_dispatch(&maker, 1, 1 + i, i + 1);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        maker_encoder_end(&maker, 1, 1000 + i, ids[i * 7 % COUNT]);
    for (uint32_t i = 0; i < COUNT; i++)
        maker_commit(&maker, 1, 2000 + i, ids[i]);
    for (uint32_t i = 0; i < COUNT; i++)
        maker_done(&maker, 1, 3000 + i, ids[i * 11 % COUNT], 1, 2);
    struct model_log *log = run();
    CHECK_EQ(log->cb_count, COUNT);
    CHECK_EQ(log->encoder_count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        CHECK_EQ(log->encoders[i].id, ids[i * 7 % COUNT]);
        CHECK_EQ(log->cbs[i].id, ids[i * 11 % COUNT]);
        CHECK_EQ(log->cbs[i].dispatches, 1);
        CHECK_EQ(log->cbs[i].end, MT_CB_COMPLETED);
    }
    log_end(log);
}

// A visitor that wants nothing, and the same model again.
static void test_again(void)
{
    begin();
    maker_create(&maker, 1, 1, 1);
    maker_encoder(&maker, 1, 2, 1, 1);
    for (uint32_t i = 0; i < 10; i++)
        maker_dispatch(&maker, 1, 3 + i, 1);
    struct model_log *log = run();
    CHECK_EQ(mt_model_run(log->model, &(struct mt_model_visitor){0}), 0);
    struct model_log second = {0};
    const struct mt_model_visitor visitor = {.context = &second, .command_buffer = log_cb};
    CHECK_EQ(mt_model_run(log->model, &visitor), 0);
    CHECK_EQ(second.cb_count, 1);
    CHECK_EQ(second.cbs[0].dispatches, 10);
    log_end(log);
}

int main(void)
{
    test_whole();
    test_contexts();
    test_groups();
    test_ends();
    test_waits();
    test_horizon();
    test_missing_front();
    test_others();
    test_odd_values();
    test_many();
    test_again();
    return test_end();
}
