// SPDX-License-Identifier: MIT
// Opens, closes and writes a unit, and the helpers over its tokens that all passes share.
// Runs on the thread that creates the library. Never reads outside the token array.
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool sm_token_in(const sm_unit *unit, uint32_t i, const char *const *words)
{
    for (; *words; words++)
        if (sm_token_is(unit, i, *words))
            return true;
    return false;
}

bool sm_is_address_space(const sm_unit *unit, uint32_t i)
{
    static const char *const spaces[] = {"device", "thread", "threadgroup", "constant", NULL};
    return sm_is_name(unit, i) && sm_token_in(unit, i, spaces);
}

bool sm_is_attribute(const sm_unit *unit, uint32_t i)
{
    return sm_token_is(unit, i, "[") && sm_token_is(unit, i + 1, "[") &&
           sm_token_at(unit, i)->match == sm_token_at(unit, i + 1)->match + 1;
}

// Bounds the search for the other angle bracket, so that hostile text does not make it quadratic.
enum { MAX_ANGLE_TOKENS = 20000 };

uint32_t sm_match_angle(const sm_unit *unit, uint32_t i)
{
    uint32_t depth = 0;
    for (uint32_t j = i; j < unit->token_count && j - i < MAX_ANGLE_TOKENS; j = sm_skip(unit, j) + 1) {
        if (sm_token_is(unit, j, "<")) {
            // A shift or a comparison opens nothing; a template's name does.
            if (depth == 0 || sm_is_name(unit, j - 1))
                depth++;
        } else if (sm_token_is(unit, j, ">")) {
            if (--depth == 0)
                return j;
        } else if (sm_token_is(unit, j, ";") || sm_token_is(unit, j, "{") ||
                   sm_token_at(unit, j)->match < j) {
            break;
        }
    }
    return SM_NO_TOKEN;
}

uint32_t sm_match_angle_back(const sm_unit *unit, uint32_t i)
{
    uint32_t depth = 0;
    for (uint32_t j = i, steps = 0; j < unit->token_count && steps < MAX_ANGLE_TOKENS; j--, steps++) {
        uint32_t match = sm_token_at(unit, j)->match;
        if (match != SM_NO_TOKEN && match > j)
            break;
        if (match != SM_NO_TOKEN)
            j = match;
        else if (sm_token_is(unit, j, ">"))
            depth++;
        else if (sm_token_is(unit, j, "<") && --depth == 0)
            return j;
        else if (sm_token_is(unit, j, ";"))
            break;
    }
    return SM_NO_TOKEN;
}

void sm_erase(sm_unit *unit, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && i < unit->token_count; i++)
        unit->tokens[i].erased = true;
}

const char *sm_copy_token(sm_unit *unit, uint32_t i)
{
    const sm_token *token = sm_token_at(unit, i);
    return sm_arena_copy(&unit->arena, unit->text + token->offset, token->length);
}

const char *sm_join(sm_unit *unit, uint32_t from, uint32_t to)
{
    sm_text out = {0};
    for (uint32_t i = from; i < to && i < unit->token_count; i++) {
        if (sm_is_attribute(unit, i)) {
            i = sm_skip(unit, i);
            continue;
        }
        if (sm_is_address_space(unit, i) && !sm_token_is(unit, i, "constant"))
            continue;
        if (out.length)
            sm_text_puts(&out, " ");
        if (sm_token_is(unit, i, "constant"))
            sm_text_puts(&out, "const");
        else
            sm_text_add(&out, sm_token_text(unit, i), sm_token_at(unit, i)->length);
    }
    unit->arena.failed |= out.failed;
    const char *joined = sm_arena_copy(&unit->arena, out.data, out.failed ? 0 : out.length);
    sm_text_free(&out);
    return joined;
}

bool sm_is_qualifier(const sm_unit *unit, uint32_t i)
{
    static const char *const words[] = {"const",  "volatile", "restrict", "__restrict", "typename",
                                        "static", "extern",   "inline",   "constexpr",  "coherent",
                                        "*",      "&",        NULL};
    return sm_is_address_space(unit, i) || sm_token_in(unit, i, words);
}

const char *sm_type_text(sm_unit *unit, uint32_t from, uint32_t to)
{
    sm_text type = {0};
    for (uint32_t i = from; i < to; i++) {
        if (sm_is_attribute(unit, i)) {
            i = sm_skip(unit, i);
        } else if (!sm_is_qualifier(unit, i) && !sm_token_is(unit, i, "(")) {
            bool word = sm_is_name(unit, i) && sm_is_name(unit, i - 1);
            if (type.length && (word || sm_token_is(unit, i - 1, ",")))
                sm_text_puts(&type, " ");
            sm_text_add(&type, sm_token_text(unit, i), sm_token_at(unit, i)->length);
        }
    }
    unit->arena.failed |= type.failed;
    const char *copy = sm_arena_copy(&unit->arena, type.data, type.failed ? 0 : type.length);
    sm_text_free(&type);
    return copy;
}

