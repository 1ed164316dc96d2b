// SPDX-License-Identifier: MIT
// The blocks runtime of libMetal as clang's code and Objective-C programs use it: what is copied, retained
// and released, and when; blocks as objects; counts under threads; blocks that another runtime made. Every
// object counts its end, so that one release too few or too many is seen without a sanitizer as well.
#import <Foundation/Foundation.h>

#include "unit/test.h"

#include <Block.h>
#include <objc/runtime.h>
#include <pthread.h>
#include <stdlib.h>

typedef int (^int_block)(void);
typedef void (^void_block)(void);

static int deaths;

@interface Counted : NSObject {
  @public
    int value;
}
@end

@implementation Counted
- (void)dealloc
{
    __atomic_fetch_add(&deaths, 1, __ATOMIC_RELAXED);
    [super dealloc];
}
@end

static Counted *counted(int value)
{
    Counted *object = [Counted new];
    object->value = value;
    return object;
}

// ---- copies ----
// Their frames end before the blocks are called: not inlined, so that the stack is really used again.
__attribute__((noinline)) static int_block made_of_value(int value)
{
    int_block block = ^{
        return value * 2;
    };
    return Block_copy(block);
}

__attribute__((noinline)) static int_block made_of_object(int value)
{
    Counted *object = counted(value);
    int_block block = Block_copy(^{
        return object->value;
    });
    [object release];
    return block;
}

__attribute__((noinline)) static int_block made_of_block(int value)
{
    Counted *object = counted(value);
    int_block inner = ^{
        return object->value;
    };
    int_block outer = Block_copy(^{
        return inner() + 1;
    });
    [object release];
    return outer;
}

__attribute__((noinline)) static int overwrite_stack(int seed)
{
    volatile int junk[512];
    for (int i = 0; i < 512; i++)
        junk[i] = seed + i;
    return junk[seed & 511];
}

static void copies_outlive_their_frame(void)
{
    int_block value = made_of_value(21);
    int before = deaths;
    int_block object = made_of_object(5), nested = made_of_block(6);
    overwrite_stack(deaths);
    CHECK_EQ(value(), 42);
    CHECK_EQ(object(), 5);
    CHECK_EQ(nested(), 7);
    CHECK_EQ(deaths, before);
    Block_release(value);
    Block_release(object);
    CHECK_EQ(deaths, before + 1);
    Block_release(nested);
    CHECK_EQ(deaths, before + 2);
}

static void a_copy_of_a_copy_is_a_reference(void)
{
    int before = deaths;
    int_block first = made_of_object(3), second = Block_copy(first);
    CHECK(first == second);
    CHECK_EQ([(id)first retainCount], 2);
    Block_release(first);
    CHECK_EQ(deaths, before);
    CHECK_EQ(second(), 3);
    Block_release(second);
    CHECK_EQ(deaths, before + 1);
    CHECK(_Block_copy(NULL) == NULL);
    _Block_release(NULL);
}

// More references than the count can hold: the block stays for good instead of dying under its users.
static void a_full_count_stays_full(void)
{
    static int_block kept; // reachable, so not a leak
    kept = made_of_value(4);
    for (int i = 0; i < 70000; i++)
        (void)_Block_copy((const void *)kept);
    for (int i = 0; i < 70001; i++)
        _Block_release((const void *)kept);
    CHECK_EQ(kept(), 8);
}

// ---- __block variables ----
static void blocks_share_variables(void)
{
    __block int shared = 1;
    void_block add = Block_copy(^{
        shared += 10;
    });
    int_block get = Block_copy(^{
        return shared;
    });
    add();
    CHECK_EQ(shared, 11);
    shared = 5;
    CHECK_EQ(get(), 5);
    Block_release(add);
    shared++;
    CHECK_EQ(get(), 6);
    Block_release(get);
    CHECK_EQ(shared, 6);
}

static int_block counter_from(int start)
{
    __block int next = start;
    int_block count = ^{
        return next++;
    };
    return Block_copy(count);
}

static void variables_outlive_their_frame(void)
{
    int_block count = counter_from(7);
    overwrite_stack(3);
    int first = count(), second = count();
    CHECK(first == 7 && second == 8);
    Block_release(count);
}

