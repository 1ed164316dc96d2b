// SPDX-License-Identifier: MIT
// The model's definitions, texts and clock: names, labels given later, ids with holes, drift. One thread.
// shows: definitions come out with their names and times, whatever their ids and bytes; the clock follows
// anchors
#define _GNU_SOURCE
#include "unit/model_log.h"

static struct spool_maker maker;

static void begin(void)
{
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
}

static struct model_log *run(void)
{
    struct model_log *log = log_run(&maker);
    maker_end(&maker);
    return log;
}

static void make_all(void)
{
    begin();
    const char *texts[] = {"prog",   "host", "Linux 6",      "1.2.3", "Apple M9", "queue", "/lib/a.metallib",
                           "matmul", "0=1",  "is no kernel", "main",  "--fast",   "NAME"};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        maker_string(&maker, i + 1, texts[i]);
    maker_header(&maker)->end_ticks = maker_at(5000);
    MAKE(&maker, 0, maker_at(1), mt_rec_process, MT_REC_PROCESS, 0, .parent = 11, .program = 1, .host = 2,
         .system = 3, .tap_version = 4);
    MAKE(&maker, 0, maker_at(1), mt_rec_text, MT_REC_TEXT, 12, .kind = MT_TEXT_ARGUMENT, .number = 1);
    MAKE(&maker, 0, maker_at(1), mt_rec_text, MT_REC_TEXT, 12, .kind = MT_TEXT_OPTION, .name = 13);
    MAKE(&maker, 0, maker_at(1), mt_rec_text, MT_REC_TEXT, 12, .kind = 99);
    MAKE(&maker, 0, maker_at(2), mt_rec_device, MT_REC_DEVICE, 1, .name = 5, .family = 1009,
         .working_set_bytes = 1 << 20);
    MAKE(&maker, 0, maker_at(3), mt_rec_queue, MT_REC_QUEUE, 1, .device = 1, .max_buffers = 64, .label = 6,
         .seen_late = 1);
    MAKE(&maker, 0, maker_at(4), mt_rec_library, MT_REC_LIBRARY, 1, .device = 1, .form = MT_LIBRARY_FILE,
         .name = 7, .begin = maker_at(100), .end = maker_at(250), .source_bytes = 77);
    MAKE(&maker, 0, maker_at(5), mt_rec_function, MT_REC_FUNCTION, 1, .library = 1, .name = 8,
         .constants = 9);
    MAKE(&maker, 0, maker_at(6), mt_rec_pipeline, MT_REC_PIPELINE, 1, .function = 1, .device = 1, .name = 8,
         .max_threads = 1024, .width = 32, .begin = maker_at(300), .end = maker_at(400),
         .static_threadgroup_bytes = 4096, .flags = 3);
    MAKE(&maker, 0, maker_at(6), mt_rec_pipeline, MT_REC_PIPELINE, 2, .error = 10);
    MAKE(&maker, 0, maker_at(6), mt_rec_pipeline, MT_REC_PIPELINE, 4, .function = 1);
    MAKE(&maker, 0, maker_at(7), mt_rec_thread_name, MT_REC_THREAD_NAME, 1, .name = 11, .os_thread = 4242);
    MAKE(&maker, 1, maker_at(8), mt_rec_thread, MT_REC_THREAD, 0, .thread = 3, .os_thread = 4244);
}

static void check_objects(const struct mt_definitions *all)
{
    CHECK_EQ(all->device_count, 2);
    CHECK_STR(as_string(all->devices[1].name), "Apple M9");
    CHECK_EQ(all->devices[1].record->family, 1009);
    CHECK_EQ(all->devices[1].record->working_set_bytes, 1 << 20);
    CHECK_EQ(all->queue_count, 2);
    CHECK_STR(as_string(all->queues[1].label), "queue");
    CHECK_EQ(all->queues[1].max_buffers, 64);
    CHECK_EQ(all->queues[1].seen_late, true);
    CHECK_EQ(all->queues[0].id, 0);
    CHECK_EQ(all->library_count, 2);
    CHECK_STR(as_string(all->libraries[1].name), "/lib/a.metallib");
    CHECK_EQ(all->libraries[1].begin_ns, 100);
    CHECK_EQ(all->libraries[1].end_ns, 250);
    CHECK_EQ(all->libraries[1].source_bytes, 77);
    CHECK_EQ(all->function_count, 2);
    CHECK_STR(as_string(all->functions[1].name), "matmul");
    CHECK_EQ(all->functions[1].library, 1);
}

