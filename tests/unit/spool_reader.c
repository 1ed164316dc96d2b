// SPDX-License-Identifier: MIT
// The reader on sound spools: order over streams, runs, context after gaps, definitions, refresh, bounded and
// running spools. One thread; files have no name.
// shows: a sound spool is read whole and in order: many streams, gaps, bounded, cut by a kill, refreshed
#define _GNU_SOURCE
#include "spool/reader.h"
#include "unit/spool_maker.h"
#include "unit/test.h"

#include <errno.h>

struct seen {
    uint64_t time;
    uint32_t stream, index, word;
    bool begins, gap;
    uint32_t thread, encoder, command_buffer;
};
static bool same_seen(const struct seen *one, const struct seen *other)
{
    return one->time == other->time && one->stream == other->stream && one->index == other->index &&
           one->word == other->word && one->begins == other->begins && one->gap == other->gap &&
           one->thread == other->thread && one->encoder == other->encoder &&
           one->command_buffer == other->command_buffer;
}

struct all {
    struct seen *records;
    size_t count, capacity, runs;
    size_t stop_after; // runs; 0: never
};

static uint32_t slots_of(const struct mt_rec_any *record)
{
    uint32_t length;
    memcpy(&length, record->rest, sizeof length);
    return mt_rec_slots(mt_rec_type(record->word), length);
}

static int collect(void *context, const struct mt_spool_stream *from, const struct mt_rec_any *slots,
                   size_t count)
{
    struct all *all = context;
    for (size_t i = 0; i < count; i += slots_of(&slots[i])) {
        if (all->count == all->capacity) {
            all->capacity = all->capacity ? all->capacity * 2 : 256;
            struct seen *records = realloc(all->records, all->capacity * sizeof *records);
            if (!records)
                abort();
            all->records = records;
        }
        all->records[all->count++] = (struct seen){
            .time = slots[i].time,
            .stream = from->stream,
            .index = from->index,
            .word = slots[i].word,
            .begins = from->begins && i == 0,
            .gap = from->gap && i == 0,
            .thread = from->thread,
            .encoder = from->encoder,
            .command_buffer = from->command_buffer,
        };
    }
    all->runs++;
    return all->stop_after && all->runs == all->stop_after ? 77 : 0;
}

static struct mt_spool *open_maker(const struct spool_maker *maker)
{
    struct mt_spool_error error = {""};
    struct mt_spool *spool = NULL;
    int fd = nameless_file(maker->bytes, maker->size);
    if (!CHECK_EQ(mt_spool_open_fd(fd, "made", &spool, &error), 0)) {
        printf("    %s\n", error.text);
        abort();
    }
    close(fd);
    return spool;
}

static struct all read_events(struct mt_spool *spool)
{
    struct all all = {0};
    CHECK_EQ(mt_spool_events(spool, collect, &all), 0);
    return all;
}

static void check_sound(const struct mt_spool *spool)
{
    const struct mt_spool_damage *damage = mt_spool_damage(spool);
    CHECK_EQ(damage->bad_segments, 0);
    CHECK_EQ(damage->bad_records, 0);
    CHECK_EQ(damage->missing_segments, 0);
    CHECK_EQ(damage->cut_bytes, 0);
    CHECK_EQ(damage->lost_segments, 0);
}

static void check_order(const struct all *all)
{
    uint64_t last_of[MAKER_STREAMS] = {0}, last = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct seen *it = &all->records[i];
        if (!CHECK(it->time >= last) || !CHECK(it->time >= last_of[it->stream]))
            return;
        last = last_of[it->stream] = it->time;
    }
}

