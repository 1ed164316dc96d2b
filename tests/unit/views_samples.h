// SPDX-License-Identifier: MIT
// Spools for the tests of analysis and views: a run with everything in it and names that are hard to print,
// an empty run, a killed one. What they hold is written down here once; tests/t340_report.py and the unit
// tests check the numbers. Aborts when there is no memory.
#ifndef TESTS_UNIT_VIEWS_SAMPLES_H
#define TESTS_UNIT_VIEWS_SAMPLES_H

#include "unit/spool_maker.h"

enum sample_string {
    S_NONE,
    S_PROGRAM,
    S_ADD,
    S_CONSTANTS,
    S_OTHER_CONSTANTS,
    S_MATMUL,
    S_QUOTED,
    S_HTML,
    S_INVALID,
    S_NUL,
    S_RTL,
    S_LONG,
    S_CUT,
    S_ERROR,
    S_OPTION_NAME,
    S_OPTION_VALUE,
    S_ARGUMENT,
    S_WARNING,
    S_DEVICE,
    S_GROUP,
    S_INNER_GROUP,
    S_TRACE,
    S_TEXTS
};
enum { SAMPLE_LONG_BYTES = 64 * 1024 };
#define SAMPLE_HUGE UINT64_C(9007199254740993) // 2^53 + 1: no double has it

static const char sample_quoted[] = "say \"hi\" \\ there\n\tnow\x01\x7f";
static const char sample_html[] = "</script><img src=x onerror=alert(1)>&amp;\xe2\x80\xa8\xe2\x80\xa9";
static const char sample_invalid[] = "bad \xff\xfe \xc3( \xe2\x82 \xed\xa0\x80 \xf0\x9f\x98\x80 end\xc3";
static const char sample_nul[] = "before\0after";
// NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is for
static const char sample_rtl[] = "abc\xe2\x80\xae"
                                 "def\xd7\x90\x1b[31m";

static inline void sample_strings(struct spool_maker *maker)
{
    char *name = malloc(SAMPLE_LONG_BYTES);
    if (!name)
        abort();
    for (int i = 0; i < SAMPLE_LONG_BYTES; i++)
        name[i] = (char)('a' + i % 26);
    maker_string(maker, S_PROGRAM, "/opt/model server/run");
    maker_string(maker, S_ADD, "add");
    maker_string(maker, S_CONSTANTS, "0=1 is_causal=true");
    maker_string(maker, S_OTHER_CONSTANTS, "0=2 is_causal=true");
    maker_string(maker, S_MATMUL, "matmul<float, 4>");
    maker_string_bytes(maker, S_QUOTED, sample_quoted, sizeof(sample_quoted) - 1);
    maker_string_bytes(maker, S_HTML, sample_html, sizeof(sample_html) - 1);
    maker_string_bytes(maker, S_INVALID, sample_invalid, sizeof(sample_invalid) - 1);
    maker_string_bytes(maker, S_NUL, sample_nul, sizeof(sample_nul) - 1);
    maker_string_bytes(maker, S_RTL, sample_rtl, sizeof(sample_rtl) - 1);
    maker_string_bytes(maker, S_LONG, name, SAMPLE_LONG_BYTES);
    maker_string(maker, S_CUT, "cut");
    maker_string(maker, S_ERROR,
                 "Execution of the command buffer was aborted due to an error\nduring execution");
    maker_string(maker, S_OPTION_NAME, "METALTAP_OUT");
    maker_string(maker, S_OPTION_VALUE, "out \"1\".json");
    maker_string(maker, S_ARGUMENT, "--prompt=<hello>");
    maker_string(maker, S_WARNING, "a warning of the tap");
    maker_string(maker, S_DEVICE, "Apple M9 Ultra");
    maker_string(maker, S_GROUP, "prefill");
    maker_string(maker, S_INNER_GROUP, "layer <3>");
    maker_string(maker, S_TRACE, "/tmp/out.gputrace");
    free(name);
}

