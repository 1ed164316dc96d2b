// SPDX-License-Identifier: MIT
// The parts of the analysis against slow and simple answers: quantiles, unions of intervals, names, contents
// of command buffers in flight.
#include "analysis/busy.h"
#include "analysis/contents.h"
#include "analysis/names.h"
#include "analysis/samples.h"
#include "unit/test.h"

#include <stdlib.h>

static uint64_t random_state = 88172645463325252;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

// ---- samples ----
static int compare(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void check_quantile(struct mt_samples *samples, const uint64_t *sorted, size_t count, unsigned percent)
{
    size_t rank = (count * percent + 99) / 100;
    double exact = (double)sorted[rank ? rank - 1 : 0], given = (double)mt_samples_quantile(samples, percent);
    CHECK_NEAR(given, exact, mt_samples_are_exact(samples) ? 0 : exact * 0.005);
}

// `bits`: how many bits the values have at most.
static void check_samples(size_t count, unsigned bits)
{
    struct mt_samples samples = {0};
    uint64_t *values = calloc(count, sizeof *values), total = 0;
    if (!values)
        abort();
    for (size_t i = 0; i < count; i++) {
        values[i] = random_number() >> (64 - bits) >> (random_number() % bits);
        total += values[i];
        CHECK_EQ(mt_samples_add(&samples, values[i]), 0);
    }
    qsort(values, count, sizeof *values, compare);
    CHECK_EQ(samples.count, count);
    CHECK_EQ(samples.total, total);
    CHECK_EQ(samples.min, values[0]);
    CHECK_EQ(samples.max, values[count - 1]);
    CHECK_EQ(mt_samples_are_exact(&samples), count <= MT_SAMPLES_EXACT);
    for (unsigned percent = 0; percent <= 100; percent += 5)
        check_quantile(&samples, values, count, percent);
    mt_samples_free(&samples);
    CHECK(!samples.octaves && !samples.values);
    free(values);
}

static void test_samples(void)
{
    const size_t counts[] = {1, 2, 19, 20, 511, 512, 513, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        check_samples(counts[i], 50);
        check_samples(counts[i], 8);
    }
    // The ends of the range, past the point where values are kept.
    struct mt_samples samples = {0};
    for (int i = 0; i < 600; i++)
        CHECK_EQ(mt_samples_add(&samples, i % 2 ? UINT64_MAX : 0), 0);
    CHECK_EQ(mt_samples_quantile(&samples, 50), 0);
    CHECK_NEAR((double)mt_samples_quantile(&samples, 95), 0x1p64, 0x1p64 * 0.005);
    CHECK(samples.max == UINT64_MAX);
    CHECK(samples.total == UINT64_MAX); // stays there
    mt_samples_free(&samples);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(mt_samples_add(&samples, i + 1), 0);
    CHECK_EQ(mt_samples_mean(&samples), 2);
    CHECK_EQ(mt_samples_add(&samples, 0), 0);
    CHECK_EQ(mt_samples_mean(&samples), 2); // 1.5 is rounded
    mt_samples_free(&samples);
}

// ---- busy ----
enum { MOMENTS = 20000, INTERVALS = 400 };

// Intervals on a short line of moments, each moment marked by hand.
static void check_union(uint64_t longest)
{
    static char marked[MOMENTS];
    struct mt_busy busy = {0};
    memset(marked, 0, sizeof marked);
    int64_t first = MOMENTS, last = 0;
    for (int i = 0; i < INTERVALS; i++) {
        int64_t begin = (int64_t)(random_number() % (MOMENTS - longest));
        int64_t end = begin + (int64_t)(random_number() % longest);
        memset(marked + begin, 1, (size_t)(end - begin));
        first = begin < first ? begin : first;
        last = end > last ? end : last;
        CHECK_EQ(mt_busy_add(&busy, begin, end), 0);
    }
    uint64_t expected = 0;
    for (int i = 0; i < MOMENTS; i++)
        expected += marked[i] != 0;
    CHECK_EQ(mt_busy_total_ns(&busy), expected);
    CHECK_EQ(busy.first, first);
    CHECK_EQ(busy.last, last);
    CHECK(!busy.inexact);
    mt_busy_free(&busy);
}

// A long run in which what is old is folded away: the same sum, and memory stays small.
static void test_folding(void)
{
    struct mt_busy folded = {0}, kept = {0};
    int64_t now = 0;
    size_t most = 0;
    for (int i = 0; i < 20000; i++) {
        now += (int64_t)(random_number() % 200000);
        int64_t begin = now - (int64_t)(random_number() % 300000),
                end = begin + (int64_t)(random_number() % 100000);
        CHECK_EQ(mt_busy_add(&folded, begin, end), 0);
        CHECK_EQ(mt_busy_add(&kept, begin, end), 0);
        mt_busy_fold(&folded, i % 7 ? now - 300000 : INT64_MAX);
        most = folded.count > most ? folded.count : most;
    }
    CHECK_EQ(mt_busy_total_ns(&folded), mt_busy_total_ns(&kept));
    CHECK(!folded.inexact);
    CHECK_INT(most, <, 200);
    CHECK_INT(kept.count, >, 1000);
    mt_busy_free(&folded);
    mt_busy_free(&kept);
}

static void test_busy(void)
{
    check_union(2);
    check_union(30);
    check_union(1000);
    test_folding();
    // Far too many that may still grow: it says that it is not exact once that mattered.
    struct mt_busy busy = {0};
    for (int64_t i = 0; i < MT_BUSY_MAX_OPEN * 2; i++)
        CHECK_EQ(mt_busy_add(&busy, i * 10, i * 10 + 5), 0);
    CHECK_INT(busy.count, <=, MT_BUSY_MAX_OPEN);
    CHECK_EQ(mt_busy_total_ns(&busy), (uint64_t)MT_BUSY_MAX_OPEN * 2 * 5);
    CHECK(!busy.inexact);
    CHECK_EQ(mt_busy_add(&busy, 7, 8), 0);
    CHECK(busy.inexact);
    mt_busy_free(&busy);
}

// ---- names ----
static void test_names(void)
{
    enum { COUNT = 5000 };
    static char bytes[COUNT][8];
    struct mt_names names = {0};
    struct mt_text none = {0};
    int error = 0;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < COUNT; i++) {
            int length = snprintf(bytes[i], sizeof bytes[i], "%u", i);
            struct mt_text text = {bytes[i], (uint32_t)length, false};
            CHECK_EQ(mt_names_number(&names, text, none, COUNT, &error), i);
        }
    }
    struct mt_text more = {"x", 1, false}, first = {bytes[1], 1, false}, empty = {"", 0, false};
    CHECK(mt_names_number(&names, first, more, COUNT, &error) == MT_NO_NAME); // as many as allowed
    CHECK_EQ(mt_names_number(&names, first, more, COUNT + 9, &error), COUNT);
    CHECK_EQ(mt_names_number(&names, none, none, COUNT + 9, &error), COUNT + 1);
    CHECK_EQ(mt_names_number(&names, empty, none, COUNT + 9, &error),
             COUNT + 2); // no text is not an empty one
    struct mt_text ab = {"ab", 2, false}, c = {"c", 1, false}, a = {"a", 1, false}, bc = {"bc", 2, false};
    CHECK_EQ(mt_names_number(&names, ab, c, COUNT + 9, &error), COUNT + 3);
    CHECK_EQ(mt_names_number(&names, a, bc, COUNT + 9, &error), COUNT + 4);
    CHECK_EQ(error, 0);
    mt_names_free(&names);
}

