// SPDX-License-Identifier: MIT
// Owns stream 0 of the spool and the table that finds a text's id again. All of it is behind one lock; texts
// are compared with what lies in the spool itself, which stays mapped. Runs in the target on any thread.
// Never changes or unmaps what a parent's spool holds, only reads it.
#include "definitions.h"

#include <errno.h>
#include <string.h>

enum {
    MOST_SEGMENTS = 1024, // 256 MiB of definitions
    MOST_STRINGS = 1 << 20,
    FIRST_TABLE = 1 << 10, // entries; always a power of two
};

// Where a text's record is: its slot, counted over all segments of the stream. 0: no entry.
struct entry {
    uint32_t hash;
    uint32_t place;
};

// The segments of the stream in one file; the last is filled up to `cursor`.
struct stream {
    struct mt_segment *segments[MOST_SEGMENTS];
    uint32_t count;
    struct mt_slot *cursor, *end;
};

static struct {
    mt_lock lock;
    struct stream stream, before; // `before`: of the file that was in use before this one
    uint64_t last_time;
    struct entry *table;
    uint32_t table_size, table_used;
    uint32_t strings; // ids given out
} definitions;

// ---- the stream ----

static bool add_segment(void)
{
    struct stream *stream = &definitions.stream;
    if (stream->count == MOST_SEGMENTS)
        return false;
    struct mt_spool_segment owner = {.kind = MT_SEGMENT_DEFINITIONS, .number = stream->count};
    // The one before it is never done with: it stays mapped.
    struct mt_segment *segment =
        mt_segments_take(&owner, stream->count ? stream->segments[stream->count - 1] : NULL);
    if (!segment)
        return false;
    stream->segments[stream->count++] = segment;
    stream->cursor = mt_segment_first(segment);
    stream->end = mt_segment_end(segment);
    return true;
}

static struct mt_slot *room(uint32_t slots)
{
    struct stream *stream = &definitions.stream;
    if (stream->end - stream->cursor < (ptrdiff_t)slots && !add_segment())
        return NULL;
    return stream->cursor;
}

static void publish(struct mt_slot *slot, uint32_t slots)
{
    uint64_t time = mt_os_ticks();
    if (time < definitions.last_time)
        time = definitions.last_time; // another core, a little behind
    definitions.last_time = time;
    definitions.stream.cursor = slot + slots;
    __atomic_store_n(&slot->time, time, __ATOMIC_RELEASE);
}

static const size_t BODY = offsetof(struct mt_slot, body);

static bool append(const void *record, uint32_t slots)
{
    struct mt_slot *slot = room(slots);
    if (!slot)
        return false;
    memcpy(slot->body, (const char *)record + BODY, slots * sizeof *slot - BODY);
    publish(slot, slots);
    return true;
}

bool mt_definitions_add(const void *record)
{
    const struct mt_rec_any *any = record;
    mt_lock_take(&definitions.lock);
    bool added = append(record, mt_rec_slots(mt_rec_type(any->word), 0));
    mt_lock_drop(&definitions.lock);
    return added;
}

// ---- the table of texts ----

static uint32_t hash_text(const char *text, size_t length)
{
    uint64_t hash = length * UINT64_C(0x9e3779b97f4a7c15);
    while (length) {
        uint64_t word = 0;
        size_t some = length < sizeof word ? length : sizeof word;
        memcpy(&word, text, some);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
        text += some;
        length -= some;
    }
    return (uint32_t)(hash ^ hash >> 32);
}

static const struct mt_rec_string *record_at(uint32_t place)
{
    struct mt_segment *segment = definitions.stream.segments[place / MT_SPOOL_SEGMENT_SLOTS];
    return (const struct mt_rec_string *)segment->head + place % MT_SPOOL_SEGMENT_SLOTS;
}

static uint32_t find(uint32_t hash, const char *text, uint32_t length_word)
{
    if (!definitions.table_size)
        return 0;
    uint32_t mask = definitions.table_size - 1;
    for (uint32_t at = hash & mask; definitions.table[at].place; at = (at + 1) & mask) {
        if (definitions.table[at].hash != hash)
            continue;
        const struct mt_rec_string *record = record_at(definitions.table[at].place);
        if (record->length == length_word && !memcmp(record->text, text, length_word & ~MT_STRING_CUT))
            return mt_rec_small(record->word);
    }
    return 0;
}

static void insert(struct entry entry)
{
    uint32_t mask = definitions.table_size - 1;
    uint32_t at = entry.hash & mask;
    while (definitions.table[at].place)
        at = (at + 1) & mask;
    definitions.table[at] = entry;
    definitions.table_used++;
}

