// SPDX-License-Identifier: MIT
// A little of everything in little time: libraries and pipelines in several forms, function constants,
// buffers and heaps, labels and debug groups, handlers, events, two threads, and more dispatches than a
// segment of a record holds, most of them in command buffers that are never committed. Checks its results
// and prints them; the output is the same every time. Knows nothing of where or under what it runs.
//
//     torture [descriptors|memory]    descriptors: all are in use while the device is made; memory: from the
//                                     middle on the process may not grow, and has enough for itself
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { COUNT = 256, ROUNDS = 12, ABANDONED = 5, DISPATCHES = 9000 };

static NSString *const source =
    @"#include <metal_stdlib>\n"
    @"using namespace metal;\n"
    @"constant int by [[function_constant(0)]];\n"
    @"kernel void add(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n"
    @"kernel void add_by(device int *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += by; }\n";

static struct {
    id<MTLDevice> device;
    id<MTLLibrary> library;
    id<MTLComputePipelineState> add, add_by;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int handlers; // that have run
    bool wrong;
} app = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void check(const char *what, bool right)
{
    printf("%s: %s\n", what, right ? "right" : "WRONG");
    app.wrong = app.wrong || !right;
}

static void handler_ran(void)
{
    pthread_mutex_lock(&app.lock);
    app.handlers++;
    pthread_cond_broadcast(&app.changed);
    pthread_mutex_unlock(&app.lock);
}

static void wait_for_handlers(int count)
{
    pthread_mutex_lock(&app.lock);
    while (app.handlers < count)
        pthread_cond_wait(&app.changed, &app.lock);
    pthread_mutex_unlock(&app.lock);
}

// ---- libraries and pipelines ----
static id<MTLFunction> make_special(void)
{
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues alloc] init];
    int by = 10;
    [values setConstantValue:&by type:MTLDataTypeInt atIndex:0];
    NSError *error = nil;
    id<MTLFunction> function = [app.library newFunctionWithName:@"add_by" constantValues:values error:&error];
    [values release];
    return function;
}

static void make_pipelines(void)
{
    NSError *error = nil;
    id<MTLFunction> add = [app.library newFunctionWithName:@"add"], special = make_special();
    app.add = [app.device newComputePipelineStateWithFunction:add error:&error];
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor alloc] init];
    [descriptor setComputeFunction:special];
    [descriptor setLabel:@"add ten"];
    int before = app.handlers;
    [app.device newComputePipelineStateWithDescriptor:descriptor
                                              options:MTLPipelineOptionNone
                                    completionHandler:^(id<MTLComputePipelineState> made,
                                                        MTLComputePipelineReflection *unused, NSError *why) {
                                        (void)unused;
                                        (void)why;
                                        app.add_by = [made retain];
                                        handler_ran();
                                    }];
    wait_for_handlers(before + 1);
    [descriptor release];
    [special release];
    [add release];
    check("pipelines", app.add && app.add_by);
}

static void make_libraries(void)
{
    NSError *error = nil;
    app.library = [app.device newLibraryWithSource:source options:nil error:&error];
    [app.library setLabel:@"kernels"];
    [app.device newLibraryWithSource:source
                             options:nil
                   completionHandler:^(id<MTLLibrary> made, NSError *why) {
                       check("library made in the background", made && !why);
                       handler_ran();
                   }];
    wait_for_handlers(1);
    check("library", app.library != nil);
}

