// SPDX-License-Identifier: MIT
// Parses the options of the tap from options.def: in the target's constructor, before anything else of the
// tap, and in the launcher. Never allocates, prints, reads the environment by itself, or uses more of stdio
// than snprintf.
#define _GNU_SOURCE
#include "options/options.h"

#include "options/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define VARIABLE_PREFIX "METALTAP_"
enum { SHOWN_VALUE_MAX = 120 };

// Variables of ours that are no options: the run's number, and where the launcher finds the library.
static const char *const reserved_variables[] = {"METALTAP_RUN", "METALTAP_LIBRARY"};

const struct mt_option_info mt_option_table[] = {
#define OPTION(field, variable, flag, value, kind, fallback, help)                                           \
    {#field, variable, flag, value, fallback, help},
#include "options/options.def"
#undef OPTION
};
const size_t mt_option_count = sizeof mt_option_table / sizeof mt_option_table[0];

static const char *const variables[] = {
#define OPTION(field, variable, flag, value, kind, fallback, help) variable,
#include "options/options.def"
#undef OPTION
};
static const char *const flags[] = {
#define OPTION(field, variable, flag, value, kind, fallback, help) flag,
#include "options/options.def"
#undef OPTION
};

// ---- messages ----

struct message {
    char *text;
    size_t size, length;
};

// Appends `text`, cut to `limit` bytes; bytes that would break the line or the terminal become '?'.
static void say(struct message *message, const char *text, size_t limit)
{
    size_t length = strlen(text), shown = length < limit ? length : limit;
    for (size_t i = 0; i < shown && message->length + 1 < message->size; i++) {
        unsigned char c = (unsigned char)text[i];
        message->text[message->length++] = c < ' ' || c == 0x7f ? '?' : (char)c;
    }
    if (message->size)
        message->text[message->length] = '\0';
    if (shown < length)
        say(message, "...", 3);
}

static void say_name(struct message *message, const char *name)
{
    if (strncmp(name, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) != 0)
        say(message, "--", 2);
    say(message, name, SHOWN_VALUE_MAX);
}

// "METALTAP_DETAIL=ful: " and the advice.
static int bad_value(struct message *message, const char *name, const char *value, const char *advice)
{
    say_name(message, name);
    say(message, "=", 1);
    say(message, value, SHOWN_VALUE_MAX);
    say(message, ": ", 2);
    say(message, advice, SIZE_MAX);
    return -EINVAL;
}

static void did_you_mean(struct message *message, const char *const *names, size_t count, const char *name)
{
    size_t nearest = mt_nearest(name, names, count);
    if (nearest == count)
        return;
    say(message, ": did you mean ", SIZE_MAX);
    say_name(message, names[nearest]);
    say(message, "?", 1);
}

static int unknown_option(struct message *message, const char *name)
{
    bool is_variable = strncmp(name, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) == 0;
    say(message, "unknown option ", SIZE_MAX);
    say_name(message, name);
    did_you_mean(message, is_variable ? variables : flags, mt_option_count, name);
    return -ENOENT;
}

// ---- values, one reader per kind of options.def ----

struct setting {
    struct mt_options *options;
    void *field;
    size_t size;
    const char *name, *value;
    struct message *message;
};

static int copy_text(const struct setting *it, const char *too_long)
{
    size_t length = strlen(it->value);
    if (length >= it->size)
        return bad_value(it->message, it->name, it->value, too_long);
    memcpy(it->field, it->value, length + 1);
    return 0;
}

static int set_PATH(const struct setting *it)
{
    for (const char *p = strchr(it->value, '%'); p; p = strchr(p + 2, '%'))
        if (!p[1] || !strchr("pn%", p[1]))
            return bad_value(it->message, it->name, it->value,
                             "a % stands before p (process id), n (program name) or another %");
    return copy_text(it, "the path is too long");
}

static int set_GLOB(const struct setting *it)
{
    return copy_text(it, "the pattern is too long");
}

// Reads digits; false if there are none or the number does not fit.
static bool read_number(const char **at, uint64_t *number)
{
    const char *start = *at;
    uint64_t value = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        unsigned digit = (unsigned)(**at - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *number = value;
    return *at != start;
}

static int set_SIZE(const struct setting *it)
{
    static const char units[] = "KMG";
    const char *at = it->value;
    uint64_t number;
    unsigned shift = 0;
    if (!read_number(&at, &number))
        goto bad;
    if (*at) {
        const char *unit = strchr(units, *at >= 'a' ? *at - ('a' - 'A') : *at);
        if (!unit || at[1])
            goto bad;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (number > UINT64_MAX >> shift)
        goto bad;
    *(uint64_t *)it->field = number << shift;
    return 0;
bad:
    return bad_value(it->message, it->name, it->value, "use a number of bytes with K, M or G, such as 64M");
}

// The place of the value among the words, or -EINVAL after "use summary, cb or full (did you mean full?)".
static int read_word(const struct setting *it, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(it->value, words[i]) == 0)
            return (int)i;
    bad_value(it->message, it->name, it->value, "use ");
    for (size_t i = 0; i < count; i++) {
        say(it->message, i == 0 ? "" : i + 1 == count ? " or " : ", ", SIZE_MAX);
        say(it->message, words[i], SIZE_MAX);
    }
    size_t nearest = mt_nearest(it->value, words, count);
    if (nearest < count) {
        say(it->message, " (did you mean ", SIZE_MAX);
        say(it->message, words[nearest], SIZE_MAX);
        say(it->message, "?)", SIZE_MAX);
    }
    return -EINVAL;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__})
static int set_DETAIL(const struct setting *it)
{
    int word = read_word(it, WORDS("summary", "cb", "full"), 3);
    if (word >= 0)
        *(enum mt_report_detail *)it->field = (enum mt_report_detail)word;
    return word < 0 ? word : 0;
}

static int set_FOLLOW(const struct setting *it)
{
    int word = read_word(it, WORDS("exec", "fork"), 2);
    if (word >= 0)
        *(enum mt_follow *)it->field = (enum mt_follow)word;
    return word < 0 ? word : 0;
}

static int set_LOG(const struct setting *it)
{
    int word = read_word(it, WORDS("quiet", "warn", "info"), 3);
    if (word >= 0)
        *(enum mt_log_level *)it->field = (enum mt_log_level)word;
    return word < 0 ? word : 0;
}

// kind:N or kind:N+K
static bool read_window(const char *value, struct mt_window *window)
{
    if (strncmp(value, "cb:", 3) == 0)
        window->kind = MT_WINDOW_CB;
    else if (strncmp(value, "step:", 5) == 0)
        window->kind = MT_WINDOW_STEP;
    else
        return false;
    const char *at = strchr(value, ':') + 1;
    window->count = 1;
    if (!read_number(&at, &window->first))
        return false;
    if (*at == '+') {
        at++;
        if (!read_number(&at, &window->count))
            return false;
    }
    return !*at && window->count && window->first <= UINT64_MAX - window->count;
}

static int set_WINDOW(const struct setting *it)
{
    struct mt_window window;
    if (!read_window(it->value, &window))
        return bad_value(it->message, it->name, it->value,
                         "use cb:N, cb:N+K, step:N or step:N+K, N from 0 and K from 1, such as cb:10+2");
    *(struct mt_window *)it->field = window;
    it->options->window_given = true;
    return 0;
}

// ---- the table ----

static const struct row {
    size_t offset, size;
    int (*set)(const struct setting *it);
} rows[] = {
#define OPTION(field, variable, flag, value, kind, fallback, help)                                           \
    {offsetof(struct mt_options, field), sizeof(((struct mt_options *)0)->field), set_##kind},
#include "options/options.def"
#undef OPTION
};

static int set_row(struct mt_options *options, size_t i, const char *name, const char *value,
                   struct message *message)
{
    // An empty value is that of an option nobody gave.
    bool empty = !*value;
    struct setting it = {
        .options = options,
        .field = (char *)options + rows[i].offset,
        .size = rows[i].size,
        .name = name,
        .value = empty ? mt_option_table[i].fallback : value,
        .message = message,
    };
    int result = rows[i].set(&it);
    if (empty && it.field == &options->window)
        options->window_given = false;
    return result;
}

void mt_options_defaults(struct mt_options *options)
{
    struct message none = {0};
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < mt_option_count; i++)
        set_row(options, i, variables[i], "", &none);
}

int mt_options_set(struct mt_options *options, const char *name, const char *value, char *error, size_t size)
{
    struct message message = {error, size, 0};
    if (size)
        error[0] = '\0';
    for (size_t i = 0; i < mt_option_count; i++)
        if (strcmp(name, variables[i]) == 0 || strcmp(name, flags[i]) == 0)
            return set_row(options, i, name, value, &message);
    return unknown_option(&message, name);
}

static bool is_reserved(const char *name)
{
    for (size_t i = 0; i < sizeof reserved_variables / sizeof reserved_variables[0]; i++)
        if (strcmp(name, reserved_variables[i]) == 0)
            return true;
    return false;
}

void mt_options_from_environment(struct mt_options *options, char *const *environment,
                                 void (*problem)(void *context, const char *text), void *context)
{
    for (; environment && *environment; environment++) {
        char name[128], error[MT_OPTION_ERROR_MAX];
        const char *equals = strchr(*environment, '=');
        if (!equals || strncmp(*environment, VARIABLE_PREFIX, strlen(VARIABLE_PREFIX)) != 0)
            continue;
        size_t length = (size_t)(equals - *environment);
        if (length >= sizeof name)
            length = sizeof name - 1;
        memcpy(name, *environment, length);
        name[length] = '\0';
        if (!is_reserved(name) && mt_options_set(options, name, equals + 1, error, sizeof error) != 0)
            problem(context, error);
    }
}

// ---- paths ----

static bool append(char *path, size_t size, size_t *length, const char *text, size_t count)
{
    if (*length + count >= size)
        return false;
    memcpy(path + *length, text, count);
    *length += count;
    path[*length] = '\0';
    return true;
}

int mt_options_expand_path(const char *pattern, uint32_t pid, const char *program, char *path, size_t size)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    char number[16];
    size_t length = 0;
    snprintf(number, sizeof number, "%u", (unsigned)pid);
    if (!size)
        return -ENAMETOOLONG;
    path[0] = '\0';
    for (const char *p = pattern; *p; p++) {
        const char *text = p;
        size_t count = 1;
        if (*p == '%') {
            p++;
            text = *p == 'p' ? number : *p == 'n' ? name : *p == '%' ? "%" : NULL;
            if (!text)
                return -EINVAL;
            count = strlen(text);
        }
        if (!append(path, size, &length, text, count))
            return -ENAMETOOLONG;
    }
    return 0;
}

