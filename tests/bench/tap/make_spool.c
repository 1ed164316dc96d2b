// SPDX-License-Identifier: MIT
// Makes a spool like that of an engine on several threads, without any hook: command buffers of a hundred
// dispatches of a few kernels, committed, completed and waited for. For measuring the way back from a spool
// to a report.
//
//     make_spool FILE DISPATCHES THREADS
#define _GNU_SOURCE
#include "record.h"

#include "samples.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { PER_BUFFER = 100, KERNELS = 24, MOST_THREADS = 16 };

static struct {
    uint64_t buffers; // of each thread
} work;

// ---- definitions ----
static uint32_t string(const char *text)
{
    return mt_record_string(text, strlen(text));
}

static void define_objects(void)
{
    struct mt_rec_process process = {.word = MT_REC_WORD(MT_REC_PROCESS, 0), .program = string("make_spool")};
    mt_record_define(&process);
    struct mt_rec_device device = {.word = MT_REC_WORD(MT_REC_DEVICE, 1), .name = string("no device")};
    mt_record_define(&device);
    struct mt_rec_queue queue = {.word = MT_REC_WORD(MT_REC_QUEUE, 1), .device = 1};
    mt_record_define(&queue);
    struct mt_rec_library library = {.word = MT_REC_WORD(MT_REC_LIBRARY, 1), .device = 1};
    mt_record_define(&library);
}

static void define_kernel(uint32_t number)
{
    char name[64];
    snprintf(name, sizeof name, "kernel_mul_mv_q4_%u_f32", number);
    struct mt_rec_function function = {
        .word = MT_REC_WORD(MT_REC_FUNCTION, number), .library = 1, .name = string(name)};
    mt_record_define(&function);
    struct mt_rec_pipeline pipeline = {.word = MT_REC_WORD(MT_REC_PIPELINE, number),
                                       .function = number,
                                       .device = 1,
                                       .name = string(name),
                                       .max_threads = 1024,
                                       .width = 32};
    mt_record_define(&pipeline);
}

// ---- events ----
static void record_encoder(uint32_t buffer, uint32_t encoder)
{
    struct mt_rec_encoder_begin begin = {
        .word = MT_REC_WORD(MT_REC_ENCODER_BEGIN, 0), .encoder = encoder, .command_buffer = buffer};
    mt_record_event(&begin);
    for (uint32_t i = 0; i < PER_BUFFER; i++) {
        struct mt_rec_dispatch dispatch = {
            .word = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, 1 + i % KERNELS),
            .threadgroup = {32, (uint16_t)(1 + i % 8), 1},
            .grid = {4096 / (1 + i % 7), 1 + i % 32, 1},
        };
        mt_record_event(&dispatch);
    }
    struct mt_rec_encoder_end end = {.word = MT_REC_WORD(MT_REC_ENCODER_END, 0), .encoder = encoder};
    mt_record_event(&end);
}

static void record_submission(uint32_t buffer, uint64_t begin_ns)
{
    mt_record_anchor();
    struct mt_rec_cb_commit commit = {.word = MT_REC_WORD(MT_REC_CB_COMMIT, 0), .command_buffer = buffer};
    uint64_t committed = mt_record_event(&commit);
    struct mt_rec_wait wait = {.word = MT_REC_WORD(MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED),
                               .command_buffer = buffer};
    wait.begin = mt_record_event(&wait);
    struct mt_rec_cb_done done = {
        .word = MT_REC_WORD(MT_REC_CB_DONE, 4),
        .command_buffer = buffer,
        .scheduled = committed,
        .gpu_start_ns = begin_ns,
        .gpu_end_ns = mt_os_clock_ns(),
    };
    mt_record_event(&done);
    wait.word = MT_REC_WORD(MT_REC_WAIT_END, MT_WAIT_COMPLETED);
    mt_record_event(&wait);
}

static void *run_thread(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < work.buffers; i++) {
        uint64_t begin_ns = mt_os_clock_ns();
        uint32_t buffer = mt_record_next(MT_COUNT_COMMAND_BUFFER);
        struct mt_rec_cb_create create = {
            .word = MT_REC_WORD(MT_REC_CB_CREATE, 0), .command_buffer = buffer, .queue = 1};
        mt_record_event(&create);
        record_encoder(buffer, mt_record_next(MT_COUNT_ENCODER));
        record_submission(buffer, begin_ns);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    uint64_t dispatches = count == 4 ? strtoull(arguments[2], NULL, 10) : 0;
    unsigned threads = count == 4 ? (unsigned)strtoul(arguments[3], NULL, 10) : 0, started = 0;
    if (!dispatches || !threads || threads > MOST_THREADS) {
        fprintf(stderr, "usage: make_spool FILE DISPATCHES THREADS\n");
        return 2;
    }
    struct mt_record_setup setup = {.path = arguments[1], .run = 1};
    int rc = mt_record_start(&setup);
    if (rc) {
        fprintf(stderr, "%s: %s\n", arguments[1], strerror(-rc));
        return 1;
    }
    define_objects();
    for (uint32_t i = 1; i <= KERNELS; i++)
        define_kernel(i);
    work.buffers = dispatches / PER_BUFFER / threads;
    pthread_t ids[MOST_THREADS];
    while (started < threads && !pthread_create(&ids[started], NULL, run_thread, NULL))
        started++;
    for (unsigned i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    mt_record_stop();
    printf("{\"dispatches\": %" PRIu64 "}\n", work.buffers * PER_BUFFER * started);
    return started == threads ? 0 : 1;
}
