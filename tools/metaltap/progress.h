// SPDX-License-Identifier: MIT
// One line on the terminal while a program runs: how long, and what the tap has seen. One thread.
#ifndef MT_PROGRESS_H
#define MT_PROGRESS_H

#include "recordings.h"

#include <sys/types.h>

struct mt_spool;
struct mt_progress {
    const char *pattern, *program; // where spools lie; what was started
    uint64_t run, start_ns;
    bool shown;
    struct mt_spool *spool;
    char path[MT_OPTION_PATH_MAX];
    uint64_t command_buffers, dispatches, next_count_ns;
};

void mt_progress_tick(struct mt_progress *progress, pid_t process);
// Takes the line away.
void mt_progress_end(struct mt_progress *progress);

#endif
