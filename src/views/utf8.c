// SPDX-License-Identifier: MIT
// Characters out of bytes: see utf8.h. No overlong forms, no surrogates, nothing beyond U+10FFFF.
#include "views/utf8.h"

size_t mt_utf8_next(const char *bytes, size_t length, uint32_t *character)
{
    const unsigned char *in = (const unsigned char *)bytes;
    unsigned char first = in[0];
    *character = MT_UTF8_BAD;
    if (first < 0x80) {
        *character = first;
        return 1;
    }
    if (first < 0xc2 || first > 0xf4)
        return 1;
    size_t more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    // The second byte's range keeps out overlong forms, surrogates and what is too large.
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    uint32_t value = first & (0x3fU >> more);
    for (size_t i = 1; i <= more; i++) {
        if (i >= length || in[i] < low || in[i] > high)
            return i;
        value = value << 6 | (in[i] & 0x3fU);
        low = 0x80;
        high = 0xbf;
    }
    *character = value;
    return more + 1;
}
