// SPDX-License-Identifier: MIT
// The sections with a row per event, streamed in a pass each: nothing is kept, numbers are formatted by hand.
// Dispatches are the many; their rows are arrays under one list of columns. Runs in tools, and in a target at
// its exit.
#include "views/json.h"

#include <errno.h>
#include <stdlib.h>

// Two columns that stay the same from row to row, ready to be copied.
struct pair {
    uint32_t first, second;
    bool known;
    uint8_t length;
    char text[32];
};
// What a dispatch's record says, as text; zeroed memory is no record's.
enum { KNOWN_BITS = 9 }; // 512 of them
struct known_record {
    struct mt_dispatch_key key;
    uint32_t length;
    char text[92]; // 83 at most for a record of one slot
};
struct known_time {
    uint64_t millions; // of nanoseconds; 0: none yet
    uint32_t length;
    char text[20];
};
struct rows {
    struct mt_json *json;
    struct mt_out *out;
    bool any;
    struct pair place, tail; // of dispatches, and what follows
    struct known_time time;
    struct known_record *records;
};

static void begin_row(struct rows *rows)
{
    mt_out_string(rows->out, rows->any ? ",\n" : "\n");
    rows->any = true;
}

// `key` comes with what stands before and behind it: ",\"name\":".
static void put_u64(struct mt_out *out, const char *key, uint64_t value)
{
    mt_out_string(out, key);
    mt_out_u64(out, value);
}

static void put_time(struct mt_out *out, const char *key, int64_t time_ns)
{
    mt_out_string(out, key);
    mt_out_time(out, time_ns);
}

static void put_id(struct mt_out *out, const char *key, uint32_t id)
{
    put_time(out, key, id ? (int64_t)id : MT_NO_TIME);
}

static void put_text(struct mt_out *out, const char *key, struct mt_text text)
{
    mt_out_string(out, key);
    mt_out_json_text(out, text);
}

static void put_word(struct mt_out *out, const char *key, const char *word)
{
    mt_out_string(out, key);
    mt_out_string(out, "\"");
    mt_out_string(out, word);
    mt_out_string(out, "\"");
}

static int64_t between(int64_t begin_ns, int64_t end_ns)
{
    bool known = begin_ns != MT_NO_TIME && end_ns != MT_NO_TIME && end_ns >= begin_ns;
    return known ? end_ns - begin_ns : MT_NO_TIME;
}

static void note_group(struct rows *rows, uint32_t group)
{
    if (group > rows->json->last_group)
        rows->json->last_group = group;
}

// Runs a pass that writes rows between `begin` and `end`. None is needed for what the analysis did not see.
static int run_pass(struct rows *rows, struct mt_model_visitor *visitor, uint64_t count, const char *begin,
                    const char *end)
{
    visitor->context = rows;
    mt_out_string(rows->out, begin);
    int error = count ? mt_model_run(rows->json->model, visitor) : 0;
    mt_out_string(rows->out, end);
    return error;
}

// ---- command buffers ----
static const char *end_name(enum mt_cb_end end)
{
    static const char *const names[] = {"completed", "failed", "in_flight", "uncommitted", "discarded"};
    return names[end];
}

static void put_flags(struct mt_out *out, uint32_t flags)
{
    static const char *const names[] = {"unretained", "descriptor", "captured", "reused", "seen_late"};
    bool any = false;
    mt_out_string(out, ",\"flags\":[");
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(flags >> i & 1))
            continue;
        put_word(out, any ? "," : "", names[i]);
        any = true;
    }
    mt_out_string(out, "]");
}

static void put_cb_times(struct mt_out *out, const struct mt_command_buffer *it)
{
    put_time(out, ",\"create_ns\":", it->create_ns);
    put_time(out, ",\"first_encode_ns\":", it->first_encode_ns);
    put_time(out, ",\"enqueue_ns\":", it->enqueue_ns);
    put_time(out, ",\"commit_ns\":", it->commit_ns);
    put_time(out, ",\"scheduled_ns\":", it->scheduled_ns);
    put_time(out, ",\"gpu_start_ns\":", it->gpu_start_ns);
    put_time(out, ",\"gpu_end_ns\":", it->gpu_end_ns);
    put_time(out, ",\"gpu_ns\":", between(it->gpu_start_ns, it->gpu_end_ns));
    put_time(out, ",\"completed_ns\":", it->completed_ns);
    put_u64(out, ",\"encode_ns\":", it->encode_ns);
    put_u64(out, ",\"wait_ns\":", it->wait_ns);
}

