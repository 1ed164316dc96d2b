// SPDX-License-Identifier: MIT
// Damaged spools: cut, flipped, filled with garbage, with giant claims. Each ends with an error that says
// what is wrong or with the damage counted, and what is sound is still read. One thread; run under sanitizers
// too. shows: cut, flipped, empty, oversized and forged spools give an error or counted damage, and take no
// memory
#define _GNU_SOURCE
#include "unit/spool_exercise.h"
#include "unit/spool_maker.h"
#include "unit/test.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { DISPATCHES = 600 };

// A spool with something of everything.
static void make_sample(struct spool_maker *maker)
{
    maker_begin(maker, MAKER_SEGMENT_BYTES);
    maker_header(maker)->end_ticks = maker_at(100000);
    for (uint32_t i = 1; i <= 40; i++) {
        char text[128];
        snprintf(text, sizeof text, "text number %u %.*s", i, (int)i * 2,
                 "----------------------------------------------------------------------------------");
        maker_string(maker, i, text);
    }
    MAKE(maker, 0, maker_at(1), mt_rec_process, MT_REC_PROCESS, 0, .program = 1, .host = 2);
    MAKE(maker, 0, maker_at(1), mt_rec_text, MT_REC_TEXT, 3, .kind = MT_TEXT_OPTION, .name = 4);
    MAKE(maker, 0, maker_at(2), mt_rec_device, MT_REC_DEVICE, 1, .name = 5);
    MAKE(maker, 0, maker_at(3), mt_rec_queue, MT_REC_QUEUE, 1, .device = 1, .label = 6);
    MAKE(maker, 0, maker_at(4), mt_rec_library, MT_REC_LIBRARY, 1, .name = 7, .begin = maker_at(1));
    MAKE(maker, 0, maker_at(5), mt_rec_function, MT_REC_FUNCTION, 1, .library = 1, .name = 8);
    MAKE(maker, 0, maker_at(6), mt_rec_pipeline, MT_REC_PIPELINE, 1, .function = 1, .name = 9);
    MAKE(maker, 0, maker_at(7), mt_rec_thread_name, MT_REC_THREAD_NAME, 1, .name = 10);
    for (uint32_t stream = 1; stream <= 2; stream++)
        MAKE(maker, stream, maker_at(8), mt_rec_thread, MT_REC_THREAD, 0, .thread = stream);
    for (uint32_t i = 0; i < DISPATCHES; i++) {
        uint32_t stream = 1 + i / 7 % 2, cb = 1 + i / 10;
        uint64_t ns = 100 + i * 10;
        if (i % 10 == 0) {
            maker_create(maker, stream, ns, cb);
            maker_label(maker, stream, ns, MT_REC_LABEL, MT_OBJECT_COMMAND_BUFFER, cb, 1 + i % 40);
            maker_encoder(maker, stream, ns, cb, cb);
            maker_label(maker, stream, ns, MT_REC_GROUP_PUSH, MT_OBJECT_ENCODER, cb, 1 + i % 39);
        }
        maker_context(maker, stream, ns + 1, cb, cb);
        maker_dispatch(maker, stream, ns + 2, 1);
        if (i % 10 == 9) {
            maker_encoder_end(maker, stream, ns + 3, cb);
            maker_commit(maker, stream, ns + 4, cb);
            maker_wait(maker, stream, ns + 5, MT_REC_WAIT_BEGIN, MT_WAIT_COMPLETED, cb, 0);
            maker_done(maker, 3, ns + 7, cb, ns + 5, ns + 6);
            maker_wait(maker, stream, ns + 8, MT_REC_WAIT_END, MT_WAIT_COMPLETED, cb, ns + 5);
            MAKE(maker, 3, maker_at(ns + 9), mt_rec_anchor, MT_REC_ANCHOR, 0,
                 .clock_ns = MAKER_START_NS + ns + 9);
        }
    }
}

static struct exercise exercise_bytes(const void *bytes, size_t size)
{
    int fd = nameless_file(bytes, size);
    struct exercise it = exercise_spool(fd, false);
    close(fd);
    CHECK(!it.disorder);
    CHECK(!it.status || it.text[0]);
    return it;
}

