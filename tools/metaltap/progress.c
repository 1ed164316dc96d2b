// SPDX-License-Identifier: MIT
// Reads the spool of the running program from time to time and shows counts. Costs at most a fiftieth of one
// core: the longer a count takes, the longer it waits for the next.
#include "progress.h"

#include "os/os.h"
#include "spool/reader.h"

#include <stdio.h>
#include <string.h>

enum { COUNT_SHARE = 50 };

// The spool with most in it, of the program itself or of one that it started.
static void find_spool(struct mt_progress *progress, pid_t process)
{
    struct mt_recordings found;
    struct mt_spool_error error;
    const struct mt_recording *best = NULL;
    mt_recordings_find(&found, progress->pattern, progress->run, (uint32_t)process, progress->program);
    for (size_t i = 0; i < found.count; i++)
        if (!best || found.items[i].header.segments > best->header.segments)
            best = &found.items[i];
    if (best && mt_spool_open(best->path, &progress->spool, &error) == 0)
        snprintf(progress->path, sizeof progress->path, "%s", best->path);
    else
        progress->spool = NULL;
    mt_recordings_free(&found);
}

static int count_records(void *context, const struct mt_spool_stream *from, const struct mt_rec_any *slots,
                         size_t count)
{
    struct mt_progress *progress = context;
    (void)from;
    for (size_t i = 0; i < count;) {
        enum mt_record_type type = mt_rec_type(slots[i].word);
        if (type >= MT_REC_DISPATCH_GROUPS && type <= MT_REC_DISPATCH_WIDE)
            progress->dispatches++;
        else if (type == MT_REC_CB_COMMIT)
            progress->command_buffers++;
        i += mt_rec_slots(type, 0);
    }
    return 0;
}

static void count(struct mt_progress *progress)
{
    uint64_t begin = mt_os_clock_ns();
    if (begin < progress->next_count_ns)
        return;
    progress->command_buffers = progress->dispatches = 0;
    if (mt_spool_refresh(progress->spool) == 0)
        mt_spool_events(progress->spool, count_records, progress);
    uint64_t end = mt_os_clock_ns();
    progress->next_count_ns = end + (end - begin) * COUNT_SHARE;
}

void mt_progress_tick(struct mt_progress *progress, pid_t process)
{
    uint64_t seconds = (mt_os_clock_ns() - progress->start_ns) / 1000000000U, bytes = 0;
    struct mt_spool_header header;
    if (!progress->spool)
        find_spool(progress, process);
    fprintf(stderr, "\r\033[Kmetaltap: %llu:%02llu, ", (unsigned long long)seconds / 60,
            (unsigned long long)seconds % 60);
    if (progress->spool) {
        count(progress);
        mt_recording_header(progress->path, &header, &bytes);
        fprintf(stderr, "%llu command buffers, %llu dispatches, %.1f MB recorded",
                (unsigned long long)progress->command_buffers, (unsigned long long)progress->dispatches,
                (double)bytes / 1e6);
    } else {
        fprintf(stderr, "process %ld, nothing recorded yet", (long)process);
    }
    fflush(stderr);
    progress->shown = true;
}

void mt_progress_end(struct mt_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    if (progress->spool)
        mt_spool_close(progress->spool);
    progress->spool = NULL;
}
