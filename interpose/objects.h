// SPDX-License-Identifier: MIT
// What the tap knows about Metal objects, by their address: one table for all kinds. Entries are given out
// when the program receives an object and taken back when it is known to be gone; their memory is never
// returned, so a pointer to one is always safe to look at. Finding takes no lock when the object is there.
// Runs on the program's threads; uses no malloc.
#ifndef MT_OBJECTS_H
#define MT_OBJECTS_H

#include "lock.h"
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

// For entries that a thread remembers: they may be another object's by now, or nobody's.
static inline bool mt_object_is(const struct mt_object *entry, id object)
{
    return __atomic_load_n(&entry->object, __ATOMIC_RELAXED) == object;
}

// An entry for `object`, findable from now on; NULL when memory is short. A fresh one is zeroed, but for
// command buffers and encoders, whose hooks see to it themselves. `taken_over` (may be NULL) tells that an
// entry was there already under this address and kind, which is given out as it is: the object it was for is
// gone.
void *mt_objects_add(enum mt_kind kind, id object, bool *taken_over);
void *mt_objects_find(enum mt_kind kind, id object);
// Takes the entry out; it is used again for another object.
void mt_objects_remove(struct mt_object *entry);
// Takes it out for good: somebody may still hold on to it.
void mt_objects_abandon(struct mt_object *entry);
// All entries of a kind that are in use; others may come and go meanwhile.
void mt_objects_each(enum mt_kind kind, void (*visit)(void *context, struct mt_object *entry), void *context);

// Memory that lives as long as the process; zeroed; NULL when there is none.
void *mt_arena(size_t bytes);

// In the child of a fork: nobody else is left to drop a lock.
void mt_objects_after_fork(void);

#endif
