// SPDX-License-Identifier: MIT
// Objective-C from plain C, on Apple's runtime and on GCC's libobjc: the contract that objc_apple.c and
// objc_gnu.c fulfil, and the helpers of common.c and blocks.c that need nothing else. No SDK and no runtime
// header is needed. Any thread may call anything here. Nothing here aborts, prints, or keeps state besides
// the selector table.
#ifndef MT_OBJC_H
#define MT_OBJC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The runtimes' own names. C11 lets a typedef repeat itself, so the real headers may be included as well.
typedef struct objc_object *id;
typedef struct objc_class *Class;
#ifdef __APPLE__
typedef struct objc_selector *SEL;
#else
typedef const struct objc_selector *SEL;
#endif
typedef unsigned long NSUInteger;
typedef long NSInteger;

// BOOL as the callee sees it: a byte everywhere, but its type decides how arguments are widened.
#if defined(__APPLE__) && defined(__aarch64__)
typedef bool mtl_bool;
#elif defined(__APPLE__)
typedef signed char mtl_bool;
#else
typedef unsigned char mtl_bool;
#endif

typedef void (*mt_objc_imp)(void);

// ---- one implementation per runtime ----
// False where no Objective-C runtime is in the process (Linux without libobjc): then nothing else may be
// called. Asked again after one was loaded it says true.
bool mt_objc_available(void);
SEL mt_objc_selector(const char *name);
Class mt_objc_class(const char *name); // NULL when there is no such class
Class mt_objc_class_of(id object);     // the object's own class, wrappers included
const char *mt_objc_class_name(id object);
static inline Class mt_objc_class_fast(id object) // the same, for an object that is not nil
{
#ifdef __APPLE__
    return mt_objc_class_of(object);
#else
    return *(Class *)object; // libobjc's layout
#endif
}
// What to call, after a cast to the exact type of the method, to send `selector` to `receiver` (not nil).
// The second form is for methods that return a struct of more than 16 bytes.
mt_objc_imp mt_objc_lookup(id receiver, SEL selector);
mt_objc_imp mt_objc_lookup_struct(id receiver, SEL selector);
void *mt_objc_pool_push(void);
void mt_objc_pool_pop(void *pool);
id mt_objc_retain(id object); // returns its argument; nil is allowed in all three
void mt_objc_release(id object);
id mt_objc_autorelease(id object);

// ---- classes and their methods, for those who replace some ----
Class mt_objc_superclass(Class cls); // NULL above the root
// The method that instances of `cls` answer `selector` with, own or inherited. Runs no +initialize.
struct mt_objc_method {
    mt_objc_imp imp;
    const char *types; // encoding, the runtime's own text
    bool inherited;    // not defined by `cls` itself
};
bool mt_objc_method(Class cls, SEL selector, struct mt_objc_method *method);
// Gives this very class a method, in place of its own or of an inherited one; ancestors and siblings keep
// theirs.
bool mt_objc_override(Class cls, SEL selector, mt_objc_imp imp, const char *types);

// ---- what blocks are made with; NULL where no block runtime is in the process ----
struct mt_objc_block_runtime {
    void *stack_class, *global_class; // the isa of a block on the stack, of one that is never copied
    void *(*copy)(const void *block);
    void (*release)(const void *block);
};
const struct mt_objc_block_runtime *mt_objc_blocks(void);

// ---- common.c ----
id mt_objc_new(
    const char *class_name); // [[Class alloc] init], owned by the caller; nil when there is no class
bool mt_objc_responds(id object, const char *selector);

// Strings are UTF-8 on the C side. The new ones are owned by the caller; NULL gives nil, and so does bad
// UTF-8.
id mt_objc_string(const char *text);
id mt_objc_string_bytes(const char *text, size_t length);
const char *mt_objc_utf8(id string); // valid while the string and the current pool live; NULL for nil
// Copies with truncation at a character's edge and always terminates; returns the full length in bytes.
size_t mt_objc_copy_utf8(id string, char *buffer, size_t size);
// A file URL, owned by the caller; nil when the path is not UTF-8.
id mt_objc_file_url(const char *path);
// "description (domain, code N)" of an NSError, or "unknown error" for nil; returns the full length as above.
size_t mt_objc_error_text(id error, char *buffer, size_t size);

// ---- blocks.c: blocks made of a function and a context, without compiler support ----
// The block is owned by the caller; Metal keeps its own reference. `drop(context)` (may be NULL) runs once,
// when the last reference goes, whether the block was ever called or not. NULL when memory is short; drop is
// not run then.
typedef void (*mt_objc_drop)(void *context);
typedef void (*mt_objc_on_object)(void *context, id object);
typedef void (*mt_objc_on_result)(void *context, id object, id error);
typedef void (*mt_objc_on_reflection)(void *context, id object, id reflection, id error);
typedef void (*mt_objc_on_value)(void *context, id object, uint64_t value);
typedef void (*mt_objc_on_memory)(void *context, void *pointer, NSUInteger length);

void *mt_objc_block_object(mt_objc_on_object call, void *context, mt_objc_drop drop); // scheduled, completed
void *mt_objc_block_result(mt_objc_on_result call, void *context, mt_objc_drop drop); // completionHandler:
void *mt_objc_block_reflection(mt_objc_on_reflection call, void *context,
                               mt_objc_drop drop);                                    // completionHandler:
void *mt_objc_block_value(mt_objc_on_value call, void *context, mt_objc_drop drop);   // notifyListener:
void *mt_objc_block_memory(mt_objc_on_memory call, void *context, mt_objc_drop drop); // deallocator:
void mt_objc_block_release(void *block);
// A block of the program kept for later; NULL gives NULL. Released with mt_objc_block_release.
void *mt_objc_block_copy(const void *block);
// Call a program's block: void (^)(id, id), void (^)(id, id, id), void (^)(void *, NSUInteger).
void mt_objc_block_call_result(void *block, id object, id error);
void mt_objc_block_call_reflection(void *block, id object, id reflection, id error);
void mt_objc_block_call_memory(void *block, void *pointer, NSUInteger length);

// A block in memory that its owner keeps for as long as it may be called: copies are the block itself, so it
// costs no allocation. Of the form void (^)(id).
struct mt_objc_fixed_block {
    void *isa;
    int flags, reserved;
    void (*invoke)(struct mt_objc_fixed_block *block, id object);
    const void *descriptor;
};
bool mt_objc_fixed_block(struct mt_objc_fixed_block *block,
                         void (*invoke)(struct mt_objc_fixed_block *block, id object));

#endif
