// SPDX-License-Identifier: MIT
// The clock: turns ticks into nanoseconds since the process started, by straight lines between anchors. Keeps
// a bounded number of anchors; of those too close to each other the more exact one stays. Must never give a
// later time for fewer ticks, whatever the anchors say.
#include "model/internal.h"

#include <errno.h>
#include <stdlib.h>

enum { MAX_ANCHORS = 4096 };
static const int64_t farthest_ns = INT64_C(1) << 60; // from the nearest anchor
static const int64_t largest_ns = INT64_C(1) << 61;
static const uint64_t longest_ticks = UINT64_C(1) << 63; // of a piece: a signed number holds what is below

static int64_t since(uint64_t ns, uint64_t start_ns)
{
    int64_t delta = (int64_t)(ns - start_ns);
    if (delta > largest_ns)
        return largest_ns;
    return delta < -largest_ns ? -largest_ns : delta;
}

int64_t mt_clock_from_gpu(const struct mt_clock *clock, uint64_t clock_ns)
{
    return clock_ns ? since(clock_ns, clock->start_ns) : MT_NO_TIME;
}

int mt_clock_begin(struct mt_clock *clock, const struct mt_spool_header *header)
{
    clock->anchors = malloc(MAX_ANCHORS * sizeof *clock->anchors);
    if (!clock->anchors)
        return -ENOMEM;
    clock->start_ns = header->start_ns;
    clock->ticks_per_second = header->ticks_per_second;
    clock->anchors[0] = (struct mt_anchor){.ticks = header->start_ticks};
    clock->count = 1;
    return 0;
}

void mt_clock_free(struct mt_clock *clock)
{
    free(clock->anchors);
    clock->anchors = NULL;
}

static int by_ticks(const void *a, const void *b)
{
    const struct mt_anchor *x = a, *y = b;
    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1;
    return x->width < y->width ? -1 : x->width > y->width;
}

static void sort_anchors(struct mt_clock *clock)
{
    qsort(clock->anchors + 1, clock->count - 1, sizeof *clock->anchors, by_ticks);
}

// Of each two neighbours the more exact one stays; the last always does, since what follows hangs on it.
static void thin_out(struct mt_clock *clock)
{
    sort_anchors(clock);
    struct mt_anchor *anchors = clock->anchors;
    size_t kept = 1, i = 1;
    for (; i + 2 < clock->count; i += 2)
        anchors[kept++] = anchors[i].width <= anchors[i + 1].width ? anchors[i] : anchors[i + 1];
    for (; i < clock->count; i++)
        anchors[kept++] = anchors[i];
    clock->count = kept;
}

void mt_clock_add(struct mt_clock *clock, const struct mt_rec_anchor *anchor)
{
    clock->seen++;
    if (anchor->time <= clock->anchors[0].ticks)
        return;
    if (clock->count == MAX_ANCHORS)
        thin_out(clock);
    clock->anchors[clock->count++] = (struct mt_anchor){
        .ticks = anchor->time, .width = anchor->width, .ns = since(anchor->clock_ns, clock->start_ns)};
}

// An anchor for which the thread was interrupted between its two halves says little: above a tenth of a
// millisecond it is left out, unless it is the only one.
static bool is_loose(const struct mt_clock *clock, const struct mt_anchor *anchor)
{
    return clock->ticks_per_second && anchor->width > clock->ticks_per_second / 10000;
}

static double slope_between(const struct mt_anchor *a, const struct mt_anchor *b)
{
    return (double)(b->ns - a->ns) / (double)(b->ticks - a->ticks);
}

static double slope_outside(const struct mt_clock *clock)
{
    const struct mt_anchor *first = clock->anchors, *last = first + clock->count - 1;
    double told = clock->ticks_per_second ? 1e9 / (double)clock->ticks_per_second : 1.0;
    // Two anchors close to each other are less exact than what the system says.
    bool enough = last->ns > 10000000 || (!clock->ticks_per_second && last->ns > 0);
    return enough ? slope_between(first, last) : told;
}

