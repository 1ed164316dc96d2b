// SPDX-License-Identifier: MIT
// Messages and flags for all verbs of the command line. One thread; writes to standard error and output only.
#include "cli.h"

#include "options/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FLAGS_MAX = 32, HELP_COLUMN = 20, HELP_WIDTH = 100 };

static void say(const char *format, va_list values)
{
    char text[2048];
    int length = vsnprintf(text, sizeof text, format, values);
    // Names of files may hold anything: nothing may end the line or reach the terminal as a command.
    for (int i = 0; i < length && i < (int)sizeof text - 1; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            text[i] = '?';
    fprintf(stderr, "metaltap: %s\n", text);
}

void mt_cli_say(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(format, values);
    va_end(values);
}

int mt_cli_usage(const char *verb, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    say(format, values);
    va_end(values);
    fprintf(stderr, "metaltap: 'metaltap help%s%s' tells more\n", *verb ? " " : "", verb);
    return MT_EXIT_USAGE;
}

int mt_cli_close_output(int code)
{
    bool failed = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !failed)
        return code;
    mt_cli_say("standard output cannot be written");
    return code ? code : MT_EXIT_FAILED;
}

int mt_cli_width(int fd)
{
    struct winsize size;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool mt_cli_color(int fd)
{
    const char *unwanted = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fd) && !(unwanted && *unwanted) && terminal && strcmp(terminal, "dumb") != 0;
}

static void unknown_flag(const char *verb, const struct mt_flag *flags, size_t flag_count, const char *name)
{
    const char *names[FLAGS_MAX];
    size_t count = flag_count < FLAGS_MAX ? flag_count : FLAGS_MAX;
    for (size_t i = 0; i < count; i++)
        names[i] = flags[i].name;
    size_t nearest = mt_nearest(name, names, count);
    if (nearest < count)
        mt_cli_usage(verb, "unknown option --%s: did you mean --%s?", name, names[nearest]);
    else
        mt_cli_usage(verb, "unknown option --%s", name);
}

int mt_cli_flag(const char *verb, const struct mt_flag *flags, size_t flag_count, int count, char **arguments,
                int *at, const char **value)
{
    char name[64];
    const char *argument = arguments[(*at)++];
    if (strcmp(argument, "-h") == 0)
        argument = "--help";
    if (strncmp(argument, "--", 2) != 0) {
        mt_cli_usage(verb, "unknown option %s: options begin with two dashes", argument);
        return -1;
    }
    const char *equals = strchr(argument, '=');
    int length = equals ? (int)(equals - argument) - 2 : (int)strlen(argument) - 2;
    snprintf(name, sizeof name, "%.*s", length, argument + 2);
    size_t i = 0;
    while (i < flag_count && strcmp(name, flags[i].name) != 0)
        i++;
    if (i == flag_count) {
        unknown_flag(verb, flags, flag_count, name);
        return -1;
    }
    *value = equals ? equals + 1 : NULL;
    if (!flags[i].value && equals) {
        mt_cli_usage(verb, "--%s takes no value", name);
        return -1;
    }
    if (flags[i].value && !equals) {
        if (*at >= count || strcmp(arguments[*at], "--") == 0) {
            mt_cli_usage(verb, "--%s needs a value: --%s %s", name, name, flags[i].value);
            return -1;
        }
        *value = arguments[(*at)++];
    }
    return (int)i;
}

// Prints words up to the width, further lines from the help's column.
static void print_wrapped(const char *text)
{
    int column = HELP_COLUMN;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            column += printf(" ");
        }
        column += printf("%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

void mt_cli_print_flag(const char *name, const char *value, const char *help, const char *more)
{
    int column = printf("  --%s%s%s", name, value ? " " : "", value ? value : "");
    printf("%*s", column < HELP_COLUMN ? HELP_COLUMN - column : 1, "");
    print_wrapped(help);
    if (more) {
        printf("%*s", HELP_COLUMN, "");
        print_wrapped(more);
    }
}
