// SPDX-License-Identifier: MIT
// What the tap says: single lines on standard error, written at once and without stdio, since the program may
// be in the middle of using it. Warnings are kept in the record as well.
#include "tap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t format_line(char *line, size_t size, const char *format, va_list arguments)
{
    static const char head[] = "metaltap: ";
    memcpy(line, head, sizeof head);
    int more = vsnprintf(line + sizeof head - 1, size - sizeof head, format, arguments);
    size_t length = sizeof head - 1 + (more > 0 ? (size_t)more : 0);
    if (length > size - 2)
        length = size - 2;
    line[length] = '\n';
    return length + 1;
}

static void say(enum mt_log_level level, const char *line, size_t length)
{
    if (level > mt_tap.options.log)
        return;
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; // nobody to tell
}

void mt_log(enum mt_log_level level, const char *format, ...)
{
    int saved = errno;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    say(level, line, format_line(line, sizeof line, format, arguments));
    va_end(arguments);
    errno = saved;
}

static void keep_warning(const char *text, size_t length)
{
    struct mt_rec_text record = {
        .word = MT_REC_WORD(MT_REC_TEXT, mt_record_string(text, length)),
        .kind = MT_TEXT_WARNING,
    };
    mt_record_define(&record);
}

void mt_warn_once(bool *said, const char *format, ...)
{
    if (__atomic_exchange_n(said, true, __ATOMIC_RELAXED))
        return;
    int saved = errno;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    size_t length = format_line(line, sizeof line, format, arguments);
    va_end(arguments);
    say(MT_LOG_WARN, line, length);
    keep_warning(line + strlen("metaltap: "), length - strlen("metaltap: ") - 1);
    errno = saved;
}
