// SPDX-License-Identifier: MIT
// The spool on disk (.mtap): what the tap writes and every reader reads, little-endian, in one place. The
// prose is docs/FORMAT.md. Nothing here may change its meaning without a new MT_SPOOL_VERSION, and readers
// accept every past version. Holds no code but trivial accessors; runs in the target and in tools alike.
//
// A file is a header page and then segments of equal size. A segment belongs to one stream and is a head of
// two slots followed by slots of 32 bytes. A stream is written by one thread at a time, its segments carry
// consecutive numbers, and its times never go back. A record takes one or more slots; its time word is
// stored last, so a time of 0 is the end of what was published.
#ifndef MT_SPOOL_FORMAT_H
#define MT_SPOOL_FORMAT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define MT_SPOOL_MAGIC "metaltap" // 8 bytes, no terminator
enum {
    MT_SPOOL_VERSION = 1,
    MT_SPOOL_HEADER_BYTES = 16384, // a page on every system, so that segments can be mapped
    MT_SPOOL_SEGMENT_BYTES = 256 * 1024,
    MT_SPOOL_SLOT_BYTES = 32,
    MT_SPOOL_SEGMENT_SLOTS = MT_SPOOL_SEGMENT_BYTES / MT_SPOOL_SLOT_BYTES,
    MT_SPOOL_FIRST_SLOT = 2, // behind the segment's head
    MT_SPOOL_MAX_STRING = 128 * 1024,
};
#define MT_SPOOL_BYTE_ORDER UINT32_C(0x01020304)
#define MT_SPOOL_SEGMENT_MAGIC UINT32_C(0x6765736d) // "mseg"

// ---- file header ----
enum mt_spool_state {
    MT_SPOOL_RUNNING = 1,  // or killed: the process tells
    MT_SPOOL_ENDED = 2,    // closed in good order
    MT_SPOOL_STOPPED = 3,  // recording stopped early, stop_reason says why; the program went on
    MT_SPOOL_EXHAUSTED = 4 // kept for readers of later versions
};
struct mt_spool_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint32_t header_bytes, segment_bytes, slot_bytes;
    uint32_t pid;
    uint64_t run;                // the same for all processes of one run
    uint64_t start_ticks;        // of the tick counter that times records
    uint64_t start_ns;           // of the clock that Metal's GPU times are on, at the same moment
    uint64_t start_wall_ns;      // since 1970, at the same moment
    uint64_t ticks_per_second;   // as the system says, or 0; anchors are what counts
    uint64_t keep_bytes;         // METALTAP_KEEP, or 0
    uint64_t append_ticks_x1024; // cost of one record, measured by the tap itself at its start
    uint64_t reserved_fixed[4];
    // What follows changes while the program runs; each field is stored whole.
    uint32_t state;               // enum mt_spool_state
    uint32_t stop_reason;         // errno, or 0
    uint64_t end_ticks;           // 0 while running
    uint64_t segments;            // places in the file that have been handed out at least once
    uint64_t dropped_records;     // not recorded for want of space
    uint64_t overwritten_records; // recorded, then overwritten in bounded mode
    uint64_t overwritten_segments;
    uint64_t stalls;     // times a thread had to prepare its own segment
    uint64_t slow_ticks; // time spent in the recorder's slow paths, all threads together
};
static_assert(sizeof(struct mt_spool_header) <= MT_SPOOL_HEADER_BYTES, "the header fits its page");
static_assert(offsetof(struct mt_spool_header, run) == 32, "layout of the header");
static_assert(offsetof(struct mt_spool_header, state) == 120, "layout of the header");

// ---- segments ----
enum mt_segment_kind {
    MT_SEGMENT_FREE = 0, // prepared, nobody's
    MT_SEGMENT_EVENTS = 1,
    MT_SEGMENT_DEFINITIONS = 2, // never overwritten; all of them are read before any event
};
struct mt_spool_segment { // takes the first two slots
    uint32_t magic;
    uint16_t kind;   // enum mt_segment_kind, stored last when the segment is handed out
    uint16_t closed; // 1 before its stream goes on in another segment
    uint32_t stream; // from 0; 0 is the stream of definitions
    uint32_t number; // of this segment in its stream, from 0
    uint64_t use;    // odd while it is a stream's; changes when it is handed out and when it is given up
    // What held when the segment began, so that it can be read without those before it.
    uint32_t thread;
    uint32_t encoder;
    uint32_t command_buffer;
    uint32_t reserved[7];
};
static_assert(sizeof(struct mt_spool_segment) == MT_SPOOL_FIRST_SLOT * MT_SPOOL_SLOT_BYTES, "two slots");

