// SPDX-License-Identifier: MIT
// The summary of a run as a table for terminals, from a spool or from a JSON report. Runs in tools.
#ifndef MT_VIEWS_TABLE_H
#define MT_VIEWS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

// `width` in columns, 0 for the usual; `color` uses terminal sequences. 0 or -errno with one line in `error`.
// -ENODATA and -EBADMSG may come although a table was written: of a file that is cut or damaged, with what
// could be read.
int mt_report_table(const char *spool_or_json, int fd, int width, bool color, char *error, size_t error_size);

#endif
