// SPDX-License-Identifier: MIT
// What the tap knows about Metal objects, by their address: one table for all kinds. Entries are given out
// when the program receives an object and taken back when it is known to be gone; their memory is never
// returned, so a pointer to one is always safe to look at. Finding takes no lock when the object is there.
// Runs on the program's threads; uses no malloc.
#ifndef MT_OBJECTS_H
#define MT_OBJECTS_H

#include "objc/objc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mt_kind {
    MT_KIND_DEVICE,
    MT_KIND_QUEUE,
    MT_KIND_COMMAND_BUFFER,
    MT_KIND_ENCODER,
    MT_KIND_LIBRARY,
    MT_KIND_FUNCTION,
    MT_KIND_PIPELINE,
    MT_KIND_MEMORY,
    MT_KIND_CONSTANTS,
    MT_KINDS
};

// The first member of every entry.
struct mt_object {
    id object; // NULL while it is nobody's
    uint32_t kind;
    uint32_t id; // as recorded
    struct mt_object *next;
};

// A zeroed entry for `object`, findable from now on; NULL when memory is short. An entry that is there
// already under this address and kind is taken over: the old object is gone. `taken_over` (may be NULL)
// tells.
void *mt_objects_add(enum mt_kind kind, id object, bool *taken_over);
void *mt_objects_find(enum mt_kind kind, id object);
// Takes the entry out; whoever calls this alone still uses it until mt_objects_recycle.
void mt_objects_remove(struct mt_object *entry);
void mt_objects_recycle(struct mt_object *entry);
// All entries of a kind that are in use; others may come and go meanwhile.
void mt_objects_each(enum mt_kind kind, void (*visit)(void *context, struct mt_object *entry), void *context);

// Memory that lives as long as the process; zeroed; NULL when there is none.
void *mt_arena(size_t bytes);

// A lock for short stretches. Not for use in a signal handler.
typedef struct mt_lock {
    uint32_t taken;
} mt_lock;
void mt_lock_slow(mt_lock *lock);
static inline void mt_lock_take(mt_lock *lock)
{
    if (__builtin_expect(__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE), 0))
        mt_lock_slow(lock);
}
static inline void mt_lock_drop(mt_lock *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

#endif
