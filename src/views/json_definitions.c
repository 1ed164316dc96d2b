// SPDX-License-Identifier: MIT
// The sections about what the program made: devices, queues, threads, libraries, functions, pipelines; a row
// each, in order of their ids. Runs in tools, and in a target at its exit.
#include "views/json.h"

// Ids that no record defined have no row.
#define FOR_EACH_DEFINED(type, it, array, count)                                                             \
    for (const struct type *it = (array) + 1, *it##_end = (array) + (count); (count) && it < it##_end; it++) \
        if (it->id)

// ---- devices ----
static void add_sampling(struct mt_json *json, cJSON *row, uint32_t bits)
{
    static const char *const points[] = {"stage", "draw", "dispatch", "tile_dispatch", "blit"};
    cJSON *array = mt_tree_add_array(&json->tree, row, "sampling");
    for (uint32_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        if (bits >> i & 1)
            mt_tree_word(&json->tree, array, NULL, points[i]);
    }
}

// MTLGPUFamily counts from 1001 (Apple), 2001 (Mac), 3001 (Common).
static void add_family(struct mt_json *json, cJSON *row, uint32_t family)
{
    static const char *const rows[] = {"", "Apple", "Mac", "Common"};
    uint32_t kind = family / 1000, number = family % 1000;
    char name[32] = "";
    if (kind >= 1 && kind <= 3) {
        size_t length = strlen(rows[kind]);
        memcpy(name, rows[kind], length);
        *mt_format_u64(name + length, number) = 0;
    }
    mt_tree_word(&json->tree, row, "family", name[0] ? name : NULL);
}

static void add_device_record(struct mt_json *json, cJSON *row, const struct mt_rec_device *record)
{
    struct mt_tree *tree = &json->tree;
    add_family(json, row, record->family);
    mt_tree_id(tree, row, "metal", record->metal3 ? record->metal3 + 2 : 0);
    mt_tree_bool(tree, row, "unified_memory", record->flags & MT_DEVICE_UNIFIED);
    mt_tree_bool(tree, row, "low_power", record->flags & MT_DEVICE_LOW_POWER);
    add_sampling(json, row, record->sampling);
    mt_tree_u64(tree, row, "registry_id", record->registry);
    mt_tree_u64(tree, row, "working_set_bytes", record->working_set_bytes);
    mt_tree_u64(tree, row, "max_buffer_bytes", record->max_buffer_bytes);
    mt_tree_u64(tree, row, "max_threadgroup_memory_bytes", record->max_threadgroup_memory);
}

void mt_json_devices(struct mt_json *json)
{
    static const struct mt_rec_device nothing;
    bool first = true;
    mt_out_string(json->out, "[");
    FOR_EACH_DEFINED(mt_device, it, json->all->devices, json->all->device_count)
    {
        cJSON *row = mt_tree_object(&json->tree);
        mt_tree_u64(&json->tree, row, "id", it->id);
        mt_tree_text(&json->tree, row, "name", it->name);
        add_device_record(json, row, it->record ? it->record : &nothing);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}

// ---- queues and threads ----
void mt_json_queues(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    bool first = true;
    mt_out_string(json->out, "[");
    FOR_EACH_DEFINED(mt_queue, it, json->all->queues, json->all->queue_count)
    {
        const struct mt_queue_use *use = &json->analysis->queues[it->id];
        cJSON *row = mt_tree_object(tree);
        mt_tree_u64(tree, row, "id", it->id);
        mt_tree_id(tree, row, "device", it->device);
        mt_tree_text(tree, row, "label", it->label);
        mt_tree_id(tree, row, "max_command_buffers", it->max_buffers);
        mt_tree_bool(tree, row, "seen_late", it->seen_late);
        mt_tree_u64(tree, row, "command_buffers", use->command_buffers);
        mt_tree_u64(tree, row, "dispatches", use->dispatches);
        mt_tree_u64(tree, row, "gpu_sum_ns", use->gpu_ns);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}

void mt_json_threads(struct mt_json *json)
{
    bool first = true;
    mt_out_string(json->out, "[");
    FOR_EACH_DEFINED(mt_thread, it, json->all->threads, json->all->thread_count)
    {
        cJSON *row = mt_tree_object(&json->tree);
        mt_tree_u64(&json->tree, row, "id", it->id);
        mt_tree_u64(&json->tree, row, "os_thread", it->os_thread);
        mt_tree_text(&json->tree, row, "name", it->name);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}

// ---- libraries, functions, pipelines ----
static int64_t took(int64_t begin_ns, int64_t end_ns)
{
    return begin_ns != MT_NO_TIME && end_ns >= begin_ns ? end_ns - begin_ns : MT_NO_TIME;
}

static const char *library_form(uint32_t form)
{
    static const char *const names[] = {"source", "file", "url", "data", "default", "bundle", "other"};
    form &= ~(uint32_t)MT_LIBRARY_ASYNC;
    return names[form < MT_LIBRARY_OTHER ? form : MT_LIBRARY_OTHER];
}

void mt_json_libraries(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    bool first = true;
    mt_out_string(json->out, "[");
    FOR_EACH_DEFINED(mt_library, it, json->all->libraries, json->all->library_count)
    {
        cJSON *row = mt_tree_object(tree);
        mt_tree_u64(tree, row, "id", it->id);
        mt_tree_id(tree, row, "device", it->device);
        mt_tree_word(tree, row, "form", library_form(it->form));
        mt_tree_bool(tree, row, "async", it->form & MT_LIBRARY_ASYNC);
        mt_tree_text(tree, row, "name", it->name);
        mt_tree_u64(tree, row, "source_bytes", it->source_bytes);
        mt_tree_time(tree, row, "begin_ns", it->begin_ns);
        mt_tree_time(tree, row, "took_ns", took(it->begin_ns, it->end_ns));
        mt_tree_text(tree, row, "error", it->error);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}

void mt_json_functions(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    bool first = true;
    mt_out_string(json->out, "[");
    FOR_EACH_DEFINED(mt_function, it, json->all->functions, json->all->function_count)
    {
        cJSON *row = mt_tree_object(tree);
        mt_tree_u64(tree, row, "id", it->id);
        mt_tree_id(tree, row, "library", it->library);
        mt_tree_text(tree, row, "name", it->name);
        mt_tree_text(tree, row, "constants", it->constants);
        mt_tree_text(tree, row, "error", it->error);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}

static void add_pipeline_flags(struct mt_json *json, cJSON *row, uint32_t flags)
{
    static const char *const names[] = {"async", "descriptor", "reflection", "seen_late"};
    cJSON *array = mt_tree_add_array(&json->tree, row, "flags");
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (flags >> i & 1)
            mt_tree_word(&json->tree, array, NULL, names[i]);
    }
}

void mt_json_pipelines(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    bool first = true;
    mt_out_string(json->out, "[");
    FOR_EACH_DEFINED(mt_pipeline, it, json->all->pipelines, json->all->pipeline_count)
    {
        uint32_t kernel = json->analysis->pipeline_kernel[it->id];
        cJSON *row = mt_tree_object(tree);
        mt_tree_u64(tree, row, "id", it->id);
        mt_tree_id(tree, row, "device", it->device);
        mt_tree_id(tree, row, "function", it->function);
        mt_tree_id(tree, row, "kernel", json->analysis->kernels[kernel].dispatches ? kernel + 1 : 0);
        mt_tree_text(tree, row, "name", it->name);
        mt_tree_text(tree, row, "constants", it->constants);
        add_pipeline_flags(json, row, it->flags);
        mt_tree_u64(tree, row, "max_threads", it->max_threads);
        mt_tree_u64(tree, row, "execution_width", it->width);
        mt_tree_u64(tree, row, "static_threadgroup_bytes", it->static_threadgroup_bytes);
        mt_tree_time(tree, row, "begin_ns", it->begin_ns);
        mt_tree_time(tree, row, "took_ns", took(it->begin_ns, it->end_ns));
        mt_tree_text(tree, row, "error", it->error);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}
