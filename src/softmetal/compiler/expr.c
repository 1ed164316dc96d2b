// SPDX-License-Identifier: MIT
// Evaluates the small integer expressions that attributes hold: [[buffer(1 + BASE)]],
// [[function_constant(N)]]. Knows literals, the usual operators, and integer constants and enumerators of the
// source itself.
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The parser recurses; hostile text must not use up the stack.
enum { MAX_DEPTH = 200 };

typedef struct expr {
    const sm_unit *unit;
    uint32_t at, end;
    int depth;
    bool failed;
} expr;

static int64_t parse_ternary(expr *e);

static bool at(const expr *e, const char *text)
{
    return e->at < e->end && sm_token_is(e->unit, e->at, text);
}

static bool take(expr *e, const char *text)
{
    if (!at(e, text))
        return false;
    e->at++;
    return true;
}

static int64_t parse_number(expr *e)
{
    char digits[80];
    const sm_token *token = sm_token_at(e->unit, e->at);
    size_t length = 0;
    for (size_t i = 0; i < token->length && length < sizeof(digits) - 1; i++)
        if (e->unit->text[token->offset + i] != '\'')
            digits[length++] = e->unit->text[token->offset + i];
    digits[length] = '\0';
    bool binary = digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B');
    char *end;
    errno = 0;
    int64_t value = (int64_t)strtoull(binary ? digits + 2 : digits, &end, binary ? 2 : 0);
    if (errno || end == digits || strspn(end, "uUlL") != strlen(end))
        e->failed = true;
    e->at++;
    return value;
}

// The last part of a::b::NAME.
static int64_t parse_name(expr *e)
{
    while (e->at + 2 < e->end && sm_token_is(e->unit, e->at + 1, "::"))
        e->at += 2;
    const sm_token *token = sm_token_at(e->unit, e->at);
    const char *name = e->unit->text + token->offset;
    e->at++;
    if (token->length == 4 && memcmp(name, "true", 4) == 0)
        return 1;
    if (token->length == 5 && memcmp(name, "false", 5) == 0)
        return 0;
    uint32_t index = sm_map_get(&e->unit->numbers, name, token->length);
    if (index == SM_MAP_NONE) {
        e->failed = true;
        return 0;
    }
    return e->unit->number_values[index];
}

// "(int)" and the like have no effect on the small numbers that occur here.
static bool take_cast(expr *e)
{
    static const char *const types[] = {"int",   "uint", "short",  "ushort",   "long",     "ulong",   "char",
                                        "uchar", "bool", "size_t", "unsigned", "uint32_t", "int32_t", NULL};
    if (!at(e, "(") || !sm_token_in(e->unit, e->at + 1, types) || !sm_token_is(e->unit, e->at + 2, ")"))
        return false;
    e->at += 3;
    return true;
}

static int64_t parse_unary(expr *e)
{
    if (e->at >= e->end || e->failed || ++e->depth > MAX_DEPTH) {
        e->failed = true;
        return 0;
    }
    int64_t value = 0;
    if (take_cast(e) || take(e, "+")) {
        value = parse_unary(e);
    } else if (take(e, "-")) {
        value = (int64_t)-(uint64_t)parse_unary(e);
    } else if (take(e, "~")) {
        value = ~parse_unary(e);
    } else if (take(e, "!")) {
        value = !parse_unary(e);
    } else if (take(e, "(")) {
        value = parse_ternary(e);
        e->failed |= !take(e, ")");
    } else if (sm_token_at(e->unit, e->at)->kind == SM_TOKEN_NUMBER) {
        value = parse_number(e);
    } else if (sm_is_name(e->unit, e->at)) {
        value = parse_name(e);
    } else {
        e->failed = true;
    }
    e->depth--;
    return value;
}

typedef struct operator_row {
    const char *text;
    int level;
    char kind;
} operator_row;

static const operator_row operators[] = {
    {"*", 9, '*'},  {"/", 9, '/'},  {"%", 9, '%'},  {"+", 8, '+'},  {"-", 8, '-'},
    {"<=", 6, 'l'}, {">=", 6, 'g'}, {"==", 5, '='}, {"!=", 5, '!'}, {"&&", 1, 'A'},
    {"||", 0, 'O'}, {"&", 4, '&'},  {"^", 3, '^'},  {"|", 2, '|'},
};

