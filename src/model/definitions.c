// SPDX-License-Identifier: MIT
// Definitions: devices, queues, libraries, functions, pipelines, threads, notes. First all records are
// collected as they are, since a text may come behind what it names; then labels given later, and the clock,
// from one pass over the events; then the arrays that the model shows.
#include "model/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread_record {
    uint64_t os_thread;
    uint32_t defined, name;
};
struct collected { // records by id; their time is that of the last label
    struct mt_model *model;
    struct mt_table devices, queues, libraries, functions, pipelines, threads;
    struct mt_rec_text *notes;
    uint32_t note_count, note_capacity;
    struct mt_rec_process process;
};

// ---- definition records ----

static int keep_record(struct collected *all, struct mt_table *table, const struct mt_rec_any *record)
{
    int error;
    void *entry = mt_table_at(table, mt_rec_small(record->word), &error);
    if (entry)
        memcpy(entry, record, table->entry_bytes);
    else if (!error)
        all->model->refused_definitions++;
    return error;
}

static int keep_note(struct collected *all, const struct mt_rec_text *record)
{
    if (record->kind < MT_TEXT_ARGUMENT || record->kind > MT_TEXT_WARNING)
        return 0; // of a later minor version
    if (all->note_count == all->note_capacity) {
        uint32_t capacity = all->note_capacity ? all->note_capacity * 2 : 32;
        struct mt_rec_text *notes = realloc(all->notes, capacity * sizeof *notes);
        if (!notes)
            return -ENOMEM;
        all->notes = notes;
        all->note_capacity = capacity;
    }
    all->notes[all->note_count++] = *record;
    return 0;
}

static int keep_thread(struct collected *all, uint32_t id, uint64_t os_thread, uint32_t name)
{
    int error;
    struct thread_record *thread = mt_table_at(&all->threads, id, &error);
    if (!thread)
        return error;
    thread->defined = 1;
    if (os_thread)
        thread->os_thread = os_thread;
    if (name)
        thread->name = name;
    return 0;
}

static int keep_string(struct collected *all, const struct mt_rec_any *record)
{
    int status = mt_texts_add(&all->model->texts, (const struct mt_rec_string *)record);
    if (status != -ERANGE)
        return status;
    all->model->refused_definitions++;
    return 0;
}

static int keep_definition(struct collected *all, const struct mt_rec_any *record)
{
    const struct mt_rec_thread_name *thread = (const struct mt_rec_thread_name *)record;
    switch (mt_rec_type(record->word)) {
    case MT_REC_STRING:
        return keep_string(all, record);
    case MT_REC_PROCESS:
        memcpy(&all->process, record, sizeof all->process);
        return 0;
    case MT_REC_TEXT:
        return keep_note(all, (const struct mt_rec_text *)record);
    case MT_REC_DEVICE:
        return keep_record(all, &all->devices, record);
    case MT_REC_QUEUE:
        return keep_record(all, &all->queues, record);
    case MT_REC_LIBRARY:
        return keep_record(all, &all->libraries, record);
    case MT_REC_FUNCTION:
        return keep_record(all, &all->functions, record);
    case MT_REC_PIPELINE:
        return keep_record(all, &all->pipelines, record);
    case MT_REC_THREAD_NAME:
        return keep_thread(all, mt_rec_small(record->word), thread->os_thread, thread->name);
    default:
        return 0;
    }
}

static uint32_t record_slots(const struct mt_rec_any *record)
{
    uint32_t length;
    memcpy(&length, record->rest, sizeof length);
    return mt_rec_slots(mt_rec_type(record->word), length);
}

static int visit_definitions(void *context, const struct mt_spool_stream *from,
                             const struct mt_rec_any *slots, size_t count)
{
    (void)from;
    for (size_t i = 0; i < count; i += record_slots(&slots[i])) {
        int status = keep_definition(context, &slots[i]);
        if (status)
            return status;
    }
    return 0;
}

// ---- events that say something about definitions ----

