// SPDX-License-Identifier: MIT
// Function constants: found in the source as declarations with [[function_constant(n)]], which become extern;
// defined in each pipeline's own unit, where the optimiser sees their values.
#include "attributes.h"
#include "unit.h"

#include <errno.h>
#include <string.h>

static uint32_t find_attribute_start(const sm_unit *unit, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i = sm_skip(unit, i) + 1)
        if (sm_is_attribute(unit, i))
            for (uint32_t k = i + 2; k < sm_skip(unit, i); k++)
                if (sm_token_is(unit, k, "function_constant"))
                    return i;
    return SM_NO_TOKEN;
}

static int add_constant(sm_unit *unit, uint32_t name, uint32_t attribute, const char *type, const char *scope)
{
    sm_attributes attributes = {.count = 0};
    uint32_t index = 0;
    sm_take_attributes(unit, attribute, sm_skip(unit, attribute) + 1, &attributes);
    const sm_attribute *found = sm_find_attribute(unit, &attributes, "function_constant");
    int err = found ? sm_attribute_number(unit, found, 65536, &index) : -EINVAL;
    if (err)
        return err;
    if (!sm_grow((void **)&unit->constants, &unit->constant_capacity, unit->constant_count,
                 sizeof(sm_unit_constant)))
        return -ENOMEM;
    unit->constants[unit->constant_count++] = (sm_unit_constant){
        .info = {.name = sm_copy_token(unit, name), .type = type, .index = index, .required = true},
        .scope = scope};
    return 0;
}

// constant int a [[function_constant(0)]], b [[function_constant(1)]];
static int collect_declaration(sm_unit *unit, uint32_t index, uint32_t attribute)
{
    const sm_decl *decl = &unit->decls[index];
    const char *type = NULL, *externs = "";
    while (attribute != SM_NO_TOKEN) {
        uint32_t name = attribute - 1;
        if (!sm_is_name(unit, name) || name <= decl->first)
            return sm_error_at(unit, attribute,
                               "'function_constant' attribute applies to named constants only");
        if (!type)
            type = sm_type_text(unit, decl->first, name);
        if (!*type)
            return sm_error_at(unit, attribute, "a function constant requires a type and a name");
        int err = add_constant(unit, name, attribute, type, sm_scope_name(unit, index));
        if (err)
            return err;
        const char *text = unit->constants[unit->constant_count - 1].info.name;
        externs = sm_arena_printf(&unit->arena, "%s%sextern const %s %s; extern const bool __sm_fcd_%s",
                                  externs, *externs ? "; " : "", type, text, text);
        uint32_t after = sm_skip(unit, attribute) + 1;
        attribute = find_attribute_start(unit, after, decl->last);
    }
    sm_erase(unit, decl->first, decl->last); // the ';' stays
    unit->tokens[decl->first].replacement = externs;
    return 0;
}

int sm_collect_constants(sm_unit *unit)
{
    int err = 0;
    for (uint32_t d = 0; d < unit->decl_count && err != -ENOMEM; d++) {
        const sm_decl *decl = &unit->decls[d];
        if (decl->kind != SM_DECL_OTHER || decl->params != SM_NO_TOKEN)
            continue;
        uint32_t attribute = find_attribute_start(unit, decl->first, decl->last);
        int result = attribute == SM_NO_TOKEN ? 0 : collect_declaration(unit, d, attribute);
        err = result ? result : err;
    }
    return err;
}

// MTLDataType values of scalars and of their vectors, which follow them.
typedef struct data_type {
    uint32_t first, size;
    const char *name, *bits; // bits: integer type of the same size, for bit casts
} data_type;

static const data_type data_types[] = {
    {3, 4, "float", "uint"}, {16, 2, "half", "ushort"}, {29, 4, "int", NULL},   {33, 4, "uint", NULL},
    {37, 2, "short", NULL},  {41, 2, "ushort", NULL},   {45, 1, "char", NULL},  {49, 1, "uchar", NULL},
    {53, 1, "bool", NULL},   {81, 8, "long", NULL},     {85, 8, "ulong", NULL}, {121, 2, "bfloat", "ushort"},
};

static const data_type *find_data_type(uint32_t type, uint32_t *width)
{
    for (size_t i = 0; i < sizeof(data_types) / sizeof(data_types[0]); i++) {
        if (type >= data_types[i].first && type < data_types[i].first + 4) {
            *width = type - data_types[i].first + 1;
            return &data_types[i];
        }
    }
    return NULL;
}

// Bit patterns are exact for every value, NaN and infinity included.
static void write_scalar(const data_type *type, const uint8_t *bytes, sm_text *out)
{
    unsigned long long bits = 0;
    memcpy(&bits, bytes, type->size); // both sides are little-endian
    if (type->first == 53)
        sm_text_puts(out, bits ? "true" : "false");
    else if (type->bits)
        sm_text_printf(out, "__builtin_bit_cast(%s, (%s)0x%llxu)", type->name, type->bits, bits);
    else
        sm_text_printf(out, "(%s)0x%llxull", type->name, bits);
}

static int write_value(const sm_constant_value *value, sm_text *out, const char **why)
{
    uint32_t width;
    const data_type *type = find_data_type(value->type, &width);
    if (!type) {
        *why = "a function constant can only be a scalar or a vector";
        return -EINVAL;
    }
    if (width > 1)
        sm_text_printf(out, "%s%u(", type->name, width);
    for (uint32_t i = 0; i < width; i++) {
        sm_text_puts(out, i ? ", " : "");
        write_scalar(type, value->bytes + (size_t)i * type->size, out);
    }
    if (width > 1)
        sm_text_puts(out, ")");
    return 0;
}

static const sm_constant_value *find_value(const sm_constant *constant, const sm_constant_value *values,
                                           size_t count)
{
    // The last value set wins; a value set by name wins over one set by index.
    const sm_constant_value *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (values[i].name ? strcmp(values[i].name, constant->name) == 0
                           : values[i].index == constant->index && !(found && found->name))
            found = &values[i];
    }
    return found;
}

int sm_write_constants(const sm_unit_constant *constants, size_t count, const sm_constant_value *values,
                       size_t value_count, sm_text *out, const char **why)
{
    for (size_t i = 0; i < count; i++) {
        const sm_constant *constant = &constants[i].info;
        const sm_constant_value *value = find_value(constant, values, value_count);
        if (*constants[i].scope)
            sm_text_printf(out, "namespace %s { ", constants[i].scope);
        sm_text_printf(out, "extern const %s %s = ", constant->type, constant->name);
        if (value) {
            sm_text_printf(out, "(%s)(", constant->type);
            int err = write_value(value, out, why);
            if (err)
                return err;
            sm_text_puts(out, ")");
        } else {
            sm_text_printf(out, "%s{}", constant->type);
        }
        sm_text_printf(out, "; extern const bool __sm_fcd_%s = %s;", constant->name,
                       value ? "true" : "false");
        sm_text_puts(out, *constants[i].scope ? " }\n" : "\n");
    }
    return out->failed ? -ENOMEM : 0;
}
