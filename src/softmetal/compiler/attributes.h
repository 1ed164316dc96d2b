// SPDX-License-Identifier: MIT
// Reads [[attributes]] from a range of tokens and takes them out of the text.
#ifndef SOFTMETAL_COMPILER_ATTRIBUTES_H
#define SOFTMETAL_COMPILER_ATTRIBUTES_H

#include "unit.h"

typedef struct sm_attribute {
    uint32_t name;     // token
    uint32_t from, to; // tokens of the argument, empty if it has none
} sm_attribute;

enum { SM_MAX_ATTRIBUTES = 16 };

typedef struct sm_attributes {
    sm_attribute item[SM_MAX_ATTRIBUTES];
    size_t count;
} sm_attributes;

// Adds the attributes in [from, to) outside of other brackets, and erases them.
void sm_take_attributes(sm_unit *unit, uint32_t from, uint32_t to, sm_attributes *out);
const sm_attribute *sm_find_attribute(const sm_unit *unit, const sm_attributes *attributes, const char *name);
// The text of an attribute's string literals, put together.
const char *sm_attribute_string(sm_unit *unit, const sm_attribute *attribute);
// 0 and the attribute's value; an error is told at the attribute.
int sm_attribute_number(sm_unit *unit, const sm_attribute *attribute, uint32_t limit, uint32_t *out);

#endif
