// SPDX-License-Identifier: MIT
// The statistics of one kind of duration: count, total, extremes and quantiles in bounded memory. Up to
// MT_SAMPLES_EXACT values are kept as they are; beyond that a logarithmic histogram takes over, whose
// quantiles are within 0.5 % of a value that was there. Zeroed memory is an empty set. One thread at a time.
#ifndef MT_ANALYSIS_SAMPLES_H
#define MT_ANALYSIS_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MT_SAMPLES_EXACT = 512,
    MT_SAMPLES_BUCKETS = 128, // per octave: half of a 128th of the value is 0.39 %
    MT_SAMPLES_OCTAVES = 58,  // the first holds 0 to 127 one by one, the others double from 128
};

struct mt_samples {
    uint64_t count, total, min, max; // total stays at its largest value rather than wrapping
    uint64_t *values;                // while there are few
    uint32_t room;
    uint64_t **octaves; // afterwards; NULL where nothing fell
};

// 0 or -ENOMEM; the sample is not counted then.
int mt_samples_add(struct mt_samples *samples, uint64_t value);
void mt_samples_free(struct mt_samples *samples);
bool mt_samples_are_exact(const struct mt_samples *samples);
// The smallest value that at least `percent` of the samples do not exceed (nearest rank). Needs a sample.
// Sorts what is kept, hence not const.
uint64_t mt_samples_quantile(struct mt_samples *samples, unsigned percent);
uint64_t mt_samples_mean(const struct mt_samples *samples); // rounded; needs a sample

#endif
