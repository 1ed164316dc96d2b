// SPDX-License-Identifier: MIT
// Records from many threads without any hook, and ends as it is told, while each thread keeps its own count
// of finished records in a file that outlives it: the oracle. The same program then checks a spool against
// the oracle. Every field of every record follows from its thread and number, so that a torn one shows.
//
//     recorder run SPOOL ORACLE THREADS END [KEEP]   END: forever, or normal segv abort _exit exec after a
//     while recorder check SPOOL ORACLE [live|full]        counts and fields; prints "N records"
#define _GNU_SOURCE
#include "record.h"

#include "lib/raw_spool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST_THREADS = 64, LABELS = 50, LONG_EVERY = 1024 };

struct oracle {
    uint64_t finished[MOST_THREADS]; // records of each thread that were published
    uint64_t refused[MOST_THREADS];  // that mt_record_event did not take
    uint32_t threads, warnings;
};

static struct oracle *oracle;
static struct {
    pthread_t threads[MOST_THREADS];
    uint32_t over; // the threads shall end
    bool slowly;
} running;

static uint32_t mix(uint32_t thread, uint64_t number)
{
    uint64_t value = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)thread << 32;
    return (uint32_t)(value >> 29 ^ value);
}

// The text of a label: few short ones that come again, and now and then a long one that does not.
static size_t label_text(uint32_t thread, uint64_t number, char *text, size_t size)
{
    if (number % LONG_EVERY != 3)
        return (size_t)snprintf(text, size, "label %u", (uint32_t)(number / 8 % LABELS));
    size_t length = 20 + mix(thread, number) % (size - 40);
    int head = snprintf(text, size, "%u/%llu ", thread, (unsigned long long)number);
    memset(text + head, 'a' + (int)(number / LONG_EVERY % 26), length);
    return length;
}

// ---- what record `number` of a thread is ----

union any_record {
    struct mt_slot slots[2];
    struct mt_rec_dispatch dispatch;
    struct mt_rec_dispatch_wide wide;
    struct mt_rec_label label;
    struct mt_rec_encoder_begin begin;
};

static void make_dispatch(struct mt_rec_dispatch *record, uint32_t thread, uint64_t number)
{
    uint32_t check = mix(thread, number);
    record->word = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, thread + 1);
    record->threadgroup_memory = (uint16_t)check;
    for (int i = 0; i < 3; i++)
        record->threadgroup[i] = (uint16_t)(check >> (4 * i));
    record->grid[0] = (uint32_t)number;
    record->grid[1] = (uint32_t)(number >> 32) ^ check;
    record->grid[2] = ~check;
}

static void make_wide(struct mt_rec_dispatch_wide *record, uint32_t thread, uint64_t number)
{
    uint64_t check = mix(thread, number);
    record->word = MT_REC_WORD(MT_REC_DISPATCH_WIDE, thread + 1);
    record->in_threads = (uint32_t)check;
    record->grid[0] = number;
    record->grid[1] = check << 32 | check;
    record->grid[2] = ~check;
    record->reserved[0] = check * 3;
    record->reserved[1] = check * 5;
}

// `string`: 0 while checking, where the text is compared instead.
static void make_label(struct mt_rec_label *record, uint32_t thread, uint64_t number, uint32_t string)
{
    uint32_t check = mix(thread, number);
    record->word = MT_REC_WORD(MT_REC_LABEL, string);
    record->kind = thread + 1;
    record->object = (uint32_t)number;
    record->reserved[0] = check;
    record->reserved[1] = ~check;
    record->reserved[2] = check ^ 0x5555;
}

static void make_begin(struct mt_rec_encoder_begin *record, uint32_t thread, uint64_t number)
{
    record->word = MT_REC_WORD(MT_REC_ENCODER_BEGIN, thread + 1);
    record->encoder = (uint32_t)number;
    record->command_buffer = mix(thread, number);
    record->reserved2 = ~(uint64_t)record->command_buffer;
}

