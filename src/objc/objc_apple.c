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

struct objc_method;
extern Class class_getSuperclass(Class cls);
extern struct objc_method *class_getInstanceMethod(Class cls, SEL selector);
extern mt_objc_imp method_getImplementation(struct objc_method *method);
extern mt_objc_imp method_setImplementation(struct objc_method *method, mt_objc_imp imp);
extern const char *method_getTypeEncoding(struct objc_method *method);
extern signed char class_addMethod(Class cls, SEL selector, mt_objc_imp imp, const char *types);

extern void *_NSConcreteStackBlock[32];
extern void *_NSConcreteGlobalBlock[32];
extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);

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

Class mt_objc_superclass(Class cls)
{
    return class_getSuperclass(cls);
}

bool mt_objc_method(Class cls, SEL selector, struct mt_objc_method *method)
{
    struct objc_method *found = class_getInstanceMethod(cls, selector);
    if (!found)
        return false;
    Class parent = class_getSuperclass(cls);
    method->imp = method_getImplementation(found);
    method->types = method_getTypeEncoding(found);
    method->inherited = parent && class_getInstanceMethod(parent, selector) == found;
    return true;
}

bool mt_objc_override(Class cls, SEL selector, mt_objc_imp imp, const char *types)
{
    if (class_addMethod(cls, selector, imp, types))
        return true;
    struct objc_method *own = class_getInstanceMethod(cls, selector);
    return own && method_setImplementation(own, imp);
}

const struct mt_objc_block_runtime *mt_objc_blocks(void)
{
    static const struct mt_objc_block_runtime runtime = {_NSConcreteStackBlock, _NSConcreteGlobalBlock,
                                                         _Block_copy, _Block_release};
    return &runtime;
}

#endif
