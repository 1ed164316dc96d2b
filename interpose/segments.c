// SPDX-License-Identifier: MIT
// Owns the spool's file: its header, the segments prepared ahead of need, those to be unmapped or
// overwritten, and the helper thread that sees to them. Runs in the target, on the helper thread and in the
// recorder's slow half on any other. Never unmaps or cuts off a segment that a stream may still write to.
#define _GNU_SOURCE
#include "segments.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READY_LEAST = 2,
    READY_MOST = 16,
    KEEP_LEAST = 4,        // segments
    HIGH_DESCRIPTOR = 512, // programs expect the low ones to be theirs
    BATCH_BYTES = 64 * 1024,
    MEMORY_ALIGN = 128,
    STOP_PATIENCE_MS = 2000,
};

struct segment_list {
    struct mt_segment *first, *last;
    uint32_t count;
};

static struct {
    mt_lock overwrite_lock; // taken before `lock`
    mt_lock lock;           // of everything down to `preparing`
    uint32_t phase, session;
    struct segment_list ready;  // prepared, oldest first
    struct segment_list closed; // unbounded: to be unmapped by the helper
    struct segment_list kept;   // bounded: closed, oldest first, still mapped, to be overwritten
    struct mt_segment *spare;   // descriptors without a segment
    uint64_t places;            // in the file, whether ready, in use or done with
    uint64_t event_places;      // those that are not of definitions
    uint32_t taken;             // since the helper looked last
    uint32_t wanted;            // to be ready
    uint32_t preparing;         // threads busy with the file

    uint64_t keep_places; // 0: unbounded
    int fd;
    struct stat identity; // of the file behind fd, since programs close descriptors that are not theirs
    int full_reason;      // -errno: the file cannot grow any more
    struct mt_spool_header *header;
    char path[1024];
    void (*warn)(const char *text);

    mt_os_thread helper;
    bool helper_runs;
    bool unfinished; // ended at once: what a stop does is left to the next start
    uint32_t helper_end, wake;
    void (*every_second)(void);

    mt_lock memory_lock;
    char *memory, *memory_end;
} spool;

static struct mt_spool_header nobodys_header;

// ---- small things ----

enum mt_segments_phase mt_segments_phase(void)
{
    return (enum mt_segments_phase)__atomic_load_n(&spool.phase, __ATOMIC_ACQUIRE);
}

uint32_t mt_segments_session(void)
{
    return __atomic_load_n(&spool.session, __ATOMIC_ACQUIRE);
}

static void set_phase(enum mt_segments_phase phase)
{
    __atomic_store_n(&spool.phase, (uint32_t)phase, __ATOMIC_RELEASE);
}

struct mt_spool_header *mt_segments_header(void)
{
    struct mt_spool_header *header = __atomic_load_n(&spool.header, __ATOMIC_ACQUIRE);
    return header ? header : &nobodys_header;
}

void mt_segments_add(uint64_t *header_field, uint64_t amount)
{
    __atomic_fetch_add(header_field, amount, __ATOMIC_RELAXED);
}

const char *mt_segments_path(void)
{
    return mt_segments_phase() == MT_SEGMENTS_OFF ? NULL : spool.path;
}

struct mt_slot *mt_segment_first(const struct mt_segment *segment)
{
    return (struct mt_slot *)segment->head + MT_SPOOL_FIRST_SLOT;
}

struct mt_slot *mt_segment_end(const struct mt_segment *segment)
{
    return (struct mt_slot *)segment->head + MT_SPOOL_SEGMENT_SLOTS;
}

void *mt_segments_memory(size_t bytes)
{
    bytes = (bytes + MEMORY_ALIGN - 1) / MEMORY_ALIGN * MEMORY_ALIGN;
    void *result = NULL;
    mt_lock_take(&spool.memory_lock);
    if ((size_t)(spool.memory_end - spool.memory) < bytes) {
        void *batch;
        if (mt_os_map_memory(BATCH_BYTES, &batch))
            goto out;
        spool.memory = batch;
        spool.memory_end = spool.memory + BATCH_BYTES;
    }
    result = spool.memory;
    spool.memory += bytes;
out:
    mt_lock_drop(&spool.memory_lock);
    return result;
}

