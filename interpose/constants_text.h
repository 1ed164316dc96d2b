// SPDX-License-Identifier: MIT
// Function constants in a form that people read: "0=1 4=true is_causal=false scale=0.125 mode=(1,2,3,4)".
// Pure functions: no Metal, no state, no locale, no allocation.
#ifndef MT_CONSTANTS_TEXT_H
#define MT_CONSTANTS_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct mt_constant {
    const char *name; // NULL: known by its index
    uint32_t index;
    uint32_t type; // MTLDataType
    uint8_t bytes[32];
};

// Bytes of a value where the program keeps it: scalars, and vectors of two to four. 0: not a type of
// constants.
size_t mt_constant_size(uint32_t type);
// Less, equal or greater than 0: first those with an index, by index, then by name.
int mt_constant_order(const struct mt_constant *one, const struct mt_constant *other);
// Writes the list as it is ordered, always terminated, " ..." at the end if there was no room for all. Gives
// the length.
size_t mt_constants_format(const struct mt_constant *list, size_t count, char *text, size_t size);

#endif
