// SPDX-License-Identifier: MIT
// The state of one pass over the events: what each stream is at, and what is in flight. run.c goes through
// the records; objects.c holds what happens to command buffers, encoders and waits. Lives on the stack of
// mt_model_run.
#ifndef MT_MODEL_RUN_H
#define MT_MODEL_RUN_H

#include "model/internal.h"

struct mt_flight_cb {
    struct mt_flight_entry entry;
    struct mt_command_buffer row;
    uint32_t pending_waits;
    bool committed, done;
    uint32_t older, newer; // of those committed: index + 1
    uint32_t group, excess_groups;
};
struct mt_flight_encoder {
    struct mt_flight_entry entry;
    uint32_t cb_index;
    bool barrier;
    uint32_t group, base_group, excess_groups; // excess: pushed beyond what can be kept
    struct mt_encoder row;
};
struct mt_run_stream {
    uint32_t thread;
    uint32_t encoder, command_buffer; // the context of dispatches
    uint32_t encoder_index;           // where the encoder was found, to be checked by its id
    bool waiting, wait_counts;        // between begin and end of a wait; its command buffer knows
    struct mt_wait wait;
};
struct mt_run {
    struct mt_model *model;
    struct mt_clock *clock;
    const struct mt_model_visitor *visitor;
    struct mt_run_stream *streams;
    size_t stream_count;
    struct mt_flight cbs, encoders;
    uint32_t oldest, newest; // committed command buffers that were not handed on yet: index + 1
    uint64_t unknown_context;
    int status; // -ENOMEM
};

// All take times as in records. Lookups that make an entry give NULL when there is no memory.
struct mt_flight_cb *mt_run_find_cb(struct mt_run *run, uint32_t id);
struct mt_flight_cb *mt_run_get_cb(struct mt_run *run, uint32_t id);
void mt_run_deliver_cb(struct mt_run *run, struct mt_flight_cb *cb);
void mt_run_cb_event(struct mt_run *run, const struct mt_run_stream *stream, const struct mt_rec_any *record);

struct mt_flight_encoder *mt_run_find_encoder(struct mt_run *run, uint32_t id);
struct mt_flight_encoder *mt_run_get_encoder(struct mt_run *run, const struct mt_run_stream *stream,
                                             uint32_t id);
void mt_run_deliver_encoder(struct mt_run *run, struct mt_flight_encoder *encoder);
void mt_run_encoder_event(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *record);

void mt_run_wait_event(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *record);
void mt_run_leave_wait(struct mt_run *run, struct mt_run_stream *stream); // without its end
void mt_run_label_event(struct mt_run *run, const struct mt_rec_any *record);

#endif