// Random streams against a plain sort: nothing is lost and all is in order.
static void test_merge(uint32_t streams, size_t count, uint32_t burst)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    maker_string(&maker, 1, "x");
    uint32_t random = streams * 7919 + burst;
    uint64_t time = 10;
    for (size_t i = 0; i < count;) {
        random = random * 1103515245 + 12345;
        uint32_t stream = 1 + (random >> 16) % streams;
        for (uint32_t k = 0; k < burst && i < count; k++, i++) {
            time += random >> 20 & 3;
            if (i % 17 == 0)
                maker_done(&maker, stream, time, (uint32_t)i, 1, 2);
            else
                maker_dispatch(&maker, stream, time, (uint32_t)i);
        }
    }
    struct mt_spool *spool = open_maker(&maker);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, count);
    check_order(&all);
    check_sound(spool);
    // Again and again, with the same result.
    struct all again = read_events(spool);
    CHECK_EQ(again.count, count);
    size_t different = 0;
    for (size_t i = 0; i < count && i < again.count; i++)
        different += !same_seen(&again.records[i], &all.records[i]);
    CHECK_EQ(different, 0);
    CHECK_EQ(mt_spool_records(spool), count);
    if (burst >= 50)
        CHECK(all.runs < count / 10);
    free(all.records);
    free(again.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

static void test_stop(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t i = 0; i < 100; i++)
        maker_dispatch(&maker, 1 + i % 2, 10 + i, i + 1);
    struct mt_spool *spool = open_maker(&maker);
    struct all all = {.stop_after = 3};
    CHECK_EQ(mt_spool_events(spool, collect, &all), 77);
    CHECK_EQ(all.runs, 3);
    all.runs = 0;
    CHECK_EQ(mt_spool_events_of(spool, UINT64_C(1) << MT_REC_DISPATCH_GROUPS, collect, &all), 77);
    CHECK_EQ(all.runs, 3);
    free(all.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

// Equal times in one stream keep their places; a little step back is no damage, a large one is.
static void test_times(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t i = 1; i <= 5; i++)
        maker_dispatch(&maker, 1, 5000000, i);
    maker_dispatch(&maker, 1, 5000000 - 900000, 6); // 0.9 ms back
    maker_dispatch(&maker, 2, 5000000 - 500000, 7);
    maker_dispatch(&maker, 1, 5000001, 8);
    struct mt_spool *spool = open_maker(&maker);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 8);
    check_order(&all);
    check_sound(spool);
    const uint32_t expected[] = {7, 1, 2, 3, 4, 5, 6, 8};
    for (size_t i = 0; i < all.count && i < 8; i++)
        CHECK_EQ(mt_rec_small(all.records[i].word), expected[i]);
    free(all.records);
    mt_spool_close(spool);

    maker_dispatch(&maker, 1, 5000001 - 1000001, 9); // too far back
    maker_dispatch(&maker, 1, 5000002, 10);
    maker_segment(&maker, 1);
    maker_dispatch(&maker, 1, 5000003, 11);
    spool = open_maker(&maker);
    all = read_events(spool);
    CHECK_EQ(all.count, 9); // neither 9 nor 10, but 11
    CHECK_EQ(mt_spool_damage(spool)->bad_records, 1);
    CHECK_EQ(mt_rec_small(all.records[all.count - 1].word), 11);
    CHECK(all.records[all.count - 1].begins && all.records[all.count - 1].gap);
    free(all.records);
    all = read_events(spool);
    CHECK_EQ(mt_spool_damage(spool)->bad_records, 1); // counted once, however often it is read
    free(all.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

// One wild time must cost no more than its own segment.
static void test_wild_time(bool first_of_segment)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    const uint32_t per_segment = MAKER_SEGMENT_BYTES / MT_SPOOL_SLOT_BYTES - MT_SPOOL_FIRST_SLOT;
    for (uint32_t i = 0; i < 4 * per_segment; i++) {
        bool wild = i == per_segment + (first_of_segment ? 0 : 10);
        maker_dispatch(&maker, 1, wild ? UINT64_C(1) << 60 : 1000 + i, i + 1);
    }
    struct mt_spool *spool = open_maker(&maker);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 3 * per_segment + (first_of_segment ? 0 : 10));
    check_order(&all);
    CHECK_EQ(mt_spool_damage(spool)->bad_records, 1);
    free(all.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

// Context from the heads: at a stream's first segment and behind a gap, and nowhere else.
static void test_context(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t s = 0; s < 4; s++) {
        maker.streams[1].thread = 10 + s;
        maker.streams[1].encoder = 20 + s;
        maker.streams[1].command_buffer = 30 + s;
        maker_segment(&maker, 1);
        maker_dispatch(&maker, 1, 100 + s, s + 1);
        maker_dispatch(&maker, 1, 100 + s, s + 1);
        if (s == 1)
            maker.streams[1].next_number++; // number 2 is not there
    }
    maker_header(&maker)->segments++;
    struct mt_spool *spool = open_maker(&maker);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 8);
    CHECK_EQ(mt_spool_damage(spool)->missing_segments, 1);
    for (size_t i = 0; i < all.count; i++) {
        CHECK_EQ(all.records[i].begins, i == 0 || i == 4);
        CHECK_EQ(all.records[i].gap, i == 4);
    }
    CHECK_EQ(all.records[0].thread, 10);
    CHECK_EQ(all.records[4].thread, 12);
    CHECK_EQ(all.records[4].encoder, 22);
    CHECK_EQ(all.records[4].command_buffer, 32);
    free(all.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

// Bounded: the front is missing, and that is no damage.
static void test_bounded(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    maker_string(&maker, 1, "kept");
    maker_header(&maker)->keep_bytes = 1 << 20;
    maker_header(&maker)->overwritten_segments = 41;
    maker_header(&maker)->overwritten_records = 12345;
    maker.streams[1].next_number = 40;
    maker.streams[1].encoder = 9;
    maker.streams[2].next_number = 1;
    for (uint32_t i = 0; i < 300; i++)
        maker_dispatch(&maker, 1 + i % 2, 100 + i, i + 1);
    struct mt_spool *spool = open_maker(&maker);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 300);
    check_sound(spool);
    CHECK(all.records[0].begins && all.records[0].gap);
    CHECK_EQ(all.records[0].encoder, 9);
    free(all.records);
    mt_spool_close(spool);
    // The same front missing without overwriting is damage; so are missing definitions in either case.
    maker_header(&maker)->keep_bytes = maker_header(&maker)->overwritten_segments = 0;
    maker_header(&maker)->segments = 100;
    maker.bytes[MT_SPOOL_HEADER_BYTES + offsetof(struct mt_spool_segment, number)] = 1;
    spool = open_maker(&maker);
    CHECK_EQ(mt_spool_damage(spool)->missing_segments, 100 - 5); // as many as the header counts
    mt_spool_close(spool);
    maker_header(&maker)->segments = 45;
    spool = open_maker(&maker);
    CHECK_EQ(mt_spool_damage(spool)->missing_segments, 40 + 1 + 1); // as many as there are numbers missing
    mt_spool_close(spool);
    maker_end(&maker);
}

// Segments lie in any order in the file, among free places.
static void test_any_order(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t i = 0; i < 2000; i++)
        maker_dispatch(&maker, 1 + i % 3, 100 + i, i + 1);
    size_t places = (maker.size - MT_SPOOL_HEADER_BYTES) / MAKER_SEGMENT_BYTES;
    uint8_t *first = maker.bytes + MT_SPOOL_HEADER_BYTES, *temporary = malloc(MAKER_SEGMENT_BYTES);
    if (!temporary)
        abort();
    for (size_t i = 0; i < places / 2; i++) { // turned around
        uint8_t *a = first + i * MAKER_SEGMENT_BYTES, *b = first + (places - 1 - i) * MAKER_SEGMENT_BYTES;
        memcpy(temporary, a, MAKER_SEGMENT_BYTES);
        memcpy(a, b, MAKER_SEGMENT_BYTES);
        memcpy(b, temporary, MAKER_SEGMENT_BYTES);
    }
    free(temporary);
    // Prepared and never used: a head of kind 0, and nothing but zeros.
    size_t end = maker.size;
    maker_segment(&maker, 1);
    ((struct mt_spool_segment *)(maker.bytes + end))->kind = MT_SEGMENT_FREE;
    maker_reserve(&maker, maker.size + MAKER_SEGMENT_BYTES);
    maker.size += MAKER_SEGMENT_BYTES;
    struct mt_spool *spool = open_maker(&maker);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 2000);
    check_order(&all);
    check_sound(spool);
    free(all.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

static void test_types(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t stream = 1 + i % 3;
        if (i % 10 == 0)
            MAKE(&maker, stream, maker_at(i + 1), mt_rec_anchor, MT_REC_ANCHOR, i, .clock_ns = i);
        else if (i % 10 == 1)
            maker_done(&maker, stream, i + 1, i, 1, 2);
        else
            maker_dispatch(&maker, stream, i + 1, i);
    }
    struct mt_spool *spool = open_maker(&maker);
    struct all all = {0};
    uint64_t types = UINT64_C(1) << MT_REC_ANCHOR | UINT64_C(1) << MT_REC_CB_DONE;
    CHECK_EQ(mt_spool_events_of(spool, types, collect, &all), 0);
    CHECK_EQ(all.count, 200);
    CHECK_EQ(all.runs, 200);
    CHECK_EQ(mt_spool_records(spool), 1000);
    for (size_t i = 0; i < all.count; i++) {
        enum mt_record_type type = mt_rec_type(all.records[i].word);
        CHECK(type == MT_REC_ANCHOR || type == MT_REC_CB_DONE);
        CHECK(i == 0 || all.records[i].stream > all.records[i - 1].stream ||
              all.records[i].time >= all.records[i - 1].time);
    }
    free(all.records);
    mt_spool_close(spool);
    maker_end(&maker);
}

