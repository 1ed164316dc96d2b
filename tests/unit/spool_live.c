// SPDX-License-Identifier: MIT
// Reads a spool again and again while threads write to it through the recorder, unbounded and bounded. Each
// record carries its number twice, so that one that is torn, lost or twice there shows.
// shows: a spool is read while it is written: nothing torn, nothing out of order, and at the end all of it
// timeout: 120
#define _GNU_SOURCE
#include "record.h"
#include "spool/reader.h"
#include "unit/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITERS = 3, RECORDS = 200000 };

struct writer {
    uint32_t number;
    uint32_t *running;
};

static void write_one(uint32_t writer, uint32_t i)
{
    struct mt_rec_dispatch dispatch = {.word = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, writer),
                                       .grid = {i, ~i, i * 7},
                                       .threadgroup = {1, 2, 3}};
    struct mt_rec_cb_done done = {.word = MT_REC_WORD(MT_REC_CB_DONE, writer),
                                  .command_buffer = i,
                                  .scheduled = ~(uint64_t)i,
                                  .error = i * 7,
                                  .flags = i * 11};
    if (i % 5)
        mt_record_event(&dispatch);
    else
        mt_record_event(&done);
}

static void *write_many(void *argument)
{
    struct writer *writer = argument;
    for (uint32_t i = 0; i < RECORDS; i++) {
        write_one(writer->number, i);
        if (i % 1000 == 0)
            usleep(100); // so that writing lasts for some passes
    }
    __atomic_fetch_sub(writer->running, 1, __ATOMIC_RELEASE);
    return NULL;
}

struct pass {
    uint64_t last_time, records, torn, disorder;
    uint32_t next[WRITERS + 1]; // number that should come
    bool holes;                 // allowed: bounded
};

static void see(struct pass *pass, uint32_t writer, uint32_t i, bool sound, uint64_t time)
{
    if (!sound || writer < 1 || writer > WRITERS) {
        pass->torn++;
        return;
    }
    bool follows = pass->holes ? i >= pass->next[writer] : i == pass->next[writer];
    pass->disorder += !follows || time < pass->last_time;
    pass->next[writer] = i + 1;
    pass->last_time = time;
    pass->records++;
}

static int visit(void *context, const struct mt_spool_stream *from, const struct mt_rec_any *slots,
                 size_t count)
{
    struct pass *pass = context;
    (void)from;
    for (size_t at = 0; at < count; at += mt_rec_slots(mt_rec_type(slots[at].word), 0)) {
        uint32_t small = mt_rec_small(slots[at].word);
        if (mt_rec_type(slots[at].word) == MT_REC_DISPATCH_GROUPS) {
            const struct mt_rec_dispatch *it = (const struct mt_rec_dispatch *)&slots[at];
            bool sound = it->grid[1] == ~it->grid[0] && it->grid[2] == it->grid[0] * 7 && it->grid[0] % 5 &&
                         it->threadgroup[2] == 3;
            see(pass, small, it->grid[0], sound, it->time);
        } else if (mt_rec_type(slots[at].word) == MT_REC_CB_DONE) {
            const struct mt_rec_cb_done *it = (const struct mt_rec_cb_done *)&slots[at];
            uint32_t i = it->command_buffer;
            bool sound =
                it->scheduled == ~(uint64_t)i && it->error == i * 7 && it->flags == i * 11 && i % 5 == 0;
            see(pass, small, i, sound, it->time);
        }
    }
    return 0;
}

static struct pass read_once(struct mt_spool *spool, bool bounded)
{
    struct pass pass = {.holes = bounded};
    CHECK_EQ(mt_spool_events(spool, visit, &pass), 0);
    CHECK_EQ(pass.torn, 0);
    CHECK_EQ(pass.disorder, 0);
    const struct mt_spool_damage *damage = mt_spool_damage(spool);
    CHECK_EQ(damage->bad_segments, 0);
    CHECK_EQ(damage->bad_records, 0);
    CHECK_EQ(damage->missing_segments, 0);
    CHECK_EQ(damage->cut_bytes, 0);
    if (!bounded)
        CHECK_EQ(damage->lost_segments, 0);
    return pass;
}

static struct mt_spool *open_spool(const char *path)
{
    struct mt_spool *spool = NULL;
    struct mt_spool_error error = {""};
    if (!CHECK_EQ(mt_spool_open(path, &spool, &error), 0)) {
        printf("    %s\n", error.text);
        exit(test_end());
    }
    return spool;
}

// Passes while the writers run; the last one is made when they are done.
static struct pass read_while_written(const char *path, uint32_t *running, bool bounded)
{
    struct mt_spool *spool = open_spool(path);
    struct pass pass = {0};
    uint64_t passes = 0, before = 0;
    for (bool more = true; more; passes++) {
        more = __atomic_load_n(running, __ATOMIC_ACQUIRE) != 0;
        CHECK_EQ(mt_spool_refresh(spool), 0);
        pass = read_once(spool, bounded);
        if (!bounded)
            CHECK(pass.records >= before);
        before = pass.records;
    }
    printf("%llu passes\n", (unsigned long long)passes);
    mt_spool_close(spool);
    return pass;
}

static void test_live(uint64_t keep_bytes)
{
    char path[512];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/live-%d-%d.mtap", folder ? folder : "/tmp", (int)getpid(),
             keep_bytes != 0);
    struct mt_record_setup setup = {.path = path, .keep_bytes = keep_bytes, .run = 1};
    if (!CHECK_EQ(mt_record_start(&setup), 0))
        return;
    uint32_t running = WRITERS;
    pthread_t threads[WRITERS];
    struct writer writers[WRITERS];
    mt_record_string("so that there is something to open", 34);
    for (uint32_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.number = i + 1, .running = &running};
        CHECK_EQ(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    struct pass last = read_while_written(path, &running, keep_bytes != 0);
    for (uint32_t i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(last.next[i + 1], RECORDS); // the newest is there in either mode
    }
    mt_record_stop();
    struct mt_spool *spool = open_spool(path);
    struct pass pass = read_once(spool, keep_bytes != 0);
    const struct mt_spool_header *header = mt_spool_header(spool);
    CHECK_EQ(header->dropped_records, 0);
    CHECK_EQ(header->state, MT_SPOOL_ENDED);
    CHECK_EQ(mt_spool_damage(spool)->lost_segments, 0);
    if (keep_bytes)
        CHECK_INT(header->overwritten_records, >, WRITERS * RECORDS / 2);
    else
        CHECK_EQ(pass.records, WRITERS * RECORDS);
    mt_spool_close(spool);
    unlink(path);
}

int main(void)
{
    test_live(0);
    test_live(2 << 20);
    return test_end();
}