// ---- records ----
// Ids count from 1 per kind; 0 means none or unknown. Times inside records are ticks unless they end in _ns.
enum mt_record_type {
    MT_REC_NONE = 0,
    // events
    MT_REC_DISPATCH_GROUPS = 1,   // grid in threadgroups
    MT_REC_DISPATCH_THREADS = 2,  // grid in threads
    MT_REC_DISPATCH_INDIRECT = 3, // grid in a buffer, unknown here
    MT_REC_DISPATCH_WIDE = 4,     // two slots: a grid that does not fit 32 bits
    MT_REC_EXECUTE = 5,           // commands of an indirect command buffer
    MT_REC_THREAD = 8,            // the records behind it are this thread's
    MT_REC_ANCHOR = 9,            // ticks and clock at one moment
    MT_REC_DROP = 10,             // records lost at this place
    MT_REC_CONTEXT = 11,          // the dispatches behind it belong to this encoder
    MT_REC_CB_CREATE = 16,
    MT_REC_CB_ENQUEUE = 17,
    MT_REC_CB_COMMIT = 18,
    MT_REC_CB_DONE = 19,    // two slots
    MT_REC_CB_DISCARD = 20, // never committed, its object is gone
    MT_REC_CB_HANDLER = 21, // the program added a handler
    MT_REC_CB_PRESENT = 22,
    MT_REC_ENCODER_BEGIN = 24, // also the context of what follows
    MT_REC_ENCODER_END = 25,
    MT_REC_SYNC = 26,
    MT_REC_BLIT = 27,
    MT_REC_LABEL = 32,
    MT_REC_GROUP_PUSH = 33,
    MT_REC_GROUP_POP = 34,
    MT_REC_SIGNPOST = 35,
    MT_REC_WAIT_BEGIN = 40,
    MT_REC_WAIT_END = 41,
    MT_REC_MEMORY = 48,
    MT_REC_CAPTURE = 56,
    // definitions
    MT_REC_STRING = 128, // as many slots as its text needs
    MT_REC_PROCESS = 129,
    MT_REC_TEXT = 130, // a named text of the process: an argument, an option, a warning
    MT_REC_DEVICE = 131,
    MT_REC_QUEUE = 132,
    MT_REC_LIBRARY = 133,
    MT_REC_FUNCTION = 134,
    MT_REC_PIPELINE = 135,
    MT_REC_THREAD_NAME = 136,
};

// Every record begins so; the low 8 bits of `word` are the type, the other 24 a small number: the id of a
// pipeline or string, or what the record says.
#define MT_REC_HEAD                                                                                          \
    uint64_t time;                                                                                           \
    uint32_t word
#define MT_REC_WORD(type, small) ((uint32_t)(type) | (uint32_t)(small) << 8)
#define MT_REC_MAX_SMALL UINT32_C(0xffffff)
static inline enum mt_record_type mt_rec_type(uint32_t word)
{
    return (enum mt_record_type)(word & 0xff);
}
static inline uint32_t mt_rec_small(uint32_t word)
{
    return word >> 8;
}

