// SPDX-License-Identifier: MIT
// What the reader's files share: the spool that is open (reader.c) and the passes over it (source.c reads one
// stream, passes.c all of them). Nothing outside src/spool includes this.
#ifndef MT_SPOOL_INTERNAL_H
#define MT_SPOOL_INTERNAL_H

#include "spool/reader.h"

// A segment that was found in the file, with what is needed to order it and to see that it is still there.
struct mt_spool_place {
    uint64_t place;      // in the file, from 0
    uint64_t use;        // as in its head
    uint64_t first_time; // of its first record, 0 if it had none
    uint32_t stream, number;
};

// What one pass found wrong: taken back when the pass is made again.
struct mt_spool_pass {
    uint64_t records, bad_records, lost_segments;
};

struct mt_spool {
    int fd;
    bool live; // the program had not ended when the header was read, as far as it says
    char *name;
    struct mt_spool_header header;
    uint64_t file_bytes;
    uint64_t tolerance;           // ticks by which a stream's times may go back
    struct mt_spool_place *table; // by stream and number
    size_t count, capacity;
    size_t streams;
    struct mt_spool_damage damage;
    struct mt_spool_pass definitions, events;
};

// pread until `count` bytes are there, or the file ends. Bytes read, or -errno.
int64_t mt_spool_read(const struct mt_spool *spool, void *bytes, size_t count, uint64_t offset);
// The first entry of the table that belongs to another stream than `from`.
size_t mt_spool_stream_end(const struct mt_spool *spool, size_t from);
static inline uint64_t mt_spool_place_offset(const struct mt_spool *spool, uint64_t place)
{
    return spool->header.header_bytes + place * spool->header.segment_bytes;
}

// ---- one stream, block by block (source.c) ----
struct mt_spool_source {
    struct mt_spool *spool;
    struct mt_spool_pass *pass;
    const struct mt_spool_place *next, *end; // segments not begun yet
    const struct mt_spool_place *segment;    // under way, or NULL
    uint64_t offset, limit;                  // of the segment in the file: what comes next, where it ends
    uint64_t last_time, latest;              // of the record before; what the segment behind allows
    uint32_t next_number;                    // that would follow without a gap
    bool first, gap;                         // of the stream's segments; records before are missing
    bool ordered;                            // events: times are checked
    bool written;                            // the segment was still being written
    struct mt_rec_any *slots;                // the block; NULL until the first fill
    size_t block_slots;                      // its size
    size_t used, position;                   // whole records, and how many slots of them have been taken
    uint64_t types; // that the block may hold: bit per type, those that are equal modulo 64 share one
    struct mt_spool_stream from;
};

void mt_spool_source_init(struct mt_spool_source *source, struct mt_spool *spool, size_t first, size_t end);
// Makes `used` and `position` say where the next records are. 1, 0 at the stream's end, or -errno.
int mt_spool_source_fill(struct mt_spool_source *source);
void mt_spool_source_free(struct mt_spool_source *source);
// Slots of a valid record, as in the block.
static inline size_t mt_spool_slots_of(const struct mt_rec_any *record)
{
    uint32_t length;
    __builtin_memcpy(&length, record->rest, sizeof length);
    return mt_rec_slots(mt_rec_type(record->word), length);
}

#endif
