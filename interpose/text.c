// SPDX-License-Identifier: MIT
// NSStrings and NSErrors as strings of the record. Characters are fetched as UTF-16 and turned into UTF-8
// here: asking the string for UTF-8 raises an exception for text that has none (half of a surrogate pair).
#include "objc/sends.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

enum { PIECE = 256, ON_STACK = 4 * PIECE };

struct utf8_out {
    char *bytes;
    size_t length, room;
    uint16_t high; // first half of a pair, still without its second
};

static void put(struct utf8_out *out, uint32_t code)
{
    char coded[4];
    size_t count;
    if (code < 0x80) {
        coded[0] = (char)code;
        count = 1;
    } else if (code < 0x800) {
        coded[0] = (char)(0xc0 | code >> 6);
        coded[1] = (char)(0x80 | (code & 0x3f));
        count = 2;
    } else if (code < 0x10000) {
        coded[0] = (char)(0xe0 | code >> 12);
        coded[1] = (char)(0x80 | (code >> 6 & 0x3f));
        coded[2] = (char)(0x80 | (code & 0x3f));
        count = 3;
    } else {
        coded[0] = (char)(0xf0 | code >> 18);
        coded[1] = (char)(0x80 | (code >> 12 & 0x3f));
        coded[2] = (char)(0x80 | (code >> 6 & 0x3f));
        coded[3] = (char)(0x80 | (code & 0x3f));
        count = 4;
    }
    if (out->room - out->length < count)
        return;
    memcpy(out->bytes + out->length, coded, count);
    out->length += count;
}

// A half pair becomes U+FFFD.
static void put_unit(struct utf8_out *out, uint16_t unit)
{
    bool is_low = unit >= 0xdc00 && unit <= 0xdfff;
    if (out->high) {
        uint32_t high = out->high;
        out->high = 0;
        if (is_low) {
            put(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00U));
            return;
        }
        put(out, 0xfffd);
    }
    if (unit >= 0xd800 && unit <= 0xdbff)
        out->high = unit;
    else
        put(out, is_low ? 0xfffd : unit);
}

static void convert(id string, NSUInteger length, struct utf8_out *out)
{
    uint16_t units[PIECE];
    for (NSUInteger at = 0; at < length;) {
        NSUInteger count = length - at < PIECE ? length - at : PIECE;
        mtl_string_getCharacters(string, units, (ns_range){at, count});
        for (NSUInteger i = 0; i < count; i++)
            put_unit(out, units[i]);
        at += count;
    }
    if (out->high)
        put(out, 0xfffd);
}

uint32_t mt_text_of(id string)
{
    if (!string || !mt_record_on())
        return 0;
    int saved = errno;
    NSUInteger length = mtl_string_length(string);
    if (length > MT_SPOOL_MAX_STRING + 1) // enough for the recorder to see that it is cut
        length = MT_SPOOL_MAX_STRING + 1;
    char small[ON_STACK];
    struct utf8_out out = {.bytes = small, .room = sizeof small};
    void *large = NULL;
    if (length * 3 > sizeof small && mt_os_map_memory(length * 3, &large) == 0)
        out = (struct utf8_out){.bytes = large, .room = length * 3};
    convert(string, length, &out);
    uint32_t text = mt_record_string(out.bytes, out.length);
    if (large)
        mt_os_unmap(large, length * 3);
    errno = saved;
    return text;
}

uint32_t mt_error_text_of(id error)
{
    char text[2048];
    size_t length = mt_objc_error_text(error, text, sizeof text);
    return mt_record_string(text, length < sizeof text ? length : strlen(text));
}

void mt_record_name(enum mt_record_type type, enum mt_object_kind kind, uint32_t object, id text)
{
    struct mt_rec_label record = {
        .word = MT_REC_WORD(type, mt_text_of(text)),
        .kind = (uint32_t)kind,
        .object = object,
    };
    mt_record_event(&record);
}
