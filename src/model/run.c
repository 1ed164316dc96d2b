// SPDX-License-Identifier: MIT
// One pass over the events: follows each stream's context, hands dispatches on, and at the end what is left
// unfinished. The way of a dispatch is the hot one: no lookup, no allocation, one call for all in a row.
#include "model/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- streams ----

static struct mt_run_stream *add_streams(struct mt_run *run, uint32_t index)
{
    size_t count = run->stream_count * 2 > index + (size_t)1 ? run->stream_count * 2 : index + (size_t)16;
    struct mt_run_stream *streams = realloc(run->streams, count * sizeof *streams);
    if (!streams)
        return NULL;
    memset(streams + run->stream_count, 0, (count - run->stream_count) * sizeof *streams);
    run->streams = streams;
    run->stream_count = count;
    return &streams[index];
}

// What the segment's head says holds for its first records, as far as nothing is known that went before.
static void begin_stream(struct mt_run *run, struct mt_run_stream *stream, const struct mt_spool_stream *from)
{
    if (from->gap)
        mt_run_leave_wait(run, stream);
    stream->thread = from->thread;
    stream->encoder = from->encoder;
    stream->command_buffer = from->command_buffer;
    stream->encoder_index = MT_FLIGHT_NONE;
}

static inline struct mt_run_stream *stream_of(struct mt_run *run, const struct mt_spool_stream *from)
{
    struct mt_run_stream *stream =
        from->index < run->stream_count ? &run->streams[from->index] : add_streams(run, from->index);
    if (stream && from->begins)
        begin_stream(run, stream, from);
    return stream;
}

// ---- dispatches ----

// The encoder that the stream's dispatches belong to, or NULL.
static inline struct mt_flight_encoder *current_encoder(struct mt_run *run, struct mt_run_stream *stream)
{
    if (!stream->encoder)
        return NULL;
    if (stream->encoder_index != MT_FLIGHT_NONE) {
        struct mt_flight_encoder *encoder =
            (struct mt_flight_encoder *)run->encoders.entries + stream->encoder_index;
        if (encoder->entry.id == stream->encoder)
            return encoder;
    }
    struct mt_flight_encoder *encoder = mt_run_get_encoder(run, stream, stream->encoder);
    if (encoder)
        stream->encoder_index = (uint32_t)(((char *)encoder - run->encoders.entries) / sizeof *encoder);
    return encoder;
}

static void set_wide_grid(struct mt_dispatch *it, const struct mt_rec_dispatch_wide *record)
{
    it->form = record->in_threads ? MT_REC_DISPATCH_THREADS : MT_REC_DISPATCH_GROUPS;
    for (int i = 0; i < 3; i++)
        it->grid[i] = record->grid[i];
}

static inline void set_grid(struct mt_dispatch *it, const struct mt_rec_dispatch *record)
{
    bool known = it->form != MT_REC_DISPATCH_INDIRECT;
    for (int i = 0; i < 3; i++)
        it->grid[i] = known ? record->grid[i] : 0;
}

void mt_dispatch_read(struct mt_dispatch *it, const struct mt_rec_any *slot)
{
    // What both forms have is in the same place.
    const struct mt_rec_dispatch *record = (const struct mt_rec_dispatch *)slot;
    it->pipeline = mt_rec_small(record->word);
    it->form = mt_rec_type(record->word);
    it->threadgroup_memory_bytes = record->threadgroup_memory * UINT32_C(16);
    for (int i = 0; i < 3; i++)
        it->threadgroup[i] = record->threadgroup[i];
    if (it->form == MT_REC_DISPATCH_WIDE)
        set_wide_grid(it, (const struct mt_rec_dispatch_wide *)slot);
    else
        set_grid(it, record);
}

static void deliver_each(struct mt_run *run, const struct mt_dispatches *them)
{
    struct mt_dispatch it = them->common;
    for (size_t i = 0; i < them->slot_count; i += mt_dispatch_slots(&them->slots[i])) {
        mt_dispatch_read(&it, &them->slots[i]);
        it.time_ns = mt_clock_ns(run->clock, them->slots[i].time);
        run->visitor->dispatch(run->visitor->context, run->model, &it);
        it.index += them->index_step;
        it.barrier_before = false;
    }
}