static void check_pipelines(const struct mt_definitions *all)
{
    CHECK_EQ(all->pipeline_count, 5);
    const struct mt_pipeline *p = all->pipelines;
    CHECK_STR(as_string(p[1].name), "matmul");
    CHECK_STR(as_string(p[1].constants), "0=1"); // from its function
    CHECK_EQ(p[1].max_threads, 1024);
    CHECK_EQ(p[1].width, 32);
    CHECK_EQ(p[1].static_threadgroup_bytes, 4096);
    CHECK_EQ(p[1].flags, 3);
    CHECK_EQ(p[1].begin_ns, 300);
    CHECK_EQ(p[1].end_ns, 400);
    CHECK_STR(as_string(p[2].name), "pipeline 2");
    CHECK_STR(as_string(p[2].error), "is no kernel");
    CHECK_EQ(p[2].begin_ns, MT_NO_TIME);
    CHECK_EQ(p[3].id, 0); // was never defined, and has a name all the same
    CHECK_STR(as_string(p[3].name), "pipeline 3");
    CHECK_STR(as_string(p[4].name), "matmul");
}

static void test_all(void)
{
    make_all();
    struct model_log *log = run();
    const struct mt_definitions *all = mt_model_definitions(log->model);
    CHECK_EQ(all->process.pid, 4321);
    CHECK_EQ(all->process.parent, 11);
    CHECK_STR(as_string(all->process.program), "prog");
    CHECK_STR(as_string(all->process.host), "host");
    CHECK_STR(as_string(all->process.system), "Linux 6");
    CHECK_STR(as_string(all->process.tap_version), "1.2.3");
    CHECK_EQ(all->process.end_ns, 5000);
    CHECK_EQ(all->process.state, MT_SPOOL_ENDED);
    check_objects(all);
    check_pipelines(all);
    CHECK_EQ(all->note_count, 2);
    CHECK_EQ(all->notes[0].kind, MT_TEXT_ARGUMENT);
    CHECK_STR(as_string(all->notes[0].text), "--fast");
    CHECK_STR(as_string(all->notes[1].name), "NAME");
    CHECK_EQ(all->thread_count, 4);
    CHECK_STR(as_string(all->threads[1].name), "main");
    CHECK_EQ(all->threads[1].os_thread, 4242);
    CHECK_EQ(all->threads[2].id, 0);
    CHECK_EQ(all->threads[3].id, 3);
    CHECK_EQ(all->threads[3].os_thread, 4244);
    log_end(log);
}

// Labels set later: the last one wins, whichever stream it is in and wherever its text comes.
static void test_labels(void)
{
    make_all();
    maker_string(&maker, 20, "early");
    maker_label(&maker, 2, 50, MT_REC_LABEL, MT_OBJECT_QUEUE, 1, 21);
    maker_label(&maker, 1, 40, MT_REC_LABEL, MT_OBJECT_QUEUE, 1, 20);
    maker_label(&maker, 3, 45, MT_REC_LABEL, MT_OBJECT_QUEUE, 1, 20);
    maker_label(&maker, 1, 60, MT_REC_LABEL, MT_OBJECT_LIBRARY, 1, 20);
    maker_label(&maker, 1, 61, MT_REC_LABEL, MT_OBJECT_PIPELINE, 1, 21);
    maker_label(&maker, 1, 62, MT_REC_LABEL, MT_OBJECT_PIPELINE, 1, 0);
    maker_label(&maker, 1, 63, MT_REC_LABEL, MT_OBJECT_FUNCTION, 1, 20);
    maker_label(&maker, 1, 64, MT_REC_LABEL, MT_OBJECT_QUEUE, 1000, 20);
    maker_label(&maker, 1, 65, MT_REC_LABEL, MT_OBJECT_PIPELINE, 3, 20); // was never defined
    maker_string(&maker, 21, "late");
    struct model_log *log = run();
    const struct mt_definitions *all = mt_model_definitions(log->model);
    CHECK_STR(as_string(all->queues[1].label), "late");
    CHECK_STR(as_string(all->libraries[1].name), "early");
    CHECK_STR(as_string(all->pipelines[1].name), "late");
    CHECK_STR(as_string(all->pipelines[3].name), "pipeline 3");
    CHECK_STR(as_string(all->functions[1].name), "matmul"); // what the library calls it
    log_end(log);
}

