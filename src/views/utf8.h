// SPDX-License-Identifier: MIT
// Characters out of bytes that may be anything. Pure functions.
#ifndef MT_VIEWS_UTF8_H
#define MT_VIEWS_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define MT_UTF8_BAD UINT32_MAX

// Reads the character at bytes[0], length > 0. Gives how many bytes it took, at least 1. What is no valid
// UTF-8 becomes MT_UTF8_BAD once per maximal part that could have begun a character, as browsers do it.
size_t mt_utf8_next(const char *bytes, size_t length, uint32_t *character);

#endif