static enum mt_record_type type_of(uint64_t number)
{
    if (number % 64 == 0)
        return MT_REC_ENCODER_BEGIN;
    if (number % 8 == 3)
        return MT_REC_LABEL;
    return number % 8 == 5 ? MT_REC_DISPATCH_WIDE : MT_REC_DISPATCH_GROUPS;
}

static void make(union any_record *record, uint32_t thread, uint64_t number, uint32_t string)
{
    memset(record, 0, sizeof *record);
    switch (type_of(number)) {
    case MT_REC_ENCODER_BEGIN:
        make_begin(&record->begin, thread, number);
        break;
    case MT_REC_LABEL:
        make_label(&record->label, thread, number, string);
        break;
    case MT_REC_DISPATCH_WIDE:
        make_wide(&record->wide, thread, number);
        break;
    default:
        make_dispatch(&record->dispatch, thread, number);
        break;
    }
}

// ---- recording ----

// As a hook does it: in place, without a call.
static bool record_hot(uint32_t thread, uint64_t number)
{
    struct mt_record_place *place = mt_record_here;
    if (place->cursor == place->end)
        return false;
    struct mt_slot *slot = place->cursor;
    make_dispatch((struct mt_rec_dispatch *)slot, thread, number);
    mt_record_publish(place, slot);
    return true;
}

static bool record_one(uint32_t thread, uint64_t number)
{
    enum mt_record_type type = type_of(number);
    if (type == MT_REC_DISPATCH_GROUPS && number % 2 && record_hot(thread, number))
        return true;
    uint32_t string = 0;
    if (type == MT_REC_LABEL) {
        char text[3000];
        string = mt_record_string(text, label_text(thread, number, text, sizeof text));
        if (!string)
            return false;
    }
    union any_record record;
    make(&record, thread, number, string);
    return mt_record_event(&record) != 0;
}

static void sleep_ms(unsigned ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&time, &time) && errno == EINTR)
        continue;
}

static void *record_on(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    for (uint64_t number = 0;;) {
        // A number is used again until it is taken: what is in the spool has no gaps.
        if (record_one(thread, number))
            __atomic_store_n(&oracle->finished[thread], ++number, __ATOMIC_RELEASE);
        else
            __atomic_store_n(&oracle->refused[thread], oracle->refused[thread] + 1, __ATOMIC_RELEASE);
        if (number % 4096 == 0)
            mt_record_anchor();
        if (running.slowly && number % 64 == 0)
            sleep_ms(1);
        if (__atomic_load_n(&running.over, __ATOMIC_ACQUIRE) || mt_record_path() == NULL)
            return NULL;
    }
}

static void warn(const char *text)
{
    oracle->warnings++;
    fprintf(stderr, "%s\n", text);
}

static bool map_oracle(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *oracle))
        return false;
    oracle = mmap(NULL, sizeof *oracle, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return oracle != MAP_FAILED;
}

static bool all_began(void)
{
    for (uint32_t thread = 0; thread < oracle->threads; thread++) {
        if (__atomic_load_n(&oracle->finished[thread], __ATOMIC_ACQUIRE) < 10 &&
            !__atomic_load_n(&oracle->refused[thread], __ATOMIC_ACQUIRE))
            return false;
    }
    return true;
}

static bool all_refused(void)
{
    for (uint32_t thread = 0; thread < oracle->threads; thread++) {
        if (!__atomic_load_n(&oracle->refused[thread], __ATOMIC_ACQUIRE))
            return false;
    }
    return true;
}

static void join_all(void)
{
    for (uint32_t i = 0; i < oracle->threads; i++)
        pthread_join(running.threads[i], NULL);
}

static int end_as(const char *how)
{
    bool full = !strcmp(how, "full");
    while (full && !all_refused())
        sleep_ms(1);
    __atomic_store_n(&running.over, full, __ATOMIC_RELEASE);
    if (full)
        join_all();
    if (!strcmp(how, "forever") || running.slowly)
        sleep_ms(60000);
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "exec"))
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(how, "normal") != 0 && !full)
        return 1;
    mt_record_stop();
    if (!full)
        join_all(); // they record until they see that there is no spool any more
    return 0;
}