static void list_add(struct segment_list *list, struct mt_segment *segment)
{
    segment->next = NULL;
    if (list->first)
        list->last->next = segment;
    else
        list->first = segment;
    list->last = segment;
    list->count++;
}

static struct mt_segment *list_take(struct segment_list *list)
{
    struct mt_segment *segment = list->first;
    if (segment) {
        list->first = segment->next;
        list->count--;
    }
    return segment;
}

static void make_spare(struct mt_segment *segment)
{
    segment->next = spool.spare;
    spool.spare = segment;
}

static void unmap_segment(struct mt_segment *segment)
{
    mt_os_unmap(segment->head, MT_SPOOL_SEGMENT_BYTES);
    segment->head = NULL;
}

// ---- preparing segments ----

static struct mt_segment *descriptor(void)
{
    struct mt_segment *segment = spool.spare;
    if (!segment)
        return mt_segments_memory(sizeof *segment);
    spool.spare = segment->next;
    return segment;
}

// Bounded mode: whether the oldest closed segment is the next to be used. Under the lock.
static bool overwrites(void)
{
    return spool.kept.first && (spool.full_reason || spool.event_places >= spool.keep_places);
}

static struct mt_segment *choose_place(bool *again)
{
    *again = overwrites();
    if (*again)
        return list_take(&spool.kept);
    struct mt_segment *segment = descriptor();
    if (segment) {
        *segment = (struct mt_segment){.index = spool.places++};
        spool.event_places++;
    }
    return segment;
}

static uint64_t place_offset(uint64_t index)
{
    return MT_SPOOL_HEADER_BYTES + index * MT_SPOOL_SEGMENT_BYTES;
}

// Programs that turn into daemons close all descriptors and may get the same number for a file of their own.
static int check_descriptor(void)
{
    struct stat now;
    if (fstat(spool.fd, &now))
        return -errno;
    return now.st_dev == spool.identity.st_dev && now.st_ino == spool.identity.st_ino ? 0 : -EBADF;
}

static uint64_t count_records(const struct mt_spool_segment *head)
{
    const struct mt_rec_any *slots = (const struct mt_rec_any *)head;
    uint64_t records = 0;
    uint32_t at = MT_SPOOL_FIRST_SLOT;
    while (at < MT_SPOOL_SEGMENT_SLOTS && slots[at].time) {
        at += mt_rec_slots(mt_rec_type(slots[at].word), 0);
        records++;
    }
    return records;
}

// What is lost is counted first, then the segment is nobody's and another use, and then it may be emptied: a
// reader that finds the same use before and after has read it whole.
static void give_up(struct mt_spool_segment *head)
{
    mt_segments_add(&spool.header->overwritten_records, count_records(head));
    mt_segments_add(&spool.header->overwritten_segments, 1);
    __atomic_store_n(&head->kind, MT_SEGMENT_FREE, __ATOMIC_SEQ_CST);
    __atomic_store_n(&head->use, head->use + 1, __ATOMIC_SEQ_CST);
}

static void empty(struct mt_spool_segment *head)
{
    memset(head + 1, 0, MT_SPOOL_SEGMENT_BYTES - sizeof *head);
    __atomic_store_n(&head->closed, 0, __ATOMIC_RELEASE);
}

static int map_new(struct mt_segment *segment)
{
    uint64_t offset = place_offset(segment->index);
    int rc = check_descriptor();
    if (!rc)
        rc = mt_os_reserve(spool.fd, offset, MT_SPOOL_SEGMENT_BYTES);
    void *memory;
    if (!rc)
        rc = mt_os_map_file(spool.fd, offset, MT_SPOOL_SEGMENT_BYTES, true, &memory);
    if (rc)
        return rc;
    segment->head = memory;
    segment->head->magic = MT_SPOOL_SEGMENT_MAGIC;
    return 0;
}

