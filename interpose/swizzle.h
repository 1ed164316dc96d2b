// SPDX-License-Identifier: MIT
// Hooks on classes: which class has which, what they replaced, and which call of a nest is the program's own.
// Rows come from selectors.def. Runs on the program's threads. Installs nothing on an ancestor, names no
// class of a driver, and leaves a method alone whose encoding is not the expected one.
#ifndef MT_SWIZZLE_H
#define MT_SWIZZLE_H

#include "objc/objc.h"

#include <stdbool.h>
#include <stdint.h>

// Thread-locals of the tap are reached without a call where the loader allows it.
#ifdef __linux__
#define MT_TLS __attribute__((tls_model("initial-exec")))
#else
#define MT_TLS
#endif
// Variables of the library itself, reached without a table of addresses.
#define MT_OWN __attribute__((visibility("hidden")))

enum mt_role {
    MT_ROLE_DEVICE,
    MT_ROLE_QUEUE,
    MT_ROLE_COMMAND_BUFFER,
    MT_ROLE_COMPUTE,
    MT_ROLE_BLIT,
    MT_ROLE_LIBRARY,
    MT_ROLE_FUNCTION,
    MT_ROLE_PIPELINE,
    MT_ROLE_BUFFER,
    MT_ROLE_HEAP,
    MT_ROLE_SHARED_EVENT,
    MT_ROLE_CONSTANTS,
    MT_ROLES
};

enum mt_hook {
#define HOOK(role, name, selector, encoding, result, parameters) MT_HOOK_##role##_##name,
#include "selectors.def"
#undef HOOK
    MT_HOOKS
};

// What is known about a class. Entries are never freed; originals are stored before the hook is installed.
struct mt_class {
    Class cls;
    struct mt_class *next;
    uint32_t roles; // bits of enum mt_role
    bool nested;    // an ancestor or descendant has a hook of its own on a selector of this class: calls of
                    // super come back to us
    mt_objc_imp original[MT_HOOKS];
    bool own[MT_HOOKS]; // this class has the hook itself
};

// Hooks the class of an object that the program received, once per class and role. NULL for nil.
struct mt_class *mt_swizzle(id object, enum mt_role role);
void mt_swizzle_class(Class cls, enum mt_role role);
void mt_swizzle_after_fork(void); // in the child: nobody else is left to drop the lock

// One call of a hooked method. Begin finds what to forward to; the caller forwards and ends.
struct mt_call {
    id self;
    const struct mt_class *level; // where `original` was found
    struct mt_call *outer;
    mt_objc_imp original;
    uint32_t hook;
    bool outermost; // the program's own call, not one that Metal makes while it serves another
};
void mt_call_begin(struct mt_call *call, id self, enum mt_hook hook);

// The same without a call for what nearly all calls are: not nested, on the class that had the role last.
extern _Thread_local struct mt_call *mt_calls MT_TLS MT_OWN;
extern struct mt_class *mt_class_last[MT_ROLES] MT_OWN;
extern bool mt_calls_wanted MT_OWN; // false: nothing is recorded any more
static inline void mt_call_begin_fast(struct mt_call *call, id self, enum mt_role role, enum mt_hook hook)
{
    const struct mt_class *level = __atomic_load_n(&mt_class_last[role], __ATOMIC_ACQUIRE);
    if (__builtin_expect(mt_calls || !level || level->cls != mt_objc_class_fast(self), 0)) {
        mt_call_begin(call, self, hook);
        return;
    }
    call->self = self;
    call->hook = hook;
    call->level = level;
    call->outer = NULL;
    call->outermost = __atomic_load_n(&mt_calls_wanted, __ATOMIC_RELAXED);
    call->original = level->original[hook];
    mt_calls = call;
}

static inline void mt_call_end(struct mt_call *call)
{
    mt_calls = call->outer;
}

// Hooks the class of an object that is not nil, at nearly no cost if it is the usual one.
static inline struct mt_class *mt_swizzle_fast(id object, enum mt_role role)
{
    struct mt_class *entry = __atomic_load_n(&mt_class_last[role], __ATOMIC_ACQUIRE);
    return __builtin_expect(entry && entry->cls == mt_objc_class_fast(object), 1) ? entry
                                                                                  : mt_swizzle(object, role);
}

// Between these two the program's code runs inside a call of Metal's, and its calls are its own again.
struct mt_call *mt_calls_suspend(void);
void mt_calls_resume(struct mt_call *suspended);
// Between these two whatever is sent to Metal is the tap's, and is not recorded.
static inline void mt_calls_ours_begin(struct mt_call *call)
{
    call->self = NULL;
    call->hook = MT_HOOKS;
    call->outer = mt_calls;
    mt_calls = call;
}
static inline void mt_calls_ours_end(struct mt_call *call)
{
    mt_calls = call->outer;
}

// True if two method encodings mean the same: offsets, names of structs and classes, and the ways a BOOL is
// written do not count.
bool mt_encoding_same(const char *one, const char *other);

#endif
