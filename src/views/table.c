// SPDX-License-Identifier: MIT
// The summary table: everything it shows comes from the small sections of a report, whether that report
// exists as a file or is made from a spool on the way. Runs in tools.
#include "views/table.h"

#include "views/columns.h"
#include "views/file.h"
#include "views/load.h"
#include "views/out.h"

#include <errno.h>
#include <stdio.h>

enum {
    WIDE = 100,
    USUAL_WIDTH = 110,
    LEAST_WIDTH = 60,
    MOST_ROWS = 15,
    MOST_LINES = 10,
    MOST_ERROR_BYTES = 400,
    MOST_NAME_BYTES = 60
};

struct table {
    struct mt_out *out;
    const cJSON *report, *summary, *counts;
    unsigned width;
    bool color;
};

static void put(struct table *table, const char *text)
{
    mt_out_string(table->out, text);
}

static void styled(struct table *table, const char *sequence, const char *text)
{
    if (table->color)
        put(table, sequence);
    mt_cell_plain(table->out, text);
    if (table->color)
        put(table, "\x1b[0m");
}

static void bold(struct table *table, const char *text)
{
    styled(table, "\x1b[1m", text);
}

static void alarm_text(struct table *table, const char *text)
{
    styled(table, "\x1b[31m", text);
}

static void put_count(struct table *table, const char *before, double count)
{
    char cell[MT_CELL_BYTES];
    mt_cell_count(cell, count);
    put(table, before);
    put(table, cell);
}

static void put_duration(struct table *table, const char *before, double ns)
{
    char cell[MT_CELL_BYTES];
    mt_cell_duration(cell, ns);
    put(table, before);
    put(table, cell);
}

static void put_percent(struct table *table, double percent)
{
    char cell[MT_CELL_BYTES];
    mt_cell_percent(cell, percent);
    put(table, " (");
    put(table, cell);
    put(table, ")");
}

// The name of a line in front of its values.
static void line_name(struct table *table, const char *name)
{
    put(table, "  ");
    mt_cell_text(table->out, name, 17);
}

// ---- the head ----
static void show_process(struct table *table)
{
    const cJSON *process = mt_load_get(table->report, "process");
    const char *program = mt_load_string(process, "program"), *state = mt_load_string(process, "state");
    bold(table, program ? program : "(unknown program)");
    put_count(table, "  pid ", mt_load_number(process, "pid"));
    put(table, "  ");
    if (state && !strcmp(state, "ended"))
        put(table, state);
    else
        alarm_text(table, state ? state : "unknown");
    put(table, "  started ");
    mt_cell_plain(table->out, mt_load_string(process, "start"));
    put(table, "\n");
    const cJSON *device, *devices = mt_load_get(table->report, "devices");
    cJSON_ArrayForEach(device, devices)
    {
        line_name(table, "device");
        mt_cell_plain(table->out, mt_load_string(device, "name"));
        put(table, "\n");
    }
}

static void show_wall(struct table *table)
{
    const char *until = mt_load_string(table->summary, "wall_until");
    line_name(table, "wall");
    put_duration(table, "", mt_load_number(table->summary, "wall_ns"));
    if (until && strcmp(until, "end of the process") != 0) {
        put(table, " until the ");
        mt_cell_plain(table->out, until);
    }
    put(table, "\n");
    line_name(table, "GPU busy");
    const cJSON *gpu = mt_load_get(table->summary, "gpu");
    if (!cJSON_IsObject(gpu)) {
        put(table, "not known: no command buffer has GPU times\n");
        return;
    }
    put_duration(table, "", mt_load_number(gpu, "busy_ns"));
    put_percent(table, mt_load_number(gpu, "busy_percent"));
    put_duration(table, "  idle ", mt_load_number(gpu, "idle_ns"));
    put_duration(table, "  overlap ", mt_load_number(gpu, "overlap_ns"));
    if (mt_load_number(gpu, "captured_ns") > 0)
        put_duration(table, "  during captures, left out ", mt_load_number(gpu, "captured_ns"));
    put(table, "  ");
    mt_cell_plain(table->out, mt_load_string(gpu, "how"));
    put(table, "\n");
}

