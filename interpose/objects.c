// SPDX-License-Identifier: MIT
// The table of objects: chains in buckets, changed under a lock, walked without one. Entries are recycled by
// kind, so a walker may step from one chain into another; it then finds nothing and looks again under the
// lock. What it finds is right: nobody takes an object away that the program is using.
#include "objects.h"
#include "os/os.h"
#include "tap.h"

#include <string.h>

enum { BUCKETS = 8192, STRIPES = 64, WALK_LIMIT = 64, ARENA_BYTES = 256 * 1024 };

static const size_t entry_bytes[MT_KINDS] = {
    [MT_KIND_DEVICE] = sizeof(struct mt_device_entry),
    [MT_KIND_QUEUE] = sizeof(struct mt_queue_entry),
    [MT_KIND_COMMAND_BUFFER] = sizeof(struct mt_cb_entry),
    [MT_KIND_ENCODER] = sizeof(struct mt_encoder_entry),
    [MT_KIND_LIBRARY] = sizeof(struct mt_library_entry),
    [MT_KIND_FUNCTION] = sizeof(struct mt_function_entry),
    [MT_KIND_PIPELINE] = sizeof(struct mt_pipeline_entry),
    [MT_KIND_MEMORY] = sizeof(struct mt_memory_entry),
    [MT_KIND_CONSTANTS] = sizeof(struct mt_constants_entry),
};

static struct {
    struct mt_object *buckets[BUCKETS];
    struct stripe {
        mt_lock lock; // of the buckets whose number leaves this remainder
        struct mt_object *free[MT_KINDS];
    } stripes[STRIPES];
    struct {
        mt_lock lock;
        struct mt_link *all; // every entry there ever was
    } kinds[MT_KINDS];
    struct {
        mt_lock lock;
        char *next, *end;
    } arena;
} table;

// In front of each entry: the list of all of its kind.
struct mt_link {
    struct mt_link *next;
    uint64_t reserved; // keeps entries at 16 bytes
};

// ---- memory ----
// Who gets nothing goes on without an entry or a hook, so that what is missing in the report is told here.
static void *tell_if_none(void *memory)
{
    static bool said;
    if (!memory)
        mt_warn_once(&said, "no memory for the tap; some of what follows is not recorded");
    return memory;
}

static void *map(size_t bytes)
{
    void *memory;
    return mt_os_map_memory(bytes, &memory) ? NULL : memory;
}

void *mt_arena(size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > ARENA_BYTES / 4)
        return tell_if_none(map(bytes));
    mt_lock_take(&table.arena.lock);
    if ((size_t)(table.arena.end - table.arena.next) < bytes) {
        char *more = map(ARENA_BYTES);
        table.arena.next = more ? more : table.arena.next;
        table.arena.end = more ? more + ARENA_BYTES : table.arena.end;
    }
    void *memory = NULL;
    if ((size_t)(table.arena.end - table.arena.next) >= bytes) {
        memory = table.arena.next;
        table.arena.next += bytes;
    }
    mt_lock_drop(&table.arena.lock);
    return tell_if_none(memory);
}

static struct mt_object *new_entry(enum mt_kind kind)
{
    struct mt_link *link = mt_arena(sizeof *link + entry_bytes[kind]);
    if (!link)
        return NULL;
    mt_lock_take(&table.kinds[kind].lock);
    link->next = table.kinds[kind].all;
    __atomic_store_n(&table.kinds[kind].all, link, __ATOMIC_RELEASE);
    mt_lock_drop(&table.kinds[kind].lock);
    return (struct mt_object *)(link + 1);
}

