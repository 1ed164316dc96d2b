// SPDX-License-Identifier: MIT
// Edit distance for "did you mean": inserted, missing, wrong and swapped letters count 1 each. Runs in the
// target's constructor as well, so it allocates nothing and its tables are small and on the stack.
#include "options/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_MAX = 40 }; // longer than any name of ours; what is longer is nobody's slip

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned cost[WORD_MAX + 1][WORD_MAX + 1];
    for (size_t i = 0; i <= a_length; i++)
        for (size_t j = 0; j <= b_length; j++) {
            if (!i || !j) {
                cost[i][j] = (unsigned)(i + j);
                continue;
            }
            bool same = lower(a[i - 1]) == lower(b[j - 1]);
            cost[i][j] = least(cost[i - 1][j - 1] + !same, 1 + least(cost[i - 1][j], cost[i][j - 1]));
            bool swapped =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped)
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    return cost[a_length][b_length];
}

// A beginning is a slip too: "sum" for "summary", "--output" for "--out".
static bool begins(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t shorter = a_length < b_length ? a_length : b_length;
    for (size_t i = 0; i < shorter; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return shorter > 1;
}

// What all names begin with says nothing about which of them was meant.
static size_t common_prefix(const char *const *names, size_t count)
{
    size_t length = count ? strlen(names[0]) : 0;
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < length; j++)
            if (names[i][j] != names[0][j])
                length = j;
    return count > 1 ? length : 0;
}

size_t mt_nearest(const char *word, const char *const *names, size_t count)
{
    size_t prefix = common_prefix(names, count), best = count;
    unsigned best_distance = WORD_MAX;
    if (strncmp(word, count ? names[0] : "", prefix) != 0)
        prefix = 0;
    size_t length = strlen(word + prefix);
    if (!length || length > WORD_MAX)
        return count;
    for (size_t i = 0; i < count; i++) {
        size_t name_length = strlen(names[i] + prefix);
        if (name_length > WORD_MAX)
            continue;
        // A third of the letters may be wrong, and one always, but never all of them.
        unsigned allowed = (unsigned)(name_length / 3 ? name_length / 3 : 1);
        unsigned d = distance(word + prefix, length, names[i] + prefix, name_length);
        bool near = (d <= allowed && d < name_length) ||
                    begins(word + prefix, length, names[i] + prefix, name_length);
        if (near && d < best_distance) {
            best = i;
            best_distance = d;
        }
    }
    return best;
}
