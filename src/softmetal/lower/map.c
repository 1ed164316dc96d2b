// SPDX-License-Identifier: MIT
// Pointer-keyed hash map of the lowering, and its allocation and failure functions. A compiler process is
// short-lived: nothing is freed.
#include "lower.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void lower_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("softmetal-lower: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *lower_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        lower_fail("out of memory");
    return memory;
}

static size_t find(const lower_map *map, const void *key)
{
    size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u & (map->capacity - 1);
    while (map->key[at] && map->key[at] != key)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

static void grow(lower_map *map)
{
    lower_map bigger = {.capacity = map->capacity ? map->capacity * 2 : 64};
    bigger.key = lower_alloc(bigger.capacity, sizeof *bigger.key);
    bigger.value = lower_alloc(bigger.capacity, sizeof *bigger.value);
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->key[i])
            continue;
        size_t at = find(&bigger, map->key[i]);
        bigger.key[at] = map->key[i];
        bigger.value[at] = map->value[i];
    }
    bigger.count = map->count;
    free(map->key);
    free(map->value);
    *map = bigger;
}

void map_put(lower_map *map, const void *key, uintptr_t value)
{
    if (map->count * 2 >= map->capacity)
        grow(map);
    size_t at = find(map, key);
    if (!map->key[at])
        map->count++;
    map->key[at] = key;
    map->value[at] = value;
}

bool map_get(const lower_map *map, const void *key, uintptr_t *value)
{
    if (!map->capacity)
        return false;
    size_t at = find(map, key);
    if (!map->key[at])
        return false;
    *value = map->value[at];
    return true;
}

uintptr_t map_or(const lower_map *map, const void *key, uintptr_t otherwise)
{
    uintptr_t value;
    return map_get(map, key, &value) ? value : otherwise;
}