static bool is_damaged(const struct exercise *it)
{
    static const struct mt_spool_damage none;
    return memcmp(&it->damage, &none, sizeof none) != 0;
}

// An error with this code and with this in its text.
static void check_error(const void *bytes, size_t size, int code, const char *part)
{
    struct exercise it = exercise_bytes(bytes, size);
    CHECK_EQ(it.status, code);
    CHECK_HAS(it.text, part);
    CHECK_HAS(it.text, "spool: ");
}

static void test_not_ours(struct spool_maker *sample)
{
    struct mt_spool_header *header = maker_header(sample), sound = *header;
    check_error("", 0, -ENODATA, "empty");
    check_error("\177ELF and more", 13, -EINVAL, "not a metaltap spool (begins with 7f 45 4c 46");
    check_error("met", 3, -EINVAL, "not a metaltap spool (begins with 6d 65 74)");
    check_error(header, 8, -ENODATA, "cut short after 8 bytes");
    check_error(header, sizeof *header - 1, -ENODATA, "inside its header");
    check_error(header, sizeof *header, -ENODATA, "only a header");
    check_error(header, MT_SPOOL_HEADER_BYTES, -ENODATA, "only a header");
    check_error(header, MT_SPOOL_HEADER_BYTES + 63, -ENODATA, "only a header");
    header->version = MT_SPOOL_VERSION + 1;
    check_error(header, sample->size, -EPROTO, "version 2");
    header->version = 0;
    check_error(header, sample->size, -EPROTO, "version 0");
    *header = sound;
    header->byte_order = __builtin_bswap32(header->byte_order);
    check_error(header, sample->size, -EPROTO, "byte order");
    header->byte_order = 7;
    check_error(header, sample->size, -EINVAL, "damaged");
    *header = sound;
    const uint32_t sizes[] = {0, 1, 2048, 4097, 12288, 1U << 27, 1U << 31, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        header->segment_bytes = sizes[i];
        check_error(header, sample->size, -EINVAL, "damaged");
        *header = sound;
        header->header_bytes = sizes[i];
        check_error(header, sample->size, -EINVAL, "damaged");
        *header = sound;
    }
    header->slot_bytes = 64;
    check_error(header, sample->size, -EINVAL, "slots of 64");
    *header = sound;
}

static void test_paths(void)
{
    struct mt_spool_error error;
    struct mt_spool *spool = (struct mt_spool *)&error;
    CHECK_EQ(mt_spool_open("/nonexistent/a.mtap", &spool, &error), -ENOENT);
    CHECK_HAS(error.text, "/nonexistent/a.mtap: cannot be opened: No such file");
    CHECK(spool == NULL);
    CHECK_EQ(mt_spool_open("/", &spool, &error), -EINVAL);
    CHECK_HAS(error.text, "not a regular file");
    CHECK_EQ(mt_spool_open("/dev/null", &spool, &error), -EINVAL);
    CHECK_EQ(mt_spool_open("/dev/null", &spool, NULL), -EINVAL);
    CHECK_EQ(mt_spool_open_fd(-1, "none", &spool, &error), -EBADF);
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(mt_spool_open_fd(ends[0], "pipe", &spool, &error), -EINVAL);
    CHECK_HAS(error.text, "pipe: not a regular file");
    close(ends[0]);
    close(ends[1]);
    mt_spool_close(NULL);
    mt_model_close(NULL);
}

// Cut at every edge of a page and around the edges of slots: never more than before, and always told.
static void test_cut(const struct spool_maker *sample)
{
    struct exercise whole = exercise_bytes(sample->bytes, sample->size);
    CHECK_EQ(whole.status, 0);
    CHECK(!is_damaged(&whole));
    CHECK(whole.rows > DISPATCHES);
    uint64_t before = 0;
    for (size_t size = MT_SPOOL_HEADER_BYTES + 96; size < sample->size; size += 4096 / 8 + 5) {
        struct exercise it = exercise_bytes(sample->bytes, size);
        CHECK_EQ(it.status, 0);
        CHECK(is_damaged(&it));
        CHECK_EQ(it.damage.cut_bytes,
                 (MAKER_SEGMENT_BYTES - (size - MT_SPOOL_HEADER_BYTES) % MAKER_SEGMENT_BYTES) %
                     MAKER_SEGMENT_BYTES);
        CHECK(it.records >= before && it.records <= whole.records);
        before = it.records;
    }
    for (size_t size = MT_SPOOL_HEADER_BYTES + 4096; size < sample->size; size += 4096) {
        struct exercise it = exercise_bytes(sample->bytes, size);
        CHECK_EQ(it.status, 0);
        CHECK_EQ(it.damage.cut_bytes, 0);
        CHECK_INT(it.damage.missing_segments, >=, (sample->size - size) / 4096);
    }
}

