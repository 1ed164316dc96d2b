// SPDX-License-Identifier: MIT
// The end of a run: makes the JSON that a killed program could not write, prints the summary and lists files.
// Troubles here are told and change nothing about the exit code.
#include "finish.h"

#include "cli.h"
#include "recordings.h"
#include "views/report.h"
#include "views/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A path as a person in this folder would write it.
static const char *shown(const char *path)
{
    static char folder[MT_OPTION_PATH_MAX];
    if (!folder[0] && !getcwd(folder, sizeof folder))
        return path;
    size_t length = strlen(folder);
    bool below = strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1];
    return below ? path + length + 1 : path;
}

// True if the report is there and not one of an earlier run.
static bool report_written(const char *path, const struct mt_spool_header *header)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
#ifdef __APPLE__
    const struct timespec *changed = &info.st_mtimespec;
#else
    const struct timespec *changed = &info.st_mtim;
#endif
    uint64_t changed_ns = (uint64_t)changed->tv_sec * 1000000000U + (uint64_t)changed->tv_nsec;
    bool ended = header->state == MT_SPOOL_ENDED || header->state == MT_SPOOL_STOPPED;
    return ended && changed_ns >= header->start_wall_ns;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// The report's name that goes with a spool, also where a name was taken and the tap chose another.
static int report_name(const struct mt_finish *finish, const struct mt_recording *recording, char *path)
{
    enum { ATTEMPTS = 100 };
    char spool[MT_OPTION_PATH_MAX];
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        int result = mt_options_file_names(finish->options, recording->header.pid, recording->program,
                                           attempt, path, spool);
        if (result != 0 || strcmp(last_part(spool), last_part(recording->path)) == 0)
            return result;
    }
    return -ENOENT;
}

// The report of one process; empty if none was asked for or it could not be made.
static void provide_report(const struct mt_finish *finish, const struct mt_recording *recording, char *path)
{
    char error[512];
    path[0] = '\0';
    if (!finish->options->out[0])
        return;
    int result = report_name(finish, recording, path);
    if (result == 0 && report_written(path, &recording->header))
        return;
    if (result == 0)
        result = mt_report_json(recording->path, path, finish->options->detail, error, sizeof error);
    else
        snprintf(error, sizeof error, "%s: no name for it: %s", recording->path, strerror(-result));
    if (result != 0) {
        mt_cli_say("warning: no report: %s", error);
        path[0] = '\0';
    }
}

static void print_table(const struct mt_recording *recording)
{
    char error[512];
    fputc('\n', stderr);
    fflush(stderr);
    if (mt_report_table(recording->path, STDERR_FILENO, mt_cli_width(STDERR_FILENO),
                        mt_cli_color(STDERR_FILENO), error, sizeof error) != 0)
        mt_cli_say("warning: no summary: %s", error);
    fputc('\n', stderr);
}

// The one whose table is printed: the program itself if it used Metal, else the only one that did.
static const struct mt_recording *choose(const struct mt_recordings *all, pid_t process)
{
    const struct mt_recording *only = NULL;
    size_t users = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct mt_recording *it = &all->items[i];
        if (!it->used_metal)
            continue;
        if (it->header.pid == (uint32_t)process)
            return it;
        only = it;
        users++;
    }
    return users == 1 ? only : NULL;
}

static void list_file(const struct mt_recording *it, const char *report)
{
    fprintf(stderr, "metaltap: %s[%u]: ", it->program, it->header.pid);
    if (mt_recording_running(it))
        fprintf(stderr, "still running, recording to %s\n", shown(it->path));
    else if (!it->used_metal)
        fprintf(stderr, "did not use Metal (%s)\n", shown(it->path));
    else if (report[0])
        fprintf(stderr, "report %s, recording %s\n", shown(report), shown(it->path));
    else
        fprintf(stderr, "recording %s\n", shown(it->path));
}

static void finish_all(const struct mt_finish *finish, struct mt_recordings *all)
{
    char report[MT_OPTION_PATH_MAX];
    size_t used = 0;
    for (size_t i = 0; i < all->count; i++) {
        mt_recording_describe(&all->items[i]);
        used += all->items[i].used_metal;
    }
    const struct mt_recording *main_one = finish->quiet ? NULL : choose(all, finish->process);
    if (main_one)
        print_table(main_one);
    if (!used && !finish->quiet) {
        const char *only = finish->options->only;
        mt_cli_say("nothing was recorded: the program did not use Metal%s%s%s",
                   *only ? ", or is none of '" : "", only, *only ? "' (METALTAP_ONLY)" : "");
    }
    for (size_t i = 0; i < all->count; i++) {
        report[0] = '\0';
        if (all->items[i].used_metal && !mt_recording_running(&all->items[i]))
            provide_report(finish, &all->items[i], report);
        if (!finish->quiet)
            list_file(&all->items[i], report);
    }
}

void mt_finish(const struct mt_finish *finish)
{
    struct mt_recordings all;
    int result =
        mt_recordings_find(&all, finish->place, finish->run, (uint32_t)finish->process, finish->program);
    if (result != 0)
        mt_cli_say("warning: the folder of %s cannot be read: %s", finish->place, strerror(-result));
    finish_all(finish, &all);
    mt_recordings_free(&all);
}
