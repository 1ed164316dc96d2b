// SPDX-License-Identifier: MIT
// Text for terminals: see columns.h. Formats numbers by hand: no locale.
#include "views/columns.h"

#include "views/utf8.h"

struct range {
    uint32_t first, last;
};

static bool in_ranges(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    }
    return false;
}

// Control characters, and what changes direction or cannot be seen.
static bool is_harmful(uint32_t character)
{
    static const struct range harmful[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},
                                           {0x061c, 0x061c}, {0x200b, 0x200f}, {0x2028, 0x202e},
                                           {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe0fff}};
    return in_ranges(character, harmful, sizeof(harmful) / sizeof(harmful[0]));
}

static unsigned columns_of(uint32_t character)
{
    static const struct range none[] = {{0x0300, 0x036f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const struct range wide[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                        {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                        {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};
    if (in_ranges(character, none, sizeof(none) / sizeof(none[0])))
        return 0;
    return in_ranges(character, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}

struct piece { // of a text, ready to be shown
    char bytes[16];
    size_t length;
    unsigned columns;
};

// Takes one character of the text; gives how many bytes it had.
static size_t next_piece(const char *text, size_t length, struct piece *piece)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t character;
    size_t taken = mt_utf8_next(text, length, &character);
    if (character == MT_UTF8_BAD) {
        *piece = (struct piece){"?", 1, 1};
    } else if (character == '\n' || character == '\t') {
        *piece = (struct piece){{'\\', character == '\n' ? 'n' : 't'}, 2, 2};
    } else if (is_harmful(character)) {
        *piece = (struct piece){"\\u", 2, 0};
        for (int shift = character > 0xffff ? 20 : 12; shift >= 0; shift -= 4)
            piece->bytes[piece->length++] = hex[character >> shift & 15];
        piece->columns = (unsigned)piece->length;
    } else {
        *piece = (struct piece){"", taken, columns_of(character)};
        memcpy(piece->bytes, text, taken);
    }
    return taken;
}

static void spaces(struct mt_out *out, unsigned count)
{
    while (count--)
        mt_out_bytes(out, " ", 1);
}

// Whole characters that fit `width` columns; gives how many columns they took and whether that was all.
static unsigned put_fitting(struct mt_out *out, const char *text, unsigned width, bool *all)
{
    size_t length = strlen(text);
    unsigned used = 0;
    struct piece piece;
    *all = true;
    for (size_t at = 0; at < length;) {
        size_t taken = next_piece(text + at, length - at, &piece);
        if (piece.columns > width - used) {
            *all = false;
            break;
        }
        if (out)
            mt_out_bytes(out, piece.bytes, piece.length);
        used += piece.columns;
        at += taken;
    }
    return used;
}

void mt_cell_text(struct mt_out *out, const char *text, unsigned width)
{
    bool all;
    text = text ? text : "";
    unsigned used = put_fitting(NULL, text, width, &all);
    if (all) {
        put_fitting(out, text, width, &all);
    } else {
        used = put_fitting(out, text, width > 3 ? width - 3 : 0, &all);
        mt_out_bytes(out, "...", width > 3 ? 3 : width);
        used += width > 3 ? 3 : width;
    }
    spaces(out, width - used);
}

void mt_cell_right(struct mt_out *out, const char *text, unsigned width)
{
    size_t length = strlen(text);
    spaces(out, length < width ? width - (unsigned)length : 1);
    mt_out_string(out, text);
}

void mt_cell_plain(struct mt_out *out, const char *text)
{
    bool all;
    put_fitting(out, text ? text : "", UINT32_MAX, &all);
}

// Three digits that count, and a unit.
static void format_scaled(char *to, double value, const char *unit)
{
    unsigned decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    double factor = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
    mt_format_decimal(to, (uint64_t)(value * factor + 0.5), decimals);
    strcat(to, " ");
    strcat(to, unit);
}

static void format_unknown(char *to)
{
    to[0] = '-';
    to[1] = 0;
}

void mt_cell_duration(char to[MT_CELL_BYTES], double ns)
{
    if (ns < 0)
        format_unknown(to);
    else if (ns < 1000) {
        mt_format_decimal(to, (uint64_t)ns, 0);
        strcat(to, " ns");
    } else if (ns < 999500)
        format_scaled(to, ns / 1e3, "us");
    else if (ns < 999500000.0)
        format_scaled(to, ns / 1e6, "ms");
    else
        format_scaled(to, ns < 1e18 ? ns / 1e9 : 1e9, "s");
}

void mt_cell_size(char to[MT_CELL_BYTES], double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 0) {
        format_unknown(to);
        return;
    }
    if (bytes < 1024) {
        mt_format_decimal(to, (uint64_t)bytes, 0);
        strcat(to, " B");
        return;
    }
    size_t unit = 0;
    for (bytes /= 1024; bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1024;
    format_scaled(to, bytes, units[unit]);
}

void mt_cell_count(char to[MT_CELL_BYTES], double count)
{
    if (count < 0)
        format_unknown(to);
    else
        mt_format_decimal(to, count < 1e19 ? (uint64_t)count : UINT64_MAX, 0);
}

void mt_cell_percent(char to[MT_CELL_BYTES], double percent)
{
    if (percent < 0) {
        format_unknown(to);
        return;
    }
    mt_format_decimal(to, percent < 1e9 ? (uint64_t)(percent * 10 + 0.5) : 0, 1);
    strcat(to, "%");
}
