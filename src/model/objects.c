// SPDX-License-Identifier: MIT
// What events do to the things in flight: command buffers, encoders, waits, labels and debug groups. An
// object whose beginning is not in the spool (overwritten, dropped) is made when something shows that it is
// in use, with what is known. Pointers to entries hold until the next entry of that kind is made.
#include "model/run.h"

#include <errno.h>

// ---- command buffers ----

struct mt_flight_cb *mt_run_find_cb(struct mt_run *run, uint32_t id)
{
    uint32_t index = mt_flight_find(&run->cbs, id);
    return index == MT_FLIGHT_NONE ? NULL : mt_flight_at(&run->cbs, index);
}

struct mt_flight_cb *mt_run_get_cb(struct mt_run *run, uint32_t id)
{
    struct mt_flight_cb *cb = mt_run_find_cb(run, id);
    if (cb || !id)
        return cb;
    uint32_t index = mt_flight_add(&run->cbs, id);
    if (index == MT_FLIGHT_NONE) {
        run->status = -ENOMEM;
        return NULL;
    }
    cb = mt_flight_at(&run->cbs, index);
    struct mt_command_buffer *row = &cb->row;
    row->id = id;
    row->create_ns = row->first_encode_ns = row->enqueue_ns = row->commit_ns = row->scheduled_ns =
        row->gpu_start_ns = row->gpu_end_ns = row->completed_ns = MT_NO_TIME;
    return cb;
}

static uint32_t index_of_cb(const struct mt_run *run, const struct mt_flight_cb *cb)
{
    return (uint32_t)(((const char *)cb - run->cbs.entries) / sizeof *cb);
}

// Those committed are a list by the time of their commit: its first is the horizon.
static void enter_committed(struct mt_run *run, struct mt_flight_cb *cb)
{
    uint32_t number = index_of_cb(run, cb) + 1;
    cb->older = run->newest;
    cb->newer = 0;
    if (run->newest)
        ((struct mt_flight_cb *)mt_flight_at(&run->cbs, run->newest - 1))->newer = number;
    else
        run->oldest = number;
    run->newest = number;
}

static void leave_committed(struct mt_run *run, struct mt_flight_cb *cb)
{
    if (cb->older)
        ((struct mt_flight_cb *)mt_flight_at(&run->cbs, cb->older - 1))->newer = cb->newer;
    else
        run->oldest = cb->newer;
    if (cb->newer)
        ((struct mt_flight_cb *)mt_flight_at(&run->cbs, cb->newer - 1))->older = cb->older;
    else
        run->newest = cb->older;
}

void mt_run_deliver_cb(struct mt_run *run, struct mt_flight_cb *cb)
{
    if (cb->committed)
        leave_committed(run, cb);
    if (run->visitor->command_buffer)
        run->visitor->command_buffer(run->visitor->context, run->model, &cb->row);
    mt_flight_remove(&run->cbs, index_of_cb(run, cb));
}

static void on_create(struct mt_run *run, const struct mt_run_stream *stream,
                      const struct mt_rec_cb_create *record, struct mt_flight_cb *cb)
{
    cb->row.create_ns = mt_clock_ns(run->clock, record->time);
    cb->row.create_thread = stream->thread;
    cb->row.queue = record->queue;
    cb->row.flags |= record->flags;
}

static void on_commit(struct mt_run *run, const struct mt_run_stream *stream,
                      const struct mt_rec_cb_commit *record, struct mt_flight_cb *cb)
{
    if (cb->committed)
        return;
    cb->committed = true;
    cb->row.commit_ns = mt_clock_ns(run->clock, record->time);
    cb->row.commit_thread = stream->thread;
    cb->row.allocated_bytes = record->allocated_bytes;
    cb->row.flags |= record->flags;
    enter_committed(run, cb);
}

static void on_done(struct mt_run *run, const struct mt_rec_cb_done *record, struct mt_flight_cb *cb)
{
    enum { STATUS_COMPLETED = 4 }; // of MTLCommandBufferStatus
    struct mt_command_buffer *row = &cb->row;
    row->completed_ns = mt_clock_ns(run->clock, record->time);
    row->scheduled_ns = mt_clock_ns_or_none(run->clock, record->scheduled);
    row->gpu_start_ns = mt_clock_from_gpu(run->clock, record->gpu_start_ns);
    row->gpu_end_ns = mt_clock_from_gpu(run->clock, record->gpu_end_ns);
    row->status = mt_rec_small(record->word);
    row->end = row->status == STATUS_COMPLETED ? MT_CB_COMPLETED : MT_CB_FAILED;
    row->error = mt_texts_get(&run->model->texts, record->error);
    row->flags |= record->flags;
    cb->done = true;
    if (!cb->pending_waits)
        mt_run_deliver_cb(run, cb);
}

