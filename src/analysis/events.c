// SPDX-License-Identifier: MIT
// The callbacks of the analysis's pass over a run. Each adds to the statistics in place; the first failure is
// kept and ends the counting of what needs memory. Must never keep a pointer to an event.
#include "analysis/analysis.h"

#include <errno.h>
#include <stdlib.h>

static void note_time(struct mt_analysis *analysis, int64_t time_ns)
{
    if (time_ns > analysis->last_ns) // MT_NO_TIME is the smallest number there is
        analysis->last_ns = time_ns;
}

static void keep_error(struct mt_analysis *analysis, int error)
{
    if (error && !analysis->error)
        analysis->error = error;
}

static void add_sample(struct mt_analysis *analysis, struct mt_samples *samples, uint64_t value)
{
    keep_error(analysis, mt_samples_add(samples, value));
}

static bool both_known(int64_t begin_ns, int64_t end_ns)
{
    return begin_ns != MT_NO_TIME && end_ns != MT_NO_TIME;
}

// From one moment to a later one. The moments may come from two clocks, so the later one can seem earlier.
static void add_between(struct mt_analysis *analysis, struct mt_samples *samples, int64_t begin_ns,
                        int64_t end_ns)
{
    if (!both_known(begin_ns, end_ns))
        return;
    if (end_ns < begin_ns)
        analysis->counts.backward_times++;
    else
        add_sample(analysis, samples, (uint64_t)(end_ns - begin_ns));
}

