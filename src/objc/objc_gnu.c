// SPDX-License-Identifier: MIT
// The Objective-C contract on GCC's libobjc and GNUstep Base (Linux). Compiled only there.
// The runtime's functions are looked up when first asked for: a library that uses this file can be put into a
// process without Objective-C and find out, instead of keeping it from starting, and also reaches a runtime
// that the process loads later, out of the global scope.
#define _GNU_SOURCE
#include "objc/objc.h"

#ifndef __APPLE__

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct objc_method; // libobjc's own
struct runtime {
    SEL (*register_selector)(const char *);
    Class (*get_class)(const char *);
    const char *(*class_name)(Class);
    Class (*superclass)(Class);
    mt_objc_imp (*msg_lookup)(id, SEL);
    struct objc_method *(*instance_method)(Class, SEL);
    mt_objc_imp (*implementation)(struct objc_method *);
    mt_objc_imp (*set_implementation)(struct objc_method *, mt_objc_imp);
    const char *(*type_encoding)(struct objc_method *);
    unsigned char (*add_method)(Class, SEL, mt_objc_imp, const char *);
    void *(*copy_table)(void *);
    int (*lock)(void *);
    int (*unlock)(void *);
    void **mutex, **no_table; // variables of libobjc
};
static struct runtime runtime;
static struct mt_objc_block_runtime blocks;
static atomic_bool runtime_found, blocks_found;
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER; // held by who fills the two, for the copy only

// libobjc keeps the class as the first word of an object. object_getClass is an inline function of its
// header.
struct objc_object {
    Class class_pointer;
};

// The global scope first, then a library that is loaded without being in it.
static void *find(const char *library, const char *name)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    if (address)
        return address;
    void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!loaded)
        return NULL;
    address = dlsym(loaded, name);
    dlclose(loaded);
    return address;
}

static bool find_runtime(struct runtime *found)
{
    static const struct {
        const char *name;
        size_t offset;
    } wanted[] = {
        {"sel_registerName", offsetof(struct runtime, register_selector)},
        {"objc_getClass", offsetof(struct runtime, get_class)},
        {"class_getName", offsetof(struct runtime, class_name)},
        {"class_getSuperclass", offsetof(struct runtime, superclass)},
        {"objc_msg_lookup", offsetof(struct runtime, msg_lookup)},
        {"class_getInstanceMethod", offsetof(struct runtime, instance_method)},
        {"method_getImplementation", offsetof(struct runtime, implementation)},
        {"method_setImplementation", offsetof(struct runtime, set_implementation)},
        {"method_getTypeEncoding", offsetof(struct runtime, type_encoding)},
        {"class_addMethod", offsetof(struct runtime, add_method)},
        {"sarray_lazy_copy", offsetof(struct runtime, copy_table)},
        {"objc_mutex_lock", offsetof(struct runtime, lock)},
        {"objc_mutex_unlock", offsetof(struct runtime, unlock)},
        {"__objc_runtime_mutex", offsetof(struct runtime, mutex)},
        {"__objc_uninstalled_dtable", offsetof(struct runtime, no_table)},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *address = find("libobjc.so.4", wanted[i].name);
        if (!address)
            return false;
        memcpy((char *)found + wanted[i].offset, &address, sizeof address);
    }
    return true;
}

bool mt_objc_available(void)
{
    if (atomic_load_explicit(&runtime_found, memory_order_acquire))
        return true;
    struct runtime found;
    if (!find_runtime(&found)) // without the lock: the loader has one of its own, which may be taken first
        return false;
    pthread_mutex_lock(&finding);
    if (!atomic_load_explicit(&runtime_found, memory_order_relaxed))
        runtime = found;
    atomic_store_explicit(&runtime_found, true, memory_order_release);
    pthread_mutex_unlock(&finding);
    return true;
}

static const struct runtime *rt(void)
{
    if (__builtin_expect(!atomic_load_explicit(&runtime_found, memory_order_acquire), 0))
        mt_objc_available();
    return &runtime;
}

SEL mt_objc_selector(const char *name)
{
    return rt()->register_selector(name);
}

Class mt_objc_class(const char *name)
{
    return rt()->get_class(name);
}

Class mt_objc_class_of(id object)
{
    return object ? object->class_pointer : NULL;
}

const char *mt_objc_class_name(id object)
{
    return object ? rt()->class_name(object->class_pointer) : "nil";
}