static void write_command_buffer(void *context, const struct mt_model *model,
                                 const struct mt_command_buffer *it)
{
    (void)model;
    struct rows *rows = context;
    struct mt_out *out = rows->out;
    begin_row(rows);
    put_u64(out, "{\"id\":", it->id);
    put_id(out, ",\"queue\":", it->queue);
    put_text(out, ",\"label\":", it->label);
    put_word(out, ",\"end\":", end_name(it->end));
    put_u64(out, ",\"status\":", it->status);
    put_text(out, ",\"error\":", it->error);
    put_flags(out, it->flags);
    put_cb_times(out, it);
    put_u64(out, ",\"encoders\":", it->encoders);
    put_u64(out, ",\"dispatches\":", it->dispatches);
    put_u64(out, ",\"blits\":", it->blits);
    put_u64(out, ",\"indirect_executes\":", it->executes);
    put_u64(out, ",\"waits\":", it->waits);
    put_u64(out, ",\"handlers\":", it->handlers);
    put_u64(out, ",\"presents\":", it->presents);
    put_u64(out, ",\"event_waits\":", it->event_waits);
    put_u64(out, ",\"event_signals\":", it->event_signals);
    put_id(out, ",\"create_thread\":", it->create_thread);
    put_id(out, ",\"commit_thread\":", it->commit_thread);
    put_u64(out, ",\"allocated_bytes\":", it->allocated_bytes);
    mt_out_string(out, "}");
}

int mt_json_command_buffers(struct mt_json *json)
{
    struct rows rows = {.json = json, .out = json->out};
    struct mt_model_visitor visitor = {.command_buffer = write_command_buffer};
    return run_pass(&rows, &visitor, json->analysis->counts.command_buffers, "[", "]");
}

// ---- encoders ----
static void write_encoder(void *context, const struct mt_model *model, const struct mt_encoder *it)
{
    static const char *const kinds[] = {"compute", "blit", "other"};
    static const char *const forms[] = {"plain", "dispatch_type", "descriptor"};
    (void)model;
    struct rows *rows = context;
    struct mt_out *out = rows->out;
    begin_row(rows);
    put_u64(out, "{\"id\":", it->id);
    put_id(out, ",\"command_buffer\":", it->command_buffer);
    put_id(out, ",\"thread\":", it->thread);
    put_word(out, ",\"kind\":", kinds[it->kind <= MT_ENCODER_OTHER ? it->kind : MT_ENCODER_OTHER]);
    put_word(out, ",\"dispatch_type\":", it->dispatch_type == 1 ? "concurrent" : "serial");
    put_word(out, ",\"form\":", forms[it->form < 3 ? it->form : 0]);
    put_text(out, ",\"label\":", it->label);
    put_id(out, ",\"group\":", it->group);
    put_time(out, ",\"begin_ns\":", it->begin_ns);
    put_time(out, ",\"end_ns\":", it->end_ns);
    put_u64(out, ",\"dispatches\":", it->dispatches);
    put_u64(out, ",\"barriers\":", it->barriers);
    put_u64(out, ",\"fence_waits\":", it->fence_waits);
    put_u64(out, ",\"fence_updates\":", it->fence_updates);
    put_u64(out, ",\"blits\":", it->blits);
    put_u64(out, ",\"blit_bytes\":", it->blit_bytes);
    put_u64(out, ",\"indirect_executes\":", it->executes);
    put_u64(out, ",\"signposts\":", it->signposts);
    mt_out_string(out, "}");
    note_group(rows, it->group);
}

int mt_json_encoders(struct mt_json *json)
{
    struct rows rows = {.json = json, .out = json->out};
    struct mt_model_visitor visitor = {.encoder = write_encoder};
    return run_pass(&rows, &visitor, json->analysis->counts.encoders, "[", "]");
}

// ---- dispatches ----
static char *append_u64(char *to, uint64_t value)
{
    *to++ = ',';
    return mt_format_u64(to, value);
}

static char *append_text(char *to, const char *text, size_t length)
{
    memcpy(to, text, length);
    return to + length;
}

static char *append_id(char *to, uint32_t id)
{
    return id ? append_u64(to, id) : append_text(to, ",null", 5);
}

// Copies all of the text, which is quicker than just its length; what is too much is written over.
static char *append_pair(char *to, struct pair *pair, uint32_t first, uint32_t second)
{
    if (!pair->known || pair->first != first || pair->second != second) {
        *pair = (struct pair){.first = first, .second = second, .known = true};
        pair->length = (uint8_t)(append_id(append_id(pair->text, first), second) - pair->text);
    }
    memcpy(to, pair->text, sizeof(pair->text));
    return to + pair->length;
}

