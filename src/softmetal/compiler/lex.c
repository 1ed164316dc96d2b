// SPDX-License-Identifier: MIT
// Cuts preprocessed MSL into tokens and pairs the brackets. Directives and comments become gaps; pragmas that
// clang would not know are blanked. Any bytes are accepted as input; what cannot be paired is an error.
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct lexer {
    sm_unit *unit;
    const char *text;
    size_t at, end;
    uint32_t *open; // brackets not yet closed
    size_t open_count, open_capacity;
} lexer;

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

static char peek(const lexer *lex, size_t ahead)
{
    return lex->end - lex->at > ahead ? lex->text[lex->at + ahead] : '\0';
}

static bool starts(const lexer *lex, size_t at, const char *word)
{
    if (at >= lex->end || lex->text[at] != *word)
        return false;
    size_t length = strlen(word);
    return lex->end - at >= length && memcmp(lex->text + at, word, length) == 0;
}

// Pragmas that mean the same to clang as to Metal's compiler. Everything else would be an error or a
// surprise.
static bool keep_pragma(const lexer *lex, size_t at)
{
    static const char *const known[] = {"unroll",   "nounroll",         "clang loop",
                                        "clang fp", "clang diagnostic", NULL};
    for (int i = 0; known[i]; i++)
        if (starts(lex, at, known[i]))
            return true;
    return false;
}

static size_t skip_blanks(const lexer *lex, size_t at)
{
    while (at < lex->end && (lex->text[at] == ' ' || lex->text[at] == '\t'))
        at++;
    return at;
}

// The preprocessor leaves macros in pragmas alone, and afterwards nobody knows them: a count that is not a
// plain number is dropped, which leaves "#pragma unroll" to unroll as it sees fit.
static void blank_count(lexer *lex, size_t from)
{
    size_t open = from;
    while (open < lex->at && lex->text[open] != '(' && !is_digit(lex->text[open]))
        open++;
    bool plain = true;
    for (size_t i = open; i < lex->at; i++)
        plain &= strchr(" \t\r()0123456789", lex->text[i]) != NULL;
    bool unroll = starts(lex, skip_blanks(lex, from), "unroll");
    if (!plain && unroll)
        memset(lex->unit->text + open, ' ', lex->at - open);
}

static void take_directive(lexer *lex)
{
    size_t start = lex->at;
    while (lex->at < lex->end && lex->text[lex->at] != '\n')
        lex->at++;
    size_t word = skip_blanks(lex, start + 1);
    bool pragma = starts(lex, word, "pragma");
    bool marker = word < lex->end && is_digit(lex->text[word]);
    if (pragma && keep_pragma(lex, skip_blanks(lex, word + 6))) {
        blank_count(lex, word + 6);
        return;
    }
    if (marker)
        return;
    memset(lex->unit->text + start, ' ', lex->at - start);
}

// At a blank, a comment or a directive: moves past it and returns true.
static bool take_gap(lexer *lex, bool *line_start)
{
    char c = peek(lex, 0);
    if (c == '\n') {
        *line_start = true;
        lex->at++;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\\') {
        lex->at++;
    } else if (c == '#' && *line_start) {
        take_directive(lex);
    } else if (c == '/' && peek(lex, 1) == '/') {
        while (lex->at < lex->end && lex->text[lex->at] != '\n')
            lex->at++;
    } else if (c == '/' && peek(lex, 1) == '*') {
        lex->at += 2;
        while (lex->at < lex->end && !starts(lex, lex->at, "*/"))
            lex->at++;
        lex->at = lex->end - lex->at >= 2 ? lex->at + 2 : lex->end;
    } else {
        return false;
    }
    return true;
}

// Length of the prefix of a string or character literal at the current place; -1 if there is no literal.
static int literal_prefix(const lexer *lex, char quote, bool *raw)
{
    static const char *const prefixes[] = {"u8R", "uR", "UR", "LR", "R", "u8", "u", "U", "L", "", NULL};
    if (!strchr("uULR\"'", peek(lex, 0)))
        return -1;
    for (int i = 0; prefixes[i]; i++) {
        size_t length = strlen(prefixes[i]);
        if ((length && !starts(lex, lex->at, prefixes[i])) || peek(lex, length) != quote)
            continue;
        *raw = length && prefixes[i][length - 1] == 'R';
        return *raw && quote == '\'' ? -1 : (int)length;
    }
    return -1;
}

static void take_raw_string(lexer *lex)
{
    size_t name = lex->at, length = 0;
    while (peek(lex, length) != '(' && length < 16 && lex->at + length < lex->end)
        length++;
    if (peek(lex, length) != '(')
        return;
    for (lex->at += length + 1; lex->at < lex->end; lex->at++) {
        if (lex->text[lex->at] != ')' || lex->end - lex->at < length + 2)
            continue;
        if (memcmp(lex->text + lex->at + 1, lex->text + name, length) == 0 &&
            lex->text[lex->at + 1 + length] == '"') {
            lex->at += length + 2;
            return;
        }
    }
}

