// SPDX-License-Identifier: MIT
// The last pass over the tokens: address spaces go, threadgroup variables become static thread_local (which
// the lowering lays out in threadgroup memory), literals are single precision. Changes single tokens only, so
// that lines stay where they are.
#include "unit.h"

#include <errno.h>
#include <string.h>

static void replace(sm_unit *unit, uint32_t i, const char *text)
{
    unit->tokens[i].replacement = text;
}

// "alignas(16)" that ends at the ')' at i: its first token; else i + 1.
static uint32_t alignas_start(const sm_unit *unit, uint32_t i)
{
    uint32_t open = sm_token_at(unit, i)->match;
    bool found = sm_token_is(unit, i, ")") && open < i && sm_token_is(unit, open - 1, "alignas");
    return found ? open - 1 : i + 1;
}

static bool is_specifier(const sm_unit *unit, uint32_t i)
{
    static const char *const no_types[] = {"return", "case",  "else",   "do",       "goto",
                                           "new",    "throw", "sizeof", "operator", NULL};
    return (sm_is_name(unit, i) && !sm_token_in(unit, i, no_types)) || sm_token_is(unit, i, "::");
}

// Does a statement begin before the specifiers that lead to token i? "float threadgroup x[4];" is allowed.
static bool begins_statement(const sm_unit *unit, uint32_t i)
{
    for (int steps = 0; i > 0 && steps < 64; steps++) {
        uint32_t before = i - 1;
        if (sm_token_is(unit, before, ";") || sm_token_is(unit, before, "{") ||
            sm_token_is(unit, before, "}") || sm_token_is(unit, before, ":"))
            return true;
        if (sm_token_is(unit, before, ")") && alignas_start(unit, before) < before)
            i = alignas_start(unit, before);
        else if (sm_token_is(unit, before, "]") && sm_is_attribute(unit, sm_token_at(unit, before)->match))
            i = sm_token_at(unit, before)->match;
        else if (sm_token_is(unit, before, ">") && sm_match_angle_back(unit, before) < before)
            i = sm_match_angle_back(unit, before);
        else if (is_specifier(unit, before))
            i = before;
        else
            return false;
    }
    return i == 0;
}

// `threadgroup` at i: does it declare a variable rather than point to one?
static bool declares_variable(const sm_unit *unit, uint32_t i)
{
    if (!begins_statement(unit, i))
        return false;
    for (uint32_t j = i + 1; j < unit->token_count; j++) {
        if (sm_token_is(unit, j, "<")) {
            uint32_t close = sm_match_angle(unit, j);
            if (close == SM_NO_TOKEN)
                return false;
            j = close;
        } else if (sm_token_is(unit, j, "(")) {
            if (sm_token_is(unit, j + 1, "*") || sm_token_is(unit, j + 1, "&"))
                return false;
            j = sm_skip(unit, j);
        } else if (sm_is_attribute(unit, j) ||
                   (sm_token_is(unit, j, "{") && j > i + 1)) { // threadgroup struct {...} x;
            j = sm_skip(unit, j);
        } else if (sm_token_is(unit, j, "*") || sm_token_is(unit, j, "&") || sm_token_is(unit, j, "&&")) {
            return false;
        } else if (sm_token_is(unit, j, "[") || sm_token_is(unit, j, ";") || sm_token_is(unit, j, "=") ||
                   sm_token_is(unit, j, ",")) {
            return true;
        } else if (!sm_is_name(unit, j) && !sm_token_is(unit, j, "::")) {
            return false;
        }
    }
    return false;
}

static void rewrite_threadgroup(sm_unit *unit, uint32_t i)
{
    if (!declares_variable(unit, i)) {
        sm_erase(unit, i, i + 1);
        return;
    }
    bool is_static = sm_token_is(unit, i - 1, "static") || sm_token_is(unit, i + 1, "static");
    replace(unit, i, is_static ? "thread_local" : "static thread_local");
}

// After a member function's parameters an address space qualifies `this`; elsewhere `constant` is const.
static void rewrite_constant(sm_unit *unit, uint32_t i)
{
    static const char *const after[] = {"{", ":", ";", "noexcept", "=", "->", NULL};
    uint32_t before = i - 1;
    if (sm_token_is(unit, before, "const") || sm_token_is(unit, before, "noexcept"))
        before--;
    if (sm_token_is(unit, before, ")") && sm_token_in(unit, i + 1, after))
        sm_erase(unit, i, i + 1);
    else
        replace(unit, i, "const");
}