static void on_discard(struct mt_run *run, struct mt_flight_cb *cb)
{
    if (cb->committed || cb->done)
        return;
    cb->row.end = MT_CB_DISCARDED;
    mt_run_deliver_cb(run, cb);
}

void mt_run_cb_event(struct mt_run *run, const struct mt_run_stream *stream, const struct mt_rec_any *record)
{
    // All of them have the command buffer in the same place.
    struct mt_flight_cb *cb = mt_run_get_cb(run, ((const struct mt_rec_cb_note *)record)->command_buffer);
    if (!cb)
        return;
    switch (mt_rec_type(record->word)) {
    case MT_REC_CB_CREATE:
        on_create(run, stream, (const struct mt_rec_cb_create *)record, cb);
        break;
    case MT_REC_CB_ENQUEUE:
        cb->row.enqueue_ns = mt_clock_ns(run->clock, record->time);
        break;
    case MT_REC_CB_COMMIT:
        on_commit(run, stream, (const struct mt_rec_cb_commit *)record, cb);
        break;
    case MT_REC_CB_DONE:
        on_done(run, (const struct mt_rec_cb_done *)record, cb);
        break;
    case MT_REC_CB_DISCARD:
        on_discard(run, cb);
        break;
    case MT_REC_CB_HANDLER:
        cb->row.handlers++;
        break;
    default:
        cb->row.presents++;
        break;
    }
}

// ---- encoders ----

struct mt_flight_encoder *mt_run_find_encoder(struct mt_run *run, uint32_t id)
{
    uint32_t index = mt_flight_find(&run->encoders, id);
    return index == MT_FLIGHT_NONE ? NULL : mt_flight_at(&run->encoders, index);
}

static struct mt_flight_cb *cb_of(struct mt_run *run, const struct mt_flight_encoder *encoder)
{
    return mt_run_find_cb(run, encoder->row.command_buffer);
}

static struct mt_flight_encoder *add_encoder(struct mt_run *run, uint32_t id, uint32_t command_buffer)
{
    uint32_t index = mt_flight_add(&run->encoders, id);
    if (index == MT_FLIGHT_NONE) {
        run->status = -ENOMEM;
        return NULL;
    }
    struct mt_flight_encoder *encoder = mt_flight_at(&run->encoders, index);
    struct mt_flight_cb *cb = mt_run_get_cb(run, command_buffer);
    encoder->row.id = id;
    encoder->row.command_buffer = command_buffer;
    encoder->row.begin_ns = encoder->row.end_ns = MT_NO_TIME;
    encoder->cb_index = MT_FLIGHT_NONE;
    if (cb) {
        cb->row.encoders++;
        encoder->cb_index = index_of_cb(run, cb);
        encoder->row.group = encoder->group = encoder->base_group = cb->group;
    }
    return encoder;
}

struct mt_flight_encoder *mt_run_get_encoder(struct mt_run *run, const struct mt_run_stream *stream,
                                             uint32_t id)
{
    struct mt_flight_encoder *encoder = mt_run_find_encoder(run, id);
    if (encoder || !id)
        return encoder;
    encoder = add_encoder(run, id, stream->encoder == id ? stream->command_buffer : 0);
    if (encoder)
        encoder->row.thread = stream->thread;
    return encoder;
}

void mt_run_deliver_encoder(struct mt_run *run, struct mt_flight_encoder *encoder)
{
    if (run->visitor->encoder)
        run->visitor->encoder(run->visitor->context, run->model, &encoder->row);
    uint32_t index = (uint32_t)(((char *)encoder - run->encoders.entries) / sizeof *encoder);
    mt_flight_remove(&run->encoders, index);
}

static void on_begin(struct mt_run *run, struct mt_run_stream *stream,
                     const struct mt_rec_encoder_begin *record)
{
    stream->encoder = record->encoder;
    stream->command_buffer = record->command_buffer;
    stream->encoder_index = MT_FLIGHT_NONE;
    if (!record->encoder)
        return;
    // The same number twice is no encoder of ours; the first stays.
    struct mt_flight_encoder *encoder = mt_run_find_encoder(run, record->encoder);
    if (!encoder && !(encoder = add_encoder(run, record->encoder, record->command_buffer)))
        return;
    struct mt_encoder *row = &encoder->row;
    row->thread = stream->thread;
    row->kind = record->kind <= MT_ENCODER_OTHER ? (enum mt_encoder_kind)record->kind : MT_ENCODER_OTHER;
    row->dispatch_type = record->dispatch_type;
    row->form = record->form;
    row->begin_ns = mt_clock_ns(run->clock, record->time);
    struct mt_flight_cb *cb = cb_of(run, encoder);
    if (cb && cb->row.first_encode_ns == MT_NO_TIME)
        cb->row.first_encode_ns = row->begin_ns;
}