static void deliver_dispatches(struct mt_run *run, const struct mt_run_stream *stream,
                               const struct mt_flight_encoder *encoder, struct mt_dispatches *them)
{
    them->common = (struct mt_dispatch){
        .thread = stream->thread,
        .encoder = stream->encoder,
        .command_buffer = encoder ? encoder->row.command_buffer : stream->command_buffer,
        .group = encoder ? encoder->group : 0,
        .index = encoder ? encoder->row.dispatches : 0,
        .barrier_before = encoder && encoder->barrier,
    };
    them->index_step = encoder ? 1 : 0;
    if (run->visitor->dispatches)
        run->visitor->dispatches(run->visitor->context, run->model, them);
    else
        deliver_each(run, them);
}

// Adds to what is known of the encoder and its command buffer, after some dispatches.
static void count_dispatches(struct mt_run *run, struct mt_flight_encoder *encoder, uint32_t count)
{
    if (!encoder) {
        run->unknown_context += count;
        return;
    }
    encoder->row.dispatches += count;
    encoder->barrier = false;
    if (encoder->cb_index == MT_FLIGHT_NONE)
        return;
    struct mt_flight_cb *cb = mt_flight_at(&run->cbs, encoder->cb_index);
    if (cb->entry.id == encoder->row.command_buffer)
        cb->row.dispatches += count;
}

static inline bool is_dispatch(const struct mt_rec_any *slot)
{
    return mt_rec_type(slot->word) <= MT_REC_DISPATCH_WIDE; // a type of 0 does not come here
}

// The dispatches that `slots` begins with. All that most passes need of them is how many there are.
static struct mt_dispatches find_dispatches(const struct mt_rec_any *slots, size_t count)
{
    size_t i = 0, wide = 0;
    for (; i < count && is_dispatch(&slots[i]); i++) {
        if (__builtin_expect(mt_rec_type(slots[i].word) == MT_REC_DISPATCH_WIDE, 0)) {
            i++;
            wide++;
        }
    }
    return (struct mt_dispatches){.slots = slots, .slot_count = i, .count = (uint32_t)(i - wide)};
}

// Dispatches that follow each other, of one encoder; how many slots they took.
static size_t on_dispatches(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *slots,
                            size_t count)
{
    struct mt_flight_encoder *encoder = current_encoder(run, stream);
    struct mt_dispatches them = find_dispatches(slots, count);
    if (run->visitor->dispatches || run->visitor->dispatch)
        deliver_dispatches(run, stream, encoder, &them);
    count_dispatches(run, encoder, them.count);
    return them.slot_count;
}

// ---- other events ----

static void on_memory(struct mt_run *run, const struct mt_rec_memory *record)
{
    if (!run->visitor->memory)
        return;
    const uint32_t kinds = MT_MEMORY_FREE | MT_MEMORY_NO_COPY;
    struct mt_memory_event event = {
        .time_ns = mt_clock_ns(run->clock, record->time),
        .kind = (enum mt_memory_kind)(mt_rec_small(record->word) & kinds),
        .number = record->number,
        .bytes = record->bytes,
        .total_bytes = record->total,
    };
    run->visitor->memory(run->visitor->context, run->model, &event);
}

static void on_capture(struct mt_run *run, const struct mt_rec_capture *record)
{
    if (!run->visitor->capture)
        return;
    bool known = record->event <= MT_CAPTURE_FAILED;
    struct mt_capture_event_info event = {
        .time_ns = mt_clock_ns(run->clock, record->time),
        .event = known ? (enum mt_capture_event)record->event : MT_CAPTURE_FAILED,
        .text = mt_texts_get(&run->model->texts, mt_rec_small(record->word)),
        .first = record->first,
        .last = record->last,
        .extra = record->extra,
    };
    run->visitor->capture(run->visitor->context, run->model, &event);
}

static void on_context(struct mt_run_stream *stream, const struct mt_rec_context *record)
{
    stream->encoder = record->encoder;
    stream->command_buffer = record->command_buffer;
    stream->encoder_index = MT_FLIGHT_NONE;
}