// Any bytes, and the longest text; and one that was cut.
static void test_texts(void)
{
    maker_begin(&maker, MT_SPOOL_SEGMENT_BYTES);
    char *longest = malloc(MT_SPOOL_MAX_STRING);
    if (!longest)
        abort();
    for (size_t i = 0; i < MT_SPOOL_MAX_STRING; i++)
        longest[i] = (char)(i * 31);
    maker_string_bytes(&maker, 1, "\0\xff\n\"", 4);
    maker_string_bytes(&maker, 2, longest, MT_SPOOL_MAX_STRING);
    struct mt_rec_string cut = {
        .word = MT_REC_WORD(MT_REC_STRING, 3), .length = 3 | MT_STRING_CUT, .text = "abc"};
    maker_put(&maker, 0, maker_at(1), &cut, sizeof cut);
    for (uint32_t i = 4; i < 3000; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %u", i);
        maker_string(&maker, i, text);
    }
    for (uint32_t i = 1; i < 1000; i++)
        MAKE(&maker, 0, maker_at(1), mt_rec_queue, MT_REC_QUEUE, i, .label = i);
    maker_dispatch(&maker, 1, 1, 1);
    struct model_log *log = run();
    const struct mt_queue *q = mt_model_definitions(log->model)->queues;
    CHECK_EQ(q[1].label.length, 4);
    CHECK(memcmp(q[1].label.bytes, "\0\xff\n\"", 4) == 0);
    CHECK_EQ(q[2].label.length, MT_SPOOL_MAX_STRING);
    CHECK(memcmp(q[2].label.bytes, longest, MT_SPOOL_MAX_STRING) == 0);
    CHECK(!q[2].label.cut);
    CHECK(q[3].label.cut);
    CHECK_STR(as_string(q[3].label), "abc");
    for (uint32_t i = 4; i < 1000; i++) {
        char text[32];
        snprintf(text, sizeof text, "text %u", i);
        CHECK_STR(as_string(q[i].label), text);
    }
    free(longest);
    log_end(log);
}

// An id far from all others is refused and counted, and costs no memory; holes are allowed.
static void test_sparse_ids(void)
{
    begin();
    maker_string(&maker, 500, "name");
    maker_string(&maker, MT_REC_MAX_SMALL, "far");
    maker_string(&maker, 0, "none");
    MAKE(&maker, 0, maker_at(1), mt_rec_queue, MT_REC_QUEUE, 900, .label = 500);
    MAKE(&maker, 0, maker_at(1), mt_rec_queue, MT_REC_QUEUE, MT_REC_MAX_SMALL, .label = 500);
    MAKE(&maker, 0, maker_at(1), mt_rec_pipeline, MT_REC_PIPELINE, MT_REC_MAX_SMALL, .name = 500);
    MAKE(&maker, 0, maker_at(1), mt_rec_thread_name, MT_REC_THREAD_NAME, MT_REC_MAX_SMALL, .name = 500);
    MAKE(&maker, 1, maker_at(1), mt_rec_thread, MT_REC_THREAD, 0, .thread = UINT32_MAX);
    maker_dispatch(&maker, 1, 2, MT_REC_MAX_SMALL);
    struct model_log *log = run();
    const struct mt_definitions *all = mt_model_definitions(log->model);
    CHECK_EQ(all->queue_count, 901);
    CHECK_STR(as_string(all->queues[900].label), "name");
    CHECK_EQ(all->queues[899].id, 0);
    CHECK_EQ(all->pipeline_count, 1);
    CHECK_EQ(all->thread_count, 1);
    CHECK_EQ(log->dispatches[0].thread, UINT32_MAX);
    struct mt_loss loss;
    mt_model_loss(log->model, &loss);
    CHECK_EQ(loss.damage.bad_records, 4);
    log_end(log);
    // Ids that come one by one go as far as they like.
    maker_begin(&maker, MT_SPOOL_SEGMENT_BYTES);
    for (uint32_t i = 1; i <= 30000; i++)
        MAKE(&maker, 0, maker_at(1), mt_rec_queue, MT_REC_QUEUE, i, .max_buffers = i);
    log = run();
    all = mt_model_definitions(log->model);
    CHECK_EQ(all->queue_count, 30001);
    CHECK_EQ(all->queues[30000].max_buffers, 30000);
    log_end(log);
}