static void test_flipped_header(struct spool_maker *sample)
{
    struct exercise whole = exercise_bytes(sample->bytes, sample->size);
    for (size_t bit = 0; bit < sizeof(struct mt_spool_header) * 8; bit++) {
        sample->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        struct exercise it = exercise_bytes(sample->bytes, sample->size);
        size_t at = bit / 8;
        // Whatever decides how the file is read gives an error; the rest is information.
        if (at < offsetof(struct mt_spool_header, header_bytes))
            CHECK(it.status);
        else if (at >= offsetof(struct mt_spool_header, pid))
            CHECK(!it.status && it.records <= whole.records);
        else
            CHECK(it.status || it.records != whole.records || is_damaged(&it));
        sample->bytes[at] ^= (uint8_t)(1 << bit % 8);
    }
}

static void test_flipped_heads(struct spool_maker *sample)
{
    struct exercise whole = exercise_bytes(sample->bytes, sample->size);
    size_t places = (sample->size - MT_SPOOL_HEADER_BYTES) / MAKER_SEGMENT_BYTES;
    for (size_t place = 0; place < places; place++)
        for (size_t bit = 0; bit < offsetof(struct mt_spool_segment, use) * 8; bit++) {
            size_t at = MT_SPOOL_HEADER_BYTES + place * MAKER_SEGMENT_BYTES + bit / 8;
            sample->bytes[at] ^= (uint8_t)(1 << bit % 8);
            struct exercise it = exercise_bytes(sample->bytes, sample->size);
            CHECK_EQ(it.status, 0);
            // A stream of its own, or a number that comes later, can be read as well: nothing tells.
            CHECK(it.records <= whole.records);
            CHECK(it.records == whole.records || is_damaged(&it));
            sample->bytes[at] ^= (uint8_t)(1 << bit % 8);
        }
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void test_garbage(const struct spool_maker *sample)
{
    uint8_t *bytes = malloc(sample->size);
    if (!bytes)
        abort();
    uint32_t random = 12345;
    for (int round = 0; round < 1500; round++) {
        memcpy(bytes, sample->bytes, sample->size);
        uint32_t changes = 1 + next_random(&random) % 40;
        for (uint32_t i = 0; i < changes; i++) {
            size_t at =
                MT_SPOOL_HEADER_BYTES + next_random(&random) % (sample->size - MT_SPOOL_HEADER_BYTES - 64);
            uint32_t value = next_random(&random);
            switch (round % 4) {
            case 0: // a bit
                bytes[at] ^= (uint8_t)(1 << value % 8);
                break;
            case 1: // a word
                memcpy(bytes + at, &value, sizeof value);
                break;
            case 2: // the type of a record
                bytes[at / 32 * 32 + 8] = (uint8_t)value;
                break;
            default: // a slot that lies elsewhere
                memcpy(bytes + at / 32 * 32, sample->bytes + MT_SPOOL_HEADER_BYTES + value % 5000 / 32 * 32,
                       32);
            }
        }
        exercise_bytes(bytes, sample->size);
    }
    for (size_t i = MT_SPOOL_HEADER_BYTES; i < sample->size; i++)
        bytes[i] = (uint8_t)next_random(&random);
    check_error(bytes, sample->size, -EINVAL, "segments can be read");
    // Heads as they were and nothing but garbage in between.
    for (size_t i = MT_SPOOL_HEADER_BYTES; i < sample->size; i += MAKER_SEGMENT_BYTES)
        memcpy(bytes + i, sample->bytes + i, sizeof(struct mt_spool_segment));
    memcpy(bytes, sample->bytes, MT_SPOOL_HEADER_BYTES);
    struct exercise it = exercise_bytes(bytes, sample->size);
    CHECK_EQ(it.status, 0);
    CHECK_INT(it.damage.bad_records, >=, 1);
    free(bytes);
}

static void test_records(void)
{
    const struct {
        uint32_t type, slot; // slot: of the segment
        bool bad;
    } cases[] = {
        {MT_REC_DISPATCH_GROUPS, 127, false},
        {MT_REC_CB_DONE, 126, false},
        {MT_REC_CB_DONE, 127, true},
        {MT_REC_DISPATCH_WIDE, 127, true},
        {MT_REC_NONE, 5, true},
        {7, 5, true},
        {63, 5, true},
        {MT_REC_STRING, 5, true},
        {MT_REC_PIPELINE, 5, true},
        {255, 5, true},
        {64 + 1, 5, true},
        {MT_REC_CAPTURE, 5, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spool_maker maker;
        maker_begin(&maker, MAKER_SEGMENT_BYTES);
        for (uint32_t slot = MT_SPOOL_FIRST_SLOT; slot < 300; slot++)
            maker_dispatch(&maker, 1, slot, 1);
        uint8_t *at = maker.bytes + MT_SPOOL_HEADER_BYTES + (size_t)cases[i].slot * 32;
        at[8] = (uint8_t)cases[i].type;
        struct exercise it = exercise_bytes(maker.bytes, maker.size);
        CHECK_EQ(it.status, 0);
        CHECK_EQ(it.damage.bad_records, cases[i].bad);
        if (cases[i].bad)
            CHECK_EQ(it.records, 298 - 126 + cases[i].slot - MT_SPOOL_FIRST_SLOT);
        maker_end(&maker);
    }
}

// Strings whose length leads out of the segment, or is more than any string can have though it would fit.
static void test_string_lengths(void)
{
    const uint32_t lengths[] = {MT_SPOOL_MAX_STRING + 1, UINT32_MAX, UINT32_MAX >> 1,
                                1U << 31 | 5000,         4096,       100000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct spool_maker maker;
        maker_begin(&maker, i == 0 ? MT_SPOOL_SEGMENT_BYTES : MAKER_SEGMENT_BYTES);
        maker_string(&maker, 1, "sound");
        struct mt_rec_string wrong = {.word = MT_REC_WORD(MT_REC_STRING, 2), .length = lengths[i]};
        maker_put(&maker, 0, maker_at(1), &wrong, sizeof wrong);
        maker_segment(&maker, 0);
        maker_string(&maker, 3, "sound too");
        struct exercise it = exercise_bytes(maker.bytes, maker.size);
        CHECK_EQ(it.status, 0);
        CHECK_EQ(it.records, 2);
        CHECK_EQ(it.damage.bad_records, 1);
        maker_end(&maker);
    }
}

static void test_segment_claims(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t i = 0; i < 500; i++)
        maker_dispatch(&maker, 1, 1 + i, 1);
    struct mt_spool_segment *second =
        (struct mt_spool_segment *)(maker.bytes + MT_SPOOL_HEADER_BYTES + MAKER_SEGMENT_BYTES);
    struct mt_spool_segment sound = *second;
    second->number = 0; // twice the same
    struct exercise it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.damage.bad_segments, 1);
    CHECK_EQ(it.damage.missing_segments, 1);
    CHECK_EQ(it.records, 500 - 126);
    *second = sound;
    second->number = UINT32_MAX; // more than the file can have
    it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.damage.bad_segments, 1);
    second->stream = UINT32_MAX;
    second->number = 0;
    it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.damage.bad_segments, 0);
    CHECK_EQ(it.records, 500);
    *second = sound;
    second->stream = 0; // definitions that are events
    it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.damage.bad_segments, 1);
    *second = sound;
    second->kind = MT_SEGMENT_DEFINITIONS;
    it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.damage.bad_segments, 1);
    *second = sound;
    memset(&maker_header(&maker)->state, 0xff,
           sizeof(struct mt_spool_header) - offsetof(struct mt_spool_header, state));
    it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.status, 0);
    CHECK_EQ(it.records, 500);
    CHECK(is_damaged(&it));
    maker_end(&maker);
}

