// SPDX-License-Identifier: MIT
// The JSON report's parts, inside src/views only: one function per section. Each writes its value; the order
// of the sections and their names are in json.c. docs/REPORT.md and docs/report.schema.json say what they
// hold.
#ifndef MT_VIEWS_JSON_H
#define MT_VIEWS_JSON_H

#include "analysis/analysis.h"
#include "views/out.h"
#include "views/report.h"
#include "views/tree.h"

#define MT_REPORT_SCHEMA "metaltap-report/1"

// It ends so, and the end of any shorter piece of it never looks like that.
#define MT_REPORT_ENDS "\"complete\":true}"
// The first section that a table has no use for; all it needs stands before.
#define MT_REPORT_TABLE_ENDS "queues"

struct mt_json {
    struct mt_out *out;
    struct mt_model *model;
    const struct mt_definitions *all;
    struct mt_analysis *analysis;
    enum mt_report_detail detail;
    struct mt_tree tree;
    uint32_t last_group; // highest number of a debug-group path that was written
};

// In json_summary.c.
void mt_json_process(struct mt_json *json);
void mt_json_options(struct mt_json *json);
void mt_json_clock(struct mt_json *json);
void mt_json_summary(struct mt_json *json);
void mt_json_dropped(struct mt_json *json);
void mt_json_warnings(struct mt_json *json);
void mt_json_errors(struct mt_json *json);
void mt_json_captures(struct mt_json *json);
// In json_kernels.c.
void mt_json_kernels(struct mt_json *json);
void mt_json_labels(struct mt_json *json);
// In json_definitions.c.
void mt_json_devices(struct mt_json *json);
void mt_json_queues(struct mt_json *json);
void mt_json_threads(struct mt_json *json);
void mt_json_libraries(struct mt_json *json);
void mt_json_functions(struct mt_json *json);
void mt_json_pipelines(struct mt_json *json);
// In json_rows.c: a pass over the run each. 0 or -errno of the pass.
int mt_json_command_buffers(struct mt_json *json);
int mt_json_encoders(struct mt_json *json);
int mt_json_dispatches(struct mt_json *json);
int mt_json_waits(struct mt_json *json);
int mt_json_memory(struct mt_json *json);
int mt_json_groups(struct mt_json *json);

// In json.c. The whole report; `error` is filled if reading failed, `out->error` says if writing did; `whole`
// says if there was no damage in what was read.
int mt_json_write(const char *spool, struct mt_out *out, enum mt_report_detail detail, bool *whole,
                  char *error, size_t error_size);
// A row of an array: prints and deletes it, with what separates it from the one before.
void mt_json_row(struct mt_json *json, cJSON *row, bool *first);

#endif
