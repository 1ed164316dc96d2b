// SPDX-License-Identifier: MIT
// Copies and changes environments. Entries nobody sets stay byte for byte as they were, and in their order.
#include "environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mt_environment_copy(struct mt_environment *environment, char *const *from)
{
    size_t count = 0;
    while (from[count])
        count++;
    environment->count = 0;
    environment->entries = calloc(count + 1, sizeof *environment->entries);
    if (!environment->entries)
        return -ENOMEM;
    for (; environment->count < count; environment->count++) {
        environment->entries[environment->count] = strdup(from[environment->count]);
        if (!environment->entries[environment->count]) {
            mt_environment_free(environment);
            return -ENOMEM;
        }
    }
    return 0;
}

void mt_environment_free(struct mt_environment *environment)
{
    for (size_t i = 0; i < environment->count; i++)
        free(environment->entries[i]);
    free(environment->entries);
    *environment = (struct mt_environment){0};
}

static size_t find(const struct mt_environment *environment, const char *name, size_t from)
{
    size_t length = strlen(name), i = from;
    while (i < environment->count &&
           (strncmp(environment->entries[i], name, length) != 0 || environment->entries[i][length] != '='))
        i++;
    return i;
}

const char *mt_environment_get(const struct mt_environment *environment, const char *name)
{
    size_t i = find(environment, name, 0);
    return i < environment->count ? environment->entries[i] + strlen(name) + 1 : NULL;
}

// A name may stand there twice; programs differ in which one they take.
static void remove_others(struct mt_environment *environment, const char *name, size_t kept)
{
    for (size_t i = find(environment, name, kept + 1); i < environment->count;
         i = find(environment, name, i)) {
        free(environment->entries[i]);
        memmove(environment->entries + i, environment->entries + i + 1,
                (environment->count - i) * sizeof *environment->entries);
        environment->count--;
    }
}

int mt_environment_set(struct mt_environment *environment, const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2, i = find(environment, name, 0);
    char *entry = malloc(size);
    if (!entry)
        return -ENOMEM;
    snprintf(entry, size, "%s=%s", name, value);
    if (i < environment->count) {
        free(environment->entries[i]);
        environment->entries[i] = entry;
        remove_others(environment, name, i);
        return 0;
    }
    char **entries = realloc(environment->entries, (environment->count + 2) * sizeof *entries);
    if (!entries) {
        free(entry);
        return -ENOMEM;
    }
    environment->entries = entries;
    entries[environment->count++] = entry;
    entries[environment->count] = NULL;
    return 0;
}
