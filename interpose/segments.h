// SPDX-License-Identifier: MIT
// The recorder's file: creates the spool, prepares its segments ahead of need on a helper thread, hands them
// out, takes them back. Internal to the recorder (record.c, definitions.c). Any thread may call anything, but
// none while it is interrupted in here: record.c sees to that.
#ifndef MT_SEGMENTS_H
#define MT_SEGMENTS_H

#include "lock.h"
#include "record.h"

enum mt_segments_phase {
    MT_SEGMENTS_OFF, // no spool
    MT_SEGMENTS_ON,
    MT_SEGMENTS_FULL, // no more segments: what finds no room is counted as dropped
};
// One place of the file, while it is mapped.
struct mt_segment {
    struct mt_spool_segment *head; // NULL: not mapped
    uint64_t index;                // of the place in the file
    struct mt_segment *next;
};

struct mt_segments_setup {
    const struct mt_record_setup *record;
    uint64_t append_ticks_x1024;
    void (*every_second)(void); // called on the helper thread
};
int mt_segments_start(const struct mt_segments_setup *setup);
void mt_segments_stop(void);
// When the thread was interrupted inside the recorder: marks the end and leaves the rest as it is.
void mt_segments_stop_at_once(void);
// Undoes a start; the file is removed.
void mt_segments_abandon(void);
// Around a fork, so that the child finds nothing half done.
void mt_segments_lock_for_fork(void);
void mt_segments_unlock_after_fork(void);
void mt_segments_after_fork(void); // in the child: forgets the file
const char *mt_segments_path(void);

enum mt_segments_phase mt_segments_phase(void);
uint32_t mt_segments_session(void); // counts starts, so that what belongs to an earlier one is known
// The header in the file; one that nobody reads if there is no file.
struct mt_spool_header *mt_segments_header(void);
void mt_segments_add(uint64_t *header_field, uint64_t amount);

// A zeroed segment whose head says what `owner` says (kind, stream, number, thread, encoder, command_buffer),
// and `before` (or NULL), which the stream leaves for it, is closed. NULL: there is none, and recording
// stops.
struct mt_segment *mt_segments_take(const struct mt_spool_segment *owner, struct mt_segment *before);
// The caller touches a closed segment no more: it may be unmapped or overwritten.
void mt_segments_done(struct mt_segment *segment);
struct mt_slot *mt_segment_first(const struct mt_segment *segment);
struct mt_slot *mt_segment_end(const struct mt_segment *segment);
// Zeroed memory, never given back; NULL if there is none. Aligned to 128 bytes.
void *mt_segments_memory(size_t bytes);

#endif
