// SPDX-License-Identifier: MIT
// Numbers for objects and the bracket around our own messages. Runs on the program's threads, in calls that
// are rare: takes a lock, but never sends a message while it is held.
#include "know.h"

#include <errno.h>

static struct {
    mt_lock lock; // an entry and its number are made in one step
} known;

void mt_ours_begin(struct mt_ours *ours)
{
    ours->saved_errno = errno;
    mt_calls_ours_begin(&ours->call);
    ours->pool = mt_objc_pool_push();
}

void mt_ours_end(struct mt_ours *ours)
{
    mt_objc_pool_pop(ours->pool);
    mt_calls_ours_end(&ours->call);
    errno = ours->saved_errno;
}

void *mt_know_claim(enum mt_kind kind, id object, enum mt_record_counter counter, bool is_new, bool *define)
{
    int saved_errno = errno;
    bool taken_over = false;
    mt_lock_take(&known.lock);
    struct mt_object *entry = mt_objects_add(kind, object, &taken_over);
    *define = entry && (is_new || !taken_over);
    if (*define)
        entry->id = mt_record_next(counter);
    mt_lock_drop(&known.lock);
    errno = saved_errno;
    return entry;
}