// ---- the table ----
static unsigned bucket_of(id object)
{
    return (unsigned)(((uintptr_t)object >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % BUCKETS;
}

static struct mt_object *walk(unsigned bucket, enum mt_kind kind, id object, int limit)
{
    struct mt_object *entry = __atomic_load_n(&table.buckets[bucket], __ATOMIC_ACQUIRE);
    for (; entry && limit; limit--) {
        if (__atomic_load_n(&entry->object, __ATOMIC_RELAXED) == object &&
            __atomic_load_n(&entry->kind, __ATOMIC_RELAXED) == (uint32_t)kind)
            return entry;
        entry = __atomic_load_n(&entry->next, __ATOMIC_ACQUIRE);
    }
    return NULL;
}

void *mt_objects_find(enum mt_kind kind, id object)
{
    unsigned bucket = bucket_of(object);
    struct mt_object *entry = walk(bucket, kind, object, WALK_LIMIT);
    if (__builtin_expect(entry != NULL, 1))
        return entry;
    mt_lock_take(&table.stripes[bucket % STRIPES].lock);
    entry = walk(bucket, kind, object, -1);
    mt_lock_drop(&table.stripes[bucket % STRIPES].lock);
    return entry;
}

static void link_entry(struct mt_object *entry, unsigned bucket, enum mt_kind kind, id object)
{
    __atomic_store_n(&entry->kind, (uint32_t)kind, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->next, table.buckets[bucket], __ATOMIC_RELAXED);
    __atomic_store_n(&entry->object, object, __ATOMIC_RELAXED);
    __atomic_store_n(&table.buckets[bucket], entry, __ATOMIC_RELEASE);
}

// From the stripe's own, or new; the stripe is locked.
static struct mt_object *take_entry(struct stripe *stripe, enum mt_kind kind)
{
    struct mt_object *entry = stripe->free[kind];
    if (!entry)
        return new_entry(kind);
    stripe->free[kind] = entry->next;
    entry->id = 0;
    if (kind != MT_KIND_COMMAND_BUFFER && kind != MT_KIND_ENCODER)
        memset(entry + 1, 0, entry_bytes[kind] - sizeof *entry);
    return entry;
}

void *mt_objects_add(enum mt_kind kind, id object, bool *taken_over)
{
    unsigned bucket = bucket_of(object);
    struct stripe *stripe = &table.stripes[bucket % STRIPES];
    mt_lock_take(&stripe->lock);
    struct mt_object *entry = walk(bucket, kind, object, -1);
    if (taken_over)
        *taken_over = entry != NULL;
    if (!entry) {
        entry = take_entry(stripe, kind);
        if (entry)
            link_entry(entry, bucket, kind, object);
    }
    mt_lock_drop(&stripe->lock);
    return entry;
}

static void put_back(struct stripe *stripe, struct mt_object *entry)
{
    __atomic_store_n(&entry->next, stripe->free[entry->kind], __ATOMIC_RELAXED);
    stripe->free[entry->kind] = entry;
}

static void take_out(struct mt_object *entry, bool recycle)
{
    unsigned bucket = bucket_of(entry->object);
    struct stripe *stripe = &table.stripes[bucket % STRIPES];
    mt_lock_take(&stripe->lock);
    struct mt_object **place = &table.buckets[bucket];
    while (*place && *place != entry)
        place = &(*place)->next;
    if (*place)
        __atomic_store_n(place, entry->next, __ATOMIC_RELEASE);
    __atomic_store_n(&entry->object, NULL, __ATOMIC_RELAXED);
    if (recycle)
        put_back(stripe, entry);
    mt_lock_drop(&stripe->lock);
}

void mt_objects_remove(struct mt_object *entry)
{
    take_out(entry, true);
}

void mt_objects_abandon(struct mt_object *entry)
{
    take_out(entry, false);
}

void mt_objects_each(enum mt_kind kind, void (*visit)(void *context, struct mt_object *entry), void *context)
{
    struct mt_link *link = __atomic_load_n(&table.kinds[kind].all, __ATOMIC_ACQUIRE);
    for (; link; link = link->next) {
        struct mt_object *entry = (struct mt_object *)(link + 1);
        if (__atomic_load_n(&entry->object, __ATOMIC_RELAXED))
            visit(context, entry);
    }
}

// Chains change by single stores, so that they are whole whenever the fork came.
void mt_objects_after_fork(void)
{
    for (unsigned i = 0; i < STRIPES; i++)
        mt_lock_drop(&table.stripes[i].lock);
    for (unsigned kind = 0; kind < MT_KINDS; kind++)
        mt_lock_drop(&table.kinds[kind].lock);
    mt_lock_drop(&table.arena.lock);
}
