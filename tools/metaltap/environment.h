// SPDX-License-Identifier: MIT
// An environment that is being made for another program: a copy, changed name by name. One thread.
#ifndef MT_ENVIRONMENT_H
#define MT_ENVIRONMENT_H

#include <stddef.h>

struct mt_environment {
    char **entries; // NAME=value, ended by NULL: what execve takes
    size_t count;
};

int mt_environment_copy(struct mt_environment *environment, char *const *from);
void mt_environment_free(struct mt_environment *environment);
// NULL if it is not there.
const char *mt_environment_get(const struct mt_environment *environment, const char *name);
int mt_environment_set(struct mt_environment *environment, const char *name, const char *value);

#endif
