// SPDX-License-Identifier: MIT
// The report entry points: from a spool to a JSON file or a table. The only part of the reading side that may
// run inside a target, once, at its exit. Writes nothing but its output; tells errors by text.
#ifndef MT_VIEWS_REPORT_H
#define MT_VIEWS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

// How every report begins: what is told apart from files that are not ours by it.
#define MT_REPORT_BEGINS "{\"schema\":\"metaltap-report/"

enum mt_report_detail { MT_DETAIL_SUMMARY, MT_DETAIL_CB, MT_DETAIL_FULL };

// Writes the report under another name in the same folder and renames it. An existing file at `out` is
// replaced if it is a metaltap report, and left alone otherwise (-EEXIST). 0 or -errno; `error` says in one
// line what was wrong.
int mt_report_json(const char *spool, const char *out, enum mt_report_detail detail, char *error,
                   size_t error_size);
// The same, and says whether all of the spool could be read: then nobody needs to look for damage in it.
int mt_report_json_whole(const char *spool, const char *out, enum mt_report_detail detail, bool *whole,
                         char *error, size_t error_size);
// The same to an open descriptor, for pipes.
int mt_report_json_fd(const char *spool, int fd, enum mt_report_detail detail, char *error,
                      size_t error_size);

#endif