// Never more than half full.
static bool table_has_room(void)
{
    if (definitions.table_used < definitions.table_size / 2)
        return true;
    struct entry *old = definitions.table;
    uint32_t old_size = definitions.table_size;
    uint32_t size = old_size ? old_size * 2 : FIRST_TABLE;
    void *memory;
    if (mt_os_map_memory(size * sizeof *old, &memory))
        return false;
    definitions.table = memory;
    definitions.table_size = size;
    definitions.table_used = 0;
    for (uint32_t at = 0; at < old_size; at++) {
        if (old[at].place)
            insert(old[at]);
    }
    if (old)
        mt_os_unmap(old, old_size * sizeof *old);
    return true;
}

// Adds a text with its id; the caller has looked that it is not there.
static bool add_string(uint32_t hash, const char *text, uint32_t length_word, uint32_t id)
{
    uint32_t length = length_word & ~MT_STRING_CUT;
    uint32_t slots = mt_rec_slots(MT_REC_STRING, length);
    struct mt_slot *slot = table_has_room() ? room(slots) : NULL;
    if (!slot)
        return false;
    struct mt_rec_string *record = (struct mt_rec_string *)slot;
    record->word = MT_REC_WORD(MT_REC_STRING, id);
    record->length = length_word;
    memcpy((char *)slot + offsetof(struct mt_rec_string, text), text, length);
    publish(slot, slots);
    const struct stream *stream = &definitions.stream;
    const struct mt_segment *segment = stream->segments[stream->count - 1];
    uint32_t in_segment = (uint32_t)(slot - (struct mt_slot *)segment->head);
    insert((struct entry){hash, (stream->count - 1) * MT_SPOOL_SEGMENT_SLOTS + in_segment});
    return true;
}

uint32_t mt_definitions_string(const char *text, size_t length)
{
    uint32_t length_word = (uint32_t)length;
    if (length > MT_SPOOL_MAX_STRING) {
        // At a character's edge; what is not UTF-8 has none and is cut anywhere.
        length = MT_SPOOL_MAX_STRING;
        for (int back = 0; back < 3 && ((unsigned char)text[length] & 0xc0) == 0x80; back++)
            length--;
        length_word = (uint32_t)length | MT_STRING_CUT;
    }
    uint32_t hash = hash_text(text, length);
    mt_lock_take(&definitions.lock);
    uint32_t id = find(hash, text, length_word);
    if (!id && definitions.strings < MOST_STRINGS &&
        add_string(hash, text, length_word, definitions.strings + 1))
        id = ++definitions.strings;
    mt_lock_drop(&definitions.lock);
    return id;
}

// ---- from one file to the next ----

// What belongs to the earlier process alone is said anew.
static bool goes_on(enum mt_record_type type)
{
    return type != MT_REC_PROCESS && type != MT_REC_TEXT && type != MT_REC_THREAD_NAME;
}

static bool copy_segment(struct mt_slot *slot, const struct mt_slot *end)
{
    while (slot < end && slot->time) {
        const struct mt_rec_string *record = (const struct mt_rec_string *)slot;
        enum mt_record_type type = mt_rec_type(record->word);
        uint32_t slots = mt_rec_slots(type, record->length);
        if (type == MT_REC_STRING) {
            uint32_t hash = hash_text(record->text, record->length & ~MT_STRING_CUT);
            if (!add_string(hash, record->text, record->length, mt_rec_small(record->word)))
                return false;
        } else if (goes_on(type) && !append(record, slots)) {
            return false;
        }
        slot += slots;
    }
    return true;
}

static int copy_before(void)
{
    struct stream *before = &definitions.before;
    bool copied = true;
    for (uint32_t at = 0; at < before->count; at++) {
        const struct mt_segment *segment = before->segments[at];
        // A parent goes on writing to its last segment; what came after the fork is not ours.
        const struct mt_slot *end = at + 1 == before->count ? before->cursor : mt_segment_end(segment);
        copied = copied && copy_segment(mt_segment_first(segment), end);
    }
    return copied ? 0 : -ENOSPC;
}

int mt_definitions_start(void)
{
    mt_lock_take(&definitions.lock);
    // If a copy failed before, the complete stream is still the one before that.
    if (definitions.stream.count)
        definitions.before = definitions.stream;
    definitions.stream = (struct stream){0};
    definitions.last_time = 0;
    definitions.table_used = 0;
    if (definitions.table)
        memset(definitions.table, 0, definitions.table_size * sizeof *definitions.table);
    int rc = room(1) ? copy_before() : -ENOSPC;
    if (rc)
        definitions.stream = (struct stream){0};
    for (uint32_t at = 0; !rc && at < definitions.before.count; at++)
        mt_os_unmap(definitions.before.segments[at]->head, MT_SPOOL_SEGMENT_BYTES);
    if (!rc)
        definitions.before.count = 0;
    mt_lock_drop(&definitions.lock);
    return rc;
}

void mt_definitions_lock_for_fork(void)
{
    mt_lock_take(&definitions.lock);
}

void mt_definitions_unlock_after_fork(void)
{
    mt_lock_drop(&definitions.lock);
}
