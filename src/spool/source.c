// SPDX-License-Identifier: MIT
// Reads one stream: its segments in order, a block at a time, and only records that were published whole.
// All that is in a block is checked before anybody sees it. Must never look behind a block's end, and never
// take a record from a place that was overwritten meanwhile.
#include "spool/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024, SMALLEST_BLOCK_BYTES = 1024, ALL_BLOCKS_BYTES = 2 * 1024 * 1024 };
enum { LONGEST_RECORD_SLOTS = 1 + (MT_SPOOL_MAX_STRING + 15) / MT_SPOOL_SLOT_BYTES };

// Slots by type; 0: unknown. A string takes at least one.
static const uint8_t known[256] = {
    [MT_REC_DISPATCH_GROUPS] = 1,
    [MT_REC_DISPATCH_THREADS] = 1,
    [MT_REC_DISPATCH_INDIRECT] = 1,
    [MT_REC_DISPATCH_WIDE] = 2,
    [MT_REC_EXECUTE] = 1,
    [MT_REC_THREAD] = 1,
    [MT_REC_ANCHOR] = 1,
    [MT_REC_DROP] = 1,
    [MT_REC_CONTEXT] = 1,
    [MT_REC_CB_CREATE] = 1,
    [MT_REC_CB_ENQUEUE] = 1,
    [MT_REC_CB_COMMIT] = 1,
    [MT_REC_CB_DONE] = 2,
    [MT_REC_CB_DISCARD] = 1,
    [MT_REC_CB_HANDLER] = 1,
    [MT_REC_CB_PRESENT] = 1,
    [MT_REC_ENCODER_BEGIN] = 1,
    [MT_REC_ENCODER_END] = 1,
    [MT_REC_SYNC] = 1,
    [MT_REC_BLIT] = 1,
    [MT_REC_LABEL] = 1,
    [MT_REC_GROUP_PUSH] = 1,
    [MT_REC_GROUP_POP] = 1,
    [MT_REC_SIGNPOST] = 1,
    [MT_REC_WAIT_BEGIN] = 1,
    [MT_REC_WAIT_END] = 1,
    [MT_REC_MEMORY] = 1,
    [MT_REC_CAPTURE] = 1,
    [MT_REC_STRING] = 1,
    [MT_REC_PROCESS] = 1,
    [MT_REC_TEXT] = 1,
    [MT_REC_DEVICE] = 2,
    [MT_REC_QUEUE] = 1,
    [MT_REC_LIBRARY] = 2,
    [MT_REC_FUNCTION] = 1,
    [MT_REC_PIPELINE] = 2,
    [MT_REC_THREAD_NAME] = 1,
};

// The frequent ones among the types of one slot, a bit each: others take the longer way, to the same end.
#define BIT(type) (UINT64_C(1) << (type))
static const uint64_t dispatches_of_one_slot =
    BIT(MT_REC_DISPATCH_GROUPS) | BIT(MT_REC_DISPATCH_THREADS) | BIT(MT_REC_DISPATCH_INDIRECT);
static const uint64_t events_of_one_slot = BIT(MT_REC_EXECUTE) | BIT(MT_REC_CONTEXT) | BIT(MT_REC_CB_CREATE) |
                                           BIT(MT_REC_CB_COMMIT) | BIT(MT_REC_ENCODER_BEGIN) |
                                           BIT(MT_REC_ENCODER_END) | BIT(MT_REC_SYNC) |
                                           BIT(MT_REC_GROUP_PUSH) | BIT(MT_REC_GROUP_POP);
#undef BIT

// Slots of a record that may be anything; 0: not one of ours. Events are fixed, so that their blocks are.
static inline size_t slots_if_sound(const struct mt_rec_any *record, bool event)
{
    enum mt_record_type type = mt_rec_type(record->word);
    if (type < MT_REC_STRING)
        return known[type];
    if (event)
        return 0;
    if (type != MT_REC_STRING)
        return known[type];
    uint32_t length;
    memcpy(&length, record->rest, sizeof length);
    return (length & ~MT_STRING_CUT) > MT_SPOOL_MAX_STRING ? 0 : mt_rec_slots(type, length);
}

// Many streams get smaller blocks, so that memory stays the same.
static size_t block_slots_for(const struct mt_spool *spool)
{
    size_t bytes = ALL_BLOCKS_BYTES / spool->streams;
    if (bytes > BLOCK_BYTES)
        bytes = BLOCK_BYTES;
    if (bytes < SMALLEST_BLOCK_BYTES)
        bytes = SMALLEST_BLOCK_BYTES;
    return bytes / MT_SPOOL_SLOT_BYTES;
}

void mt_spool_source_init(struct mt_spool_source *source, struct mt_spool *spool, size_t first, size_t end)
{
    bool events = spool->table[first].stream != 0;
    *source = (struct mt_spool_source){
        .spool = spool,
        .pass = events ? &spool->events : &spool->definitions,
        .next = spool->table + first,
        .end = spool->table + end,
        .first = true,
        .last_time = 1, // so that 0 is never one that follows
        .ordered = events,
        .block_slots = block_slots_for(spool),
        .from.stream = spool->table[first].stream,
    };
}

