// SPDX-License-Identifier: MIT
// What the tests of the recorder share: starting a spool in the test's folder, finding records in it again,
// and asking what the spool says of itself. Needs the environment of tests/run.
#ifndef TESTS_UNIT_RECORD_SUPPORT_H
#define TESTS_UNIT_RECORD_SUPPORT_H

#include "record.h"

#include "lib/raw_spool.h"
#include "unit/test.h"

#include <errno.h>

static struct {
    uint32_t count;
    char text[2000];
} record_warnings;

static inline void record_warn(const char *text)
{
    record_warnings.count++;
    snprintf(record_warnings.text, sizeof record_warnings.text, "%s", text);
}

static inline int record_begin(const char *path, uint64_t keep_bytes)
{
    unlink(path);
    struct mt_record_setup setup = {.path = path, .keep_bytes = keep_bytes, .run = 7, .warn = record_warn};
    return mt_record_start(&setup);
}

// Ends the recording and reads what was recorded.
static inline bool record_read(struct raw_spool *spool, const char *path)
{
    mt_record_stop();
    bool opened = raw_open(spool, path, false);
    if (CHECK(opened) && CHECK_EQ(spool->problems, 0))
        return true;
    raw_close(spool);
    return false;
}

// Copies of all records of one type, in the order of the streams.
struct record_found {
    enum mt_record_type type;
    size_t count, size;
    struct raw_record *records;
};

static inline void record_note(void *context, const struct raw_record *record)
{
    struct record_found *found = context;
    if (mt_rec_type(record->any->word) != found->type)
        return;
    if (found->count == found->size) {
        found->size = found->size * 2 + 64;
        found->records = raw_resize(found->records, found->size * sizeof *found->records);
    }
    found->records[found->count++] = *record;
}

static inline struct record_found record_find(struct raw_spool *spool, enum mt_record_type type)
{
    struct record_found found = {.type = type};
    bool defines = type >= MT_REC_STRING;
    raw_records(spool, defines ? MT_SEGMENT_DEFINITIONS : MT_SEGMENT_EVENTS, record_note, &found);
    return found;
}

// The n-th of them without its time, all 0 if there is none.
static inline const void *record_nth(const struct record_found *found, size_t n)
{
    static const struct mt_slot none[2];
    return n < found->count ? (const void *)found->records[n].any : (const void *)none;
}

// A dispatch whose fields follow from a number, and whether it has come back whole.
static inline struct mt_rec_dispatch record_dispatch(uint32_t owner, uint32_t number)
{
    return (struct mt_rec_dispatch){
        .word = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, owner),
        .threadgroup = {(uint16_t)number, (uint16_t)(number >> 8), (uint16_t)~number},
        .grid = {number, number * 2654435761U, ~number},
    };
}

static inline bool record_is_dispatch(const struct mt_rec_any *any, uint32_t owner, uint32_t number)
{
    struct mt_rec_dispatch expected = record_dispatch(owner, number);
    expected.time = any->time;
    return !memcmp(&expected, any, sizeof expected);
}

#endif