static char *append_grid(char *to, const struct mt_dispatch *it)
{
    static const char groups[] = ",\"threadgroups\"", threads[] = ",\"threads\"",
                      indirect[] = ",\"indirect\",null,null,null";
    enum mt_dispatch_form form = mt_dispatch_form_of(it);
    if (form == MT_FORM_INDIRECT)
        return append_text(to, indirect, sizeof(indirect) - 1);
    if (form == MT_FORM_THREADS)
        to = append_text(to, threads, sizeof(threads) - 1);
    else
        to = append_text(to, groups, sizeof(groups) - 1);
    for (int i = 0; i < 3; i++)
        to = append_u64(to, it->grid[i]);
    return to;
}

// What a record says by itself; its index and time stand before, what it has in common with others behind.
static char *append_record(char *to, const struct mt_rec_any *record)
{
    struct mt_dispatch it = {0};
    mt_dispatch_read(&it, record);
    to = append_id(to, it.pipeline);
    to = append_grid(to, &it);
    for (int i = 0; i < 3; i++)
        to = append_u64(to, it.threadgroup[i]);
    return append_u64(to, it.threadgroup_memory_bytes);
}

// Programs repeat themselves, and a copy is quicker than nine numbers.
static char *append_known_record(char *to, struct known_record *records, const struct mt_rec_any *record)
{
    if (mt_rec_type(record->word) == MT_REC_DISPATCH_WIDE)
        return append_record(to, record);
    struct mt_dispatch_key key = mt_dispatch_key_of(record);
    struct known_record *known = &records[mt_dispatch_key_place(&key, KNOWN_BITS)];
    if (!mt_dispatch_key_is(&known->key, &key)) {
        known->key = key;
        known->length = (uint32_t)(append_record(known->text, record) - known->text);
    }
    memcpy(to, known->text, sizeof(known->text));
    return to + known->length;
}

// Of a time only the last six digits change from row to row.
static char *append_time(char *to, struct known_time *known, int64_t time_ns)
{
    uint64_t whole = time_ns < 0 ? 0 - (uint64_t)time_ns : (uint64_t)time_ns, millions = whole / 1000000;
    if (time_ns < 0 || !millions) {
        to = time_ns < 0 ? append_text(to, "-", 1) : to;
        return mt_format_u64(to, whole);
    }
    if (known->millions != millions) {
        known->millions = millions;
        known->length = (uint32_t)(mt_format_u64(known->text, millions) - known->text);
    }
    memcpy(to, known->text, sizeof(known->text));
    return mt_format_six(to + known->length, (uint32_t)(whole % 1000000));
}

static void write_dispatches(void *context, struct mt_model *model, const struct mt_dispatches *them)
{
    struct rows *rows = context;
    struct mt_out *out = rows->out;
    struct mt_dispatch it = them->common;
    note_group(rows, it.group);
    for (size_t i = 0; i < them->slot_count; i += mt_dispatch_slots(&them->slots[i])) {
        char *begin = mt_out_reserve(out, 512); // 16 numbers of up to 20 digits
        if (!begin)
            return;
        char *to = append_text(begin, ",\n[", 3);
        if (!rows->any)
            to = append_text(begin, "\n[", 2);
        rows->any = true;
        to = append_time(to, &rows->time, mt_model_time_ns(model, them->slots[i].time));
        to = append_pair(to, &rows->place, it.command_buffer, it.encoder);
        to = append_u64(to, it.index);
        to = append_known_record(to, rows->records, &them->slots[i]);
        to = append_text(to, it.barrier_before ? ",1" : ",0", 2);
        to = append_pair(to, &rows->tail, it.group, it.thread);
        *to++ = ']';
        out->used += (size_t)(to - begin);
        it.index += them->index_step;
        it.barrier_before = false;
    }
}

int mt_json_dispatches(struct mt_json *json)
{
    static const char begin[] =
        "{\"columns\":[\"time_ns\",\"command_buffer\",\"encoder\",\"index\",\"pipeline\",\"form\",\"grid_x\","
        "\"grid_y\",\"grid_z\",\"threadgroup_x\",\"threadgroup_y\",\"threadgroup_z\","
        "\"threadgroup_memory_bytes\",\"barrier_before\",\"group\",\"thread\"],\"rows\":[";
    struct rows rows = {.json = json, .out = json->out};
    rows.records = calloc((size_t)1 << KNOWN_BITS, sizeof(*rows.records));
    if (!rows.records)
        return -ENOMEM;
    struct mt_model_visitor visitor = {.dispatches = write_dispatches};
    int error = run_pass(&rows, &visitor, json->analysis->counts.dispatches, begin, "]}");
    free(rows.records);
    return error;
}