const char *sm_scope_name(sm_unit *unit, uint32_t decl)
{
    const char *name = "";
    uint32_t scope = unit->decls[decl].scope;
    for (int depth = 0; scope != SM_NO_DECL && depth < 64; scope = unit->decls[scope].scope, depth++) {
        const sm_decl *outer = &unit->decls[scope];
        if (outer->kind != SM_DECL_NAMESPACE || !sm_is_name(unit, outer->body - 1) ||
            sm_token_is(unit, outer->body - 1, "namespace"))
            continue;
        uint32_t first = outer->body - 1; // namespace a::b {
        while (sm_token_is(unit, first - 1, "::") && sm_is_name(unit, first - 2))
            first -= 2;
        name = sm_arena_printf(&unit->arena, "%s%s%s", sm_join(unit, first, outer->body), *name ? "::" : "",
                               name);
    }
    return name;
}

typedef struct place {
    const char *file;
    int file_length;
    unsigned line, column;
} place;

// "# 12 "name" ..." sets the line and the name of what follows.
static bool read_marker(const char *line, const char *end, place *at)
{
    if (line >= end || *line != '#')
        return false;
    const char *p = line + 1;
    unsigned number = 0;
    while (p < end && *p == ' ')
        p++;
    if (p >= end || *p < '0' || *p > '9')
        return false;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        number = number * 10 + (unsigned)(*p - '0');
    while (p < end && *p == ' ')
        p++;
    if (p < end && *p == '"') {
        const char *name = ++p;
        while (p < end && *p != '"')
            p++;
        at->file = name;
        at->file_length = (int)(p - name);
    }
    at->line = number - 1;
    return true;
}

static place find_place(const sm_unit *unit, size_t offset)
{
    place at = {.file = unit->file_name, .file_length = (int)strlen(unit->file_name), .line = 0};
    const char *line = unit->text, *target = unit->text + offset, *end = unit->text + unit->length;
    for (;;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        if (!read_marker(line, next ? next : end, &at))
            at.line++;
        if (!next || next >= target)
            break;
        line = next + 1;
    }
    at.column = (unsigned)(target - line) + 1;
    return at;
}

static void add_error(sm_unit *unit, size_t offset, const char *format, va_list list)
{
    enum { MAX_ERRORS = 20 };
    if (unit->error_count++ >= MAX_ERRORS)
        return;
    place at = find_place(unit, offset);
    sm_text_printf(&unit->errors, "%.*s:%u:%u: error: ", at.file_length, at.file, at.line, at.column);
    sm_text_vprintf(&unit->errors, format, list);
    sm_text_puts(&unit->errors, "\n");
}

int sm_error_at_offset(sm_unit *unit, size_t offset, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add_error(unit, offset, format, list);
    va_end(list);
    return -EINVAL;
}

int sm_error_at(sm_unit *unit, uint32_t token, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    // The end token may not exist yet while the lexer runs.
    add_error(unit, token < unit->token_count ? unit->tokens[token].offset : unit->length, format, list);
    va_end(list);
    return -EINVAL;
}

int sm_unit_open(sm_unit *unit, char *text, size_t length, const char *file_name)
{
    static int (*const passes[])(sm_unit *) = {sm_lex,
                                               sm_scan_declarations,
                                               sm_collect_numbers,
                                               sm_dedupe,
                                               sm_collect_constants,
                                               sm_collect_kernels,
                                               sm_rewrite_casts,
                                               sm_rewrite};
    *unit = (sm_unit){.text = text, .length = length};
    unit->file_name = sm_arena_copy(&unit->arena, file_name, strlen(file_name));
    if (length >= UINT32_MAX / 2)
        return sm_error_at_offset(unit, 0, "the preprocessed source is too large");
    for (size_t i = 0; i < sizeof(passes) / sizeof(passes[0]); i++) {
        int err = passes[i](unit);
        if (!err && (unit->arena.failed || unit->errors.failed))
            err = -ENOMEM;
        if (err)
            return err;
    }
    return unit->error_count ? -EINVAL : 0;
}

void sm_unit_close(sm_unit *unit)
{
    free(unit->text);
    free(unit->tokens);
    free(unit->decls);
    free(unit->entries);
    free(unit->kernels);
    free(unit->constants);
    free(unit->number_values);
    sm_map_free(&unit->numbers);
    sm_map_free(&unit->entry_names);
    sm_map_free(&unit->kernel_names);
    sm_map_free(&unit->guarded);
    sm_text_free(&unit->errors);
    sm_arena_free(&unit->arena);
}

// Blanks keep the columns, newlines the lines.
static void write_blank(sm_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sm_text_add(out, text[i] == '\n' ? "\n" : " ", 1);
}

void sm_unit_write(const sm_unit *unit, sm_text *out)
{
    size_t done = 0;
    for (size_t i = 0; i < unit->token_count; i++) {
        const sm_token *token = &unit->tokens[i];
        sm_text_add(out, unit->text + done, token->offset - done);
        if (token->prefix)
            sm_text_puts(out, token->prefix);
        if (token->replacement)
            sm_text_puts(out, token->replacement);
        else if (token->erased)
            write_blank(out, unit->text + token->offset, token->length);
        else
            sm_text_add(out, unit->text + token->offset, token->length);
        sm_text_fill(out, ')', token->closing);
        done = (size_t)token->offset + token->length;
    }
    sm_text_add(out, unit->text + done, unit->length - done);
}
