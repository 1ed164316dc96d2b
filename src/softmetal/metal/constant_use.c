// SPDX-License-Identifier: MIT
// Finds which function constants a kernel needs, by following names through the library's text. Metal demands
// a value only for the constants that a function reaches; the compiled library does not tell them apart.
// Plain C; an index never changes after it is made.
#include "metal/constant_use.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct definition {
    span name, body;
} definition;

struct sm_use_index {
    const char *source;
    const sm_constant *constants;
    size_t constant_count;
    definition *definitions; // by name
    size_t count, capacity;
};

static bool is_word(int c)
{
    return isalnum(c) || c == '_';
}

// The next character that is not white space or comment.
static const char *skip_space(const char *p)
{
    for (;;) {
        if (isspace((unsigned char)*p)) {
            p++;
        } else if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            return p;
        }
    }
}

static const char *skip_quoted(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote && *p != '\n')
        p += p[0] == '\\' && p[1] ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

// One token: a word, a quoted text, or one character.
static const char *skip_token(const char *p)
{
    if (is_word((unsigned char)*p)) {
        while (is_word((unsigned char)*p))
            p++;
        return p;
    }
    return *p == '"' || *p == '\'' ? skip_quoted(p) : p + 1;
}

// p is at an opening bracket; returns what follows its partner, or the end of the text.
static const char *skip_brackets(const char *p, char open, char close)
{
    size_t depth = 0;
    for (p = skip_space(p); *p; p = skip_space(skip_token(p))) {
        depth += *p == open;
        if (*p == close && --depth == 0)
            return p + 1;
    }
    return p;
}

static bool is_span(span s, const char *text)
{
    return strlen(text) == s.length && memcmp(s.text, text, s.length) == 0;
}

static int compare_spans(span a, span b)
{
    size_t shorter = a.length < b.length ? a.length : b.length;
    int order = memcmp(a.text, b.text, shorter);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_definitions(const void *a, const void *b)
{
    return compare_spans(((const definition *)a)->name, ((const definition *)b)->name);
}

// If a function's parameter list and body follow its name: the body. Attributes may stand between them.
static bool body_after(const char *p, span *body)
{
    p = skip_space(p);
    if (*p != '(')
        return false;
    p = skip_space(skip_brackets(p, '(', ')'));
    while (*p == '[' || strncmp(p, "const", 5) == 0)
        p = skip_space(*p == '[' ? skip_brackets(p, '[', ']') : p + 5);
    if (*p != '{')
        return false;
    *body = (span){p, (size_t)(skip_brackets(p, '{', '}') - p)};
    return true;
}

static bool is_statement(span word)
{
    return is_span(word, "if") || is_span(word, "for") || is_span(word, "while") || is_span(word, "switch");
}

static bool add_definition(sm_use_index *index, definition added)
{
    if (index->count == index->capacity) {
        size_t capacity = index->capacity ? 2 * index->capacity : 64;
        definition *grown = realloc(index->definitions, capacity * sizeof *grown);
        if (!grown)
            return false;
        index->definitions = grown;
        index->capacity = capacity;
    }
    index->definitions[index->count++] = added;
    return true;
}

sm_use_index *sm_use_index_new(const char *source, const sm_constant *constants, size_t count)
{
    sm_use_index *index = calloc(1, sizeof *index);
    if (!index)
        return NULL;
    *index = (sm_use_index){.source = source, .constants = constants, .constant_count = count};
    for (const char *p = skip_space(source); *p;) {
        const char *end = skip_token(p);
        definition found = {.name = {p, (size_t)(end - p)}};
        if (isalpha((unsigned char)*p) && !is_statement(found.name) && body_after(end, &found.body)) {
            if (!add_definition(index, found)) {
                sm_use_index_free(index);
                return NULL;
            }
            end = found.body.text + found.body.length;
        }
        p = skip_space(end);
    }
    if (index->count)
        qsort(index->definitions, index->count, sizeof *index->definitions, compare_definitions);
    return index;
}

void sm_use_index_free(sm_use_index *index)
{
    if (!index)
        return;
    free(index->definitions);
    free(index);
}

// The template behind [[host_name("x")]] kernel type name<...>; the name itself if there is none.
static span definition_name(const sm_use_index *index, const char *function)
{
    span name = {function, strlen(function)};
    for (const char *p = strstr(index->source, "host_name"); p; p = strstr(p + 1, "host_name")) {
        const char *quote = skip_space(p + strlen("host_name"));
        quote = *quote == '(' ? skip_space(quote + 1) : quote;
        if (*quote != '"' || strncmp(quote + 1, function, name.length) != 0 || quote[1 + name.length] != '"')
            continue;
        const char *after = strstr(quote, "]]");
        span word = {"", 0};
        for (p = after ? skip_space(after + 2) : ""; *p && *p != '<' && *p != '(' && *p != ';';) {
            const char *end = skip_token(p);
            word = (span){p, (size_t)(end - p)};
            p = skip_space(end);
        }
        return word;
    }
    return name;
}

static void visit(const sm_use_index *index, span name, bool *visited, bool *used);

static void visit_body(const sm_use_index *index, span body, bool *visited, bool *used)
{
    const char *stop = body.text + body.length;
    for (const char *p = skip_space(body.text); p < stop;) {
        const char *end = skip_token(p);
        span word = {p, (size_t)(end - p)};
        if (isalpha((unsigned char)*p) || *p == '_') {
            for (size_t i = 0; i < index->constant_count; i++)
                used[i] |= is_span(word, index->constants[i].name);
            visit(index, word, visited, used);
        }
        p = skip_space(end);
    }
}

static void visit(const sm_use_index *index, span name, bool *visited, bool *used)
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare_spans(index->definitions[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    // All overloads of the name count.
    for (; low < index->count && compare_spans(index->definitions[low].name, name) == 0; low++) {
        if (visited[low])
            continue;
        visited[low] = true;
        visit_body(index, index->definitions[low].body, visited, used);
    }
}

void sm_use_index_find(const sm_use_index *index, const char *function, bool *used)
{
    memset(used, 0, index->constant_count * sizeof *used);
    bool *visited = calloc(index->count + 1, sizeof *visited);
    if (!visited)
        return;
    visit(index, definition_name(index, function), visited, used);
    free(visited);
}