static inline void sample_definitions(struct spool_maker *maker)
{
    MAKE(maker, 0, maker_at(0), mt_rec_process, MT_REC_PROCESS, 0, .parent = 1, .program = S_PROGRAM);
    MAKE(maker, 0, maker_at(0), mt_rec_text, MT_REC_TEXT, S_ARGUMENT, .kind = MT_TEXT_ARGUMENT);
    MAKE(maker, 0, maker_at(0), mt_rec_text, MT_REC_TEXT, S_INVALID, .kind = MT_TEXT_ARGUMENT, .number = 1);
    MAKE(maker, 0, maker_at(0), mt_rec_text, MT_REC_TEXT, S_OPTION_VALUE, .kind = MT_TEXT_OPTION,
         .name = S_OPTION_NAME);
    MAKE(maker, 0, maker_at(0), mt_rec_text, MT_REC_TEXT, S_WARNING, .kind = MT_TEXT_WARNING);
    MAKE(maker, 0, maker_at(0), mt_rec_device, MT_REC_DEVICE, 1, .name = S_DEVICE, .family = 1009,
         .sampling = 1, .flags = MT_DEVICE_UNIFIED, .registry = UINT64_MAX, .working_set_bytes = SAMPLE_HUGE,
         .max_buffer_bytes = 1 << 20, .max_threadgroup_memory = 32768, .metal3 = 1);
    MAKE(maker, 0, maker_at(0), mt_rec_queue, MT_REC_QUEUE, 1, .device = 1);
    MAKE(maker, 0, maker_at(0), mt_rec_queue, MT_REC_QUEUE, 2, .device = 1, .max_buffers = 64,
         .label = S_HTML);
    MAKE(maker, 0, maker_at(0), mt_rec_library, MT_REC_LIBRARY, 1, .device = 1, .begin = maker_at(100),
         .end = maker_at(600), .source_bytes = 1234);
    MAKE(maker, 0, maker_at(0), mt_rec_library, MT_REC_LIBRARY, 2, .device = 1,
         .form = MT_LIBRARY_FILE | MT_LIBRARY_ASYNC, .name = S_NUL, .error = S_ERROR, .begin = maker_at(600),
         .end = maker_at(700));
    MAKE(maker, 0, maker_at(0), mt_rec_function, MT_REC_FUNCTION, 1, .library = 1, .name = S_ADD);
    MAKE(maker, 0, maker_at(0), mt_rec_function, MT_REC_FUNCTION, 2, .library = 1, .name = S_ADD,
         .constants = S_CONSTANTS);
    // 1 and 2 are one kernel; 3 has other constants; 4 is another; 5 failed.
    MAKE(maker, 0, maker_at(0), mt_rec_pipeline, MT_REC_PIPELINE, 1, .function = 2, .device = 1,
         .name = S_ADD, .constants = S_CONSTANTS, .max_threads = 1024, .width = 32, .begin = maker_at(700),
         .end = maker_at(800));
    MAKE(maker, 0, maker_at(0), mt_rec_pipeline, MT_REC_PIPELINE, 2, .function = 2, .device = 1,
         .name = S_ADD, .constants = S_CONSTANTS, .flags = 3);
    MAKE(maker, 0, maker_at(0), mt_rec_pipeline, MT_REC_PIPELINE, 3, .device = 1, .name = S_ADD,
         .constants = S_OTHER_CONSTANTS);
    MAKE(maker, 0, maker_at(0), mt_rec_pipeline, MT_REC_PIPELINE, 4, .device = 1, .name = S_MATMUL);
    MAKE(maker, 0, maker_at(0), mt_rec_pipeline, MT_REC_PIPELINE, 5, .device = 1, .name = S_HTML,
         .error = S_ERROR);
    MAKE(maker, 0, maker_at(0), mt_rec_thread_name, MT_REC_THREAD_NAME, 1, .name = S_RTL, .os_thread = 77);
}

static inline void sample_begin(struct spool_maker *maker)
{
    maker_begin(maker, MT_SPOOL_SEGMENT_BYTES);
    maker_header(maker)->append_ticks_x1024 = 20 * 1024;
    maker_header(maker)->slow_ticks = 5000;
    sample_strings(maker);
    sample_definitions(maker);
    maker->streams[1].thread = 1;
}

// A command buffer at `ns` with one compute encoder; `pipelines` ends with 0. Ids of both are `id`.
static inline void sample_encode(struct spool_maker *maker, uint64_t ns, uint32_t id, uint32_t label,
                                 const uint32_t *pipelines)
{
    maker_create(maker, 1, ns, id);
    if (label)
        maker_label(maker, 1, ns + 1, MT_REC_LABEL, MT_OBJECT_COMMAND_BUFFER, id, label);
    maker_encoder(maker, 1, ns + 10, id, id);
    for (uint32_t i = 0; pipelines[i]; i++)
        maker_dispatch(maker, 1, ns + 11 + i, pipelines[i]);
    maker_encoder_end(maker, 1, ns + 60, id);
}
#define SAMPLE_PIPELINES(...) ((const uint32_t[]){__VA_ARGS__, 0})

