// SPDX-License-Identifier: MIT
// Reads a spool for tests of the recorder, from docs/FORMAT.md and nothing else, so that the recorder is not
// judged by the reader of the product. Strict: whatever is not as the format says is counted as a problem and
// printed. One thread.
#ifndef TESTS_LIB_RAW_SPOOL_H
#define TESTS_LIB_RAW_SPOOL_H

#include "spool/format.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RAW_TICKS_BACK = 5000000 }; // what a reader takes for no step back: about a millisecond

struct raw_spool {
    uint8_t *bytes; // a copy of the whole file
    size_t size;
    const struct mt_spool_header *header;
    const struct mt_spool_segment **segments; // those in use, by stream and number
    size_t count;
    const struct mt_rec_string **strings; // by id
    uint32_t string_count;
    uint64_t problems;
};

// One record of the spool. Context is what a reader knows at this place: from the segment's head and from
// the records before this one.
struct raw_record {
    const struct mt_spool_segment *segment;
    const struct mt_rec_any *any;
    uint32_t thread, encoder, command_buffer;
};
typedef void (*raw_visit)(void *context, const struct raw_record *record);

static inline void raw_problem(struct raw_spool *spool, const char *what, uint64_t value)
{
    if (spool->problems++ < 20)
        printf("    spool: %s (%llu)\n", what, (unsigned long long)value);
}

static inline int raw_order(const void *left, const void *right)
{
    const struct mt_spool_segment *a = *(const struct mt_spool_segment *const *)left;
    const struct mt_spool_segment *b = *(const struct mt_spool_segment *const *)right;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static inline bool raw_header_ok(const struct mt_spool_header *header)
{
    return !memcmp(header->magic, MT_SPOOL_MAGIC, sizeof header->magic) &&
           header->version == MT_SPOOL_VERSION && header->byte_order == MT_SPOOL_BYTE_ORDER &&
           header->header_bytes == MT_SPOOL_HEADER_BYTES && header->segment_bytes == MT_SPOOL_SEGMENT_BYTES &&
           header->slot_bytes == MT_SPOOL_SLOT_BYTES;
}

static inline bool raw_load(struct raw_spool *spool, const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status))
        return false;
    spool->bytes = calloc(1, (size_t)status.st_size + 1);
    while (spool->bytes && spool->size < (size_t)status.st_size) {
        ssize_t got =
            pread(fd, spool->bytes + spool->size, (size_t)status.st_size - spool->size, (off_t)spool->size);
        if (got <= 0)
            break;
        spool->size += (size_t)got;
    }
    close(fd);
    return spool->bytes && spool->size >= sizeof(struct mt_spool_header);
}

// A copy of a segment that is being written to may hold a record's time and not yet the rest of it, since
// nothing says in which order memory is copied. What had its time in an older copy is whole in a newer one.
static inline void raw_limit(void *newer_segment, const void *older_segment)
{
    struct mt_rec_any *newer = newer_segment;
    const struct mt_rec_any *older = older_segment;
    uint32_t slot = MT_SPOOL_FIRST_SLOT;
    while (slot < MT_SPOOL_SEGMENT_SLOTS && older[slot].time)
        slot +=
            mt_rec_slots(mt_rec_type(newer[slot].word), ((const struct mt_rec_string *)&newer[slot])->length);
    if (slot < MT_SPOOL_SEGMENT_SLOTS)
        newer[slot].time = 0;
    memcpy(newer, older, MT_SPOOL_FIRST_SLOT * sizeof *newer);
}

// Three copies: events as they were in the first, definitions as they were in the second, since a record may
// name a definition that was made while the first was under way.
static inline bool raw_load_live(struct raw_spool *spool, const char *path)
{
    struct raw_spool first = {0}, second = {0};
    bool loaded = raw_load(&first, path) && raw_load(&second, path) && raw_load(spool, path);
    for (size_t at = MT_SPOOL_HEADER_BYTES; loaded && at + MT_SPOOL_SEGMENT_BYTES <= spool->size;
         at += MT_SPOOL_SEGMENT_BYTES) {
        struct mt_spool_segment *head = (struct mt_spool_segment *)(spool->bytes + at);
        const struct raw_spool *older = head->kind == MT_SEGMENT_DEFINITIONS ? &second : &first;
        if (at + MT_SPOOL_SEGMENT_BYTES <= older->size)
            raw_limit(head, older->bytes + at);
        else
            head->kind = MT_SEGMENT_FREE;
    }
    free(first.bytes);
    free(second.bytes);
    return loaded;
}

