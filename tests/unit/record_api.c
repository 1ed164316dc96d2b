// SPDX-License-Identifier: MIT
// shows: every kind of record comes back as it went in, texts of all sizes too, and nothing happens when off
// The recorder's functions on one thread, read back from the raw file.
#include "unit/record_support.h"

static const char path[] = "api.mtap";
// Types of events and definitions that hooks write, all of them.
static const uint8_t events[] = {1,  2,  3,  4,  5,  8,  9,  10, 11, 16, 17, 18, 19, 20,
                                 21, 22, 24, 25, 26, 27, 32, 33, 34, 35, 40, 41, 48, 56};
static const uint8_t definitions[] = {129, 130, 131, 132, 133, 134, 135, 136};

static void fill(struct mt_slot slots[2], uint8_t type)
{
    memset(slots, type ^ 0x5a, 2 * sizeof *slots);
    ((struct mt_rec_any *)slots)->word = MT_REC_WORD(type, 0xabc000 + type);
}

static void check_same(struct raw_spool *spool, uint8_t type, uint64_t time)
{
    struct mt_slot expected[2];
    fill(expected, type);
    size_t slots = mt_rec_slots((enum mt_record_type)type, 0);
    struct record_found found = record_find(spool, (enum mt_record_type)type);
    // Threads, anchors and names of threads also come from the recorder: ours is the last.
    const struct mt_slot *got = record_nth(&found, found.count - 1);
    if (!CHECK(!memcmp(got->body, expected->body, slots * sizeof *got - sizeof got->time)) ||
        !CHECK(!time || got->time == time))
        printf("    type %u\n", type);
    free(found.records);
}

static void test_every_type(void)
{
    uint64_t times[sizeof events] = {0}, last = 0;
    CHECK_EQ(record_begin(path, 0), 0);
    for (size_t i = 0; i < sizeof events; i++) {
        struct mt_slot slots[2];
        fill(slots, events[i]);
        times[i] = mt_record_event(slots);
        CHECK(times[i] >= last && times[i]);
        last = times[i];
    }
    for (size_t i = 0; i < sizeof definitions; i++) {
        struct mt_slot slots[2];
        fill(slots, definitions[i]);
        mt_record_define(slots);
    }
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    for (size_t i = 0; i < sizeof events; i++) {
        if (events[i] != MT_REC_ANCHOR) // the last one is from the end
            check_same(&spool, events[i], times[i]);
    }
    for (size_t i = 0; i < sizeof definitions; i++)
        check_same(&spool, definitions[i], 0);
    raw_close(&spool);
}

// Until the helper has prepared segments that nobody takes.
static void wait_for_helper(void)
{
    struct stat status = {0};
    for (int i = 0; i < 5000 && status.st_size < MT_SPOOL_HEADER_BYTES + 4 * MT_SPOOL_SEGMENT_BYTES; i++) {
        usleep(1000);
        stat(path, &status);
    }
    CHECK_INT(status.st_size, >=, MT_SPOOL_HEADER_BYTES + 4 * MT_SPOOL_SEGMENT_BYTES);
}

static void test_header(void)
{
    uint64_t before = mt_os_ticks();
    CHECK_EQ(record_begin(path, 0), 0);
    uint64_t after = mt_os_ticks();
    wait_for_helper();
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    const struct mt_spool_header *header = spool.header;
    CHECK_EQ(header->pid, getpid());
    CHECK_EQ(header->run, 7);
    CHECK(header->start_ticks >= before && header->start_ticks <= after);
    CHECK(header->start_ns && header->start_wall_ns > UINT64_C(1600000000000000000));
    CHECK(header->append_ticks_x1024 > 1024 && header->append_ticks_x1024 < UINT64_C(1) << 30);
    CHECK_EQ(header->state, MT_SPOOL_ENDED);
    CHECK(header->end_ticks > after);
    CHECK_EQ(header->dropped_records, 0);
    CHECK_EQ(header->stalls, 0);
    // What was prepared and not used is gone: there are definitions, events, and the helper's if it took
    // long.
    CHECK_INT(header->segments, <=, 3);
    CHECK_EQ(spool.size, MT_SPOOL_HEADER_BYTES + header->segments * MT_SPOOL_SEGMENT_BYTES);
    struct record_found anchors = record_find(&spool, MT_REC_ANCHOR);
    CHECK_INT(anchors.count, >=, 2);
    const struct mt_rec_anchor *first = record_nth(&anchors, 0), *last = record_nth(&anchors, 1);
    CHECK(first->clock_ns >= header->start_ns && first->width && last->clock_ns > first->clock_ns);
    struct record_found threads = record_find(&spool, MT_REC_THREAD),
                        names = record_find(&spool, MT_REC_THREAD_NAME);
    CHECK_EQ(threads.count, 1);
    const struct mt_rec_thread *thread = record_nth(&threads, 0);
    const struct mt_rec_thread_name *name = record_nth(&names, 0);
    CHECK_EQ(thread->thread, 1);
    CHECK_EQ(thread->os_thread, getpid());
    CHECK_EQ(mt_rec_small(name->word), 1);
    CHECK(raw_string_is(&spool, name->name, "record_api", 10));
    free(anchors.records);
    free(threads.records);
    free(names.records);
    raw_close(&spool);
}

