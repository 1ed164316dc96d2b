// SPDX-License-Identifier: MIT
// Goes through all of a spool as a view would, touching every byte that reader and model hand out, so that a
// sanitizer sees what is wrong with any of it. Used by tests of damaged files and by the fuzzer. One thread.
#ifndef TESTS_UNIT_SPOOL_EXERCISE_H
#define TESTS_UNIT_SPOOL_EXERCISE_H

#include "model/model.h"

#include <stdlib.h>
#include <string.h>

struct exercise {
    int status;     // of the first step that failed, or 0
    char text[512]; // of its error
    uint64_t sum;   // of all bytes, so that nothing is left out
    uint64_t records, rows;
    int64_t last_ns; // of dispatches: they come in order
    bool disorder;
    bool reports; // aborts on what must never be: for the fuzzer
    struct mt_spool_damage damage;
};

static inline void touch(struct exercise *it, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t word;
    for (; count >= sizeof word; count -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        it->sum = it->sum * 31 + word;
    }
    while (count--)
        it->sum = it->sum * 31 + *at++;
}

static inline void touch_text(struct exercise *it, struct mt_text text)
{
    touch(it, text.bytes, text.length);
    it->sum += text.cut;
}

static inline void touch_group(struct exercise *it, const struct mt_model *model, uint32_t group)
{
    uint32_t depth = mt_model_group_depth(model, group);
    for (uint32_t i = 0; i <= depth && i < 100; i++)
        touch_text(it, mt_model_group_name(model, group, i));
}

static inline int touch_slots(void *context, const struct mt_spool_stream *from,
                              const struct mt_rec_any *slots, size_t count)
{
    struct exercise *it = context;
    touch(it, slots, count * sizeof *slots);
    it->sum += from->stream + from->index + from->gap + from->begins + from->thread + from->encoder;
    it->records++;
    return 0;
}

static inline void touch_cb(void *context, const struct mt_model *model, const struct mt_command_buffer *row)
{
    struct exercise *it = context;
    touch(it, row, sizeof *row);
    touch_text(it, row->label);
    touch_text(it, row->error);
    it->sum += (uint64_t)mt_model_horizon_ns(model);
    it->sum += (uint64_t)(row->gpu_end_ns != MT_NO_TIME && row->create_ns != MT_NO_TIME
                              ? row->gpu_end_ns - row->create_ns
                              : 0);
    it->rows++;
}

static inline void touch_encoder(void *context, const struct mt_model *model, const struct mt_encoder *row)
{
    struct exercise *it = context;
    touch(it, row, sizeof *row);
    touch_text(it, row->label);
    touch_group(it, model, row->group);
    it->rows++;
}

static inline void touch_dispatch(void *context, const struct mt_model *model, const struct mt_dispatch *row)
{
    struct exercise *it = context;
    touch(it, row, sizeof *row);
    touch_group(it, model, row->group);
    it->disorder = it->disorder || row->time_ns < it->last_ns;
    it->last_ns = row->time_ns;
    it->rows++;
}

static inline void touch_wait(void *context, const struct mt_model *model, const struct mt_wait *row)
{
    struct exercise *it = context;
    (void)model;
    touch(it, row, sizeof *row);
    it->sum +=
        (uint64_t)(row->end_ns != MT_NO_TIME && row->begin_ns != MT_NO_TIME ? row->end_ns - row->begin_ns
                                                                            : 0);
    it->rows++;
}

static inline void touch_memory(void *context, const struct mt_model *model,
                                const struct mt_memory_event *row)
{
    struct exercise *it = context;
    (void)model;
    touch(it, row, sizeof *row);
    it->rows++;
}

static inline void touch_capture(void *context, const struct mt_model *model,
                                 const struct mt_capture_event_info *row)
{
    struct exercise *it = context;
    (void)model;
    touch_text(it, row->text);
    it->sum += (uint64_t)row->time_ns + row->event + row->first + row->last + row->extra;
    it->rows++;
}

