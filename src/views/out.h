// SPDX-License-Identifier: MIT
// Buffered output to a descriptor or into memory, with numbers and JSON texts formatted by hand: no stdio, no
// locale. The first error is kept and all output after it is dropped, so that only the end needs a check. One
// thread at a time.
#ifndef MT_VIEWS_OUT_H
#define MT_VIEWS_OUT_H

#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MT_OUT_BUFFER_BYTES = 64 * 1024 };

struct mt_out {
    char *buffer;
    size_t used, room;
    int fd; // -1: everything stays in memory
    uint64_t written;
    uint64_t limit; // a regular file must not grow beyond it: the system would send a signal
    int error;      // 0 or -errno
};

// 0 or -ENOMEM. A descriptor is not closed here.
int mt_out_open_fd(struct mt_out *out, int fd);
int mt_out_open_memory(struct mt_out *out);
int mt_out_flush(struct mt_out *out);
void mt_out_free(struct mt_out *out);
// Memory only: the text with a terminator, owned by `out`; NULL after an error.
const char *mt_out_text(struct mt_out *out);

// The longer way of mt_out_reserve.
char *mt_out_make_room(struct mt_out *out, size_t size);
// At least `size` bytes (at most the buffer's) to be filled; then `used` is to be moved on. NULL after an
// error.
static inline char *mt_out_reserve(struct mt_out *out, size_t size)
{
    if (__builtin_expect(out->error || out->room - out->used < size, 0))
        return mt_out_make_room(out, size);
    return out->buffer + out->used;
}
void mt_out_bytes(struct mt_out *out, const void *bytes, size_t count);
static inline void mt_out_string(struct mt_out *out, const char *text)
{
    mt_out_bytes(out, text, strlen(text));
}
void mt_out_u64(struct mt_out *out, uint64_t value);
void mt_out_i64(struct mt_out *out, int64_t value);
void mt_out_time(struct mt_out *out, int64_t time_ns); // null for MT_NO_TIME
// A JSON string in quotes, valid UTF-8 and harmless inside HTML; null for a text without bytes. One
// that was cut ends with an ellipsis.
void mt_out_json_text(struct mt_out *out, struct mt_text text);

// Writes digits at `to` and gives their end. Room for 20 is needed.
char *mt_format_u64(char *to, uint64_t value);
// The same for six digits of a number below a million, with zeros in front.
char *mt_format_six(char *to, uint32_t value);
// A number with up to nine decimals: value / 10^decimals. Room for 32 is needed; terminated.
void mt_format_decimal(char *to, uint64_t value, unsigned decimals);
// "2026-01-31T23:59:59.000000001Z": 31 bytes with the terminator.
void mt_format_wall_time(char *to, uint64_t wall_ns);
// What an errno means, always terminated.
void mt_format_errno(char *to, size_t size, int error);

#endif
