// SPDX-License-Identifier: MIT
// What command buffers in flight hold: see contents.h. A hash table with linear probing.
#include "analysis/contents.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t home_of(const struct mt_contents *contents, uint32_t command_buffer)
{
    return (command_buffer * UINT32_C(0x9e3779b1)) >> 8 & (contents->room - 1);
}

// The place of a command buffer, or the free one where it would go.
static struct mt_content *find_place(const struct mt_contents *contents, uint32_t command_buffer)
{
    uint32_t place = home_of(contents, command_buffer);
    while (contents->places[place].command_buffer && contents->places[place].command_buffer != command_buffer)
        place = (place + 1) & (contents->room - 1);
    return &contents->places[place];
}

static int grow(struct mt_contents *contents)
{
    struct mt_contents next = {.room = contents->room ? contents->room * 2 : 64, .count = contents->count};
    next.places = calloc(next.room, sizeof(*next.places));
    if (!next.places)
        return -ENOMEM;
    for (uint32_t i = 0; i < contents->room; i++) {
        if (contents->places[i].command_buffer)
            *find_place(&next, contents->places[i].command_buffer) = contents->places[i];
    }
    free(contents->places);
    *contents = next;
    return 0;
}

struct mt_content *mt_contents_get(struct mt_contents *contents, uint32_t command_buffer, uint32_t kernel,
                                   int *error)
{
    contents->last = NULL;
    if (!command_buffer)
        return NULL;
    struct mt_content *place = contents->room ? find_place(contents, command_buffer) : NULL;
    if (!place || !place->command_buffer) {
        if (contents->count >= MT_CONTENTS_MAX)
            return NULL;
        if (!place || contents->count * 2 >= contents->room) {
            *error = grow(contents);
            if (*error)
                return NULL;
            place = find_place(contents, command_buffer);
        }
        *place = (struct mt_content){command_buffer, kernel, 0};
        contents->count++;
    }
    contents->last = place;
    return place;
}

bool mt_contents_take(struct mt_contents *contents, uint32_t command_buffer, struct mt_content *content)
{
    contents->last = NULL;
    struct mt_content *place = contents->room && command_buffer ? find_place(contents, command_buffer) : NULL;
    if (!place || !place->command_buffer)
        return false;
    *content = *place;
    contents->count--;
    // Those behind it that probed over this place move up.
    uint32_t mask = contents->room - 1, hole = (uint32_t)(place - contents->places);
    for (uint32_t at = (hole + 1) & mask; contents->places[at].command_buffer; at = (at + 1) & mask) {
        uint32_t home = home_of(contents, contents->places[at].command_buffer);
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        contents->places[hole] = contents->places[at];
        hole = at;
    }
    contents->places[hole] = (struct mt_content){0};
    return true;
}

void mt_contents_free(struct mt_contents *contents)
{
    free(contents->places);
    *contents = (struct mt_contents){0};
}
