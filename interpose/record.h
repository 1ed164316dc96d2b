// SPDX-License-Identifier: MIT
// The recorder: what hooks call to leave something in the spool. Usable without any hook. Every function may
// be called on any thread at any time, also before mt_record_start and after mt_record_stop, when it does
// nothing. None aborts, prints, changes errno or calls malloc. If recording has to stop (no space), that is
// noted once and the rest becomes no-ops.
#ifndef MT_RECORD_H
#define MT_RECORD_H

#include "os/os.h"
#include "spool/format.h"

#include <stdbool.h>
#include <string.h>

struct mt_record_setup {
    const char *path;    // of the spool; must not exist
    uint64_t keep_bytes; // 0: unbounded; else how many bytes of segments are kept
    uint64_t run;
    void (*warn)(const char *text); // called once if recording has to stop; may be NULL
};

// Creates the spool, starts the helper thread. -EEXIST, -ENOSPC, ...: nothing is recorded then.
int mt_record_start(const struct mt_record_setup *setup);
// Ends in good order: closes streams, cuts what was prepared and not used, joins the helper. Idempotent.
void mt_record_stop(void);
bool mt_record_on(void);
// In the child of a fork: forgets the parent's spool without touching it. Nothing is recorded until a new
// start; definitions that the parent made are then copied first, so that ids stay valid.
void mt_record_after_fork(void);

// Appends an event of one or two slots (its type says); `time` is filled in. The time it got, 0 if dropped.
uint64_t mt_record_event(const void *record);
// The same for a definition, shared by all threads and never overwritten. Given out in the order of calls.
void mt_record_define(const void *record);
// The id of a text, the same for the same bytes. 0 for NULL, for an empty text, and when there is no room.
// Texts over MT_SPOOL_MAX_STRING are cut at a character's edge.
uint32_t mt_record_string(const char *text, size_t length);
// A fresh id from 1 of a kind that is counted here, so that ids are unique over threads.
enum mt_record_counter {
    MT_COUNT_DEVICE,
    MT_COUNT_QUEUE,
    MT_COUNT_LIBRARY,
    MT_COUNT_FUNCTION,
    MT_COUNT_PIPELINE,
    MT_COUNT_COMMAND_BUFFER,
    MT_COUNT_ENCODER,
    MT_COUNT_ALLOCATION,
    MT_COUNTERS
};
uint32_t mt_record_next(enum mt_record_counter counter);
// Puts (ticks, clock) on record if the last anchor is older than a few milliseconds.
void mt_record_anchor(void);
const char *mt_record_path(void); // of the spool in use, or NULL

// ---- the hot half: one thread's place in its stream ----
// mt_record_here points to a place without room until a thread's first record, so that no check for "first
// time" is needed: whoever finds cursor == end calls mt_record_event, which sees to it.
struct mt_slot {
    uint64_t time;
    uint64_t body[3];
};
struct mt_record_place {
    struct mt_slot *cursor, *end;
    void *context; // the hooks': the encoder whose CONTEXT or ENCODER_BEGIN was the last in this stream; see
                   // mt_record_no_context
};
extern _Thread_local struct mt_record_place *mt_record_here;
// What `context` points to when there is none: never equal to anything the hooks have.
extern char mt_record_no_context[64];

// Publishes a record whose body is written. The next record's time word is 0 already. Only where records are
// timed by the counter (not mt_os_ticks_from_clock).
static inline void mt_record_publish(struct mt_record_place *place, struct mt_slot *slot)
{
    place->cursor = slot + 1;
    __atomic_store_n(&slot->time, mt_os_counter(), __ATOMIC_RELEASE);
}

// Writing a record in place: open gives the slots in the stream, or `instead` if there is no room or the
// clock has to be asked; close publishes it or hands it to mt_record_event. Between the two nothing else may
// be recorded by this thread. Not for ENCODER_BEGIN and CONTEXT, which the recorder has to see.
static inline void *mt_record_open(unsigned slots, struct mt_slot *instead)
{
    struct mt_record_place *place = mt_record_here;
    bool room = (size_t)((char *)place->end - (char *)place->cursor) >= slots * sizeof(struct mt_slot);
    if (__builtin_expect(room && !mt_os_ticks_from_clock, 1))
        return place->cursor;
    memset(instead, 0, slots * sizeof *instead);
    return instead;
}

static inline uint64_t mt_record_close(void *record, unsigned slots, struct mt_slot *instead)
{
    if (__builtin_expect(record == instead, 0))
        return mt_record_event(record);
    struct mt_slot *slot = record;
    uint64_t now = mt_os_counter();
    mt_record_here->cursor = slot + slots;
    __atomic_store_n(&slot->time, now, __ATOMIC_RELEASE);
    return now;
}

#endif
