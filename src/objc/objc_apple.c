// SPDX-License-Identifier: MIT
// The Objective-C contract on Apple's runtime (macOS 12 and later, arm64 and x86_64). Compiled only there.
// It declares what it uses of libobjc, so that it can be cross-compiled without Apple's headers.
#include "objc/objc.h"

#ifdef __APPLE__

#if defined(__arm64e__)
#error                                                                                                       \
    "arm64e signs block and method pointers: the hand-made blocks and casts of src/objc are arm64 and x86_64 only"
#endif

extern void objc_msgSend(void);
#ifdef __x86_64__
extern void objc_msgSend_stret(void);
#endif
extern SEL sel_registerName(const char *name);
extern Class objc_lookUpClass(const char *name);
extern Class object_getClass(id object);
extern const char *object_getClassName(id object);
extern void *objc_autoreleasePoolPush(void);
extern void objc_autoreleasePoolPop(void *pool);
extern id objc_retain(id object);
extern void objc_release(id object);
extern id objc_autorelease(id object);

bool mt_objc_available(void)
{
    return true;
}

SEL mt_objc_selector(const char *name)
{
    return sel_registerName(name);
}

Class mt_objc_class(const char *name)
{
    return objc_lookUpClass(name);
}

Class mt_objc_class_of(id object)
{
    return object_getClass(object);
}

const char *mt_objc_class_name(id object)
{
    return object_getClassName(object);
}

mt_objc_imp mt_objc_lookup(id receiver, SEL selector)
{
    (void)receiver;
    (void)selector;
    return objc_msgSend;
}

// On arm64 a large result goes through x8, which objc_msgSend leaves alone. On x86_64 its address takes the
// place of the receiver in rdi, and a messenger of its own knows that.
mt_objc_imp mt_objc_lookup_struct(id receiver, SEL selector)
{
    (void)receiver;
    (void)selector;
#ifdef __x86_64__
    return objc_msgSend_stret;
#else
    return objc_msgSend;
#endif
}

void *mt_objc_pool_push(void)
{
    return objc_autoreleasePoolPush();
}

void mt_objc_pool_pop(void *pool)
{
    objc_autoreleasePoolPop(pool);
}

id mt_objc_retain(id object)
{
    return objc_retain(object);
}

void mt_objc_release(id object)
{
    objc_release(object);
}

id mt_objc_autorelease(id object)
{
    return objc_autorelease(object);
}

#endif
