// SPDX-License-Identifier: MIT
// The union of intervals: see busy.h. Runs in tools, and in a target at its exit.
#include "analysis/busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Folds the first `count` intervals, whatever may still come.
static void fold_first(struct mt_busy *busy, size_t count)
{
    if (!count)
        return;
    for (size_t i = 0; i < count; i++)
        busy->folded_ns += (uint64_t)(busy->open[i].end - busy->open[i].begin);
    busy->folded_to = busy->open[count - 1].end;
    busy->count -= count;
    memmove(busy->open, busy->open + count, busy->count * sizeof(*busy->open));
}

static int make_room(struct mt_busy *busy)
{
    if (busy->count < busy->room)
        return 0;
    if (busy->count >= MT_BUSY_MAX_OPEN) {
        fold_first(busy, busy->count / 2);
        return 0;
    }
    size_t room = busy->room ? busy->room * 2 : 16;
    struct mt_interval *open = realloc(busy->open, room * sizeof(*open));
    if (!open)
        return -ENOMEM;
    busy->open = open;
    busy->room = room;
    return 0;
}

int mt_busy_add(struct mt_busy *busy, int64_t begin, int64_t end)
{
    int error = make_room(busy);
    if (error)
        return error;
    if (!busy->any || begin < busy->first)
        busy->first = begin;
    if (!busy->any || end > busy->last)
        busy->last = end;
    if (!busy->any)
        busy->folded_to = INT64_MIN;
    busy->any = true;
    if (begin < busy->folded_to) {
        busy->inexact = true;
        begin = busy->folded_to;
        if (end <= begin)
            return 0;
    }
    // [low, high): those that the new one touches; it takes their place. New ones come near the end.
    size_t high = busy->count;
    while (high && busy->open[high - 1].begin > end)
        high--;
    size_t low = high;
    while (low && busy->open[low - 1].end >= begin)
        low--;
    if (low < high) {
        begin = busy->open[low].begin < begin ? busy->open[low].begin : begin;
        end = busy->open[high - 1].end > end ? busy->open[high - 1].end : end;
    }
    memmove(busy->open + low + 1, busy->open + high, (busy->count - high) * sizeof(*busy->open));
    busy->open[low] = (struct mt_interval){begin, end};
    busy->count = busy->count - (high - low) + 1;
    return 0;
}

void mt_busy_fold(struct mt_busy *busy, int64_t horizon)
{
    if (!busy->count || horizon <= INT64_MIN + MT_BUSY_MARGIN_NS)
        return;
    if (horizon > busy->last)
        horizon = busy->last;
    horizon -= MT_BUSY_MARGIN_NS;
    size_t count = 0;
    while (count < busy->count && busy->open[count].end <= horizon)
        count++;
    // Folding a few at a time would move the rest each time.
    if (count >= 16 && count >= busy->count / 2)
        fold_first(busy, count);
}

uint64_t mt_busy_total_ns(const struct mt_busy *busy)
{
    uint64_t total = busy->folded_ns;
    for (size_t i = 0; i < busy->count; i++)
        total += (uint64_t)(busy->open[i].end - busy->open[i].begin);
    return total;
}

void mt_busy_free(struct mt_busy *busy)
{
    free(busy->open);
    *busy = (struct mt_busy){0};
}
