// SPDX-License-Identifier: MIT
// Owns the threads' places in their streams, the anchors of the clock and the counters of ids; record.h says
// what each function does. Runs in the target on any thread, also in a signal handler, also in the child of a
// fork. Never waits for the file in the fast half, never writes to a place of another thread, and never
// touches a segment of the parent.
#define _GNU_SOURCE
#include "definitions.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

// A thread's place is a stream; when the thread ends, another goes on with it.
struct place {
    struct mt_record_place open; // the part that hooks see; first
    uint32_t busy;               // a record is being written: a signal handler must not write another
    uint32_t session;            // in which it has a stream; 0: none
    uint32_t stream;
    uint32_t segments; // of the stream, so far
    struct mt_segment *segment;
    uint32_t thread;                  // 0: the helper
    uint32_t encoder, command_buffer; // of the last context on record, for the heads of segments
    uint64_t lost;                    // records, since the last DROP record
    uint64_t left_at;                 // when the thread before this one ended
    bool ending;                      // its thread is in the first round of destructors
    struct place *next;               // among those left behind
};

static struct mt_slot no_slots[1];
static struct place nowhere = {
    .open = {.cursor = no_slots, .end = no_slots, .context = mt_record_no_context},
};
char mt_record_no_context[64];
_Thread_local struct mt_record_place *mt_record_here __attribute__((tls_model("initial-exec"))) =
    &nowhere.open;
// True while this thread is in the slow half: a signal handler that records then is refused.
static _Thread_local bool inside __attribute__((tls_model("initial-exec")));

static struct {
    mt_lock lock;
    struct place *left; // by threads that ended
    uint32_t streams, threads;
    bool prepared; // key and fork handlers exist
    bool has_key;
    pthread_key_t key;
    pid_t pid; // that recording was started in
    uint64_t anchor_last, anchor_every, anchor_width;
    uint32_t counters[MT_COUNTERS];
} recorder;

// ---- appending ----

static inline uint32_t room_of(const struct place *place)
{
    return (uint32_t)(place->open.end - place->open.cursor);
}