static void on_end(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *record,
                   struct mt_flight_encoder *encoder)
{
    struct mt_encoder *row = &encoder->row;
    if (stream->encoder == row->id)
        stream->encoder = 0;
    row->end_ns = mt_clock_ns(run->clock, record->time);
    struct mt_flight_cb *cb = cb_of(run, encoder);
    if (cb && row->begin_ns != MT_NO_TIME && row->end_ns > row->begin_ns)
        cb->row.encode_ns += (uint64_t)(row->end_ns - row->begin_ns);
    mt_run_deliver_encoder(run, encoder);
}

static void on_sync(struct mt_run *run, const struct mt_run_stream *stream, const struct mt_rec_sync *record)
{
    uint32_t kind = mt_rec_small(record->word);
    if (kind == MT_SYNC_EVENT_WAIT || kind == MT_SYNC_EVENT_SIGNAL) {
        struct mt_flight_cb *cb = mt_run_get_cb(run, record->object);
        if (cb)
            *(kind == MT_SYNC_EVENT_WAIT ? &cb->row.event_waits : &cb->row.event_signals) += 1;
        return;
    }
    struct mt_flight_encoder *encoder = mt_run_get_encoder(run, stream, record->object);
    if (!encoder)
        return;
    if (kind == MT_SYNC_FENCE_WAIT) {
        encoder->row.fence_waits++;
    } else if (kind == MT_SYNC_FENCE_UPDATE) {
        encoder->row.fence_updates++;
    } else if (kind == MT_SYNC_BARRIER_SCOPE || kind == MT_SYNC_BARRIER_RESOURCES) {
        encoder->row.barriers++;
        encoder->barrier = true;
    }
}

static void on_blit(struct mt_run *run, const struct mt_rec_blit *record, struct mt_flight_encoder *encoder)
{
    struct mt_flight_cb *cb = cb_of(run, encoder);
    encoder->row.blits++;
    encoder->row.blit_bytes += record->bytes;
    if (cb)
        cb->row.blits++;
}

static void on_execute(struct mt_run *run, struct mt_flight_encoder *encoder)
{
    struct mt_flight_cb *cb = cb_of(run, encoder);
    encoder->row.executes++;
    if (cb)
        cb->row.executes++;
}

void mt_run_encoder_event(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *record)
{
    enum mt_record_type type = mt_rec_type(record->word);
    if (type == MT_REC_ENCODER_BEGIN) {
        on_begin(run, stream, (const struct mt_rec_encoder_begin *)record);
        return;
    }
    if (type == MT_REC_SYNC) {
        on_sync(run, stream, (const struct mt_rec_sync *)record);
        return;
    }
    // The others have the encoder in the same place.
    struct mt_flight_encoder *encoder =
        mt_run_get_encoder(run, stream, ((const struct mt_rec_encoder_end *)record)->encoder);
    if (!encoder)
        return;
    if (type == MT_REC_ENCODER_END)
        on_end(run, stream, record, encoder);
    else if (type == MT_REC_BLIT)
        on_blit(run, (const struct mt_rec_blit *)record, encoder);
    else
        on_execute(run, encoder);
}

// ---- waits ----

static void deliver_wait(struct mt_run *run, const struct mt_wait *wait)
{
    if (run->visitor->wait)
        run->visitor->wait(run->visitor->context, run->model, wait);
}

// Ends the wait that a stream is in, as far as its command buffer is concerned.
static void settle_wait(struct mt_run *run, struct mt_run_stream *stream)
{
    struct mt_flight_cb *cb = stream->wait_counts ? mt_run_find_cb(run, stream->wait.command_buffer) : NULL;
    stream->waiting = stream->wait_counts = false;
    if (!cb || !cb->pending_waits)
        return;
    cb->pending_waits--;
    if (cb->done && !cb->pending_waits)
        mt_run_deliver_cb(run, cb);
}

void mt_run_leave_wait(struct mt_run *run, struct mt_run_stream *stream)
{
    if (!stream->waiting)
        return;
    struct mt_flight_cb *cb = mt_run_find_cb(run, stream->wait.command_buffer);
    if (cb)
        cb->row.waits++;
    deliver_wait(run, &stream->wait);
    settle_wait(run, stream);
}