static inline void touch_pipelines(struct exercise *it, const struct mt_definitions *all)
{
    for (uint32_t i = 0; i < all->function_count; i++) {
        touch_text(it, all->functions[i].name);
        touch_text(it, all->functions[i].constants);
        touch_text(it, all->functions[i].error);
    }
    for (uint32_t i = 0; i < all->pipeline_count; i++) {
        if (it->reports && i && !all->pipelines[i].name.length)
            abort();
        touch_text(it, all->pipelines[i].name);
        touch_text(it, all->pipelines[i].constants);
        touch_text(it, all->pipelines[i].error);
        touch(it, &all->pipelines[i], sizeof all->pipelines[i]);
    }
}

static inline void touch_definitions(struct exercise *it, const struct mt_definitions *all)
{
    touch_text(it, all->process.program);
    touch_text(it, all->process.host);
    touch_text(it, all->process.system);
    touch_text(it, all->process.tap_version);
    for (uint32_t i = 1; i < all->device_count; i++) {
        touch_text(it, all->devices[i].name);
        touch(it, all->devices[i].record, sizeof *all->devices[i].record);
    }
    for (uint32_t i = 0; i < all->queue_count; i++)
        touch_text(it, all->queues[i].label);
    for (uint32_t i = 0; i < all->library_count; i++) {
        touch_text(it, all->libraries[i].name);
        touch_text(it, all->libraries[i].error);
    }
    touch_pipelines(it, all);
    for (uint32_t i = 0; i < all->thread_count; i++)
        touch_text(it, all->threads[i].name);
    for (uint32_t i = 0; i < all->note_count; i++) {
        touch_text(it, all->notes[i].name);
        touch_text(it, all->notes[i].text);
    }
}

static inline int exercise_model(struct exercise *it, struct mt_spool *spool, struct mt_spool_error *error)
{
    struct mt_model *model;
    int status = mt_model_open(spool, &model, error);
    if (status)
        return status;
    touch_definitions(it, mt_model_definitions(model));
    const struct mt_model_visitor visitor = {
        .context = it,
        .command_buffer = touch_cb,
        .encoder = touch_encoder,
        .dispatch = touch_dispatch,
        .wait = touch_wait,
        .memory = touch_memory,
        .capture = touch_capture,
    };
    it->last_ns = MT_NO_TIME;
    status = mt_model_run(model, &visitor);
    struct mt_clock_info clock;
    mt_model_clock(model, &clock);
    struct mt_loss loss;
    mt_model_loss(model, &loss);
    struct mt_overhead overhead;
    mt_model_overhead(model, &overhead);
    touch(it, &clock, sizeof clock);
    touch(it, &loss.damage, sizeof loss.damage);
    touch(it, &overhead, sizeof overhead);
    mt_model_close(model);
    return status;
}

// Everything, from an open descriptor. What went wrong is in `status`.
static inline struct exercise exercise_spool(int fd, bool reports)
{
    struct exercise it = {.reports = reports};
    struct mt_spool_error error = {""};
    struct mt_spool *spool;
    it.status = mt_spool_open_fd(fd, "spool", &spool, &error);
    if (!it.status) {
        it.status = mt_spool_definitions(spool, touch_slots, &it);
        if (!it.status)
            it.status = mt_spool_events(spool, touch_slots, &it);
        if (!it.status)
            it.status = mt_spool_events_of(spool, UINT64_MAX, touch_slots, &it);
        if (!it.status)
            it.status = exercise_model(&it, spool, &error);
        it.records = mt_spool_records(spool);
        it.damage = *mt_spool_damage(spool);
        if (!it.status)
            it.status = mt_spool_refresh(spool);
        mt_spool_close(spool);
    }
    memcpy(it.text, error.text, sizeof it.text);
    if (reports && (it.disorder || (it.status && !it.text[0])))
        abort();
    return it;
}

#endif
