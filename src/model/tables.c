// SPDX-License-Identifier: MIT
// Two tables by id: definitions, kept in an array for good, and things in flight, which come and go. Both
// grow with what the spool holds. Must never allocate in proportion to an id.
#include "model/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- definitions ----

// Ids are given out from 1, so that they hardly exceed the number of definitions; some may have been lost.
static bool id_is_plausible(const struct mt_table *table, uint32_t id)
{
    return id > 0 && id <= UINT64_C(8) * table->seen + 1024;
}

static int table_reserve(struct mt_table *table, uint32_t count)
{
    if (count <= table->capacity)
        return 0;
    size_t capacity = table->capacity * (size_t)2 > count ? table->capacity * (size_t)2 : count;
    char *entries = realloc(table->entries, capacity * table->entry_bytes);
    if (!entries)
        return -ENOMEM;
    memset(entries + table->capacity * table->entry_bytes, 0,
           (capacity - table->capacity) * table->entry_bytes);
    table->entries = entries;
    table->capacity = (uint32_t)capacity;
    return 0;
}

void *mt_table_at(struct mt_table *table, uint32_t id, int *error)
{
    *error = 0;
    if (table->seen < MT_REC_MAX_SMALL)
        table->seen++;
    if (!id_is_plausible(table, id))
        return NULL;
    *error = table_reserve(table, id + 1);
    if (*error)
        return NULL;
    if (table->count < id + 1)
        table->count = id + 1;
    return mt_table_find(table, id);
}

void mt_table_free(struct mt_table *table)
{
    free(table->entries);
    table->entries = NULL;
    table->count = table->capacity = 0;
}

// ---- things in flight ----

static uint32_t bucket_of(const struct mt_flight *flight, uint32_t id)
{
    return (uint32_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & flight->mask;
}

static uint32_t id_at(const struct mt_flight *flight, uint32_t index)
{
    return ((const struct mt_flight_entry *)mt_flight_at(flight, index))->id;
}

uint32_t mt_flight_find(const struct mt_flight *flight, uint32_t id)
{
    if (!flight->live || !id)
        return MT_FLIGHT_NONE;
    for (uint32_t b = bucket_of(flight, id); flight->buckets[b]; b = (b + 1) & flight->mask)
        if (id_at(flight, flight->buckets[b] - 1) == id)
            return flight->buckets[b] - 1;
    return MT_FLIGHT_NONE;
}

static void put_in_bucket(struct mt_flight *flight, uint32_t index)
{
    uint32_t b = bucket_of(flight, id_at(flight, index));
    while (flight->buckets[b])
        b = (b + 1) & flight->mask;
    flight->buckets[b] = index + 1;
}

// Twice as many buckets as entries, so that chains stay short.
static int flight_grow(struct mt_flight *flight)
{
    size_t capacity = flight->capacity ? flight->capacity * (size_t)2 : 64;
    if (capacity > UINT32_C(1) << 28)
        return -ENOMEM;
    uint32_t *buckets = calloc(capacity * 2, sizeof *buckets);
    char *entries = realloc(flight->entries, capacity * flight->entry_bytes);
    if (entries)
        flight->entries = entries;
    if (!entries || !buckets) {
        free(buckets);
        return -ENOMEM;
    }
    free(flight->buckets);
    flight->buckets = buckets;
    flight->capacity = (uint32_t)capacity;
    flight->mask = (uint32_t)capacity * 2 - 1;
    for (uint32_t i = 0; i < flight->used; i++)
        if (id_at(flight, i))
            put_in_bucket(flight, i);
    return 0;
}

static uint32_t take_entry(struct mt_flight *flight)
{
    if (flight->first_free) {
        uint32_t index = flight->first_free - 1;
        flight->first_free = ((const struct mt_flight_entry *)mt_flight_at(flight, index))->next_free;
        return index;
    }
    if (flight->used == flight->capacity && flight_grow(flight))
        return MT_FLIGHT_NONE;
    return flight->used++;
}

uint32_t mt_flight_add(struct mt_flight *flight, uint32_t id)
{
    uint32_t index = take_entry(flight);
    if (index == MT_FLIGHT_NONE)
        return index;
    struct mt_flight_entry *entry = mt_flight_at(flight, index);
    memset(entry, 0, flight->entry_bytes);
    entry->id = id;
    put_in_bucket(flight, index);
    flight->live++;
    return index;
}

// Closes the hole in a chain by moving back what would not be found behind it.
static void empty_bucket(struct mt_flight *flight, uint32_t hole)
{
    uint32_t mask = flight->mask;
    for (uint32_t b = (hole + 1) & mask; flight->buckets[b]; b = (b + 1) & mask) {
        uint32_t home = bucket_of(flight, id_at(flight, flight->buckets[b] - 1));
        if (((b - home) & mask) < ((b - hole) & mask))
            continue;
        flight->buckets[hole] = flight->buckets[b];
        hole = b;
    }
    flight->buckets[hole] = 0;
}

void mt_flight_remove(struct mt_flight *flight, uint32_t index)
{
    struct mt_flight_entry *entry = mt_flight_at(flight, index);
    uint32_t b = bucket_of(flight, entry->id);
    while (flight->buckets[b] != index + 1)
        b = (b + 1) & flight->mask;
    empty_bucket(flight, b);
    entry->id = 0;
    entry->next_free = flight->first_free;
    flight->first_free = index + 1;
    flight->live--;
}

void mt_flight_free(struct mt_flight *flight)
{
    free(flight->entries);
    free(flight->buckets);
    flight->entries = NULL;
    flight->buckets = NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct mt_flight_entry *x = a, *y = b; // next_free holds the index here
    return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t *mt_flight_sorted(const struct mt_flight *flight)
{
    uint32_t *indices = malloc((flight->live + (size_t)1) * sizeof *indices);
    struct mt_flight_entry *order = malloc((flight->live + (size_t)1) * sizeof *order);
    if (!indices || !order) {
        free(indices);
        free(order);
        return NULL;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < flight->used; i++)
        if (id_at(flight, i))
            order[count++] = (struct mt_flight_entry){.id = id_at(flight, i), .next_free = i};
    qsort(order, count, sizeof *order, by_id);
    for (uint32_t i = 0; i < count; i++)
        indices[i] = order[i].next_free;
    free(order);
    return indices;
}