static void show_samples(struct table *table, const char *name, const cJSON *samples)
{
    if (!cJSON_IsObject(samples))
        return;
    line_name(table, name);
    put_duration(table, "", mt_load_number(samples, "total_ns"));
    put_count(table, " in ", mt_load_number(samples, "count"));
    put_duration(table, "  mean ", mt_load_number(samples, "mean_ns"));
    put_duration(table, "  p50 ", mt_load_number(samples, "p50_ns"));
    put_duration(table, "  p95 ", mt_load_number(samples, "p95_ns"));
    put_duration(table, "  max ", mt_load_number(samples, "max_ns"));
    put(table, "\n");
}

static void show_times(struct table *table)
{
    static const struct {
        const char *name, *key;
    } rows[] = {{"encode", "encode"},
                {"submit latency", "submit_latency"},
                {"completion", "completion_latency"}},
      waits[] = {
          {"wait completed", "completed"}, {"wait scheduled", "scheduled"}, {"wait event", "shared_event"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        show_samples(table, rows[i].name, mt_load_get(table->summary, rows[i].key));
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        show_samples(table, waits[i].name, mt_load_get(mt_load_get(table->summary, "waits"), waits[i].key));
}

static void show_counts(struct table *table)
{
    static const struct {
        const char *key, *text;
    } notable[] = {{"failed", " failed"},
                   {"in_flight", " in flight"},
                   {"uncommitted", " never committed"},
                   {"discarded", " discarded"},
                   {"captured", " captured"}};
    line_name(table, "command buffers");
    put_count(table, "", mt_load_number(table->counts, "command_buffers"));
    const char *before = " (";
    for (size_t i = 0; i < sizeof(notable) / sizeof(notable[0]); i++) {
        double count = mt_load_number(table->counts, notable[i].key);
        if (count <= 0)
            continue;
        put_count(table, before, count);
        put(table, notable[i].text);
        before = ", ";
    }
    put(table, *before == ',' ? ")" : "");
    put_count(table, "  encoders ", mt_load_number(table->counts, "encoders"));
    put_count(table, "  dispatches ", mt_load_number(table->counts, "dispatches"));
    put_count(table, "  waits ", mt_load_number(table->counts, "waits"));
    put(table, "\n");
}

static void show_memory(struct table *table)
{
    const cJSON *allocated = mt_load_get(table->summary, "allocated");
    const cJSON *overhead = mt_load_get(table->summary, "overhead");
    char cell[MT_CELL_BYTES];
    if (cJSON_IsObject(allocated)) {
        line_name(table, "memory");
        mt_cell_size(cell, mt_load_number(allocated, "peak_bytes"));
        put(table, "peak ");
        put(table, cell);
        mt_cell_size(cell, mt_load_number(allocated, "now_bytes"));
        put(table, "  at the end ");
        put(table, cell);
        put(table, "\n");
    }
    line_name(table, "tap overhead");
    put_duration(table, "about ", mt_load_number(overhead, "total_ns"));
    put_percent(table, mt_load_number(overhead, "wall_percent"));
    put(table, "\n");
}

// ---- tables ----
struct column {
    const char *title;
    unsigned width;
};

static void show_titles(struct table *table, const char *title, unsigned first, const struct column *columns,
                        size_t count)
{
    put(table, "\n");
    if (table->color)
        put(table, "\x1b[1m");
    mt_cell_text(table->out, title, first);
    for (size_t i = 0; i < count; i++) {
        if (columns[i].width)
            mt_cell_right(table->out, columns[i].title, columns[i].width);
    }
    put(table, table->color ? "\x1b[0m\n" : "\n");
}

static unsigned first_width(const struct table *table, const struct column *columns, size_t count)
{
    unsigned used = 0;
    for (size_t i = 0; i < count; i++)
        used += columns[i].width;
    return table->width > used + 20 ? table->width - used : 20;
}

static void show_rest(struct table *table, int shown, int all, const char *what)
{
    if (all <= shown)
        return;
    put_count(table, "  ... and ", all - shown);
    put(table, what);
}

// "4096x32x1", as far as it fits.
static void shape_cell(char *to, size_t size, const cJSON *shape)
{
    const cJSON *threads = mt_load_get(shape, "threads");
    size_t used = 0;
    to[0] = 0;
    for (int i = 0; i < 3 && cJSON_GetArraySize(threads) == 3; i++) {
        char number[MT_CELL_BYTES];
        mt_cell_count(number, cJSON_GetArrayItem(threads, i)->valuedouble);
        int length = snprintf(to + used, size - used, "%s%s", i ? "x" : "", number);
        used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
}

static void kernel_name(const cJSON *kernel, char *name, size_t size)
{
    const char *constants = mt_load_string(kernel, "constants");
    const char *text = mt_load_string(kernel, "name");
    (void)snprintf(name, size, constants ? "%s [%s]" : "%s", text ? text : "", constants);
}

static void show_kernel(struct table *table, const cJSON *kernel, unsigned first,
                        const struct column *columns)
{
    char name[512], cell[MT_CELL_BYTES], smallest[40], largest[40], grid[96];
    const cJSON *time = mt_load_get(kernel, "gpu_time");
    kernel_name(kernel, name, sizeof(name));
    mt_cell_text(table->out, name, first);
    mt_cell_count(cell, mt_load_number(kernel, "dispatches"));
    mt_cell_right(table->out, cell, columns[0].width);
    mt_cell_percent(cell, mt_load_number(kernel, "dispatches_percent"));
    mt_cell_right(table->out, cell, columns[1].width);
    shape_cell(smallest, sizeof(smallest), mt_load_get(kernel, "smallest"));
    shape_cell(largest, sizeof(largest), mt_load_get(kernel, "largest"));
    bool one = !strcmp(smallest, largest);
    (void)snprintf(grid, sizeof(grid), "%s%s%s", smallest, one ? "" : "..", one ? "" : largest);
    if (columns[2].width)
        mt_cell_right(table->out, grid[0] ? grid : "-", columns[2].width);
    mt_cell_duration(cell, mt_load_number(time, "total_ns"));
    mt_cell_right(table->out, cell, columns[3].width);
    mt_cell_duration(cell, mt_load_number(time, "mean_per_dispatch_ns"));
    mt_cell_right(table->out, cell, columns[4].width);
    mt_cell_count(cell, mt_load_number(time, "covered_dispatches"));
    mt_cell_right(table->out, cell, columns[5].width);
    put(table, "\n");
}

static void show_kernels(struct table *table)
{
    // On a narrow terminal names matter more than grids.
    const bool wide = table->width >= WIDE;
    const struct column columns[] = {{"dispatches", 12}, {"share", 8}, {wide ? "threads" : "", wide ? 26 : 0},
                                     {"GPU exact", 11},  {"mean", 10}, {"of", 9}};
    const cJSON *kernel, *kernels = mt_load_get(table->report, "kernels");
    unsigned first = first_width(table, columns, sizeof(columns) / sizeof(columns[0]));
    int shown = 0;
    if (cJSON_GetArraySize(kernels) == 0)
        return;
    show_titles(table, "kernel", first, columns, sizeof(columns) / sizeof(columns[0]));
    cJSON_ArrayForEach(kernel, kernels)
    {
        if (shown++ < MOST_ROWS)
            show_kernel(table, kernel, first, columns);
    }
    show_rest(table, MOST_ROWS, shown, " kernels\n");
}

static void show_label(struct table *table, const cJSON *label, unsigned first, const struct column *columns,
                       size_t count)
{
    static const char *const keys[] = {"", "total_ns", "mean_ns", "min_ns", "p50_ns", "p95_ns", "max_ns"};
    char cell[MT_CELL_BYTES];
    bool others = cJSON_IsTrue(mt_load_get(label, "others"));
    const char *name = mt_load_string(label, "label");
    mt_cell_text(table->out, others ? "(further labels)" : name ? name : "(no label)", first);
    mt_cell_count(cell, mt_load_number(label, "command_buffers"));
    mt_cell_right(table->out, cell, columns[0].width);
    for (size_t i = 1; i < count; i++) {
        mt_cell_duration(cell, mt_load_number(mt_load_get(label, "gpu"), keys[i]));
        if (columns[i].width)
            mt_cell_right(table->out, cell, columns[i].width);
    }
    put(table, "\n");
}

static void show_labels(struct table *table)
{
    const bool wide = table->width >= WIDE;
    const struct column columns[] = {{"count", 9}, {"GPU total", 11}, {"mean", 10}, {"min", wide ? 10 : 0},
                                     {"p50", 10},  {"p95", 10},       {"max", 10}};
    const size_t count = sizeof(columns) / sizeof(columns[0]);
    const cJSON *label, *labels = mt_load_get(table->report, "labels");
    unsigned first = first_width(table, columns, count);
    int shown = 0;
    if (cJSON_GetArraySize(labels) == 0)
        return;
    show_titles(table, wide ? "command buffers by label" : "label", first, columns, count);
    cJSON_ArrayForEach(label, labels)
    {
        if (shown++ < MOST_ROWS)
            show_label(table, label, first, columns, count);
    }
    show_rest(table, MOST_ROWS, shown, " labels\n");
}

// ---- what went wrong ----
static void show_name(struct table *table, const char *name)
{
    if (!name)
        return;
    put(table, " ");
    if (strlen(name) > MOST_NAME_BYTES)
        mt_cell_text(table->out, name, MOST_NAME_BYTES);
    else
        mt_cell_plain(table->out, name);
}

static void show_errors(struct table *table)
{
    const cJSON *error, *errors = mt_load_get(table->report, "errors");
    double count = mt_load_number(errors, "count");
    int shown = 0;
    if (count <= 0)
        return;
    put(table, "\n");
    alarm_text(table, "errors");
    put_count(table, ": ", count);
    put(table, "\n");
    const cJSON *listed = mt_load_get(errors, "listed");
    cJSON_ArrayForEach(error, listed)
    {
        if (shown++ >= MOST_LINES)
            break;
        put(table, "  ");
        mt_cell_plain(table->out, mt_load_string(error, "object"));
        put_count(table, " ", mt_load_number(error, "id"));
        show_name(table, mt_load_string(error, "name"));
        put(table, ": ");
        const char *text = mt_load_string(error, "text");
        if (text && strlen(text) > MOST_ERROR_BYTES)
            mt_cell_text(table->out, text, MOST_ERROR_BYTES);
        else
            mt_cell_plain(table->out, text);
        put(table, "\n");
    }
    show_rest(table, MOST_LINES, (int)count, " errors\n");
}

static void show_lost(struct table *table)
{
    static const struct {
        const char *key, *text;
    } losses[] = {{"records", " records were dropped"},
                  {"overwritten_records", " records were overwritten, as asked for by METALTAP_KEEP"},
                  {"unknown_context", " dispatches have an unknown encoder"}},
      damages[] = {{"bad_segments", " segments are damaged"},
                   {"bad_records", " segments have a damaged record"},
                   {"missing_segments", " segments are missing"},
                   {"lost_segments", " segments were overwritten while they were read"},
                   {"cut_bytes", " bytes are missing at the end"}};
    const cJSON *dropped = mt_load_get(table->report, "dropped"), *damage = mt_load_get(dropped, "damage");
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        if (mt_load_number(dropped, losses[i].key) > 0) {
            put_count(table, "lost: ", mt_load_number(dropped, losses[i].key));
            put(table, losses[i].text);
            put(table, "\n");
        }
    }
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        if (mt_load_number(damage, damages[i].key) > 0) {
            put_count(table, "damage: ", mt_load_number(damage, damages[i].key));
            put(table, damages[i].text);
            put(table, "\n");
        }
    }
    if (mt_load_string(dropped, "stop_reason")) {
        alarm_text(table, "recording stopped early: ");
        mt_cell_plain(table->out, mt_load_string(dropped, "stop_reason"));
        put(table, "\n");
    }
}

static void show_captures(struct table *table)
{
    const cJSON *capture, *captures = mt_load_get(table->report, "captures");
    int shown = 0;
    cJSON_ArrayForEach(capture, captures)
    {
        if (shown++ >= MOST_LINES)
            break;
        put(table, "capture ");
        mt_cell_plain(table->out, mt_load_string(capture, "event"));
        put(table, ": ");
        mt_cell_plain(table->out, mt_load_string(capture, "text"));
        if (mt_load_number(capture, "first") >= 0) {
            put_count(table, ", command buffers ", mt_load_number(capture, "first"));
            put_count(table, " to ", mt_load_number(capture, "last"));
        }
        if (mt_load_number(capture, "extra") > 0)
            put_count(table, ", others in it ", mt_load_number(capture, "extra"));
        put(table, "\n");
    }
}

static void show_warnings(struct table *table)
{
    const cJSON *warning, *warnings = mt_load_get(table->report, "warnings");
    int shown = 0;
    cJSON_ArrayForEach(warning, warnings)
    {
        if (shown++ >= MOST_LINES)
            continue;
        alarm_text(table, "warning: ");
        mt_cell_plain(table->out, cJSON_GetStringValue(warning));
        put(table, "\n");
    }
    show_rest(table, MOST_LINES, shown, " warnings\n");
}

static void show(struct table *table, const char *path)
{
    show_process(table);
    show_wall(table);
    show_times(table);
    show_counts(table);
    show_memory(table);
    show_kernels(table);
    show_labels(table);
    show_errors(table);
    put(table, "\n");
    show_captures(table);
    show_lost(table);
    show_warnings(table);
    put(table, "read from ");
    mt_cell_plain(table->out, path);
    put(table, "\n");
}

// A file that was shown as far as it goes is an error all the same.
static int judge(const struct mt_loaded *loaded, const char *path, char *error, size_t error_size)
{
    const cJSON *damage = mt_load_get(mt_load_get(loaded->report, "dropped"), "damage");
    if (loaded->cut) {
        mt_file_tell(error, error_size, path, "cut: its end is missing; the summary is whole", 0);
        return -ENODATA;
    }
    if (mt_load_number(damage, "bad_segments") > 0 || mt_load_number(damage, "bad_records") > 0 ||
        mt_load_number(damage, "missing_segments") > 0) {
        mt_file_tell(error, error_size, path, "damaged; shown is what could be read", 0);
        return -EBADMSG;
    }
    return 0;
}

int mt_report_table(const char *path, int fd, int width, bool color, char *error, size_t error_size)
{
    struct mt_loaded loaded;
    struct mt_out out;
    int result = mt_load(path, &loaded, error, error_size);
    if (result)
        return result;
    result = mt_out_open_fd(&out, fd);
    if (!result) {
        struct table table = {.out = &out,
                              .report = loaded.report,
                              .summary = mt_load_get(loaded.report, "summary"),
                              .width = width <= 0            ? USUAL_WIDTH
                                       : width < LEAST_WIDTH ? LEAST_WIDTH
                                                             : (unsigned)width,
                              .color = color};
        table.counts = mt_load_get(table.summary, "counts");
        show(&table, path);
        result = mt_out_flush(&out);
    }
    if (result)
        mt_file_tell(error, error_size, "output", "could not be written", result);
    else
        result = judge(&loaded, path, error, error_size);
    mt_out_free(&out);
    mt_load_free(&loaded);
    return result;
}
