// SPDX-License-Identifier: MIT
// Makes spools for tests from lists of records, as the recorder would, in memory and then in a file. Small
// segments (4 KiB) keep them small; the reader takes the size from the header. Aborts when there is no
// memory. Used by unit tests, by the fuzzer and its seeds.
#ifndef TESTS_UNIT_SPOOL_MAKER_H
#define TESTS_UNIT_SPOOL_MAKER_H

#include "spool/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAKER_STREAMS = 64,
    MAKER_SEGMENT_BYTES = 4096,
    MAKER_START_TICKS = 1000000,
    MAKER_START_NS = 5000000
};

struct spool_maker {
    uint8_t *bytes; // header and segments
    size_t size, capacity;
    struct {
        size_t segment;       // offset of the one under way, 0: none
        uint32_t slot;        // next in it
        uint32_t next_number; // of a segment
        uint32_t thread;      // what new heads say
        uint32_t encoder, command_buffer;
    } streams[MAKER_STREAMS];
};

static inline struct mt_spool_header *maker_header(struct spool_maker *maker)
{
    return (struct mt_spool_header *)maker->bytes;
}

static inline void maker_reserve(struct spool_maker *maker, size_t size)
{
    if (size <= maker->capacity)
        return;
    size_t capacity = size + size / 2;
    uint8_t *bytes = realloc(maker->bytes, capacity);
    if (!bytes)
        abort();
    memset(bytes + maker->capacity, 0, capacity - maker->capacity);
    maker->bytes = bytes;
    maker->capacity = capacity;
}

// A counter of 1 GHz, so that ticks and nanoseconds are the same as long as no anchor says otherwise.
static inline void maker_begin(struct spool_maker *maker, uint32_t segment_bytes)
{
    *maker = (struct spool_maker){0};
    maker_reserve(maker, MT_SPOOL_HEADER_BYTES);
    maker->size = MT_SPOOL_HEADER_BYTES;
    *maker_header(maker) = (struct mt_spool_header){
        .version = MT_SPOOL_VERSION,
        .byte_order = MT_SPOOL_BYTE_ORDER,
        .header_bytes = MT_SPOOL_HEADER_BYTES,
        .segment_bytes = segment_bytes,
        .slot_bytes = MT_SPOOL_SLOT_BYTES,
        .pid = 4321,
        .start_ticks = MAKER_START_TICKS,
        .start_ns = MAKER_START_NS,
        .start_wall_ns = UINT64_C(1700000000000000000),
        .ticks_per_second = 1000000000,
        .state = MT_SPOOL_ENDED,
    };
    memcpy(maker_header(maker)->magic, MT_SPOOL_MAGIC, sizeof maker_header(maker)->magic);
}

static inline void maker_end(struct spool_maker *maker)
{
    free(maker->bytes);
    maker->bytes = NULL;
}

static inline void maker_close_segment(struct spool_maker *maker, uint32_t stream)
{
    size_t old = maker->streams[stream].segment;
    if (old)
        ((struct mt_spool_segment *)(maker->bytes + old))->closed = 1;
    maker->streams[stream].segment = 0;
}

// Begins a new segment of a stream; the one before is closed.
static inline void maker_segment(struct spool_maker *maker, uint32_t stream)
{
    maker_close_segment(maker, stream);
    uint32_t bytes = maker_header(maker)->segment_bytes;
    size_t offset = maker->size;
    maker_reserve(maker, offset + bytes);
    maker->size += bytes;
    *(struct mt_spool_segment *)(maker->bytes + offset) = (struct mt_spool_segment){
        .magic = MT_SPOOL_SEGMENT_MAGIC,
        .kind = stream ? MT_SEGMENT_EVENTS : MT_SEGMENT_DEFINITIONS,
        .stream = stream,
        .number = maker->streams[stream].next_number++,
        .use = 1,
        .thread = maker->streams[stream].thread,
        .encoder = maker->streams[stream].encoder,
        .command_buffer = maker->streams[stream].command_buffer,
    };
    maker->streams[stream].segment = offset;
    maker->streams[stream].slot = MT_SPOOL_FIRST_SLOT;
    maker_header(maker)->segments++;
}

// Appends a record of `bytes` bytes, at `ticks` (0 keeps the record's own time).
static inline void maker_put(struct spool_maker *maker, uint32_t stream, uint64_t ticks, const void *record,
                             size_t bytes)
{
    uint32_t slots = (uint32_t)((bytes + MT_SPOOL_SLOT_BYTES - 1) / MT_SPOOL_SLOT_BYTES);
    uint32_t segment_slots = maker_header(maker)->segment_bytes / MT_SPOOL_SLOT_BYTES;
    if (!maker->streams[stream].segment || maker->streams[stream].slot + slots > segment_slots)
        maker_segment(maker, stream);
    uint8_t *to = maker->bytes + maker->streams[stream].segment +
                  (size_t)maker->streams[stream].slot * MT_SPOOL_SLOT_BYTES;
    memcpy(to, record, bytes);
    if (ticks)
        memcpy(to, &ticks, sizeof ticks);
    maker->streams[stream].slot += slots;
}

