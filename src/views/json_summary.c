// SPDX-License-Identifier: MIT
// The sections about the run as a whole. Runs in tools, and in a target at its exit.
#include "views/json.h"

#include "os/os.h"

#include <errno.h>
#include <string.h>

static const char *state_name(const struct mt_process *process)
{
    switch (process->state) {
    case MT_SPOOL_ENDED:
        return "ended";
    case MT_SPOOL_STOPPED:
        return "stopped";
    default:
        break;
    }
    // A number that another process has by now, or another host's, cannot be told from the same one.
    char host[256] = "";
    mt_os_host_name(host, sizeof(host));
    bool here = process->host.bytes && strlen(host) == process->host.length &&
                !memcmp(host, process->host.bytes, process->host.length);
    return here && mt_os_process_alive(process->pid) ? "running" : "killed";
}

static void add_notes(struct mt_json *json, cJSON *array, enum mt_text_kind kind)
{
    for (uint32_t i = 0; i < json->all->note_count; i++) {
        if (json->all->notes[i].kind == kind)
            mt_tree_text(&json->tree, array, NULL, json->all->notes[i].text);
    }
}

void mt_json_process(struct mt_json *json)
{
    const struct mt_process *process = &json->all->process;
    struct mt_tree *tree = &json->tree;
    cJSON *object = mt_tree_object(tree);
    char start[32];
    mt_format_wall_time(start, process->start_wall_ns);
    mt_tree_text(tree, object, "program", process->program);
    add_notes(json, mt_tree_add_array(tree, object, "arguments"), MT_TEXT_ARGUMENT);
    mt_tree_u64(tree, object, "pid", process->pid);
    mt_tree_u64(tree, object, "parent", process->parent);
    mt_tree_word(tree, object, "state", state_name(process));
    mt_tree_word(tree, object, "start", start);
    mt_tree_u64(tree, object, "start_wall_ns", process->start_wall_ns);
    mt_tree_time(tree, object, "end_ns", process->end_ns);
    mt_tree_text(tree, object, "host", process->host);
    mt_tree_text(tree, object, "system", process->system);
    mt_tree_text(tree, object, "tap_version", process->tap_version);
    mt_tree_print(tree, object, json->out);
}

