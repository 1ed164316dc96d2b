// SPDX-License-Identifier: MIT
// With address spaces erased, overloads that differ in nothing else become redefinitions: all but the first
// are dropped. Helpers also become static, so that a pipeline holds only what its kernel uses.
#include "unit.h"

#include <errno.h>

// Adds a token to a key; `last` is the previous word, to fold "const const".
static void add_word(const sm_unit *unit, uint32_t i, sm_text *key, bool *last_const)
{
    if (sm_is_address_space(unit, i) && !sm_token_is(unit, i, "constant"))
        return;
    bool is_const = sm_token_is(unit, i, "constant") || sm_token_is(unit, i, "const");
    if (is_const && *last_const)
        return;
    *last_const = is_const;
    if (is_const)
        sm_text_puts(key, "const");
    else
        sm_text_add(key, sm_token_text(unit, i), sm_token_at(unit, i)->length);
    sm_text_puts(key, " ");
}

static void add_words(const sm_unit *unit, uint32_t from, uint32_t to, sm_text *key)
{
    bool last_const = false;
    for (uint32_t i = from; i < to; i++)
        add_word(unit, i, key, &last_const);
}

// Is the name at i the parameter's name, and not (part of) its type?
static bool names_parameter(const sm_unit *unit, uint32_t first, uint32_t i)
{
    static const char *const type_words[] = {"const",    "volatile", "typename",    "struct", "enum",
                                             "unsigned", "signed",   "long",        "short",  "device",
                                             "thread",   "constant", "threadgroup", NULL};
    if (i == first || !sm_is_name(unit, i))
        return false;
    const sm_token *before = sm_token_at(unit, i - 1);
    if (before->kind == SM_TOKEN_NAME)
        return !sm_token_in(unit, i - 1, type_words);
    return sm_token_is(unit, i - 1, "*") || sm_token_is(unit, i - 1, "&") || sm_token_is(unit, i - 1, "&&") ||
           sm_token_is(unit, i - 1, ">") || sm_token_is(unit, i - 1, "...");
}

// Parameters [from, to) without their names and default values.
static void add_parameters(const sm_unit *unit, uint32_t from, uint32_t to, sm_text *key)
{
    bool last_const = false, in_default = false;
    uint32_t first = from, angles = 0;
    for (uint32_t i = from; i < to; i++) {
        if (sm_token_is(unit, i, "<"))
            angles++;
        else if (sm_token_is(unit, i, ">") && angles)
            angles--;
        if (sm_token_is(unit, i, ",") && !angles) {
            in_default = false;
            first = i + 1;
        } else if (sm_token_is(unit, i, "=") && !angles) {
            in_default = true;
        }
        bool ends = i + 1 == to || sm_token_is(unit, i + 1, ",") || sm_token_is(unit, i + 1, "=") ||
                    sm_is_attribute(unit, i + 1) || sm_token_is(unit, i + 1, "[");
        if (in_default || (ends && !angles && names_parameter(unit, first, i)))
            continue;
        add_word(unit, i, key, &last_const);
    }
}

// What makes a declaration distinct, address spaces left out. Empty: nothing to compare.
static void make_key(const sm_unit *unit, const sm_decl *decl, sm_text *key)
{
    sm_text_printf(key, "%u ", decl->scope);
    if (decl->kind == SM_DECL_CLASS) {
        add_words(unit, decl->first, decl->body, key);
    } else if (decl->kind == SM_DECL_FUNCTION) {
        add_words(unit, decl->first, decl->params + 1, key);
        add_parameters(unit, decl->params + 1, decl->params_end, key);
        sm_text_puts(key, ") ");
        for (uint32_t i = decl->params_end + 1; i < decl->body; i++) {
            if (sm_token_is(unit, i, "const") || sm_token_is(unit, i, "&") || sm_token_is(unit, i, "&&"))
                add_words(unit, i, i + 1, key);
            else if (!sm_is_address_space(unit, i) && !sm_token_is(unit, i, "noexcept"))
                break;
        }
    } else if (decl->is_template && decl->has_address_space) { // a specialised variable or alias
        uint32_t i = decl->first;
        while (i < decl->last && !sm_token_is(unit, i, "="))
            i++;
        add_words(unit, decl->first, i, key);
    } else {
        key->length = 0;
    }
}

static bool names_in(const sm_unit *unit, uint32_t from, uint32_t to, const char *const *words)
{
    for (uint32_t i = from; i < to; i = sm_skip(unit, i) + 1)
        if (sm_token_in(unit, i, words))
            return true;
    return false;
}

// Where "static" goes in a free helper function; SM_NO_TOKEN where it does not belong.
static uint32_t static_place(const sm_unit *unit, const sm_decl *decl)
{
    static const char *const reasons[] = {"static",    "inline",        "kernel", "extern",   "constexpr",
                                          "consteval", "typedef",       "using",  "friend",   "asm",
                                          "__asm__",   "static_assert", "vertex", "fragment", NULL};
    if (decl->params == SM_NO_TOKEN || decl->is_template || decl->is_instantiation ||
        decl->params == decl->first)
        return SM_NO_TOKEN;
    if (decl->scope != SM_NO_DECL && unit->decls[decl->scope].kind != SM_DECL_NAMESPACE)
        return SM_NO_TOKEN;
    uint32_t first = decl->first, name = decl->params - 1;
    while (sm_is_attribute(unit, first)) {
        uint32_t close = sm_skip(unit, first);
        if (sm_token_is(unit, first + 2, "kernel") || sm_token_is(unit, first + 2, "host_name"))
            return SM_NO_TOKEN;
        first = close + 1;
    }
    if (names_in(unit, first, decl->params, reasons))
        return SM_NO_TOKEN;
    while (name > first && !sm_is_name(unit, name)) // operator+
        name--;
    if (name <= first || !sm_is_name(unit, first) || sm_token_is(unit, name - 1, "::"))
        return SM_NO_TOKEN;
    return first;
}

int sm_dedupe(sm_unit *unit)
{
    sm_map seen = {0};
    int err = 0;
    uint32_t erased_until = 0;
    for (size_t d = 0; d < unit->decl_count && !err; d++) {
        const sm_decl *decl = &unit->decls[d];
        if (decl->first < erased_until)
            continue;
        sm_text key = {0};
        make_key(unit, decl, &key);
        bool duplicate = key.length && sm_map_get(&seen, key.data, key.length) != SM_MAP_NONE;
        if (key.failed) {
            err = -ENOMEM;
        } else if (duplicate && decl->has_address_space) {
            erased_until = (decl->body != SM_NO_TOKEN ? sm_skip(unit, decl->body) : decl->last) + 1;
            sm_erase(unit, decl->first, erased_until);
        } else if (key.length && !duplicate) {
            const char *kept = sm_arena_copy(&unit->arena, key.data, key.length);
            err = sm_map_put(&seen, kept, key.length, (uint32_t)d) ? 0 : -ENOMEM;
        }
        uint32_t place = static_place(unit, decl);
        if (place != SM_NO_TOKEN && !unit->tokens[place].erased)
            unit->tokens[place].prefix = "static ";
        sm_text_free(&key);
    }
    sm_map_free(&seen);
    return err;
}
