// SPDX-License-Identifier: MIT
// shows: when the file cannot grow or its descriptor is gone, recording stops once and the program goes on
// Failures while recording, each in a process of its own. Disks that are full are in an end-to-end test.
#define _GNU_SOURCE
#include "unit/record_support.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char path[] = "failures.mtap";
#if __has_feature(thread_sanitizer)
enum { THREAD_SANITIZER = true };
#else
enum { THREAD_SANITIZER = false };
#endif

static void in_child(void (*test)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        alarm(30);
        test();
        fflush(stdout);
        _exit(test_failures ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
}

static uint32_t record_until_refused(uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        struct mt_rec_dispatch record = record_dispatch(1, i);
        if (!mt_record_event(&record))
            return i;
    }
    return most;
}

static void limit_file(uint64_t bytes)
{
    struct rlimit limit = {bytes, bytes};
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
}

// What was recorded is there, the stop is on record, and what came later is counted.
static void check_stopped(uint32_t recorded, uint32_t dropped, int reason)
{
    CHECK_EQ(record_warnings.count, 1);
    CHECK_HAS(record_warnings.text, path);
    CHECK(!mt_record_on());
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    struct record_found found = record_find(&spool, MT_REC_DISPATCH_GROUPS);
    CHECK_EQ(found.count, recorded);
    CHECK_EQ(spool.header->state, MT_SPOOL_STOPPED);
    CHECK_EQ(spool.header->stop_reason, reason);
    CHECK(spool.header->end_ticks != 0);
    CHECK_EQ(spool.header->dropped_records, dropped);
}

static void test_file_limit(void)
{
    limit_file(MT_SPOOL_HEADER_BYTES + 5 * MT_SPOOL_SEGMENT_BYTES + 1000);
    CHECK_EQ(record_begin(path, 0), 0);
    uint32_t recorded = record_until_refused(1000000);
    // One segment may be the helper's, for an anchor, if this takes long.
    CHECK_INT(recorded, >, 3 * (MT_SPOOL_SEGMENT_SLOTS - 10));
    CHECK_INT(recorded, <, 4 * MT_SPOOL_SEGMENT_SLOTS);
    uint32_t dropped = 1;
    for (; dropped < 1000; dropped++)
        CHECK_EQ(record_until_refused(1), 0);
    // Definitions have room of their own.
    CHECK(mt_record_string("later", 5) != 0);
    check_stopped(recorded, dropped, EFBIG);
}

// Definitions that find no room are dropped and counted; texts get no id.
static void test_no_room_for_texts(void)
{
    limit_file(MT_SPOOL_HEADER_BYTES + 4 * MT_SPOOL_SEGMENT_BYTES);
    CHECK_EQ(record_begin(path, 0), 0);
    char text[64];
    uint32_t given = 0, refused = 0;
    for (uint32_t i = 0; i < 25000; i++) {
        size_t length = (size_t)snprintf(text, sizeof text, "a text of more than sixteen bytes %u", i);
        uint32_t id = mt_record_string(text, length);
        given += id != 0;
        refused += id == 0;
    }
    CHECK_INT(given, >, 7000);
    CHECK_INT(refused, >, 5000);
    CHECK(mt_record_string("a text of more than sixteen bytes 0", 35) != 0);
    check_stopped(0, refused, EFBIG);
}

static void test_bounded_goes_on(void)
{
    limit_file(MT_SPOOL_HEADER_BYTES + 6 * MT_SPOOL_SEGMENT_BYTES);
    CHECK_EQ(record_begin(path, 1 << 30), 0);
    CHECK_EQ(record_until_refused(200000), 200000);
    CHECK_EQ(record_warnings.count, 0);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    CHECK_EQ(spool.header->state, MT_SPOOL_ENDED);
    CHECK_INT(spool.header->overwritten_segments, >, 10);
}

// A program that closes what is not its own, and gets the same number for a file of its own.
static void test_descriptor_taken(void)
{
    CHECK_EQ(record_begin(path, 0), 0);
    int own = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK_INT(own, <, 100); // ours is out of the way
    for (int fd = 100; fd < 2000; fd++)
        close(fd);
    for (int fd = 100; fd < 2000; fd++)
        dup2(own, fd);
    uint32_t recorded = record_until_refused(1000000);
    CHECK_INT(recorded, >, MT_SPOOL_SEGMENT_SLOTS - 10);
    CHECK_INT(recorded, <, 1000000);
    check_stopped(recorded, 1, EBADF);
    struct stat status;
    CHECK(!fstat(own, &status) && status.st_size == 0);
    CHECK_EQ(fcntl(1999, F_GETFD), 0); // and it is not closed by us
}

// No threads to be had: no helper, each prepares its own.
static void test_no_helper(void)
{
    if (chmod(".", 0777) || (getuid() == 0 && setuid(65534)))
        return; // for root there is no limit
    struct rlimit none = {0, 0};
    CHECK(!setrlimit(RLIMIT_NPROC, &none));
    int rc = record_begin(path, 0);
    if (rc == -EACCES)
        return; // a folder above is not for others
    CHECK_EQ(rc, 0);
    CHECK_EQ(record_until_refused(20000), 20000);
    struct raw_spool spool;
    if (!record_read(&spool, path))
        return;
    CHECK_INT(spool.header->stalls, >=, 1);
}

int main(void)
{
    signal(SIGXFSZ, SIG_DFL);
    in_child(test_file_limit);
    in_child(test_no_room_for_texts);
    in_child(test_bounded_goes_on);
    if (!THREAD_SANITIZER) // takes what the program does there for a race, and rightly so
        in_child(test_descriptor_taken);
    in_child(test_no_helper);
    return test_end();
}
