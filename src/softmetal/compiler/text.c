// SPDX-License-Identifier: MIT
// Growing strings, an arena and a string map for the compiler. No locks: the owner is one thread.
// Never aborts when memory runs out; see text.h.
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool text_reserve(sm_text *text, size_t more)
{
    if (text->failed || more >= SIZE_MAX / 4 - text->length) {
        text->failed = true;
        return false;
    }
    size_t need = text->length + more + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity * 2 > need ? text->capacity * 2 : need + 64;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void sm_text_add(sm_text *text, const char *data, size_t length)
{
    if (!text_reserve(text, length))
        return;
    if (length)
        memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void sm_text_puts(sm_text *text, const char *string)
{
    sm_text_add(text, string, strlen(string));
}

void sm_text_fill(sm_text *text, char c, size_t count)
{
    if (!text_reserve(text, count))
        return;
    memset(text->data + text->length, c, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void sm_text_vprintf(sm_text *text, const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    if (length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void sm_text_printf(sm_text *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    sm_text_vprintf(text, format, list);
    va_end(list);
}

void sm_text_free(sm_text *text)
{
    free(text->data);
    *text = (sm_text){0};
}

char *sm_text_take(sm_text *text)
{
    sm_text_add(text, "", 0);
    char *data = text->failed ? NULL : text->data;
    if (!data)
        free(text->data);
    *text = (sm_text){0};
    return data;
}

struct sm_arena_block {
    struct sm_arena_block *next;
    size_t used, size;
    _Alignas(16) char data[];
};

void *sm_arena_alloc(sm_arena *arena, size_t size)
{
    struct sm_arena_block *block = arena->blocks;
    size_t start = block ? (block->used + 15) & ~(size_t)15 : 0;
    if (!block || start > block->size || size > block->size - start) {
        size_t capacity = size > 64 * 1024 ? size : 64 * 1024;
        block = malloc(sizeof(*block) + capacity);
        if (!block) {
            arena->failed = true;
            return NULL;
        }
        *block = (struct sm_arena_block){.next = arena->blocks, .size = capacity};
        arena->blocks = block;
        start = 0;
    }
    block->used = start + size;
    return block->data + start;
}

const char *sm_arena_copy(sm_arena *arena, const char *data, size_t length)
{
    char *copy = sm_arena_alloc(arena, length + 1);
    if (!copy)
        return "";
    if (length)
        memcpy(copy, data, length);
    copy[length] = '\0';
    return copy;
}

const char *sm_arena_printf(sm_arena *arena, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    char *copy = sm_arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1);
    if (copy)
        vsnprintf(copy, length < 0 ? 1 : (size_t)length + 1, format, again);
    va_end(again);
    va_end(list);
    return copy ? copy : "";
}

void sm_arena_free(sm_arena *arena)
{
    while (arena->blocks) {
        struct sm_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
    arena->failed = false;
}

static uint64_t hash_bytes(const char *data, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3u;
    return hash ^ (hash >> 29);
}

static sm_map_slot *map_slot(const sm_map *map, const char *key, size_t length, uint64_t hash)
{
    size_t i = hash & (map->capacity - 1);
    for (;; i = (i + 1) & (map->capacity - 1)) {
        sm_map_slot *slot = &map->slots[i];
        if (!slot->key)
            return slot;
        if (slot->hash == hash && slot->length == length && memcmp(slot->key, key, length) == 0)
            return slot;
    }
}

uint32_t sm_map_get(const sm_map *map, const char *key, size_t length)
{
    if (!map->capacity)
        return SM_MAP_NONE;
    const sm_map_slot *slot = map_slot(map, key, length, hash_bytes(key, length));
    return slot->key ? slot->value : SM_MAP_NONE;
}

static bool map_grow(sm_map *map)
{
    sm_map larger = {.capacity = map->capacity ? map->capacity * 2 : 64, .count = map->count};
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key)
            *map_slot(&larger, map->slots[i].key, map->slots[i].length, map->slots[i].hash) = map->slots[i];
    free(map->slots);
    *map = larger;
    return true;
}

bool sm_map_put(sm_map *map, const char *key, size_t length, uint32_t value)
{
    if ((map->count + 1) * 2 > map->capacity && !map_grow(map))
        return false;
    uint64_t hash = hash_bytes(key, length);
    sm_map_slot *slot = map_slot(map, key, length, hash);
    if (!slot->key)
        map->count++;
    *slot = (sm_map_slot){.key = key, .length = (uint32_t)length, .value = value, .hash = hash};
    return true;
}

void sm_map_free(sm_map *map)
{
    free(map->slots);
    *map = (sm_map){0};
}

bool sm_grow(void **array, size_t *capacity, size_t count, size_t element_size)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? *capacity * 2 : 64;
    void *grown = larger > SIZE_MAX / element_size ? NULL : realloc(*array, larger * element_size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = larger;
    return true;
}
