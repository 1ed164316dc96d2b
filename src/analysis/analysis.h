// SPDX-License-Identifier: MIT
// What a run amounts to: statistics per kernel, per label, per queue and of the whole, from one pass over the
// model. Memory follows the number of definitions and of what is in flight, not that of events. Runs in
// tools, and in a target at its exit. Never prints; knows nothing of views. docs/REPORT.md says what each
// number means.
#ifndef MT_ANALYSIS_H
#define MT_ANALYSIS_H

#include "analysis/busy.h"
#include "analysis/contents.h"
#include "analysis/names.h"
#include "analysis/samples.h"
#include "model/model.h"

enum {
    MT_ANALYSIS_MAX_LABELS = 1024, // further ones share a row
    MT_ANALYSIS_MAX_LISTED = 256,  // errors and captures that are kept one by one; all are counted
    MT_WAIT_KINDS = 3,
    MT_MEMORY_KINDS = 4,
    MT_ENCODER_KINDS = 3,
    MT_CB_ENDS = 5,
};
enum mt_dispatch_form { MT_FORM_THREADGROUPS, MT_FORM_THREADS, MT_FORM_INDIRECT, MT_DISPATCH_FORMS };
enum mt_dispatch_form mt_dispatch_form_of(const struct mt_dispatch *dispatch);

struct mt_shape { // of a dispatch, in threads
    uint64_t volume, threads[3];
    uint32_t threadgroup[3];
};
struct mt_kernel {
    struct mt_text name, constants;
    uint32_t first_pipeline; // of the list in pipeline_next; 0 for pipelines that are not known
    uint64_t dispatches, forms[MT_DISPATCH_FORMS];
    bool any, any_shape;               // so far; dispatches are counted when all have been seen
    struct mt_shape smallest, largest; // by volume; of those whose grid is known
    uint32_t threadgroup_memory_bytes; // the most that the program set
    uint64_t first_ticks, last_ticks;  // as recorded; in nanoseconds when everything has been seen
    int64_t first_ns, last_ns;
    // GPU time is known where a command buffer held nothing else
    uint64_t covered_dispatches;
    struct mt_samples per_command_buffer, per_dispatch; // the second: those with a single dispatch
};
struct mt_label {
    struct mt_text name; // no bytes: command buffers without one
    uint64_t command_buffers, captured, failed, dispatches, encoders, waits, encode_ns, wait_ns;
    struct mt_samples gpu, submit;
};
struct mt_queue_use {
    uint64_t command_buffers, dispatches, gpu_ns;
};
struct mt_analysis_counts {
    uint64_t command_buffers, cb_ends[MT_CB_ENDS], captured, without_gpu_time;
    uint64_t encoders, encoder_kinds[MT_ENCODER_KINDS], unended_encoders;
    uint64_t dispatches, forms[MT_DISPATCH_FORMS];
    uint64_t barriers, fence_waits, fence_updates, blits, blit_bytes, executes, signposts;
    uint64_t handlers, presents, event_waits, event_signals;
    uint64_t waits, unended_waits, memory_events, captures;
    uint64_t backward_times; // pairs of moments in the wrong order, by the clocks' inexactness; left out
    uint64_t errors;
};
struct mt_memory_use {
    uint64_t now_bytes, peak_bytes;
    int64_t peak_ns;
    struct {
        uint64_t allocations, releases, allocated_bytes, released_bytes;
    } kinds[MT_MEMORY_KINDS];
};
struct mt_error_entry {
    enum mt_object_kind kind; // COMMAND_BUFFER, LIBRARY, FUNCTION or PIPELINE
    uint32_t id;
    struct mt_text text, name;
    int64_t time_ns;
};
// Dispatches that were the same but for their time, counted together.
struct mt_alike {
    struct mt_dispatch_key key;
    uint64_t count; // 0: a free place
    uint32_t kernel;
};
enum { MT_ALIKE_BITS = 9 };

struct mt_analysis {
    struct mt_analysis_counts counts;
    struct mt_kernel *kernels; // the last one stands for pipelines that are not known
    uint32_t kernel_count;
    uint32_t *pipeline_kernel; // by pipeline id
    uint32_t *pipeline_next;   // by pipeline id: the next one of the same kernel, or 0
    uint32_t pipeline_count;
    struct mt_label *labels, other_labels; // the second: beyond the limit
    uint32_t label_count;
    struct mt_queue_use *queues; // by id; [0] those whose queue is not known
    uint32_t queue_count;
    struct mt_samples gpu, encode, submit, schedule, queue_wait, completion, waits[MT_WAIT_KINDS];
    struct mt_busy busy, busy_all; // without and with what ran during a capture
    struct mt_memory_use memory;
    struct mt_error_entry *errors;
    uint32_t error_count;
    struct mt_capture_event_info *captures;
    uint32_t capture_count;
    int64_t last_ns;      // of the last thing seen
    bool kernel_time_off; // records were lost, so that no kernel was given time: see finish()

    struct mt_names kernel_names, label_names;
    struct mt_contents contents;
    struct mt_alike alike[1 << MT_ALIKE_BITS]; // those seen last; counts of others are in their kernels
    uint32_t label_room;
    int error;
};

// Reads the whole run once. 0 or -errno; `*analysis` is to be freed in the first case only.
int mt_analysis_run(struct mt_model *model, struct mt_analysis **analysis);
void mt_analysis_free(struct mt_analysis *analysis);

uint64_t mt_analysis_wall_ns(const struct mt_analysis *analysis, const struct mt_process *process);

// In events.c: the callbacks of the pass, and what is to be called behind it.
void mt_analysis_visitor(struct mt_analysis *analysis, struct mt_model_visitor *visitor);
void mt_analysis_count_alike(struct mt_analysis *analysis);
void mt_analysis_add_error(struct mt_analysis *analysis, const struct mt_error_entry *entry);

#endif
