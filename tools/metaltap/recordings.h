// SPDX-License-Identifier: MIT
// The spools that the processes of one run left in a folder, found by the run's number in their headers. Only
// reads; one thread.
#ifndef MT_RECORDINGS_H
#define MT_RECORDINGS_H

#include "options/options.h"
#include "spool/format.h"

#include <stdbool.h>

struct mt_recording {
    char path[MT_OPTION_PATH_MAX];
    struct mt_spool_header header;
    uint64_t bytes;
    // by mt_recording_describe
    char program[256]; // its name; "program" if the spool does not say
    bool used_metal;
};
struct mt_recordings {
    struct mt_recording *items;
    size_t count;
};

// All spools of the run in the folder of the pattern, in the order of their start. If processes differ in
// their folder, that of the process `pid`. 0 or -errno.
int mt_recordings_find(struct mt_recordings *recordings, const char *pattern, uint64_t run, uint32_t pid,
                       const char *program);
void mt_recordings_free(struct mt_recordings *recordings);
// The spool's header, if there is one at its beginning and it is ours.
bool mt_recording_header(const char *path, struct mt_spool_header *header, uint64_t *bytes);
// True for a report in JSON that may be replaced, as the reports' writer sees it.
bool mt_recording_is_report(const char *path);
void mt_recording_describe(struct mt_recording *recording);
bool mt_recording_running(const struct mt_recording *recording);

// The folder part of a path or pattern, "." if it has none.
void mt_recordings_folder(const char *path, char *folder, size_t size);

#endif
