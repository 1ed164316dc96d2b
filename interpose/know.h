// SPDX-License-Identifier: MIT
// What the cold hooks share: a bracket around messages that the tap itself sends, and the one way in which an
// object gets its number. Runs on the program's threads. Nothing here keeps an object alive.
#ifndef MT_KNOW_H
#define MT_KNOW_H

#include "tap.h"

// Between begin and end the tap sends to Metal: not recorded, in a pool of its own, errno kept.
struct mt_ours {
    struct mt_call call;
    void *pool;
    int saved_errno;
};
void mt_ours_begin(struct mt_ours *ours);
void mt_ours_end(struct mt_ours *ours);

// The entry of an object, made and numbered if there is none. `is_new`: the program just received it, so an
// entry under its address is that of an object which is gone, and gets a new number. Else the object was
// found in use, perhaps by two threads at once: one of them is told to define it (`*define`). NULL when
// memory is short.
void *mt_know_claim(enum mt_kind kind, id object, enum mt_record_counter counter, bool is_new, bool *define);

#endif
