// SPDX-License-Identifier: MIT
// Numbers for texts: the same number from 0 for the same bytes, in the order of first sight. Does not copy
// the texts: they live as long as the model. Zeroed memory is empty. One thread at a time.
#ifndef MT_ANALYSIS_NAMES_H
#define MT_ANALYSIS_NAMES_H

#include "model/model.h"

struct mt_name { // two texts, as a kernel has: its name and its constants
    struct mt_text text, more;
    uint64_t hash;
};
struct mt_names {
    struct mt_name *names;
    uint32_t count, room;
    uint32_t *slots; // number + 1, or 0; a power of two of them
    uint32_t slot_count;
};

#define MT_NO_NAME UINT32_MAX
// The number of a name, or MT_NO_NAME if it is new and there are `limit` already or no memory is left;
// `*error` is -ENOMEM in that last case and unchanged otherwise.
uint32_t mt_names_number(struct mt_names *names, struct mt_text text, struct mt_text more, uint32_t limit,
                         int *error);
void mt_names_free(struct mt_names *names);

#endif