static int run(int count, char **arguments)
{
    uint32_t threads = (uint32_t)atoi(arguments[2]);
    if (count < 4 || threads > MOST_THREADS || !map_oracle(arguments[1]))
        return 2;
    oracle->threads = threads;
    struct mt_record_setup setup = {.path = arguments[0],
                                    .run = 42,
                                    .warn = warn,
                                    .keep_bytes = count > 4 ? strtoull(arguments[4], NULL, 0) : 0};
    int rc = mt_record_start(&setup);
    if (rc) {
        printf("start: %s\n", strerrorname_np(-rc));
        return 0;
    }
    running.slowly = !strcmp(arguments[3], "slowly");
    for (uintptr_t i = 0; i < threads; i++) {
        if (pthread_create(&running.threads[i], NULL, record_on, (void *)i))
            return 2;
    }
    // Something is to be seen, but for one who is killed at any moment.
    while (strcmp(arguments[3], "forever") != 0 && !all_began())
        sleep_ms(1);
    if (strcmp(arguments[3], "forever") != 0)
        sleep_ms(2 + (unsigned)(mt_os_random() % 20));
    return end_as(arguments[3]);
}

// ---- checking ----

struct check {
    struct raw_spool spool;
    uint64_t next[MOST_THREADS]; // number of each thread's next record
    bool seen[MOST_THREADS];
    uint64_t overwritten; // of our records, in a bounded spool
    uint64_t anchors;
};

// Whose record it is; MOST_THREADS: none of ours.
static uint32_t thread_of(const struct mt_rec_any *any)
{
    uint32_t thread = MOST_THREADS;
    if (mt_rec_type(any->word) == MT_REC_LABEL)
        thread = ((const struct mt_rec_label *)any)->kind - 1;
    else
        thread = mt_rec_small(any->word) - 1;
    return thread < MOST_THREADS ? thread : MOST_THREADS;
}

static void check_label(struct check *check, const struct mt_rec_any *any, uint32_t thread, uint64_t number)
{
    char text[3000];
    size_t length = label_text(thread, number, text, sizeof text);
    if (!raw_string_is(&check->spool, mt_rec_small(any->word), text, length))
        raw_problem(&check->spool, "a label's text is not there, or another, number", number);
}

// Low half of a record's number, as the record itself says.
static uint32_t number_of(const struct mt_rec_any *any)
{
    switch (mt_rec_type(any->word)) {
    case MT_REC_ENCODER_BEGIN:
        return ((const struct mt_rec_encoder_begin *)any)->encoder;
    case MT_REC_LABEL:
        return ((const struct mt_rec_label *)any)->object;
    case MT_REC_DISPATCH_WIDE:
        return (uint32_t)((const struct mt_rec_dispatch_wide *)any)->grid[0];
    default:
        return ((const struct mt_rec_dispatch *)any)->grid[0];
    }
}

// A bounded spool has the last records of each thread: the first one there says how many are gone.
static uint64_t next_number(struct check *check, uint32_t thread, const struct mt_rec_any *any)
{
    if (!check->seen[thread] && check->spool.header->keep_bytes) {
        check->next[thread] = number_of(any);
        check->overwritten += check->next[thread];
    }
    check->seen[thread] = true;
    return check->next[thread]++;
}

static void check_record(void *context, const struct raw_record *record)
{
    struct check *check = context;
    enum mt_record_type type = mt_rec_type(record->any->word);
    if (type == MT_REC_ANCHOR)
        check->anchors++;
    if (type == MT_REC_THREAD || type == MT_REC_ANCHOR || type == MT_REC_DROP)
        return;
    uint32_t thread = thread_of(record->any);
    if (thread == MOST_THREADS) {
        raw_problem(&check->spool, "a record of no thread", record->any->word);
        return;
    }
    uint64_t number = next_number(check, thread, record->any);
    union any_record expected;
    make(&expected, thread, number, mt_rec_small(record->any->word));
    if (type == MT_REC_LABEL)
        check_label(check, record->any, thread, number);
    size_t head = offsetof(struct mt_slot, body);
    size_t bytes = mt_rec_slots(type, 0) * sizeof(struct mt_slot) - head;
    if (memcmp(&expected.slots[0].body, (const char *)record->any + head, bytes) != 0)
        raw_problem(&check->spool, "torn, lost or twice: number", number);
}