// A file may claim any size by being full of holes: that takes neither time nor memory.
static void test_oversized(const struct spool_maker *sample)
{
    int fd = nameless_file(sample->bytes, sample->size);
    const off_t sizes[] = {(off_t)1 << 33, (off_t)1 << 40, (off_t)1 << 43};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (ftruncate(fd, sizes[i]))
            break; // this file system has a limit
        struct exercise it = exercise_spool(fd, false);
        CHECK_EQ(it.status, 0);
        CHECK(it.rows > DISPATCHES);
    }
    // A segment at the far end is found.
    CHECK_EQ(ftruncate(fd, 0), 0);
    CHECK_EQ(pwrite(fd, sample->bytes, sample->size, 0), sample->size);
    struct mt_spool_segment far = {
        .magic = MT_SPOOL_SEGMENT_MAGIC, .kind = MT_SEGMENT_EVENTS, .stream = 9, .number = 0, .use = 1};
    struct mt_rec_any record = {.time = maker_at(1), .word = MT_REC_DISPATCH_GROUPS};
    off_t at = MT_SPOOL_HEADER_BYTES + ((off_t)1 << 40);
    CHECK_EQ(pwrite(fd, &far, sizeof far, at), sizeof far);
    CHECK_EQ(pwrite(fd, &record, sizeof record, at + (off_t)sizeof far), sizeof record);
    struct exercise whole = exercise_bytes(sample->bytes, sample->size), it = exercise_spool(fd, false);
    CHECK_EQ(it.records, whole.records + 1);
    close(fd);
}