static struct mt_wait wait_of(const struct mt_run_stream *stream, const struct mt_rec_wait *record)
{
    uint32_t kind = mt_rec_small(record->word);
    return (struct mt_wait){
        .command_buffer = record->command_buffer,
        .thread = stream->thread,
        .kind = kind <= MT_WAIT_SHARED_EVENT ? (enum mt_wait_kind)kind : MT_WAIT_SHARED_EVENT,
        .begin_ns = MT_NO_TIME,
        .end_ns = MT_NO_TIME,
        .value = record->value,
    };
}

static void on_wait_begin(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_wait *record)
{
    mt_run_leave_wait(run, stream);
    struct mt_flight_cb *cb = mt_run_find_cb(run, record->command_buffer);
    stream->wait = wait_of(stream, record);
    stream->wait.begin_ns = mt_clock_ns(run->clock, record->time);
    stream->waiting = true;
    stream->wait_counts = cb != NULL;
    if (cb)
        cb->pending_waits++;
}

static void on_wait_end(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_wait *record)
{
    struct mt_wait wait = wait_of(stream, record);
    wait.end_ns = mt_clock_ns(run->clock, record->time);
    if (record->begin)
        wait.begin_ns = mt_clock_ns(run->clock, record->begin);
    else if (stream->waiting)
        wait.begin_ns = stream->wait.begin_ns;
    struct mt_flight_cb *cb = mt_run_find_cb(run, record->command_buffer);
    if (cb) {
        cb->row.waits++;
        if (wait.begin_ns != MT_NO_TIME && wait.end_ns > wait.begin_ns)
            cb->row.wait_ns += (uint64_t)(wait.end_ns - wait.begin_ns);
    }
    deliver_wait(run, &wait);
    settle_wait(run, stream);
}

void mt_run_wait_event(struct mt_run *run, struct mt_run_stream *stream, const struct mt_rec_any *record)
{
    if (mt_rec_type(record->word) == MT_REC_WAIT_BEGIN)
        on_wait_begin(run, stream, (const struct mt_rec_wait *)record);
    else
        on_wait_end(run, stream, (const struct mt_rec_wait *)record);
}

// ---- labels and debug groups ----

static void push_group(struct mt_run *run, uint32_t *group, uint32_t *excess, uint32_t string)
{
    uint32_t child = *excess ? 0 : mt_groups_child(&run->model->groups, *group, string);
    if (child)
        *group = child;
    else
        ++*excess;
}

// Popping what was not pushed is ignored: the program may have been inside groups when recording began.
static void pop_group(struct mt_run *run, uint32_t *group, uint32_t *excess, uint32_t base)
{
    if (*excess)
        --*excess;
    else if (*group != base)
        *group = run->model->groups.nodes[*group].parent;
}

static void label_encoder(struct mt_run *run, const struct mt_rec_label *record)
{
    struct mt_flight_encoder *encoder = mt_run_find_encoder(run, record->object);
    if (!encoder)
        return;
    uint32_t string = mt_rec_small(record->word);
    enum mt_record_type type = mt_rec_type(record->word);
    if (type == MT_REC_LABEL)
        encoder->row.label = mt_texts_get(&run->model->texts, string);
    else if (type == MT_REC_GROUP_PUSH)
        push_group(run, &encoder->group, &encoder->excess_groups, string);
    else if (type == MT_REC_GROUP_POP)
        pop_group(run, &encoder->group, &encoder->excess_groups, encoder->base_group);
    else
        encoder->row.signposts++;
}

static void label_cb(struct mt_run *run, const struct mt_rec_label *record)
{
    struct mt_flight_cb *cb = mt_run_find_cb(run, record->object);
    if (!cb)
        return;
    uint32_t string = mt_rec_small(record->word);
    enum mt_record_type type = mt_rec_type(record->word);
    if (type == MT_REC_LABEL)
        cb->row.label = mt_texts_get(&run->model->texts, string);
    else if (type == MT_REC_GROUP_PUSH)
        push_group(run, &cb->group, &cb->excess_groups, string);
    else if (type == MT_REC_GROUP_POP)
        pop_group(run, &cb->group, &cb->excess_groups, 0);
}

void mt_run_label_event(struct mt_run *run, const struct mt_rec_any *record)
{
    const struct mt_rec_label *label = (const struct mt_rec_label *)record;
    if (label->kind == MT_OBJECT_ENCODER)
        label_encoder(run, label);
    else if (label->kind == MT_OBJECT_COMMAND_BUFFER)
        label_cb(run, label);
}
