// SPDX-License-Identifier: MIT
// Values of function constants as text. Floats get the fewest digits that read back as the same float, and a
// point whatever the locale: the digits come from printf, their layout from here.
#include "constants_text.h"
#include "objc/metal_c.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 9, LEAST_FIXED = -5, MOST_FIXED = 9, TYPE_BFLOAT = 121 };

struct out {
    char *text;
    size_t length, room; // one more byte is kept for the end
    bool cut;
};

static void put(struct out *out, const char *text, size_t length)
{
    if (out->cut || out->room - out->length < length) {
        out->cut = true;
        return;
    }
    memcpy(out->text + out->length, text, length);
    out->length += length;
}

static void put_text(struct out *out, const char *text)
{
    put(out, text, strlen(text));
}

// In Metal's enumeration the vectors follow their scalar.
struct scalar {
    uint32_t type, bytes;
};
static const struct scalar scalars[] = {
    {MTL_TYPE_FLOAT, 4}, {MTL_TYPE_HALF, 2},   {MTL_TYPE_INT, 4},   {MTL_TYPE_UINT, 4},
    {MTL_TYPE_SHORT, 2}, {MTL_TYPE_USHORT, 2}, {MTL_TYPE_CHAR, 1},  {MTL_TYPE_UCHAR, 1},
    {MTL_TYPE_BOOL, 1},  {MTL_TYPE_LONG, 8},   {MTL_TYPE_ULONG, 8}, {TYPE_BFLOAT, 2},
};

static const struct scalar *scalar_of(uint32_t type, uint32_t *width)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        if (type >= scalars[i].type && type <= scalars[i].type + 3) {
            *width = type - scalars[i].type + 1;
            return &scalars[i];
        }
    }
    return NULL;
}

size_t mt_constant_size(uint32_t type)
{
    uint32_t width;
    const struct scalar *scalar = scalar_of(type, &width);
    // A vector of three takes the room of four.
    return scalar ? (size_t)scalar->bytes * (width == 3 ? 4 : width) : 0;
}

int mt_constant_order(const struct mt_constant *one, const struct mt_constant *other)
{
    if (one->name && other->name)
        return strcmp(one->name, other->name);
    if (one->name || other->name)
        return one->name ? 1 : -1;
    return (one->index > other->index) - (one->index < other->index);
}

// ---- floats ----
static float float_of_half(uint16_t half)
{
    int exponent = half >> 10 & 31;
    float fraction = (float)(half & 1023);
    float value;
    if (exponent == 31)
        value = fraction > 0 ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexpf(fraction, -24);
    else
        value = ldexpf(fraction + 1024, exponent - 25);
    return half & 0x8000 ? -value : value;
}

// The significant digits of a number over 0, and the exponent of the first of them.
static int digits_of(float value, char digits[MOST_DIGITS], int *exponent)
{
    char text[64];
    for (int precision = 0; precision < MOST_DIGITS; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, (double)value);
        if (strtof(text, NULL) == value) // both in one locale
            break;
    }
    int count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && count < MOST_DIGITS)
            digits[count++] = *at;
    }
    *exponent = (int)strtol(at + 1, NULL, 10);
    return count;
}

static void put_fixed(struct out *out, const char *digits, int count, int exponent)
{
    if (exponent < 0)
        put_text(out, "0.");
    for (int i = exponent + 1; i < 0; i++)
        put_text(out, "0");
    for (int i = 0; i < count || i <= exponent; i++) {
        if (i == exponent + 1 && i > 0)
            put_text(out, ".");
        put(out, i < count ? &digits[i] : "0", 1);
    }
}

static void put_scientific(struct out *out, const char *digits, int count, int exponent)
{
    char tail[16];
    put(out, digits, 1);
    if (count > 1)
        put_text(out, ".");
    put(out, digits + 1, (size_t)count - 1);
    snprintf(tail, sizeof tail, "e%d", exponent);
    put_text(out, tail);
}

static void put_float(struct out *out, float value)
{
    if (isnan(value)) {
        put_text(out, "nan");
        return;
    }
    if (signbit(value))
        put_text(out, "-");
    value = fabsf(value);
    if (isinf(value)) {
        put_text(out, "inf");
        return;
    }
    char digits[MOST_DIGITS];
    int exponent, count = digits_of(value, digits, &exponent);
    if (exponent >= LEAST_FIXED && exponent <= MOST_FIXED)
        put_fixed(out, digits, count, exponent);
    else
        put_scientific(out, digits, count, exponent);
}

// ---- values ----
static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t sign_extended(uint64_t bits, uint32_t bytes)
{
    unsigned unused = 64 - 8 * bytes;
    return (int64_t)(bits << unused) >> unused;
}

static void put_integer(struct out *out, uint64_t bits, const struct scalar *scalar, bool is_signed)
{
    char text[32];
    if (is_signed)
        snprintf(text, sizeof text, "%lld", (long long)sign_extended(bits, scalar->bytes));
    else
        snprintf(text, sizeof text, "%llu", (unsigned long long)bits);
    put_text(out, text);
}

static void put_scalar(struct out *out, const struct scalar *scalar, const uint8_t *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, scalar->bytes);
    switch (scalar->type) {
    case MTL_TYPE_FLOAT:
        put_float(out, float_of_bits((uint32_t)bits));
        break;
    case MTL_TYPE_HALF:
        put_float(out, float_of_half((uint16_t)bits));
        break;
    case TYPE_BFLOAT:
        put_float(out, float_of_bits((uint32_t)bits << 16));
        break;
    case MTL_TYPE_BOOL:
        put_text(out, bits ? "true" : "false");
        break;
    default:
        put_integer(out, bits, scalar,
                    scalar->type == MTL_TYPE_INT || scalar->type == MTL_TYPE_SHORT ||
                        scalar->type == MTL_TYPE_CHAR || scalar->type == MTL_TYPE_LONG);
    }
}

// The length of a value of an unknown type is unknown as well: its type is all there is to say.
static void put_value(struct out *out, const struct mt_constant *constant)
{
    uint32_t width;
    const struct scalar *scalar = scalar_of(constant->type, &width);
    if (!scalar) {
        char text[32];
        snprintf(text, sizeof text, "type:0x%x", (unsigned)constant->type);
        put_text(out, text);
        return;
    }
    if (width > 1)
        put_text(out, "(");
    for (uint32_t i = 0; i < width; i++) {
        if (i > 0)
            put_text(out, ",");
        put_scalar(out, scalar, constant->bytes + (size_t)i * scalar->bytes);
    }
    if (width > 1)
        put_text(out, ")");
}

static void put_constant(struct out *out, const struct mt_constant *constant)
{
    char index[16];
    snprintf(index, sizeof index, "%u", (unsigned)constant->index);
    if (out->length > 0)
        put_text(out, " ");
    put_text(out, constant->name ? constant->name : index);
    put_text(out, "=");
    put_value(out, constant);
}

size_t mt_constants_format(const struct mt_constant *list, size_t count, char *text, size_t size)
{
    static const char more[] = " ...";
    if (size < sizeof more) {
        if (size > 0)
            text[0] = '\0';
        return 0;
    }
    struct out out = {.text = text, .room = size - sizeof more};
    for (size_t i = 0; i < count && !out.cut; i++) {
        size_t before = out.length;
        put_constant(&out, &list[i]);
        if (out.cut)
            out.length = before;
    }
    if (out.cut) {
        out.cut = false;
        out.room = size - 1;
        put_text(&out, more);
    }
    text[out.length] = '\0';
    return out.length;
}
