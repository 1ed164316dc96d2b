// SPDX-License-Identifier: MIT
// The union of time intervals that arrive in no particular order: how long something was busy, however many
// things ran at once. Intervals that nothing yet to come can touch are folded into a sum, so memory follows
// what is in flight. Zeroed memory is an empty union. One thread at a time.
#ifndef MT_ANALYSIS_BUSY_H
#define MT_ANALYSIS_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_interval {
    int64_t begin, end;
};
struct mt_busy {
    struct mt_interval *open; // disjoint, in order, none touching the next
    size_t count, room;
    uint64_t folded_ns;  // what lies before folded_to
    int64_t folded_to;   // nothing before it is counted again
    int64_t first, last; // the earliest begin and the latest end of all; valid if any
    bool any, inexact;   // inexact: something came for a time that was folded already
};

enum {
    MT_BUSY_MAX_OPEN = 32768,   // beyond, the older half is folded even though it may still grow
    MT_BUSY_MARGIN_NS = 1000000 // times of CPU and GPU come from two clocks: fold only what is this old
};

// Adds [begin, end]; begin <= end. 0 or -ENOMEM.
int mt_busy_add(struct mt_busy *busy, int64_t begin, int64_t end);
// Nothing that begins before `horizon` will be added any more.
void mt_busy_fold(struct mt_busy *busy, int64_t horizon);
uint64_t mt_busy_total_ns(const struct mt_busy *busy);
void mt_busy_free(struct mt_busy *busy);

#endif
