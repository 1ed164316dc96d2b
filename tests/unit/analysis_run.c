// SPDX-License-Identifier: MIT
// The analysis of whole runs: which command buffers give a kernel its time, what loss does to that, and that
// neither labels nor command buffers in flight without end take memory without end.
#include "analysis/analysis.h"
#include "unit/test.h"
#include "unit/views_samples.h"

#include <limits.h>

struct opened {
    char path[PATH_MAX];
    struct mt_spool *spool;
    struct mt_model *model;
    struct mt_analysis *analysis;
};

static bool open_run(struct opened *run, const struct spool_maker *maker)
{
    struct mt_spool_error error = {""};
    const char *temporary = getenv("TMPDIR");
    *run = (struct opened){0};
    snprintf(run->path, sizeof run->path, "%s/analysis_run-%d.mtap", temporary ? temporary : "/tmp",
             (int)getpid());
    maker_write(maker, run->path);
    bool ok = CHECK_EQ(mt_spool_open(run->path, &run->spool, &error), 0) &&
              CHECK_EQ(mt_model_open(run->spool, &run->model, &error), 0) &&
              CHECK_EQ(mt_analysis_run(run->model, &run->analysis), 0);
    if (!ok)
        printf("    %s\n", error.text);
    return ok;
}

static void close_run(struct opened *run, struct spool_maker *maker)
{
    mt_analysis_free(run->analysis);
    if (run->model)
        mt_model_close(run->model);
    if (run->spool)
        mt_spool_close(run->spool);
    unlink(run->path);
    maker_end(maker);
}

static const struct mt_kernel *kernel_of(const struct mt_analysis *analysis, uint32_t pipeline)
{
    return &analysis->kernels[analysis->pipeline_kernel[pipeline]];
}

static void test_whole(void)
{
    struct spool_maker maker;
    struct opened run;
    sample_whole(&maker);
    if (open_run(&run, &maker)) {
        const struct mt_analysis *it = run.analysis;
        CHECK_EQ(it->kernel_count, 5); // add, add, matmul, the failed one, unknown
        CHECK(kernel_of(it, 1) == kernel_of(it, 2));
        CHECK(kernel_of(it, 1) != kernel_of(it, 3));
        CHECK_EQ(kernel_of(it, 1)->covered_dispatches, 5);
        CHECK_EQ(kernel_of(it, 1)->per_dispatch.count, 2);
        CHECK_EQ(kernel_of(it, 3)->per_command_buffer.count, 0);
        CHECK_EQ(kernel_of(it, 4)->per_command_buffer.total, 700);
        CHECK_EQ(it->counts.captured, 1);
        CHECK_EQ(it->counts.backward_times, 0);
        CHECK_EQ(it->gpu.count, 7);
        CHECK_EQ(mt_busy_total_ns(&it->busy), 500 + 700 + 100 + 100 + 40 + 1200);
        CHECK_EQ(mt_busy_total_ns(&it->busy_all) - mt_busy_total_ns(&it->busy), 200);
        CHECK(it->memory.peak_bytes == SAMPLE_HUGE + 4096);
    }
    close_run(&run, &maker);
}

// One command buffer with one dispatch, and something about it that makes its time not the kernel's.
static void check_no_time(const char *what, void (*spoil)(struct spool_maker *maker), uint32_t flags)
{
    struct spool_maker maker;
    struct opened run;
    sample_begin(&maker);
    sample_encode(&maker, 1000, 1, S_QUOTED, SAMPLE_PIPELINES(4));
    if (spoil)
        spoil(&maker);
    MAKE(&maker, 1, maker_at(1100), mt_rec_cb_commit, MT_REC_CB_COMMIT, 0, .command_buffer = 1,
         .flags = flags);
    maker_done(&maker, 2, 2000, 1, 1200, 1700);
    if (open_run(&run, &maker)) {
        bool expected = !spoil && !flags;
        if (!CHECK_EQ(kernel_of(run.analysis, 4)->per_command_buffer.count, expected))
            printf("    %s\n", what);
        CHECK_EQ(kernel_of(run.analysis, 4)->dispatches, 1);
    }
    close_run(&run, &maker);
}

static void add_event_wait(struct spool_maker *maker)
{
    MAKE(maker, 1, maker_at(1070), mt_rec_sync, MT_REC_SYNC, MT_SYNC_EVENT_WAIT, .object = 1, .value = 1);
}

