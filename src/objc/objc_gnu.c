// SPDX-License-Identifier: MIT
// The Objective-C contract on GCC's libobjc and GNUstep Base (Linux). Compiled only there.
// libobjc is referenced weakly, so that a library that uses this file can be put into a process without
// Objective-C and find out, instead of keeping the process from starting.
#include "objc/objc.h"

#ifndef __APPLE__

#define WEAK __attribute__((weak))
extern SEL sel_registerName(const char *name) WEAK;
extern Class objc_getClass(const char *name) WEAK;
extern const char *class_getName(Class cls) WEAK;
extern mt_objc_imp objc_msg_lookup(id receiver, SEL selector) WEAK;

// libobjc keeps the class as the first word of an object. object_getClass is an inline function of its
// header.
struct objc_object {
    Class class_pointer;
};

bool mt_objc_available(void)
{
    return sel_registerName && objc_getClass && class_getName && objc_msg_lookup;
}

SEL mt_objc_selector(const char *name)
{
    return sel_registerName(name);
}

Class mt_objc_class(const char *name)
{
    return objc_getClass(name);
}

Class mt_objc_class_of(id object)
{
    return object ? object->class_pointer : NULL;
}

const char *mt_objc_class_name(id object)
{
    return object ? class_getName(object->class_pointer) : "nil";
}

mt_objc_imp mt_objc_lookup(id receiver, SEL selector)
{
    return objc_msg_lookup(receiver, selector);
}

mt_objc_imp mt_objc_lookup_struct(id receiver, SEL selector)
{
    return objc_msg_lookup(receiver, selector);
}

static id send_plain(id receiver, const char *name)
{
    if (!receiver)
        return NULL;
    SEL selector = sel_registerName(name);
    return ((id(*)(id, SEL))objc_msg_lookup(receiver, selector))(receiver, selector);
}

// libobjc has no pool functions: the pool is an object, popped by releasing it.
void *mt_objc_pool_push(void)
{
    return send_plain(send_plain((id)objc_getClass("NSAutoreleasePool"), "alloc"), "init");
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

#endif
