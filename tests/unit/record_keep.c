// SPDX-License-Identifier: MIT
// shows: a bounded spool has the last records, counts those that went, and can be read while it turns
// Bounded mode: one thread exactly, many threads by their sums, and a reader that looks in meanwhile.
#include "unit/record_support.h"

#include <pthread.h>
#include <sys/mman.h>

static const char path[] = "keep.mtap";
enum { KEPT = 8, RECORDS = 300000, THREADS = 4 };

static uint64_t places_in_use(const struct raw_spool *spool)
{
    return (spool->size - MT_SPOOL_HEADER_BYTES) / MT_SPOOL_SEGMENT_BYTES;
}

static void test_last_records(uint64_t keep_bytes, uint64_t most_places)
{
    CHECK_EQ(record_begin(path, keep_bytes), 0);
    uint32_t text = mt_record_string("the first text", 14);
    for (uint32_t i = 0; i < RECORDS; i++) {
        struct mt_rec_dispatch record = record_dispatch(1, i);
        mt_record_event(&record);
        if (i % 5000 == 0)
            usleep(100); // for the helper: nothing else overwrites in good time
    }
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    const struct mt_spool_header *header = spool.header;
    CHECK_EQ(header->keep_bytes, keep_bytes);
    CHECK_EQ(header->dropped_records, 0);
    CHECK_INT(places_in_use(&spool), <=, most_places + 1); // and the definitions
    CHECK(raw_string_is(&spool, text, "the first text", 14));
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    struct record_found anchors = record_find(&spool, MT_REC_ANCHOR),
                        threads = record_find(&spool, MT_REC_THREAD);
    // All that was written is either here or counted; the recorder wrote two anchors and a THREAD itself, and
    // the helper one each second.
    uint64_t here = found.count + anchors.count + threads.count, helpers = 0;
    for (size_t i = 0; i < anchors.count; i++)
        helpers += anchors.records[i].thread == 0;
    CHECK_EQ(here + header->overwritten_records, RECORDS + 3 + helpers);
    CHECK_INT(found.count, >=, MT_SPOOL_SEGMENT_SLOTS);
    uint32_t first = RECORDS - (uint32_t)found.count, wrong = 0;
    for (uint32_t i = 0; i < found.count; i++)
        wrong += !record_is_dispatch(record_nth(&found, i), 1, first + i) || found.records[i].thread != 1;
    CHECK_EQ(wrong, 0);
    CHECK_INT(header->overwritten_segments, >=, 20);
    free(found.records);
    free(anchors.records);
    free(threads.records);
    raw_close(&spool);
}

static struct {
    uint32_t stop;
    uint64_t written;
} load;

static void *record_on(void *argument)
{
    uint32_t owner = (uint32_t)(uintptr_t)argument;
    uint64_t written = 0;
    for (uint32_t i = 0; !__atomic_load_n(&load.stop, __ATOMIC_ACQUIRE); i++) {
        struct mt_rec_dispatch record = record_dispatch(owner, i);
        written += mt_record_event(&record) != 0;
        if (i % 1024 == 0)
            usleep(100);
    }
    __atomic_fetch_add(&load.written, written, __ATOMIC_RELAXED);
    return NULL;
}

// Copies a segment as a reader does: right if it is in the same use before and after. The kind is read long
// before the rest, since nothing says that a head is read in one go. NULL: free or overwritten.
static const struct mt_spool_segment *copy_segment(int fd, off_t at, void *buffer)
{
    static uint64_t older[MT_SPOOL_SEGMENT_BYTES / 8];
    struct mt_spool_segment before, after;
    const size_t kind_end = offsetof(struct mt_spool_segment, closed), size = sizeof before;
    if (pread(fd, &before, kind_end, at) != (ssize_t)kind_end || before.kind != MT_SEGMENT_EVENTS)
        return NULL;
    sched_yield();
    if (pread(fd, (char *)&before + kind_end, size - kind_end, at + (off_t)kind_end) !=
            (ssize_t)(size - kind_end) ||
        pread(fd, older, sizeof older, at) != (ssize_t)sizeof older ||
        pread(fd, buffer, sizeof older, at) != (ssize_t)sizeof older ||
        pread(fd, &after, size, at) != (ssize_t)size)
        return NULL;
    if (before.use % 2 == 0 || before.use != after.use)
        return NULL;
    raw_limit(buffer, older);
    return buffer;
}

// Records of one segment are whole and consecutive.
static uint32_t check_segment(const struct mt_spool_segment *head)
{
    const struct mt_rec_any *slots = (const struct mt_rec_any *)head;
    uint32_t next = UINT32_MAX, wrong = 0;
    for (uint32_t i = MT_SPOOL_FIRST_SLOT; i < MT_SPOOL_SEGMENT_SLOTS && slots[i].time; i++) {
        if (mt_rec_type(slots[i].word) != MT_REC_DISPATCH_GROUPS)
            continue;
        uint32_t number = ((const struct mt_rec_dispatch *)&slots[i])->grid[0];
        wrong += next != UINT32_MAX && number != next;
        wrong += !record_is_dispatch(&slots[i], mt_rec_small(slots[i].word), number);
        next = number + 1;
    }
    return wrong;
}

static void look_in(void)
{
    static uint64_t buffer[MT_SPOOL_SEGMENT_BYTES / 8];
    int fd = open(path, O_RDONLY);
    uint32_t wrong = 0, seen = 0;
    for (int round = 0; round < 100; round++) {
        for (int place = 0; place < KEPT + THREADS; place++) {
            const struct mt_spool_segment *head =
                copy_segment(fd, MT_SPOOL_HEADER_BYTES + (off_t)place * MT_SPOOL_SEGMENT_BYTES, buffer);
            wrong += head ? check_segment(head) : 0;
            seen += head != NULL;
        }
    }
    close(fd);
    CHECK_EQ(wrong, 0);
    CHECK_INT(seen, >, 50);
}

static void test_many_threads(void)
{
    CHECK_EQ(record_begin(path, KEPT * MT_SPOOL_SEGMENT_BYTES), 0);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record_on, (void *)(i + 1));
    look_in();
    __atomic_store_n(&load.stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    uint64_t others = 0;
    enum mt_record_type types[] = {MT_REC_ANCHOR, MT_REC_THREAD};
    for (int i = 0; i < 2; i++) {
        struct record_found other = record_find(&spool, types[i]);
        others += other.count;
        free(other.records);
    }
    CHECK_INT(found.count + spool.header->overwritten_records, >=, load.written);
    CHECK_INT(found.count + others + spool.header->overwritten_records, <=, load.written + THREADS + 100);
    CHECK_EQ(spool.problems, 0);
    free(found.records);
    raw_close(&spool);
}

int main(void)
{
    test_last_records(KEPT * MT_SPOOL_SEGMENT_BYTES, KEPT);
    test_last_records(1, 4); // less than the least
    test_many_threads();
    return test_end();
}
