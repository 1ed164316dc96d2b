// SPDX-License-Identifier: MIT
// Numbers for texts: see names.h. Runs in tools, and in a target at its exit.
#include "analysis/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_bytes(uint64_t hash, struct mt_text text)
{
    for (uint32_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * UINT64_C(0x100000001b3);
    return (hash ^ text.length) * UINT64_C(0x9e3779b97f4a7c15); // so that "ab","c" is not "a","bc"
}

static bool same_text(struct mt_text a, struct mt_text b)
{
    if (a.length != b.length || (a.bytes == NULL) != (b.bytes == NULL))
        return false;
    return a.bytes == b.bytes || !a.length || !memcmp(a.bytes, b.bytes, a.length);
}

static void fill_slot(struct mt_names *names, uint64_t hash, uint32_t number)
{
    uint32_t slot = (uint32_t)(hash >> 32) & (names->slot_count - 1);
    while (names->slots[slot])
        slot = (slot + 1) & (names->slot_count - 1);
    names->slots[slot] = number + 1;
}

static int grow(struct mt_names *names)
{
    uint32_t room = names->room ? names->room * 2 : 32;
    struct mt_name *all = realloc(names->names, room * sizeof(*all));
    if (!all)
        return -ENOMEM;
    names->names = all;
    uint32_t *slots = calloc((size_t)room * 2, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    free(names->slots);
    names->slots = slots;
    names->slot_count = room * 2;
    names->room = room;
    for (uint32_t i = 0; i < names->count; i++)
        fill_slot(names, names->names[i].hash, i);
    return 0;
}

uint32_t mt_names_number(struct mt_names *names, struct mt_text text, struct mt_text more, uint32_t limit,
                         int *error)
{
    uint64_t hash = hash_bytes(hash_bytes(UINT64_C(0xcbf29ce484222325), text), more);
    uint32_t slot = names->slot_count ? (uint32_t)(hash >> 32) & (names->slot_count - 1) : 0;
    while (names->slot_count && names->slots[slot]) {
        const struct mt_name *name = &names->names[names->slots[slot] - 1];
        if (name->hash == hash && same_text(name->text, text) && same_text(name->more, more))
            return names->slots[slot] - 1;
        slot = (slot + 1) & (names->slot_count - 1);
    }
    if (names->count >= limit)
        return MT_NO_NAME;
    if (names->count == names->room && grow(names) < 0) {
        *error = -ENOMEM;
        return MT_NO_NAME;
    }
    names->names[names->count] = (struct mt_name){text, more, hash};
    fill_slot(names, hash, names->count);
    return names->count++;
}

void mt_names_free(struct mt_names *names)
{
    free(names->names);
    free(names->slots);
    *names = (struct mt_names){0};
}