static int count_text(void *context, const struct mt_spool_stream *from, const struct mt_rec_any *slots,
                      size_t count)
{
    size_t *bytes = context;
    CHECK_EQ(from->stream, 0);
    for (size_t i = 0; i < count; i += slots_of(&slots[i])) {
        const struct mt_rec_string *string = (const struct mt_rec_string *)&slots[i];
        const char *text = (const char *)string + offsetof(struct mt_rec_string, text);
        CHECK_EQ(mt_rec_type(string->word), MT_REC_STRING);
        for (uint32_t k = 0; k < string->length; k++)
            if (text[k] != (char)(string->length + k)) {
                CHECK(!"the text is what was written");
                return 0;
            }
        *bytes += string->length;
    }
    return 0;
}

// Texts of every length around the slots' edges, and up to the longest.
static void test_strings(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MT_SPOOL_SEGMENT_BYTES);
    char *text = malloc(MT_SPOOL_MAX_STRING);
    if (!text)
        abort();
    size_t sum = 0;
    uint32_t id = 1;
    for (uint32_t i = 0; i < 220; i++) {
        uint32_t length = i < 200 ? i : MT_SPOOL_MAX_STRING - (219 - i) * (219 - i) * 300;
        for (uint32_t k = 0; k < length; k++)
            text[k] = (char)(length + k);
        maker_string_bytes(&maker, id++, text, length);
        sum += length;
    }
    free(text);
    maker_dispatch(&maker, 1, 1, 1);
    struct mt_spool *spool = open_maker(&maker);
    size_t bytes = 0;
    CHECK_EQ(mt_spool_definitions(spool, count_text, &bytes), 0);
    CHECK_EQ(bytes, sum);
    CHECK_EQ(mt_spool_records(spool), id - 1);
    check_sound(spool);
    mt_spool_close(spool);
    maker_end(&maker);
}

