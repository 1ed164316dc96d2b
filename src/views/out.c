// SPDX-License-Identifier: MIT
// Buffered output: see out.h. Runs in tools, and in a target at its exit.
#include "views/out.h"
#include "views/utf8.h"

#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

static uint64_t file_limit(int fd)
{
    struct stat status;
    struct rlimit limit;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || getrlimit(RLIMIT_FSIZE, &limit) < 0)
        return UINT64_MAX;
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

static int open_out(struct mt_out *out, int fd, size_t room)
{
    *out = (struct mt_out){.fd = fd, .room = room, .limit = UINT64_MAX, .buffer = malloc(room)};
    if (!out->buffer)
        out->error = -ENOMEM;
    return out->error;
}

int mt_out_open_fd(struct mt_out *out, int fd)
{
    int error = open_out(out, fd, MT_OUT_BUFFER_BYTES);
    out->limit = file_limit(fd);
    return error;
}

int mt_out_open_memory(struct mt_out *out)
{
    return open_out(out, -1, 256);
}

int mt_out_flush(struct mt_out *out)
{
    if (out->error || out->fd < 0 || !out->used)
        return out->error;
    if (out->used > out->limit - out->written)
        out->error = -EFBIG;
    else
        out->error = mt_os_write_all(out->fd, out->buffer, out->used);
    if (!out->error)
        out->written += out->used;
    out->used = 0;
    return out->error;
}

void mt_out_free(struct mt_out *out)
{
    free(out->buffer);
    *out = (struct mt_out){.fd = -1};
}

const char *mt_out_text(struct mt_out *out)
{
    char *end = mt_out_reserve(out, 1);
    if (!end)
        return NULL;
    *end = 0;
    return out->buffer;
}

static void grow(struct mt_out *out, size_t size)
{
    size_t room = out->room;
    while (room - out->used < size)
        room *= 2;
    char *buffer = realloc(out->buffer, room);
    if (!buffer) {
        out->error = -ENOMEM;
        return;
    }
    out->buffer = buffer;
    out->room = room;
}

char *mt_out_make_room(struct mt_out *out, size_t size)
{
    if (out->error)
        return NULL;
    if (out->fd >= 0)
        (void)mt_out_flush(out);
    else
        grow(out, size);
    return out->error ? NULL : out->buffer + out->used;
}

void mt_out_bytes(struct mt_out *out, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count) {
        size_t part = count < 4096 ? count : 4096;
        char *to = mt_out_reserve(out, part);
        if (!to)
            return;
        memcpy(to, from, part);
        out->used += part;
        from += part;
        count -= part;
    }
}

// ---- numbers ----
static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

