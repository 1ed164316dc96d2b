// SPDX-License-Identifier: MIT
// The options of the tap: parsed from variables in the target and from flags in the launcher by the same
// code. Pure: reads no file and no environment, allocates nothing, prints nothing.
#ifndef MT_OPTIONS_H
#define MT_OPTIONS_H

#include "views/report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MT_OPTION_PATH_MAX = 1024, MT_OPTION_ERROR_MAX = 512 };

enum mt_window_kind { MT_WINDOW_STEP, MT_WINDOW_CB };
struct mt_window {
    enum mt_window_kind kind;
    uint64_t first, count; // from 0; count at least 1
};
enum mt_follow { MT_FOLLOW_EXEC, MT_FOLLOW_FORK };
enum mt_log_level { MT_LOG_QUIET, MT_LOG_WARN, MT_LOG_INFO };

struct mt_options {
    char out[MT_OPTION_PATH_MAX], spool[MT_OPTION_PATH_MAX], capture[MT_OPTION_PATH_MAX]; // empty: none
    enum mt_report_detail detail;
    uint64_t keep;
    struct mt_window window;
    char only[256];
    enum mt_follow follow;
    enum mt_log_level log;
    bool window_given;
};

struct mt_option_info {
    const char *field, *variable, *flag, *value, *fallback, *help;
};
extern const struct mt_option_info mt_option_table[];
extern const size_t mt_option_count;

void mt_options_defaults(struct mt_options *options);
// Sets one option by its variable's name or its flag's (without dashes). 0; -ENOENT: no such option; -EINVAL:
// bad value. `error` says what is wrong and names the nearest right one: one line, no full stop. An empty
// value is the default.
int mt_options_set(struct mt_options *options, const char *name, const char *value, char *error, size_t size);
// All variables METALTAP_* of an environment. Calls `problem` once for each that is unknown or bad; those are
// left at their defaults. METALTAP_RUN (set by the launcher) and METALTAP_LIBRARY (read by it) are passed
// over.
void mt_options_from_environment(struct mt_options *options, char *const *environment,
                                 void (*problem)(void *context, const char *text), void *context);
// Expands %p, %n (the last part of `program`), %%; -ENAMETOOLONG, or -EINVAL for another letter.
int mt_options_expand_path(const char *pattern, uint32_t pid, const char *program, char *path, size_t size);
// The files of one process: its report (empty if none is wanted) and its spool, which lies beside the report
// with .mtap for an extension unless it has a name of its own. Attempts from 1 on give other names, for when
// one is taken: with the process's number in front of the extension. 0, or what expanding says.
int mt_options_file_names(const struct mt_options *options, uint32_t pid, const char *program,
                          unsigned attempt, char out[MT_OPTION_PATH_MAX], char spool[MT_OPTION_PATH_MAX]);
// Shell-like: * ? [a-z] and nothing else.
bool mt_options_glob(const char *pattern, const char *text);

#endif