void mt_json_options(struct mt_json *json)
{
    bool first = true;
    mt_out_string(json->out, "[");
    for (uint32_t i = 0; i < json->all->note_count; i++) {
        const struct mt_note *note = &json->all->notes[i];
        if (note->kind != MT_TEXT_OPTION)
            continue;
        cJSON *row = mt_tree_object(&json->tree);
        mt_tree_text(&json->tree, row, "name", note->name);
        mt_tree_text(&json->tree, row, "value", note->text);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}

// Thousandths, for numbers that the model has as doubles; no printf, which asks the locale.
static uint64_t thousandths(double value)
{
    return value > 0 && value < 1e15 ? (uint64_t)(value * 1000 + 0.5) : 0;
}

void mt_json_clock(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    struct mt_clock_info clock;
    mt_model_clock(json->model, &clock);
    cJSON *object = mt_tree_object(tree);
    mt_tree_u64(tree, object, "start_ticks", clock.start_ticks);
    mt_tree_u64(tree, object, "start_ns", clock.start_ns);
    mt_tree_decimal(tree, object, "ticks_per_second", thousandths(clock.ticks_per_second), 3);
    mt_tree_u64(tree, object, "anchors", clock.anchors);
    mt_tree_u64(tree, object, "worst_width_ns", clock.worst_width_ns);
    mt_tree_u64(tree, object, "worst_residual_ns", clock.worst_residual_ns);
    mt_tree_u64(tree, object, "backward_times", json->analysis->counts.backward_times);
    mt_tree_print(tree, object, json->out);
}

// ---- summary ----
static void add_gpu(struct mt_json *json, cJSON *summary, uint64_t wall_ns)
{
    struct mt_tree *tree = &json->tree;
    struct mt_analysis *analysis = json->analysis;
    const struct mt_busy *busy = &analysis->busy, *all = &analysis->busy_all;
    if (!all->any) {
        mt_tree_null(tree, summary, "gpu");
        return;
    }
    uint64_t busy_ns = mt_busy_total_ns(busy), all_ns = mt_busy_total_ns(all);
    uint64_t span_ns = (uint64_t)(all->last - all->first), sum_ns = analysis->gpu.total;
    cJSON *gpu = mt_tree_add_object(tree, summary, "gpu");
    mt_tree_word(tree, gpu, "how", busy->inexact || all->inexact ? "estimated" : "exact");
    mt_tree_u64(tree, gpu, "busy_ns", busy_ns);
    mt_tree_percent(tree, gpu, "busy_percent", busy_ns, wall_ns);
    mt_tree_u64(tree, gpu, "sum_ns", sum_ns);
    mt_tree_u64(tree, gpu, "overlap_ns", sum_ns > busy_ns ? sum_ns - busy_ns : 0);
    mt_tree_u64(tree, gpu, "idle_ns", span_ns > all_ns ? span_ns - all_ns : 0);
    mt_tree_u64(tree, gpu, "captured_ns", all_ns > busy_ns ? all_ns - busy_ns : 0);
    mt_tree_u64(tree, gpu, "span_ns", span_ns);
    mt_tree_time(tree, gpu, "first_start_ns", all->first);
    mt_tree_time(tree, gpu, "last_end_ns", all->last);
    mt_tree_samples(tree, gpu, "per_command_buffer", &analysis->gpu);
}

static void add_waits(struct mt_json *json, cJSON *summary)
{
    static const char *const names[MT_WAIT_KINDS] = {"completed", "scheduled", "shared_event"};
    cJSON *waits = mt_tree_add_object(&json->tree, summary, "waits");
    uint64_t total = 0;
    for (int kind = 0; kind < MT_WAIT_KINDS; kind++)
        total += json->analysis->waits[kind].total;
    mt_tree_u64(&json->tree, waits, "total_ns", total);
    for (int kind = 0; kind < MT_WAIT_KINDS; kind++)
        mt_tree_samples(&json->tree, waits, names[kind], &json->analysis->waits[kind]);
}

static uint64_t duration(int64_t begin_ns, int64_t end_ns)
{
    return begin_ns != MT_NO_TIME && end_ns >= begin_ns ? (uint64_t)(end_ns - begin_ns) : 0;
}

static void add_compile(struct mt_json *json, cJSON *summary)
{
    uint64_t libraries = 0, pipelines = 0;
    for (uint32_t i = 1; i < json->all->library_count; i++)
        libraries += duration(json->all->libraries[i].begin_ns, json->all->libraries[i].end_ns);
    for (uint32_t i = 1; i < json->all->pipeline_count; i++)
        pipelines += duration(json->all->pipelines[i].begin_ns, json->all->pipelines[i].end_ns);
    cJSON *compile = mt_tree_add_object(&json->tree, summary, "compile");
    mt_tree_word(&json->tree, compile, "how", "exact");
    mt_tree_u64(&json->tree, compile, "libraries_ns", libraries);
    mt_tree_u64(&json->tree, compile, "pipelines_ns", pipelines);
}

static void add_allocated(struct mt_json *json, cJSON *summary)
{
    const struct mt_memory_use *memory = &json->analysis->memory;
    if (!json->analysis->counts.memory_events) {
        mt_tree_null(&json->tree, summary, "allocated");
        return;
    }
    cJSON *allocated = mt_tree_add_object(&json->tree, summary, "allocated");
    mt_tree_u64(&json->tree, allocated, "now_bytes", memory->now_bytes);
    mt_tree_u64(&json->tree, allocated, "peak_bytes", memory->peak_bytes);
    mt_tree_time(&json->tree, allocated, "peak_ns", memory->peak_ns);
}

static void add_overhead(struct mt_json *json, cJSON *summary, uint64_t wall_ns)
{
    struct mt_tree *tree = &json->tree;
    struct mt_overhead overhead;
    mt_model_overhead(json->model, &overhead);
    uint64_t total = overhead.slow_ns + thousandths(overhead.record_ns * (double)overhead.records) / 1000;
    cJSON *object = mt_tree_add_object(tree, summary, "overhead");
    mt_tree_word(tree, object, "how", "estimated");
    mt_tree_u64(tree, object, "records", overhead.records);
    mt_tree_decimal(tree, object, "record_ns", thousandths(overhead.record_ns), 3);
    mt_tree_u64(tree, object, "slow_ns", overhead.slow_ns);
    mt_tree_u64(tree, object, "total_ns", total);
    mt_tree_percent(tree, object, "wall_percent", total, wall_ns);
}

struct named_count {
    const char *name;
    uint64_t count;
};

static void add_counts(struct mt_json *json, cJSON *to, const struct named_count *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        mt_tree_u64(&json->tree, to, counts[i].name, counts[i].count);
}

// Definitions have an empty entry 0.
static uint64_t defined(uint32_t count)
{
    return count ? count - 1 : 0;
}

static void add_all_counts(struct mt_json *json, cJSON *summary)
{
    const struct mt_definitions *all = json->all;
    const struct mt_analysis_counts *it = &json->analysis->counts;
    const struct named_count counts[] = {
        {"devices", defined(all->device_count)},
        {"queues", defined(all->queue_count)},
        {"libraries", defined(all->library_count)},
        {"functions", defined(all->function_count)},
        {"pipelines", defined(all->pipeline_count)},
        {"threads", defined(all->thread_count)},
        {"command_buffers", it->command_buffers},
        {"completed", it->cb_ends[MT_CB_COMPLETED]},
        {"failed", it->cb_ends[MT_CB_FAILED]},
        {"in_flight", it->cb_ends[MT_CB_IN_FLIGHT]},
        {"uncommitted", it->cb_ends[MT_CB_UNCOMMITTED]},
        {"discarded", it->cb_ends[MT_CB_DISCARDED]},
        {"captured", it->captured},
        {"without_gpu_time", it->without_gpu_time},
        {"encoders", it->encoders},
        {"compute_encoders", it->encoder_kinds[MT_ENCODER_COMPUTE]},
        {"blit_encoders", it->encoder_kinds[MT_ENCODER_BLIT]},
        {"other_encoders", it->encoder_kinds[MT_ENCODER_OTHER]},
        {"unended_encoders", it->unended_encoders},
        {"dispatches", it->dispatches},
        {"dispatches_threadgroups", it->forms[MT_FORM_THREADGROUPS]},
        {"dispatches_threads", it->forms[MT_FORM_THREADS]},
        {"dispatches_indirect", it->forms[MT_FORM_INDIRECT]},
        {"indirect_executes", it->executes},
        {"barriers", it->barriers},
        {"fence_waits", it->fence_waits},
        {"fence_updates", it->fence_updates},
        {"event_waits", it->event_waits},
        {"event_signals", it->event_signals},
        {"blits", it->blits},
        {"blit_bytes", it->blit_bytes},
        {"signposts", it->signposts},
        {"handlers", it->handlers},
        {"presents", it->presents},
        {"waits", it->waits},
        {"unended_waits", it->unended_waits},
        {"memory_events", it->memory_events},
        {"capture_events", it->captures},
        {"errors", it->errors},
    };
    add_counts(json, mt_tree_add_object(&json->tree, summary, "counts"), counts,
               sizeof(counts) / sizeof(counts[0]));
}

void mt_json_summary(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    struct mt_analysis *analysis = json->analysis;
    const struct mt_process *process = &json->all->process;
    uint64_t wall_ns = mt_analysis_wall_ns(analysis, process);
    cJSON *summary = mt_tree_object(tree);
    mt_tree_u64(tree, summary, "wall_ns", wall_ns);
    mt_tree_word(tree, summary, "wall_until",
                 process->end_ns != MT_NO_TIME ? "end of the process" : "last record");
    add_gpu(json, summary, wall_ns);
    mt_tree_samples(tree, summary, "encode", &analysis->encode);
    mt_tree_samples(tree, summary, "submit_latency", &analysis->submit);
    mt_tree_samples(tree, summary, "schedule_latency", &analysis->schedule);
    mt_tree_samples(tree, summary, "queue_wait", &analysis->queue_wait);
    mt_tree_samples(tree, summary, "completion_latency", &analysis->completion);
    add_waits(json, summary);
    add_compile(json, summary);
    add_allocated(json, summary);
    add_overhead(json, summary, wall_ns);
    add_all_counts(json, summary);
    mt_tree_print(tree, summary, json->out);
}

// ---- what is missing, what went wrong ----
void mt_json_dropped(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    struct mt_loss loss;
    mt_model_loss(json->model, &loss);
    cJSON *object = mt_tree_object(tree);
    const struct named_count losses[] = {
        {"records", loss.dropped_records},
        {"overwritten_records", loss.overwritten_records},
        {"overwritten_segments", loss.overwritten_segments},
        {"unknown_context", loss.unknown_context},
        {"stalls", loss.stalls},
    };
    add_counts(json, object, losses, sizeof(losses) / sizeof(losses[0]));
    char reason[128] = "";
    if (loss.stop_reason)
        mt_format_errno(reason, sizeof(reason), loss.stop_reason < 0 ? -loss.stop_reason : loss.stop_reason);
    mt_tree_word(tree, object, "stop_reason", loss.stop_reason ? reason : NULL);
    const struct named_count damage[] = {
        {"bad_segments", loss.damage.bad_segments},
        {"bad_records", loss.damage.bad_records},
        {"missing_segments", loss.damage.missing_segments},
        {"lost_segments", loss.damage.lost_segments},
        {"cut_bytes", loss.damage.cut_bytes},
    };
    add_counts(json, mt_tree_add_object(tree, object, "damage"), damage, sizeof(damage) / sizeof(damage[0]));
    mt_tree_print(tree, object, json->out);
}

void mt_json_warnings(struct mt_json *json)
{
    struct mt_tree *tree = &json->tree;
    cJSON *array = cJSON_CreateArray();
    add_notes(json, array, MT_TEXT_WARNING);
    if (json->analysis->kernel_time_off)
        mt_tree_word(tree, array, NULL,
                     "records are missing, so that no GPU time is given to single kernels");
    if (json->analysis->busy.inexact)
        mt_tree_word(tree, array, NULL,
                     "too many command buffers were in flight at once for an exact GPU busy time");
    if (json->analysis->other_labels.command_buffers)
        mt_tree_word(tree, array, NULL,
                     "there are too many labels for a row each: the last row has the rest");
    mt_tree_print(tree, array, json->out);
}

static const char *object_name(enum mt_object_kind kind)
{
    switch (kind) {
    case MT_OBJECT_LIBRARY:
        return "library";
    case MT_OBJECT_FUNCTION:
        return "function";
    case MT_OBJECT_PIPELINE:
        return "pipeline";
    default:
        return "command_buffer";
    }
}

void mt_json_errors(struct mt_json *json)
{
    bool first = true;
    mt_out_string(json->out, "{\"count\":");
    mt_out_u64(json->out, json->analysis->counts.errors);
    mt_out_string(json->out, ",\"listed\":[");
    for (uint32_t i = 0; i < json->analysis->error_count; i++) {
        const struct mt_error_entry *entry = &json->analysis->errors[i];
        cJSON *row = mt_tree_object(&json->tree);
        mt_tree_word(&json->tree, row, "object", object_name(entry->kind));
        mt_tree_u64(&json->tree, row, "id", entry->id);
        mt_tree_text(&json->tree, row, "name", entry->name);
        mt_tree_text(&json->tree, row, "text", entry->text);
        mt_tree_time(&json->tree, row, "time_ns", entry->time_ns);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]}");
}

void mt_json_captures(struct mt_json *json)
{
    static const char *const events[] = {"started", "stopped", "failed"};
    struct mt_tree *tree = &json->tree;
    bool first = true;
    mt_out_string(json->out, "[");
    for (uint32_t i = 0; i < json->analysis->capture_count; i++) {
        const struct mt_capture_event_info *it = &json->analysis->captures[i];
        bool stopped = it->event == MT_CAPTURE_STOPPED;
        cJSON *row = mt_tree_object(tree);
        mt_tree_time(tree, row, "time_ns", it->time_ns);
        mt_tree_word(tree, row, "event", it->event <= MT_CAPTURE_FAILED ? events[it->event] : "unknown");
        mt_tree_text(tree, row, "text", it->text);
        mt_tree_id(tree, row, "first", stopped ? it->first : 0);
        mt_tree_id(tree, row, "last", stopped ? it->last : 0);
        mt_tree_time(tree, row, "extra", stopped ? (int64_t)it->extra : MT_NO_TIME);
        mt_json_row(json, row, &first);
    }
    mt_out_string(json->out, "]");
}