static void take_quoted(lexer *lex, char quote)
{
    while (lex->at < lex->end && lex->text[lex->at] != quote && lex->text[lex->at] != '\n')
        lex->at += lex->text[lex->at] == '\\' && lex->end - lex->at > 1 ? 2 : 1;
    if (peek(lex, 0) == quote)
        lex->at++;
}

static void take_number(lexer *lex)
{
    while (lex->at < lex->end) {
        char c = lex->text[lex->at], next = peek(lex, 1);
        bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (exponent && (next == '+' || next == '-'))
            lex->at += 2;
        else if (is_name_part(c) || c == '.' || (c == '\'' && is_name_part(next)))
            lex->at++;
        else
            return;
    }
}

// "<<" and ">>" are two tokens each, so that the ends of nested templates are seen.
static void take_punctuation(lexer *lex)
{
    static const char *const longer[] = {
        "<<=", ">>=", "...", "->*", "::", "->", "<=", ">=", "==", "!=", "&&", "||",
        "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", NULL};
    for (int i = 0; longer[i]; i++) {
        if (starts(lex, lex->at, longer[i])) {
            lex->at += strlen(longer[i]);
            return;
        }
    }
    lex->at++;
}

static sm_token_kind take_token(lexer *lex)
{
    char c = peek(lex, 0);
    bool raw = false;
    int prefix = literal_prefix(lex, '"', &raw);
    if (prefix >= 0) {
        lex->at += (size_t)prefix + 1;
        if (raw)
            take_raw_string(lex);
        else
            take_quoted(lex, '"');
        return SM_TOKEN_STRING;
    }
    prefix = literal_prefix(lex, '\'', &raw);
    if (prefix >= 0) {
        lex->at += (size_t)prefix + 1;
        take_quoted(lex, '\'');
        return SM_TOKEN_CHARACTER;
    }
    if (is_name_start(c)) {
        while (lex->at < lex->end && is_name_part(lex->text[lex->at]))
            lex->at++;
        return SM_TOKEN_NAME;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(lex, 1)))) {
        take_number(lex);
        return SM_TOKEN_NUMBER;
    }
    take_punctuation(lex);
    return SM_TOKEN_PUNCTUATION;
}

static int add_token(sm_unit *unit, sm_token_kind kind, size_t offset, size_t end)
{
    if (!sm_grow((void **)&unit->tokens, &unit->token_capacity, unit->token_count + 1, sizeof(sm_token)))
        return -ENOMEM;
    unit->tokens[unit->token_count++] = (sm_token){.offset = (uint32_t)offset,
                                                   .length = (uint32_t)(end - offset),
                                                   .match = SM_NO_TOKEN,
                                                   .kind = (uint8_t)kind};
    return 0;
}

static char opener_of(char closer)
{
    return closer == ')' ? '(' : closer == ']' ? '[' : closer == '}' ? '{' : '\0';
}

static char closer_of(char opener)
{
    return opener == '(' ? ')' : opener == '[' ? ']' : '}';
}

static int unbalanced(lexer *lex, uint32_t open, size_t offset)
{
    sm_unit *unit = lex->unit;
    char opener = unit->text[unit->tokens[open].offset];
    sm_error_at_offset(unit, offset, "expected '%c'", closer_of(opener));
    return sm_error_at(unit, open, "this '%c' has no matching '%c'", opener, closer_of(opener));
}

static int pair_bracket(lexer *lex, uint32_t index)
{
    sm_unit *unit = lex->unit;
    sm_token *token = &unit->tokens[index];
    char c = unit->text[token->offset];
    if (c == '(' || c == '[' || c == '{') {
        if (!sm_grow((void **)&lex->open, &lex->open_capacity, lex->open_count, sizeof(uint32_t)))
            return -ENOMEM;
        lex->open[lex->open_count++] = index;
        return 0;
    }
    if (!opener_of(c))
        return 0;
    if (!lex->open_count)
        return sm_error_at(unit, index, "extraneous closing '%c'", c);
    uint32_t open = lex->open[--lex->open_count];
    if (unit->text[unit->tokens[open].offset] != opener_of(c))
        return unbalanced(lex, open, token->offset);
    token->match = open;
    unit->tokens[open].match = index;
    return 0;
}

static int lex_all(lexer *lex)
{
    sm_unit *unit = lex->unit;
    bool line_start = true;
    while (lex->at < lex->end) {
        if (take_gap(lex, &line_start))
            continue;
        line_start = false;
        size_t start = lex->at;
        sm_token_kind kind = take_token(lex);
        int err = add_token(unit, kind, start, lex->at);
        if (!err && kind == SM_TOKEN_PUNCTUATION && lex->at - start == 1)
            err = pair_bracket(lex, (uint32_t)unit->token_count - 1);
        if (err)
            return err;
    }
    if (lex->open_count)
        return unbalanced(lex, lex->open[lex->open_count - 1], lex->end);
    return 0;
}

int sm_lex(sm_unit *unit)
{
    lexer lex = {.unit = unit, .text = unit->text, .end = unit->length};
    int err = lex_all(&lex);
    free(lex.open);
    // One more than counted: sm_token_at() gives it for every index outside.
    int end = add_token(unit, SM_TOKEN_END, unit->length, unit->length);
    if (!end)
        unit->token_count--;
    return err ? err : end;
}
