// SPDX-License-Identifier: MIT
// What the programs that measure the tap share: reading the counter, how long its ticks are, and what a set
// of samples says.
#ifndef TESTS_BENCH_TAP_SAMPLES_H
#define TESTS_BENCH_TAP_SAMPLES_H

#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// In ticks, as read before and after what is measured.
struct samples {
    uint64_t *values;
    size_t count, room;
};

static inline int samples_begin(struct samples *samples, size_t room)
{
    *samples = (struct samples){.values = malloc(room * sizeof *samples->values), .room = room};
    if (samples->values)
        return 0;
    fprintf(stderr, "no memory for %zu samples\n", room);
    return -1;
}

static inline void samples_add(struct samples *samples, uint64_t before, uint64_t after)
{
    if (samples->count < samples->room)
        samples->values[samples->count++] = after - before;
}

static inline int samples_compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static inline void samples_sort(struct samples *samples)
{
    qsort(samples->values, samples->count, sizeof *samples->values, samples_compare);
}

// Of sorted samples, `share` from 0 to 1.
static inline double samples_quantile(const struct samples *samples, double share)
{
    size_t index = (size_t)(share * (double)samples->count);
    if (!samples->count)
        return 0;
    return (double)samples->values[index < samples->count ? index : samples->count - 1];
}

// What it takes when nothing disturbs it: the mean of sorted samples from the 5th to the 25th percentile. A
// mean sees less than a step of the counter; and on a busy machine the middle half has been disturbed.
static inline double samples_quiet(const struct samples *samples)
{
    size_t first = samples->count / 20, last = (samples->count + 3) / 4;
    double sum = 0;
    for (size_t i = first; i < last; i++)
        sum += (double)samples->values[i];
    return last > first ? sum / (double)(last - first) : 0;
}

static inline uint64_t samples_clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Sleeps, so that it takes the same number of instructions whenever it is called.
static inline double samples_ns_per_tick(void)
{
    struct timespec pause = {.tv_nsec = 20000000};
    uint64_t ticks = mt_os_counter(), begin = samples_clock_ns(CLOCK_MONOTONIC);
    nanosleep(&pause, NULL);
    uint64_t end = samples_clock_ns(CLOCK_MONOTONIC);
    return (double)(end - begin) / (double)(mt_os_counter() - ticks);
}

// One set of samples of single calls as members of a JSON object.
static inline void samples_print_spread(struct samples *samples, double ns_per_tick)
{
    samples_sort(samples);
    printf("\"p50_ns\": %.1f, \"p99_ns\": %.1f, \"p999_ns\": %.1f",
           samples_quantile(samples, 0.5) * ns_per_tick, samples_quantile(samples, 0.99) * ns_per_tick,
           samples_quantile(samples, 0.999) * ns_per_tick);
}

#endif
