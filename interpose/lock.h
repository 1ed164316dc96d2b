// SPDX-License-Identifier: MIT
// A lock for short stretches, or for a file operation by one who would have to wait for it anyway. Zero is
// free. Needs no memory and no set-up, and can be freed by hand in the child of a fork. Not for signal
// handlers.
#ifndef MT_LOCK_H
#define MT_LOCK_H

#include <sched.h>
#include <stdint.h>

typedef struct mt_lock {
    uint32_t taken;
} mt_lock;

static inline void mt_lock_take(mt_lock *lock)
{
    while (__builtin_expect(__atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE), 0))
        sched_yield();
}

static inline void mt_lock_drop(mt_lock *lock)
{
    __atomic_store_n(&lock->taken, 0, __ATOMIC_RELEASE);
}

#endif
