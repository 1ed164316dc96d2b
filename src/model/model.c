// SPDX-License-Identifier: MIT
// The model as a whole: open, close, and what it says about its clock, what was lost and what the tap cost.
// Runs in tools, and in a target once at its exit.
#include "model/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int explain(const struct mt_spool *spool, int status, struct mt_spool_error *error)
{
    if (error)
        snprintf(error->text, sizeof error->text, "%.300s: reading failed after %llu records: %s",
                 mt_spool_name(spool), (unsigned long long)mt_spool_records(spool), strerror(-status));
    return status;
}

int mt_model_open(struct mt_spool *spool, struct mt_model **out, struct mt_spool_error *error)
{
    *out = NULL;
    struct mt_model *model = calloc(1, sizeof *model);
    if (!model)
        return explain(spool, -ENOMEM, error);
    model->spool = spool;
    int status = mt_definitions_read(model);
    if (status) {
        mt_model_close(model);
        return explain(spool, status, error);
    }
    *out = model;
    return 0;
}

void mt_model_close(struct mt_model *model)
{
    if (!model)
        return;
    mt_definitions_free(model);
    mt_clock_free(&model->clock);
    mt_texts_free(&model->texts);
    mt_groups_free(&model->groups);
    free(model);
}

const struct mt_definitions *mt_model_definitions(const struct mt_model *model)
{
    return &model->definitions;
}

void mt_model_clock(const struct mt_model *model, struct mt_clock_info *clock)
{
    mt_clock_describe(&model->clock, clock);
    clock->start_wall_ns = mt_spool_header(model->spool)->start_wall_ns;
}

int64_t mt_model_time_ns(struct mt_model *model, uint64_t ticks)
{
    return mt_clock_ns(&model->clock, ticks);
}

void mt_model_loss(const struct mt_model *model, struct mt_loss *loss)
{
    const struct mt_spool_header *header = mt_spool_header(model->spool);
    uint64_t dropped = header->dropped_records;
    *loss = (struct mt_loss){
        .dropped_records = dropped > model->drop_records ? dropped : model->drop_records,
        .overwritten_records = header->overwritten_records,
        .overwritten_segments = header->overwritten_segments,
        .stalls = header->stalls,
        .unknown_context = model->unknown_context,
        .stop_reason = (int)header->stop_reason,
        .damage = *mt_spool_damage(model->spool),
    };
    loss->damage.bad_records += model->refused_definitions;
}

void mt_model_overhead(const struct mt_model *model, struct mt_overhead *overhead)
{
    const struct mt_spool_header *header = mt_spool_header(model->spool);
    double slow_ns = (double)header->slow_ticks * model->clock.slope;
    *overhead = (struct mt_overhead){
        .records = mt_spool_records(model->spool) + header->overwritten_records,
        .record_ns = (double)header->append_ticks_x1024 / 1024 * model->clock.slope,
        .slow_ns = slow_ns < 0x1p63 ? (uint64_t)slow_ns : UINT64_C(1) << 63,
    };
}