static void add_execute(struct spool_maker *maker)
{
    maker_encoder(maker, 1, 1070, 2, 1);
    MAKE(maker, 1, maker_at(1071), mt_rec_execute, MT_REC_EXECUTE, 0, .encoder = 2, .count = 3);
    maker_encoder_end(maker, 1, 1072, 2);
}

static void add_blit_encoder(struct spool_maker *maker) // without any blit in it
{
    MAKE(maker, 1, maker_at(1070), mt_rec_encoder_begin, MT_REC_ENCODER_BEGIN, 0, .encoder = 2,
         .command_buffer = 1, .kind = MT_ENCODER_BLIT);
    maker_encoder_end(maker, 1, 1072, 2);
}

static void add_present(struct spool_maker *maker)
{
    MAKE(maker, 1, maker_at(1070), mt_rec_cb_note, MT_REC_CB_PRESENT, 0, .command_buffer = 1);
}

static void add_other_kernel(struct spool_maker *maker)
{
    maker_encoder(maker, 1, 1070, 2, 1);
    maker_dispatch(maker, 1, 1071, 3);
    maker_encoder_end(maker, 1, 1072, 2);
}

static void lose_records(struct spool_maker *maker)
{
    maker_header(maker)->dropped_records = 1;
}

static void test_time_rules(void)
{
    check_no_time("nothing else in it", NULL, 0);
    check_no_time("a wait for an event", add_event_wait, 0);
    check_no_time("an indirect command buffer", add_execute, 0);
    check_no_time("a blit encoder", add_blit_encoder, 0);
    check_no_time("a present", add_present, 0);
    check_no_time("another kernel", add_other_kernel, 0);
    check_no_time("lost records", lose_records, 0);
    check_no_time("a capture", NULL, MT_CB_CAPTURED);
    check_no_time("seen late", NULL, MT_CB_SEEN_LATE);
}

// A label for each command buffer, as programs do that number their steps.
static void test_many_labels(void)
{
    enum { COUNT = MT_ANALYSIS_MAX_LABELS + 500, FIRST = 100 };
    struct spool_maker maker;
    struct opened run;
    sample_begin(&maker);
    for (uint32_t i = 0; i < COUNT; i++) {
        char name[32];
        snprintf(name, sizeof name, "step %u", i);
        maker_string(&maker, FIRST + i, name);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        sample_encode(&maker, 1000 + i * 1000, i + 1, FIRST + i, SAMPLE_PIPELINES(4));
        sample_finish(&maker, 1000 + i * 1000, i + 1, 10);
    }
    if (open_run(&run, &maker)) {
        CHECK_EQ(run.analysis->label_count, MT_ANALYSIS_MAX_LABELS);
        CHECK_EQ(run.analysis->other_labels.command_buffers, 500);
        CHECK_EQ(run.analysis->other_labels.gpu.total, 5000);
        CHECK_EQ(run.analysis->counts.command_buffers, COUNT);
        CHECK_EQ(kernel_of(run.analysis, 4)->per_dispatch.count, COUNT);
        CHECK_EQ(kernel_of(run.analysis, 4)->per_dispatch.total, COUNT * 10);
    }
    close_run(&run, &maker);
}

// More failures than are listed one by one.
static void test_many_errors(void)
{
    enum { COUNT = MT_ANALYSIS_MAX_LISTED + 50 };
    struct spool_maker maker;
    struct opened run;
    sample_begin(&maker);
    for (uint32_t i = 1; i <= COUNT; i++) {
        maker_create(&maker, 1, i * 10, i);
        maker_commit(&maker, 1, i * 10 + 1, i);
        MAKE(&maker, 1, maker_at(i * 10 + 2), mt_rec_cb_done, MT_REC_CB_DONE, 5, .command_buffer = i,
             .error = S_ERROR);
    }
    if (open_run(&run, &maker)) {
        CHECK_EQ(run.analysis->error_count, MT_ANALYSIS_MAX_LISTED);
        CHECK_EQ(run.analysis->counts.errors, COUNT + 2); // with those of the definitions
        CHECK_EQ(run.analysis->counts.without_gpu_time, COUNT);
        CHECK(!run.analysis->busy_all.any);
    }
    close_run(&run, &maker);
}

int main(void)
{
    test_whole();
    test_time_rules();
    test_many_labels();
    test_many_errors();
    return test_end();
}
