// SPDX-License-Identifier: MIT
// Feeds the front end damaged sources, always the same ones: whatever the text says, it must stay inside it
// and come to an end with an answer. Meant for SAN=address and SAN=undefined above all; compiles nothing.
#include "compiler/unit.h"
#include "unit/compiler_support.h"

enum { ROUNDS = 4000, CHANGES = 12, ROOM = 8192 };

static const char *const sources[] = {"unit/compiler_shapes.metal", "msl/atomic.metal", "msl/simd.metal",
                                      "msl/constants.metal"};
enum { SOURCES = sizeof sources / sizeof *sources };

static const char *const pieces[] = {"[[",
                                     "]]",
                                     "kernel ",
                                     "template ",
                                     "<",
                                     ">",
                                     "(",
                                     ")",
                                     "{",
                                     "}",
                                     "[[kernel]]",
                                     "[[function_constant(0)]]",
                                     "threadgroup ",
                                     "constant ",
                                     "device ",
                                     "struct ",
                                     "namespace ",
                                     ":",
                                     ";",
                                     "=",
                                     "\"",
                                     "R\"(",
                                     "'",
                                     "#pragma unroll (",
                                     "/*",
                                     "*/",
                                     "//",
                                     "\n",
                                     "\\\n",
                                     "0x",
                                     "1e",
                                     "h",
                                     "bf",
                                     "is_function_constant_defined(",
                                     "[[host_name(\"\")]]",
                                     "decltype(",
                                     "operator",
                                     "...",
                                     "::",
                                     "enum{",
                                     "?",
                                     ",",
                                     "alignas(",
                                     "[[buffer(",
                                     "static_cast<half>("};
enum { PIECES = sizeof pieces / sizeof *pieces };

static uint64_t state = 88172645463325252u;

static size_t below(size_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? state % n : 0;
}

typedef struct draft {
    char *text; // has ROOM bytes more than it was made with
    size_t length, most;
} draft;

static void insert(draft *d, size_t at, const char *piece, size_t length)
{
    if (d->length + length > d->most)
        return;
    memmove(d->text + at + length, d->text + at, d->length - at);
    memcpy(d->text + at, piece, length);
    d->length += length;
}

static void repeat(draft *d, size_t at)
{
    char copy[150];
    size_t from = below(d->length + 1), length = below(sizeof copy);
    length = from + length > d->length ? d->length - from : length;
    memcpy(copy, d->text + from, length);
    insert(d, at, copy, length);
}

static void change(draft *d)
{
    size_t at = below(d->length + 1), length = below(200);
    switch (below(6)) {
    case 0:
        if (d->length)
            d->text[at % d->length] = (char)(1 + below(255));
        break;
    case 1:
        length = at + length > d->length ? d->length - at : length;
        memmove(d->text + at, d->text + at + length, d->length - at - length);
        d->length -= length;
        break;
    case 2:
        repeat(d, at);
        break;
    case 3:
        if (below(4) == 0)
            d->length = at;
        break;
    default: {
        const char *piece = pieces[below(PIECES)];
        insert(d, at, piece, strlen(piece));
    }
    }
}

// A copy of exactly this length, so that a sanitizer sees the first byte beyond it. The unit takes it over.
static bool accepts(const draft *d)
{
    char *text = malloc(d->length + 1);
    memcpy(text, d->text, d->length);
    text[d->length] = '\0';
    sm_unit unit;
    int error = sm_unit_open(&unit, text, d->length, "program_source");
    if (!error) {
        sm_text out = {0};
        sm_unit_write(&unit, &out);
        sm_text_free(&out);
    } else {
        CHECK(error == -22 && unit.errors.length > 0); // EINVAL, and a message that says why
    }
    sm_unit_close(&unit);
    return !error;
}

int main(void)
{
    char *texts[SOURCES];
    size_t lengths[SOURCES];
    int accepted = 0;
    for (int i = 0; i < SOURCES; i++)
        texts[i] = compiler_read(sources[i], &lengths[i]);
    for (int round = 0; round < ROUNDS; round++) {
        size_t which = below(SOURCES);
        draft d = {malloc(lengths[which] + ROOM), lengths[which], lengths[which] + ROOM};
        memcpy(d.text, texts[which], d.length);
        for (size_t n = 1 + below(CHANGES); n; n--)
            change(&d);
        accepted += accepts(&d);
        free(d.text);
    }
    printf("%d of %d damaged sources accepted\n", accepted, (int)ROUNDS);
    CHECK(accepted > 0 && accepted < ROUNDS);
    for (int i = 0; i < SOURCES; i++)
        free(texts[i]);
    return test_end();
}
