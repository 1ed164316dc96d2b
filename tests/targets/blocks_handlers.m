// SPDX-License-Identifier: MIT
// A Metal program without ARC whose handlers outlive the frames that made them: scheduled and completed
// handlers, a shared event's notification and a buffer's deallocator, each capturing objects, another block
// or a __block variable, and called on threads of Metal's. With an argument the deallocator alone, which
// captures one object. Prints what came and "all handlers right". A test links it in several ways; it must
// not send messages to blocks, which not every way allows.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFERS = 50 };

static int deaths, foreign_calls, wrong;
static pthread_t main_thread;

@interface Captured : NSObject {
  @public
    int value;
}
@end

@implementation Captured
- (void)dealloc
{
    __atomic_fetch_add(&deaths, 1, __ATOMIC_RELEASE);
    [super dealloc];
}
@end

static void expect(const char *what, long seen, long wanted)
{
    printf("%s %ld\n", what, seen);
    if (seen != wanted) {
        printf("    but %ld was expected\n", wanted);
        wrong++;
    }
}

static void note_thread(void)
{
    if (!pthread_equal(pthread_self(), main_thread))
        __atomic_fetch_add(&foreign_calls, 1, __ATOMIC_RELAXED);
}

// Metal says nothing of when a handler is let go after its call.
static void wait_for(const int *counter, int wanted)
{
    for (int i = 0; i < 5000 && __atomic_load_n(counter, __ATOMIC_ACQUIRE) != wanted; i++)
        [NSThread sleepForTimeInterval:0.001];
}

// Uses the stack that the handlers' frames had.
__attribute__((noinline)) static int overwrite_stack(int seed)
{
    volatile int junk[4096];
    for (int i = 0; i < 4096; i++)
        junk[i] = seed - i;
    return junk[seed & 4095];
}

__attribute__((noinline)) static void add_handlers(id<MTLCommandBuffer> commands, int value, int *sum)
{
    Captured *object = [Captured new];
    object->value = value;
    int (^inner)(void) = ^{
        return object->value;
    };
    [commands addScheduledHandler:^(id<MTLCommandBuffer> scheduled) {
        (void)scheduled;
        __atomic_fetch_add(sum, object->value, __ATOMIC_RELAXED);
    }];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> completed) {
        note_thread();
        if ([completed status] == MTLCommandBufferStatusCompleted)
            __atomic_fetch_add(sum, 1000 * inner(), __ATOMIC_RELAXED);
    }];
    [object release];
}

static void command_buffers_call_back(id<MTLDevice> device)
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    int sum = 0;
    id<MTLCommandBuffer> last = nil;
    for (int i = 1; i <= BUFFERS; i++) {
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        add_handlers(commands, i, &sum);
        overwrite_stack(i);
        [commands commit];
        last = commands;
    }
    [last waitUntilCompleted];
    [queue release];
    [pool release];
    wait_for(&deaths, BUFFERS);
    expect("sum of scheduled and completed handlers", sum, 1001L * BUFFERS * (BUFFERS + 1) / 2);
    expect("handlers on threads of Metal's", foreign_calls, BUFFERS);
    expect("captured objects gone", deaths, BUFFERS);
}

__attribute__((noinline)) static void listen_to(id<MTLSharedEvent> event, MTLSharedEventListener *listener,
                                                int *seen)
{
    Captured *object = [Captured new];
    object->value = 7;
    __block int calls = 0;
    [event notifyListener:listener
                  atValue:3
                    block:^(id<MTLSharedEvent> signaled, uint64_t value) {
                        (void)signaled;
                        calls++;
                        __atomic_store_n(seen, calls * 100 + object->value + (int)value, __ATOMIC_RELEASE);
                    }];
    [object release];
}

static void events_call_back(id<MTLDevice> device)
{
    id<MTLSharedEvent> event = [device newSharedEvent];
    MTLSharedEventListener *listener = [MTLSharedEventListener new];
    int seen = 0;
    listen_to(event, listener, &seen);
    overwrite_stack(1);
    [event setSignaledValue:3];
    wait_for(&seen, 110);
    [listener release];
    [event release];
    wait_for(&deaths, BUFFERS + 1);
    expect("event's notification", __atomic_load_n(&seen, __ATOMIC_ACQUIRE), 110);
}

static id<MTLBuffer> wrap_memory(id<MTLDevice> device, void *memory, NSUInteger length, long *freed)
{
    Captured *object = [Captured new];
    object->value = 5;
    id<MTLBuffer> buffer = [device newBufferWithBytesNoCopy:memory
                                                     length:length
                                                    options:MTLResourceStorageModeShared
                                                deallocator:^(void *pointer, NSUInteger size) {
                                                    *freed = (long)size + object->value;
                                                    free(pointer);
                                                }];
    [object release];
    return buffer;
}

static void buffers_call_back(id<MTLDevice> device)
{
    int before = deaths;
    void *memory = NULL;
    long freed = 0;
    if (posix_memalign(&memory, 16384, 16384))
        return;
    id<MTLBuffer> buffer = wrap_memory(device, memory, 16384, &freed);
    overwrite_stack(2);
    expect("deallocator before release", freed, 0);
    [buffer release];
    expect("deallocator after release", freed, 16389);
    expect("its captured object gone", deaths - before, 1);
}

int main(int argc, char **argv)
{
    (void)argv;
    main_thread = pthread_self();
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (argc == 1) {
        command_buffers_call_back(device);
        events_call_back(device);
    }
    buffers_call_back(device);
    [device release];
    [pool release];
    if (!wrong)
        puts("all handlers right");
    return wrong != 0;
}
