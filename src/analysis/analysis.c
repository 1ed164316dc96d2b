// SPDX-License-Identifier: MIT
// Sets up an analysis from the definitions, runs the pass and closes the books. Runs in tools, and in a
// target at its exit; returns -ENOMEM rather than giving half an answer.
#include "analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>

// Pipelines of the same name and constants are one kernel. One without a name was never defined.
static int group_pipelines(struct mt_analysis *analysis, const struct mt_definitions *all)
{
    int error = 0;
    analysis->pipeline_count = all->pipeline_count;
    analysis->pipeline_kernel = calloc((size_t)all->pipeline_count + 1, sizeof(uint32_t));
    analysis->pipeline_next = calloc((size_t)all->pipeline_count + 1, sizeof(uint32_t));
    if (!analysis->pipeline_kernel || !analysis->pipeline_next)
        return -ENOMEM;
    for (uint32_t i = 1; i < all->pipeline_count; i++) {
        const struct mt_pipeline *pipeline = &all->pipelines[i];
        struct mt_text constants = pipeline->constants;
        if (!constants.length)
            constants = (struct mt_text){0}; // none and empty are the same
        analysis->pipeline_kernel[i] = MT_NO_NAME;
        if (pipeline->name.bytes)
            analysis->pipeline_kernel[i] =
                mt_names_number(&analysis->kernel_names, pipeline->name, constants, MT_NO_NAME, &error);
        if (error)
            return error;
    }
    return 0;
}

static int make_kernels(struct mt_analysis *analysis)
{
    static const char unknown[] = "(unknown)";
    uint32_t count = analysis->kernel_names.count;
    analysis->kernels = calloc((size_t)count + 1, sizeof(*analysis->kernels));
    if (!analysis->kernels)
        return -ENOMEM;
    analysis->kernel_count = count + 1;
    for (uint32_t i = 0; i < count; i++) {
        analysis->kernels[i].name = analysis->kernel_names.names[i].text;
        analysis->kernels[i].constants = analysis->kernel_names.names[i].more;
    }
    analysis->kernels[count].name = (struct mt_text){unknown, sizeof(unknown) - 1, false};
    for (uint32_t i = analysis->pipeline_count; i-- > 1;) {
        if (analysis->pipeline_kernel[i] == MT_NO_NAME) {
            analysis->pipeline_kernel[i] = count;
            continue;
        }
        struct mt_kernel *kernel = &analysis->kernels[analysis->pipeline_kernel[i]];
        analysis->pipeline_next[i] = kernel->first_pipeline;
        kernel->first_pipeline = i;
    }
    return 0;
}

static int prepare(struct mt_analysis *analysis, const struct mt_definitions *all)
{
    int error = group_pipelines(analysis, all);
    if (!error)
        error = make_kernels(analysis);
    if (error)
        return error;
    analysis->queue_count = all->queue_count ? all->queue_count : 1;
    analysis->queues = calloc(analysis->queue_count, sizeof(*analysis->queues));
    if (!analysis->queues)
        return -ENOMEM;
    analysis->memory.peak_ns = MT_NO_TIME;
    return 0;
}

static void add_definition_error(struct mt_analysis *analysis, enum mt_object_kind kind, uint32_t id,
                                 struct mt_text text, struct mt_text name, int64_t time_ns)
{
    if (text.bytes)
        mt_analysis_add_error(analysis, &(struct mt_error_entry){kind, id, text, name, time_ns});
}

static void list_definition_errors(struct mt_analysis *analysis, const struct mt_definitions *all)
{
    for (uint32_t i = 1; i < all->library_count; i++) {
        const struct mt_library *it = &all->libraries[i];
        add_definition_error(analysis, MT_OBJECT_LIBRARY, i, it->error, it->name, it->end_ns);
    }
    for (uint32_t i = 1; i < all->function_count; i++) {
        const struct mt_function *it = &all->functions[i];
        add_definition_error(analysis, MT_OBJECT_FUNCTION, i, it->error, it->name, MT_NO_TIME);
    }
    for (uint32_t i = 1; i < all->pipeline_count; i++) {
        const struct mt_pipeline *it = &all->pipelines[i];
        add_definition_error(analysis, MT_OBJECT_PIPELINE, i, it->error, it->name, it->end_ns);
    }
}

