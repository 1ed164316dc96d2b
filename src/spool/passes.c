// SPDX-License-Identifier: MIT
// Passes over a whole spool: its definitions, and its events merged by time over all streams. A heap holds
// each stream's next time; a stream is visited for as long as it is the earliest, so that the cost is one
// call per change of streams and not per record. A stream has a block in memory only from its first record
// to its last.
#include "spool/internal.h"

#include <errno.h>
#include <stdlib.h>

// ---- definitions ----

static void forget_pass(struct mt_spool *spool, struct mt_spool_pass *pass)
{
    spool->damage.bad_records -= pass->bad_records;
    spool->damage.lost_segments -= pass->lost_segments;
    *pass = (struct mt_spool_pass){0};
}

static void end_run(struct mt_spool_source *source)
{
    source->from.begins = source->from.gap = false;
}

int mt_spool_definitions(struct mt_spool *spool, mt_spool_visit visit, void *context)
{
    forget_pass(spool, &spool->definitions);
    if (!spool->count || spool->table[0].stream != 0)
        return 0;
    struct mt_spool_source source;
    mt_spool_source_init(&source, spool, 0, mt_spool_stream_end(spool, 0));
    int status;
    while ((status = mt_spool_source_fill(&source)) > 0) {
        status = visit(context, &source.from, source.slots, source.used);
        if (status)
            break;
        end_run(&source);
    }
    mt_spool_source_free(&source);
    return status;
}

// ---- events of some types ----

static int visit_types(struct mt_spool_source *source, uint64_t types, mt_spool_visit visit, void *context)
{
    if (!(source->types & types))
        return 0;
    for (size_t i = 0; i < source->used;) {
        const struct mt_rec_any *record = &source->slots[i];
        size_t slots = mt_spool_slots_of(record);
        i += slots;
        if (!(types >> (mt_rec_type(record->word) & 63) & 1))
            continue;
        int status = visit(context, &source->from, record, slots);
        if (status)
            return status;
        end_run(source);
    }
    return 0;
}

int mt_spool_events_of(struct mt_spool *spool, uint64_t types, mt_spool_visit visit, void *context)
{
    forget_pass(spool, &spool->events);
    uint32_t index = 0;
    int status = 0;
    for (size_t i = 0; i < spool->count && !status;) {
        size_t end = mt_spool_stream_end(spool, i);
        if (spool->table[i].stream != 0) {
            struct mt_spool_source source;
            mt_spool_source_init(&source, spool, i, end);
            source.from.index = index++;
            while ((status = mt_spool_source_fill(&source)) > 0) {
                status = visit_types(&source, types, visit, context);
                if (status)
                    break;
            }
            mt_spool_source_free(&source);
        }
        i = end;
    }
    return status;
}

// ---- all events ----

struct key {
    uint64_t time;
    struct mt_spool_source *source;
};
struct merge {
    struct mt_spool_source *sources;
    struct key *heap; // earliest first
    size_t count;
};

static void sift_down(struct merge *merge, size_t i)
{
    struct key *heap = merge->heap;
    struct key moved = heap[i];
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= merge->count)
            break;
        if (child + 1 < merge->count && heap[child + 1].time < heap[child].time)
            child++;
        if (moved.time <= heap[child].time)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

// Until when the first stream is the earliest.
static uint64_t limit_of_first(const struct merge *merge)
{
    uint64_t limit = merge->count > 1 ? merge->heap[1].time : UINT64_MAX;
    return merge->count > 2 && merge->heap[2].time < limit ? merge->heap[2].time : limit;
}

// Fills the first stream's block, or takes it from the heap.
static int refill_first(struct merge *merge)
{
    struct mt_spool_source *source = merge->heap[0].source;
    int status = mt_spool_source_fill(source);
    if (status < 0)
        return status;
    if (status == 0) {
        mt_spool_source_free(source);
        merge->heap[0] = merge->heap[--merge->count];
    } else {
        merge->heap[0].time = source->slots[0].time;
    }
    if (merge->count)
        sift_down(merge, 0);
    return 0;
}

// The end of the records that come no later than `limit`, and of one at least. All of them are events.
static size_t end_of_run(const struct mt_spool_source *source, uint64_t limit)
{
    const uint64_t two_slots = UINT64_C(1) << MT_REC_DISPATCH_WIDE | UINT64_C(1) << MT_REC_CB_DONE;
    if (source->last_time <= limit)
        return source->used; // the whole block
    const struct mt_rec_any *slots = source->slots;
    size_t end = source->position;
    do
        end += 1 + (two_slots >> (slots[end].word & 63) & 1);
    while (end < source->used && slots[end].time <= limit);
    return end;
}

static int visit_run(struct merge *merge, mt_spool_visit visit, void *context)
{
    struct mt_spool_source *source = merge->heap[0].source;
    size_t begin = source->position, end = end_of_run(source, limit_of_first(merge));
    int status = visit(context, &source->from, &source->slots[begin], end - begin);
    if (status)
        return status;
    end_run(source);
    source->position = end;
    if (end == source->used)
        return refill_first(merge);
    merge->heap[0].time = source->slots[end].time;
    sift_down(merge, 0);
    return 0;
}

// The time at which a stream enters the merge; its block is read when that time has come. The earliest of its
// segments: the first in order may turn out to be damaged.
static uint64_t first_time(const struct mt_spool *spool, size_t begin, size_t end)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = begin; i < end; i++)
        if (spool->table[i].first_time && spool->table[i].first_time < first)
            first = spool->table[i].first_time;
    return first;
}

static int begin_merge(struct mt_spool *spool, struct merge *merge)
{
    merge->sources = calloc(spool->streams + 1, sizeof *merge->sources);
    merge->heap = calloc(spool->streams + 1, sizeof *merge->heap);
    if (!merge->sources || !merge->heap)
        return -ENOMEM;
    uint32_t index = 0;
    for (size_t i = 0, end; i < spool->count; i = end) {
        end = mt_spool_stream_end(spool, i);
        if (spool->table[i].stream == 0)
            continue;
        struct mt_spool_source *source = &merge->sources[index];
        mt_spool_source_init(source, spool, i, end);
        source->from.index = index++;
        // One that was empty when the table was made may no longer be, but comes too late for the order.
        uint64_t time = first_time(spool, i, end);
        if (time != UINT64_MAX)
            merge->heap[merge->count++] = (struct key){time, source};
    }
    for (size_t i = merge->count; i-- > 0;)
        sift_down(merge, i);
    return 0;
}

int mt_spool_events(struct mt_spool *spool, mt_spool_visit visit, void *context)
{
    forget_pass(spool, &spool->events);
    struct merge merge = {0};
    int status = begin_merge(spool, &merge);
    while (!status && merge.count) {
        bool begun = merge.heap[0].source->slots != NULL;
        status = begun ? visit_run(&merge, visit, context) : refill_first(&merge);
    }
    for (size_t i = 0; i < merge.count; i++)
        mt_spool_source_free(merge.heap[i].source);
    free(merge.sources);
    free(merge.heap);
    return status;
}
