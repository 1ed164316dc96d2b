// SPDX-License-Identifier: MIT
// What the model's files share: the clock, tables by id, debug-group paths, things in flight, and the model
// itself. Nothing outside src/model includes this. A model is used by one thread at a time.
#ifndef MT_MODEL_INTERNAL_H
#define MT_MODEL_INTERNAL_H

#include "model/model.h"

#include <stddef.h>

// ---- clock.c: ticks to nanoseconds since the start, a straight line between any two anchors ----
struct mt_anchor {
    uint64_t ticks, width;
    int64_t ns;
};
struct mt_clock_piece { // [begin, begin + length), at most 2^63 long
    uint64_t begin, length;
    int64_t ns; // at begin
    double slope;
};
struct mt_clock {
    uint64_t start_ns, ticks_per_second;
    uint64_t seen;             // anchors in the spool
    struct mt_anchor *anchors; // thinned out when there are many; the first is the header's
    size_t count;
    double slope; // of the whole, for what lies outside of the anchors
    struct mt_clock_piece piece;
};
int mt_clock_begin(struct mt_clock *clock, const struct mt_spool_header *header);
void mt_clock_add(struct mt_clock *clock, const struct mt_rec_anchor *anchor); // in any order
void mt_clock_finish(struct mt_clock *clock);
void mt_clock_free(struct mt_clock *clock);
void mt_clock_describe(const struct mt_clock *clock, struct mt_clock_info *info);
int64_t mt_clock_search(struct mt_clock *clock, uint64_t ticks);
// Never less for more ticks; within 2^62 of 0, so that two of them can be subtracted.
static inline int64_t mt_clock_ns(struct mt_clock *clock, uint64_t ticks)
{
    uint64_t delta = ticks - clock->piece.begin;
    if (__builtin_expect(delta >= clock->piece.length, 0))
        return mt_clock_search(clock, ticks);
    return clock->piece.ns + (int64_t)((double)(int64_t)delta * clock->piece.slope);
}
// 0 ticks are "not known".
static inline int64_t mt_clock_ns_or_none(struct mt_clock *clock, uint64_t ticks)
{
    return ticks ? mt_clock_ns(clock, ticks) : MT_NO_TIME;
}
// Of a time on the clock of the GPU; 0 is "not known".
int64_t mt_clock_from_gpu(const struct mt_clock *clock, uint64_t clock_ns);

// ---- tables.c ----
// Entries by id, zeroed. An id far beyond the number of entries that were asked for is refused: memory
// follows what the file holds, not what it claims.
struct mt_table {
    void *entries;
    size_t entry_bytes;
    uint32_t count, capacity; // count: one more than the highest id
    uint32_t seen;
};
// The entry, made if need be. NULL with *error 0: refused; or -ENOMEM.
void *mt_table_at(struct mt_table *table, uint32_t id, int *error);
// The entry, or NULL if there is none.
static inline void *mt_table_find(const struct mt_table *table, uint32_t id)
{
    return id < table->count ? (char *)table->entries + id * table->entry_bytes : NULL;
}
void mt_table_free(struct mt_table *table);

// Things in flight, found by id. An entry keeps its index until it is removed; entries begin with their id,
// which is 0 while the entry is free.
struct mt_flight_entry {
    uint32_t id, next_free;
};
struct mt_flight {
    char *entries;
    size_t entry_bytes;
    uint32_t capacity, used; // entries that exist; that were ever given out
    uint32_t first_free;     // index + 1
    uint32_t *buckets;       // index + 1
    uint32_t mask, live;
};
#define MT_FLIGHT_NONE UINT32_MAX
uint32_t mt_flight_find(const struct mt_flight *flight, uint32_t id);
// A zeroed entry but for its id, which is not there yet; MT_FLIGHT_NONE: no memory.
uint32_t mt_flight_add(struct mt_flight *flight, uint32_t id);
void mt_flight_remove(struct mt_flight *flight, uint32_t index);
void mt_flight_free(struct mt_flight *flight);
static inline void *mt_flight_at(const struct mt_flight *flight, uint32_t index)
{
    return flight->entries + index * flight->entry_bytes;
}
// The indices of all entries by id, or NULL: no memory. Free it.
uint32_t *mt_flight_sorted(const struct mt_flight *flight);

// ---- texts.c: strings and debug-group paths ----
struct mt_text_chunk;
struct mt_texts {
    struct mt_text_chunk *chunks;
    struct mt_table table; // struct mt_text
};
int mt_texts_add(struct mt_texts *texts, const struct mt_rec_string *record); // -ERANGE: refused
struct mt_text mt_texts_get(const struct mt_texts *texts, uint32_t id);
// Bytes that live as long as the texts, or NULL.
char *mt_texts_keep(struct mt_texts *texts, const char *bytes, size_t count);
void mt_texts_free(struct mt_texts *texts);

struct mt_group {
    uint32_t parent, string, depth;
};
struct mt_groups { // a tree; a path is the number of its innermost group
    struct mt_group *nodes;
    uint32_t count, capacity;
    uint32_t *buckets;
    uint32_t mask;
};
enum { MT_GROUP_MAX_DEPTH = 64 };
// The group inside `parent`, the same for the same names; 0 if there is no room or it would be too deep.
uint32_t mt_groups_child(struct mt_groups *groups, uint32_t parent, uint32_t string);
void mt_groups_free(struct mt_groups *groups);

// ---- the model ----
struct mt_run;
struct mt_model {
    struct mt_spool *spool;
    struct mt_clock clock;
    struct mt_texts texts;
    struct mt_groups groups;
    struct mt_definitions definitions;
    uint64_t refused_definitions, drop_records, unknown_context;
    const struct mt_run *run; // while one is under way
};

// definitions.c
int mt_definitions_read(struct mt_model *model);
void mt_definitions_free(struct mt_model *model);

#endif