void mt_clock_finish(struct mt_clock *clock)
{
    sort_anchors(clock);
    struct mt_anchor *anchors = clock->anchors;
    size_t kept = 1;
    for (size_t i = 1; i < clock->count; i++) {
        bool only = i + 1 == clock->count && kept == 1;
        uint64_t step = anchors[i].ticks - anchors[kept - 1].ticks;
        bool follows = step > 0 && step <= longest_ticks && anchors[i].ns >= anchors[kept - 1].ns;
        if (follows && (only || !is_loose(clock, &anchors[i])))
            anchors[kept++] = anchors[i];
    }
    clock->count = kept;
    clock->slope = slope_outside(clock);
    mt_clock_search(clock, anchors[0].ticks);
}

static int64_t before_start(const struct mt_clock *clock, uint64_t ticks)
{
    double ns = (double)(clock->anchors[0].ticks - ticks) * clock->slope;
    return ns > (double)farthest_ns ? -farthest_ns : -(int64_t)ns;
}

// Behind the last anchor: until the time would get out of hand. A piece never goes beyond the last tick there
// is, so that one comparison finds ticks on both sides of it.
static void set_last_piece(struct mt_clock *clock, const struct mt_anchor *last)
{
    double length = clock->slope > 0 ? (double)farthest_ns / clock->slope : 0x1p63;
    uint64_t most = UINT64_MAX - last->ticks < longest_ticks ? UINT64_MAX - last->ticks : longest_ticks;
    clock->piece = (struct mt_clock_piece){.begin = last->ticks,
                                           .length = length < (double)most ? (uint64_t)length : most,
                                           .ns = last->ns,
                                           .slope = clock->slope};
}

static void set_piece(struct mt_clock *clock, const struct mt_anchor *from, const struct mt_anchor *to)
{
    double slope = slope_between(from, to);
    // Over months a product may be rounded up beyond the next anchor; a hair less than the slope is not.
    if (to->ns - from->ns > INT64_C(1) << 50)
        slope *= 1 - 0x1p-50;
    clock->piece = (struct mt_clock_piece){
        .begin = from->ticks, .length = to->ticks - from->ticks, .ns = from->ns, .slope = slope};
}

// Finds the piece that `ticks` is in, for this time and the next ones.
int64_t mt_clock_search(struct mt_clock *clock, uint64_t ticks)
{
    const struct mt_anchor *anchors = clock->anchors;
    if (ticks < anchors[0].ticks)
        return before_start(clock, ticks);
    size_t low = 0, high = clock->count; // anchors[low].ticks <= ticks
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (anchors[middle].ticks <= ticks)
            low = middle;
        else
            high = middle;
    }
    if (low + 1 == clock->count)
        set_last_piece(clock, &anchors[low]);
    else
        set_piece(clock, &anchors[low], &anchors[low + 1]);
    uint64_t delta = ticks - clock->piece.begin;
    if (delta >= clock->piece.length)
        return clock->piece.ns + farthest_ns;
    return clock->piece.ns + (int64_t)((double)(int64_t)delta * clock->piece.slope);
}

void mt_clock_describe(const struct mt_clock *clock, struct mt_clock_info *info)
{
    const struct mt_anchor *anchors = clock->anchors;
    double worst_width = 0, worst_residual = 0;
    for (size_t i = 1; i < clock->count; i++) {
        double width = (double)anchors[i].width * clock->slope;
        double line = (double)(anchors[i].ticks - anchors[0].ticks) * clock->slope;
        double residual =
            line > (double)anchors[i].ns ? line - (double)anchors[i].ns : (double)anchors[i].ns - line;
        worst_width = width > worst_width ? width : worst_width;
        worst_residual = residual > worst_residual ? residual : worst_residual;
    }
    info->start_ticks = anchors[0].ticks;
    info->start_ns = clock->start_ns;
    info->ticks_per_second = clock->slope > 0 ? 1e9 / clock->slope : 0;
    info->anchors = clock->seen;
    info->worst_width_ns = worst_width < 0x1p63 ? (uint64_t)worst_width : UINT64_C(1) << 63;
    info->worst_residual_ns = worst_residual < 0x1p63 ? (uint64_t)worst_residual : UINT64_C(1) << 63;
}
