// SPDX-License-Identifier: MIT
// Events and shared events between queues and with the CPU: waits, listeners, handles; fences. Waits have
// limits so that a mistake fails instead of hanging; no time is checked.
#include "msl/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { LONG_MS = 60000 };

static bool reaches(_Atomic int *counter, int value)
{
    for (int i = 0; i < LONG_MS && *counter < value; i++)
        usleep(1000);
    return *counter == value;
}

static void *signal_five(void *event)
{
    [(id<MTLSharedEvent>)event setSignaledValue:5];
    return NULL;
}

static void from_the_cpu(void)
{
    id<MTLSharedEvent> event = [msl.device newSharedEvent];
    CHECK_EQ([event signaledValue], 0);
    CHECK([event waitUntilSignaledValue:0 timeoutMS:0]);
    CHECK(![event waitUntilSignaledValue:5 timeoutMS:5]);
    pthread_t thread;
    pthread_create(&thread, NULL, signal_five, event);
    CHECK([event waitUntilSignaledValue:5 timeoutMS:LONG_MS]);
    CHECK_EQ([event signaledValue], 5);
    pthread_join(thread, NULL);

    MTLSharedEventHandle *handle = [event newSharedEventHandle];
    id<MTLSharedEvent> same = [msl.device newSharedEventWithHandle:handle];
    [handle release];
    [event setSignaledValue:9];
    CHECK_EQ([same signaledValue], 9);
    [event release];
    CHECK([same waitUntilSignaledValue:9 timeoutMS:0]);
    [same release];
}

static void listeners(void)
{
    static _Atomic int calls;
    static _Atomic uint64_t seen;
    id<MTLSharedEvent> event = [msl.device newSharedEvent];
    MTLSharedEventListener *listener = [[MTLSharedEventListener alloc] init];
    MTLSharedEventNotificationBlock block = ^(id<MTLSharedEvent> from, uint64_t value) {
        seen = from == event ? value : 0;
        calls++;
    };
    [event setSignaledValue:3];
    [event notifyListener:listener atValue:2 block:block]; // reached already
    CHECK(reaches(&calls, 1));
    CHECK_EQ(seen, 3);
    [event notifyListener:listener atValue:10 block:block];
    [event notifyListener:[MTLSharedEventListener sharedListener] atValue:11 block:block];
    [event setSignaledValue:9];
    CHECK_EQ(calls, 1);
    [listener release]; // what it was asked to tell is told
    [event setSignaledValue:12];
    CHECK(reaches(&calls, 3));
    CHECK_EQ(seen, 12);
    [event release];
}

// One queue waits for the CPU, a second for the first, through a plain event that only GPUs see.
static void between_queues(void)
{
    id<MTLSharedEvent> shared = [msl.device newSharedEvent];
    id<MTLEvent> plain = [msl.device newEvent];
    id<MTLCommandQueue> other = [msl.device newCommandQueue];
    id<MTLBuffer> memory = [msl.device newBufferWithLength:128 options:0];
    [plain setLabel:@"plain"];
    CHECK([plain device] == msl.device && [[plain label] isEqual:@"plain"]);

    id<MTLCommandBuffer> second = [other commandBuffer];
    [second encodeWaitForEvent:plain value:3];
    id<MTLBlitCommandEncoder> encoder = [second blitCommandEncoder];
    [encoder fillBuffer:memory range:NSMakeRange(0, 128) value:7];
    [encoder endEncoding];
    [second commit];
    id<MTLCommandBuffer> first = [msl.queue commandBuffer];
    [first encodeWaitForEvent:shared value:1];
    [first encodeSignalEvent:plain value:3];
    [first encodeSignalEvent:shared value:2];
    [first commit];
    [first waitUntilScheduled];
    CHECK_EQ([shared signaledValue], 0);
    CHECK_EQ(((char *)[memory contents])[5], 0);
    CHECK([first status] < MTLCommandBufferStatusCompleted);
    [shared setSignaledValue:1];
    CHECK([shared waitUntilSignaledValue:2 timeoutMS:LONG_MS]);
    [second waitUntilCompleted];
    CHECK_EQ(((char *)[memory contents])[5], 7);
    [memory release];
    [other release];
    [plain release];
    [shared release];
}

static void fences(void)
{
    id<MTLFence> fence = [msl.device newFence];
    id<MTLBuffer> memory = [msl.device newBufferWithLength:16 options:MTLResourceHazardTrackingModeUntracked];
    CHECK([fence device] == msl.device);
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    for (int i = 0; i < 2; i++) {
        id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
        if (i)
            [encoder waitForFence:fence];
        [encoder fillBuffer:memory range:NSMakeRange(0, i ? 8 : 16) value:(uint8_t)(i + 1)];
        [encoder updateFence:fence];
        [encoder endEncoding];
    }
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQ(((char *)[memory contents])[7], 2);
    CHECK_EQ(((char *)[memory contents])[8], 1);
    [memory release];
    [fence release];
}

int main(void)
{
    msl_start();
    from_the_cpu();
    listeners();
    between_queues();
    fences();
    return msl_end();
}