static inline void raw_find_segments(struct raw_spool *spool)
{
    size_t places = (spool->size - MT_SPOOL_HEADER_BYTES) / MT_SPOOL_SEGMENT_BYTES;
    spool->segments = calloc(places + 1, sizeof *spool->segments);
    for (size_t at = 0; at < places; at++) {
        const struct mt_spool_segment *head =
            (const void *)(spool->bytes + MT_SPOOL_HEADER_BYTES + at * MT_SPOOL_SEGMENT_BYTES);
        if (head->kind == MT_SEGMENT_FREE)
            continue;
        if (head->magic != MT_SPOOL_SEGMENT_MAGIC || head->kind > MT_SEGMENT_DEFINITIONS || !head->use)
            raw_problem(spool, "bad head of a segment", at);
        else if ((head->stream == 0) != (head->kind == MT_SEGMENT_DEFINITIONS))
            raw_problem(spool, "kind and stream do not agree", at);
        else
            spool->segments[spool->count++] = head;
    }
    qsort(spool->segments, spool->count, sizeof *spool->segments, raw_order);
}

// What came while the file was being read: a segment that was not closed is the last of its stream, and so is
// one whose successor was not there yet.
static inline void raw_leave_out_news(struct raw_spool *spool)
{
    size_t kept = 0;
    for (size_t at = 0; at < spool->count; at++) {
        const struct mt_spool_segment *head = spool->segments[at];
        const struct mt_spool_segment *last = kept ? spool->segments[kept - 1] : NULL;
        bool follows = last && last->stream == head->stream;
        if (follows ? last->closed && head->number == last->number + 1 : head->number == 0)
            spool->segments[kept++] = head;
    }
    spool->count = kept;
}

// Consecutive numbers, from 0 unless the spool is bounded; all but the last closed.
static inline void raw_check_segments(struct raw_spool *spool)
{
    bool bounded = spool->header->keep_bytes != 0;
    for (size_t at = 0; at < spool->count; at++) {
        const struct mt_spool_segment *head = spool->segments[at];
        const struct mt_spool_segment *before = at ? spool->segments[at - 1] : NULL;
        bool follows = before && before->stream == head->stream;
        if (follows && head->number != before->number + 1)
            raw_problem(spool, "a number is missing or twice in stream", head->stream);
        if (!follows && head->number && !bounded)
            raw_problem(spool, "a stream does not begin with 0", head->stream);
        if (follows && !before->closed)
            raw_problem(spool, "a segment is not closed though its stream went on", head->stream);
    }
}

static inline void raw_note(struct raw_record *record)
{
    const struct mt_rec_context *context = (const struct mt_rec_context *)record->any;
    enum mt_record_type type = mt_rec_type(context->word);
    if (type == MT_REC_THREAD) {
        record->thread = ((const struct mt_rec_thread *)record->any)->thread;
        record->encoder = record->command_buffer = 0;
    }
    if (type == MT_REC_CONTEXT || type == MT_REC_ENCODER_BEGIN) {
        record->encoder = context->encoder;
        record->command_buffer = context->command_buffer;
    }
}

static inline bool raw_type_ok(enum mt_segment_kind kind, enum mt_record_type type)
{
    if (kind == MT_SEGMENT_DEFINITIONS)
        return type >= MT_REC_STRING && type <= MT_REC_THREAD_NAME;
    return type > MT_REC_NONE && type <= MT_REC_CAPTURE;
}

// The records of one segment; the number of them.
static inline uint64_t raw_visit_segment(struct raw_spool *spool, struct raw_record *at, uint64_t *last_time,
                                         raw_visit visit, void *context)
{
    const struct mt_rec_any *slots = (const struct mt_rec_any *)at->segment;
    uint64_t records = 0;
    for (uint32_t slot = MT_SPOOL_FIRST_SLOT; slot < MT_SPOOL_SEGMENT_SLOTS && slots[slot].time;) {
        at->any = &slots[slot];
        enum mt_record_type type = mt_rec_type(at->any->word);
        uint32_t count = mt_rec_slots(type, ((const struct mt_rec_string *)at->any)->length);
        if (!raw_type_ok((enum mt_segment_kind)at->segment->kind, type) ||
            slot + count > MT_SPOOL_SEGMENT_SLOTS) {
            raw_problem(spool, "unknown type, or a record longer than its segment", type);
            break;
        }
        // Another core's counter may be a little behind, and a signal handler may come in between.
        if (at->any->time + RAW_TICKS_BACK < *last_time)
            raw_problem(spool, "time goes back, ticks", *last_time - at->any->time);
        *last_time = at->any->time;
        raw_note(at);
        visit(context, at);
        slot += count;
        records++;
    }
    return records;
}

