// SPDX-License-Identifier: MIT
// Heaps, events, residency sets, captures, libraries and pipelines used by many threads at once, while two
// queues are kept busy. Each thread checks what it sees; the program prints the number of things that were
// wrong.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAP_BYTES = 1 << 20, HELD = 8 };

static id<MTLDevice> device;
static id<MTLHeap> heap;
static id<MTLSharedEvent> event;
static id<MTLResidencySet> set;
static id<MTLCommandQueue> queues[2];
static _Atomic int wrong, notified, compiled, captured;
static _Atomic bool is_over;

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    wrong++;
    printf("wrong: %s\n", what);
}
#define EXPECT(condition) expect(condition, #condition)

static bool is_filled(id<MTLBuffer> buffer, int value)
{
    const unsigned char *bytes = [buffer contents];
    for (NSUInteger i = 0; i < [buffer length]; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

// Buffers of one heap never overlap, whoever else takes and gives back memory of it.
static void use_heap(unsigned *seed)
{
    id<MTLBuffer> held[HELD];
    for (int k = 0; k < HELD; k++) {
        held[k] = [heap newBufferWithLength:1 + (NSUInteger)rand_r(seed) % 5000 options:0];
        if (held[k])
            memset([held[k] contents], k + 1, [held[k] length]);
    }
    for (int k = 0; k < HELD; k++) {
        EXPECT(!held[k] || is_filled(held[k], k + 1));
        [held[k] release];
    }
}

// Another thread may set the value back: what a listener is told is what it was at that time.
static void use_event(unsigned *seed)
{
    (void)seed;
    MTLSharedEventListener *listener = [[MTLSharedEventListener alloc] init];
    uint64_t next = [event signaledValue] + 1;
    [event notifyListener:listener
                  atValue:next
                    block:^(id<MTLSharedEvent> from, uint64_t value) {
                        EXPECT(from == event && value >= next);
                        notified++;
                    }];
    [event setSignaledValue:next];
    [listener release];
}

static void use_set(unsigned *seed)
{
    (void)seed;
    id<MTLBuffer> buffer = [device newBufferWithLength:100 options:0];
    [set addAllocation:buffer];
    [set commit];
    EXPECT([set containsAllocation:buffer] && [[set allAllocations] containsObject:buffer]);
    [set removeAllocation:buffer];
    EXPECT(![set containsAllocation:buffer]);
    [buffer release];
}

static void use_capture(unsigned *seed)
{
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    MTLCaptureDescriptor *descriptor = [[MTLCaptureDescriptor new] autorelease];
    int number = rand_r(seed);
    [descriptor setCaptureObject:number % 2 ? (id)device : (id)queues[0]];
    [descriptor setDestination:MTLCaptureDestinationGPUTraceDocument];
    NSString *path = [NSString stringWithFormat:@"c%d-%p.gputrace", number, (void *)seed];
    NSString *folder = [[NSFileManager defaultManager] currentDirectoryPath];
    [descriptor setOutputURL:[NSURL fileURLWithPath:[folder stringByAppendingPathComponent:path]]];
    if (![manager startCaptureWithDescriptor:descriptor error:NULL])
        return;
    usleep(2000);
    [manager stopCapture];
    EXPECT([[NSFileManager defaultManager] fileExistsAtPath:path]);
    captured++;
}

// The same text from several threads: one of them may compile, all must get a pipeline.
static void use_library(unsigned *seed)
{
    NSString *text =
        [NSString stringWithFormat:@"kernel void k(device int *a) { a[0] = %d; }", rand_r(seed) % 3];
    id<MTLLibrary> library = [device newLibraryWithSource:text options:nil error:NULL];
    id<MTLFunction> function = [library newFunctionWithName:@"k"];
    [device newComputePipelineStateWithFunction:function
                              completionHandler:^(id<MTLComputePipelineState> state, NSError *error) {
                                  EXPECT(state && !error && [state staticThreadgroupMemoryLength] == 0);
                                  compiled++;
                              }];
    [function release];
    [library release];
}

static void submit(unsigned *seed)
{
    id<MTLBuffer> buffer = [device newBufferWithLength:4096 options:0];
    id<MTLCommandBuffer> commands = [queues[*seed % 2] commandBuffer];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder fillBuffer:buffer range:NSMakeRange(0, 4096) value:3];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    EXPECT(is_filled(buffer, 3));
    [buffer release];
}

// Threads with 0 turns go on until the others are done.
typedef struct job {
    void (*function)(unsigned *seed);
    int turns;
} job;

static const job jobs[] = {{use_heap, 500},   {use_heap, 500},   {use_event, 500},  {use_event, 500},
                           {use_set, 500},    {use_set, 500},    {use_capture, 20}, {use_capture, 20},
                           {use_library, 30}, {use_library, 30}, {submit, 0},       {submit, 0}};
enum { JOBS = sizeof jobs / sizeof *jobs };

static void *thread_main(void *argument)
{
    const job *mine = argument;
    unsigned seed = (unsigned)(mine - jobs);
    for (int i = 0; mine->turns ? i < mine->turns : !is_over; i++) {
        @autoreleasepool {
            mine->function(&seed);
        }
    }
    return NULL;
}

static void wait_for(_Atomic int *counter, int value)
{
    while (*counter < value)
        usleep(1000);
}

int main(void)
{
    pthread_t threads[JOBS];
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor new] autorelease];
        [descriptor setSize:HEAP_BYTES];
        [descriptor setStorageMode:MTLStorageModeShared];
        heap = [device newHeapWithDescriptor:descriptor];
        event = [device newSharedEvent];
        set = [device newResidencySetWithDescriptor:[[MTLResidencySetDescriptor new] autorelease] error:NULL];
        queues[0] = [device newCommandQueue];
        queues[1] = [device newCommandQueue];
        for (int i = 0; i < JOBS; i++)
            pthread_create(&threads[i], NULL, thread_main, (void *)&jobs[i]);
        for (int i = 0; i < JOBS; i++) {
            is_over = jobs[i].turns == 0;
            pthread_join(threads[i], NULL);
        }
        wait_for(&notified, 1000);
        wait_for(&compiled, 60);
        EXPECT([heap usedSize] == 0 && [set allocationCount] == 0);
        [heap release];
        [event release];
        [set release];
        [queues[0] release];
        [queues[1] release];
    }
    printf("notified: %d, compiled: %d, captured: %s, wrong: %d\n", notified, compiled,
           captured ? "some" : "none", wrong);
    return wrong != 0;
}
