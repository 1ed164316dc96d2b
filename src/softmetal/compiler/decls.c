// SPDX-License-Identifier: MIT
// Finds the declarations at namespace and class scope: where each begins and ends, its parameters, its body.
// It understands just enough C++ for that; what it takes for something else is left for clang to judge.
#include "unit.h"

#include <errno.h>

typedef struct scan {
    sm_unit *unit;
    sm_decl decl;
    bool class_key, namespace_key, assigned;
} scan;

static bool opens_no_parameters(const sm_unit *unit, uint32_t paren)
{
    static const char *const words[] = {"decltype",   "alignas",  "__attribute__", "noexcept", "__declspec",
                                        "__typeof__", "requires", "explicit",      "_Pragma",  NULL};
    return sm_token_in(unit, paren - 1, words);
}

// From the ':' after a constructor's parameters to its body.
static uint32_t skip_initialisers(const sm_unit *unit, uint32_t i)
{
    i++;
    while (i < unit->token_count) {
        if (sm_token_is(unit, i, ";") || sm_token_is(unit, i, "}"))
            return i;
        if (sm_token_is(unit, i, "<")) {
            uint32_t close = sm_match_angle(unit, i);
            i = close == SM_NO_TOKEN ? i + 1 : close + 1;
            continue;
        }
        if (!sm_token_is(unit, i, "(") && !sm_token_is(unit, i, "{")) {
            i++;
            continue;
        }
        i = sm_skip(unit, i) + 1;
        if (sm_token_is(unit, i, "..."))
            i++;
        if (!sm_token_is(unit, i, ","))
            return i;
        i++;
    }
    return i;
}

static void note_spaces(scan *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && !s->decl.has_address_space; i++)
        s->decl.has_address_space = sm_is_address_space(s->unit, i);
}

static uint32_t scan_template(scan *s, uint32_t i)
{
    if (!sm_token_is(s->unit, i + 1, "<")) {
        s->decl.is_instantiation = i == s->decl.first;
        return i + 1;
    }
    uint32_t close = sm_match_angle(s->unit, i + 1);
    s->decl.is_template = true;
    return close == SM_NO_TOKEN ? i + 2 : close + 1;
}

static uint32_t scan_paren(scan *s, uint32_t i)
{
    uint32_t close = sm_skip(s->unit, i);
    if (!s->assigned && !opens_no_parameters(s->unit, i)) {
        s->decl.params = i;
        s->decl.params_end = close;
    }
    note_spaces(s, i, close);
    return close + 1;
}

static bool is_class_key(const sm_unit *unit, uint32_t i)
{
    static const char *const words[] = {"struct", "class", "union", "enum", NULL};
    return sm_token_in(unit, i, words);
}

// One step of scan_declaration over a token that does not end it.
static uint32_t scan_token(scan *s, uint32_t i)
{
    const sm_unit *unit = s->unit;
    bool before_params = s->decl.params == SM_NO_TOKEN;
    if (sm_token_is(unit, i, "template"))
        return scan_template(s, i);
    if (sm_token_is(unit, i, "("))
        return scan_paren(s, i);
    if (sm_token_is(unit, i, "[")) {
        note_spaces(s, i, sm_skip(unit, i));
        return sm_skip(unit, i) + 1;
    }
    if (sm_is_address_space(unit, i))
        s->decl.has_address_space = true;
    if (before_params && !s->assigned) {
        s->class_key |= is_class_key(unit, i);
        s->namespace_key |=
            sm_token_is(unit, i, "namespace") ||
            (sm_token_is(unit, i, "extern") && sm_token_at(unit, i + 1)->kind == SM_TOKEN_STRING);
    }
    if (sm_token_is(unit, i, "=") && !sm_token_is(unit, i - 1, "operator"))
        s->assigned = true;
    if (sm_token_is(unit, i, ":") && !before_params && !s->assigned && !s->class_key)
        return skip_initialisers(unit, i);
    return i + 1;
}

// Returns the token after the declaration, or the one after '{' for a namespace or class.
static uint32_t scan_declaration(scan *s, uint32_t first)
{
    const sm_unit *unit = s->unit;
    s->decl.first = first;
    uint32_t i = first;
    while (i < unit->token_count) {
        if (sm_token_is(unit, i, "}")) { // of the enclosing scope
            s->decl.last = i ? i - 1 : 0;
            return i;
        }
        if (sm_token_is(unit, i, ";"))
            break;
        if (sm_token_is(unit, i, "{") && !s->assigned) {
            s->decl.body = i;
            break;
        }
        i = sm_token_is(unit, i, "{") ? sm_skip(unit, i) + 1 : scan_token(s, i);
    }
    s->decl.last = i;
    if (s->decl.body == SM_NO_TOKEN)
        return i + 1;
    if (s->namespace_key)
        s->decl.kind = SM_DECL_NAMESPACE;
    else if (s->class_key && s->decl.params == SM_NO_TOKEN)
        s->decl.kind = SM_DECL_CLASS;
    else if (s->decl.params != SM_NO_TOKEN)
        s->decl.kind = SM_DECL_FUNCTION;
    if (s->decl.kind == SM_DECL_OTHER || s->decl.kind == SM_DECL_FUNCTION)
        s->decl.last = sm_skip(unit, i);
    return s->decl.last + 1;
}

static bool is_access_label(const sm_unit *unit, uint32_t i)
{
    static const char *const words[] = {"public", "private", "protected", NULL};
    return sm_token_is(unit, i + 1, ":") && sm_token_in(unit, i, words);
}

int sm_scan_declarations(sm_unit *unit)
{
    uint32_t scope = SM_NO_DECL, i = 0;
    while (i < unit->token_count) {
        if (sm_token_is(unit, i, "}") && scope != SM_NO_DECL)
            scope = unit->decls[scope].scope;
        if (sm_token_is(unit, i, "}") || sm_token_is(unit, i, ";")) {
            i++;
            continue;
        }
        if (is_access_label(unit, i)) {
            i += 2;
            continue;
        }
        scan s = {.unit = unit};
        s.decl =
            (sm_decl){.params = SM_NO_TOKEN, .params_end = SM_NO_TOKEN, .body = SM_NO_TOKEN, .scope = scope};
        i = scan_declaration(&s, i);
        if (!sm_grow((void **)&unit->decls, &unit->decl_capacity, unit->decl_count, sizeof(sm_decl)))
            return -ENOMEM;
        unit->decls[unit->decl_count++] = s.decl;
        if (s.decl.kind == SM_DECL_NAMESPACE || s.decl.kind == SM_DECL_CLASS)
            scope = (uint32_t)unit->decl_count - 1;
    }
    return 0;
}
