// SPDX-License-Identifier: MIT
// Installs hooks on concrete classes and finds what they replaced. Entries of classes are found without a
// lock; installing is done under one. The nest of calls is a list on the stack of its thread.
#include "swizzle.h"
#include "hooks.h"
#include "tap.h"

#include <string.h>

enum { CLASS_BUCKETS = 256 };

static const struct {
    enum mt_role role;
    const char *selector, *encoding;
    mt_objc_imp handler;
} hooks[MT_HOOKS] = {
#define HOOK(role, name, selector, encoding, result, parameters)                                             \
    {MT_ROLE_##role, selector, encoding, (mt_objc_imp)mt_hook_##role##_##name},
#include "selectors.def"
#undef HOOK
};

static struct {
    mt_lock lock;
    struct mt_class *buckets[CLASS_BUCKETS];
    bool warned[MT_HOOKS];
} classes;

_Thread_local struct mt_call *mt_calls MT_TLS;
struct mt_class *mt_class_last[MT_ROLES]; // most programs have one class per role
bool mt_calls_wanted;

// ---- classes ----
static struct mt_class **bucket_of(Class cls)
{
    return &classes.buckets[((uintptr_t)cls >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}

static struct mt_class *find_exact(Class cls)
{
    struct mt_class *entry = __atomic_load_n(bucket_of(cls), __ATOMIC_ACQUIRE);
    while (entry && entry->cls != cls)
        entry = entry->next;
    return entry;
}

// The nearest class of the line, from `cls` up, that knows what a hook replaced. It is an ancestor for
// classes that were made behind our back (key-value observing does that) or hooked in another role.
static const struct mt_class *find_level(Class cls, unsigned hook)
{
    for (; cls; cls = mt_objc_superclass(cls)) {
        const struct mt_class *entry = find_exact(cls);
        if (entry && __atomic_load_n(&entry->original[hook], __ATOMIC_ACQUIRE))
            return entry;
    }
    return NULL; // cannot be: the hook was reached through one of them
}

static struct mt_class *make_class(Class cls)
{
    struct mt_class *entry = find_exact(cls);
    if (entry)
        return entry;
    entry = mt_arena(sizeof *entry);
    if (!entry)
        return NULL;
    entry->cls = cls;
    entry->next = *bucket_of(cls);
    __atomic_store_n(bucket_of(cls), entry, __ATOMIC_RELEASE);
    return entry;
}

static bool is_ancestor(Class ancestor, Class cls)
{
    while (cls && cls != ancestor)
        cls = mt_objc_superclass(cls);
    return cls != NULL;
}

// If two classes of one line have hooks of their own on a selector, super can lead from one to the other.
static void note_nesting(struct mt_class *entry, unsigned hook)
{
    bool found = false;
    for (size_t i = 0; i < CLASS_BUCKETS; i++) {
        for (struct mt_class *other = classes.buckets[i]; other; other = other->next) {
            if (other == entry)
                continue;
            bool relative = is_ancestor(other->cls, entry->cls) || is_ancestor(entry->cls, other->cls);
            for (unsigned h = 0; relative && h < MT_HOOKS; h++) {
                if (other->own[h] && strcmp(hooks[h].selector, hooks[hook].selector) == 0)
                    found = entry->nested = other->nested = true;
            }
        }
    }
    if (found)
        mt_encoders_of_nested_classes();
}

static bool is_handler(mt_objc_imp imp)
{
    for (unsigned h = 0; h < MT_HOOKS; h++) {
        if (hooks[h].handler == imp)
            return true;
    }
    return false;
}

// What an ancestor's hook on this selector replaced.
static mt_objc_imp inherited_original(Class cls, unsigned hook)
{
    for (cls = mt_objc_superclass(cls); cls; cls = mt_objc_superclass(cls)) {
        struct mt_class *entry = find_exact(cls);
        for (unsigned h = 0; entry && h < MT_HOOKS; h++) {
            if (entry->own[h] && strcmp(hooks[h].selector, hooks[hook].selector) == 0)
                return entry->original[h];
        }
    }
    return NULL;
}

static void install(struct mt_class *entry, unsigned hook)
{
    SEL selector = mt_objc_selector(hooks[hook].selector);
    struct mt_objc_method method;
    if (!mt_objc_method(entry->cls, selector, &method))
        return;
    if (!mt_encoding_same(method.types, hooks[hook].encoding)) {
        mt_warn_once(&classes.warned[hook], "%s has the encoding %s, expected %s: not recorded",
                     hooks[hook].selector, method.types, hooks[hook].encoding);
        return;
    }
    if (is_handler(method.imp)) { // of an ancestor, or of this class in another role
        mt_objc_imp original = method.inherited ? inherited_original(entry->cls, hook) : NULL;
        if (!original || method.imp != hooks[hook].handler)
            return;
        __atomic_store_n(&entry->original[hook], original, __ATOMIC_RELEASE);
        return;
    }
    __atomic_store_n(&entry->original[hook], method.imp, __ATOMIC_RELEASE);
    entry->own[hook] = mt_objc_override(entry->cls, selector, hooks[hook].handler, method.types);
    note_nesting(entry, hook);
}

void mt_swizzle_class(Class cls, enum mt_role role)
{
    mt_lock_take(&classes.lock);
    struct mt_class *entry = make_class(cls);
    if (entry && !(entry->roles & 1U << role)) {
        for (unsigned h = 0; h < MT_HOOKS; h++) {
            if (hooks[h].role == role)
                install(entry, h);
        }
        __atomic_fetch_or(&entry->roles, 1U << role, __ATOMIC_RELEASE);
    }
    mt_lock_drop(&classes.lock);
}

void mt_swizzle_after_fork(void)
{
    mt_lock_drop(&classes.lock);
}

struct mt_class *mt_swizzle(id object, enum mt_role role)
{
    if (!object)
        return NULL;
    Class cls = mt_objc_class_of(object);
    struct mt_class *entry = __atomic_load_n(&mt_class_last[role], __ATOMIC_ACQUIRE);
    if (__builtin_expect(entry && entry->cls == cls, 1))
        return entry;
    entry = find_exact(cls);
    if (!entry || !(__atomic_load_n(&entry->roles, __ATOMIC_ACQUIRE) & 1U << role)) {
        mt_swizzle_class(cls, role);
        entry = find_exact(cls);
    }
    if (entry)
        __atomic_store_n(&mt_class_last[role], entry, __ATOMIC_RELEASE);
    return entry;
}

// ---- calls ----
// Finds the level of a call that came back to us through super: above the one that the outer call resolved
// to.
static const struct mt_class *level_above(const struct mt_class *level, unsigned hook)
{
    Class cls = level->cls;
    while ((cls = mt_objc_superclass(cls)) != NULL) {
        const struct mt_class *entry = find_exact(cls);
        if (entry && entry->own[hook])
            return entry;
    }
    return level;
}

static const struct mt_class *nested_level(const struct mt_call *outer, id self, unsigned hook)
{
    for (; outer; outer = outer->outer) {
        if (outer->self == self && outer->hook == hook)
            return level_above(outer->level, hook);
    }
    return find_level(mt_objc_class_of(self), hook);
}

void mt_call_begin(struct mt_call *call, id self, enum mt_hook hook)
{
    struct mt_call *outer = mt_calls;
    const struct mt_class *level;
    if (__builtin_expect(!outer, 1)) {
        level = __atomic_load_n(&mt_class_last[hooks[hook].role], __ATOMIC_ACQUIRE);
        if (__builtin_expect(!level || level->cls != mt_objc_class_of(self) || !level->original[hook], 0))
            level = find_level(mt_objc_class_of(self), hook);
    } else {
        level = nested_level(outer, self, hook);
    }
    call->self = self;
    call->hook = hook;
    call->level = level;
    call->outer = outer;
    call->outermost = !outer && __atomic_load_n(&mt_calls_wanted, __ATOMIC_RELAXED);
    call->original = __atomic_load_n(&level->original[hook], __ATOMIC_ACQUIRE);
    mt_calls = call;
}

struct mt_call *mt_calls_suspend(void)
{
    struct mt_call *suspended = mt_calls;
    mt_calls = NULL;
    return suspended;
}

void mt_calls_resume(struct mt_call *suspended)
{
    mt_calls = suspended;
}
