// SPDX-License-Identifier: MIT
// Turns the records of a spool into what happened: command buffers, encoders, dispatches, waits, with names
// and with times on one clock. Streaming: it keeps what is in flight and what is defined, so its memory does
// not grow with the number of dispatches or finished command buffers. Knows nothing of views. All times are
// nanoseconds since the process started; MT_NO_TIME is "not known", and so is nothing else.
#ifndef MT_MODEL_H
#define MT_MODEL_H

#include "spool/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MT_NO_TIME INT64_MIN

struct mt_text { // not terminated; NULL and 0 for none; may hold any bytes
    const char *bytes;
    uint32_t length;
    bool cut;
};

// ---- definitions; arrays are indexed by id, entry 0 is empty ----
// Not every id has an entry: a definition may have been lost, so that an id in an event can be 0, belong to
// an entry whose own id is 0, or be beyond the array.
struct mt_device {
    uint32_t id;
    struct mt_text name;
    const struct mt_rec_device *record;
};
struct mt_queue {
    uint32_t id, device, max_buffers;
    struct mt_text label;
    bool seen_late;
};
struct mt_library {
    uint32_t id, device, form;
    struct mt_text name, error;
    int64_t begin_ns, end_ns;
    uint64_t source_bytes;
};
struct mt_function {
    uint32_t id, library;
    struct mt_text name, constants, error;
};
struct mt_pipeline {
    uint32_t id, function, device, flags;
    struct mt_text name;      // never empty: label, function name, or "pipeline 7"
    struct mt_text constants; // readable, may be empty
    struct mt_text error;
    int64_t begin_ns, end_ns;
    uint32_t max_threads, width, static_threadgroup_bytes;
};
struct mt_thread {
    uint32_t id;
    uint64_t os_thread;
    struct mt_text name;
};
struct mt_note { // arguments, options, warnings
    enum mt_text_kind kind;
    uint32_t number;
    struct mt_text name, text;
};
struct mt_process {
    uint32_t pid, parent;
    struct mt_text program, host, system, tap_version;
    uint64_t start_wall_ns;
    int64_t end_ns; // MT_NO_TIME if it did not end in good order
    enum mt_spool_state state;
};
struct mt_definitions {
    struct mt_process process;
    const struct mt_device *devices;
    const struct mt_queue *queues;
    const struct mt_library *libraries;
    const struct mt_function *functions;
    const struct mt_pipeline *pipelines;
    const struct mt_thread *threads;
    const struct mt_note *notes;
    uint32_t device_count, queue_count, library_count, function_count, pipeline_count, thread_count,
        note_count; // including entry 0 (notes: no such entry)
};

// ---- what happened ----
// Enums are always one of their values. Times are within 2^62 of 0, so that they can be subtracted.
enum mt_cb_end {
    MT_CB_COMPLETED,   // status 4
    MT_CB_FAILED,      // status 5
    MT_CB_IN_FLIGHT,   // committed, not done when the record ends
    MT_CB_UNCOMMITTED, // not committed when the record ends
    MT_CB_DISCARDED,   // dropped by the program without commit
};
struct mt_command_buffer {
    uint32_t id, queue, flags, status;
    enum mt_cb_end end;
    struct mt_text label, error;
    int64_t create_ns, first_encode_ns, enqueue_ns, commit_ns, scheduled_ns, gpu_start_ns, gpu_end_ns,
        completed_ns;
    uint64_t encode_ns; // sum of its encoders' begin to end
    uint64_t wait_ns;   // sum of what threads waited for it
    uint32_t waits, encoders, dispatches, blits, executes, handlers, presents, event_waits, event_signals;
    uint32_t create_thread, commit_thread;
    uint64_t allocated_bytes;
};
struct mt_encoder {
    uint32_t id, command_buffer, thread;
    enum mt_encoder_kind kind;
    uint32_t dispatch_type, form;
    struct mt_text label;
    uint32_t group;           // debug-group path at its begin, see mt_model_group
    int64_t begin_ns, end_ns; // end: MT_NO_TIME if it never ended
    uint32_t dispatches, barriers, fence_waits, fence_updates, blits, executes, signposts;
    uint64_t blit_bytes;
};
struct mt_dispatch {
    uint32_t encoder, command_buffer, pipeline, thread;
    uint32_t index; // in its encoder, from 0
    enum mt_record_type form;
    bool barrier_before; // since the dispatch before it in the same encoder
    uint32_t group;      // debug-group path
    int64_t time_ns;
    uint64_t grid[3]; // 0 0 0 for indirect
    uint32_t threadgroup[3];
    uint32_t threadgroup_memory_bytes;
};
// Dispatches that follow each other in a stream, as they were recorded: all of one encoder.
struct mt_dispatches {
    const struct mt_rec_any *slots; // whole records, of the types of dispatches only
    size_t slot_count;
    uint32_t count; // of dispatches: some take two slots
    // What they have in common; index and barrier_before are those of the first, and what a record says is 0.
    struct mt_dispatch common;
    uint32_t index_step; // from one to the next: 0 if the encoder is not known
};
struct mt_wait {
    uint32_t command_buffer, thread;
    enum mt_wait_kind kind;
    int64_t begin_ns, end_ns; // end: MT_NO_TIME if it never ended
    uint64_t value;
};
struct mt_memory_event {
    int64_t time_ns;
    enum mt_memory_kind kind; // with MT_MEMORY_FREE
    uint32_t number;
    uint64_t bytes, total_bytes;
};
struct mt_capture_event_info {
    int64_t time_ns;
    enum mt_capture_event event;
    struct mt_text text;
    uint32_t first, last, extra;
};