// MAKE(maker, stream, ticks, mt_rec_cb_create, MT_REC_CB_CREATE, 0, .command_buffer = 1)
#define MAKE(maker, stream, ticks, struct_name, type, small, ...)                                            \
    maker_put(maker, stream, ticks, &(struct struct_name){.word = MT_REC_WORD(type, small), __VA_ARGS__},    \
              sizeof(struct struct_name))

// Ticks of a moment `ns` after the start, with the counter of maker_begin.
static inline uint64_t maker_at(uint64_t ns)
{
    return MAKER_START_TICKS + ns;
}

static inline void maker_string_bytes(struct spool_maker *maker, uint32_t id, const void *text,
                                      uint32_t length)
{
    size_t bytes = offsetof(struct mt_rec_string, text) + length;
    struct mt_rec_string *record = calloc(1, bytes + sizeof *record);
    if (!record)
        abort();
    record->word = MT_REC_WORD(MT_REC_STRING, id);
    record->length = length;
    memcpy((char *)record + offsetof(struct mt_rec_string, text), text, length);
    maker_put(maker, 0, maker_at(0), record, bytes < sizeof *record ? sizeof *record : bytes);
    free(record);
}

static inline void maker_string(struct spool_maker *maker, uint32_t id, const char *text)
{
    maker_string_bytes(maker, id, text, (uint32_t)strlen(text));
}

// ---- records that most tests need ----

static inline void maker_create(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t cb)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_cb_create, MT_REC_CB_CREATE, 0, .command_buffer = cb,
         .queue = 1);
}

static inline void maker_commit(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t cb)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_cb_commit, MT_REC_CB_COMMIT, 0, .command_buffer = cb,
         .allocated_bytes = 4096);
}

// GPU times are given as nanoseconds since the start.
static inline void maker_done(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t cb,
                              uint64_t gpu_start, uint64_t gpu_end)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_cb_done, MT_REC_CB_DONE, 4, .command_buffer = cb,
         .scheduled = maker_at(gpu_start), .gpu_start_ns = MAKER_START_NS + gpu_start,
         .gpu_end_ns = MAKER_START_NS + gpu_end);
}

static inline void maker_encoder(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t encoder,
                                 uint32_t cb)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_encoder_begin, MT_REC_ENCODER_BEGIN, 0, .encoder = encoder,
         .command_buffer = cb);
}

static inline void maker_encoder_end(struct spool_maker *maker, uint32_t stream, uint64_t ns,
                                     uint32_t encoder)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_encoder_end, MT_REC_ENCODER_END, 0, .encoder = encoder);
}

static inline void maker_context(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t encoder,
                                 uint32_t cb)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_context, MT_REC_CONTEXT, 0, .encoder = encoder,
         .command_buffer = cb);
}

static inline void maker_dispatch(struct spool_maker *maker, uint32_t stream, uint64_t ns, uint32_t pipeline)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_dispatch, MT_REC_DISPATCH_GROUPS, pipeline,
         .threadgroup = {32, 1, 1}, .grid = {pipeline, 2, 3});
}

static inline void maker_label(struct spool_maker *maker, uint32_t stream, uint64_t ns,
                               enum mt_record_type type, enum mt_object_kind kind, uint32_t object,
                               uint32_t string)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_label, type, string, .kind = kind, .object = object);
}

static inline void maker_wait(struct spool_maker *maker, uint32_t stream, uint64_t ns,
                              enum mt_record_type type, enum mt_wait_kind kind, uint32_t cb,
                              uint64_t begin_ns)
{
    MAKE(maker, stream, maker_at(ns), mt_rec_wait, type, kind, .command_buffer = cb,
         .begin = type == MT_REC_WAIT_END ? maker_at(begin_ns) : 0);
}

// ---- files ----

static inline int write_bytes(int fd, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t n = write(fd, (const char *)bytes + done, count - done);
        if (n <= 0)
            return -1;
        done += (size_t)n;
    }
    return 0;
}

// The first `size` bytes; aborts if that does not work, since a test makes no sense then.
static inline void write_file(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (fd < 0 || write_bytes(fd, bytes, size) || close(fd)) {
        perror(path);
        abort();
    }
}

static inline void maker_write(const struct spool_maker *maker, const char *path)
{
    write_file(path, maker->bytes, maker->size);
}

// A file without a name that holds these bytes, for mt_spool_open_fd.
static inline int nameless_file(const void *bytes, size_t size)
{
    char path[512];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/spool-XXXXXX", folder ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0 || unlink(path) || write_bytes(fd, bytes, size)) {
        perror(path);
        abort();
    }
    return fd;
}

#endif