struct mt_rec_any {
    MT_REC_HEAD;
    uint8_t rest[20];
};
struct mt_rec_dispatch { // small: pipeline. GROUPS, THREADS, INDIRECT
    MT_REC_HEAD;
    uint16_t threadgroup_memory; // set by the program, in units of 16 bytes; 0xffff: that or more
    uint16_t threadgroup[3];
    uint32_t grid[3]; // INDIRECT: offset in the buffer (low, high), 0
};
struct mt_rec_dispatch_wide { // small: pipeline
    MT_REC_HEAD;
    uint16_t threadgroup_memory;
    uint16_t threadgroup[3];
    uint32_t in_threads; // 1: dispatchThreads
    uint64_t grid[3];
    uint64_t reserved[2];
};
struct mt_rec_execute { // small: 1 if the range is in a buffer, unknown here
    MT_REC_HEAD;
    uint32_t encoder;
    uint64_t first, count;
};
struct mt_rec_thread {
    MT_REC_HEAD;
    uint32_t thread;
    uint64_t os_thread;
    uint64_t reserved;
};
struct mt_rec_anchor {
    MT_REC_HEAD;
    uint32_t reserved;
    uint64_t clock_ns; // at `time`
    uint64_t width;    // ticks between the two reads around the clock: how exact it is
};
struct mt_rec_drop {
    MT_REC_HEAD;
    uint32_t reserved;
    uint64_t records;
    uint64_t reserved2;
};
struct mt_rec_context {
    MT_REC_HEAD;
    uint32_t encoder;
    uint32_t command_buffer;
    uint32_t reserved[3];
};
enum mt_cb_flags {
    MT_CB_UNRETAINED = 1,
    MT_CB_DESCRIPTOR = 2, // made with a descriptor
    MT_CB_CAPTURED = 4,   // a capture ran: its times are not for statistics
    MT_CB_REUSED = 8,     // the same object was committed before
    MT_CB_SEEN_LATE = 16, // made before the tap was there; create is when it was first seen
};
struct mt_rec_cb_create {
    MT_REC_HEAD;
    uint32_t command_buffer;
    uint32_t flags; // enum mt_cb_flags
    uint32_t queue;
    uint64_t reserved;
};
struct mt_rec_cb_enqueue {
    MT_REC_HEAD;
    uint32_t command_buffer;
    uint64_t reserved[2];
};
struct mt_rec_cb_commit {
    MT_REC_HEAD;
    uint32_t command_buffer;
    uint64_t allocated_bytes; // by the program's buffers and heaps at this moment
    uint32_t flags;           // enum mt_cb_flags, all that hold by now
    uint32_t reserved;
};
struct mt_rec_cb_done { // small: MTLCommandBufferStatus; two slots; written by the completed handler
    MT_REC_HEAD;
    uint32_t command_buffer;
    uint64_t scheduled;    // ticks, 0 if not seen
    uint64_t gpu_start_ns; // clock of start_ns; 0: Metal gave none
    uint64_t gpu_end_ns;
    uint64_t reserved[2];
    uint32_t error; // string, 0: none
    uint32_t flags; // enum mt_cb_flags, all that hold by now
};
struct mt_rec_cb_note { // small: kind. DISCARD, HANDLER (kind 0 scheduled, 1 completed), PRESENT
    MT_REC_HEAD;
    uint32_t command_buffer;
    uint64_t reserved[2];
};
enum mt_encoder_kind { MT_ENCODER_COMPUTE = 0, MT_ENCODER_BLIT = 1, MT_ENCODER_OTHER = 2 };
struct mt_rec_encoder_begin {
    MT_REC_HEAD;
    uint32_t encoder;
    uint32_t command_buffer;
    uint8_t kind;          // enum mt_encoder_kind
    uint8_t dispatch_type; // MTLDispatchType
    uint8_t form;          // 0 plain, 1 with dispatch type, 2 with descriptor
    uint8_t reserved;
    uint64_t reserved2;
};
struct mt_rec_encoder_end {
    MT_REC_HEAD;
    uint32_t encoder;
    uint64_t reserved[2];
};
enum mt_sync_kind {
    MT_SYNC_BARRIER_SCOPE = 0,     // encoder; value: scope
    MT_SYNC_BARRIER_RESOURCES = 1, // encoder; value: count
    MT_SYNC_FENCE_WAIT = 2,        // encoder; value: the fence's address
    MT_SYNC_FENCE_UPDATE = 3,
    MT_SYNC_EVENT_WAIT = 4, // command buffer; value: the event's value, other: its address
    MT_SYNC_EVENT_SIGNAL = 5,
};
struct mt_rec_sync { // small: enum mt_sync_kind
    MT_REC_HEAD;
    uint32_t object; // encoder or command buffer, by kind
    uint64_t value, other;
};
enum mt_blit_kind { MT_BLIT_COPY = 0, MT_BLIT_FILL = 1, MT_BLIT_SYNCHRONIZE = 2, MT_BLIT_OTHER = 3 };
struct mt_rec_blit { // small: enum mt_blit_kind
    MT_REC_HEAD;
    uint32_t encoder;
    uint64_t bytes;
    uint64_t reserved;
};
enum mt_object_kind {
    MT_OBJECT_COMMAND_BUFFER = 1,
    MT_OBJECT_ENCODER = 2,
    MT_OBJECT_QUEUE = 3,
    MT_OBJECT_LIBRARY = 4,
    MT_OBJECT_FUNCTION = 5,
    MT_OBJECT_PIPELINE = 6,
    MT_OBJECT_DEVICE = 7,
};
struct mt_rec_label { // small: string. LABEL, GROUP_PUSH, GROUP_POP (string 0), SIGNPOST
    MT_REC_HEAD;
    uint32_t kind; // enum mt_object_kind of what it is about
    uint32_t object;
    uint32_t reserved[3];
};
enum mt_wait_kind {
    MT_WAIT_COMPLETED = 0,    // waitUntilCompleted
    MT_WAIT_SCHEDULED = 1,    // waitUntilScheduled
    MT_WAIT_SHARED_EVENT = 2, // waitUntilSignaledValue:timeoutMS:
};
struct mt_rec_wait { // small: enum mt_wait_kind. BEGIN and END in one stream
    MT_REC_HEAD;
    uint32_t command_buffer; // 0 for an event
    uint64_t value;          // shared event: the value waited for
    uint64_t begin;          // END: ticks when it began
};
enum mt_memory_kind {
    MT_MEMORY_BUFFER = 0,
    MT_MEMORY_HEAP = 1,
    MT_MEMORY_HEAP_BUFFER = 2, // cut from a heap: does not add to the total
    MT_MEMORY_NO_COPY = 3,     // the program's own memory
    MT_MEMORY_FREE = 0x10,     // or-ed: released
};
struct mt_rec_memory { // small: enum mt_memory_kind
    MT_REC_HEAD;
    uint32_t number; // of the allocation, from 1, wrapping
    uint64_t bytes;
    uint64_t total; // of the process after it
};
enum mt_capture_event { MT_CAPTURE_STARTED = 0, MT_CAPTURE_STOPPED = 1, MT_CAPTURE_FAILED = 2 };
struct mt_rec_capture { // small: string: the path, or why it failed
    MT_REC_HEAD;
    uint32_t event;       // enum mt_capture_event
    uint32_t first, last; // STOPPED: command buffers asked for
    uint32_t extra;       // STOPPED: others that could not be kept out
    uint32_t reserved;
};

