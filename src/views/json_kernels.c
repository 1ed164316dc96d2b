// SPDX-License-Identifier: MIT
// The sections "kernels" and "labels": where the time went, the most expensive first. Runs in tools, and in a
// target at its exit.
#include "views/json.h"

#include <errno.h>
#include <stdlib.h>

// ---- kernels ----
static int by_cost(const void *a, const void *b)
{
    const struct mt_kernel *left = *(const struct mt_kernel *const *)a;
    const struct mt_kernel *right = *(const struct mt_kernel *const *)b;
    if (left->per_command_buffer.total != right->per_command_buffer.total)
        return left->per_command_buffer.total > right->per_command_buffer.total ? -1 : 1;
    if (left->dispatches != right->dispatches)
        return left->dispatches > right->dispatches ? -1 : 1;
    return left < right ? -1 : left > right; // both in one array: order of definition
}

static void add_three(struct mt_json *json, cJSON *to, const char *key, uint64_t x, uint64_t y, uint64_t z)
{
    cJSON *array = mt_tree_add_array(&json->tree, to, key);
    mt_tree_u64(&json->tree, array, NULL, x);
    mt_tree_u64(&json->tree, array, NULL, y);
    mt_tree_u64(&json->tree, array, NULL, z);
}

static void add_shape(struct mt_json *json, cJSON *row, const char *key, const struct mt_kernel *kernel,
                      const struct mt_shape *shape)
{
    if (kernel->dispatches == kernel->forms[MT_FORM_INDIRECT]) {
        mt_tree_null(&json->tree, row, key);
        return;
    }
    cJSON *object = mt_tree_add_object(&json->tree, row, key);
    add_three(json, object, "threads", shape->threads[0], shape->threads[1], shape->threads[2]);
    add_three(json, object, "threadgroup", shape->threadgroup[0], shape->threadgroup[1],
              shape->threadgroup[2]);
}

static void add_gpu_time(struct mt_json *json, cJSON *row, struct mt_kernel *kernel)
{
    struct mt_tree *tree = &json->tree;
    uint64_t covered = kernel->covered_dispatches;
    if (!covered) {
        mt_tree_null(tree, row, "gpu_time");
        return;
    }
    cJSON *object = mt_tree_add_object(tree, row, "gpu_time");
    mt_tree_word(tree, object, "how", "exact");
    mt_tree_u64(tree, object, "covered_dispatches", covered);
    mt_tree_u64(tree, object, "covered_command_buffers", kernel->per_command_buffer.count);
    mt_tree_u64(tree, object, "total_ns", kernel->per_command_buffer.total);
    mt_tree_u64(tree, object, "mean_per_dispatch_ns", kernel->per_command_buffer.total / covered);
    mt_tree_samples(tree, object, "per_command_buffer", &kernel->per_command_buffer);
    mt_tree_samples(tree, object, "per_dispatch", &kernel->per_dispatch);
}

static cJSON *kernel_row(struct mt_json *json, struct mt_kernel *kernel)
{
    struct mt_tree *tree = &json->tree;
    cJSON *row = mt_tree_object(tree);
    mt_tree_u64(tree, row, "id", (uint64_t)(kernel - json->analysis->kernels) + 1);
    mt_tree_text(tree, row, "name", kernel->name);
    mt_tree_text(tree, row, "constants", kernel->constants);
    cJSON *pipelines = mt_tree_add_array(tree, row, "pipelines");
    for (uint32_t id = kernel->first_pipeline; id; id = json->analysis->pipeline_next[id])
        mt_tree_u64(tree, pipelines, NULL, id);
    mt_tree_u64(tree, row, "dispatches", kernel->dispatches);
    mt_tree_percent(tree, row, "dispatches_percent", kernel->dispatches, json->analysis->counts.dispatches);
    cJSON *forms = mt_tree_add_object(tree, row, "forms");
    mt_tree_u64(tree, forms, "threadgroups", kernel->forms[MT_FORM_THREADGROUPS]);
    mt_tree_u64(tree, forms, "threads", kernel->forms[MT_FORM_THREADS]);
    mt_tree_u64(tree, forms, "indirect", kernel->forms[MT_FORM_INDIRECT]);
    add_shape(json, row, "smallest", kernel, &kernel->smallest);
    add_shape(json, row, "largest", kernel, &kernel->largest);
    mt_tree_u64(tree, row, "threadgroup_memory_bytes", kernel->threadgroup_memory_bytes);
    mt_tree_time(tree, row, "first_ns", kernel->first_ns);
    mt_tree_time(tree, row, "last_ns", kernel->last_ns);
    add_gpu_time(json, row, kernel);
    return row;
}

