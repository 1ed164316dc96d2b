// SPDX-License-Identifier: MIT
// A report's file: written under another name in the same folder, renamed when it is whole. Never replaces
// anything but a metaltap report, never writes through a link.
#ifndef MT_VIEWS_FILE_H
#define MT_VIEWS_FILE_H

#include <stddef.h>

struct mt_file {
    const char *path; // the caller's, must stay
    char *temporary;
    int fd;
};

// 0 or -errno; `error` gets one line about what is wrong.
int mt_file_begin(struct mt_file *file, const char *path, char *error, size_t error_size);
// With `result` 0 puts the file in place; otherwise, or if that fails, removes what was written. Gives the
// result, or why it could not be put in place.
int mt_file_end(struct mt_file *file, int result, char *error, size_t error_size);
// "PATH: what went wrong: reason of errno".
void mt_file_tell(char *error, size_t error_size, const char *path, const char *what, int result);

#endif