// From here on the place is not cut off at the end. Under the lock.
static void hand_out(struct mt_segment *segment)
{
    if (segment->index >= spool.header->segments)
        __atomic_store_n(&spool.header->segments, segment->index + 1, __ATOMIC_RELEASE);
    spool.taken++;
}

// What became of a prepared segment, under the lock: where it goes, or NULL if it is not to be used.
static struct mt_segment *settle(struct mt_segment *segment, int rc, bool for_ready)
{
    if (rc)
        spool.full_reason = rc;
    if (!segment)
        return NULL;
    if (rc || mt_segments_phase() != MT_SEGMENTS_ON) {
        if (segment->head)
            unmap_segment(segment);
        make_spare(segment);
        return NULL;
    }
    if (for_ready)
        list_add(&spool.ready, segment);
    else
        hand_out(segment);
    return segment;
}

// Chooses a place to prepare, and counts the caller among those who do until settle. False: recording is over
// or the file cannot grow. Segments of a stream are given up in their order, hence the lock of its own.
static bool begin_preparing(struct mt_segment **segment, bool *again)
{
    mt_lock_take(&spool.overwrite_lock);
    mt_lock_take(&spool.lock);
    bool wanted = mt_segments_phase() == MT_SEGMENTS_ON && (!spool.full_reason || overwrites());
    if (wanted) {
        *segment = choose_place(again);
        spool.preparing++;
    }
    mt_lock_drop(&spool.lock);
    if (wanted && *again)
        give_up((*segment)->head);
    mt_lock_drop(&spool.overwrite_lock);
    return wanted;
}

// One more segment, for the list of those that are ready or to be used at once. NULL: recording is over, or
// the file cannot grow, in which case full_reason is set.
static struct mt_segment *prepare(bool for_ready)
{
    bool again = false;
    struct mt_segment *segment = NULL;
    if (!begin_preparing(&segment, &again))
        return NULL;
    int rc = 0;
    if (again)
        empty(segment->head);
    else
        rc = segment ? map_new(segment) : -ENOMEM;
    mt_lock_take(&spool.lock);
    segment = settle(segment, rc, for_ready);
    __atomic_store_n(&spool.preparing, spool.preparing - 1, __ATOMIC_RELEASE);
    mt_lock_drop(&spool.lock);
    return segment;
}

static void unmap_closed(void)
{
    for (;;) {
        mt_lock_take(&spool.lock);
        struct mt_segment *segment = list_take(&spool.closed);
        mt_lock_drop(&spool.lock);
        if (!segment)
            return;
        unmap_segment(segment);
        mt_lock_take(&spool.lock);
        make_spare(segment);
        mt_lock_drop(&spool.lock);
    }
}

// ---- the helper ----

static void wake_helper(void)
{
    __atomic_fetch_add(&spool.wake, 1, __ATOMIC_SEQ_CST);
    mt_os_wake_word(&spool.wake);
}

// As many are kept ready as were taken at once not long ago. In bounded mode what is ready is not history.
static void fill_ready(void)
{
    uint32_t most = READY_MOST;
    if (spool.keep_places && spool.keep_places / 8 < most)
        most = (uint32_t)(spool.keep_places / 8);
    if (most < READY_LEAST)
        most = READY_LEAST;
    mt_lock_take(&spool.lock);
    if (spool.taken > spool.wanted)
        spool.wanted = spool.taken;
    else if (!spool.taken && spool.wanted > READY_LEAST)
        spool.wanted--;
    if (spool.wanted > most)
        spool.wanted = most;
    spool.taken = 0;
    uint32_t missing = spool.ready.count < spool.wanted ? spool.wanted - spool.ready.count : 0;
    mt_lock_drop(&spool.lock);
    while (missing-- && prepare(true))
        continue;
}

