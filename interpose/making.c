// SPDX-License-Identifier: MIT
// Gives numbers to what is made. Metal may serve one call by making another on a thread of its own, which
// looks like the program's; both report the same object, or the same error, and the second finds that the
// first did so since it began. Runs on the program's threads and on those where Metal calls handlers.
#include "making.h"

#include <stdlib.h>
#include <string.h>

enum { FAILURES_KEPT = 16 };

// The first members of the entries of all things that are made.
struct made_entry {
    struct mt_object o;
    uint64_t made;
};
static_assert(offsetof(struct mt_library_entry, made) == offsetof(struct made_entry, made), "same head");
static_assert(offsetof(struct mt_function_entry, made) == offsetof(struct made_entry, made), "same head");
static_assert(offsetof(struct mt_pipeline_entry, made) == offsetof(struct made_entry, made), "same head");

struct failure {
    id error; // an address, nothing more
    const struct mt_making_kind *kind;
    uint64_t made;
    uint32_t number;
};

static struct {
    mt_lock lock;
    unsigned next;
    struct failure failures[FAILURES_KEPT];
} state;

// ---- numbers ----
static uint32_t number_of_object(const struct mt_making *making, struct made_entry *entry, bool taken_over,
                                 bool *again)
{
    *again = taken_over && entry->made > making->begin;
    if (!*again)
        entry->o.id = mt_record_next(making->kind->counter);
    entry->made = making->end;
    return entry->o.id;
}

static uint32_t number_of_failure(const struct mt_making *making, id error, bool *again)
{
    struct failure *found = NULL;
    mt_lock_take(&state.lock);
    for (unsigned i = 0; i < FAILURES_KEPT && !found && error; i++) {
        struct failure *failure = &state.failures[i];
        if (failure->error == error && failure->kind == making->kind && failure->made > making->begin)
            found = failure;
    }
    *again = found != NULL;
    if (!found) {
        found = &state.failures[state.next++ % FAILURES_KEPT];
        *found = (struct failure){error, making->kind, making->end, mt_record_next(making->kind->counter)};
    }
    uint32_t number = found->number;
    mt_lock_drop(&state.lock);
    return number;
}

// What the program asked for without a handler has been told in full by the first; a handler's definition
// replaces it.
static void know_made(const struct mt_making *making, id object)
{
    bool taken_over, again;
    mt_swizzle(object, making->kind->role);
    struct made_entry *entry = mt_objects_add(making->kind->kind, object, &taken_over);
    if (!entry)
        return;
    uint32_t number = number_of_object(making, entry, taken_over, &again);
    if (!again || making->is_async)
        making->kind->define(making, &entry->o, object, number, 0);
}

static void know_failed(const struct mt_making *making, id error)
{
    bool again;
    uint32_t number = number_of_failure(making, error, &again);
    if (again && !making->is_async)
        return;
    const char *unexplained = making->kind->unexplained;
    uint32_t text = error ? mt_error_text_of(error) : mt_record_string(unexplained, strlen(unexplained));
    making->kind->define(making, NULL, NULL, number, text);
}

static void know(struct mt_making *making, id object, id error)
{
    making->end = mt_os_ticks();
    struct mt_ours ours;
    mt_ours_begin(&ours);
    if (object)
        know_made(making, object);
    else
        know_failed(making, error);
    mt_ours_end(&ours);
}

// ---- plain calls ----
// What the place holds beforehand is the program's, and often nothing at all: it is passed on, and only what
// Metal puts there instead is looked at.
void mt_making_begin(struct mt_making *making, id *program_place)
{
    making->place = making->program_place = program_place;
    if (!making->recorded)
        return;
    making->place = &making->error;
    making->error = making->error_before = program_place ? *program_place : NULL;
    making->begin = mt_os_ticks();
}

void mt_making_end(struct mt_making *making, id object)
{
    if (!making->recorded)
        return;
    if (making->program_place && making->error != making->error_before)
        *making->program_place = making->error;
    know(making, object, making->error != making->error_before ? making->error : NULL);
}

// ---- calls with a handler ----
struct pending {
    struct mt_making making;
    void *handler; // the program's
};

static void drop_pending(void *context)
{
    struct pending *pending = context;
    mt_objc_block_release(pending->handler);
    free(pending);
}

static void when_made(void *context, id object, id error)
{
    struct pending *pending = context;
    know(&pending->making, object, error);
    struct mt_call *suspended = mt_calls_suspend();
    mt_objc_block_call_result(pending->handler, object, error);
    mt_calls_resume(suspended);
}

static void when_made_reflecting(void *context, id object, id reflection, id error)
{
    struct pending *pending = context;
    know(&pending->making, object, error);
    struct mt_call *suspended = mt_calls_suspend();
    mt_objc_block_call_reflection(pending->handler, object, reflection, error);
    mt_calls_resume(suspended);
}

static void *wrap(struct mt_making *making, const void *handler, bool reflecting)
{
    struct pending *pending = malloc(sizeof *pending);
    if (!pending)
        return NULL;
    making->is_async = true;
    making->begin = mt_os_ticks();
    *pending = (struct pending){.making = *making, .handler = mt_objc_block_copy(handler)};
    void *block = NULL;
    if (pending->handler)
        block = reflecting ? mt_objc_block_reflection(when_made_reflecting, pending, drop_pending)
                           : mt_objc_block_result(when_made, pending, drop_pending);
    if (!block)
        drop_pending(pending);
    return block;
}

static void *wrap_if_recorded(struct mt_making *making, const void *handler, bool reflecting)
{
    if (!making->recorded || !handler)
        return NULL;
    struct mt_ours ours;
    mt_ours_begin(&ours);
    void *block = wrap(making, handler, reflecting);
    mt_ours_end(&ours);
    return block;
}

void *mt_making_handler(struct mt_making *making, const void *handler)
{
    return wrap_if_recorded(making, handler, false);
}

void *mt_making_reflection_handler(struct mt_making *making, const void *handler)
{
    return wrap_if_recorded(making, handler, true);
}