static struct mt_rec_any *labelled(const struct collected *all, const struct mt_rec_label *label)
{
    switch (label->kind) {
    case MT_OBJECT_QUEUE:
        return mt_table_find(&all->queues, label->object);
    case MT_OBJECT_LIBRARY:
        return mt_table_find(&all->libraries, label->object);
    case MT_OBJECT_FUNCTION:
        return mt_table_find(&all->functions, label->object);
    case MT_OBJECT_PIPELINE:
        return mt_table_find(&all->pipelines, label->object);
    default:
        return NULL;
    }
}

// The last label wins; streams come one after the other, so that the times decide. A function keeps the name
// it has in its library, and a label that was taken away leaves the name that was there before.
static void apply_label(struct collected *all, const struct mt_rec_label *label)
{
    struct mt_rec_any *record = labelled(all, label);
    uint32_t string = mt_rec_small(label->word);
    if (!record || !record->word || record->time > label->time)
        return;
    record->time = label->time;
    if (label->kind == MT_OBJECT_QUEUE)
        ((struct mt_rec_queue *)record)->label = string;
    else if (label->kind == MT_OBJECT_LIBRARY && string)
        ((struct mt_rec_library *)record)->name = string;
    else if (label->kind == MT_OBJECT_PIPELINE && string)
        ((struct mt_rec_pipeline *)record)->name = string;
    else if (label->kind == MT_OBJECT_FUNCTION && !((struct mt_rec_function *)record)->name)
        ((struct mt_rec_function *)record)->name = string;
}

static int visit_events(void *context, const struct mt_spool_stream *from, const struct mt_rec_any *slots,
                        size_t count)
{
    struct collected *all = context;
    (void)from;
    (void)count;
    const struct mt_rec_thread *thread = (const struct mt_rec_thread *)slots;
    switch (mt_rec_type(slots->word)) {
    case MT_REC_ANCHOR:
        mt_clock_add(&all->model->clock, (const struct mt_rec_anchor *)slots);
        return 0;
    case MT_REC_LABEL:
        apply_label(all, (const struct mt_rec_label *)slots);
        return 0;
    case MT_REC_DROP:
        all->model->drop_records += ((const struct mt_rec_drop *)slots)->records;
        return 0;
    case MT_REC_THREAD:
        return keep_thread(all, thread->thread, thread->os_thread, 0);
    default:
        return 0;
    }
}

// ---- the arrays ----

static int show_devices(struct mt_model *model, const struct mt_table *from)
{
    // Records lie behind the entries, in one allocation.
    size_t count = from->count ? from->count : 1;
    struct mt_device *devices = calloc(count, sizeof *devices + sizeof(struct mt_rec_device));
    if (!devices)
        return -ENOMEM;
    struct mt_rec_device *records = (struct mt_rec_device *)(devices + count);
    for (uint32_t i = 1; i < from->count; i++) {
        records[i] = *(const struct mt_rec_device *)mt_table_find(from, i);
        devices[i].id = records[i].word ? i : 0;
        devices[i].name = mt_texts_get(&model->texts, records[i].name);
        devices[i].record = &records[i];
    }
    model->definitions.devices = devices;
    model->definitions.device_count = (uint32_t)count;
    return 0;
}

static int show_queues(struct mt_model *model, const struct mt_table *from)
{
    uint32_t count = from->count ? from->count : 1;
    struct mt_queue *queues = calloc(count, sizeof *queues);
    if (!queues)
        return -ENOMEM;
    for (uint32_t i = 1; i < from->count; i++) {
        const struct mt_rec_queue *record = mt_table_find(from, i);
        queues[i] = (struct mt_queue){
            .id = record->word ? i : 0,
            .device = record->device,
            .max_buffers = record->max_buffers,
            .label = mt_texts_get(&model->texts, record->label),
            .seen_late = record->seen_late != 0,
        };
    }
    model->definitions.queues = queues;
    model->definitions.queue_count = count;
    return 0;
}