static void helper_main(void *unused)
{
    (void)unused;
    const uint64_t second_ns = 1000000000U;
    uint64_t next_ns = mt_os_clock_ns() + second_ns;
    while (!__atomic_load_n(&spool.helper_end, __ATOMIC_ACQUIRE)) {
        uint32_t seen = __atomic_load_n(&spool.wake, __ATOMIC_SEQ_CST);
        unmap_closed();
        fill_ready();
        uint64_t now_ns = mt_os_clock_ns();
        if (now_ns >= next_ns) {
            spool.every_second();
            next_ns = now_ns + second_ns;
        }
        if (!__atomic_load_n(&spool.helper_end, __ATOMIC_ACQUIRE))
            mt_os_wait_word(&spool.wake, seen, next_ns - now_ns);
    }
}

// ---- taking and closing ----

static const char *reason_text(int reason)
{
    switch (reason) {
    case ENOSPC:
        return "no space left on the device";
    case EDQUOT:
        return "the disk quota is used up";
    case EFBIG:
        return "the limit on file sizes is reached";
    case ENOMEM:
        return "no memory to map more of it";
    case EBADF:
        return "the program closed its descriptor";
    default:
        return NULL;
    }
}

static void warn_stopped(int reason)
{
    if (!spool.warn)
        return;
    char text[1400], number[32];
    const char *why = reason_text(reason);
    snprintf(number, sizeof number, "error %d", reason);
    snprintf(text, sizeof text, "recording stopped, %s: %s; the program goes on", spool.path,
             why ? why : number);
    spool.warn(text);
}

static void stop_recording(void)
{
    mt_lock_take(&spool.lock);
    bool first = mt_segments_phase() == MT_SEGMENTS_ON && spool.full_reason;
    int reason = -spool.full_reason;
    if (first) {
        set_phase(MT_SEGMENTS_FULL);
        __atomic_store_n(&spool.header->stop_reason, (uint32_t)reason, __ATOMIC_RELEASE);
        __atomic_store_n(&spool.header->state, MT_SPOOL_STOPPED, __ATOMIC_RELEASE);
    }
    mt_lock_drop(&spool.lock);
    if (first)
        warn_stopped(reason);
}

static struct mt_segment *take_ready(void)
{
    mt_lock_take(&spool.lock);
    struct mt_segment *segment = mt_segments_phase() == MT_SEGMENTS_ON ? list_take(&spool.ready) : NULL;
    if (segment)
        hand_out(segment);
    mt_lock_drop(&spool.lock);
    return segment;
}

static struct mt_segment *take_unprepared(void)
{
    if (mt_segments_phase() != MT_SEGMENTS_ON)
        return NULL;
    mt_segments_add(&spool.header->stalls, 1);
    struct mt_segment *segment = prepare(false);
    if (!segment)
        segment = prepare(false); // in bounded mode a file that cannot grow is used over
    if (!segment)
        segment = take_ready(); // the helper may have had the last of the space
    if (!segment)
        stop_recording();
    return segment;
}

struct mt_segment *mt_segments_take(const struct mt_spool_segment *owner, struct mt_segment *before)
{
    struct mt_segment *segment = take_ready();
    if (!segment)
        segment = take_unprepared();
    if (!segment)
        return NULL;
    if (owner->kind == MT_SEGMENT_DEFINITIONS) {
        mt_lock_take(&spool.lock);
        spool.event_places--;
        mt_lock_drop(&spool.lock);
    }
    struct mt_spool_segment *head = segment->head;
    head->stream = owner->stream;
    head->number = owner->number;
    head->thread = owner->thread;
    head->encoder = owner->encoder;
    head->command_buffer = owner->command_buffer;
    // In this order: a use is odd only while the segment is somebody's, and a segment that is not closed is
    // the last of its stream, whenever one looks.
    __atomic_store_n(&head->use, head->use + 1, __ATOMIC_SEQ_CST);
    if (before)
        __atomic_store_n(&before->head->closed, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&head->kind, owner->kind, __ATOMIC_RELEASE);
    wake_helper();
    return segment;
}

