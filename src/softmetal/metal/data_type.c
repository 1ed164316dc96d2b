// SPDX-License-Identifier: MIT
// MTLDataType and the names that Metal Shading Language has for them: scalars and vectors, one table. Plain
// C, no state.
#include "metal/data_type.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// In Metal's enumeration a vector type follows its scalar: float 3, float2 4, float3 5, float4 6.
typedef struct scalar {
    const char *name;
    uint32_t type; // MTLDataType
    uint32_t size;
} scalar;

static const scalar scalars[] = {
    {"float", 3, 4},           {"half", 16, 2},         {"int", 29, 4},        {"uint", 33, 4},
    {"short", 37, 2},          {"ushort", 41, 2},       {"char", 45, 1},       {"uchar", 49, 1},
    {"bool", 53, 1},           {"long", 81, 8},         {"ulong", 85, 8},      {"bfloat", 121, 2},
    {"int32_t", 29, 4},        {"uint32_t", 33, 4},     {"int16_t", 37, 2},    {"uint16_t", 41, 2},
    {"int8_t", 45, 1},         {"uint8_t", 49, 1},      {"int64_t", 81, 8},    {"uint64_t", 85, 8},
    {"size_t", 85, 8},         {"bfloat16_t", 121, 2},  {"atomic_int", 29, 4}, {"atomic_uint", 33, 4},
    {"atomic_float", 3, 4},    {"unsigned int", 33, 4}, {"unsigned", 33, 4},   {"unsigned char", 49, 1},
    {"unsigned short", 41, 2},
};
enum { SCALARS = sizeof scalars / sizeof *scalars, TYPE_STRUCT = 1, TYPE_POINTER = 60 };

uint32_t sm_data_type_named(const char *type)
{
    size_t length = strlen(type);
    for (size_t i = 0; i < SCALARS; i++) {
        size_t n = strlen(scalars[i].name);
        if (strncmp(type, scalars[i].name, n) != 0)
            continue;
        if (length == n)
            return scalars[i].type;
        if (length == n + 1 && type[n] >= '2' && type[n] <= '4')
            return scalars[i].type + (uint32_t)(type[n] - '1');
    }
    return strchr(type, '*') ? TYPE_POINTER : TYPE_STRUCT;
}

static const scalar *scalar_of(uint32_t type, uint32_t *width)
{
    for (size_t i = 0; i < SCALARS; i++) {
        if (type < scalars[i].type || type > scalars[i].type + 3)
            continue;
        *width = type - scalars[i].type + 1;
        return &scalars[i];
    }
    return NULL;
}

size_t sm_data_type_size(uint32_t type)
{
    uint32_t width;
    if (type == TYPE_POINTER)
        return 8;
    const scalar *found = scalar_of(type, &width);
    // A vector of three takes the room of four.
    return found ? found->size * (width == 3 ? 4 : width) : 0;
}

void sm_data_type_text(uint32_t type, char *text, size_t room)
{
    uint32_t width;
    const scalar *found = scalar_of(type, &width);
    if (!found)
        snprintf(text, room, "MTLDataType %u", type);
    else if (width == 1)
        snprintf(text, room, "%s", found->name);
    else
        snprintf(text, room, "%s%u", found->name, width);
}
