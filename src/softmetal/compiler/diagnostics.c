// SPDX-License-Identifier: MIT
// Turns what clang says about the rewritten text into messages about the user's text. Lines are right
// already, through line markers; columns are found again by looking for the same word in the user's line.
#define _GNU_SOURCE
#include "diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *at;
    size_t length;
} span;

static span next_line(const char **text)
{
    span line = {.at = *text, .length = strcspn(*text, "\n")};
    *text += line.length;
    if (**text == '\n')
        (*text)++;
    return line;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static span line_number(const char *text, unsigned number)
{
    span line = {0};
    for (unsigned i = 0; i < number && *text; i++) {
        line = next_line(&text);
        if (i + 1 < number)
            line.length = 0;
    }
    return line;
}

// Follows `# 12 "name"` markers; gives the first line of the rewritten text that stands for the user's.
static span rewritten_line(const sm_message_map *map, unsigned number, size_t column)
{
    char wanted[512];
    snprintf(wanted, sizeof(wanted), "\"%s\"", map->file_name);
    unsigned line = 0;
    bool ours = true;
    for (const char *text = map->rewritten; *text;) {
        span s = next_line(&text);
        char *end;
        if (s.length > 2 && s.at[0] == '#' && s.at[1] == ' ' && s.at[2] >= '0' && s.at[2] <= '9') {
            line = (unsigned)strtoul(s.at + 2, &end, 10);
            ours = strncmp(end + strspn(end, " "), wanted, strlen(wanted)) == 0;
            continue;
        }
        if (ours && line == number && s.length + 1 >= column)
            return s;
        line++;
    }
    return (span){0};
}

static span word_at(span line, size_t offset)
{
    span word = {.at = line.at + offset, .length = 1};
    while (word.length < line.length - offset && is_word(*word.at) && is_word(word.at[word.length]))
        word.length++;
    return word;
}

// Offset of the nth (from 0) occurrence of a word; the last one if there are fewer; length if there is none.
static size_t find_word(span line, span word, size_t nth)
{
    size_t found = line.length;
    for (size_t i = 0; i < line.length;) {
        span here = word_at(line, i);
        if (here.length == word.length && memcmp(here.at, word.at, word.length) == 0) {
            found = i;
            if (nth-- == 0)
                break;
        }
        i += here.length;
    }
    return found;
}

static size_t count_word(span line, span word, size_t before)
{
    size_t count = 0;
    for (size_t i = 0; i < before;) {
        span here = word_at(line, i);
        count += here.length == word.length && memcmp(here.at, word.at, word.length) == 0;
        i += here.length;
    }
    return count;
}

static size_t user_column(const sm_message_map *map, unsigned number, size_t column, span user)
{
    if (!map->rewritten || !column)
        return column;
    span line = rewritten_line(map, number, column);
    size_t first = 0;
    while (first < user.length && (user.at[first] == ' ' || user.at[first] == '\t'))
        first++;
    if (!line.at || column > line.length)
        return user.length + 1;
    span word = word_at(line, column - 1);
    size_t found = find_word(user, word, count_word(line, word, column - 1));
    return (found < user.length ? found : first) + 1;
}

static void show_line(span user, size_t column, sm_text *out)
{
    enum { LONGEST = 300 };
    if (!user.length || user.length > LONGEST || column > user.length + 1)
        return;
    sm_text_add(out, user.at, user.length);
    sm_text_puts(out, "\n");
    for (size_t i = 0; i + 1 < column; i++)
        sm_text_add(out, user.at[i] == '\t' ? "\t" : " ", 1);
    sm_text_puts(out, "^\n");
}

// Length of "name:" at the beginning of the line. A precompiled header makes "/any/folder/name:" of it.
static size_t name_length(span line, const char *name)
{
    size_t length = strlen(name), colon = 0;
    while (colon < line.length && line.at[colon] != ':')
        colon++;
    if (colon == line.length || colon < length || memcmp(line.at + colon - length, name, length) != 0)
        return 0;
    return colon == length || line.at[colon - length - 1] == '/' ? colon + 1 : 0;
}

// "name:12:5: error: ..." about the user's text?
static bool map_line(span line, const sm_message_map *map, sm_text *out)
{
    size_t name = name_length(line, map->file_name);
    unsigned number = 0;
    size_t column = 0;
    int used = 0;
    char head[64];
    if (!name || !map->source)
        return false;
    snprintf(head, sizeof(head), "%.*s", (int)(line.length - name < 63 ? line.length - name : 63),
             line.at + name);
    if (sscanf(head, "%u:%zu: %n", &number, &column, &used) < 2 || !used)
        return false;
    span user = line_number(map->source, number);
    column = user.at ? user_column(map, number, column, user) : column;
    sm_text_printf(out, "%s:%u:%zu: ", map->file_name, number, column);
    sm_text_add(out, line.at + name + used, line.length - name - (size_t)used);
    sm_text_puts(out, "\n");
    if (user.at && column)
        show_line(user, column, out);
    return true;
}

static bool is_summary(span line)
{
    static const char *const ends[] = {" generated.", " errors generated.", NULL};
    for (int i = 0; ends[i]; i++) {
        size_t length = strlen(ends[i]);
        if (line.length > length && line.length < 80 &&
            strncmp(line.at + line.length - length, ends[i], length) == 0)
            return true;
    }
    return false;
}

static bool contains(span line, const char *text)
{
    return memmem(line.at, line.length, text, strlen(text)) != NULL;
}

static void add_plain(span line, const sm_message_map *map, sm_text *out)
{
    for (int i = 0; i < 2; i++) {
        size_t length = map->hidden[i] ? strlen(map->hidden[i]) : 0;
        if (!length || line.length <= length || strncmp(line.at, map->hidden[i], length) != 0)
            continue;
        if (contains(line, ": note: ")) // which of our overloads did not fit helps nobody
            return;
        line.at += length;
        line.length -= length;
        while (line.length && *line.at == '/') {
            line.at++;
            line.length--;
        }
    }
    sm_text_add(out, line.at, line.length);
    sm_text_puts(out, "\n");
}

// About the text that we wrote ourselves, of which the user knows nothing: what is wrong, without the place.
static void add_without_place(span line, sm_text *out)
{
    const char *error = memmem(line.at, line.length, ": error: ", 9);
    if (!error)
        return;
    sm_text_add(out, error + 2, line.length - (size_t)(error + 2 - line.at));
    sm_text_puts(out, "\n");
}

void sm_map_messages(const char *messages, const sm_message_map *map, sm_text *out)
{
    while (messages && *messages) {
        span line = next_line(&messages);
        if (!line.length || is_summary(line))
            continue;
        if (map->unit && contains(line, map->unit))
            add_without_place(line, out);
        else if (!map_line(line, map, out))
            add_plain(line, map, out);
    }
}
