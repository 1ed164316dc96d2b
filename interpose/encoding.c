// SPDX-License-Identifier: MIT
// Compares method encodings by what they mean. Pure; any thread.
#include "swizzle.h"

#include <string.h>

static const char *skip_quoted(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        ;
    return *at ? at + 1 : at;
}

static const char *skip_struct(const char *at)
{
    int depth = 0;
    do {
        depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
    } while (*at++ && depth > 0);
    return at[-1] ? at : at - 1;
}

// The next character that counts, or 0. Names of structs end in '=', or with the struct if it is opaque.
static char next_part(const char **text)
{
    const char *at = *text;
    for (;;) {
        if (*at == '"') {
            at = skip_quoted(at);
        } else if (*at && (strchr("0123456789rnNoORVA+-", *at))) {
            at++;
        } else {
            break;
        }
    }
    if (at[0] == '^' && at[1] == '{') { // what a pointer leads to does not matter
        // libdispatch's types are objects on macOS and pointers to opaque structs elsewhere.
        bool is_object = strncmp(at, "^{dispatch_", strlen("^{dispatch_")) == 0;
        *text = skip_struct(at + 1);
        return is_object ? '@' : '^';
    }
    char part = *at;
    if (part)
        at++;
    if (part == '{') {
        while (*at && *at != '=' && *at != '}')
            at++;
    }
    *text = at;
    // BOOL is a C bool on arm64, a signed char on x86_64 and an unsigned one with GNUstep.
    return part == 'B' || part == 'c' || part == 'C' ? 'B' : part;
}

bool mt_encoding_same(const char *one, const char *other)
{
    for (;;) {
        char a = next_part(&one), b = next_part(&other);
        if (a != b)
            return false;
        if (!a)
            return true;
    }
}