// ---- definitions ----
struct mt_rec_string { // small: string; the text follows the first 16 bytes, over as many slots as needed
    MT_REC_HEAD;
    uint32_t length; // in bytes; bit 31: the text was cut
    char text[16];
};
#define MT_STRING_CUT (UINT32_C(1) << 31)
struct mt_rec_process {
    MT_REC_HEAD;
    uint32_t parent;
    uint32_t program, host, system; // strings
    uint32_t tap_version;           // string
};
enum mt_text_kind {
    MT_TEXT_ARGUMENT = 1, // number: its place
    MT_TEXT_OPTION = 2,   // name: the variable
    MT_TEXT_WARNING = 3,
};
struct mt_rec_text { // small: string
    MT_REC_HEAD;
    uint32_t kind;
    uint32_t name; // string
    uint32_t number;
    uint32_t reserved[2];
};
enum mt_device_flags { MT_DEVICE_UNIFIED = 1, MT_DEVICE_LOW_POWER = 2 };
struct mt_rec_device { // small: device; two slots
    MT_REC_HEAD;
    uint32_t name;     // string
    uint32_t family;   // highest MTLGPUFamily of the Apple, Mac or Common row; 0 unknown
    uint32_t sampling; // bit per MTLCounterSamplingPoint
    uint32_t flags;    // enum mt_device_flags
    uint32_t reserved;
    uint64_t registry;
    uint64_t working_set_bytes;
    uint64_t max_buffer_bytes;
    uint32_t max_threadgroup_memory;
    uint32_t metal3; // 1: supports MTLGPUFamilyMetal3, 2: Metal4 too
};
struct mt_rec_queue { // small: queue
    MT_REC_HEAD;
    uint32_t device;
    uint32_t max_buffers; // 0: not said
    uint32_t label;
    uint32_t seen_late;
    uint32_t reserved;
};
enum mt_library_form {
    MT_LIBRARY_SOURCE = 0,
    MT_LIBRARY_FILE = 1,
    MT_LIBRARY_URL = 2,
    MT_LIBRARY_DATA = 3,
    MT_LIBRARY_DEFAULT = 4,
    MT_LIBRARY_BUNDLE = 5,
    MT_LIBRARY_ASYNC = 0x10, // or-ed
    MT_LIBRARY_OTHER = 6,
};
struct mt_rec_library { // small: library; two slots
    MT_REC_HEAD;
    uint32_t device;
    uint32_t form;
    uint32_t name;  // string: path or label
    uint32_t error; // string; a library that failed has one
    uint32_t reserved;
    uint64_t begin, end; // ticks: how long Metal took
    uint64_t source_bytes;
    uint64_t reserved2;
};
struct mt_rec_function { // small: function
    MT_REC_HEAD;
    uint32_t library;
    uint32_t name;
    uint32_t constants; // string, readable: "0=1 is_causal=true"
    uint32_t error;
    uint32_t reserved;
};
struct mt_rec_pipeline { // small: pipeline; two slots
    MT_REC_HEAD;
    uint32_t function;
    uint32_t device;
    uint32_t name; // string: label, or the function's name
    uint32_t error;
    uint16_t max_threads, width;
    uint64_t begin, end; // ticks
    uint32_t static_threadgroup_bytes;
    uint32_t constants; // string, again: so that a kernel can be named without its function
    uint32_t flags;     // 1 async, 2 with descriptor, 4 with reflection, 8 seen late
    uint32_t reserved;
};
struct mt_rec_thread_name { // small: thread
    MT_REC_HEAD;
    uint32_t name; // string
    uint64_t os_thread;
    uint64_t reserved;
};

