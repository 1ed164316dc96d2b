// SPDX-License-Identifier: MIT
// Reads [[attributes]] from a range of tokens and takes them out of the text.
// Attributes that nobody asks for are erased with the others: clang would only warn about them.
#include "attributes.h"

#include <errno.h>

static void read_list(const sm_unit *unit, uint32_t from, uint32_t to, sm_attributes *out)
{
    for (uint32_t i = from; i < to; i++) {
        if (!sm_is_name(unit, i) || sm_token_is(unit, i + 1, "::"))
            continue;
        sm_attribute attribute = {.name = i, .from = i + 1, .to = i + 1};
        if (sm_token_is(unit, i + 1, "(")) {
            attribute.from = i + 2;
            attribute.to = sm_skip(unit, i + 1);
            i = attribute.to;
        }
        if (out->count < SM_MAX_ATTRIBUTES)
            out->item[out->count++] = attribute;
    }
}

void sm_take_attributes(sm_unit *unit, uint32_t from, uint32_t to, sm_attributes *out)
{
    for (uint32_t i = from; i < to; i = sm_skip(unit, i) + 1) {
        if (!sm_is_attribute(unit, i))
            continue;
        uint32_t close = sm_skip(unit, i);
        read_list(unit, i + 2, close - 1, out);
        sm_erase(unit, i, close + 1);
    }
}

const sm_attribute *sm_find_attribute(const sm_unit *unit, const sm_attributes *attributes, const char *name)
{
    for (size_t i = 0; i < attributes->count; i++)
        if (sm_token_is(unit, attributes->item[i].name, name))
            return &attributes->item[i];
    return NULL;
}

const char *sm_attribute_string(sm_unit *unit, const sm_attribute *attribute)
{
    sm_text text = {0};
    for (uint32_t i = attribute->from; i < attribute->to; i++) {
        const sm_token *token = sm_token_at(unit, i);
        const char *data = unit->text + token->offset;
        if (token->kind != SM_TOKEN_STRING || token->length < 2 || data[0] != '"')
            continue;
        for (uint32_t k = 1; k + 1 < token->length; k++) {
            if (data[k] == '\\' && k + 2 < token->length)
                k++;
            sm_text_add(&text, data + k, 1);
        }
    }
    unit->arena.failed |= text.failed;
    const char *copy = sm_arena_copy(&unit->arena, text.data, text.failed ? 0 : text.length);
    sm_text_free(&text);
    return copy;
}

int sm_attribute_number(sm_unit *unit, const sm_attribute *attribute, uint32_t limit, uint32_t *out)
{
    int64_t value;
    const char *name = sm_copy_token(unit, attribute->name);
    if (!sm_evaluate(unit, attribute->from, attribute->to, &value))
        return sm_error_at(unit, attribute->name, "'%s' attribute requires an integer constant", name);
    if (value < 0 || value >= limit)
        return sm_error_at(unit, attribute->name,
                           "'%s' attribute parameter is out of bounds: must be between 0 and %u", name,
                           limit - 1);
    *out = (uint32_t)value;
    return 0;
}