static void on_event(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *record)
{
    switch (mt_rec_type(record->word)) {
    case MT_REC_CONTEXT:
        on_context(stream, (const struct mt_rec_context *)record);
        break;
    case MT_REC_THREAD:
        stream->thread = ((const struct mt_rec_thread *)record)->thread;
        break;
    case MT_REC_CB_CREATE:
    case MT_REC_CB_ENQUEUE:
    case MT_REC_CB_COMMIT:
    case MT_REC_CB_DONE:
    case MT_REC_CB_DISCARD:
    case MT_REC_CB_HANDLER:
    case MT_REC_CB_PRESENT:
        mt_run_cb_event(run, stream, record);
        break;
    case MT_REC_ENCODER_BEGIN:
    case MT_REC_ENCODER_END:
    case MT_REC_SYNC:
    case MT_REC_BLIT:
    case MT_REC_EXECUTE:
        mt_run_encoder_event(run, stream, record);
        break;
    case MT_REC_LABEL:
    case MT_REC_GROUP_PUSH:
    case MT_REC_GROUP_POP:
    case MT_REC_SIGNPOST:
        mt_run_label_event(run, record);
        break;
    case MT_REC_WAIT_BEGIN:
    case MT_REC_WAIT_END:
        mt_run_wait_event(run, stream, record);
        break;
    case MT_REC_MEMORY:
        on_memory(run, (const struct mt_rec_memory *)record);
        break;
    case MT_REC_CAPTURE:
        on_capture(run, (const struct mt_rec_capture *)record);
        break;
    default: // anchors and drops were seen when the model was opened
        break;
    }
}

static int visit(void *context, const struct mt_spool_stream *from, const struct mt_rec_any *slots,
                 size_t count)
{
    struct mt_run *run = context;
    struct mt_run_stream *stream = stream_of(run, from);
    if (!stream)
        return -ENOMEM;
    for (size_t i = 0; i < count;) {
        if (__builtin_expect(is_dispatch(&slots[i]), 1)) {
            i += on_dispatches(run, stream, &slots[i], count - i);
            continue;
        }
        on_event(run, stream, &slots[i]);
        i += mt_rec_type(slots[i].word) == MT_REC_CB_DONE ? 2 : 1;
    }
    return run->status;
}

// ---- the end ----

static int deliver_open_encoders(struct mt_run *run)
{
    uint32_t count = run->encoders.live;
    uint32_t *sorted = mt_flight_sorted(&run->encoders);
    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        mt_run_deliver_encoder(run, mt_flight_at(&run->encoders, sorted[i]));
    free(sorted);
    return 0;
}

static int deliver_open_cbs(struct mt_run *run)
{
    uint32_t count = run->cbs.live;
    uint32_t *sorted = mt_flight_sorted(&run->cbs);
    if (!sorted)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        struct mt_flight_cb *cb = mt_flight_at(&run->cbs, sorted[i]);
        if (!cb->done)
            cb->row.end = cb->committed ? MT_CB_IN_FLIGHT : MT_CB_UNCOMMITTED;
        mt_run_deliver_cb(run, cb);
    }
    free(sorted);
    return 0;
}

static int deliver_unfinished(struct mt_run *run)
{
    for (size_t i = 0; i < run->stream_count; i++)
        mt_run_leave_wait(run, &run->streams[i]);
    int status = deliver_open_encoders(run);
    return status ? status : deliver_open_cbs(run);
}

int mt_model_run(struct mt_model *model, const struct mt_model_visitor *visitor)
{
    struct mt_run run = {
        .model = model,
        .clock = &model->clock,
        .visitor = visitor,
        .cbs.entry_bytes = sizeof(struct mt_flight_cb),
        .encoders.entry_bytes = sizeof(struct mt_flight_encoder),
    };
    model->run = &run;
    int status = mt_spool_events(model->spool, visit, &run);
    if (!status)
        status = deliver_unfinished(&run);
    model->run = NULL;
    model->unknown_context = run.unknown_context;
    mt_flight_free(&run.cbs);
    mt_flight_free(&run.encoders);
    free(run.streams);
    return status;
}

int64_t mt_model_horizon_ns(const struct mt_model *model)
{
    const struct mt_run *run = model->run;
    if (!run || !run->oldest)
        return INT64_MAX;
    return ((const struct mt_flight_cb *)mt_flight_at(&run->cbs, run->oldest - 1))->row.commit_ns;
}
