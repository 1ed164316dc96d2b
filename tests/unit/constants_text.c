// SPDX-License-Identifier: MIT
// shows: function constants of every type are told in the same words, whatever the locale
// Unit test of interpose/constants_text.c: every type of function constants as text, the order, the cut at
// the end of the room, and that a locale with a decimal comma changes nothing.
#include "constants_text.h"
#include "unit/test.h"

#include <locale.h>

static const char *text_of(uint32_t type, const void *bytes, size_t size)
{
    static char text[256];
    struct mt_constant constant = {.index = 7, .type = type};
    memcpy(constant.bytes, bytes, size);
    CHECK_EQ(mt_constants_format(&constant, 1, text, sizeof text), strlen(text));
    return text;
}

#define TEXT(type, c_type, ...) text_of(type, (c_type[]){__VA_ARGS__}, sizeof((c_type[]){__VA_ARGS__}))

static void test_integers(void)
{
    CHECK_STR(TEXT(29, int32_t, -5), "7=-5");
    CHECK_STR(TEXT(33, uint32_t, 4294967295), "7=4294967295");
    CHECK_STR(TEXT(37, int16_t, -32768), "7=-32768");
    CHECK_STR(TEXT(41, uint16_t, 65535), "7=65535");
    CHECK_STR(TEXT(45, int8_t, -128), "7=-128");
    CHECK_STR(TEXT(49, uint8_t, 255), "7=255");
    CHECK_STR(TEXT(81, int64_t, INT64_MIN), "7=-9223372036854775808");
    CHECK_STR(TEXT(85, uint64_t, UINT64_MAX), "7=18446744073709551615");
    CHECK_STR(TEXT(53, uint8_t, 1), "7=true");
    CHECK_STR(TEXT(53, uint8_t, 0), "7=false");
}

static void test_vectors(void)
{
    CHECK_STR(TEXT(30, int32_t, 1, -2), "7=(1,-2)");
    CHECK_STR(TEXT(31, int32_t, 1, 2, 3, 99), "7=(1,2,3)");
    CHECK_STR(TEXT(32, int32_t, 1, 2, 3, 4), "7=(1,2,3,4)");
    CHECK_STR(TEXT(56, uint8_t, 1, 0, 0, 1), "7=(true,false,false,true)");
    CHECK_STR(TEXT(88, uint64_t, 1, 2, 3, 4), "7=(1,2,3,4)");
    CHECK_STR(TEXT(4, float, 0.5F, -1), "7=(0.5,-1)");
    CHECK_STR(TEXT(18, uint16_t, 0x3c00, 0xc000, 0x3555, 0), "7=(1,-2,0.33325195)");
}

static void test_floats(void)
{
    CHECK_STR(TEXT(3, float, 0.125F), "7=0.125");
    CHECK_STR(TEXT(3, float, 0.1F), "7=0.1");
    CHECK_STR(TEXT(3, float, 1.0F / 3), "7=0.33333334");
    CHECK_STR(TEXT(3, float, 0.0F), "7=0");
    CHECK_STR(TEXT(3, float, -0.0F), "7=-0");
    CHECK_STR(TEXT(3, float, 100.0F), "7=100");
    CHECK_STR(TEXT(3, float, 16777216.0F), "7=16777216");
    CHECK_STR(TEXT(3, float, 12.75F), "7=12.75");
    CHECK_STR(TEXT(3, float, 1e-5F), "7=0.00001");
    CHECK_STR(TEXT(3, float, 1.5e-6F), "7=1.5e-6");
    CHECK_STR(TEXT(3, float, 1e10F), "7=1e10");
    CHECK_STR(TEXT(3, float, -3.4028235e38F), "7=-3.4028235e38");
    CHECK_STR(TEXT(3, float, 1e-45F), "7=1e-45");
    CHECK_STR(TEXT(3, float, INFINITY), "7=inf");
    CHECK_STR(TEXT(3, float, -INFINITY), "7=-inf");
    CHECK_STR(TEXT(3, float, NAN), "7=nan");
    CHECK_STR(TEXT(16, uint16_t, 0x3800), "7=0.5");
    CHECK_STR(TEXT(16, uint16_t, 0x7bff), "7=65504");
    CHECK_STR(TEXT(16, uint16_t, 0x0001), "7=5.9604645e-8");
    CHECK_STR(TEXT(16, uint16_t, 0xfc00), "7=-inf");
    CHECK_STR(TEXT(16, uint16_t, 0x7e00), "7=nan");
    CHECK_STR(TEXT(121, uint16_t, 0x3f80), "7=1");
    CHECK_STR(TEXT(122, uint16_t, 0xbfc0, 0x4049), "7=(-1.5,3.140625)");
}

