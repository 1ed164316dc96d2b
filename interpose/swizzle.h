// SPDX-License-Identifier: MIT
// Hooks on classes: which class has which, what they replaced, and which call of a nest is the program's own.
// Rows come from selectors.def. Runs on the program's threads. Installs nothing on an ancestor, names no
// class of a driver, and leaves a method alone whose encoding is not the expected one.
#ifndef MT_SWIZZLE_H
#define MT_SWIZZLE_H

#include "objc/objc.h"

#include <stdbool.h>
#include <stdint.h>

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
void mt_call_end(struct mt_call *call);

// Between these two the program's code runs inside a call of Metal's, and its calls are its own again.
struct mt_call *mt_calls_suspend(void);
void mt_calls_resume(struct mt_call *suspended);
// Between these two whatever is sent to Metal is the tap's, and is not recorded.
void mt_calls_ours_begin(struct mt_call *call);
void mt_calls_ours_end(struct mt_call *call);

// True if two method encodings mean the same: offsets, names of structs and classes, and the ways a BOOL is
// written do not count.
bool mt_encoding_same(const char *one, const char *other);

#endif