void mt_spool_source_free(struct mt_spool_source *source)
{
    free(source->slots);
    source->slots = NULL;
}

// ---- segments ----

// Reads the head again. 1 if the segment is still what the table says, 0 if not, or -errno.
static int still_there(const struct mt_spool_source *source, const struct mt_spool_place *place,
                       struct mt_spool_segment *head)
{
    const struct mt_spool *spool = source->spool;
    int64_t count = mt_spool_read(spool, head, sizeof *head, mt_spool_place_offset(spool, place->place));
    if (count < 0)
        return (int)count;
    if (count < (int64_t)sizeof *head)
        return -EIO; // it was there when the table was made
    return head->magic == MT_SPOOL_SEGMENT_MAGIC && head->kind != MT_SEGMENT_FREE &&
           head->use == place->use && head->stream == place->stream && head->number == place->number;
}

static void lose_segment(struct mt_spool_source *source)
{
    source->pass->lost_segments++;
    source->spool->damage.lost_segments++;
    source->gap = true;
    source->segment = NULL;
}

static void leave_bad_segment(struct mt_spool_source *source)
{
    source->pass->bad_records++;
    source->spool->damage.bad_records++;
    source->gap = true;
    source->segment = NULL;
}

// The latest time that a record of this segment can have: a wild one must not hold up all that follow.
static uint64_t latest_time(const struct mt_spool_source *source)
{
    if (source->next == source->end || !source->next->first_time)
        return UINT64_MAX;
    uint64_t latest = source->next->first_time;
    return latest > UINT64_MAX - source->spool->tolerance ? UINT64_MAX : latest + source->spool->tolerance;
}

static void begin_segment(struct mt_spool_source *source, const struct mt_spool_place *place,
                          const struct mt_spool_segment *head)
{
    const struct mt_spool *spool = source->spool;
    uint64_t begin = mt_spool_place_offset(spool, place->place);
    uint64_t limit = begin + spool->header.segment_bytes;
    source->segment = place;
    source->offset = begin + MT_SPOOL_FIRST_SLOT * MT_SPOOL_SLOT_BYTES;
    source->limit = limit < spool->file_bytes ? limit : spool->file_bytes;
    if (source->limit < source->offset)
        source->limit = source->offset; // the file has grown since its size was read
    source->latest = latest_time(source);
    source->written = !head->closed; // also after the end: other threads may not have noticed
    if (place->number != source->next_number)
        source->gap = true;
    source->next_number = place->number + 1;
    if (source->first || source->gap) {
        source->from.begins = true;
        source->from.gap = source->gap;
        source->from.thread = head->thread;
        source->from.encoder = head->encoder;
        source->from.command_buffer = head->command_buffer;
    }
    source->first = source->gap = false;
}

// 1 when a segment was begun, 0 at the end of the stream, or -errno.
static int next_segment(struct mt_spool_source *source)
{
    while (source->next < source->end) {
        const struct mt_spool_place *place = source->next++;
        struct mt_spool_segment head;
        int status = still_there(source, place, &head);
        if (status < 0)
            return status;
        if (status == 1) {
            begin_segment(source, place, &head);
            return 1;
        }
        lose_segment(source);
    }
    return 0;
}

// ---- blocks ----

// While a program writes, a block that is copied may hold a record's time and not yet what belongs to it.
// What had a time in the first copy is whole in the second.
static int read_written_block(const struct mt_spool_source *source, size_t count)
{
    size_t bytes = count * MT_SPOOL_SLOT_BYTES;
    struct mt_rec_any *before = malloc(bytes);
    if (!before)
        return -ENOMEM;
    memcpy(before, source->slots, bytes);
    int64_t got = mt_spool_read(source->spool, source->slots, bytes, source->offset);
    size_t i = 0;
    while (i < count && before[i].time) {
        size_t slots = slots_if_sound(&source->slots[i], source->ordered);
        i += slots ? slots : count;
    }
    if (i < count)
        source->slots[i].time = 0;
    free(before);
    if (got < 0)
        return (int)got;
    return (size_t)got == bytes ? 0 : -EIO;
}

// Slots in the block, or -errno; -ESTALE if the segment is no longer there.
static int64_t read_block(struct mt_spool_source *source)
{
    const struct mt_spool *spool = source->spool;
    uint64_t rest = (source->limit - source->offset) / MT_SPOOL_SLOT_BYTES;
    size_t count = rest < source->block_slots ? (size_t)rest : source->block_slots;
    int64_t got = mt_spool_read(spool, source->slots, count * MT_SPOOL_SLOT_BYTES, source->offset);
    if (got < 0)
        return got;
    if ((uint64_t)got < count * MT_SPOOL_SLOT_BYTES)
        return -EIO; // cut short since it was opened
    int status = source->written ? read_written_block(source, count) : 0;
    if (status)
        return status;
    if (spool->live && spool->header.keep_bytes) {
        struct mt_spool_segment head;
        status = still_there(source, source->segment, &head);
        if (status < 0)
            return status;
        if (status == 0)
            return -ESTALE;
    }
    return (int64_t)count;
}