// Where the extension begins, or the end. A dot in front of a name is none.
static size_t extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

// Puts `mark` in front of the extension, which may become another.
static int mark_name(const char *path, const char *mark, const char *extension, char *result)
{
    size_t end = extension_of(path);
    int length = snprintf(result, MT_OPTION_PATH_MAX, "%.*s%s%s", (int)end, path, mark,
                          extension ? extension : path + end);
    return length < MT_OPTION_PATH_MAX ? 0 : -ENAMETOOLONG;
}

int mt_options_file_names(const struct mt_options *options, uint32_t pid, const char *program,
                          unsigned attempt, char out[MT_OPTION_PATH_MAX], char spool[MT_OPTION_PATH_MAX])
{
    char mark[32] = "", name[MT_OPTION_PATH_MAX];
    if (attempt == 1)
        snprintf(mark, sizeof mark, "-%u", (unsigned)pid);
    else if (attempt > 1)
        snprintf(mark, sizeof mark, "-%u-%u", (unsigned)pid, attempt);
    out[0] = spool[0] = '\0';
    int result = mt_options_expand_path(options->out, pid, program, name, sizeof name);
    if (result == 0 && name[0])
        result = mark_name(name, mark, NULL, out);
    if (result == 0 && options->spool[0]) {
        result = mt_options_expand_path(options->spool, pid, program, name, sizeof name);
        return result == 0 ? mark_name(name, mark, NULL, spool) : result;
    }
    return result == 0 && name[0] ? mark_name(name, mark, ".mtap", spool) : result;
}

// ---- glob ----

// One place of the pattern against one character; *next is behind that place.
static bool matches_one(const char *pattern, char c, const char **next)
{
    const char *close = *pattern == '[' && pattern[1] ? strchr(pattern + 2, ']') : NULL;
    *next = pattern + 1;
    if (*pattern == '?')
        return true;
    if (!close)
        return *pattern == c;
    *next = close + 1;
    for (const char *p = pattern + 1; p < close; p++) {
        if (p + 2 < close && p[1] == '-') {
            if ((unsigned char)c >= (unsigned char)p[0] && (unsigned char)c <= (unsigned char)p[2])
                return true;
            p += 2;
        } else if (*p == c) {
            return true;
        }
    }
    return false;
}

bool mt_options_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *star_text = NULL, *next;
    while (*text) {
        if (*pattern == '*') {
            star = ++pattern;
            star_text = text;
        } else if (*pattern && matches_one(pattern, *text, &next)) {
            pattern = next;
            text++;
        } else if (star) {
            // The last star takes one character more.
            pattern = star;
            text = ++star_text;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
