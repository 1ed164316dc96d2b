// SPDX-License-Identifier: MIT
// Durations in bounded memory: see samples.h. Runs in tools, and in a target at its exit.
#include "analysis/samples.h"

#include <errno.h>
#include <stdlib.h>

static unsigned octave_of(uint64_t value)
{
    return value < MT_SAMPLES_BUCKETS ? 0 : 63 - (unsigned)__builtin_clzll(value) - 6;
}

static unsigned bucket_of(uint64_t value, unsigned octave)
{
    return octave ? (unsigned)(value >> (octave - 1)) - MT_SAMPLES_BUCKETS : (unsigned)value;
}

// The middle of a bucket.
static uint64_t bucket_value(unsigned octave, unsigned bucket)
{
    if (!octave)
        return bucket;
    uint64_t width = UINT64_C(1) << (octave - 1);
    return ((uint64_t)bucket + MT_SAMPLES_BUCKETS) * width + width / 2;
}

static int count_value(struct mt_samples *samples, uint64_t value)
{
    unsigned octave = octave_of(value);
    if (!samples->octaves[octave]) {
        samples->octaves[octave] = calloc(MT_SAMPLES_BUCKETS, sizeof(uint64_t));
        if (!samples->octaves[octave])
            return -ENOMEM;
    }
    samples->octaves[octave][bucket_of(value, octave)]++;
    return 0;
}

static void free_octaves(struct mt_samples *samples)
{
    for (unsigned i = 0; samples->octaves && i < MT_SAMPLES_OCTAVES; i++)
        free(samples->octaves[i]);
    free(samples->octaves);
    samples->octaves = NULL;
}

static int start_histogram(struct mt_samples *samples)
{
    samples->octaves = calloc(MT_SAMPLES_OCTAVES, sizeof(*samples->octaves));
    if (!samples->octaves)
        return -ENOMEM;
    for (uint64_t i = 0; i < samples->count; i++) {
        if (count_value(samples, samples->values[i]) < 0) {
            free_octaves(samples);
            return -ENOMEM;
        }
    }
    free(samples->values);
    samples->values = NULL;
    samples->room = 0;
    return 0;
}

static int keep_value(struct mt_samples *samples, uint64_t value)
{
    if (samples->count == samples->room) {
        uint32_t room = samples->room ? samples->room * 2 : 8;
        uint64_t *values = realloc(samples->values, room * sizeof(*values));
        if (!values)
            return -ENOMEM;
        samples->values = values;
        samples->room = room;
    }
    samples->values[samples->count] = value;
    return 0;
}

int mt_samples_add(struct mt_samples *samples, uint64_t value)
{
    int error = 0;
    if (!samples->octaves && samples->count == MT_SAMPLES_EXACT)
        error = start_histogram(samples);
    if (!error)
        error = samples->octaves ? count_value(samples, value) : keep_value(samples, value);
    if (error)
        return error;
    if (!samples->count || value < samples->min)
        samples->min = value;
    if (value > samples->max)
        samples->max = value;
    samples->total = samples->total > UINT64_MAX - value ? UINT64_MAX : samples->total + value;
    samples->count++;
    return 0;
}

void mt_samples_free(struct mt_samples *samples)
{
    free(samples->values);
    free_octaves(samples);
    *samples = (struct mt_samples){0};
}

bool mt_samples_are_exact(const struct mt_samples *samples)
{
    return !samples->octaves;
}

static int compare_values(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static uint64_t histogram_rank(const struct mt_samples *samples, uint64_t rank)
{
    uint64_t seen = 0;
    for (unsigned octave = 0; octave < MT_SAMPLES_OCTAVES; octave++) {
        for (unsigned bucket = 0; samples->octaves[octave] && bucket < MT_SAMPLES_BUCKETS; bucket++) {
            seen += samples->octaves[octave][bucket];
            if (seen > rank)
                return bucket_value(octave, bucket);
        }
    }
    return samples->max;
}

uint64_t mt_samples_quantile(struct mt_samples *samples, unsigned percent)
{
    // ceil(count * percent / 100) - 1 without running over 64 bits
    uint64_t rank = samples->count / 100 * percent + (samples->count % 100 * percent + 99) / 100;
    rank = rank ? rank - 1 : 0;
    if (!samples->octaves) {
        qsort(samples->values, samples->count, sizeof(uint64_t), compare_values);
        return samples->values[rank];
    }
    uint64_t value = histogram_rank(samples, rank);
    if (value < samples->min)
        return samples->min;
    return value > samples->max ? samples->max : value;
}

uint64_t mt_samples_mean(const struct mt_samples *samples)
{
    uint64_t rest = samples->total % samples->count;
    return samples->total / samples->count + (rest >= samples->count - rest);
}
