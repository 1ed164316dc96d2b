// SPDX-License-Identifier: MIT
// The JSON report as a whole: the order of its sections, and the entry points of report.h. The small sections
// come first, so that the beginning of a report of any size is enough for a table. Runs in tools, and in a
// target at its exit: bounded memory, no stdio, no locale, errors by text.
#include "views/json.h"

#include "views/file.h"

#include <errno.h>
#include <stdio.h>

void mt_json_row(struct mt_json *json, cJSON *row, bool *first)
{
    mt_out_string(json->out, *first ? "\n" : ",\n");
    *first = false;
    mt_tree_print(&json->tree, row, json->out);
}

struct section {
    const char *name;
    void (*write)(struct mt_json *json);
    int (*stream)(struct mt_json *json); // instead of `write`
    enum mt_report_detail detail;        // from which level on it is there
};

// The table reads up to MT_REPORT_TABLE_ENDS; what it needs stands before.
static const struct section sections[] = {
    {"process", mt_json_process, NULL, MT_DETAIL_SUMMARY},
    {"options", mt_json_options, NULL, MT_DETAIL_SUMMARY},
    {"devices", mt_json_devices, NULL, MT_DETAIL_SUMMARY},
    {"clock", mt_json_clock, NULL, MT_DETAIL_SUMMARY},
    {"summary", mt_json_summary, NULL, MT_DETAIL_SUMMARY},
    {"dropped", mt_json_dropped, NULL, MT_DETAIL_SUMMARY},
    {"warnings", mt_json_warnings, NULL, MT_DETAIL_SUMMARY},
    {"errors", mt_json_errors, NULL, MT_DETAIL_SUMMARY},
    {"captures", mt_json_captures, NULL, MT_DETAIL_SUMMARY},
    {"kernels", mt_json_kernels, NULL, MT_DETAIL_SUMMARY},
    {"labels", mt_json_labels, NULL, MT_DETAIL_SUMMARY},
    {MT_REPORT_TABLE_ENDS, mt_json_queues, NULL, MT_DETAIL_SUMMARY},
    {"threads", mt_json_threads, NULL, MT_DETAIL_SUMMARY},
    {"libraries", mt_json_libraries, NULL, MT_DETAIL_SUMMARY},
    {"functions", mt_json_functions, NULL, MT_DETAIL_SUMMARY},
    {"pipelines", mt_json_pipelines, NULL, MT_DETAIL_SUMMARY},
    {"memory", NULL, mt_json_memory, MT_DETAIL_SUMMARY},
    {"command_buffers", NULL, mt_json_command_buffers, MT_DETAIL_CB},
    {"encoders", NULL, mt_json_encoders, MT_DETAIL_CB},
    {"waits", NULL, mt_json_waits, MT_DETAIL_CB},
    {"dispatches", NULL, mt_json_dispatches, MT_DETAIL_FULL},
    {"groups", NULL, mt_json_groups, MT_DETAIL_CB},
};

static int write_section(struct mt_json *json, const struct section *section)
{
    int error = 0;
    mt_out_string(json->out, ",\n\"");
    mt_out_string(json->out, section->name);
    mt_out_string(json->out, "\":");
    if (section->stream)
        error = section->stream(json);
    else
        section->write(json);
    if (!error)
        error = json->tree.error;
    return error ? error : json->out->error;
}

static int write_report(struct mt_json *json)
{
    static const char *const details[] = {"summary", "cb", "full"};
    int error = 0;
    mt_out_string(json->out,
                  "{\"schema\":\"" MT_REPORT_SCHEMA "\",\n\"generator\":\"metaltap\",\n\"detail\":\"");
    mt_out_string(json->out, details[json->detail]);
    mt_out_string(json->out, "\"");
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]) && !error; i++) {
        if (json->detail >= sections[i].detail)
            error = write_section(json, &sections[i]);
    }
    mt_out_string(json->out, ",\n" MT_REPORT_ENDS "\n");
    return error ? error : json->out->error;
}

static bool is_whole(const struct mt_spool *spool)
{
    const struct mt_spool_damage *damage = mt_spool_damage(spool);
    return !damage->bad_segments && !damage->bad_records && !damage->missing_segments && !damage->cut_bytes &&
           !damage->lost_segments;
}

int mt_json_write(const char *spool_path, struct mt_out *out, enum mt_report_detail detail, bool *whole,
                  char *error, size_t error_size)
{
    struct mt_spool *spool = NULL;
    struct mt_json json = {.out = out, .detail = detail};
    struct mt_spool_error told = {""};
    int result = mt_spool_open(spool_path, &spool, &told);
    if (!result)
        result = mt_model_open(spool, &json.model, &told);
    if (!result)
        json.all = mt_model_definitions(json.model);
    if (!result)
        result = mt_analysis_run(json.model, &json.analysis);
    if (!result)
        result = write_report(&json);
    if (!result)
        result = mt_out_flush(out);
    if (result && !out->error) { // what went wrong with the output its owner tells
        if (told.text[0] && error_size)
            (void)snprintf(error, error_size, "%s", told.text);
        else
            mt_file_tell(error, error_size, spool_path, "cannot be read", result);
    }
    *whole = !result && is_whole(spool);
    mt_analysis_free(json.analysis);
    if (json.model)
        mt_model_close(json.model);
    if (spool)
        mt_spool_close(spool);
    return result;
}

int mt_report_json_fd(const char *spool, int fd, enum mt_report_detail detail, char *error, size_t error_size)
{
    struct mt_out out;
    bool whole;
    int result = mt_out_open_fd(&out, fd);
    if (!result)
        result = mt_json_write(spool, &out, detail, &whole, error, error_size);
    if (out.error)
        mt_file_tell(error, error_size, "output", "could not be written", out.error);
    mt_out_free(&out);
    return result;
}

int mt_report_json(const char *spool, const char *path, enum mt_report_detail detail, char *error,
                   size_t error_size)
{
    bool whole;
    return mt_report_json_whole(spool, path, detail, &whole, error, error_size);
}

int mt_report_json_whole(const char *spool, const char *path, enum mt_report_detail detail, bool *whole,
                         char *error, size_t error_size)
{
    struct mt_file file;
    struct mt_out out;
    *whole = false;
    int result = mt_file_begin(&file, path, error, error_size);
    if (result)
        return result;
    result = mt_out_open_fd(&out, file.fd);
    if (!result)
        result = mt_json_write(spool, &out, detail, whole, error, error_size);
    if (out.error)
        mt_file_tell(error, error_size, path, "could not be written", out.error);
    mt_out_free(&out);
    return mt_file_end(&file, result, error, error_size);
}