// A running program's spool grows; the reader sees it after a refresh.
static void test_refresh(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    maker_header(&maker)->state = MT_SPOOL_RUNNING;
    maker_dispatch(&maker, 1, 1, 1);
    int fd = nameless_file(maker.bytes, maker.size);
    struct mt_spool *spool;
    CHECK_EQ(mt_spool_open_fd(fd, "growing", &spool, NULL), 0);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 1);
    free(all.records);
    for (uint32_t i = 0; i < 500; i++)
        maker_dispatch(&maker, 1 + i % 2, 2 + i, 1);
    maker_header(&maker)->state = MT_SPOOL_ENDED;
    maker_header(&maker)->end_ticks = maker_at(1000);
    CHECK_EQ(pwrite(fd, maker.bytes, maker.size, 0), maker.size);
    CHECK_EQ(mt_spool_refresh(spool), 0);
    CHECK_EQ(mt_spool_header(spool)->state, MT_SPOOL_ENDED);
    all = read_events(spool);
    CHECK_EQ(all.count, 501);
    check_sound(spool);
    free(all.records);
    CHECK_STR(mt_spool_name(spool), "growing");
    mt_spool_close(spool);
    close(fd);
    maker_end(&maker);
}

// Overwritten between opening and reading: what is there belongs to somebody else now.
static void test_overwritten_while_read(void)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    maker_header(&maker)->state = MT_SPOOL_RUNNING;
    maker_header(&maker)->keep_bytes = 1 << 20;
    for (uint32_t i = 0; i < 500; i++)
        maker_dispatch(&maker, 1, 1 + i, 1);
    int fd = nameless_file(maker.bytes, maker.size);
    struct mt_spool *spool;
    CHECK_EQ(mt_spool_open_fd(fd, "bounded", &spool, NULL), 0);
    uint64_t use = 2;
    CHECK_EQ(pwrite(fd, &use, sizeof use,
                    MT_SPOOL_HEADER_BYTES + MAKER_SEGMENT_BYTES + offsetof(struct mt_spool_segment, use)),
             sizeof use);
    struct all all = read_events(spool);
    CHECK_EQ(all.count, 500 - 126);
    CHECK_EQ(mt_spool_damage(spool)->lost_segments, 1);
    CHECK(all.records[126].gap);
    free(all.records);
    mt_spool_close(spool);
    close(fd);
    maker_end(&maker);
}

int main(void)
{
    test_merge(1, 5000, 1);
    test_merge(2, 5000, 1);
    test_merge(3, 5000, 7);
    test_merge(60, 20000, 1);
    test_merge(60, 20000, 50);
    test_stop();
    test_times();
    test_wild_time(false);
    test_wild_time(true);
    test_context();
    test_bounded();
    test_any_order();
    test_types();
    test_strings();
    test_refresh();
    test_overwritten_while_read();
    return test_end();
}