mt_objc_imp mt_objc_lookup(id receiver, SEL selector)
{
    // cppcheck-suppress CastIntegerToAddressAtReturn ; it is a function's address
    return rt()->msg_lookup(receiver, selector);
}

mt_objc_imp mt_objc_lookup_struct(id receiver, SEL selector)
{
    // cppcheck-suppress CastIntegerToAddressAtReturn ; it is a function's address
    return rt()->msg_lookup(receiver, selector);
}

static id send_plain(id receiver, const char *name)
{
    if (!receiver)
        return NULL;
    SEL selector = rt()->register_selector(name);
    return ((id(*)(id, SEL))rt()->msg_lookup(receiver, selector))(receiver, selector);
}

// libobjc has no pool functions: the pool is an object, popped by releasing it.
void *mt_objc_pool_push(void)
{
    return send_plain(send_plain((id)rt()->get_class("NSAutoreleasePool"), "alloc"), "init");
}

void mt_objc_pool_pop(void *pool)
{
    send_plain(pool, "release");
}

id mt_objc_retain(id object)
{
    return send_plain(object, "retain");
}

void mt_objc_release(id object)
{
    send_plain(object, "release");
}

id mt_objc_autorelease(id object)
{
    return send_plain(object, "autorelease");
}

// ---- classes and their methods ----
Class mt_objc_superclass(Class cls)
{
    return rt()->superclass(cls);
}

bool mt_objc_method(Class cls, SEL selector, struct mt_objc_method *method)
{
    struct objc_method *found = rt()->instance_method(cls, selector);
    if (!found)
        return false;
    Class parent = rt()->superclass(cls);
    method->imp = rt()->implementation(found);
    method->types = rt()->type_encoding(found);
    method->inherited = parent && rt()->instance_method(parent, selector) == found;
    return true;
}

// The beginning of a class as compilers lay it out for libobjc.
struct objc_class {
    Class class_pointer, super_class;
    const char *name;
    long version;
    unsigned long info;
    long instance_size;
    void *ivars, *methods, *table;
    Class subclass_list, sibling_class;
};

// Seen with libobjc 4 of GCC 12: when a method is added, the tables of the class and its subclasses are made
// anew and the old ones freed, at once or nearly so, while another thread that is sending to such a class may
// be reading them. A table that was copied from is kept.
static void keep_tables(Class cls)
{
    if (cls->table != *rt()->no_table)
        rt()->copy_table(cls->table);
    for (Class sub = cls->subclass_list; sub; sub = sub->sibling_class)
        keep_tables(sub);
}

// class_replaceMethod of libobjc would change an inherited method in the ancestor. A method that the class
// has itself is changed in place.
bool mt_objc_override(Class cls, SEL selector, mt_objc_imp imp, const char *types)
{
    struct mt_objc_method method;
    if (mt_objc_method(cls, selector, &method) && !method.inherited)
        return rt()->set_implementation(rt()->instance_method(cls, selector), imp) != NULL;
    rt()->lock(*rt()->mutex);
    keep_tables(cls);
    bool added = rt()->add_method(cls, selector, imp, types);
    rt()->unlock(*rt()->mutex);
    return added;
}

// ---- blocks ----
// softmetal's own come first: those of GNUstep Base 1.28 leave clang's blocks on the stack.
const struct mt_objc_block_runtime *mt_objc_blocks(void)
{
    if (atomic_load_explicit(&blocks_found, memory_order_acquire))
        return &blocks;
    struct mt_objc_block_runtime found = {
        .stack_class = find("libMetal.so.1", "_NSConcreteStackBlock"),
        .global_class = find("libMetal.so.1", "_NSConcreteGlobalBlock"),
    };
    void *copy = find("libMetal.so.1", "_Block_copy"), *release = find("libMetal.so.1", "_Block_release");
    if (!found.stack_class || !found.global_class || !copy || !release)
        return NULL;
    memcpy(&found.copy, &copy, sizeof copy);
    memcpy(&found.release, &release, sizeof release);
    pthread_mutex_lock(&finding);
    if (!atomic_load_explicit(&blocks_found, memory_order_relaxed))
        blocks = found;
    atomic_store_explicit(&blocks_found, true, memory_order_release);
    pthread_mutex_unlock(&finding);
    return &blocks;
}

#endif