// Only this thread and its signal handlers look at it.
static inline void set_busy(struct place *place, bool busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&place->busy, busy, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Copies all but the time, which is stored last. There is room for it, and the caller set `busy` before it
// looked at the time: what a signal handler records comes before or after both.
static inline uint64_t append(struct place *place, const void *record, uint32_t slots, uint64_t time)
{
    const struct mt_rec_context *context = record; // also the beginning of mt_rec_encoder_begin
    struct mt_slot *slot = place->open.cursor;
    memcpy(slot->body, &((const struct mt_slot *)record)->body, sizeof slot->body);
    if (slots == 2)
        slot[1] = ((const struct mt_slot *)record)[1];
    enum mt_record_type type = mt_rec_type(context->word);
    if (type == MT_REC_ENCODER_BEGIN || type == MT_REC_CONTEXT) {
        place->encoder = context->encoder;
        place->command_buffer = context->command_buffer;
    }
    place->open.cursor = slot + slots;
    __atomic_store_n(&slot->time, time, __ATOMIC_RELEASE);
    set_busy(place, false);
    return time;
}

static_assert(offsetof(struct mt_rec_encoder_begin, encoder) == offsetof(struct mt_rec_context, encoder) &&
                  offsetof(struct mt_rec_encoder_begin, command_buffer) ==
                      offsetof(struct mt_rec_context, command_buffer),
              "append reads both alike");

static uint64_t append_now(struct place *place, const void *record, uint32_t slots)
{
    set_busy(place, true);
    return append(place, record, slots, mt_os_ticks());
}

// ---- places and their segments ----

// The next segment of the place's stream.
static bool refill(struct place *place)
{
    struct mt_spool_segment owner = {
        .kind = MT_SEGMENT_EVENTS,
        .stream = place->stream,
        .number = place->segments,
        .thread = place->thread,
        .encoder = place->encoder,
        .command_buffer = place->command_buffer,
    };
    struct mt_segment *old = place->segment, *segment = mt_segments_take(&owner, old);
    if (!segment)
        return false;
    set_busy(place, true);
    place->segment = segment;
    place->segments++;
    place->open.cursor = mt_segment_first(segment);
    place->open.end = mt_segment_end(segment);
    set_busy(place, false);
    if (old)
        mt_segments_done(old);
    if (place->lost) {
        struct mt_rec_drop drop = {.word = MT_REC_WORD(MT_REC_DROP, 0), .records = place->lost};
        append_now(place, &drop, 1);
        place->lost = 0;
    }
    return true;
}

static void begin_stream(struct place *place, uint32_t session)
{
    place->open.cursor = place->open.end = no_slots;
    place->session = session;
    place->stream = __atomic_add_fetch(&recorder.streams, 1, __ATOMIC_RELAXED);
    place->segments = 0;
    place->segment = NULL; // one of an earlier session stays mapped
    place->left_at = 0;
    place->lost = 0;
}

static void leave_behind(struct place *place)
{
    mt_lock_take(&recorder.lock);
    place->next = recorder.left;
    recorder.left = place;
    mt_lock_drop(&recorder.lock);
}

static struct place *find_place(void)
{
    mt_lock_take(&recorder.lock);
    struct place *place = recorder.left;
    if (place)
        recorder.left = place->next;
    mt_lock_drop(&recorder.lock);
    return place ? place : mt_segments_memory(sizeof *place);
}

static void name_thread(const struct place *place, uint64_t os_thread)
{
    char name[64];
    mt_os_thread_name(name, sizeof name);
    struct mt_rec_thread_name record = {
        .word = MT_REC_WORD(MT_REC_THREAD_NAME, place->thread & MT_REC_MAX_SMALL),
        .name = name[0] ? mt_definitions_string(name, strlen(name)) : 0,
        .os_thread = os_thread,
    };
    if (!mt_definitions_add(&record))
        mt_segments_add(&mt_segments_header()->dropped_records, 1);
}

static void say_thread(struct place *place)
{
    uint64_t os_thread = mt_os_thread_id();
    name_thread(place, os_thread);
    struct mt_rec_thread record = {
        .word = MT_REC_WORD(MT_REC_THREAD, 0), .thread = place->thread, .os_thread = os_thread};
    set_busy(place, true);
    uint64_t now = mt_os_ticks();
    append(place, &record, 1, now > place->left_at ? now : place->left_at);
}

// Gives the calling thread a stream with room for THREAD and another record. `place`: the one it has from an
// earlier session, or NULL.
static struct place *attach(struct place *place, uint32_t session, bool is_helper)
{
    bool had = place != NULL;
    if (!had)
        place = find_place();
    if (!place)
        return NULL;
    place->thread = is_helper ? 0 : __atomic_add_fetch(&recorder.threads, 1, __ATOMIC_RELAXED);
    place->encoder = place->command_buffer = 0;
    place->open.context = mt_record_no_context;
    if (place->session != session)
        begin_stream(place, session);
    if (room_of(place) < 3 && !refill(place)) {
        if (!had)
            leave_behind(place);
        return NULL;
    }
    if (!is_helper)
        say_thread(place);
    place->ending = false;
    mt_record_here = &place->open;
    if (!is_helper && recorder.has_key)
        pthread_setspecific(recorder.key, place);
    return place;
}

static struct place *mine(void)
{
    struct place *place = (struct place *)mt_record_here;
    return place == &nowhere ? NULL : place;
}

static struct place *place_with_room(uint32_t slots, bool is_helper)
{
    struct place *place = mine();
    uint32_t session = mt_segments_session();
    if (!place || place->session != session)
        return attach(place, session, is_helper);
    return room_of(place) >= slots || refill(place) ? place : NULL;
}

// Runs when a thread ends. Others' destructors may still record, so the first round is let pass.
static void thread_ended(void *value)
{
    struct place *place = value;
    if (!place->ending) {
        place->ending = true;
        pthread_setspecific(recorder.key, place);
        return;
    }
    inside = true;
    mt_record_here = &nowhere.open;
    place->left_at = mt_os_ticks();
    leave_behind(place);
    inside = false;
}

// ---- events ----

// What comes when recording has ended is no loss.
static void count_drop(struct place *place)
{
    if (mt_segments_phase() == MT_SEGMENTS_OFF)
        return;
    if (place)
        place->lost++;
    mt_segments_add(&mt_segments_header()->dropped_records, 1);
}

// Two slots, no counter, no room, no place yet, or interrupted.
static __attribute__((noinline)) uint64_t append_slowly(const void *record, uint32_t slots)
{
    struct place *place = mine();
    if (place && !place->busy && room_of(place) >= slots)
        return append_now(place, record, slots);
    if (mt_segments_phase() == MT_SEGMENTS_OFF)
        return 0;
    if (inside || (place && place->busy)) {
        count_drop(place);
        return 0;
    }
    int saved = errno;
    uint64_t begin = mt_os_ticks();
    inside = true;
    struct place *found = place_with_room(slots, false);
    uint64_t time = found ? append_now(found, record, slots) : 0;
    if (!found)
        count_drop(place);
    inside = false;
    mt_segments_add(&mt_segments_header()->slow_ticks, mt_os_ticks() - begin);
    errno = saved;
    return time;
}

// Every command buffer pays for this a few times, so it must stay a leaf without branches for what is rare:
// that is in append_slowly. Masking the type to an event's leaves the compiler two types to compare with.
uint64_t mt_record_event(const void *record)
{
    struct place *place = (struct place *)mt_record_here;
    uint32_t word = ((const struct mt_rec_any *)record)->word;
    uint32_t slots = mt_rec_slots(mt_rec_type(word & (MT_REC_STRING - 1)), 0);
    bool has_room = place->open.cursor != place->open.end;
    if (__builtin_expect(slots > 1 || place->busy || !has_room, 0))
        return append_slowly(record, slots);
    set_busy(place, true);
    if (__builtin_expect(mt_os_ticks_from_clock, 0)) {
        set_busy(place, false);
        return append_slowly(record, slots);
    }
    return append(place, record, 1, mt_os_ticks());
}

// ---- anchors ----

// The clock is read between two reads of the counter; the narrowest of a few tries counts, and the first is
// good enough if it is about as narrow as they ever were.
static struct mt_rec_anchor take_anchor(void)
{
    struct mt_rec_anchor best = {.word = MT_REC_WORD(MT_REC_ANCHOR, 0), .width = UINT64_MAX};
    uint64_t usual = __atomic_load_n(&recorder.anchor_width, __ATOMIC_RELAXED);
    for (int try = 0; try < 4 && best.width > usual + usual / 4; try++) {
        uint64_t before = mt_os_ticks(), now_ns = mt_os_clock_ns(), after = mt_os_ticks();
        if (after - before < best.width) {
            best.time = before + (after - before) / 2;
            best.clock_ns = now_ns;
            best.width = after - before;
        }
    }
    if (best.width < usual || !usual)
        __atomic_store_n(&recorder.anchor_width, best.width, __ATOMIC_RELAXED);
    return best;
}

static void anchor_now(bool is_helper)
{
    struct place *place = mine();
    if (inside || (place && place->busy))
        return;
    int saved = errno;
    inside = true;
    place = place_with_room(1, is_helper);
    if (place) {
        set_busy(place, true);
        struct mt_rec_anchor anchor = take_anchor();
        __atomic_store_n(&recorder.anchor_last, anchor.time, __ATOMIC_RELAXED);
        append(place, &anchor, 1, anchor.time);
    }
    inside = false;
    errno = saved;
}

static bool anchor_is_old(void)
{
    uint64_t last = __atomic_load_n(&recorder.anchor_last, __ATOMIC_RELAXED), now = mt_os_ticks();
    if (now - last < recorder.anchor_every || now < last)
        return false;
    // Of threads that come at once, one does it.
    return __atomic_compare_exchange_n(&recorder.anchor_last, &last, now, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

void mt_record_anchor(void)
{
    if (mt_segments_phase() == MT_SEGMENTS_ON && anchor_is_old())
        anchor_now(false);
}

static void helper_every_second(void)
{
    if (mt_segments_phase() == MT_SEGMENTS_ON && anchor_is_old())
        anchor_now(true);
}

// ---- definitions, ids ----

void mt_record_define(const void *record)
{
    if (mt_segments_phase() == MT_SEGMENTS_OFF)
        return;
    int saved = errno;
    uint64_t begin = mt_os_ticks();
    bool outer = !inside, added = false;
    if (outer) {
        inside = true;
        added = mt_definitions_add(record);
        inside = false;
    }
    if (!added)
        count_drop(NULL);
    mt_segments_add(&mt_segments_header()->slow_ticks, mt_os_ticks() - begin);
    errno = saved;
}

uint32_t mt_record_string(const char *text, size_t length)
{
    if (!text || !length || mt_segments_phase() == MT_SEGMENTS_OFF)
        return 0;
    int saved = errno;
    uint32_t id = 0;
    if (!inside) {
        inside = true;
        id = mt_definitions_string(text, length);
        inside = false;
    }
    if (!id)
        count_drop(NULL);
    errno = saved;
    return id;
}

uint32_t mt_record_next(enum mt_record_counter counter)
{
    return __atomic_add_fetch(&recorder.counters[counter], 1, __ATOMIC_RELAXED);
}

// ---- beginning and end ----

bool mt_record_on(void)
{
    return mt_segments_phase() == MT_SEGMENTS_ON;
}

const char *mt_record_path(void)
{
    return mt_segments_path();
}

// What a record costs: a few thousand into memory of the same kind as a warm segment.
static uint64_t measure_append(void)
{
    enum { RECORDS = 2000, ROUNDS = 3 };
    void *memory;
    if (mt_os_map_memory(RECORDS * sizeof(struct mt_slot), &memory))
        return 0;
    struct place place = {.open = {.end = (struct mt_slot *)memory + RECORDS}};
    struct mt_rec_dispatch record = {.word = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, 1)};
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < ROUNDS; round++) { // the first one also brings the pages
        place.open.cursor = memory;
        uint64_t begin = mt_os_ticks();
        for (int i = 0; i < RECORDS; i++)
            append_now(&place, &record, 1);
        uint64_t ticks = mt_os_ticks() - begin;
        best = ticks < best ? ticks : best;
    }
    mt_os_unmap(memory, RECORDS * sizeof(struct mt_slot));
    return best * 1024 / RECORDS;
}

static void lock_for_fork(void)
{
    if (inside)
        return; // in a signal handler: this thread may hold them
    mt_definitions_lock_for_fork();
    mt_lock_take(&recorder.lock);
    mt_segments_lock_for_fork();
}

static void unlock_after_fork(void)
{
    if (inside)
        return;
    mt_segments_unlock_after_fork();
    mt_lock_drop(&recorder.lock);
    mt_definitions_unlock_after_fork();
}

static void prepare_process(void)
{
    if (recorder.prepared)
        return;
    recorder.prepared = true;
    // Without a key, places of ended threads are not used again: more space, no harm.
    recorder.has_key = !pthread_key_create(&recorder.key, thread_ended);
    pthread_atfork(lock_for_fork, unlock_after_fork, mt_record_after_fork);
}

// Anchors at most every 5 ms: in ticks, from how many passed since `ticks` and `clock_ns`.
static uint64_t anchor_interval(uint64_t ticks, uint64_t clock_ns)
{
    enum { EVERY_NS = 5000000 };
    uint64_t elapsed_ns = mt_os_clock_ns() - clock_ns;
    return (uint64_t)((double)(mt_os_ticks() - ticks) / (double)(elapsed_ns + 1) * EVERY_NS);
}

int mt_record_start(const struct mt_record_setup *setup)
{
    int saved = errno;
    if (mt_segments_phase() != MT_SEGMENTS_OFF)
        return -EBUSY;
    mt_os_ticks_init();
    uint64_t ticks = mt_os_ticks(), clock_ns = mt_os_clock_ns();
    prepare_process();
    recorder.streams = recorder.threads = 0;
    recorder.pid = getpid();
    struct mt_segments_setup segments = {
        .record = setup, .append_ticks_x1024 = measure_append(), .every_second = helper_every_second};
    recorder.anchor_every = anchor_interval(ticks, clock_ns);
    inside = true;
    int rc = mt_segments_start(&segments);
    if (!rc) {
        rc = mt_definitions_start();
        if (rc)
            mt_segments_abandon();
    }
    inside = false;
    if (!rc)
        anchor_now(false);
    errno = saved;
    return rc;
}

// The thread has no place from now on. The place itself is left as it is: in a signal handler, the record
// that was interrupted will still be finished there.
static void forget_place(void)
{
    struct place *place = mine();
    if (!place)
        return;
    place->session = 0;
    mt_record_here = &nowhere.open;
}

void mt_record_stop(void)
{
    if (mt_segments_phase() == MT_SEGMENTS_OFF)
        return;
    int saved = errno;
    if (inside) {
        mt_segments_stop_at_once();
    } else {
        anchor_now(false);
        inside = true;
        mt_segments_stop();
        forget_place();
        inside = false;
    }
    errno = saved;
}

void mt_record_after_fork(void)
{
    if (!recorder.prepared || recorder.pid == getpid())
        return; // done already, or started anew
    int saved = errno;
    recorder.pid = getpid();
    mt_lock_drop(&recorder.lock);
    recorder.left = NULL;
    mt_definitions_unlock_after_fork();
    mt_segments_after_fork();
    forget_place();
    inside = false;
    errno = saved;
}
