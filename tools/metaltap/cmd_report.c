// SPDX-License-Identifier: MIT
// `metaltap report`: the summary or the JSON of a recording or a report. Reads one file and writes to
// standard output or to the file that --json names; one thread.
#include "cli.h"
#include "options/options.h"
#include "recordings.h"
#include "spool/reader.h"
#include "views/report.h"
#include "views/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct report {
    const char *file, *json; // json: NULL for the summary
    enum mt_report_detail detail;
    bool detail_given;
};

static int set_flag(struct report *report, const char *name, const char *value)
{
    struct mt_options options;
    char error[MT_OPTION_ERROR_MAX];
    if (strcmp(name, "json") == 0) {
        report->json = value;
        return MT_EXIT_OK;
    }
    mt_options_defaults(&options);
    if (mt_options_set(&options, name, value, error, sizeof error) != 0)
        return mt_cli_usage("report", "%s", error);
    report->detail = options.detail;
    report->detail_given = true;
    return MT_EXIT_OK;
}

// MT_EXIT_OK with file NULL: help was asked for and given.
static int read_arguments(struct report *report, int count, char **arguments)
{
    for (int at = 0; at < count;) {
        const char *value;
        if (arguments[at][0] != '-') {
            if (report->file)
                return mt_cli_usage("report", "one file at a time: '%s' and '%s' were given", report->file,
                                    arguments[at]);
            report->file = arguments[at++];
            continue;
        }
        int flag =
            mt_cli_flag("report", mt_report_flags, mt_report_flag_count, count, arguments, &at, &value);
        if (flag < 0)
            return MT_EXIT_USAGE;
        if (strcmp(mt_report_flags[flag].name, "help") == 0) {
            mt_help_report();
            report->file = NULL;
            return MT_EXIT_OK;
        }
        int result = set_flag(report, mt_report_flags[flag].name, value);
        if (result != MT_EXIT_OK)
            return result;
    }
    if (!report->file)
        return mt_cli_usage("report", "a file is missing: metaltap report FILE");
    if (report->detail_given && !report->json)
        return mt_cli_usage("report",
                            "--detail is about JSON: add --json FILE, or --json - for standard output");
    return MT_EXIT_OK;
}

static int tell_damage(const struct report *report, const struct mt_spool_header *header,
                       const struct mt_spool_damage *damage, uint64_t records)
{
    if (!damage->bad_segments && !damage->bad_records && !damage->missing_segments && !damage->cut_bytes)
        return MT_EXIT_OK;
    mt_cli_say("%s: damaged: %llu records were read; of %llu segments %llu cannot be read, %llu are missing "
               "and %llu "
               "are read in part; %llu bytes are missing at the end",
               report->file, (unsigned long long)records, (unsigned long long)header->segments,
               (unsigned long long)damage->bad_segments, (unsigned long long)damage->missing_segments,
               (unsigned long long)damage->bad_records, (unsigned long long)damage->cut_bytes);
    return MT_EXIT_FAILED;
}

// What was shown is what could be read; if that is not all, it is said.
static int check_damage(const struct report *report)
{
    struct mt_spool *spool;
    struct mt_spool_error error;
    struct mt_spool_header header;
    uint64_t bytes;
    if (!mt_recording_header(report->file, &header, &bytes))
        return MT_EXIT_OK; // a report in JSON: damage is an error there
    if (mt_spool_open(report->file, &spool, &error) != 0) {
        mt_cli_say("%s", error.text);
        return MT_EXIT_FAILED;
    }
    int code = MT_EXIT_FAILED;
    int result = mt_spool_events_of(spool, 0, NULL, NULL); // reads all, and shows none
    if (result == 0)
        code = tell_damage(report, mt_spool_header(spool), mt_spool_damage(spool), mt_spool_records(spool));
    else
        mt_cli_say("%s: %s", report->file, strerror(-result));
    mt_spool_close(spool);
    return code;
}

static int write_report(const struct report *report)
{
    char error[MT_OPTION_ERROR_MAX];
    struct mt_spool_header header;
    uint64_t bytes;
    bool whole = false;
    int result;
    if (report->json && mt_recording_is_report(report->file)) {
        mt_cli_say("%s: is a report in JSON already", report->file);
        return MT_EXIT_FAILED;
    }
    if (!report->json)
        result = mt_report_table(report->file, STDOUT_FILENO, mt_cli_width(STDOUT_FILENO),
                                 mt_cli_color(STDOUT_FILENO), error, sizeof error);
    else if (strcmp(report->json, "-") == 0)
        result = mt_report_json_fd(report->file, STDOUT_FILENO, report->detail, error, sizeof error);
    else
        result =
            mt_report_json_whole(report->file, report->json, report->detail, &whole, error, sizeof error);
    bool damaged = result == -EBADMSG && mt_recording_header(report->file, &header, &bytes);
    if (result == 0 && whole)
        return MT_EXIT_OK;
    if (result == 0 || damaged)
        return check_damage(report);
    mt_cli_say("%s", error);
    return MT_EXIT_FAILED;
}

int mt_cmd_report(int count, char **arguments)
{
    struct report report = {.detail = MT_DETAIL_FULL};
    int result = read_arguments(&report, count, arguments);
    if (result != MT_EXIT_OK)
        return result;
    return report.file ? write_report(&report) : mt_cli_close_output(MT_EXIT_OK);
}