// The operator at the current place; "<<" and ">>" are two tokens.
static operator_row find_operator(expr *e, uint32_t *length)
{
    *length = 1;
    if (at(e, "<") || at(e, ">")) {
        bool left = at(e, "<"), shift = sm_token_is(e->unit, e->at + 1, left ? "<" : ">");
        *length = shift ? 2 : 1;
        return (operator_row){"", shift ? 7 : 6, (char)(shift ? (left ? 'L' : 'R') : (left ? '<' : '>'))};
    }
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        if (at(e, operators[i].text))
            return operators[i];
    return (operator_row){"", -1, 0};
}

static int64_t apply(expr *e, char kind, int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    if ((kind == '/' || kind == '%') && (b == 0 || (b == -1 && a == INT64_MIN))) {
        e->failed = true;
        return 0;
    }
    switch (kind) {
    case '*':
        return (int64_t)(ua * ub);
    case '/':
        return a / b;
    case '%':
        return a % b;
    case '+':
        return (int64_t)(ua + ub);
    case '-':
        return (int64_t)(ua - ub);
    case 'L':
        return (int64_t)(ua << (ub & 63));
    case 'R':
        return a >> (ub & 63);
    case '<':
        return a < b;
    case '>':
        return a > b;
    case 'l':
        return a <= b;
    case 'g':
        return a >= b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '&':
        return a & b;
    case '^':
        return a ^ b;
    case '|':
        return a | b;
    case 'A':
        return a && b;
    default:
        return a || b;
    }
}

static int64_t parse_binary(expr *e, int level)
{
    int64_t value = parse_unary(e);
    while (!e->failed && e->at < e->end) {
        uint32_t length;
        operator_row found = find_operator(e, &length);
        if (found.level < level)
            break;
        e->at += length;
        value = apply(e, found.kind, value, parse_binary(e, found.level + 1));
    }
    return value;
}

static int64_t parse_ternary(expr *e)
{
    int64_t value = parse_binary(e, 0);
    if (e->failed || !take(e, "?"))
        return value;
    e->failed |= ++e->depth > MAX_DEPTH;
    int64_t yes = e->failed ? 0 : parse_ternary(e);
    e->failed |= !take(e, ":");
    int64_t no = e->failed ? 0 : parse_ternary(e);
    e->depth--;
    return value ? yes : no;
}

bool sm_evaluate(const sm_unit *unit, uint32_t from, uint32_t to, int64_t *out)
{
    expr e = {.unit = unit, .at = from, .end = to < unit->token_count ? to : (uint32_t)unit->token_count};
    *out = parse_ternary(&e);
    return !e.failed && e.at == e.end;
}

static int add_number(sm_unit *unit, uint32_t name, int64_t value)
{
    const sm_token *token = sm_token_at(unit, name);
    if (!sm_grow((void **)&unit->number_values, &unit->number_capacity, unit->number_count, sizeof(int64_t)))
        return -ENOMEM;
    unit->number_values[unit->number_count] = value;
    if (!sm_map_put(&unit->numbers, unit->text + token->offset, token->length, (uint32_t)unit->number_count))
        return -ENOMEM;
    unit->number_count++;
    return 0;
}

// constant int NAME = 1 + 2;
static int collect_variable(sm_unit *unit, const sm_decl *decl)
{
    for (uint32_t i = decl->first + 1; i < decl->last && i < decl->first + 12; i++) {
        int64_t value;
        if (sm_token_is(unit, i, "=") && sm_is_name(unit, i - 1))
            return sm_evaluate(unit, i + 1, decl->last, &value) ? add_number(unit, i - 1, value) : 0;
    }
    return 0;
}

static int collect_enumerators(sm_unit *unit, const sm_decl *decl)
{
    int64_t next = 0;
    uint32_t end = sm_skip(unit, decl->body);
    for (uint32_t i = decl->body + 1; i < end; i++) {
        uint32_t name = i;
        while (i < end && !sm_token_is(unit, i, ","))
            i = sm_skip(unit, i) + 1;
        if (sm_token_is(unit, name + 1, "=") && !sm_evaluate(unit, name + 2, i, &next))
            return 0;
        int err = sm_is_name(unit, name) ? add_number(unit, name, next++) : 0;
        if (err)
            return err;
    }
    return 0;
}

int sm_collect_numbers(sm_unit *unit)
{
    int err = 0;
    for (size_t d = 0; d < unit->decl_count && !err; d++) {
        const sm_decl *decl = &unit->decls[d];
        if (decl->kind == SM_DECL_OTHER && decl->params == SM_NO_TOKEN && !decl->is_template)
            err = collect_variable(unit, decl);
        else if (decl->kind == SM_DECL_CLASS && sm_token_is(unit, decl->first, "enum"))
            err = collect_enumerators(unit, decl);
    }
    return err;
}
