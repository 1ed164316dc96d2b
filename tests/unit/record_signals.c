// SPDX-License-Identifier: MIT
// shows: a signal handler that records, at any moment, tears nothing, and what it could not record is counted
// A thread records without a pause while another sends it signals, one at a time, whose handler records too
// or calls mt_record_stop, as exit from a handler would.
#define _GNU_SOURCE
#include "unit/record_support.h"

#include <signal.h>
#include <sys/time.h>

static const char path[] = "signals.mtap";
enum { NORMAL = 1, HANDLER = 2, INTERRUPTIONS = 2000, MOST_RECORDS = 3000000 };

static struct {
    uint32_t attempts, recorded, defined;
} handler;

static void on_signal(int signal_number)
{
    (void)signal_number;
    // The number is that of what was recorded: a dropped one leaves no gap.
    struct mt_rec_dispatch record = record_dispatch(HANDLER, handler.recorded);
    handler.attempts++;
    if (mt_record_event(&record))
        handler.recorded++;
    char text[32];
    size_t length = (size_t)snprintf(text, sizeof text, "from a handler %u", handler.attempts % 5000);
    handler.defined += mt_record_string(text, length) != 0;
    mt_record_anchor();
}

// One signal, so that however slow things are, the thread gets on.
static void interrupt_soon(void)
{
    struct itimerval timer = {.it_value = {0, 1 + (long)(mt_os_random() % 40)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void set_handler(void (*handle)(int))
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
}

static void test_recording_handler(void)
{
    set_handler(on_signal);
    interrupt_soon();
    CHECK_EQ(record_begin(path, 0), 0);
    uint32_t numbers = 0, dropped = 0, undefined = 0, seen = 0;
    char text[32];
    while (seen < INTERRUPTIONS && numbers < MOST_RECORDS) {
        uint32_t attempts = __atomic_load_n(&handler.attempts, __ATOMIC_RELAXED);
        if (attempts != seen)
            interrupt_soon();
        seen = attempts;
        struct mt_rec_dispatch record = record_dispatch(NORMAL, numbers);
        errno = EXDEV;
        if (mt_record_event(&record))
            numbers++;
        else
            dropped++;
        size_t length = (size_t)snprintf(text, sizeof text, "text %u", numbers);
        undefined += !mt_record_string(text, length);
        if (errno != EXDEV) {
            CHECK_EQ(errno, EXDEV);
            break;
        }
    }
    while (__atomic_load_n(&handler.attempts, __ATOMIC_RELAXED) == seen)
        usleep(10);       // the last one
    CHECK_EQ(dropped, 0); // only who interrupts is refused
    CHECK_EQ(undefined, 0);
    CHECK_INT(handler.attempts, >, 100);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    uint32_t next[3] = {0}, wrong = 0;
    for (size_t i = 0; i < found.count; i++) {
        uint32_t owner = mt_rec_small(found.records[i].any->word);
        wrong += owner > 2 || !record_is_dispatch(found.records[i].any, owner, next[owner]++);
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(next[NORMAL], numbers);
    CHECK_EQ(next[HANDLER], handler.recorded);
    CHECK_EQ(spool.problems, 0);
    // The first signals may come before there is a spool.
    CHECK_INT(spool.header->dropped_records, <=, 2 * handler.attempts - handler.recorded - handler.defined);
    printf("%u interruptions, %u recorded, %llu dropped\n", handler.attempts, handler.recorded,
           (unsigned long long)spool.header->dropped_records);
    free(found.records);
    raw_close(&spool);
}

static void on_stop(int signal_number)
{
    (void)signal_number;
    mt_record_stop();
}

// Interrupted at any point, also inside the recorder, the end neither hangs nor crashes.
static void test_stopping_handler(void)
{
    set_handler(on_stop);
    for (uint32_t round = 0; round < 50; round++) {
        CHECK_EQ(record_begin(path, round % 2 ? 1 << 20 : 0), 0);
        struct itimerval timer = {.it_value = {0, 1 + (long)round * 10}};
        setitimer(ITIMER_REAL, &timer, NULL);
        char text[32];
        for (uint32_t i = 0; mt_record_on(); i++) {
            struct mt_rec_dispatch record = record_dispatch(NORMAL, i);
            mt_record_event(&record);
            mt_record_string(text, (size_t)snprintf(text, sizeof text, "%u", i));
        }
        struct raw_spool spool;
        bool opened = raw_open(&spool, path, false);
        if (!CHECK(opened))
            return;
        struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
        CHECK_EQ(spool.problems, 0);
        CHECK_EQ(spool.header->state, MT_SPOOL_ENDED);
        free(found.records);
        raw_close(&spool);
    }
}

int main(void)
{
    test_recording_handler();
    test_stopping_handler();
    return test_end();
}