#define MT_REC_SLOTS(type, slots)                                                                            \
    static_assert(sizeof(struct type) == (slots) * MT_SPOOL_SLOT_BYTES, #type " has whole slots")
MT_REC_SLOTS(mt_rec_any, 1);
MT_REC_SLOTS(mt_rec_dispatch, 1);
MT_REC_SLOTS(mt_rec_dispatch_wide, 2);
MT_REC_SLOTS(mt_rec_execute, 1);
MT_REC_SLOTS(mt_rec_thread, 1);
MT_REC_SLOTS(mt_rec_anchor, 1);
MT_REC_SLOTS(mt_rec_drop, 1);
MT_REC_SLOTS(mt_rec_context, 1);
MT_REC_SLOTS(mt_rec_cb_create, 1);
MT_REC_SLOTS(mt_rec_cb_enqueue, 1);
MT_REC_SLOTS(mt_rec_cb_commit, 1);
MT_REC_SLOTS(mt_rec_cb_done, 2);
MT_REC_SLOTS(mt_rec_cb_note, 1);
MT_REC_SLOTS(mt_rec_encoder_begin, 1);
MT_REC_SLOTS(mt_rec_encoder_end, 1);
MT_REC_SLOTS(mt_rec_sync, 1);
MT_REC_SLOTS(mt_rec_blit, 1);
MT_REC_SLOTS(mt_rec_label, 1);
MT_REC_SLOTS(mt_rec_wait, 1);
MT_REC_SLOTS(mt_rec_memory, 1);
MT_REC_SLOTS(mt_rec_capture, 1);
MT_REC_SLOTS(mt_rec_string, 1);
MT_REC_SLOTS(mt_rec_process, 1);
MT_REC_SLOTS(mt_rec_text, 1);
MT_REC_SLOTS(mt_rec_device, 2);
MT_REC_SLOTS(mt_rec_queue, 1);
MT_REC_SLOTS(mt_rec_library, 2);
MT_REC_SLOTS(mt_rec_function, 1);
MT_REC_SLOTS(mt_rec_pipeline, 2);
MT_REC_SLOTS(mt_rec_thread_name, 1);
#undef MT_REC_SLOTS

// Slots of a record; `length` matters for strings only.
static inline uint32_t mt_rec_slots(enum mt_record_type type, uint32_t length)
{
    switch (type) {
    case MT_REC_DISPATCH_WIDE:
    case MT_REC_CB_DONE:
    case MT_REC_DEVICE:
    case MT_REC_LIBRARY:
    case MT_REC_PIPELINE:
        return 2;
    case MT_REC_STRING:
        return 1 + ((length & ~MT_STRING_CUT) + 15) / MT_SPOOL_SLOT_BYTES;
    default:
        return 1;
    }
}

#endif
