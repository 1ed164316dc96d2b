// SPDX-License-Identifier: MIT
// Makes blocks objects on GCC's libobjc, which knows nothing of them: -copy, -retain, -release, -autorelease
// and everything that NSObject answers. The compiler writes the address of _NSConcreteStackBlock or
// _NSConcreteGlobalBlock into a block, so a class must lie at that very address; libobjc is told of it as a
// compiler would. Runs when libMetal is loaded, before any code of the program.
#define _GNU_SOURCE // dladdr1
#include "block_layout.h"

#import <Foundation/Foundation.h>

#include <Block.h>
#include <dlfcn.h>
#include <link.h>

#define EXPORTED __attribute__((visibility("default")))

// Not bound inside libMetal: a program without PIC has copies of these of its own, and there the classes must
// be.
EXPORTED void *_NSConcreteStackBlock[32], *_NSConcreteGlobalBlock[32];
void *sm_heap_block_class[32];
const char *sm_other_block_runtime;
extern void *_NSConcreteMallocBlock[32] EXPORTED __attribute__((alias("sm_heap_block_class")));

// ---- what every block answers ----
@interface NSBlock : NSObject<NSCopying>
@end

@implementation NSBlock
static bool is_counted(id block)
{
    return sm_block_is_ours((const struct block *)block);
}
- (id)copy
{
    return _Block_copy(self);
}
- (id)copyWithZone:(NSZone *)zone
{
    (void)zone;
    return _Block_copy(self);
}
// As on macOS, a block on the stack stays there: only -copy takes it off.
- (id)retain
{
    return is_counted(self) ? _Block_copy(self) : self;
}
- (oneway void)release
{
    _Block_release(self);
}
- (id)autorelease
{
    if (is_counted(self))
        [NSAutoreleasePool addObject:self];
    return self;
}
- (NSUInteger)retainCount
{
    const struct block *block = (const struct block *)self;
    return is_counted(self) ? (NSUInteger)(__atomic_load_n(&block->flags, __ATOMIC_RELAXED) & COUNT_MASK) : 1;
}
- (NSZone *)zone
{
    return NSDefaultMallocZone(); // NSObject would look in front of the block, where it keeps nothing
}
@end

// ---- the classes of the three kinds, in the form that compilers hand to libobjc (ABI version 8) ----
struct class_record {
    struct class_record *metaclass;
    const char *superclass, *name; // libobjc replaces the superclass's name by its address
    long version;
    unsigned long info, instance_size;
    void *ivars, *methods, *dispatch, *subclasses, *siblings, *protocols, *gc_type;
};
enum { INFO_CLASS = 1, INFO_METACLASS = 2 };

struct symbol_table {
    unsigned long selector_count;
    void *selectors;
    unsigned short class_count, category_count;
    void *definitions[4]; // the classes, and NULL
};

struct module {
    unsigned long version, size;
    const char *name;
    struct symbol_table *symbols;
};
enum { ABI_VERSION = 8 };

extern void __objc_exec_class(struct module *module);

static struct class_record metaclasses[3], spare[2];
static struct symbol_table symbols;
static struct module module = {ABI_VERSION, sizeof module, "blocks", &symbols};

_Static_assert(sizeof(struct class_record) <= sizeof _NSConcreteStackBlock,
               "a class must fit where blocks point");

// Where the program's blocks point. GNUstep's _NSConcreteStackBlock, if it was linked first, is one word: no
// room for a class. The blocks of such a program work as handlers but answer no messages.
static void *place_of(void *named, struct class_record *other)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    if (dladdr1(named, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol && info.dli_saddr == named &&
        symbol->st_size >= sizeof(struct class_record))
        return named;
    return other;
}

static void describe_class(void *place, const char *name)
{
    struct class_record *metaclass = &metaclasses[symbols.class_count];
    *metaclass = (struct class_record){
        .name = name, .info = INFO_METACLASS, .instance_size = sizeof(struct class_record)};
    *(struct class_record *)place = (struct class_record){.metaclass = metaclass,
                                                          .superclass = "NSBlock",
                                                          .name = name,
                                                          .info = INFO_CLASS,
                                                          .instance_size = sizeof(struct block)};
    symbols.definitions[symbols.class_count++] = place;
}

static const char *other_runtime(void)
{
    Dl_info ours, programs;
    void *found = dlsym(RTLD_DEFAULT, "_Block_object_assign");
    if (!found || !dladdr(found, &programs) || !dladdr(&module, &ours) ||
        programs.dli_fbase == ours.dli_fbase)
        return NULL;
    return programs.dli_fname;
}

__attribute__((constructor)) static void make_block_classes(void)
{
    sm_other_block_runtime = other_runtime();
    describe_class(place_of(_NSConcreteStackBlock, &spare[0]), "__NSStackBlock__");
    describe_class(place_of(_NSConcreteGlobalBlock, &spare[1]), "__NSGlobalBlock__");
    describe_class(sm_heap_block_class, "__NSMallocBlock__");
    __objc_exec_class(&module);
}
