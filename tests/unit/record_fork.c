// SPDX-License-Identifier: MIT
// shows: a forked child leaves the parent's spool alone and can begin one of its own with the same ids
// Forks, with and without a new start in the child, also while other threads record.
#include "unit/record_support.h"

#include <pthread.h>
#include <sys/wait.h>

static const char parent_path[] = "parent.mtap", child_path[] = "child.mtap";
enum { TEXTS = 6000 }; // more than a segment of definitions

static uint32_t define_text(uint32_t number)
{
    char text[80];
    return mt_record_string(
        text, (size_t)snprintf(text, sizeof text, "a text that the parent defined, number %u", number));
}

static void define_queue(uint32_t id)
{
    struct mt_rec_queue queue = {.word = MT_REC_WORD(MT_REC_QUEUE, id), .max_buffers = id * 3};
    mt_record_define(&queue);
}

static bool record_number(uint32_t owner, uint32_t number)
{
    struct mt_rec_dispatch record = record_dispatch(owner, number);
    return mt_record_event(&record) != 0;
}

static void wait_for(pid_t child)
{
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

// In the child nothing is on, and what it calls goes nowhere.
static void run_inert_child(void)
{
    CHECK(!mt_record_on());
    CHECK(mt_record_path() == NULL);
    for (uint32_t i = 0; i < 20000; i++)
        CHECK(!record_number(9, i));
    CHECK_EQ(define_text(TEXTS + 1), 0);
    define_queue(77);
    mt_record_anchor();
    mt_record_stop();
    _exit(test_failures ? 1 : 0);
}

// The child's spool has the parent's definitions, but not its process, and counts on.
static void run_recording_child(const uint32_t *ids, uint32_t next_queue)
{
    mt_record_after_fork();
    CHECK_EQ(record_begin(child_path, 0), 0);
    CHECK_EQ(define_text(0), ids[0]);
    CHECK_EQ(define_text(TEXTS - 1), ids[TEXTS - 1]);
    uint32_t fresh = define_text(TEXTS + 5);
    CHECK(fresh > ids[TEXTS - 1]);
    CHECK_EQ(mt_record_next(MT_COUNT_QUEUE), next_queue);
    for (uint32_t i = 0; i < 100; i++)
        CHECK(record_number(2, i));
    mt_record_after_fork(); // again: does nothing
    CHECK(mt_record_on());
    struct raw_spool spool;
    if (!record_read(&spool, child_path))
        _exit(1);
    CHECK_EQ(spool.header->pid, getpid());
    char text[80];
    for (uint32_t i = 0; i < TEXTS; i++) {
        size_t length = (size_t)snprintf(text, sizeof text, "a text that the parent defined, number %u", i);
        CHECK(raw_string_is(&spool, ids[i], text, length));
    }
    struct record_found queues = record_find(&spool, MT_REC_QUEUE),
                        processes = record_find(&spool, MT_REC_PROCESS);
    struct record_found dispatches = record_find(&spool, MT_REC_DISPATCH_GROUPS),
                        threads = record_find(&spool, MT_REC_THREAD);
    CHECK_EQ(queues.count, 1);
    CHECK_EQ(((const struct mt_rec_queue *)record_nth(&queues, 0))->max_buffers, 15);
    CHECK_EQ(processes.count, 0);
    CHECK_EQ(dispatches.count, 100);
    CHECK_EQ(threads.count, 1);
    CHECK_EQ(((const struct mt_rec_thread *)record_nth(&threads, 0))->os_thread, getpid());
    _exit(test_failures ? 1 : 0);
}

static void test_one_thread(void)
{
    static uint32_t ids[TEXTS];
    CHECK_EQ(record_begin(parent_path, 0), 0);
    for (uint32_t i = 0; i < TEXTS; i++)
        ids[i] = define_text(i);
    define_queue(5);
    mt_record_define(&(struct mt_rec_process){.word = MT_REC_WORD(MT_REC_PROCESS, 0)});
    uint32_t next_queue = mt_record_next(MT_COUNT_QUEUE) + 1;
    for (uint32_t i = 0; i < 10; i++)
        record_number(1, i);
    pid_t child = fork();
    if (!child)
        run_inert_child();
    wait_for(child);
    child = fork();
    if (!child)
        run_recording_child(ids, next_queue);
    // What the parent defines meanwhile is not the child's.
    for (uint32_t i = 0; i < 2000; i++)
        define_text(TEXTS + 100 + i);
    wait_for(child);
    for (uint32_t i = 10; i < 20000; i++)
        record_number(1, i);
    struct raw_spool spool;
    if (!record_read(&spool, parent_path))
        return;
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS),
                        queues = record_find(&spool, MT_REC_QUEUE);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < found.count; i++)
        wrong += !record_is_dispatch(record_nth(&found, i), 1, i);
    CHECK_EQ(found.count, 20000);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(queues.count, 1);
    CHECK_EQ(spool.header->dropped_records, 0);
    free(found.records);
    free(queues.records);
    raw_close(&spool);
}

static uint32_t stop;

static void *record_on(void *argument)
{
    uint32_t owner = (uint32_t)(uintptr_t)argument;
    for (uint32_t i = 0; !__atomic_load_n(&stop, __ATOMIC_ACQUIRE); i++) {
        record_number(owner, i);
        define_text(i % 3000);
        if (i % 100 == 0)
            mt_record_anchor();
        if (i % 1000 == 0)
            usleep(1000);
    }
    return NULL;
}

static void run_busy_child(void)
{
    alarm(20); // a lock held by a thread that does not exist here would hold us for ever
    CHECK_EQ(record_begin(child_path, 0), 0);
    for (uint32_t i = 0; i < 3000; i++)
        CHECK(record_number(3, i) && define_text(i));
    struct raw_spool spool;
    CHECK(record_read(&spool, child_path));
    _exit(test_failures ? 1 : 0);
}

static void test_while_others_record(void)
{
    CHECK_EQ(record_begin(parent_path, 0), 0);
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, record_on, (void *)(i + 1));
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (!child)
            run_busy_child();
        wait_for(child);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct raw_spool spool;
    if (!record_read(&spool, parent_path))
        return;
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    uint32_t wrong = 0, next[5] = {0};
    for (size_t i = 0; i < found.count; i++) {
        uint32_t owner = mt_rec_small(found.records[i].any->word);
        wrong += owner > 4 || !record_is_dispatch(found.records[i].any, owner, next[owner]++);
    }
    CHECK_EQ(wrong, 0);
    free(found.records);
    raw_close(&spool);
}

int main(void)
{
#if __has_feature(thread_sanitizer)
    printf("skip: the thread sanitizer allows no threads in a forked child\n");
    return 77;
#endif
    test_one_thread();
    test_while_others_record();
    return test_end();
}
