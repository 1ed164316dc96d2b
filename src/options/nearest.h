// SPDX-License-Identifier: MIT
// Finds what somebody meant who misspelt a name. Pure: allocates nothing; any thread may call it.
#ifndef MT_OPTIONS_NEAREST_H
#define MT_OPTIONS_NEAREST_H

#include <stddef.h>

// The place of the name that `word` is a slip of, by edit distance without regard to case; `count` if none is
// near enough to be worth proposing.
size_t mt_nearest(const char *word, const char *const *names, size_t count);

#endif