// Committed 100 after `ns`, on the GPU from 200 to `gpu_end`, done 50 later.
static inline void sample_finish(struct spool_maker *maker, uint64_t ns, uint32_t id, uint64_t gpu_ns)
{
    maker_commit(maker, 1, ns + 100, id);
    maker_done(maker, 2, ns + 200 + gpu_ns + 50, id, ns + 200, ns + 200 + gpu_ns);
}

static inline void sample_odd_dispatches(struct spool_maker *maker, uint64_t ns)
{
    maker_create(maker, 1, ns, 7);
    maker_label(maker, 1, ns + 1, MT_REC_GROUP_PUSH, MT_OBJECT_COMMAND_BUFFER, 7, S_GROUP);
    maker_encoder(maker, 1, ns + 10, 7, 7);
    maker_label(maker, 1, ns + 11, MT_REC_LABEL, MT_OBJECT_ENCODER, 7, S_INVALID);
    maker_label(maker, 1, ns + 12, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, 7, S_INNER_GROUP);
    MAKE(maker, 1, maker_at(ns + 13), mt_rec_dispatch, MT_REC_DISPATCH_INDIRECT, 4, .threadgroup = {8, 8, 1});
    MAKE(maker, 1, maker_at(ns + 14), mt_rec_sync, MT_REC_SYNC, MT_SYNC_BARRIER_SCOPE, .object = 7,
         .value = 1);
    MAKE(maker, 1, maker_at(ns + 15), mt_rec_dispatch_wide, MT_REC_DISPATCH_WIDE, 4, .threadgroup = {1, 1, 1},
         .in_threads = 1, .threadgroup_memory = 4, .grid = {SAMPLE_HUGE, 1, 1});
    maker_label(maker, 1, ns + 16, MT_REC_SIGNPOST, MT_OBJECT_ENCODER, 7, S_GROUP);
    maker_dispatch(maker, 1, ns + 17, 0); // a pipeline that is not known
    maker_encoder_end(maker, 1, ns + 60, 7);
    sample_finish(maker, ns, 7, 40);
}

static inline void sample_blit(struct spool_maker *maker, uint64_t ns, uint32_t encoder, uint32_t cb)
{
    MAKE(maker, 1, maker_at(ns), mt_rec_encoder_begin, MT_REC_ENCODER_BEGIN, 0, .encoder = encoder,
         .command_buffer = cb, .kind = MT_ENCODER_BLIT);
    MAKE(maker, 1, maker_at(ns + 1), mt_rec_blit, MT_REC_BLIT, MT_BLIT_COPY, .encoder = encoder,
         .bytes = SAMPLE_HUGE);
    maker_encoder_end(maker, 1, ns + 2, encoder);
}

static inline void sample_memory(struct spool_maker *maker, uint64_t ns)
{
    MAKE(maker, 1, maker_at(ns), mt_rec_memory, MT_REC_MEMORY, MT_MEMORY_BUFFER, .number = 1, .bytes = 4096,
         .total = 4096);
    MAKE(maker, 1, maker_at(ns + 1), mt_rec_memory, MT_REC_MEMORY, MT_MEMORY_HEAP, .number = 2,
         .bytes = SAMPLE_HUGE, .total = SAMPLE_HUGE + 4096);
    MAKE(maker, 1, maker_at(ns + 2), mt_rec_memory, MT_REC_MEMORY, MT_MEMORY_BUFFER | MT_MEMORY_FREE,
         .number = 1, .bytes = 4096, .total = SAMPLE_HUGE);
}

