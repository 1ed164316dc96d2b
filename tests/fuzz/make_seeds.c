// SPDX-License-Identifier: MIT
// Writes the fuzzer's first inputs into a folder: sound spools in both of its forms, small, and made anew
// each time, so that none has to be kept. Usage: make_seeds FOLDER
#define _GNU_SOURCE
#include "unit/spool_maker.h"

#include <errno.h>
#include <sys/stat.h>

enum { SMALL_HEADER = 256, PAGE = 4096 };

static void make_definitions(struct spool_maker *maker)
{
    maker_string(maker, 1, "short");
    maker_string(maker, 2, "a text that takes more than one slot, and then some");
    MAKE(maker, 0, maker_at(1), mt_rec_process, MT_REC_PROCESS, 0, .program = 1, .host = 2);
    MAKE(maker, 0, maker_at(1), mt_rec_text, MT_REC_TEXT, 1, .kind = MT_TEXT_OPTION, .name = 2);
    MAKE(maker, 0, maker_at(1), mt_rec_device, MT_REC_DEVICE, 1, .name = 1);
    MAKE(maker, 0, maker_at(1), mt_rec_queue, MT_REC_QUEUE, 1, .device = 1, .label = 2);
    MAKE(maker, 0, maker_at(1), mt_rec_library, MT_REC_LIBRARY, 1, .name = 1, .begin = maker_at(5));
    MAKE(maker, 0, maker_at(1), mt_rec_function, MT_REC_FUNCTION, 1, .library = 1, .name = 1);
    MAKE(maker, 0, maker_at(1), mt_rec_pipeline, MT_REC_PIPELINE, 1, .function = 1);
    MAKE(maker, 0, maker_at(1), mt_rec_thread_name, MT_REC_THREAD_NAME, 1, .name = 1);
}

static void make_cb(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t cb)
{
    maker_create(maker, stream, ns, cb);
    maker_label(maker, stream, ns + 1, MT_REC_LABEL, MT_OBJECT_COMMAND_BUFFER, cb, 1);
    maker_label(maker, stream, ns + 1, MT_REC_GROUP_PUSH, MT_OBJECT_COMMAND_BUFFER, cb, 2);
    maker_encoder(maker, stream, ns + 2, cb, cb);
    maker_dispatch(maker, stream, ns + 3, 1);
    maker_label(maker, stream, ns + 3, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, cb, 1);
    MAKE(maker, stream, maker_at(ns + 4), mt_rec_sync, MT_REC_SYNC, MT_SYNC_BARRIER_SCOPE, .object = cb);
    MAKE(maker, stream, maker_at(ns + 4), mt_rec_dispatch_wide, MT_REC_DISPATCH_WIDE, 1, .grid = {1, 2, 3});
    maker_label(maker, stream, ns + 5, MT_REC_GROUP_POP, MT_OBJECT_ENCODER, cb, 0);
    MAKE(maker, stream, maker_at(ns + 5), mt_rec_blit, MT_REC_BLIT, 0, .encoder = cb, .bytes = 100);
    MAKE(maker, stream, maker_at(ns + 5), mt_rec_execute, MT_REC_EXECUTE, 0, .encoder = cb, .count = 1);
    maker_encoder_end(maker, stream, ns + 6, cb);
    maker_commit(maker, stream, ns + 7, cb);
    maker_wait(maker, stream, ns + 8, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, cb, 0);
    maker_done(maker, 3, ns + 10, cb, ns + 8, ns + 9);
    maker_wait(maker, stream, ns + 11, MT_REC_WAIT_END, MT_WAIT_COMPLETED, cb, ns + 8);
}

static void make_others(struct spool_maker *maker, uint64_t ns)
{
    MAKE(maker, 3, maker_at(ns), mt_rec_anchor, MT_REC_ANCHOR, 0, .clock_ns = MAKER_START_NS + ns,
         .width = 9);
    MAKE(maker, 3, maker_at(ns + 1), mt_rec_memory, MT_REC_MEMORY, 1, .bytes = 10, .total = 20);
    MAKE(maker, 3, maker_at(ns + 2), mt_rec_capture, MT_REC_CAPTURE, 1, .event = 1);
    MAKE(maker, 3, maker_at(ns + 3), mt_rec_drop, MT_REC_DROP, 0, .records = 1);
    MAKE(maker, 3, maker_at(ns + 4), mt_rec_thread, MT_REC_THREAD, 0, .thread = 1);
}

// A file's header shortened, and then its segments: what as_file in the fuzzer undoes.
static void write_as_file(struct spool_maker *maker, const char *path)
{
    maker_header(maker)->header_bytes = PAGE;
    size_t body = maker->size - MT_SPOOL_HEADER_BYTES;
    uint8_t *bytes = malloc(1 + SMALL_HEADER + body);
    if (!bytes)
        abort();
    bytes[0] = 'f';
    memcpy(bytes + 1, maker->bytes, SMALL_HEADER);
    memcpy(bytes + 1 + SMALL_HEADER, maker->bytes + MT_SPOOL_HEADER_BYTES, body);
    write_file(path, bytes, 1 + SMALL_HEADER + body);
    free(bytes);
}

// The slots of all segments, each behind its stream, with times of their own.
static void write_as_records(const struct spool_maker *maker, uint8_t mode, const char *path)
{
    enum { OWN_TIME = 64 };
    uint8_t *bytes = malloc(1 + maker->size * 2);
    size_t size = 0;
    if (!bytes)
        abort();
    bytes[size++] = mode;
    for (size_t at = MT_SPOOL_HEADER_BYTES; at < maker->size; at += MAKER_SEGMENT_BYTES) {
        uint8_t stream = (uint8_t)((const struct mt_spool_segment *)(maker->bytes + at))->stream;
        const uint8_t *slot = maker->bytes + at + sizeof(struct mt_spool_segment);
        for (uint32_t i = MT_SPOOL_FIRST_SLOT; i < maker->streams[stream].slot;
             i++, slot += MT_SPOOL_SLOT_BYTES) {
            bytes[size++] = stream | OWN_TIME;
            memcpy(bytes + size, slot, MT_SPOOL_SLOT_BYTES);
            size += MT_SPOOL_SLOT_BYTES;
        }
    }
    write_file(path, bytes, size);
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc != 2 || (mkdir(argv[1], 0755) && errno != EEXIST)) {
        fprintf(stderr, "usage: make_seeds FOLDER\n");
        return 2;
    }
    for (uint8_t number = 0; number < 16; number++) {
        char path[1024];
        struct spool_maker maker;
        maker_begin(&maker, MAKER_SEGMENT_BYTES);
        if (number % 4 != 3)
            make_definitions(&maker);
        for (uint32_t cb = 1; cb <= number; cb++)
            make_cb(&maker, 1 + cb % 2, 100 * cb, cb);
        make_others(&maker, 10000);
        snprintf(path, sizeof path, "%s/records-%u", argv[1], number);
        write_as_records(&maker, number, path);
        snprintf(path, sizeof path, "%s/file-%u", argv[1], number);
        if (number % 4 == 2)
            write_as_file(&maker, path);
        maker_end(&maker);
    }
    return 0;
}
