// SPDX-License-Identifier: MIT
// printf for kernels: the format comes from the kernel, the values come with their kinds, so a wrong
// conversion can print a wrong number but never read a wrong argument. Plain C, no state.
#include "metal/log_format.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPEC_ROOM = 32, PADDING_MAX = 1024 };

typedef struct cursor {
    const sm_log_value *values;
    uint32_t left;
} cursor;

// One conversion: "%-8.3f" is flags "-", width 8, precision 3, conversion 'f'. -1: not given.
typedef struct conversion {
    char flags[8];
    int width, precision;
    unsigned vector; // elements, 1 for a scalar
    char letter;
} conversion;

static long value_as_signed(const sm_log_value *v)
{
    return v->kind == 'f' ? (long)v->as.f : v->as.i;
}

static double value_as_double(const sm_log_value *v)
{
    return v->kind == 'f' ? v->as.f : v->kind == 'u' ? (double)v->as.u : (double)v->as.i;
}

static sm_log_value next_value(cursor *c)
{
    static const sm_log_value none = {.kind = 'i'};
    if (c->left == 0)
        return none;
    c->left--;
    return *c->values++;
}

// A number or '*'. Bounded: a kernel must not make the host allocate without limit.
static const char *parse_number(const char *p, int *number, cursor *c)
{
    if (*p == '*') {
        sm_log_value v = next_value(c);
        *number = (int)value_as_signed(&v);
        p++;
    } else {
        for (*number = 0; *p >= '0' && *p <= '9'; p++)
            *number = *number < PADDING_MAX ? *number * 10 + (*p - '0') : *number;
    }
    if (*number > PADDING_MAX)
        *number = PADDING_MAX;
    if (*number < -PADDING_MAX)
        *number = -PADDING_MAX;
    return p;
}

// p is after the '%'. Returns what follows the conversion; letter is 0 if the format ends within it.
static const char *parse_conversion(const char *p, conversion *out, cursor *c)
{
    *out = (conversion){.width = -1, .precision = -1, .vector = 1};
    size_t flags = 0;
    for (; *p && strchr("-+ #0", *p); p++)
        if (flags < sizeof out->flags - 1 && !strchr(out->flags, *p))
            out->flags[flags++] = *p;
    if (*p == '*' || (*p >= '1' && *p <= '9'))
        p = parse_number(p, &out->width, c);
    if (*p == '.')
        p = parse_number(p + 1, &out->precision, c);
    if (*p == 'v') {
        int vector;
        p = parse_number(p + 1, &vector, c);
        out->vector = vector >= 2 && vector <= 16 ? (unsigned)vector : 1;
    }
    p += strspn(p, "hlLzjt"); // the values have their full width already
    out->letter = *p;
    return *p ? p + 1 : p;
}

static void write_spec(const conversion *how, const char *modifier, char *spec)
{
    char width[12] = "", precision[13] = "";
    if (how->width != -1)
        snprintf(width, sizeof width, "%d", how->width);
    if (how->precision >= 0)
        snprintf(precision, sizeof precision, ".%d", how->precision);
    snprintf(spec, SPEC_ROOM, "%%%s%s%s%s%c", how->flags, width, precision, modifier, how->letter);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wformat-nonliteral"
static void print_value(FILE *out, const conversion *how, const sm_log_value *v)
{
    char spec[SPEC_ROOM];
    switch (how->letter) {
    case 'd':
    case 'i':
        write_spec(how, "l", spec);
        fprintf(out, spec, value_as_signed(v));
        break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        write_spec(how, "l", spec);
        fprintf(out, spec, v->kind == 'f' ? (unsigned long)v->as.f : v->as.u);
        break;
    case 'c':
        fputc((int)value_as_signed(v), out);
        break;
    case 's':
        write_spec(how, "", spec);
        fprintf(out, spec, v->kind == 's' && v->as.s ? v->as.s : "(null)");
        break;
    case 'p':
        fprintf(out, "%p", v->as.p);
        break;
    default:
        write_spec(how, "", spec);
        fprintf(out, spec, value_as_double(v));
    }
}
#pragma clang diagnostic pop

static void print_conversion(FILE *out, const conversion *how, cursor *c)
{
    for (unsigned i = 0; i < how->vector; i++) {
        if (i)
            fputc(',', out);
        sm_log_value v = next_value(c);
        print_value(out, how, &v);
    }
}

char *sm_log_format(const char *format, const sm_log_value *values, uint32_t count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    cursor c = {values, count};
    for (const char *p = format; *p;) {
        if (*p != '%' || p[1] == '%') {
            fputc(*p, out);
            p += *p == '%' ? 2 : 1;
            continue;
        }
        const char *start = p;
        conversion how;
        p = parse_conversion(p + 1, &how, &c);
        if (how.letter && strchr("diuoxXcspfFeEgGaA", how.letter))
            print_conversion(out, &how, &c);
        else
            fwrite(start, 1, (size_t)(p - start), out);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