// Whether an event's time can follow; a time that is only a little early is set to the one before.
static inline bool accept_time(const struct mt_spool_source *source, struct mt_rec_any *record,
                               uint64_t *last_time)
{
    uint64_t time = record->time;
    if (__builtin_expect(time < *last_time, 0)) {
        record->time = *last_time;
        return *last_time - time <= source->spool->tolerance;
    }
    if (time > source->latest)
        return false;
    *last_time = time;
    return true;
}

enum block_end {
    BLOCK_FULL,    // the segment goes on behind the block
    BLOCK_LAST,    // all that was published has been seen
    BLOCK_BAD,     // what follows cannot be understood
    BLOCK_TOO_LONG // its first record does not fit
};

// The end of the dispatches of one slot that `begin` is the first of, as far as their times follow. Most
// records of a spool are such and pass here, in each pass: two comparisons do. Those too late come last,
// since no time goes back here, and are taken off again.
static inline size_t end_of_dispatches(const struct mt_rec_any *slots, size_t begin, size_t count,
                                       uint64_t last_time, uint64_t latest)
{
    size_t i = begin;
    while (i < count && mt_rec_type(slots[i].word) - 1U < MT_REC_DISPATCH_INDIRECT &&
           slots[i].time >= last_time)
        last_time = slots[i++].time;
    while (i > begin && slots[i - 1].time > latest)
        i--;
    return i;
}

// Finds the whole records of a block of `count` slots: source->used.
static enum block_end check_block(struct mt_spool_source *source, size_t count)
{
    const bool more = source->offset + (count + 1) * MT_SPOOL_SLOT_BYTES <= source->limit;
    const uint64_t plain = source->ordered ? events_of_one_slot : 0, latest = source->latest;
    struct mt_rec_any *slots = source->slots;
    uint64_t last_time = source->last_time, types = 0, extra = 0;
    size_t i = 0;
    enum block_end end = more ? BLOCK_FULL : BLOCK_LAST;
    for (; i < count; i++) {
        size_t after = source->ordered ? end_of_dispatches(slots, i, count, last_time, latest) : i;
        if (after > i) {
            types |= dispatches_of_one_slot;
            last_time = slots[after - 1].time;
            if ((i = after) == count)
                break;
        }
        uint64_t time = slots[i].time, type = UINT64_C(1) << (slots[i].word & 63);
        types |= type;
        if ((plain & type) && !(slots[i].word & 0xc0) && time >= last_time && time <= latest) {
            last_time = time;
            continue;
        }
        size_t taken = time ? slots_if_sound(&slots[i], source->ordered) : 0;
        if (!time || taken > count - i) {
            end = !time ? BLOCK_LAST : !more ? BLOCK_BAD : i == 0 ? BLOCK_TOO_LONG : BLOCK_FULL;
            break;
        }
        if (!taken || (source->ordered && !accept_time(source, &slots[i], &last_time))) {
            end = BLOCK_BAD;
            break;
        }
        i += taken - 1;
        extra += taken - 1;
    }
    source->used = i;
    source->position = 0;
    source->types = types;
    source->last_time = last_time;
    source->pass->records += i - extra;
    return end;
}

static int grow_block(struct mt_spool_source *source)
{
    struct mt_rec_any *slots = realloc(source->slots, LONGEST_RECORD_SLOTS * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    source->slots = slots;
    source->block_slots = LONGEST_RECORD_SLOTS;
    return 0;
}

// Reads on in the segment under way; source->used says whether there was something.
static int fill_from_segment(struct mt_spool_source *source)
{
    int64_t count = read_block(source);
    if (count == -ESTALE) {
        lose_segment(source);
        return 0;
    }
    if (count < 0)
        return (int)count;
    switch (check_block(source, (size_t)count)) {
    case BLOCK_FULL:
        source->offset += source->used * MT_SPOOL_SLOT_BYTES;
        break;
    case BLOCK_LAST:
        source->segment = NULL;
        break;
    case BLOCK_BAD:
        leave_bad_segment(source);
        break;
    case BLOCK_TOO_LONG:
        return grow_block(source);
    }
    return 0;
}

int mt_spool_source_fill(struct mt_spool_source *source)
{
    if (!source->slots && !(source->slots = malloc(source->block_slots * sizeof *source->slots)))
        return -ENOMEM;
    source->used = source->position = 0;
    while (!source->used) {
        int status = source->segment ? fill_from_segment(source) : next_segment(source);
        if (status < 0 || (!source->segment && !source->used && source->next == source->end))
            return status < 0 ? status : 0;
    }
    return 1;
}