static void anchor(uint64_t ticks, uint64_t ns, uint64_t width)
{
    MAKE(&maker, 1 + ticks / 3 % 2, ticks, mt_rec_anchor, MT_REC_ANCHOR, 0, .clock_ns = MAKER_START_NS + ns,
         .width = width);
}

// The counter runs at 3 GHz and drifts; the header knows nothing of it.
static void test_clock(void)
{
    begin();
    maker_header(&maker)->ticks_per_second = 0;
    uint64_t ticks = MAKER_START_TICKS, ns = 0;
    for (uint32_t i = 1; i <= 100; i++) {
        ticks += 3000000 + i * 10;
        ns += 1000000;
        anchor(ticks, ns, 30);
        MAKE(&maker, 3, ticks - 1500000, mt_rec_dispatch, MT_REC_DISPATCH_GROUPS, 1);
        MAKE(&maker, 3, ticks, mt_rec_dispatch, MT_REC_DISPATCH_GROUPS, 1);
    }
    MAKE(&maker, 3, ticks + 3000000, mt_rec_dispatch, MT_REC_DISPATCH_GROUPS, 1); // behind the last anchor
    MAKE(&maker, 4, MAKER_START_TICKS - 3000, mt_rec_dispatch, MT_REC_DISPATCH_GROUPS, 1); // before the first
    struct model_log *log = run();
    CHECK_EQ(log->dispatch_count, 202);
    CHECK_NEAR((double)log->dispatches[0].time_ns, -1000, 2);
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_NEAR((double)log->dispatches[1 + 2 * i].time_ns, i * 1e6 + 500000, 500);
        CHECK_EQ(log->dispatches[2 + 2 * i].time_ns, (i + 1) * INT64_C(1000000));
    }
    CHECK_NEAR((double)log->dispatches[201].time_ns, 101e6, 1000);
    struct mt_clock_info info;
    mt_model_clock(log->model, &info);
    CHECK_EQ(info.anchors, 100);
    CHECK_NEAR(info.ticks_per_second, 3000505e3, 1000);
    CHECK_EQ(info.worst_width_ns, 9); // 30 ticks
    CHECK(info.worst_residual_ns > 1000 && info.worst_residual_ns < 100000);
    CHECK_EQ(info.start_ticks, MAKER_START_TICKS);
    CHECK_EQ(info.start_ns, MAKER_START_NS);
    log_end(log);
}

// An anchor that was interrupted is left out; one that goes back is too. Times never go back.
static void test_bad_anchors(void)
{
    begin();
    for (uint64_t i = 1; i <= 100; i++) {
        uint64_t at = i * 1000000;
        bool late = i % 10 == 5, back = i % 10 == 7;
        anchor(maker_at(at), late ? at + 900000 : back ? at - 5000000 : at, late ? 2000000 : 25);
        maker_dispatch(&maker, 3, at - 1000, 1);
        maker_dispatch(&maker, 3, at, 1);
    }
    struct model_log *log = run();
    for (uint32_t i = 0; i < log->dispatch_count; i++) {
        int64_t expected = (i / 2 + 1) * INT64_C(1000000) - (i % 2 ? 0 : 1000);
        CHECK_NEAR((double)log->dispatches[i].time_ns, (double)expected, 2);
        CHECK(i == 0 || log->dispatches[i].time_ns >= log->dispatches[i - 1].time_ns);
    }
    log_end(log);
}