// Everything once. Command buffers 1 to 11; see sample_expect in t340_report.py for what follows from it.
static inline void sample_whole(struct spool_maker *maker)
{
    sample_begin(maker);
    sample_memory(maker, 900);
    sample_encode(maker, 1000, 1, S_QUOTED, SAMPLE_PIPELINES(1)); // one dispatch: its time is known
    sample_finish(maker, 1000, 1, 500);
    maker_wait(maker, 1, 1150, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, 1, 0);
    maker_wait(maker, 1, 1800, MT_REC_WAIT_END, MT_WAIT_COMPLETED, 1, 1150);
    sample_encode(maker, 2000, 2, S_HTML, SAMPLE_PIPELINES(1, 2, 1)); // one kernel, three dispatches
    sample_finish(maker, 2000, 2, 700);
    sample_encode(maker, 3000, 3, S_INVALID, SAMPLE_PIPELINES(1, 3)); // two kernels
    sample_finish(maker, 3000, 3, 100);
    sample_encode(maker, 4000, 4, S_NUL, SAMPLE_PIPELINES(3)); // a blit as well
    sample_blit(maker, 4061, 100, 4);
    sample_finish(maker, 4000, 4, 100);
    sample_encode(maker, 5000, 5, S_RTL, SAMPLE_PIPELINES(3)); // failed
    maker_commit(maker, 1, 5100, 5);
    MAKE(maker, 2, maker_at(5200), mt_rec_cb_done, MT_REC_CB_DONE, 5, .command_buffer = 5, .error = S_ERROR);
    sample_encode(maker, 6000, 6, S_LONG, SAMPLE_PIPELINES(4)); // during a capture
    MAKE(maker, 1, maker_at(6070), mt_rec_capture, MT_REC_CAPTURE, S_TRACE, .event = MT_CAPTURE_STARTED);
    MAKE(maker, 1, maker_at(6100), mt_rec_cb_commit, MT_REC_CB_COMMIT, 0, .command_buffer = 6,
         .flags = MT_CB_CAPTURED);
    maker_done(maker, 2, 6500, 6, 6200, 6400);
    MAKE(maker, 1, maker_at(6600), mt_rec_capture, MT_REC_CAPTURE, S_TRACE, .event = MT_CAPTURE_STOPPED,
         .first = 6, .last = 6);
    sample_odd_dispatches(maker, 7000);
    sample_encode(maker, 8000, 8, S_QUOTED, SAMPLE_PIPELINES(1)); // overlaps the next
    sample_encode(maker, 8100, 9, S_QUOTED, SAMPLE_PIPELINES(4));
    sample_finish(maker, 8200, 8, 1000); // 8400 to 9400
    maker_commit(maker, 1, 8350, 9);
    maker_done(maker, 2, 9700, 9, 8900, 9600);
    MAKE(maker, 1, maker_at(9650), mt_rec_wait, MT_REC_WAIT_END, MT_WAIT_SHARED_EVENT, .value = SAMPLE_HUGE,
         .begin = maker_at(9600));
    sample_encode(maker, 9800, 10, S_QUOTED, SAMPLE_PIPELINES(4)); // discarded
    MAKE(maker, 1, maker_at(9870), mt_rec_cb_note, MT_REC_CB_DISCARD, 0, .command_buffer = 10);
    sample_encode(maker, 9900, 11, S_NONE, SAMPLE_PIPELINES(4)); // in flight at the end
    maker_commit(maker, 1, 10000, 11);
    maker_header(maker)->end_ticks = maker_at(20000);
}

// The same program killed in the middle of its second command buffer.
static inline void sample_killed(struct spool_maker *maker)
{
    sample_begin(maker);
    maker_header(maker)->state = MT_SPOOL_RUNNING;
    sample_encode(maker, 1000, 1, S_QUOTED, SAMPLE_PIPELINES(1));
    sample_finish(maker, 1000, 1, 500);
    maker_create(maker, 1, 2000, 2);
    maker_encoder(maker, 1, 2010, 2, 2);
    maker_dispatch(maker, 1, 2011, 4);
}

// A program that never used Metal.
static inline void sample_empty(struct spool_maker *maker)
{
    maker_begin(maker, MT_SPOOL_SEGMENT_BYTES);
    maker_string(maker, S_PROGRAM, "true");
    MAKE(maker, 0, maker_at(0), mt_rec_process, MT_REC_PROCESS, 0, .parent = 1, .program = S_PROGRAM);
    maker_header(maker)->end_ticks = maker_at(500);
}

static inline void sample_write(const char *path, void (*make)(struct spool_maker *maker))
{
    struct spool_maker maker;
    make(&maker);
    maker_write(&maker, path);
    maker_end(&maker);
}

#endif