// ---- dispatches: the callbacks that count for speed ----
enum mt_dispatch_form mt_dispatch_form_of(const struct mt_dispatch *dispatch)
{
    if (dispatch->form == MT_REC_DISPATCH_INDIRECT)
        return MT_FORM_INDIRECT;
    return dispatch->form == MT_REC_DISPATCH_THREADS ? MT_FORM_THREADS : MT_FORM_THREADGROUPS;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static void note_shape(struct mt_kernel *kernel, const struct mt_dispatch *dispatch, bool in_groups)
{
    struct mt_shape shape;
    for (int i = 0; i < 3; i++) {
        shape.threadgroup[i] = dispatch->threadgroup[i];
        shape.threads[i] =
            in_groups ? multiply(dispatch->grid[i], dispatch->threadgroup[i]) : dispatch->grid[i];
    }
    shape.volume = multiply(multiply(shape.threads[0], shape.threads[1]), shape.threads[2]);
    if (!kernel->any_shape || shape.volume < kernel->smallest.volume)
        kernel->smallest = shape;
    if (!kernel->any_shape || shape.volume > kernel->largest.volume)
        kernel->largest = shape;
    kernel->any_shape = true;
}

static uint32_t kernel_of(const struct mt_analysis *analysis, const struct mt_rec_any *record)
{
    uint32_t pipeline = mt_rec_small(record->word);
    bool known = pipeline && pipeline < analysis->pipeline_count;
    return known ? analysis->pipeline_kernel[pipeline] : analysis->kernel_count - 1;
}

// All that is to be noted of a record, once for those that are alike; gives its form.
static enum mt_dispatch_form note_record(struct mt_kernel *kernel, const struct mt_rec_any *record)
{
    struct mt_dispatch it = {0};
    mt_dispatch_read(&it, record);
    enum mt_dispatch_form form = mt_dispatch_form_of(&it);
    if (form != MT_FORM_INDIRECT)
        note_shape(kernel, &it, form == MT_FORM_THREADGROUPS);
    if (it.threadgroup_memory_bytes > kernel->threadgroup_memory_bytes)
        kernel->threadgroup_memory_bytes = it.threadgroup_memory_bytes;
    if (!kernel->any)
        kernel->first_ticks = record->time;
    kernel->any = true;
    return form;
}

static void count_forms(struct mt_kernel *kernel, enum mt_dispatch_form form, uint64_t count)
{
    kernel->dispatches += count;
    kernel->forms[form] += count;
}

static void count_alike(struct mt_analysis *analysis, struct mt_alike *alike)
{
    struct mt_dispatch it = {.form = mt_rec_type((uint32_t)alike->key.words[0])};
    if (alike->count)
        count_forms(&analysis->kernels[alike->kernel], mt_dispatch_form_of(&it), alike->count);
    alike->count = 0;
}

void mt_analysis_count_alike(struct mt_analysis *analysis)
{
    for (size_t i = 0; i < sizeof(analysis->alike) / sizeof(analysis->alike[0]); i++)
        count_alike(analysis, &analysis->alike[i]);
}

static __attribute__((noinline)) void replace_alike(struct mt_analysis *analysis, struct mt_alike *alike,
                                                    const struct mt_rec_any *record)
{
    count_alike(analysis, alike);
    alike->key = mt_dispatch_key_of(record);
    alike->kernel = kernel_of(analysis, record);
    (void)note_record(&analysis->kernels[alike->kernel], record);
}

// Counts one dispatch; gives the number of its kernel.
static inline uint32_t add_dispatch(struct mt_analysis *analysis, const struct mt_rec_any *record)
{
    if (__builtin_expect(mt_rec_type(record->word) == MT_REC_DISPATCH_WIDE, 0)) {
        uint32_t number = kernel_of(analysis, record);
        count_forms(&analysis->kernels[number], note_record(&analysis->kernels[number], record), 1);
        return number;
    }
    struct mt_dispatch_key key = mt_dispatch_key_of(record);
    struct mt_alike *alike = &analysis->alike[mt_dispatch_key_place(&key, MT_ALIKE_BITS)];
    if (__builtin_expect(!mt_dispatch_key_is(&alike->key, &key), 0))
        replace_alike(analysis, alike, record);
    alike->count++;
    return alike->kernel;
}

// All are of one command buffer, and the last is the latest: what concerns both is done once.
static void on_dispatches(void *context, struct mt_model *model, const struct mt_dispatches *them)
{
    struct mt_analysis *analysis = context;
    const struct mt_rec_any *slots = them->slots, *last = slots;
    uint32_t only = kernel_of(analysis, slots);
    for (size_t i = 0; i < them->slot_count; i += mt_dispatch_slots(last)) {
        last = &slots[i];
        uint32_t number = add_dispatch(analysis, last);
        analysis->kernels[number].last_ticks = last->time;
        only = number == only ? number : MT_KERNEL_MIXED;
    }
    uint32_t command_buffer = them->common.command_buffer;
    if (command_buffer)
        keep_error(analysis, mt_contents_dispatches(&analysis->contents, command_buffer, only, them->count));
    note_time(analysis, mt_model_time_ns(model, last->time));
}

// ---- command buffers ----
static void grow_labels(struct mt_analysis *analysis)
{
    uint32_t room = analysis->label_room ? analysis->label_room * 2 : 16;
    struct mt_label *labels = realloc(analysis->labels, room * sizeof(*labels));
    if (!labels) {
        keep_error(analysis, -ENOMEM);
        return;
    }
    analysis->labels = labels;
    analysis->label_room = room;
}

static struct mt_label *label_of(struct mt_analysis *analysis, struct mt_text name)
{
    struct mt_text none = {0};
    int error = 0;
    uint32_t number = mt_names_number(&analysis->label_names, name, none, MT_ANALYSIS_MAX_LABELS, &error);
    keep_error(analysis, error);
    if (number == MT_NO_NAME)
        return &analysis->other_labels;
    if (number == analysis->label_count) {
        if (analysis->label_count == analysis->label_room)
            grow_labels(analysis);
        if (analysis->label_count == analysis->label_room)
            return &analysis->other_labels;
        analysis->labels[analysis->label_count++] = (struct mt_label){.name = name};
    }
    return number < analysis->label_count ? &analysis->labels[number] : &analysis->other_labels;
}

static void count_command_buffer(struct mt_analysis *analysis, const struct mt_command_buffer *it)
{
    struct mt_analysis_counts *counts = &analysis->counts;
    counts->command_buffers++;
    counts->cb_ends[it->end]++;
    counts->handlers += it->handlers;
    counts->presents += it->presents;
    counts->event_waits += it->event_waits;
    counts->event_signals += it->event_signals;
    counts->captured += (it->flags & MT_CB_CAPTURED) != 0;
    const int64_t times[] = {it->create_ns, it->commit_ns, it->gpu_end_ns, it->completed_ns};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        note_time(analysis, times[i]);
}

// A kernel's own time is that of a command buffer with nothing else in it.
static void add_kernel_time(struct mt_analysis *analysis, const struct mt_command_buffer *it,
                            const struct mt_content *content, uint64_t gpu_ns)
{
    bool alone = content->kernel != MT_KERNEL_MIXED && content->dispatches == it->dispatches && !it->blits &&
                 !it->executes && !it->presents && !it->event_waits;
    bool whole = it->end == MT_CB_COMPLETED && it->create_ns != MT_NO_TIME && !(it->flags & MT_CB_SEEN_LATE);
    if (!alone || !whole || !content->dispatches || content->kernel == analysis->kernel_count - 1)
        return;
    struct mt_kernel *kernel = &analysis->kernels[content->kernel];
    kernel->covered_dispatches += content->dispatches;
    add_sample(analysis, &kernel->per_command_buffer, gpu_ns);
    if (content->dispatches == 1)
        add_sample(analysis, &kernel->per_dispatch, gpu_ns);
}

static void add_gpu_time(struct mt_analysis *analysis, const struct mt_command_buffer *it,
                         struct mt_label *label, const struct mt_content *content)
{
    if (!both_known(it->gpu_start_ns, it->gpu_end_ns) || it->gpu_end_ns < it->gpu_start_ns) {
        analysis->counts.without_gpu_time++;
        return;
    }
    keep_error(analysis, mt_busy_add(&analysis->busy_all, it->gpu_start_ns, it->gpu_end_ns));
    if (it->flags & MT_CB_CAPTURED)
        return;
    uint64_t gpu_ns = (uint64_t)(it->gpu_end_ns - it->gpu_start_ns);
    keep_error(analysis, mt_busy_add(&analysis->busy, it->gpu_start_ns, it->gpu_end_ns));
    add_sample(analysis, &analysis->gpu, gpu_ns);
    add_sample(analysis, &label->gpu, gpu_ns);
    analysis->queues[it->queue < analysis->queue_count ? it->queue : 0].gpu_ns += gpu_ns;
    add_kernel_time(analysis, it, content, gpu_ns);
}

static void add_cpu_times(struct mt_analysis *analysis, const struct mt_command_buffer *it,
                          struct mt_label *label)
{
    if (it->encode_ns) // 0: none of its encoders ended
        add_sample(analysis, &analysis->encode, it->encode_ns);
    label->encode_ns += it->encode_ns;
    label->waits += it->waits;
    label->wait_ns += it->wait_ns;
    add_between(analysis, &analysis->submit, it->commit_ns, it->gpu_start_ns);
    add_between(analysis, &analysis->schedule, it->commit_ns, it->scheduled_ns);
    add_between(analysis, &analysis->queue_wait, it->scheduled_ns, it->gpu_start_ns);
    add_between(analysis, &analysis->completion, it->gpu_end_ns, it->completed_ns);
    if (both_known(it->commit_ns, it->gpu_start_ns) && it->gpu_start_ns >= it->commit_ns)
        add_sample(analysis, &label->submit, (uint64_t)(it->gpu_start_ns - it->commit_ns));
}

static void on_command_buffer(void *context, const struct mt_model *model, const struct mt_command_buffer *it)
{
    struct mt_analysis *analysis = context;
    struct mt_content content = {.kernel = MT_KERNEL_MIXED};
    (void)mt_contents_take(&analysis->contents, it->id, &content);
    count_command_buffer(analysis, it);
    struct mt_label *label = label_of(analysis, it->label);
    label->command_buffers++;
    label->dispatches += it->dispatches;
    label->encoders += it->encoders;
    struct mt_queue_use *queue = &analysis->queues[it->queue < analysis->queue_count ? it->queue : 0];
    queue->command_buffers++;
    queue->dispatches += it->dispatches;
    if (it->end == MT_CB_FAILED) {
        label->failed++;
        mt_analysis_add_error(analysis, &(struct mt_error_entry){MT_OBJECT_COMMAND_BUFFER, it->id, it->error,
                                                                 it->label, it->completed_ns});
    }
    add_gpu_time(analysis, it, label, &content);
    if (it->flags & MT_CB_CAPTURED)
        label->captured++;
    else
        add_cpu_times(analysis, it, label);
    int64_t horizon = mt_model_horizon_ns(model);
    mt_busy_fold(&analysis->busy, horizon);
    mt_busy_fold(&analysis->busy_all, horizon);
}

// ---- the rest ----
static void on_encoder(void *context, const struct mt_model *model, const struct mt_encoder *it)
{
    (void)model;
    struct mt_analysis *analysis = context;
    struct mt_analysis_counts *counts = &analysis->counts;
    counts->encoders++;
    counts->encoder_kinds[it->kind < MT_ENCODER_KINDS ? it->kind : MT_ENCODER_OTHER]++;
    counts->unended_encoders += it->end_ns == MT_NO_TIME;
    counts->barriers += it->barriers;
    counts->fence_waits += it->fence_waits;
    counts->fence_updates += it->fence_updates;
    counts->blits += it->blits;
    counts->blit_bytes += it->blit_bytes;
    counts->executes += it->executes;
    counts->signposts += it->signposts;
    note_time(analysis, it->begin_ns);
    note_time(analysis, it->end_ns);
    if (it->kind == MT_ENCODER_COMPUTE || !it->command_buffer)
        return;
    int error = 0;
    struct mt_content *content =
        mt_contents_get(&analysis->contents, it->command_buffer, MT_KERNEL_MIXED, &error);
    keep_error(analysis, error);
    if (content)
        content->kernel = MT_KERNEL_MIXED;
}

static void on_wait(void *context, const struct mt_model *model, const struct mt_wait *it)
{
    (void)model;
    struct mt_analysis *analysis = context;
    analysis->counts.waits++;
    analysis->counts.unended_waits += it->end_ns == MT_NO_TIME;
    if (it->kind < MT_WAIT_KINDS)
        add_between(analysis, &analysis->waits[it->kind], it->begin_ns, it->end_ns);
    note_time(analysis, it->begin_ns);
    note_time(analysis, it->end_ns);
}

static int64_t change_of(const struct mt_memory_event *it)
{
    unsigned kind = (unsigned)it->kind & ~(unsigned)MT_MEMORY_FREE;
    if (kind == MT_MEMORY_HEAP_BUFFER) // its heap counts
        return 0;
    return (unsigned)it->kind & MT_MEMORY_FREE ? -(int64_t)it->bytes : (int64_t)it->bytes;
}

// What a thread notes as the total and when it does so are two moments, so with several threads the last
// total need not be the latest: the changes are added up. Where some are gone, the totals are all there is.
static void follow_total(struct mt_memory_use *memory, const struct mt_model *model,
                         const struct mt_memory_event *it)
{
    struct mt_loss loss;
    mt_model_loss(model, &loss);
    if (loss.overwritten_records || loss.dropped_records)
        memory->now_bytes = it->total_bytes;
    else
        memory->now_bytes += (uint64_t)change_of(it);
    if (memory->now_bytes > memory->peak_bytes) {
        memory->peak_bytes = memory->now_bytes;
        memory->peak_ns = it->time_ns;
    }
}

static void on_memory(void *context, const struct mt_model *model, const struct mt_memory_event *it)
{
    struct mt_analysis *analysis = context;
    struct mt_memory_use *memory = &analysis->memory;
    note_time(analysis, it->time_ns);
    follow_total(memory, model, it);
    analysis->counts.memory_events++;
    unsigned kind = (unsigned)it->kind & ~(unsigned)MT_MEMORY_FREE;
    if (kind >= MT_MEMORY_KINDS)
        return;
    if ((unsigned)it->kind & MT_MEMORY_FREE) {
        memory->kinds[kind].releases++;
        memory->kinds[kind].released_bytes += it->bytes;
    } else {
        memory->kinds[kind].allocations++;
        memory->kinds[kind].allocated_bytes += it->bytes;
    }
}

static void on_capture(void *context, const struct mt_model *model, const struct mt_capture_event_info *it)
{
    (void)model;
    struct mt_analysis *analysis = context;
    analysis->counts.captures++;
    note_time(analysis, it->time_ns);
    if (analysis->capture_count == MT_ANALYSIS_MAX_LISTED)
        return;
    if (!analysis->captures)
        analysis->captures = calloc(MT_ANALYSIS_MAX_LISTED, sizeof(*analysis->captures));
    if (analysis->captures)
        analysis->captures[analysis->capture_count++] = *it;
    else
        keep_error(analysis, -ENOMEM);
}

void mt_analysis_add_error(struct mt_analysis *analysis, const struct mt_error_entry *entry)
{
    analysis->counts.errors++;
    if (analysis->error_count == MT_ANALYSIS_MAX_LISTED)
        return;
    if (!analysis->errors)
        analysis->errors = calloc(MT_ANALYSIS_MAX_LISTED, sizeof(*analysis->errors));
    if (analysis->errors)
        analysis->errors[analysis->error_count++] = *entry;
    else
        keep_error(analysis, -ENOMEM);
}

void mt_analysis_visitor(struct mt_analysis *analysis, struct mt_model_visitor *visitor)
{
    *visitor = (struct mt_model_visitor){.context = analysis,
                                         .command_buffer = on_command_buffer,
                                         .encoder = on_encoder,
                                         .dispatches = on_dispatches,
                                         .wait = on_wait,
                                         .memory = on_memory,
                                         .capture = on_capture};
}