static int show_libraries(struct mt_model *model, const struct mt_table *from)
{
    uint32_t count = from->count ? from->count : 1;
    struct mt_library *libraries = calloc(count, sizeof *libraries);
    if (!libraries)
        return -ENOMEM;
    for (uint32_t i = 1; i < from->count; i++) {
        const struct mt_rec_library *record = mt_table_find(from, i);
        libraries[i] = (struct mt_library){
            .id = record->word ? i : 0,
            .device = record->device,
            .form = record->form,
            .name = mt_texts_get(&model->texts, record->name),
            .error = mt_texts_get(&model->texts, record->error),
            .begin_ns = mt_clock_ns_or_none(&model->clock, record->begin),
            .end_ns = mt_clock_ns_or_none(&model->clock, record->end),
            .source_bytes = record->source_bytes,
        };
    }
    model->definitions.libraries = libraries;
    model->definitions.library_count = count;
    return 0;
}

static int show_functions(struct mt_model *model, const struct mt_table *from)
{
    uint32_t count = from->count ? from->count : 1;
    struct mt_function *functions = calloc(count, sizeof *functions);
    if (!functions)
        return -ENOMEM;
    for (uint32_t i = 1; i < from->count; i++) {
        const struct mt_rec_function *record = mt_table_find(from, i);
        functions[i] = (struct mt_function){
            .id = record->word ? i : 0,
            .library = record->library,
            .name = mt_texts_get(&model->texts, record->name),
            .constants = mt_texts_get(&model->texts, record->constants),
            .error = mt_texts_get(&model->texts, record->error),
        };
    }
    model->definitions.functions = functions;
    model->definitions.function_count = count;
    return 0;
}

static const struct mt_function *function_of(const struct mt_model *model, uint32_t id)
{
    return id < model->definitions.function_count ? &model->definitions.functions[id]
                                                  : &model->definitions.functions[0];
}

// Its label, the function's name, or its number: never empty.
static int name_pipeline(struct mt_model *model, uint32_t id, struct mt_pipeline *pipeline)
{
    if (!pipeline->name.length)
        pipeline->name = function_of(model, pipeline->function)->name;
    if (pipeline->name.length)
        return 0;
    char name[32];
    int length = snprintf(name, sizeof name, "pipeline %u", id);
    pipeline->name =
        (struct mt_text){mt_texts_keep(&model->texts, name, (size_t)length), (uint32_t)length, false};
    return pipeline->name.bytes ? 0 : -ENOMEM;
}

static int show_pipelines(struct mt_model *model, const struct mt_table *from)
{
    uint32_t count = from->count ? from->count : 1;
    struct mt_pipeline *pipelines = calloc(count, sizeof *pipelines);
    if (!pipelines)
        return -ENOMEM;
    model->definitions.pipelines = pipelines;
    model->definitions.pipeline_count = count;
    int status = 0;
    for (uint32_t i = 1; i < from->count && !status; i++) {
        const struct mt_rec_pipeline *record = mt_table_find(from, i);
        pipelines[i] = (struct mt_pipeline){
            .id = record->word ? i : 0,
            .function = record->function,
            .device = record->device,
            .flags = record->flags,
            .name = mt_texts_get(&model->texts, record->name),
            .constants = mt_texts_get(&model->texts, record->constants),
            .error = mt_texts_get(&model->texts, record->error),
            .begin_ns = mt_clock_ns_or_none(&model->clock, record->begin),
            .end_ns = mt_clock_ns_or_none(&model->clock, record->end),
            .max_threads = record->max_threads,
            .width = record->width,
            .static_threadgroup_bytes = record->static_threadgroup_bytes,
        };
        if (!pipelines[i].constants.length)
            pipelines[i].constants = function_of(model, record->function)->constants;
        status = name_pipeline(model, i, &pipelines[i]);
    }
    return status;
}

static int show_threads(struct mt_model *model, const struct mt_table *from)
{
    uint32_t count = from->count ? from->count : 1;
    struct mt_thread *threads = calloc(count, sizeof *threads);
    if (!threads)
        return -ENOMEM;
    for (uint32_t i = 1; i < from->count; i++) {
        const struct thread_record *record = mt_table_find(from, i);
        threads[i] = (struct mt_thread){
            .id = record->defined ? i : 0,
            .os_thread = record->os_thread,
            .name = mt_texts_get(&model->texts, record->name),
        };
    }
    model->definitions.threads = threads;
    model->definitions.thread_count = count;
    return 0;
}

