// SPDX-License-Identifier: MIT
// What the verbs of the command line share: exit codes, messages, flags. The tool is one process with one
// thread; nothing here runs inside a target.
#ifndef MT_CLI_H
#define MT_CLI_H

#include <stdbool.h>
#include <stddef.h>

// As env, nohup and timeout have them. What ran gives its own code, or 128 and the signal that ended it.
enum mt_exit {
    MT_EXIT_OK = 0,
    MT_EXIT_FAILED = 1,
    MT_EXIT_USAGE = 2,
    MT_EXIT_NOT_STARTED = 125, // trouble of our own: no library, no place for the output
    MT_EXIT_NOT_EXECUTABLE = 126,
    MT_EXIT_NOT_FOUND = 127,
    MT_EXIT_SIGNAL = 128,
};

// Each takes its arguments without the verb and gives the exit code.
int mt_cmd_run(int count, char **arguments);
int mt_cmd_report(int count, char **arguments);
int mt_cmd_options(int count, char **arguments);

// One line on standard error, "metaltap: " in front of it.
void mt_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The same with where to find help, for wrong usage; gives MT_EXIT_USAGE.
int mt_cli_usage(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The end of whatever was written to standard output: a full disk or a closed pipe there is a failure.
int mt_cli_close_output(int code);

// For tables: columns of the terminal behind a descriptor, 0 if it is none; whether to use colour there.
int mt_cli_width(int fd);
bool mt_cli_color(int fd);

struct mt_flag {
    const char *name;  // without dashes
    const char *value; // what to call its value; NULL: it takes none
    const char *help;
};
// Takes arguments[*at] as --name, --name=value or --name value and steps over it. The place of the flag, or
// -1 after a message that names the nearest right one.
int mt_cli_flag(const char *verb, const struct mt_flag *flags, size_t flag_count, int count, char **arguments,
                int *at, const char **value);
// Help for flags, wrapped and aligned, on standard output.
void mt_cli_print_flag(const char *name, const char *value, const char *help, const char *more);

// The help pages, on standard output.
void mt_help_all(void);
void mt_help_run(void);
void mt_help_report(void);
void mt_help_options(void);
// The flags that `run` has besides those of options.def.
extern const struct mt_flag mt_run_flags[];
extern const size_t mt_run_flag_count;
extern const struct mt_flag mt_report_flags[];
extern const size_t mt_report_flag_count;

#endif
