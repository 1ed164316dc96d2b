// SPDX-License-Identifier: MIT
// What a program says of itself: JSON put together piece by piece in memory. The caller sees to it that one
// thread at a time writes to one text. Must not use Metal: what is said is what the program meant to do.
#ifndef STRANGER_SAID_H
#define STRANGER_SAID_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct said {
    char *text;
    size_t length, room;
    bool comma; // one has to come before the next value
};

static inline void said_raw(struct said *said, const char *text, size_t length)
{
    if (said->length + length + 1 > said->room) {
        said->room = 2 * (said->length + length + 64);
        char *grown = realloc(said->text, said->room);
        if (!grown)
            abort();
        said->text = grown;
    }
    memcpy(said->text + said->length, text, length);
    said->length += length;
    said->text[said->length] = '\0';
}

static inline void said_value(struct said *said, const char *text)
{
    if (said->comma)
        said_raw(said, ",", 1);
    said_raw(said, text, strlen(text));
    said->comma = true;
}

// Opening and closing brackets: { [ ] }
static inline void said_open(struct said *said, const char *bracket)
{
    said_value(said, bracket);
    said->comma = false;
}

static inline void said_close(struct said *said, const char *bracket)
{
    said->comma = false;
    said_value(said, bracket);
}

static inline void said_number(struct said *said, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    said_value(said, text);
}

static inline void said_unit(struct said *said, unsigned unit)
{
    char coded[8] = {(char)unit};
    if (unit < 0x20 || unit > 0x7e || unit == '"' || unit == '\\')
        snprintf(coded, sizeof coded, "\\u%04x", unit & 0xffff);
    said_raw(said, coded, strlen(coded));
}

// Text as UTF-16, which may be wrong; NULL is null.
static inline void said_units(struct said *said, const uint16_t *units, size_t count)
{
    said_value(said, units ? "\"" : "null");
    for (size_t i = 0; units && i < count; i++)
        said_unit(said, units[i]);
    if (units)
        said_raw(said, "\"", 1);
}

// ASCII; NULL is null.
static inline void said_text(struct said *said, const char *text)
{
    said_value(said, text ? "\"" : "null");
    for (; text && *text; text++)
        said_unit(said, (unsigned char)*text);
    if (text)
        said_raw(said, "\"", 1);
}

static inline void said_key(struct said *said, const char *key)
{
    said_text(said, key);
    said_raw(said, ":", 1);
    said->comma = false;
}

static inline void said_key_number(struct said *said, const char *key, uint64_t number)
{
    said_key(said, key);
    said_number(said, number);
}

static inline void said_key_text(struct said *said, const char *key, const char *text)
{
    said_key(said, key);
    said_text(said, text);
}

static inline void said_three(struct said *said, uint64_t x, uint64_t y, uint64_t z)
{
    said_open(said, "[");
    said_number(said, x);
    said_number(said, y);
    said_number(said, z);
    said_close(said, "]");
}

// The text becomes a line of standard output and is empty again.
static inline void said_print(struct said *said)
{
    printf("%s\n", said->text);
    free(said->text);
    *said = (struct said){0};
}

#endif