// is_function_constant_defined(a::b) is the constant a::__sm_fcd_b.
static int rewrite_defined(sm_unit *unit, uint32_t i)
{
    uint32_t close = sm_skip(unit, i + 1), name = close - 1;
    if (!sm_token_is(unit, i + 1, "(") || name <= i + 1 || !sm_is_name(unit, name))
        return 0;
    const sm_token *token = sm_token_at(unit, name);
    const char *text = sm_copy_token(unit, name);
    if (!sm_map_put(&unit->guarded, unit->text + token->offset, token->length, 1))
        return -ENOMEM;
    const char *scope = sm_join(unit, i + 2, name);
    sm_erase(unit, i, close + 1);
    replace(unit, i, sm_arena_printf(&unit->arena, "%s__sm_fcd_%s", scope, text));
    return 0;
}

static int rewrite_name(sm_unit *unit, uint32_t i)
{
    const sm_token *token = &unit->tokens[i];
    switch (unit->text[token->offset]) { // most names begin with none of these letters
    case 'd':
    case 't':
    case 'c':
    case 'i':
    case 'r':
    case 'o':
    case 's':
        break;
    default:
        return 0;
    }
    static const char *const plain[] = {"device", "thread", "ray_data", "object_data", NULL};
    if (sm_token_in(unit, i, plain))
        sm_erase(unit, i, i + 1);
    else if (sm_token_is(unit, i, "constant"))
        rewrite_constant(unit, i);
    else if (sm_token_is(unit, i, "threadgroup"))
        rewrite_threadgroup(unit, i);
    else if (sm_token_is(unit, i, "coherent") && sm_token_is(unit, i + 1, "("))
        sm_erase(unit, i, sm_skip(unit, i + 1) + 1);
    else if (sm_token_is(unit, i, "coherent") && sm_is_address_space(unit, i + 1))
        sm_erase(unit, i, i + 1);
    else if (sm_token_is(unit, i, "static_cast"))
        replace(unit, i, "metal::__sm_cast");
    else if (sm_token_is(unit, i, "thread_elements"))
        unit->distributed = true;
    else if (sm_token_is(unit, i, "is_function_constant_defined"))
        return rewrite_defined(unit, i);
    return 0;
}

static bool ends_with(const char *text, size_t length, const char *suffix, size_t *rest)
{
    size_t n = strlen(suffix);
    *rest = length - n;
    return length > n && strncmp(text + length - n, suffix, n) == 0;
}

// Metal has no double: 1.5 is a float. 1.5h is a half and 1.5bf a bfloat.
static void rewrite_number(sm_unit *unit, uint32_t i)
{
    const sm_token *token = &unit->tokens[i];
    const char *text = unit->text + token->offset;
    size_t length = token->length, rest;
    bool hex = length > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool fraction = memchr(text, '.', length) != NULL;
    bool exponent = memchr(text, hex ? 'p' : 'e', length) || memchr(text, hex ? 'P' : 'E', length);
    const char *type = NULL;
    if (ends_with(text, length, "bf", &rest) || ends_with(text, length, "BF", &rest))
        type = hex && !exponent ? NULL : "bfloat";
    else if (ends_with(text, length, "h", &rest) || ends_with(text, length, "H", &rest))
        type = "half";
    if (type) {
        const char *digits = sm_arena_copy(&unit->arena, text, rest);
        const char *point = fraction || exponent ? "" : ".0";
        replace(unit, i, sm_arena_printf(&unit->arena, "((%s)%s%sf)", type, digits, point));
    } else if ((fraction || exponent) && strspn(text + length - 1, "0123456789.") > 0) {
        replace(unit, i, sm_arena_printf(&unit->arena, "%.*sf", (int)length, text));
    }
}

int sm_rewrite(sm_unit *unit)
{
    int err = 0;
    for (uint32_t i = 0; i < unit->token_count && !err; i++) {
        const sm_token *token = &unit->tokens[i];
        if (token->erased || token->replacement)
            continue;
        if (sm_is_attribute(unit, i)) // [[threadgroup(0)]] on a helper's parameter
            i = sm_skip(unit, i);
        else if (token->kind == SM_TOKEN_NAME)
            err = rewrite_name(unit, i);
        else if (token->kind == SM_TOKEN_NUMBER)
            rewrite_number(unit, i);
    }
    for (size_t i = 0; i < unit->constant_count; i++) {
        sm_constant *constant = &unit->constants[i].info;
        constant->required =
            sm_map_get(&unit->guarded, constant->name, strlen(constant->name)) == SM_MAP_NONE;
    }
    return err;
}