// ---- work ----
static void encode(id<MTLCommandBuffer> commands, id<MTLBuffer> data, int round)
{
    id<MTLComputeCommandEncoder> encoder = [commands
        computeCommandEncoderWithDispatchType:round % 2 ? MTLDispatchTypeConcurrent : MTLDispatchTypeSerial];
    [encoder setLabel:[NSString stringWithFormat:@"encoder %d", round]];
    [encoder pushDebugGroup:@"group"];
    [encoder setComputePipelineState:app.add];
    [encoder setBuffer:data offset:0 atIndex:0];
    [encoder dispatchThreadgroups:MTLSizeMake(COUNT / 32, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    [encoder setComputePipelineState:app.add_by];
    [encoder dispatchThreads:MTLSizeMake(COUNT, 1, 1) threadsPerThreadgroup:MTLSizeMake(64, 1, 1)];
    [encoder popDebugGroup];
    [encoder endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:data range:NSMakeRange(COUNT * sizeof(int), 64) value:7];
    [blit endEncoding];
}

static bool run(id<MTLCommandQueue> queue, id<MTLBuffer> data, const char *name)
{
    id<MTLSharedEvent> event = [app.device newSharedEvent];
    id<MTLCommandBuffer> last = nil;
    for (int round = 0; round < ROUNDS; round++) {
        @autoreleasepool {
            id<MTLCommandBuffer> commands =
                round % 3 ? [queue commandBuffer] : [queue commandBufferWithUnretainedReferences];
            [commands setLabel:[NSString stringWithFormat:@"%s %d", name, round]];
            encode(commands, data, round);
            [commands encodeSignalEvent:event value:(uint64_t)round + 1];
            [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
                (void)done;
                handler_ran();
            }];
            [commands commit];
            [last release];
            last = [commands retain];
            if (round % 4 == 3)
                [commands waitUntilCompleted];
        }
    }
    [last waitUntilCompleted];
    bool signalled = [event signaledValue] == ROUNDS;
    const int *values = [data contents];
    bool right = [last status] == MTLCommandBufferStatusCompleted && signalled;
    for (int i = 0; i < COUNT; i++)
        right = right && values[i] == 11 * ROUNDS;
    [last release];
    [event release];
    return right;
}

static void abandon_many(id<MTLCommandQueue> queue)
{
    for (int i = 0; i < ABANDONED; i++) {
        @autoreleasepool {
            id<MTLComputeCommandEncoder> encoder = [[queue commandBuffer] computeCommandEncoder];
            [encoder setComputePipelineState:app.add];
            for (int dispatch = 0; dispatch < DISPATCHES; dispatch++)
                [encoder dispatchThreadgroups:MTLSizeMake((NSUInteger)dispatch + 1, 1, 1)
                        threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
            [encoder endEncoding];
        }
    }
}

static void *work_beside(void *queue)
{
    bool *right = malloc(sizeof *right);
    @autoreleasepool {
        id<MTLBuffer> data = [app.device newBufferWithLength:(COUNT + 16) * sizeof(int) options:0];
        *right = run(queue, data, "beside");
        [data release];
    }
    return right;
}

static void run_two(id<MTLCommandQueue> queue)
{
    pthread_t thread;
    void *beside = NULL;
    int before = app.handlers;
    if (pthread_create(&thread, NULL, work_beside, queue))
        exit(1);
    MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor alloc] init];
    [descriptor setSize:1 << 20];
    [descriptor setStorageMode:MTLStorageModeShared];
    id<MTLHeap> heap = [app.device newHeapWithDescriptor:descriptor];
    id<MTLBuffer> data = [heap newBufferWithLength:(COUNT + 16) * sizeof(int) options:0];
    if (!data)
        exit(1);
    memset([data contents], 0, COUNT * sizeof(int));
    check("results", run(queue, data, "main"));
    pthread_join(thread, &beside);
    check("results beside", beside && *(bool *)beside);
    wait_for_handlers(before + 2 * ROUNDS);
    printf("handlers: %d\n", app.handlers);
    free(beside);
    [data release];
    [heap release];
    [descriptor release];
}

// ---- without descriptors ----
static int use_up_descriptors(int *first)
{
    int last = -1;
    *first = dup(STDIN_FILENO);
    for (int fd = *first; fd >= 0; fd = dup(STDIN_FILENO))
        last = fd;
    return last;
}

static id<MTLDevice> make_device(bool without_descriptors)
{
    int first = 0, last = without_descriptors ? use_up_descriptors(&first) : -1;
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    for (int fd = first; fd <= last; fd++)
        close(fd);
    return device;
}

// ---- without memory ----
static void leave_no_memory(void)
{
    enum { ENOUGH = 64 << 20 };
    mallopt(M_TRIM_THRESHOLD, INT_MAX); // what is freed stays in the heap
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    void *all = malloc(ENOUGH);
    if (all)
        memset(all, 0, ENOUGH);
    free(all);
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = 1;
    check("limit", all && !setrlimit(RLIMIT_AS, &limit));
}

int main(int argc, char **argv)
{
    const char *without = argc > 1 ? argv[1] : "";
    @autoreleasepool {
        app.device = make_device(strcmp(without, "descriptors") == 0);
        check("device", app.device != nil);
        id<MTLCommandQueue> queue = [app.device newCommandQueue];
        [queue setLabel:@"queue"];
        make_libraries();
        make_pipelines();
        run_two(queue);
        if (strcmp(without, "memory") == 0)
            leave_no_memory();
        abandon_many(queue);
        printf("device: %s\n", [[app.device name] UTF8String]);
        [app.add release];
        [app.add_by release];
        [app.library release];
        [queue release];
        [app.device release];
    }
    return app.wrong ? 1 : 0;
}
