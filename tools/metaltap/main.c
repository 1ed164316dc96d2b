// SPDX-License-Identifier: MIT
// The metaltap command: finds the verb and hands over. One process, one thread; knows nothing of what the
// verbs do.
#include "cli.h"
#include "options/nearest.h"
#include "version.h"

#include <stdio.h>
#include <string.h>

static int cmd_help(int count, char **arguments);
static int cmd_version(int count, char **arguments);

static const struct verb {
    const char *name;
    int (*run)(int count, char **arguments);
    void (*help)(void);
} verbs[] = {
    {"run", mt_cmd_run, mt_help_run},
    {"report", mt_cmd_report, mt_help_report},
    {"options", mt_cmd_options, mt_help_options},
    {"help", cmd_help, mt_help_all},
    {"version", cmd_version, mt_help_all},
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static const struct verb *find_verb(const char *name)
{
    const char *names[VERB_COUNT];
    for (size_t i = 0; i < VERB_COUNT; i++) {
        names[i] = verbs[i].name;
        if (strcmp(name, names[i]) == 0)
            return &verbs[i];
    }
    size_t nearest = mt_nearest(name, names, VERB_COUNT);
    if (nearest < VERB_COUNT)
        mt_cli_usage("", "unknown command '%s': did you mean '%s'?", name, names[nearest]);
    else
        mt_cli_usage("", "unknown command '%s': use run, report, options, help or version", name);
    return NULL;
}

static int cmd_help(int count, char **arguments)
{
    const struct verb *verb = count ? find_verb(arguments[0]) : NULL;
    if (count && !verb)
        return MT_EXIT_USAGE;
    if (verb)
        verb->help();
    else
        mt_help_all();
    return mt_cli_close_output(MT_EXIT_OK);
}

static int cmd_version(int count, char **arguments)
{
    if (count)
        return mt_cli_usage("", "version takes no arguments, '%s' was given", arguments[0]);
    printf("metaltap %s\n", MT_VERSION);
    return mt_cli_close_output(MT_EXIT_OK);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        mt_cli_usage("", "a command is missing: metaltap run -- program, or metaltap report FILE");
        return MT_EXIT_USAGE;
    }
    const char *name = arguments[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    const struct verb *verb = find_verb(name);
    return verb ? verb->run(count - 2, arguments + 2) : MT_EXIT_USAGE;
}