// The file gets shorter after it was opened: an error, no signal.
static void test_shrinking(const struct spool_maker *sample)
{
    int fd = nameless_file(sample->bytes, sample->size);
    struct mt_spool *spool;
    struct mt_spool_error error = {""};
    CHECK_EQ(mt_spool_open_fd(fd, "shrinking", &spool, &error), 0);
    CHECK_EQ(ftruncate(fd, MT_SPOOL_HEADER_BYTES + MAKER_SEGMENT_BYTES + 1000), 0);
    struct exercise it = {0};
    CHECK_EQ(mt_spool_events(spool, touch_slots, &it), -EIO);
    struct mt_model *model;
    CHECK_EQ(mt_model_open(spool, &model, &error), -EIO);
    CHECK(model == NULL);
    CHECK_HAS(error.text, "shrinking: reading failed after ");
    CHECK_EQ(ftruncate(fd, 10), 0);
    CHECK_EQ(mt_spool_refresh(spool), -ENODATA);
    mt_spool_close(spool);
    close(fd);
}

// Each segment a stream of its own: many streams at once.
static void test_many_streams(void)
{
    enum { STREAMS = 3000, RECORDS = 60 };
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t stream = 1; stream <= STREAMS; stream++) {
        maker.streams[1].next_number = 0;
        maker_segment(&maker, 1);
        ((struct mt_spool_segment *)(maker.bytes + maker.streams[1].segment))->stream = stream * 5;
        for (uint32_t i = 0; i < RECORDS; i++)
            maker_dispatch(&maker, 1, 1 + i * 7 + stream % 7, 1);
    }
    struct exercise it = exercise_bytes(maker.bytes, maker.size);
    CHECK_EQ(it.status, 0);
    CHECK_EQ(it.records, STREAMS * RECORDS);
    CHECK(!is_damaged(&it));
    maker_end(&maker);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MEMORY_IS_NOT_OURS
#endif
#endif

int main(void)
{
    struct spool_maker sample;
    make_sample(&sample);
    test_paths();
    test_not_ours(&sample);
    test_cut(&sample);
    test_flipped_header(&sample);
    test_flipped_heads(&sample);
    test_garbage(&sample);
    test_records();
    test_string_lengths();
    test_segment_claims();
    test_oversized(&sample);
    test_shrinking(&sample);
#ifndef MEMORY_IS_NOT_OURS
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    CHECK_INT(usage.ru_maxrss, <, 24 * 1024); // the program itself, and no claim of any file
#endif
    test_many_streams();
    maker_end(&sample);
    return test_end();
}