// A head says what held at the end of the segment before, unless another thread begins with it.
static inline bool raw_head_agrees(const struct raw_record *before, const struct mt_spool_segment *head)
{
    const struct mt_rec_thread *first = (const struct mt_rec_thread *)head + MT_SPOOL_FIRST_SLOT;
    if (first->time && mt_rec_type(first->word) == MT_REC_THREAD)
        return head->thread == first->thread && !head->encoder && !head->command_buffer;
    return before->thread == head->thread && before->encoder == head->encoder &&
           before->command_buffer == head->command_buffer;
}

// All records of one kind, stream by stream; their number.
static inline uint64_t raw_records(struct raw_spool *spool, enum mt_segment_kind kind, raw_visit visit,
                                   void *context)
{
    uint64_t records = 0, last_time = 0;
    struct raw_record at = {0};
    for (size_t i = 0; i < spool->count; i++) {
        const struct mt_spool_segment *head = spool->segments[i];
        if (head->kind != kind)
            continue;
        bool follows = at.segment && at.segment->stream == head->stream;
        if (!follows)
            last_time = 0;
        if (follows && at.segment->number + 1 == head->number && !raw_head_agrees(&at, head))
            raw_problem(spool, "a head does not say what held, stream", head->stream);
        at.segment = head;
        at.thread = head->thread;
        at.encoder = head->encoder;
        at.command_buffer = head->command_buffer;
        records += raw_visit_segment(spool, &at, &last_time, visit, context);
    }
    return records;
}

static inline void *raw_resize(void *memory, size_t bytes)
{
    void *more = realloc(memory, bytes);
    if (!more) {
        printf("no memory\n");
        exit(1);
    }
    return more;
}

static inline void raw_add_string(void *context, const struct raw_record *record)
{
    struct raw_spool *spool = context;
    const struct mt_rec_string *string = (const struct mt_rec_string *)record->any;
    if (mt_rec_type(string->word) != MT_REC_STRING)
        return;
    uint32_t id = mt_rec_small(string->word);
    if (id >= spool->string_count) {
        uint32_t count = id * 2 + 64;
        spool->strings = raw_resize(spool->strings, count * sizeof *spool->strings);
        memset(spool->strings + spool->string_count, 0,
               (count - spool->string_count) * sizeof *spool->strings);
        spool->string_count = count;
    }
    if (!id || spool->strings[id])
        raw_problem(spool, "a string's id is 0 or not its own", id);
    spool->strings[id] = string;
}

static inline void raw_close(struct raw_spool *spool)
{
    free(spool->bytes);
    free(spool->segments);
    free(spool->strings);
    *spool = (struct raw_spool){0};
}

// False if there is no header yet. `live`: it is being written to.
static inline bool raw_open(struct raw_spool *spool, const char *path, bool live)
{
    *spool = (struct raw_spool){0};
    bool loaded = live ? raw_load_live(spool, path) : raw_load(spool, path);
    spool->header = (const struct mt_spool_header *)spool->bytes;
    if (!loaded || !raw_header_ok(spool->header)) {
        raw_close(spool);
        return false;
    }
    raw_find_segments(spool);
    if (live)
        raw_leave_out_news(spool);
    raw_check_segments(spool);
    raw_records(spool, MT_SEGMENT_DEFINITIONS, raw_add_string, spool);
    return true;
}

static inline bool raw_string_is(const struct raw_spool *spool, uint32_t id, const char *text, size_t length)
{
    if (!id || id >= spool->string_count || !spool->strings[id])
        return false;
    const struct mt_rec_string *string = spool->strings[id];
    return (string->length & ~MT_STRING_CUT) == length && !memcmp(string->text, text, length);
}

#endif