void mt_json_kernels(struct mt_json *json)
{
    struct mt_analysis *analysis = json->analysis;
    struct mt_kernel **order = calloc(analysis->kernel_count, sizeof(struct mt_kernel *));
    bool first = true;
    if (!order) {
        json->tree.error = -ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < analysis->kernel_count; i++)
        order[i] = &analysis->kernels[i];
    qsort(order, analysis->kernel_count, sizeof(struct mt_kernel *), by_cost);
    mt_out_string(json->out, "[");
    for (uint32_t i = 0; i < analysis->kernel_count && !json->tree.error; i++) {
        if (order[i]->dispatches)
            mt_json_row(json, kernel_row(json, order[i]), &first);
    }
    mt_out_string(json->out, "]");
    free(order);
}

// ---- labels ----
static int by_gpu_time(const void *a, const void *b)
{
    const struct mt_label *left = *(const struct mt_label *const *)a;
    const struct mt_label *right = *(const struct mt_label *const *)b;
    if (left->gpu.total != right->gpu.total)
        return left->gpu.total > right->gpu.total ? -1 : 1;
    if (left->command_buffers != right->command_buffers)
        return left->command_buffers > right->command_buffers ? -1 : 1;
    return left < right ? -1 : left > right;
}

static cJSON *label_row(struct mt_json *json, struct mt_label *label)
{
    struct mt_tree *tree = &json->tree;
    cJSON *row = mt_tree_object(tree);
    mt_tree_text(tree, row, "label", label->name);
    mt_tree_bool(tree, row, "others", label == &json->analysis->other_labels);
    mt_tree_u64(tree, row, "command_buffers", label->command_buffers);
    mt_tree_u64(tree, row, "captured", label->captured);
    mt_tree_u64(tree, row, "failed", label->failed);
    mt_tree_u64(tree, row, "encoders", label->encoders);
    mt_tree_u64(tree, row, "dispatches", label->dispatches);
    mt_tree_u64(tree, row, "encode_ns", label->encode_ns);
    mt_tree_u64(tree, row, "waits", label->waits);
    mt_tree_u64(tree, row, "wait_ns", label->wait_ns);
    mt_tree_samples(tree, row, "gpu", &label->gpu);
    mt_tree_samples(tree, row, "submit_latency", &label->submit);
    return row;
}

void mt_json_labels(struct mt_json *json)
{
    struct mt_analysis *analysis = json->analysis;
    struct mt_label **order = calloc((size_t)analysis->label_count + 1, sizeof(struct mt_label *));
    bool first = true;
    if (!order) {
        json->tree.error = -ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < analysis->label_count; i++)
        order[i] = &analysis->labels[i];
    qsort(order, analysis->label_count, sizeof(struct mt_label *), by_gpu_time);
    order[analysis->label_count] = &analysis->other_labels;
    mt_out_string(json->out, "[");
    for (uint32_t i = 0; i <= analysis->label_count && !json->tree.error; i++) {
        if (order[i]->command_buffers)
            mt_json_row(json, label_row(json, order[i]), &first);
    }
    mt_out_string(json->out, "]");
    free(order);
}
