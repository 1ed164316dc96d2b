// SPDX-License-Identifier: MIT
// Overrides inherited methods of a class, one after the other, while other threads send messages to its
// objects and to those of a subclass: what the tap does to a program whose threads make their first encoders
// at once. A dispatch table that goes away under a thread shows as a crash or a wrong answer.
#import <Foundation/Foundation.h>

#include "objc/objc.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { METHODS = 4000, THREADS = 4 };

@interface Base : NSObject
- (int)answer;
@end
@interface Middle : Base
@end
@interface Leaf : Middle
@end
@implementation Base
- (int)answer
{
    return 42;
}
@end
@implementation Middle
@end
@implementation Leaf
@end

static struct {
    int sending, over;
    uint64_t wrong, right;
} shared;

static void *send_on(void *unused)
{
    (void)unused;
    Middle *middle = [[Middle alloc] init];
    Leaf *leaf = [[Leaf alloc] init];
    uint64_t right = 0, wrong = 0;
    __atomic_fetch_add(&shared.sending, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&shared.over, __ATOMIC_ACQUIRE)) {
        bool good =
            [middle answer] == 42 && [leaf answer] == 42 && [middle respondsToSelector:@selector(answer)];
        right += good;
        wrong += !good;
    }
    [leaf release];
    [middle release];
    __atomic_fetch_add(&shared.right, right, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared.wrong, wrong, __ATOMIC_RELAXED);
    return NULL;
}

static int replaced(id self, SEL op)
{
    (void)self;
    (void)op;
    return 2;
}

int main(void)
{
    @autoreleasepool {
        static SEL selectors[METHODS];
        char name[32];
        for (int i = 0; i < METHODS; i++) {
            (void)snprintf(name, sizeof name, "method%d", i);
            selectors[i] = mt_objc_selector(name);
            mt_objc_override((Class)[Base class], selectors[i], (mt_objc_imp)replaced, "i16@0:8");
        }
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, send_on, NULL);
        while (__atomic_load_n(&shared.sending, __ATOMIC_ACQUIRE) < THREADS)
            sched_yield();
        int failed = 0;
        for (int i = 0; i < METHODS; i++)
            failed +=
                !mt_objc_override((Class)[Middle class], selectors[i], (mt_objc_imp)replaced, "i16@0:8");
        __atomic_store_n(&shared.over, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        printf("%llu right, %llu wrong, %d not overridden\n", (unsigned long long)shared.right,
               (unsigned long long)shared.wrong, failed);
    }
    return shared.wrong != 0;
}