struct mt_model;
// Called in the order in which things ended or happened. NULL members are left out, which saves their time.
struct mt_model_visitor {
    void *context;
    void (*command_buffer)(void *context, const struct mt_model *model, const struct mt_command_buffer *it);
    void (*encoder)(void *context, const struct mt_model *model, const struct mt_encoder *it);
    void (*dispatch)(void *context, const struct mt_model *model, const struct mt_dispatch *it);
    // Many at once, for those who cannot afford a call for each: then `dispatch` is not called.
    void (*dispatches)(void *context, struct mt_model *model, const struct mt_dispatches *them);
    void (*wait)(void *context, const struct mt_model *model, const struct mt_wait *it);
    void (*memory)(void *context, const struct mt_model *model, const struct mt_memory_event *it);
    void (*capture)(void *context, const struct mt_model *model, const struct mt_capture_event_info *it);
};

// Reads the definitions and the anchors. -ENOMEM or what the reader said.
int mt_model_open(struct mt_spool *spool, struct mt_model **model, struct mt_spool_error *error);
void mt_model_close(struct mt_model *model);
const struct mt_definitions *mt_model_definitions(const struct mt_model *model);
// One pass over all events; may be repeated with other visitors.
int mt_model_run(struct mt_model *model, const struct mt_model_visitor *visitor);

// For those who take many dispatches at once: what a record says itself but for its time, how many slots it
// takes, and the time on the model's clock for ticks as in records.
void mt_dispatch_read(struct mt_dispatch *it, const struct mt_rec_any *record);
static inline size_t mt_dispatch_slots(const struct mt_rec_any *record)
{
    return __builtin_expect(mt_rec_type(record->word) == MT_REC_DISPATCH_WIDE, 0) ? 2 : 1;
}
int64_t mt_model_time_ns(struct mt_model *model, uint64_t ticks);
// Programs repeat themselves: all that a record of one slot says but for its time, to look up what was made
// of the same before. Never all zeros.
struct mt_dispatch_key {
    uint64_t words[3];
};
static inline struct mt_dispatch_key mt_dispatch_key_of(const struct mt_rec_any *record)
{
    struct mt_dispatch_key key;
    memcpy(&key, &record->word, sizeof key);
    return key;
}
static inline bool mt_dispatch_key_is(const struct mt_dispatch_key *a, const struct mt_dispatch_key *b)
{
    return !((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1]) | (a->words[2] ^ b->words[2]));
}
// A place among 2^bits.
static inline size_t mt_dispatch_key_place(const struct mt_dispatch_key *key, unsigned bits)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(((key->words[0] ^ key->words[2]) * odd + key->words[1]) * odd >> (64 - bits));
}

// The path of a debug group by its number: the texts from the outermost; 0 has none. A path holds the groups
// of the command buffer and then those of the encoder.
uint32_t mt_model_group_depth(const struct mt_model *model, uint32_t group);
struct mt_text mt_model_group_name(const struct mt_model *model, uint32_t group, uint32_t level);

// The earliest moment at which work that is still in flight can have started on the GPU (its commit), or
// INT64_MAX: intervals before it are final. Valid inside a visitor.
int64_t mt_model_horizon_ns(const struct mt_model *model);

struct mt_clock_info {
    uint64_t start_ticks, start_ns, start_wall_ns;
    double ticks_per_second; // as the anchors show
    uint64_t anchors;
    uint64_t worst_width_ns;    // how far apart the two halves of an anchor may be
    uint64_t worst_residual_ns; // largest distance of an anchor from the straight line
};
void mt_model_clock(const struct mt_model *model, struct mt_clock_info *clock);
struct mt_loss {
    uint64_t dropped_records, overwritten_records, overwritten_segments, stalls;
    uint64_t unknown_context; // dispatches whose encoder is not known
    int stop_reason;          // errno or 0
    struct mt_spool_damage damage;
};
void mt_model_loss(const struct mt_model *model, struct mt_loss *loss);
// What the tap itself cost: measured cost of a record times their number, plus its slow paths.
struct mt_overhead {
    uint64_t records;
    double record_ns;
    uint64_t slow_ns;
};
void mt_model_overhead(const struct mt_model *model, struct mt_overhead *overhead);

#endif