enum { TEXT_BYTES = 200 * 1024 };
static const size_t lengths[] = {
    1, 15, 16, 17, 47, 48, 49, 64 * 1024, MT_SPOOL_MAX_STRING - 1, MT_SPOOL_MAX_STRING};

static void test_texts(void)
{
    static char text[TEXT_BYTES + 1];
    for (size_t i = 0; i < TEXT_BYTES; i++)
        text[i] = (char)(i * 7 + i / 251); // all byte values: mostly not UTF-8
    uint32_t ids[sizeof lengths / sizeof *lengths];
    CHECK_EQ(record_begin(path, 0), 0);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ids[i] = mt_record_string(text, lengths[i]);
        CHECK(ids[i] != 0);
        CHECK_EQ(mt_record_string(text, lengths[i]), ids[i]);
        CHECK(i == 0 || ids[i] != ids[i - 1]);
    }
    CHECK_EQ(mt_record_string(text, 0), 0);
    CHECK_EQ(mt_record_string(NULL, 5), 0);
    uint32_t with_nul = mt_record_string("a\0b", 3);
    CHECK(with_nul != mt_record_string("a\0c", 3));
    // Cut: at a character's edge if it is UTF-8, anywhere if not, and not mixed up with a whole one.
    uint32_t cut_bytes = mt_record_string(text, TEXT_BYTES);
    static char utf8[TEXT_BYTES + 1];
    static const char euro[3] = {(char)0xe2, (char)0x82, (char)0xac};
    for (size_t i = 0; i + 3 <= TEXT_BYTES; i += 3)
        memcpy(utf8 + i, euro, sizeof euro); // 128 KiB is not a multiple of 3
    uint32_t cut_utf8 = mt_record_string(utf8, TEXT_BYTES / 3 * 3);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        CHECK(raw_string_is(&spool, ids[i], text, lengths[i]));
        CHECK_EQ(spool.strings[ids[i]]->length, lengths[i]);
    }
    CHECK(raw_string_is(&spool, with_nul, "a\0b", 3));
    CHECK(cut_bytes != ids[sizeof lengths / sizeof *lengths - 1]);
    CHECK_EQ(spool.strings[cut_utf8]->length, (MT_SPOOL_MAX_STRING / 3 * 3) | MT_STRING_CUT);
    CHECK(spool.strings[cut_bytes]->length & MT_STRING_CUT);
    CHECK_EQ(spool.header->dropped_records, 0);
    raw_close(&spool);
}

// Many texts: the table grows, the stream goes over several segments, ids stay.
static void test_many_texts(void)
{
    enum { TEXTS = 20000 };
    char text[64];
    CHECK_EQ(record_begin(path, 0), 0);
    uint32_t first = mt_record_string("first", 5), wrong = 0;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < TEXTS; i++) {
            size_t length = (size_t)snprintf(text, sizeof text, "a text of some length, number %u", i);
            wrong += mt_record_string(text, length) != first + 1 + i;
        }
    }
    CHECK_EQ(wrong, 0);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    CHECK(spool.segments[3]->kind == MT_SEGMENT_DEFINITIONS && spool.segments[3]->number == 3);
    for (uint32_t i = 0; i < TEXTS; i++) {
        size_t length = (size_t)snprintf(text, sizeof text, "a text of some length, number %u", i);
        wrong += !raw_string_is(&spool, first + 1 + i, text, length);
    }
    CHECK_EQ(wrong, 0);
    raw_close(&spool);
}