// From the number of bits, corrected by one comparison; 1233 / 4096 is the logarithm of 2 to the base 10.
static unsigned count_digits(uint64_t value)
{
    static const uint64_t powers[] = {
        UINT64_C(1),
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    unsigned guess = (64 - (unsigned)__builtin_clzll(value)) * 1233 >> 12;
    return guess + (value >= powers[guess]);
}

char *mt_format_u64(char *to, uint64_t value)
{
    if (value < 10) { // most columns of most rows
        *to = (char)('0' + value);
        return to + 1;
    }
    // In place from the end: a copy of a length that changes all the time costs more than counting.
    char *end = to + count_digits(value), *at = end;
    for (; value >= 100; value /= 100) {
        at -= 2;
        memcpy(at, digit_pairs + value % 100 * 2, 2);
    }
    if (value >= 10)
        memcpy(to, digit_pairs + value * 2, 2);
    else
        *to = (char)('0' + value);
    return end;
}

char *mt_format_six(char *to, uint32_t value)
{
    memcpy(to, digit_pairs + (size_t)(value / 10000 * 2), 2);
    memcpy(to + 2, digit_pairs + (size_t)(value / 100 % 100 * 2), 2);
    memcpy(to + 4, digit_pairs + (size_t)(value % 100 * 2), 2);
    return to + 6;
}

void mt_out_u64(struct mt_out *out, uint64_t value)
{
    char *to = mt_out_reserve(out, 20);
    if (to)
        out->used += (size_t)(mt_format_u64(to, value) - to);
}

void mt_out_i64(struct mt_out *out, int64_t value)
{
    if (value < 0)
        mt_out_bytes(out, "-", 1);
    mt_out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void mt_out_time(struct mt_out *out, int64_t time_ns)
{
    if (time_ns == MT_NO_TIME)
        mt_out_bytes(out, "null", 4);
    else
        mt_out_i64(out, time_ns);
}

static char *format_padded(char *to, uint64_t value, unsigned width)
{
    for (unsigned i = width; i-- > 0; value /= 10)
        to[i] = (char)('0' + value % 10);
    return to + width;
}

void mt_format_decimal(char *to, uint64_t value, unsigned decimals)
{
    uint64_t unit = 1;
    for (unsigned i = 0; i < decimals; i++)
        unit *= 10;
    to = mt_format_u64(to, value / unit);
    if (decimals) {
        *to++ = '.';
        to = format_padded(to, value % unit, decimals);
    }
    *to = 0;
}

// Days since 1970 to a date of the Gregorian calendar, counting years from March so that leap days come last.
static void date_of_days(uint64_t days, unsigned *year, unsigned *month, unsigned *day)
{
    days += 719468;
    uint64_t era = days / 146097, of_era = days % 146097;
    uint64_t years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint64_t of_year = of_era - (365 * years + years / 4 - years / 100);
    uint64_t months = (5 * of_year + 2) / 153;
    *day = (unsigned)(of_year - (153 * months + 2) / 5 + 1);
    *month = (unsigned)(months < 10 ? months + 3 : months - 9);
    *year = (unsigned)(years + era * 400 + (*month <= 2));
}

void mt_format_wall_time(char *to, uint64_t wall_ns)
{
    uint64_t seconds = wall_ns / UINT64_C(1000000000), of_day = seconds % 86400;
    unsigned year, month, day;
    date_of_days(seconds / 86400, &year, &month, &day);
    to = format_padded(to, year, 4);
    *to++ = '-';
    to = format_padded(to, month, 2);
    *to++ = '-';
    to = format_padded(to, day, 2);
    *to++ = 'T';
    to = format_padded(to, of_day / 3600, 2);
    *to++ = ':';
    to = format_padded(to, of_day / 60 % 60, 2);
    *to++ = ':';
    to = format_padded(to, of_day % 60, 2);
    *to++ = '.';
    to = format_padded(to, wall_ns % UINT64_C(1000000000), 9);
    *to++ = 'Z';
    *to = 0;
}

void mt_format_errno(char *to, size_t size, int error)
{
    // Without _GNU_SOURCE this is POSIX's form on every system.
    if (strerror_r(error, to, size) != 0 && size) {
        char digits[24];
        *mt_format_u64(digits, (uint64_t)(error < 0 ? -error : error)) = 0;
        size_t length = strlen(digits);
        length = length < size ? length : size - 1;
        memcpy(to, digits, length);
        to[length] = 0;
    }
}

// ---- JSON texts ----
// Bytes that need no escape by themselves.
static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '<' && byte != '>' &&
           byte != '&';
}

static char *format_escape(char *to, uint32_t character)
{
    static const char hex[] = "0123456789abcdef", shorts[] = "btn\0fr";
    *to++ = '\\';
    if (character == '"' || character == '\\') {
        *to++ = (char)character;
    } else if (character >= 8 && character <= 13 && character != 11) {
        *to++ = shorts[character - 8];
    } else {
        *to++ = 'u';
        for (int shift = 12; shift >= 0; shift -= 4)
            *to++ = hex[character >> shift & 15];
    }
    return to;
}

// Browsers end a line of script at U+2028 and U+2029.
static bool needs_escape(uint32_t character)
{
    return (character < 0x80 && !is_plain((unsigned char)character)) || character == 0x2028 ||
           character == 0x2029;
}

void mt_out_json_text(struct mt_out *out, struct mt_text text)
{
    if (!text.bytes) {
        mt_out_bytes(out, "null", 4);
        return;
    }
    mt_out_bytes(out, "\"", 1);
    for (uint32_t at = 0; at < text.length && !out->error;) {
        uint32_t plain = at;
        while (plain < text.length && is_plain((unsigned char)text.bytes[plain]))
            plain++;
        mt_out_bytes(out, text.bytes + at, plain - at);
        at = plain;
        if (at == text.length)
            break;
        uint32_t character;
        size_t taken = mt_utf8_next(text.bytes + at, text.length - at, &character);
        if (character == MT_UTF8_BAD) {
            mt_out_bytes(out, "\xef\xbf\xbd", 3);
        } else if (needs_escape(character)) {
            char escape[8];
            mt_out_bytes(out, escape, (size_t)(format_escape(escape, character) - escape));
        } else {
            mt_out_bytes(out, text.bytes + at, taken);
        }
        at += (uint32_t)taken;
    }
    if (text.cut)
        mt_out_string(out, "\xe2\x80\xa6"); // an ellipsis
    mt_out_bytes(out, "\"", 1);
}
