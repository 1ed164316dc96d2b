// SPDX-License-Identifier: MIT
// When command buffers run: in the order of enqueue or commit whatever the threads, with the states that
// Metal names, as many at once as the queue allows, ordered between queues by events. No duration is checked.
#include "unit/submit_support.h"

static id<MTLBuffer> memory;

static unsigned *word(void)
{
    return [memory contents];
}

static void states_and_times(void)
{
    id<MTLSharedEvent> event = [msl.device newSharedEvent];
    id<MTLCommandBuffer> first = [msl.queue commandBuffer], second = [msl.queue commandBuffer];
    CHECK_EQ([first status], MTLCommandBufferStatusNotEnqueued);
    CHECK([first GPUStartTime] == 0 && [first GPUEndTime] == 0 && [first error] == nil);
    CHECK([first commandQueue] == msl.queue && [first device] == msl.device);
    [first enqueue];
    CHECK_EQ([first status], MTLCommandBufferStatusEnqueued);
    [second commit];
    usleep(SHORT_US);
    CHECK_EQ([second status], MTLCommandBufferStatusCommitted); // it is not its turn
    [first encodeWaitForEvent:event value:1];
    [first commit];
    [first waitUntilScheduled];
    usleep(SHORT_US);
    CHECK_EQ([first status], MTLCommandBufferStatusScheduled);
    CHECK([first GPUStartTime] == 0 && [first GPUEndTime] == 0);
    [event setSignaledValue:1];
    [second waitUntilCompleted];
    CHECK_EQ([first status], MTLCommandBufferStatusCompleted);
    CHECK_EQ([second status], MTLCommandBufferStatusCompleted);
    [first waitUntilCompleted]; // again, and late: returns at once
    [second waitUntilScheduled];
    CHECK([first kernelStartTime] > 0 && [first kernelEndTime] >= [first kernelStartTime]);
    CHECK([first GPUStartTime] >= [first kernelEndTime] && [first GPUEndTime] >= [first GPUStartTime]);
    CHECK([second GPUStartTime] >= [first GPUEndTime] && [second GPUEndTime] >= [second GPUStartTime]);
    [event release];
}

// Committed in the opposite order of enqueue; the one that is not enqueued comes behind all that are.
static void enqueue_order(void)
{
    id<MTLCommandBuffer> buffers[3];
    *word() = 0;
    for (unsigned i = 0; i < 3; i++) {
        buffers[i] = [msl.queue commandBuffer];
        submit_mix(buffers[i], memory, i + 1);
    }
    [buffers[0] enqueue];
    [buffers[1] enqueue];
    [buffers[2] commit];
    [buffers[1] commit];
    usleep(SHORT_US);
    CHECK_EQ([buffers[1] status], MTLCommandBufferStatusCommitted);
    CHECK_EQ([buffers[2] status], MTLCommandBufferStatusCommitted);
    CHECK_EQ(*word(), 0);
    [buffers[0] commit];
    [buffers[2] waitUntilCompleted];
    CHECK_EQ(*word(), submit_mixed(3));
    CHECK([buffers[1] GPUStartTime] >= [buffers[0] GPUEndTime]);
    CHECK([buffers[2] GPUStartTime] >= [buffers[1] GPUEndTime]);
}

enum { THREADS = 4, PER_THREAD = 12 };
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static unsigned last_number;

static void *encode_many(void *unused)
{
    for (int i = 0; i < PER_THREAD; i++)
        @autoreleasepool {
            id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
            pthread_mutex_lock(&turn);
            unsigned number = ++last_number;
            [commands enqueue];
            pthread_mutex_unlock(&turn);
            if (number % 3 == 0)
                usleep(500); // others overtake it on the way to commit
            submit_mix(commands, memory, number);
            [commands commit];
        }
    return unused;
}

static void enqueue_from_threads(void)
{
    pthread_t threads[THREADS];
    *word() = 0;
    submit_pipeline("mix_in"); // so that the threads only read the cache
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, encode_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    submit_finish([msl.queue commandBuffer]);
    CHECK_EQ(last_number, THREADS * PER_THREAD);
    CHECK_EQ(*word(), submit_mixed(THREADS * PER_THREAD));
}

static _Atomic int third_made;