void mt_segments_done(struct mt_segment *segment)
{
    mt_lock_take(&spool.lock);
    list_add(spool.keep_places ? &spool.kept : &spool.closed, segment);
    mt_lock_drop(&spool.lock);
    if (!__atomic_load_n(&spool.helper_runs, __ATOMIC_ACQUIRE))
        unmap_closed();
}

// ---- the end ----

static void mark_end(void)
{
    struct mt_spool_header *header = spool.header;
    if (!header->end_ticks)
        __atomic_store_n(&header->end_ticks, mt_os_ticks(), __ATOMIC_RELEASE);
    if (header->state == MT_SPOOL_RUNNING)
        __atomic_store_n(&header->state, MT_SPOOL_ENDED, __ATOMIC_RELEASE);
}

static void end_helper(void)
{
    if (!spool.helper_runs)
        return;
    __atomic_store_n(&spool.helper_end, 1, __ATOMIC_RELEASE);
    wake_helper();
    mt_os_thread_join(spool.helper);
    __atomic_store_n(&spool.helper_runs, false, __ATOMIC_RELEASE);
}

// A thread that was ended or interrupted while preparing never gets done: then the file stays as it is.
static bool wait_for_preparing(void)
{
    for (int ms = 0; ms < STOP_PATIENCE_MS; ms++) {
        uint32_t preparing = __atomic_load_n(&spool.preparing, __ATOMIC_ACQUIRE);
        if (!preparing)
            return true;
        mt_os_wait_word(&spool.preparing, preparing, 1000000);
    }
    return false;
}

// What is left to do when nothing is handed out any more.
static void finish(void)
{
    spool.unfinished = false;
    end_helper();
    mt_lock_take(&spool.lock);
    struct mt_segment *unused = spool.ready.first;
    spool.ready = (struct segment_list){0};
    mt_lock_drop(&spool.lock);
    for (; unused; unused = unused->next)
        unmap_segment(unused);
    unmap_closed();
    if (wait_for_preparing() && !check_descriptor()) {
        mt_os_truncate(spool.fd, place_offset(spool.header->segments));
        close(spool.fd);
    }
    mark_end();
}

void mt_segments_stop(void)
{
    mt_lock_take(&spool.lock);
    bool first = mt_segments_phase() != MT_SEGMENTS_OFF;
    set_phase(MT_SEGMENTS_OFF);
    mt_lock_drop(&spool.lock);
    if (first)
        finish();
}

void mt_segments_stop_at_once(void)
{
    set_phase(MT_SEGMENTS_OFF);
    mark_end();
    spool.unfinished = true;
}

void mt_segments_abandon(void)
{
    mt_segments_stop();
    unlink(spool.path);
}

// ---- the beginning ----

// Moves the descriptor out of the way of the program's.
static int keep_descriptor(int fd)
{
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    if (high >= 0)
        close(fd);
    spool.fd = high >= 0 ? high : fd;
    return fstat(spool.fd, &spool.identity) ? -errno : 0;
}

static void fill_header(const struct mt_segments_setup *setup)
{
    struct mt_spool_header *header = spool.header;
    *header = (struct mt_spool_header){
        .version = MT_SPOOL_VERSION,
        .byte_order = MT_SPOOL_BYTE_ORDER,
        .header_bytes = MT_SPOOL_HEADER_BYTES,
        .segment_bytes = MT_SPOOL_SEGMENT_BYTES,
        .slot_bytes = MT_SPOOL_SLOT_BYTES,
        .pid = (uint32_t)getpid(),
        .run = setup->record->run,
        .start_ticks = mt_os_ticks(),
        .start_ns = mt_os_clock_ns(),
        .start_wall_ns = mt_os_wall_ns(),
        .ticks_per_second = mt_os_ticks_per_second(),
        .keep_bytes = setup->record->keep_bytes,
        .append_ticks_x1024 = setup->append_ticks_x1024,
        .state = MT_SPOOL_RUNNING,
    };
    // Whoever sees the magic sees all of it.
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(header->magic, MT_SPOOL_MAGIC, sizeof header->magic);
}