// ---- waits ----
static void write_wait(void *context, const struct mt_model *model, const struct mt_wait *it)
{
    static const char *const kinds[] = {"completed", "scheduled", "shared_event"};
    (void)model;
    struct rows *rows = context;
    struct mt_out *out = rows->out;
    begin_row(rows);
    put_word(out, "{\"kind\":", it->kind < MT_WAIT_KINDS ? kinds[it->kind] : "other");
    put_id(out, ",\"command_buffer\":", it->command_buffer);
    put_id(out, ",\"thread\":", it->thread);
    put_time(out, ",\"begin_ns\":", it->begin_ns);
    put_time(out, ",\"end_ns\":", it->end_ns);
    put_time(out, ",\"took_ns\":", between(it->begin_ns, it->end_ns));
    if (it->kind == MT_WAIT_SHARED_EVENT)
        put_u64(out, ",\"value\":", it->value);
    else
        mt_out_string(out, ",\"value\":null");
    mt_out_string(out, "}");
}

int mt_json_waits(struct mt_json *json)
{
    struct rows rows = {.json = json, .out = json->out};
    struct mt_model_visitor visitor = {.wait = write_wait};
    return run_pass(&rows, &visitor, json->analysis->counts.waits, "[", "]");
}

// ---- memory ----
static const char *const memory_kinds[MT_MEMORY_KINDS] = {"buffer", "heap", "heap_buffer", "no_copy"};

static void write_memory_event(void *context, const struct mt_model *model, const struct mt_memory_event *it)
{
    (void)model;
    struct rows *rows = context;
    struct mt_out *out = rows->out;
    unsigned kind = (unsigned)it->kind & ~(unsigned)MT_MEMORY_FREE;
    begin_row(rows);
    put_time(out, "[", it->time_ns);
    put_word(out, ",", (unsigned)it->kind & MT_MEMORY_FREE ? "release" : "allocate");
    put_word(out, ",", kind < MT_MEMORY_KINDS ? memory_kinds[kind] : "other");
    put_u64(out, ",", it->number);
    put_u64(out, ",", it->bytes);
    put_u64(out, ",", it->total_bytes);
    mt_out_string(out, "]");
}

static void write_memory_totals(struct mt_json *json)
{
    struct mt_out *out = json->out;
    const struct mt_memory_use *memory = &json->analysis->memory;
    if (json->analysis->counts.memory_events) {
        put_u64(out, "{\"now_bytes\":", memory->now_bytes);
        put_u64(out, ",\"peak_bytes\":", memory->peak_bytes);
    } else {
        mt_out_string(out, "{\"now_bytes\":null,\"peak_bytes\":null");
    }
    put_time(out, ",\"peak_ns\":", memory->peak_ns);
    mt_out_string(out, ",\"kinds\":{");
    for (int i = 0; i < MT_MEMORY_KINDS; i++) {
        put_word(out, i ? "," : "", memory_kinds[i]);
        put_u64(out, ":{\"allocations\":", memory->kinds[i].allocations);
        put_u64(out, ",\"releases\":", memory->kinds[i].releases);
        put_u64(out, ",\"allocated_bytes\":", memory->kinds[i].allocated_bytes);
        put_u64(out, ",\"released_bytes\":", memory->kinds[i].released_bytes);
        mt_out_string(out, "}");
    }
    mt_out_string(out, "}");
}

int mt_json_memory(struct mt_json *json)
{
    static const char begin[] =
        ",\"events\":{\"columns\":[\"time_ns\",\"what\",\"kind\",\"number\",\"bytes\","
        "\"total_bytes\"],\"rows\":[";
    struct rows rows = {.json = json, .out = json->out};
    struct mt_model_visitor visitor = {.memory = write_memory_event};
    write_memory_totals(json);
    if (json->detail < MT_DETAIL_FULL) {
        mt_out_string(json->out, "}");
        return 0;
    }
    return run_pass(&rows, &visitor, json->analysis->counts.memory_events, begin, "]}}");
}

// ---- debug groups: last, since only the passes before know them ----
int mt_json_groups(struct mt_json *json)
{
    struct rows rows = {.json = json, .out = json->out};
    mt_out_string(json->out, "[");
    for (uint32_t group = 1; group && group <= json->last_group; group++) {
        begin_row(&rows);
        put_u64(json->out, "{\"id\":", group);
        mt_out_string(json->out, ",\"path\":[");
        for (uint32_t level = 0; level < mt_model_group_depth(json->model, group); level++)
            put_text(json->out, level ? "," : "", mt_model_group_name(json->model, group, level));
        mt_out_string(json->out, "]}");
    }
    mt_out_string(json->out, "]");
    return 0;
}