// What is derived when everything has been seen. A command buffer that seems to hold one kernel may have held
// another whose record was lost: then no kernel is given a time.
static void finish(struct mt_analysis *analysis, struct mt_model *model)
{
    struct mt_loss loss;
    mt_model_loss(model, &loss);
    mt_analysis_count_alike(analysis);
    const struct mt_spool_damage *damage = &loss.damage;
    analysis->kernel_time_off = loss.dropped_records || loss.unknown_context || damage->bad_segments ||
                                damage->bad_records || damage->missing_segments || damage->lost_segments;
    for (uint32_t i = 0; i < analysis->kernel_count; i++) {
        struct mt_kernel *kernel = &analysis->kernels[i];
        for (int form = 0; form < MT_DISPATCH_FORMS; form++)
            analysis->counts.forms[form] += kernel->forms[form];
        analysis->counts.dispatches += kernel->dispatches;
        if (kernel->dispatches) {
            kernel->first_ns = mt_model_time_ns(model, kernel->first_ticks);
            kernel->last_ns = mt_model_time_ns(model, kernel->last_ticks);
        }
        if (analysis->kernel_time_off) {
            kernel->covered_dispatches = 0;
            mt_samples_free(&kernel->per_command_buffer);
            mt_samples_free(&kernel->per_dispatch);
        }
    }
}

int mt_analysis_run(struct mt_model *model, struct mt_analysis **out)
{
    struct mt_analysis *analysis = calloc(1, sizeof(*analysis));
    if (!analysis)
        return -ENOMEM;
    const struct mt_definitions *all = mt_model_definitions(model);
    struct mt_model_visitor visitor;
    mt_analysis_visitor(analysis, &visitor);
    int error = prepare(analysis, all);
    if (error)
        goto out;
    list_definition_errors(analysis, all);
    error = mt_model_run(model, &visitor);
    if (!error)
        error = analysis->error;
    if (error)
        goto out;
    finish(analysis, model);
    *out = analysis;
    return 0;
out:
    mt_analysis_free(analysis);
    return error;
}

static void free_label(struct mt_label *label)
{
    mt_samples_free(&label->gpu);
    mt_samples_free(&label->submit);
}

void mt_analysis_free(struct mt_analysis *analysis)
{
    if (!analysis)
        return;
    for (uint32_t i = 0; analysis->kernels && i < analysis->kernel_count; i++) {
        mt_samples_free(&analysis->kernels[i].per_command_buffer);
        mt_samples_free(&analysis->kernels[i].per_dispatch);
    }
    for (uint32_t i = 0; i < analysis->label_count; i++)
        free_label(&analysis->labels[i]);
    free_label(&analysis->other_labels);
    struct mt_samples *samples[] = {&analysis->gpu,      &analysis->encode,     &analysis->submit,
                                    &analysis->schedule, &analysis->queue_wait, &analysis->completion,
                                    &analysis->waits[0], &analysis->waits[1],   &analysis->waits[2]};
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        mt_samples_free(samples[i]);
    mt_busy_free(&analysis->busy);
    mt_busy_free(&analysis->busy_all);
    mt_names_free(&analysis->kernel_names);
    mt_names_free(&analysis->label_names);
    mt_contents_free(&analysis->contents);
    free(analysis->kernels);
    free(analysis->pipeline_kernel);
    free(analysis->pipeline_next);
    free(analysis->labels);
    free(analysis->queues);
    free(analysis->errors);
    free(analysis->captures);
    free(analysis);
}

uint64_t mt_analysis_wall_ns(const struct mt_analysis *analysis, const struct mt_process *process)
{
    int64_t end = process->end_ns != MT_NO_TIME ? process->end_ns : analysis->last_ns;
    return end > 0 ? (uint64_t)end : 0;
}