static int map_header(void)
{
    void *memory;
    int rc = mt_os_reserve(spool.fd, 0, MT_SPOOL_HEADER_BYTES);
    if (!rc)
        rc = mt_os_map_file(spool.fd, 0, MT_SPOOL_HEADER_BYTES, true, &memory);
    if (!rc)
        __atomic_store_n(&spool.header, memory, __ATOMIC_RELEASE);
    return rc;
}

// What an earlier spool left is forgotten, but not its descriptors of segments: some may be in use.
static void reset(const struct mt_segments_setup *setup)
{
    const struct mt_record_setup *record = setup->record;
    spool.ready = spool.closed = spool.kept = (struct segment_list){0};
    spool.places = spool.event_places = 0;
    spool.taken = spool.preparing = 0;
    spool.wanted = READY_LEAST;
    spool.keep_places = 0;
    if (record->keep_bytes)
        spool.keep_places = record->keep_bytes / MT_SPOOL_SEGMENT_BYTES;
    if (record->keep_bytes && spool.keep_places < KEEP_LEAST)
        spool.keep_places = KEEP_LEAST;
    spool.full_reason = 0;
    spool.warn = record->warn;
    spool.helper_end = 0;
    spool.every_second = setup->every_second;
    snprintf(spool.path, sizeof spool.path, "%s", record->path);
}

int mt_segments_start(const struct mt_segments_setup *setup)
{
    if (mt_segments_phase() != MT_SEGMENTS_OFF)
        return -EBUSY;
    if (strlen(setup->record->path) >= sizeof spool.path)
        return -ENAMETOOLONG;
    if (spool.unfinished)
        finish();
    reset(setup);
    int fd = mt_os_create(spool.path);
    if (fd < 0)
        return fd;
    int rc = keep_descriptor(fd);
    if (!rc)
        rc = map_header();
    if (rc)
        goto out;
    fill_header(setup);
    __atomic_fetch_add(&spool.session, 1, __ATOMIC_RELEASE);
    set_phase(MT_SEGMENTS_ON);
    // One for definitions, and one for the thread that starts us; the second can wait.
    if (!prepare(true)) {
        rc = spool.full_reason ? spool.full_reason : -ENOMEM;
        set_phase(MT_SEGMENTS_OFF);
        goto out;
    }
    prepare(true);
    // Without a helper each thread prepares its own, which is slower and nothing else.
    bool runs = !mt_os_thread_start(&spool.helper, "metaltap", helper_main, NULL);
    __atomic_store_n(&spool.helper_runs, runs, __ATOMIC_RELEASE);
out:
    if (rc) {
        close(spool.fd);
        unlink(spool.path);
    }
    return rc;
}

// ---- fork ----

void mt_segments_lock_for_fork(void)
{
    mt_lock_take(&spool.overwrite_lock);
    mt_lock_take(&spool.lock);
    mt_lock_take(&spool.memory_lock);
}

void mt_segments_unlock_after_fork(void)
{
    mt_lock_drop(&spool.memory_lock);
    mt_lock_drop(&spool.lock);
    mt_lock_drop(&spool.overwrite_lock);
}

// The mappings stay, since the thread may have been interrupted while it used one; nothing leads to them.
void mt_segments_after_fork(void)
{
    bool is_open = mt_segments_phase() != MT_SEGMENTS_OFF || spool.unfinished;
    if (is_open && !check_descriptor())
        close(spool.fd);
    set_phase(MT_SEGMENTS_OFF);
    __atomic_fetch_add(&spool.session, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&spool.header, NULL, __ATOMIC_RELEASE);
    spool.helper_runs = spool.unfinished = false;
    mt_lock_drop(&spool.overwrite_lock);
    mt_lock_drop(&spool.lock);
    mt_lock_drop(&spool.memory_lock);
}