// ---- contents ----
static void test_contents(void)
{
    enum { IDS = 3000 };
    static struct mt_content known[IDS + 1];
    struct mt_contents contents = {0};
    for (int i = 0; i < 60000; i++) {
        uint32_t id = 1 + (uint32_t)(random_number() % IDS), kernel = (uint32_t)(random_number() % 3);
        if (random_number() % 3) {
            CHECK_EQ(mt_contents_dispatches(&contents, id, kernel, 1), 0);
            known[id].kernel =
                known[id].dispatches++ && known[id].kernel != kernel ? MT_KERNEL_MIXED : kernel;
        } else {
            struct mt_content content = {0};
            CHECK_EQ(mt_contents_take(&contents, id, &content), known[id].dispatches > 0);
            CHECK_EQ(content.dispatches, known[id].dispatches);
            CHECK_EQ(content.kernel, known[id].kernel);
            known[id] = (struct mt_content){0};
        }
    }
    mt_contents_free(&contents);
    // Past the limit the rest is unknown, and nothing is wrong.
    struct mt_content content;
    for (uint32_t id = 1; id <= MT_CONTENTS_MAX + 100; id++)
        CHECK_EQ(mt_contents_dispatches(&contents, id, 1, 1), 0);
    CHECK_EQ(contents.count, MT_CONTENTS_MAX);
    CHECK(mt_contents_take(&contents, 1, &content));
    CHECK(!mt_contents_take(&contents, MT_CONTENTS_MAX + 1, &content));
    CHECK(!mt_contents_take(&contents, 0, &content));
    mt_contents_free(&contents);
}

int main(void)
{
    test_samples();
    test_busy();
    test_names();
    test_contents();
    return test_end();
}
