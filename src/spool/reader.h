// SPDX-License-Identifier: MIT
// Reads a spool, of a program that ended, was killed, or still runs. Trusts nothing in the file: whatever it
// contains, reading ends, stays inside its buffers and uses memory in proportion to the number of segments
// at most, never to what a field claims. Reads with pread, so that a file cut short under it is an error and
// no signal. One spool is used by one thread at a time.
#ifndef MT_SPOOL_READER_H
#define MT_SPOOL_READER_H

#include "spool/format.h"

#include <stdbool.h>

struct mt_spool;

// What was wrong, for a person: "run.mtap: not a metaltap spool (begins with 7f 45 4c 46)".
struct mt_spool_error {
    char text[512];
};

// 0, or -errno with error filled: -EINVAL not ours, -EPROTO a version we do not know, -ENODATA empty or only
// a header, -EIO and others from the system.
int mt_spool_open(const char *path, struct mt_spool **spool, struct mt_spool_error *error);
// The same for a descriptor, which stays the caller's; `name` is for error texts.
int mt_spool_open_fd(int fd, const char *name, struct mt_spool **spool, struct mt_spool_error *error);
void mt_spool_close(struct mt_spool *spool);
// The header as it is now. After a refresh, segments that have come since are seen as well.
const struct mt_spool_header *mt_spool_header(const struct mt_spool *spool);
int mt_spool_refresh(struct mt_spool *spool);
const char *mt_spool_name(const struct mt_spool *spool); // its path, or the name given

// What could not be read, so far; all 0 for a sound file.
struct mt_spool_damage {
    uint64_t bad_segments;     // head not ours, or number or stream impossible
    uint64_t bad_records;      // unknown type, running over its segment, time going back; the rest of that
                               // segment is left out
    uint64_t missing_segments; // numbers of a stream that are not there, not counting overwritten ones
    uint64_t cut_bytes;        // of the last segment, missing at the end of the file
    uint64_t lost_segments;    // overwritten while they were being read (a live, bounded spool)
};
const struct mt_spool_damage *mt_spool_damage(const struct mt_spool *spool);

// Where a run of records comes from.
struct mt_spool_stream {
    uint32_t stream;
    uint32_t index; // of the stream among all of this spool, without holes, from 0; changes with a refresh
    bool gap;       // records are missing in front of this run, so that context is only what follows
    // from the head of the segment, when it is the stream's first or follows a gap
    uint32_t thread, encoder, command_buffer;
    bool begins; // this run is the first of a segment for which the three above count
};
// A stretch of `slots` slots with whole records of one stream. Any other return value than 0 ends reading
// and is passed on.
typedef int (*mt_spool_visit)(void *context, const struct mt_spool_stream *from,
                              const struct mt_rec_any *slots, size_t count);
// All definitions, in the order they were made.
int mt_spool_definitions(struct mt_spool *spool, mt_spool_visit visit, void *context);
// All events, in the order of their times over all streams (position decides within a stream). May be called
// again and again; each call reads from the beginning.
int mt_spool_events(struct mt_spool *spool, mt_spool_visit visit, void *context);
// Only the records whose type has its bit in `types` (types below 64), one per call, stream by stream: in
// order within a stream, in none between them. Costs a fraction of the above.
int mt_spool_events_of(struct mt_spool *spool, uint64_t types, mt_spool_visit visit, void *context);
// How many records the last full pass over definitions and over events found.
uint64_t mt_spool_records(const struct mt_spool *spool);

#endif
