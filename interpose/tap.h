// SPDX-License-Identifier: MIT
// What the hooks share: the tap's state, what is kept per Metal object, and the helpers that hook files give
// each other. Everything here runs on the program's threads and follows the tap's rules: never abort, print
// to stdout, or change errno; on trouble warn once, switch that part off, and call straight through.
#ifndef MT_TAP_H
#define MT_TAP_H

#include "objc/metal_c.h"
#include "objc/objc.h"
#include "objects.h"
#include "options/options.h"
#include "record.h"
#include "swizzle.h"

#include <stdbool.h>
#include <stdint.h>

// ---- the process ----
struct mt_tap {
    struct mt_options options;
    char program[256]; // file name
    uint64_t run;
    bool started; // a device was seen, recording was begun (or could not be)
    bool capture; // a capture is still wanted or runs: hooks tell capture.c
    uint64_t allocated_bytes;
    SEL add_scheduled, add_completed;
    char out[MT_OPTION_PATH_MAX], spool[MT_OPTION_PATH_MAX]; // in use, names expanded
};
extern struct mt_tap mt_tap MT_OWN;

static inline bool mt_tap_captures(void) // a capture is wanted or runs; rarely
{
    return __builtin_expect(__atomic_load_n(&mt_tap.capture, __ATOMIC_RELAXED), 0);
}

// ---- entries per object ----
struct mt_device_entry {
    struct mt_object o;
};
struct mt_queue_entry {
    struct mt_object o;
    uint32_t device;
    id device_object; // as the program received it; not retained
};
struct mt_library_entry {
    struct mt_object o;
    uint64_t made; // ticks when it was defined, see making.c
    uint32_t device;
};
struct mt_function_entry {
    struct mt_object o;
    uint64_t made;            // ticks when it was defined
    uint32_t name, constants; // strings
};
struct mt_pipeline_entry {
    struct mt_object o;
    uint64_t made; // ticks when it was defined
};
struct mt_memory_entry {
    struct mt_object o;
    uint64_t bytes;
    uint32_t kind; // enum mt_memory_kind
};
struct mt_constants_entry {
    struct mt_object o;
    mt_lock lock;
    uint32_t count, room;
    struct mt_constant *list; // constants_text.h; by index, then by name
};

struct mt_cb_entry {
    struct mt_object o;
    uint32_t queue, flags;
    struct mt_class *cls;
    bool committed, finished;
    uint32_t handlers; // of ours that have not run yet; the entry is in use until it is 0
    uint64_t scheduled;
    struct mt_objc_fixed_block on_scheduled, on_completed;
};

// The first members are all that a dispatch looks at. `fast` is the encoder, or NULL to send every call the
// long way. `head` is the second word of the dispatch record: type and pipeline, threadgroup memory.
struct mt_encoder_entry {
    struct mt_object o;
    id fast;
    uint64_t head;
    mt_objc_imp dispatch_threadgroups, set_pipeline;
    struct mt_pipeline_entry *pipeline;
    struct mt_record_place *place; // whose context this encoder is; never more than one
    struct mt_class *cls;
    uint32_t command_buffer;
    uint32_t threadgroup_bytes[31]; // by index
    bool has_threadgroup_bytes;
};

// Another thread whose stream had this encoder as its context may still look at it.
static inline bool mt_encoder_is_fast(const struct mt_encoder_entry *entry, id encoder)
{
    return __atomic_load_n(&entry->fast, __ATOMIC_RELAXED) == encoder;
}
static inline void mt_encoder_set_fast(struct mt_encoder_entry *entry, id encoder)
{
    __atomic_store_n(&entry->fast, encoder, __ATOMIC_RELAXED);
}

// ---- log.c: one line on standard error, "metaltap: ..."; never more than a few in all ----
__attribute__((format(printf, 2, 3))) void mt_log(enum mt_log_level level, const char *format, ...);
// The same, once per `what`, and kept for the report.
__attribute__((format(printf, 2, 3))) void mt_warn_once(bool *said, const char *format, ...);

// ---- what hook files give each other ----
uint32_t mt_text_of(id string); // string id of an NSString; 0 for nil or empty
uint32_t mt_error_text_of(id error);
// LABEL, GROUP_PUSH, GROUP_POP or SIGNPOST.
void mt_record_name(enum mt_record_type type, enum mt_object_kind kind, uint32_t object, id text);
static inline void mt_record_label(enum mt_object_kind kind, uint32_t object, id label)
{
    mt_record_name(MT_REC_LABEL, kind, object, label);
}
struct mt_device_entry *mt_know_device(id device);
struct mt_queue_entry *mt_know_queue(id queue, id device, uint32_t max_buffers, bool seen_late);
struct mt_cb_entry *mt_know_command_buffer(id commands, struct mt_queue_entry *queue, uint32_t flags);
struct mt_encoder_entry *mt_know_encoder(id encoder, struct mt_cb_entry *commands, uint8_t kind, uint8_t form,
                                         uint8_t dispatch_type);
void mt_encoder_ended(struct mt_encoder_entry *encoder);
// A class turned out to be one whose super can come back to us: its encoders no longer take the short way.
void mt_encoders_of_nested_classes(void);
// The entry of an encoder that the program received, or NULL. Most often it is this thread's context.
static inline struct mt_encoder_entry *mt_encoder_of(id encoder)
{
    struct mt_encoder_entry *context = __atomic_load_n(&mt_record_here->context, __ATOMIC_RELAXED);
    return __builtin_expect(mt_object_is(&context->o, encoder), 1)
               ? context
               : mt_objects_find(MT_KIND_ENCODER, encoder);
}
struct mt_pipeline_entry *mt_know_pipeline_late(id pipeline);
void mt_know_memory(id object, enum mt_role role, enum mt_memory_kind kind);
// The readable form of a set of function constants; string id, 0 for none.
uint32_t mt_constants_text(id constants);
void mt_hook_constants_class(void);
// Makes sure that dispatches behind this belong to `encoder` in the stream of this thread. False: that could
// not be recorded (and is counted as lost), so they would belong to another.
bool mt_context(struct mt_encoder_entry *encoder);

#endif