static void test_sizes(void)
{
    CHECK_EQ(mt_constant_size(3), 4);
    CHECK_EQ(mt_constant_size(4), 8);
    CHECK_EQ(mt_constant_size(5), 16);
    CHECK_EQ(mt_constant_size(6), 16);
    CHECK_EQ(mt_constant_size(53), 1);
    CHECK_EQ(mt_constant_size(55), 4);
    CHECK_EQ(mt_constant_size(88), 32);
    CHECK_EQ(mt_constant_size(124), 8);
    CHECK_EQ(mt_constant_size(7), 0);  // a matrix
    CHECK_EQ(mt_constant_size(57), 0); // no type at all
    CHECK_EQ(mt_constant_size(0), 0);
    CHECK_STR(TEXT(58, uint8_t, 1), "7=type:0x3a");
}

static void test_order(void)
{
    const struct mt_constant two = {.index = 2}, ten = {.index = 10}, a = {.name = "a"}, b = {.name = "b"};
    CHECK(mt_constant_order(&two, &ten) < 0);
    CHECK(mt_constant_order(&ten, &two) > 0);
    CHECK(mt_constant_order(&ten, &a) < 0);
    CHECK(mt_constant_order(&a, &two) > 0);
    CHECK(mt_constant_order(&a, &b) < 0);
    CHECK(mt_constant_order(&b, &b) == 0);
    CHECK(mt_constant_order(&two, &two) == 0);
}

static void test_lists(void)
{
    const struct mt_constant list[] = {
        {.index = 0, .type = 29, .bytes = {1}},
        {.index = 4, .type = 53, .bytes = {1}},
        {.name = "is_causal", .type = 53},
        {.name = "mode", .type = 52, .bytes = {1, 2, 3, 4}},
    };
    static const char whole[] = "0=1 4=true is_causal=false mode=(1,2,3,4)";
    char text[64];
    CHECK_EQ(mt_constants_format(list, 4, text, sizeof text), sizeof whole - 1);
    CHECK_STR(text, whole);
    CHECK_EQ(mt_constants_format(list, 0, text, sizeof text), 0);
    CHECK_STR(text, "");
    // Whole constants, or none of one.
    CHECK_EQ(mt_constants_format(list, 4, text, 32), strlen("0=1 4=true is_causal=false ..."));
    CHECK_STR(text, "0=1 4=true is_causal=false ...");
    mt_constants_format(list, 4, text, 16);
    CHECK_STR(text, "0=1 4=true ...");
    for (size_t size = 1; size < sizeof text; size++) {
        memset(text, '#', sizeof text);
        size_t length = mt_constants_format(list, 4, text, size);
        CHECK(length < size && text[length] == '\0' && text[size] == '#');
    }
}

// Any locale that has a comma; where there is none the rest has been tested all the same.
static void test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ru_RU.UTF-8", "de_DE", "fr_FR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!setlocale(LC_ALL, names[i]))
            continue;
        CHECK_STR(TEXT(3, float, 0.125F), "7=0.125");
        CHECK_STR(TEXT(3, float, 1.0F / 3), "7=0.33333334");
        CHECK_STR(TEXT(3, float, 1.5e-6F), "7=1.5e-6");
        setlocale(LC_ALL, "C");
        return;
    }
    printf("no locale with a decimal comma here\n");
}

int main(void)
{
    test_integers();
    test_vectors();
    test_floats();
    test_sizes();
    test_order();
    test_lists();
    test_locale();
    return test_end();
}