// Without ARC a __block variable does not own its object: that is how programs break cycles.
static void variables_do_not_own(void)
{
    int before = deaths;
    __block Counted *object = counted(9);
    __block int_block inner = nil;
    int_block outer = Block_copy(^{
        return inner ? inner() : object->value;
    });
    CHECK_EQ(outer(), 9);
    inner = made_of_value(4);
    CHECK_EQ(outer(), 8);
    CHECK_EQ([object retainCount], 1);
    Block_release(outer);
    CHECK_EQ(deaths, before);
    Block_release(inner);
    [object release];
    CHECK_EQ(deaths, before + 1);
}

// ---- blocks as objects ----
static void heap_blocks_answer_messages(void)
{
    int before = deaths;
    Counted *object = counted(1);
    id block = [^{
        return object->value;
    } copy];
    [object release];
    CHECK_STR(class_getName([block class]), "__NSMallocBlock__");
    CHECK([block isKindOfClass:[NSObject class]] && [block isKindOfClass:NSClassFromString(@"NSBlock")]);
    CHECK(![block isKindOfClass:[NSString class]]);
    CHECK_HAS([[block description] UTF8String], "__NSMallocBlock__");
    CHECK([block respondsToSelector:@selector(copyWithZone:)]);
    CHECK([block conformsToProtocol:NSProtocolFromString(@"NSCopying")]);
    CHECK([block isEqual:block] && [block hash] == [block hash] && [block zone]);
    CHECK([block retain] == block && [block copy] == block);
    CHECK_EQ([block retainCount], 3);
    [block release];
    [block release];
    CHECK_EQ(deaths, before);
    [block release];
    CHECK_EQ(deaths, before + 1);
}

static void stack_blocks_answer_messages(void)
{
    int before = deaths;
    Counted *object = counted(2);
    int_block on_stack = ^{
        return object->value;
    };
    id block = (id)on_stack;
    CHECK_STR(class_getName([block class]), "__NSStackBlock__");
    CHECK([block isKindOfClass:NSClassFromString(@"NSBlock")]);
    CHECK([block retain] == block && [block autorelease] == block);
    [block release];
    id copy = [block copy];
    CHECK(copy != block);
    [object release];
    CHECK_EQ(((int_block)copy)(), 2);
    [copy release];
    CHECK_EQ(deaths, before + 1);
}

static void global_blocks_answer_messages(void)
{
    int_block global = ^{
        return 77;
    };
    id block = (id)global;
    CHECK_STR(class_getName([block class]), "__NSGlobalBlock__");
    CHECK([block copy] == block && [block retain] == block && [block autorelease] == block);
    CHECK_HAS([[block description] UTF8String], "__NSGlobalBlock__");
    [block release];
    [block release];
    CHECK_EQ(global(), 77);
}

static void pools_release_blocks(void)
{
    int before = deaths;
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    int_block block = [(id)made_of_object(8) autorelease];
    CHECK_EQ(block(), 8);
    [[(id)block retain] autorelease];
    CHECK_EQ(deaths, before);
    [pool release];
    CHECK_EQ(deaths, before + 1);
}

static void collections_keep_blocks(void)
{
    int before = deaths;
    NSMutableArray *array = [NSMutableArray new];
    int_block block = made_of_object(4);
    [array addObject:(id)block];
    NSMutableDictionary *dictionary = [NSMutableDictionary new];
    [dictionary setObject:@"value" forKey:(id)block];
    Block_release(block);
    CHECK_EQ(((int_block)[array lastObject])(), 4);
    CHECK([dictionary objectForKey:[array lastObject]] != nil);
    [dictionary release];
    CHECK_EQ(deaths, before);
    [array release];
    CHECK_EQ(deaths, before + 1);
}

// Foundation copies the block by itself, through the functions that the program uses.
static void foundation_copies_blocks(void)
{
    int before = deaths;
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    __block int calls = 0;
    Counted *object = counted(5);
    NSBlockOperation *operation = [NSBlockOperation blockOperationWithBlock:^{
        calls += object->value;
    }];
    [object release];
    overwrite_stack(1);
    [operation start];
    CHECK_EQ(calls, 5);
    [pool release];
    CHECK_EQ(deaths, before + 1);
}

static id answer_self(id self, SEL selector, ...)
{
    (void)selector;
    return self;
}