// Hours of anchors: memory stays the same, and so does the result.
static void test_many_anchors(void)
{
    maker_begin(&maker, MT_SPOOL_SEGMENT_BYTES);
    enum { COUNT = 300000 };
    for (uint64_t i = 1; i <= COUNT; i++) {
        anchor(maker_at(i * 10000000), i * 10000000, 20 + i % 7);
        if (i % 1000 == 0)
            maker_dispatch(&maker, 3, i * 10000000 - 5, 1);
    }
    struct model_log *log = run();
    CHECK_EQ(log->dispatch_count, 300);
    for (uint32_t i = 0; i < log->dispatch_count; i++)
        CHECK_NEAR((double)log->dispatches[i].time_ns, (i + 1) * 1e10 - 5, 2);
    struct mt_clock_info info;
    mt_model_clock(log->model, &info);
    CHECK_EQ(info.anchors, COUNT);
    CHECK_NEAR(info.ticks_per_second, 1e9, 1);
    CHECK(info.worst_residual_ns <= 2);
    log_end(log);
}

// Numbers at their ends give numbers, not overflows.
static void test_wild_clock(void)
{
    const uint64_t values[] = {0, 1, UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
    const size_t count = sizeof values / sizeof *values;
    for (size_t i = 0; i < count * count * count; i++) {
        begin();
        maker_header(&maker)->start_ticks = values[i % count];
        maker_header(&maker)->start_ns = values[i / count % count];
        maker_header(&maker)->ticks_per_second = values[i / count / count];
        maker_header(&maker)->end_ticks = UINT64_MAX;
        maker_header(&maker)->slow_ticks = UINT64_MAX;
        maker_header(&maker)->append_ticks_x1024 = UINT64_MAX;
        for (size_t k = 1; k < count; k++) {
            MAKE(&maker, 1, values[k], mt_rec_anchor, MT_REC_ANCHOR, 0, .clock_ns = values[(k + i) % count],
                 .width = values[k]);
            MAKE(&maker, 1, values[k], mt_rec_dispatch, MT_REC_DISPATCH_GROUPS, 1);
        }
        struct model_log *log = run();
        CHECK_EQ(log->dispatch_count, count - 1);
        for (uint32_t k = 1; k < log->dispatch_count; k++)
            CHECK(log->dispatches[k].time_ns >= log->dispatches[k - 1].time_ns);
        struct mt_clock_info info;
        mt_model_clock(log->model, &info);
        struct mt_overhead overhead;
        mt_model_overhead(log->model, &overhead);
        CHECK(overhead.record_ns >= 0);
        log_end(log);
    }
}

static void test_overhead(void)
{
    begin();
    maker_header(&maker)->ticks_per_second = UINT64_C(2000000000);
    maker_header(&maker)->append_ticks_x1024 = 20 * 1024;
    maker_header(&maker)->slow_ticks = 1000;
    maker_header(&maker)->overwritten_records = 1000;
    maker_string(&maker, 1, "x");
    for (uint32_t i = 0; i < 99; i++)
        maker_dispatch(&maker, 1, i + 1, 1);
    struct model_log *log = run();
    struct mt_overhead overhead;
    mt_model_overhead(log->model, &overhead);
    CHECK_EQ(overhead.records, 1100);
    CHECK_NEAR(overhead.record_ns, 10, 1e-6);
    CHECK_EQ(overhead.slow_ns, 500);
    log_end(log);
}

int main(void)
{
    test_all();
    test_labels();
    test_texts();
    test_sparse_ids();
    test_clock();
    test_bad_anchors();
    test_many_anchors();
    test_wild_clock();
    test_overhead();
    return test_end();
}