// `most_more`: how many records a thread may have published without having counted them.
static void check_counts(struct check *check, const struct oracle *before, uint64_t most_more)
{
    for (uint32_t thread = 0; thread < before->threads; thread++) {
        uint64_t finished = before->finished[thread], found = check->next[thread];
        if (found < finished)
            raw_problem(&check->spool, "published records are lost", finished - found);
        if (found > finished + most_more)
            raw_problem(&check->spool, "records that nobody wrote", found - finished);
    }
}

// Besides ours there are THREAD and ANCHOR records. A target that was killed may have counted segments that
// it had not yet emptied, one for each thread and the helper.
static void check_overwritten(struct check *check, const struct oracle *before)
{
    const struct mt_spool_header *header = check->spool.header;
    uint64_t slack = before->threads * 4 + header->overwritten_segments * 4;
    if (header->state == MT_SPOOL_RUNNING)
        slack += (before->threads + 1) * MT_SPOOL_SEGMENT_SLOTS;
    if (header->overwritten_records < check->overwritten ||
        header->overwritten_records > check->overwritten + slack)
        raw_problem(&check->spool, "overwritten records are not counted right", header->overwritten_records);
}

static void check_header(struct check *check, const struct oracle *before, bool full)
{
    const struct mt_spool_header *header = check->spool.header;
    uint64_t refused = 0;
    for (uint32_t thread = 0; thread < before->threads; thread++)
        refused += before->refused[thread];
    if (full && (header->state != MT_SPOOL_STOPPED || !header->stop_reason || before->warnings != 1))
        raw_problem(&check->spool, "stopping is not on record", header->state);
    if (full && header->dropped_records < refused)
        raw_problem(&check->spool, "drops were not counted", refused - header->dropped_records);
    if (!full && (header->dropped_records || header->stop_reason))
        raw_problem(&check->spool, "drops without a reason", header->dropped_records);
    check_overwritten(check, before);
    if (check->seen[0] && !check->anchors && !header->keep_bytes && !full)
        raw_problem(&check->spool, "no anchor", 0);
}

static int check(const char *path, const char *how)
{
    static struct check check;
    // Counts first, then the file: what was counted must be in it.
    struct oracle before = {0};
    for (size_t i = 0; i < sizeof before / 8; i++)
        ((uint64_t *)&before)[i] = __atomic_load_n((uint64_t *)oracle + i, __ATOMIC_ACQUIRE);
    bool live = !strcmp(how, "live"), full = !strcmp(how, "full");
    if (!raw_open(&check.spool, path, live)) {
        for (uint32_t thread = 0; thread < before.threads; thread++)
            check.spool.problems += before.finished[thread] != 0;
        printf("0 records, no header\n");
        return check.spool.problems ? 1 : 0;
    }
    uint64_t records = raw_records(&check.spool, MT_SEGMENT_EVENTS, check_record, &check);
    check_counts(&check, &before, live ? UINT64_MAX / 2 : 1);
    if (!live)
        check_header(&check, &before, full);
    printf("%llu records, %llu overwritten, %zu segments, %zu bytes\n", (unsigned long long)records,
           (unsigned long long)check.spool.header->overwritten_records, check.spool.count, check.spool.size);
    int problems = check.spool.problems ? 1 : 0;
    raw_close(&check.spool);
    return problems;
}

int main(int count, char **arguments)
{
    if (count >= 6 && !strcmp(arguments[1], "run"))
        return run(count - 2, arguments + 2);
    if (count >= 4 && !strcmp(arguments[1], "check") && map_oracle(arguments[3]))
        return check(arguments[2], count > 4 ? arguments[4] : "");
    fprintf(stderr, "usage: recorder run SPOOL ORACLE THREADS END [KEEP] | check SPOOL ORACLE [live|full]\n");
    return 2;
}
