// SPDX-License-Identifier: MIT
// shows: records of many threads stay apart, streams are handed over, and stopping under load is safe
// Threads that record at once, one after the other, and while the recording ends.
#include "unit/record_support.h"

#include <pthread.h>

static const char path[] = "threads.mtap";
enum { THREADS = 8, EACH = 40000, SHORT_THREADS = 2000, SHORT_EACH = 3 };

static void *record_some(void *argument)
{
    uint32_t owner = (uint32_t)(uintptr_t)argument, count = owner <= THREADS ? EACH : SHORT_EACH;
    for (uint32_t i = 0; i < count; i++) {
        struct mt_rec_dispatch record = record_dispatch(owner, i);
        mt_record_event(&record);
    }
    return NULL;
}

// Each owner's records come in order, from one thread, and no two owners have the same thread.
static void check_owners(struct raw_spool *spool, uint32_t owners)
{
    struct record_found found = record_find(spool, MT_REC_DISPATCH_GROUPS);
    uint32_t *next = calloc(owners + 1, sizeof *next), *thread = calloc(owners + 1, sizeof *thread);
    bool *taken = calloc(found.count + 2, sizeof *taken);
    uint64_t wrong = 0;
    for (size_t i = 0; i < found.count; i++) {
        uint32_t owner = mt_rec_small(found.records[i].any->word);
        if (owner > owners || !record_is_dispatch(found.records[i].any, owner, next[owner]++)) {
            wrong++;
            continue;
        }
        if (!thread[owner]) {
            thread[owner] = found.records[i].thread;
            wrong += !thread[owner] || thread[owner] > found.count || taken[thread[owner]];
            taken[thread[owner]] = true;
        }
        wrong += thread[owner] != found.records[i].thread;
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(spool->problems, 0);
    for (uint32_t owner = 1; owner <= owners; owner++)
        wrong += next[owner] != (owner <= THREADS ? EACH : SHORT_EACH);
    CHECK_EQ(wrong, 0);
    free(found.records);
    free(next);
    free(thread);
    free(taken);
}

static void test_many_at_once(void)
{
    CHECK_EQ(record_begin(path, 0), 0);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record_some, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    CHECK_EQ(spool.header->dropped_records, 0);
    check_owners(&spool, THREADS);
    raw_close(&spool);
}

// Thousands of threads that live for a moment share the streams of a few.
static void test_hand_over(void)
{
    CHECK_EQ(record_begin(path, 0), 0);
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, record_some, (void *)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uintptr_t i = 0; i < SHORT_THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, record_some, (void *)(i + 1 + THREADS));
        pthread_join(thread, NULL);
    }
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    check_owners(&spool, THREADS + SHORT_THREADS);
    uint32_t most = 0;
    for (size_t i = 0; i < spool.count; i++)
        most = spool.segments[i]->stream > most ? spool.segments[i]->stream : most;
    CHECK_INT(most, <=, THREADS + 2); // and this thread's, and the helper's
    struct record_found names = record_find(&spool, MT_REC_THREAD_NAME);
    CHECK_EQ(names.count, THREADS + SHORT_THREADS + 1);
    free(names.records);
    raw_close(&spool);
}

static struct {
    uint32_t stop, context_wrong;
    uint64_t after_stop;
} load;

static void *record_until_told(void *argument)
{
    uint32_t owner = (uint32_t)(uintptr_t)argument;
    for (uint32_t i = 0; !__atomic_load_n(&load.stop, __ATOMIC_ACQUIRE); i++) {
        struct mt_rec_dispatch record = record_dispatch(owner, i);
        bool was_on = mt_record_on();
        if (!mt_record_event(&record) && !was_on)
            __atomic_fetch_add(&load.after_stop, 1, __ATOMIC_RELAXED);
        char text[32];
        mt_record_string(text, (size_t)snprintf(text, sizeof text, "%u %u", owner, i % 1000));
        mt_record_anchor();
    }
    return NULL;
}

// The file is cut and closed while others record; they must not notice, and stop by themselves.
static void test_stop_under_load(void)
{
    for (int round = 0; round < 10; round++) {
        CHECK_EQ(record_begin(path, round % 2 ? 1 << 20 : 0), 0);
        load.stop = 0;
        load.after_stop = 0;
        pthread_t threads[THREADS];
        for (uintptr_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, record_until_told, (void *)(i + 1));
        usleep(3000U * (unsigned)(round + 1));
        mt_record_stop();
        // Whoever had room may use it up; after that, nothing.
        for (int i = 0; i < 10000 && !__atomic_load_n(&load.after_stop, __ATOMIC_RELAXED); i++)
            usleep(1000);
        __atomic_store_n(&load.stop, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        CHECK(load.after_stop > 0);
        struct raw_spool spool;
        if (!record_read(&spool, path))
            return;
        struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
        CHECK_EQ(spool.problems, 0);
        CHECK_EQ(spool.header->state, MT_SPOOL_ENDED);
        CHECK_EQ(spool.size, MT_SPOOL_HEADER_BYTES + spool.header->segments * MT_SPOOL_SEGMENT_BYTES);
        free(found.records);
        raw_close(&spool);
    }
}

static void *record_context(void *argument)
{
    struct mt_rec_dispatch record = record_dispatch(1, 0);
    mt_record_event(&record);
    // A new thread must not take another's encoder for its own.
    if (mt_record_here->context != mt_record_no_context)
        __atomic_fetch_add(&load.context_wrong, 1, __ATOMIC_RELAXED);
    mt_record_here->context = argument;
    struct mt_rec_context context = {
        .word = MT_REC_WORD(MT_REC_CONTEXT, 0), .encoder = 5, .command_buffer = 6};
    mt_record_event(&context);
    return NULL;
}

static void test_context_of_new_owner(void)
{
    CHECK_EQ(record_begin(path, 0), 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, record_context, &load);
        pthread_join(thread, NULL);
    }
    CHECK_EQ(load.context_wrong, 0);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    CHECK_EQ(found.count, 20);
    for (size_t i = 0; i < found.count; i++)
        CHECK_EQ(found.records[i].encoder, 0);
    free(found.records);
    raw_close(&spool);
}

int main(void)
{
    test_many_at_once();
    test_hand_over();
    test_context_of_new_owner();
    test_stop_under_load();
    return test_end();
}