static void *make_third(void *limited)
{
    @autoreleasepool {
        id<MTLCommandBuffer> third = [(id<MTLCommandQueue>)limited commandBuffer];
        third_made = 1;
        [third commit];
        [third waitUntilCompleted];
    }
    return NULL;
}

static void check_limit(id<MTLCommandQueue> limited)
{
    pthread_t thread;
    third_made = 0;
    @autoreleasepool {
        id<MTLCommandBuffer> first = [limited commandBuffer];
        [limited commandBuffer]; // never committed: it counts until it is dropped
        pthread_create(&thread, NULL, make_third, limited);
        usleep(SHORT_US);
        CHECK_EQ(third_made, 0);
        [first commit];
        pthread_join(thread, NULL);
        CHECK_EQ(third_made, 1);
        CHECK_EQ([first status], MTLCommandBufferStatusCompleted);
    }
    for (int i = 0; i < 10; i++)
        @autoreleasepool {
            [limited commandBuffer]; // dropped ones give room, or this would hang
        }
    [limited release];
}

static void limits(void)
{
    MTLCommandQueueDescriptor *descriptor = [[MTLCommandQueueDescriptor new] autorelease];
    CHECK_EQ([descriptor maxCommandBufferCount], 64);
    [descriptor setMaxCommandBufferCount:2];
    check_limit([msl.device newCommandQueueWithMaxCommandBufferCount:2]);
    check_limit([msl.device newCommandQueueWithDescriptor:descriptor]);
}

// What was enqueued behind a buffer that is dropped goes on.
static void dropped(void)
{
    id<MTLCommandBuffer> after = [[msl.queue commandBuffer] retain];
    @autoreleasepool {
        [[msl.queue commandBuffer] enqueue];
        [after commit];
        usleep(SHORT_US);
        CHECK_EQ([after status], MTLCommandBufferStatusCommitted);
    }
    [after waitUntilCompleted];
    CHECK_EQ([after status], MTLCommandBufferStatusCompleted);
    [after release];
}

// There and back between two queues; the wait at the front is no running time.
static void events(void)
{
    id<MTLCommandQueue> other = [msl.device newCommandQueue];
    id<MTLSharedEvent> shared = [msl.device newSharedEvent];
    id<MTLEvent> plain = [msl.device newEvent];
    id<MTLCommandBuffer> waits = [msl.queue commandBuffer], signals = [other commandBuffer];
    *word() = 0;
    [waits encodeWaitForEvent:plain value:3];
    submit_mix(waits, memory, 2);
    [waits encodeSignalEvent:shared value:9];
    [signals encodeWaitForEvent:shared value:0]; // it is there already
    submit_mix(signals, memory, 1);
    [signals encodeSignalEvent:plain value:3];
    [signals encodeWaitForEvent:shared value:9];
    submit_mix(signals, memory, 3);
    [waits commit];
    usleep(SHORT_US);
    CHECK_INT([waits status], <, MTLCommandBufferStatusCompleted);
    [signals commit];
    [signals waitUntilCompleted];
    CHECK_EQ(*word(), submit_mixed(3));
    CHECK_EQ([shared signaledValue], 9);
    [waits waitUntilCompleted]; // it signals before it ends
    CHECK([waits GPUStartTime] >= [signals GPUStartTime]);
    [plain release];
    [shared release];
    [other release];
}

// A queue may go while its buffers run; threads are shared, so a thousand queues need few.
static void many_queues(void)
{
    id<MTLCommandBuffer> last = nil;
    *word() = 0;
    for (int i = 0; i < 1000; i++)
        @autoreleasepool {
            id<MTLCommandQueue> queue = [msl.device newCommandQueue];
            [last release];
            last = [[queue commandBuffer] retain];
            [last commit];
            [queue release];
            [last waitUntilCompleted];
        }
    CHECK_EQ([last status], MTLCommandBufferStatusCompleted);
    [last release];
    char line[256];
    int threads = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "Threads: %d", &threads);
    if (CHECK(status != NULL))
        fclose(status);
    CHECK_INT(threads, >, 0);
    CHECK_INT(threads, <, 100);
}

int main(void)
{
    submit_start();
    memory = [msl.device newBufferWithLength:64 options:0];
    states_and_times();
    enqueue_order();
    enqueue_from_threads();
    limits();
    dropped();
    events();
    many_queues();
    [memory release];
    return msl_end();
}