// The classes are libobjc's as any other: methods that NSObject gets later are found.
static void blocks_learn_new_methods(void)
{
    int_block block = made_of_value(1);
    SEL selector = sel_registerName("methodAddedByTest");
    CHECK(![(id)block respondsToSelector:selector]);
    CHECK(class_addMethod([NSObject class], selector, answer_self, "@16@0:8"));
    CHECK([(id)block respondsToSelector:selector]);
    CHECK([(id)block performSelector:selector] == (id)block);
    Block_release(block);
}

// ---- threads ----
enum { THREADS = 4, TURNS = 20000 };

static void *copy_and_release(void *argument)
{
    int_block block = (int_block)argument;
    long sum = 0;
    for (int i = 0; i < TURNS; i++) {
        int_block mine = i & 1 ? Block_copy(block) : (int_block)[(id)block retain];
        sum += mine();
        Block_release(mine);
    }
    Block_release(block);
    return (void *)sum;
}

static void threads_count_right(void)
{
    int before = deaths;
    int_block block = made_of_object(3);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, copy_and_release, (void *)Block_copy(block));
    Block_release(block);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(thread[i], &sum);
        CHECK_EQ((long)sum, 3L * TURNS);
    }
    CHECK_EQ(deaths, before + 1);
}

static void *call_and_release(void *argument)
{
    overwrite_stack(9);
    ((void_block)argument)();
    Block_release((void_block)argument);
    return NULL;
}

__attribute__((noinline)) static pthread_t start_in_a_frame(NSMutableString *text)
{
    Counted *object = counted(6);
    int_block inner = ^{
        return object->value;
    };
    void_block handler = Block_copy(^{
        [text appendFormat:@"%d", inner() + object->value];
    });
    [object release];
    pthread_t thread;
    pthread_create(&thread, NULL, call_and_release, (void *)handler);
    return thread;
}

static void handlers_run_when_the_frame_is_gone(void)
{
    int before = deaths;
    NSMutableString *text = [NSMutableString new];
    pthread_t thread = start_in_a_frame(text);
    overwrite_stack(5);
    pthread_join(thread, NULL);
    CHECK_STR([text UTF8String], "12");
    CHECK_EQ([text retainCount], 1);
    CHECK_EQ(deaths, before + 1);
    [text release];
}

// ---- blocks that another runtime put on the heap: their counts are its own ----
struct foreign {
    void *isa;
    int flags, reserved;
    int (*invoke)(struct foreign *self);
    const unsigned long *descriptor;
    int value;
};

static int invoke_foreign(struct foreign *self)
{
    return self->value;
}

static void foreign_blocks_are_copied_by_layout(int flags, int reserved)
{
    static void *isa_of_another[32];
    static const unsigned long descriptor[2] = {0, sizeof(struct foreign)};
    struct foreign *theirs = malloc(sizeof *theirs);
    *theirs = (struct foreign){isa_of_another, flags, reserved, invoke_foreign, descriptor, 31};
    struct foreign *ours = _Block_copy(theirs);
    CHECK(ours != theirs);
    CHECK(theirs->flags == flags && theirs->reserved == reserved);
    _Block_release(theirs); // not ours to free
    free(theirs);
    CHECK_EQ(((int_block)ours)(), 31);
    CHECK_EQ([(id)ours retainCount], 1);
    CHECK_STR(class_getName([(id)ours class]), "__NSMallocBlock__");
    _Block_release(ours);
}

int main(void)
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    copies_outlive_their_frame();
    a_copy_of_a_copy_is_a_reference();
    a_full_count_stays_full();
    blocks_share_variables();
    variables_outlive_their_frame();
    variables_do_not_own();
    heap_blocks_answer_messages();
    stack_blocks_answer_messages();
    global_blocks_answer_messages();
    pools_release_blocks();
    collections_keep_blocks();
    foundation_copies_blocks();
    blocks_learn_new_methods();
    threads_count_right();
    handlers_run_when_the_frame_is_gone();
    foreign_blocks_are_copied_by_layout(1 << 24 | 1, 0); // libBlocksRuntime
    foreign_blocks_are_copied_by_layout(1 << 24 | 2, 0); // libdispatch's, which counts by twos
    foreign_blocks_are_copied_by_layout(1 << 29, 1);     // GNUstep Base
    [pool release];
    return test_end();
}
