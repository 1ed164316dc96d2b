// SPDX-License-Identifier: MIT
// Growing strings, an arena and a string map for the compiler. Owned by one thread at a time.
// Running out of memory never aborts: it sets `failed`, and the owner checks that once at the end.
#ifndef SOFTMETAL_COMPILER_TEXT_H
#define SOFTMETAL_COMPILER_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SM_PRINTF(text, first) __attribute__((format(printf, text, first)))

// Always ends with a NUL once anything was added.
typedef struct sm_text {
    char *data;
    size_t length, capacity;
    bool failed;
} sm_text;

void sm_text_add(sm_text *text, const char *data, size_t length);
void sm_text_puts(sm_text *text, const char *string);
void sm_text_fill(sm_text *text, char c, size_t count);
void sm_text_printf(sm_text *text, const char *format, ...) SM_PRINTF(2, 3);
void sm_text_vprintf(sm_text *text, const char *format, va_list list);
void sm_text_free(sm_text *text);
// Hands the string over to the caller; NULL if memory ran out. The text is empty afterwards.
char *sm_text_take(sm_text *text);

// What is allocated here lives until the arena is freed.
typedef struct sm_arena {
    struct sm_arena_block *blocks;
    bool failed;
} sm_arena;

void *sm_arena_alloc(sm_arena *arena, size_t size);
// These give "" when memory ran out, so that the caller can go on until it looks at `failed`.
const char *sm_arena_copy(sm_arena *arena, const char *data, size_t length);
const char *sm_arena_printf(sm_arena *arena, const char *format, ...) SM_PRINTF(2, 3);
void sm_arena_free(sm_arena *arena);

// From strings to numbers. Keys are not copied: they must outlive the map.
typedef struct sm_map_slot {
    const char *key;
    uint32_t length, value;
    uint64_t hash;
} sm_map_slot;

typedef struct sm_map {
    sm_map_slot *slots;
    size_t capacity, count;
} sm_map;

#define SM_MAP_NONE UINT32_MAX

uint32_t sm_map_get(const sm_map *map, const char *key, size_t length);
bool sm_map_put(sm_map *map, const char *key, size_t length, uint32_t value); // false: no memory
void sm_map_free(sm_map *map);

// Makes room for one more element; false if there is no memory.
bool sm_grow(void **array, size_t *capacity, size_t count, size_t element_size);

#endif