static int show_notes(struct mt_model *model, const struct collected *all)
{
    struct mt_note *notes = calloc(all->note_count + (size_t)1, sizeof *notes);
    if (!notes)
        return -ENOMEM;
    for (uint32_t i = 0; i < all->note_count; i++)
        notes[i] = (struct mt_note){
            .kind = (enum mt_text_kind)all->notes[i].kind,
            .number = all->notes[i].number,
            .name = mt_texts_get(&model->texts, all->notes[i].name),
            .text = mt_texts_get(&model->texts, mt_rec_small(all->notes[i].word)),
        };
    model->definitions.notes = notes;
    model->definitions.note_count = all->note_count;
    return 0;
}

static void show_process(struct mt_model *model, const struct mt_rec_process *record)
{
    const struct mt_spool_header *header = mt_spool_header(model->spool);
    bool known = header->state >= MT_SPOOL_RUNNING && header->state <= MT_SPOOL_EXHAUSTED;
    bool ended = header->state == MT_SPOOL_ENDED || header->state == MT_SPOOL_STOPPED;
    model->definitions.process = (struct mt_process){
        .pid = header->pid,
        .parent = record->parent,
        .program = mt_texts_get(&model->texts, record->program),
        .host = mt_texts_get(&model->texts, record->host),
        .system = mt_texts_get(&model->texts, record->system),
        .tap_version = mt_texts_get(&model->texts, record->tap_version),
        .start_wall_ns = header->start_wall_ns,
        .end_ns = ended ? mt_clock_ns_or_none(&model->clock, header->end_ticks) : MT_NO_TIME,
        .state = known ? (enum mt_spool_state)header->state : MT_SPOOL_RUNNING,
    };
}

static int show_all(struct collected *all)
{
    struct mt_model *model = all->model;
    show_process(model, &all->process);
    int status = show_devices(model, &all->devices);
    if (!status)
        status = show_queues(model, &all->queues);
    if (!status)
        status = show_libraries(model, &all->libraries);
    if (!status)
        status = show_functions(model, &all->functions);
    if (!status)
        status = show_pipelines(model, &all->pipelines);
    if (!status)
        status = show_threads(model, &all->threads);
    if (!status)
        status = show_notes(model, all);
    return status;
}

int mt_definitions_read(struct mt_model *model)
{
    const uint64_t types = UINT64_C(1) << MT_REC_ANCHOR | UINT64_C(1) << MT_REC_LABEL |
                           UINT64_C(1) << MT_REC_DROP | UINT64_C(1) << MT_REC_THREAD;
    struct collected all = {
        .model = model,
        .devices.entry_bytes = sizeof(struct mt_rec_device),
        .queues.entry_bytes = sizeof(struct mt_rec_queue),
        .libraries.entry_bytes = sizeof(struct mt_rec_library),
        .functions.entry_bytes = sizeof(struct mt_rec_function),
        .pipelines.entry_bytes = sizeof(struct mt_rec_pipeline),
        .threads.entry_bytes = sizeof(struct thread_record),
    };
    int status = mt_clock_begin(&model->clock, mt_spool_header(model->spool));
    if (!status)
        status = mt_spool_definitions(model->spool, visit_definitions, &all);
    if (!status)
        status = mt_spool_events_of(model->spool, types, visit_events, &all);
    if (!status) {
        mt_clock_finish(&model->clock);
        status = show_all(&all);
    }
    mt_table_free(&all.devices);
    mt_table_free(&all.queues);
    mt_table_free(&all.libraries);
    mt_table_free(&all.functions);
    mt_table_free(&all.pipelines);
    mt_table_free(&all.threads);
    free(all.notes);
    return status;
}

void mt_definitions_free(struct mt_model *model)
{
    struct mt_definitions *all = &model->definitions;
    free((void *)all->devices);
    free((void *)all->queues);
    free((void *)all->libraries);
    free((void *)all->functions);
    free((void *)all->pipelines);
    free((void *)all->threads);
    free((void *)all->notes);
}