// Heads of segments say what held, so that each can be read alone; two slots do not go over an edge.
static void test_segments(void)
{
    enum { RECORDS = 30000 };
    CHECK_EQ(record_begin(path, 0), 0);
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct mt_rec_encoder_begin begin = {
            .word = MT_REC_WORD(MT_REC_ENCODER_BEGIN, 0), .encoder = i + 1, .command_buffer = i + 2};
        struct mt_rec_context context = {
            .word = MT_REC_WORD(MT_REC_CONTEXT, 0), .encoder = i + 3, .command_buffer = i + 4};
        struct mt_rec_cb_done done = {
            .word = MT_REC_WORD(MT_REC_CB_DONE, 4), .command_buffer = i, .error = ~i};
        struct mt_rec_dispatch dispatch = record_dispatch(1, i);
        if (i % 100 == 0)
            mt_record_event(&begin);
        if (i % 100 == 50)
            mt_record_event(&context);
        CHECK(mt_record_event(&done) != 0);
        CHECK(mt_record_event(&dispatch) != 0);
    }
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    struct record_found done = record_find(&spool, MT_REC_CB_DONE);
    struct record_found dispatches = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    CHECK_EQ(spool.problems, 0); // raw_records compares heads with what held
    CHECK_EQ(done.count, RECORDS);
    CHECK_EQ(dispatches.count, RECORDS);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        const struct mt_rec_cb_done *record = record_nth(&done, i);
        wrong += record->command_buffer != i || record->error != ~i;
        wrong += !record_is_dispatch(record_nth(&dispatches, i), 1, i);
        uint32_t encoder = i % 100 < 50 ? i - i % 100 + 1 : i - i % 100 + 53;
        wrong += i < dispatches.count && dispatches.records[i].encoder != encoder;
    }
    CHECK_EQ(wrong, 0);
    CHECK(spool.segments[spool.count - 1]->number >= 10);
    free(done.records);
    free(dispatches.records);
    raw_close(&spool);
}

static void test_when_off(void)
{
    struct mt_rec_dispatch dispatch = record_dispatch(1, 1);
    errno = EXDEV;
    CHECK(!mt_record_on());
    CHECK(mt_record_path() == NULL);
    CHECK_EQ(mt_record_event(&dispatch), 0);
    CHECK_EQ(mt_record_string("abc", 3), 0);
    mt_record_define(&(struct mt_rec_queue){.word = MT_REC_WORD(MT_REC_QUEUE, 1)});
    mt_record_anchor();
    mt_record_stop();
    mt_record_after_fork();
    CHECK_EQ(errno, EXDEV);
}

static void test_starting(void)
{
    uint32_t id = mt_record_next(MT_COUNT_QUEUE);
    CHECK_EQ(mt_record_next(MT_COUNT_QUEUE), id + 1);
    CHECK_EQ(mt_record_next(MT_COUNT_PIPELINE), 1);
    struct mt_record_setup setup = {.path = path};
    unlink(path);
    errno = EXDEV;
    CHECK_EQ(mt_record_start(&setup), 0);
    CHECK_EQ(errno, EXDEV);
    CHECK(mt_record_on());
    CHECK_STR(mt_record_path(), path);
    struct mt_record_setup again = {.path = "other.mtap"};
    CHECK_EQ(mt_record_start(&again), -EBUSY);
    CHECK(access("other.mtap", F_OK) != 0);
    mt_record_stop();
    again.path = path;
    CHECK_EQ(mt_record_start(&again), -EEXIST);
    CHECK(!mt_record_on());
    struct stat status;
    CHECK(!stat(path, &status) && (status.st_mode & 0777) == 0600);
}

// Anchors are not put on record more often than every few milliseconds.
static void test_anchors(void)
{
    CHECK_EQ(record_begin(path, 0), 0);
    uint64_t begin_ns = mt_os_clock_ns(), end_ns;
    do {
        for (int i = 0; i < 100; i++)
            mt_record_anchor();
        end_ns = mt_os_clock_ns();
    } while (end_ns - begin_ns < 60000000);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    struct record_found anchors = record_find(&spool, MT_REC_ANCHOR);
    CHECK_INT(anchors.count, >=, 3);
    CHECK_INT(anchors.count, <=, 4 + (end_ns - begin_ns) / 2000000);
    free(anchors.records);
    raw_close(&spool);
}

int main(void)
{
    test_when_off();
    test_starting();
    test_header();
    test_every_type();
    test_texts();
    test_many_texts();
    test_segments();
    test_anchors();
    test_when_off();
    return test_end();
}
