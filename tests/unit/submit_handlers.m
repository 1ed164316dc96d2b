// SPDX-License-Identifier: MIT
// Scheduled and completed handlers: their order, the state they see, the thread they run on, the object they
// get, what they keep alive, and what they may do. Waits have limits; no time is checked.
#include "unit/submit_support.h"

// ---- order ----
static char trace[100];
static pthread_mutex_t trace_lock = PTHREAD_MUTEX_INITIALIZER;

static void note(char what)
{
    pthread_mutex_lock(&trace_lock);
    size_t length = strlen(trace);
    if (length + 1 < sizeof trace)
        trace[length] = what;
    pthread_mutex_unlock(&trace_lock);
}

static void order(void)
{
    static _Atomic int wrong;
    const pthread_t here = pthread_self();
    for (int i = 0; i < 2; i++) {
        __block id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        const char letter = i ? 'a' : 'A';
        [commands addCompletedHandler:^(id<MTLCommandBuffer> given) {
            wrong += given != commands || [given status] != MTLCommandBufferStatusCompleted;
            wrong += pthread_equal(here, pthread_self()) != 0;
            note((char)(letter + 2));
        }];
        for (int k = 0; k < 2; k++)
            [commands addScheduledHandler:^(id<MTLCommandBuffer> given) {
                wrong += given != commands || [given status] != MTLCommandBufferStatusScheduled;
                wrong += pthread_equal(here, pthread_self()) != 0;
                note((char)(letter + k));
            }];
        [commands addCompletedHandler:^(id<MTLCommandBuffer> given) {
            wrong += given != commands || [given GPUEndTime] == 0;
            note((char)(letter + 3));
        }];
        [commands commit];
        [commands waitUntilCompleted]; // returns behind the last handler
    }
    CHECK_STR(trace, "ABCDabcd");
    CHECK_EQ(wrong, 0);
}

// Handlers of a queue's buffers run in the order of the buffers, though they wait for nobody.
static void order_of_buffers(void)
{
    memset(trace, 0, sizeof trace);
    id<MTLCommandBuffer> last = nil;
    for (int i = 0; i < 26; i++) {
        last = [msl.queue commandBuffer];
        [last addCompletedHandler:^(id<MTLCommandBuffer> given) {
            (void)given;
            if (i % 4 == 0)
                usleep(1000);
            note((char)('a' + i));
        }];
        [last commit];
    }
    [last waitUntilCompleted];
    CHECK_STR(trace, "abcdefghijklmnopqrstuvwxyz");
}

// ---- life ----
static _Atomic int counters_gone;

@interface Counter : NSObject
@end

@implementation Counter

- (void)dealloc
{
    counters_gone++;
    [super dealloc];
}

@end

// The blocks keep what they captured until they have run; the buffer lives until then without the program.
static void kept_alive(void)
{
    static _Atomic int status;
    id<MTLSharedEvent> event = [msl.device newSharedEvent];
    counters_gone = 0;
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        Counter *captured = [Counter new];
        [commands encodeWaitForEvent:event value:1];
        [commands addCompletedHandler:^(id<MTLCommandBuffer> given) {
            status = captured ? (int)[given status] : -1;
        }];
        [captured release];
        [commands commit];
    }
    CHECK_EQ(counters_gone, 0);
    [event setSignaledValue:1];
    CHECK(submit_reaches(&counters_gone, 1));
    CHECK_EQ(status, MTLCommandBufferStatusCompleted);
    [event release];
}

// Dropped without commit: the handlers run with the state it has, and let go what they captured.
static void dropped(void)
{
    static _Atomic int scheduled = -1, completed = -1;
    counters_gone = 0;
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        Counter *captured = [Counter new];
        [commands addScheduledHandler:^(id<MTLCommandBuffer> given) {
            scheduled = (int)[given status];
        }];
        [commands addCompletedHandler:^(id<MTLCommandBuffer> given) {
            completed = captured ? (int)[given status] : -2;
        }];
        [captured release];
        [commands enqueue];
    }
    CHECK_EQ(scheduled, MTLCommandBufferStatusEnqueued);
    CHECK_EQ(completed, MTLCommandBufferStatusEnqueued);
    CHECK_EQ(counters_gone, 1);
}

// ---- what they may do ----
// A handler that takes its time holds back neither the next buffer nor one that it submits itself.
static void busy(void)
{
    static _Atomic int inner_status;
    id<MTLSharedEvent> ran = [msl.device newSharedEvent], release = [msl.device newSharedEvent];
    id<MTLCommandBuffer> slow = [msl.queue commandBuffer], next = [msl.queue commandBuffer];
    [slow addCompletedHandler:^(id<MTLCommandBuffer> given) {
        (void)given;
        id<MTLCommandBuffer> inner = [msl.queue commandBuffer];
        [inner encodeSignalEvent:ran value:2];
        [inner commit];
        [release waitUntilSignaledValue:1 timeoutMS:LONG_MS];
        inner_status = (int)[inner status];
    }];
    [next encodeSignalEvent:ran value:1];
    [slow commit];
    [next commit];
    CHECK([ran waitUntilSignaledValue:2 timeoutMS:LONG_MS]);
    CHECK_EQ([slow status], MTLCommandBufferStatusCompleted);
    [release setSignaledValue:1];
    [next waitUntilCompleted];
    [slow waitUntilCompleted];
    CHECK_INT(inner_status, >=, MTLCommandBufferStatusScheduled);
    [ran release];
    [release release];
}

// Failed buffers have their handlers run as well.
static void failed(void)
{
    static _Atomic int status;
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    const uint32_t huge[3] = {1u << 31, 1, 1};
    id<MTLBuffer> sizes = [[msl.device newBufferWithBytes:huge length:sizeof huge options:0] autorelease];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:submit_pipeline("increase")];
    [encoder dispatchThreadgroupsWithIndirectBuffer:sizes
                               indirectBufferOffset:0
                              threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder endEncoding];
    [commands addCompletedHandler:^(id<MTLCommandBuffer> given) {
        status = [given error] ? (int)[given status] : -1;
    }];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQ(status, MTLCommandBufferStatusError);
}

int main(void)
{
    submit_start();
    order();
    order_of_buffers();
    kept_alive();
    dropped();
    busy();
    failed();
    return msl_end();
}
