// SPDX-License-Identifier: MIT
// Opens a spool: checks its header, finds its segments and puts them in order. Runs in tools, and in a target
// once at its exit. Must never believe a number in the file before it was compared with the file's size.
#define _GNU_SOURCE
#include "spool/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGE_BYTES = 4096,
    MAX_HEADER_BYTES = 64 * 1024,
    MAX_SEGMENT_BYTES = 64 * 1024 * 1024,
    SCANS = 4, // of a file that changes meanwhile
};

__attribute__((format(printf, 3, 4))) static int fail(struct mt_spool_error *error, int code,
                                                      const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (error)
        vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return code;
}

static int fail_system(struct mt_spool_error *error, int code, const char *name, const char *what)
{
    return fail(error, code, "%.300s: %s: %s", name, what, strerror(-code));
}

int64_t mt_spool_read(const struct mt_spool *spool, void *bytes, size_t count, uint64_t offset)
{
    size_t done = 0;
    while (done < count) {
        ssize_t n = pread(spool->fd, (char *)bytes + done, count - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

// ---- the header ----

static int fail_not_ours(const struct mt_spool *spool, const unsigned char *bytes, int64_t count,
                         struct mt_spool_error *error)
{
    if (count == 0)
        return fail(error, -ENODATA, "%.300s: the file is empty", spool->name);
    char hex[8 * 3 + 1] = "";
    for (int64_t i = 0; i < count && i < 8; i++)
        snprintf(hex + i * 3, 4, " %02x", bytes[i]);
    return fail(error, -EINVAL, "%.300s: not a metaltap spool (begins with%s)", spool->name, hex);
}

// The recorder writes one size only. Others are read too: tests make small files with them.
static bool size_is_sound(uint32_t bytes, uint32_t most)
{
    return bytes >= PAGE_BYTES && bytes <= most && (bytes & (bytes - 1)) == 0;
}

static int check_sizes(const struct mt_spool *spool, const struct mt_spool_header *header,
                       struct mt_spool_error *error)
{
    if (size_is_sound(header->header_bytes, MAX_HEADER_BYTES) && header->slot_bytes == MT_SPOOL_SLOT_BYTES &&
        size_is_sound(header->segment_bytes, MAX_SEGMENT_BYTES))
        return 0;
    return fail(error, -EINVAL,
                "%.300s: the spool's header is damaged (header of %u bytes, segments of %u, slots of %u)",
                spool->name, header->header_bytes, header->segment_bytes, header->slot_bytes);
}

static int check_header(const struct mt_spool *spool, const struct mt_spool_header *header, int64_t count,
                        struct mt_spool_error *error)
{
    if (count < (int64_t)sizeof header->magic ||
        memcmp(header->magic, MT_SPOOL_MAGIC, sizeof header->magic) != 0)
        return fail_not_ours(spool, (const unsigned char *)header, count, error);
    if (count < (int64_t)sizeof *header)
        return fail(error, -ENODATA, "%.300s: cut short after %lld bytes, inside its header", spool->name,
                    (long long)count);
    if (header->byte_order == __builtin_bswap32(MT_SPOOL_BYTE_ORDER))
        return fail(error, -EPROTO, "%.300s: written on a machine with the other byte order", spool->name);
    if (header->byte_order != MT_SPOOL_BYTE_ORDER)
        return fail(error, -EINVAL, "%.300s: the spool's header is damaged (byte order %08x)", spool->name,
                    header->byte_order);
    if (header->version == 0 || header->version > MT_SPOOL_VERSION)
        return fail(error, -EPROTO, "%.300s: spool of version %u; this program reads versions up to %u",
                    spool->name, header->version, MT_SPOOL_VERSION);
    return check_sizes(spool, header, error);
}

// A header that changed while it was read is as good as an older or newer one: each field is stored whole.
static int read_header(struct mt_spool *spool, struct mt_spool_error *error)
{
    struct mt_spool_header header = {0};
    int64_t count = mt_spool_read(spool, &header, sizeof header, 0);
    if (count < 0)
        return fail_system(error, (int)count, spool->name, "reading its header");
    int status = check_header(spool, &header, count, error);
    if (status)
        return status;
    // Read after the header: the file is made longer before the header counts the new segments.
    struct stat about;
    if (fstat(spool->fd, &about) != 0)
        return fail_system(error, -errno, spool->name, "asking for its size");
    spool->header = header;
    spool->file_bytes = (uint64_t)about.st_size;
    spool->live = header.end_ticks == 0;
    // A millisecond, for counters that differ between cores. Without a known rate: of a 5 GHz counter.
    spool->tolerance = header.ticks_per_second ? header.ticks_per_second / 1000 : 5000000;
    return 0;
}

// ---- the table of segments ----

static int add_place(struct mt_spool *spool, const struct mt_spool_place *place)
{
    if (spool->count == spool->capacity) {
        size_t capacity = spool->capacity ? spool->capacity * 2 : 64;
        struct mt_spool_place *table = realloc(spool->table, capacity * sizeof *table);
        if (!table)
            return -ENOMEM;
        spool->table = table;
        spool->capacity = capacity;
    }
    spool->table[spool->count++] = *place;
    return 0;
}

static bool head_is_sound(const struct mt_spool *spool, const struct mt_spool_segment *head, uint64_t places)
{
    if (head->magic != MT_SPOOL_SEGMENT_MAGIC)
        return false;
    if (head->kind != MT_SEGMENT_EVENTS && head->kind != MT_SEGMENT_DEFINITIONS)
        return false;
    if ((head->kind == MT_SEGMENT_DEFINITIONS) != (head->stream == 0))
        return false;
    // Without overwriting, a stream has no more segments than the file ever had.
    uint64_t ever = spool->header.segments > places ? spool->header.segments : places;
    return spool->header.keep_bytes || head->number < ever;
}

static bool head_is_unused(const struct mt_spool_segment *head)
{
    static const struct mt_spool_segment zeros;
    return memcmp(head, &zeros, sizeof zeros) == 0 ||
           (head->magic == MT_SPOOL_SEGMENT_MAGIC && head->kind == MT_SEGMENT_FREE);
}

// The next place that may hold something: a file can claim any size by being full of holes.
static uint64_t skip_hole(const struct mt_spool *spool, uint64_t place)
{
#ifdef SEEK_DATA
    uint64_t offset = mt_spool_place_offset(spool, place);
    off_t data = lseek(spool->fd, (off_t)offset, SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? UINT64_MAX : place;
    if ((uint64_t)data > offset)
        return ((uint64_t)data - spool->header.header_bytes) / spool->header.segment_bytes;
#endif
    return place;
}

struct beginning { // of a segment
    struct mt_spool_segment head;
    struct mt_rec_any first;
};

// Nobody's, though there are records in it. Bounded mode leaves that behind; otherwise the head is damaged,
// or was read just before it was handed out.
static bool is_odd(const struct mt_spool *spool, const struct beginning *begin)
{
    return head_is_unused(&begin->head) && begin->first.time && !spool->header.keep_bytes;
}

static int64_t read_beginning(const struct mt_spool *spool, uint64_t place, struct beginning *begin)
{
    *begin = (struct beginning){0};
    return mt_spool_read(spool, begin, sizeof *begin, mt_spool_place_offset(spool, place));
}

// Looks at one place; 1 if it was unused, 0, or -errno.
static int scan_place(struct mt_spool *spool, uint64_t place, uint64_t places)
{
    struct beginning begin;
    int64_t count = read_beginning(spool, place, &begin);
    if (count > 0 && is_odd(spool, &begin))
        count = read_beginning(spool, place, &begin);
    if (count < 0)
        return (int)count;
    if (count < (int64_t)sizeof begin.head)
        return 1; // counted as cut
    if (head_is_unused(&begin.head) && !is_odd(spool, &begin))
        return 1;
    if (!head_is_sound(spool, &begin.head, places)) {
        spool->damage.bad_segments++;
        return 0;
    }
    return add_place(spool, &(struct mt_spool_place){.place = place,
                                                     .use = begin.head.use,
                                                     .first_time = begin.first.time,
                                                     .stream = begin.head.stream,
                                                     .number = begin.head.number});
}

static int by_stream_and_number(const void *a, const void *b)
{
    const struct mt_spool_place *x = a, *y = b;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

size_t mt_spool_stream_end(const struct mt_spool *spool, size_t from)
{
    size_t end = from;
    while (end < spool->count && spool->table[end].stream == spool->table[from].stream)
        end++;
    return end;
}

// Drops the second of two segments that claim to be the same, and counts numbers that are not there.
static void check_numbers(struct mt_spool *spool)
{
    bool front_may_miss = spool->header.keep_bytes || spool->header.overwritten_segments;
    size_t kept = 0;
    spool->streams = 0;
    for (size_t i = 0; i < spool->count; i++) {
        const struct mt_spool_place *before = kept ? &spool->table[kept - 1] : NULL;
        const struct mt_spool_place *it = &spool->table[i];
        bool follows = before && before->stream == it->stream;
        if (follows && before->number == it->number) {
            spool->damage.bad_segments++;
            continue;
        }
        spool->streams += !follows;
        if (follows)
            spool->damage.missing_segments += it->number - before->number - 1;
        else if (!front_may_miss || it->stream == 0)
            spool->damage.missing_segments += it->number;
        spool->table[kept++] = *it;
    }
    spool->count = kept;
}

static int scan_once(struct mt_spool *spool)
{
    uint32_t segment = spool->header.segment_bytes, header = spool->header.header_bytes;
    uint64_t body = spool->file_bytes > header ? spool->file_bytes - header : 0;
    uint64_t rest = body % segment, places = body / segment + (rest ? 1 : 0);
    spool->count = 0;
    spool->damage = (struct mt_spool_damage){.cut_bytes = rest ? segment - rest : 0};
    spool->definitions = spool->events = (struct mt_spool_pass){0};
    for (uint64_t place = 0; place < places;) {
        int status = scan_place(spool, place, places);
        if (status < 0)
            return status;
        place++;
        if (status == 1 && place < places)
            place = skip_hole(spool, place);
    }
    if (spool->count)
        qsort(spool->table, spool->count, sizeof *spool->table, by_stream_and_number);
    check_numbers(spool);
    // Those that the file ended before may have left holes in the numbers as well.
    uint64_t behind = spool->header.segments > places ? spool->header.segments - places : 0;
    if (behind > spool->damage.missing_segments)
        spool->damage.missing_segments = behind;
    return 0;
}

// In a file that is being written, a place may have been looked at just before it was handed out and the one
// behind it after that: then a number seems to be missing, and is there the next time.
static int scan(struct mt_spool *spool)
{
    int status = scan_once(spool);
    for (int i = 1; i < SCANS && !status && spool->live && spool->damage.missing_segments; i++)
        status = scan_once(spool);
    return status;
}

// ---- open, close ----

static int load(struct mt_spool *spool, struct mt_spool_error *error)
{
    int status = read_header(spool, error);
    if (status)
        return status;
    status = scan(spool);
    if (status)
        return fail_system(error, status, spool->name, "reading its segments");
    if (spool->count)
        return 0;
    if (spool->damage.bad_segments)
        return fail(error, -EINVAL, "%.300s: none of its %llu segments can be read", spool->name,
                    (unsigned long long)spool->damage.bad_segments);
    return fail(error, -ENODATA, "%.300s: only a header, no records (%llu bytes, %llu segments expected)",
                spool->name, (unsigned long long)spool->file_bytes,
                (unsigned long long)spool->header.segments);
}

// Takes the descriptor over.
static int open_descriptor(int fd, const char *name, struct mt_spool **out, struct mt_spool_error *error)
{
    struct mt_spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        close(fd);
        return fail_system(error, -ENOMEM, name, "opening it");
    }
    spool->fd = fd;
    spool->name = strdup(name);
    struct stat about;
    int status = 0;
    if (!spool->name)
        status = fail_system(error, -ENOMEM, name, "opening it");
    else if (fstat(fd, &about) != 0)
        status = fail_system(error, -errno, name, "asking what it is");
    else if (!S_ISREG(about.st_mode))
        status = fail(error, -EINVAL, "%.300s: not a regular file", name);
    else
        status = load(spool, error);
    if (status) {
        mt_spool_close(spool);
        return status;
    }
    *out = spool;
    return 0;
}

int mt_spool_open(const char *path, struct mt_spool **spool, struct mt_spool_error *error)
{
    *spool = NULL;
    // Not blocking: a pipe is told from a file after it was opened.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return fail_system(error, -errno, path, "cannot be opened");
    return open_descriptor(fd, path, spool, error);
}

int mt_spool_open_fd(int fd, const char *name, struct mt_spool **spool, struct mt_spool_error *error)
{
    *spool = NULL;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return fail_system(error, -errno, name, "cannot be opened");
    return open_descriptor(own, name, spool, error);
}

void mt_spool_close(struct mt_spool *spool)
{
    if (!spool)
        return;
    close(spool->fd);
    free(spool->name);
    free(spool->table);
    free(spool);
}

int mt_spool_refresh(struct mt_spool *spool)
{
    int status = read_header(spool, NULL);
    return status ? status : scan(spool);
}

const struct mt_spool_header *mt_spool_header(const struct mt_spool *spool)
{
    return &spool->header;
}

const char *mt_spool_name(const struct mt_spool *spool)
{
    return spool->name;
}

const struct mt_spool_damage *mt_spool_damage(const struct mt_spool *spool)
{
    return &spool->damage;
}

uint64_t mt_spool_records(const struct mt_spool *spool)
{
    return spool->definitions.records + spool->events.records;
}
