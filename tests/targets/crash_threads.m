// SPDX-License-Identifier: MIT
// Encodes and submits from many threads until it comes to a bad end, while each thread keeps count of the
// dispatches and commits it has made in a file that outlives it: the oracle. The size of every dispatch
// follows from its thread and number, so that one that is lost, torn or out of order shows. Knows nothing of
// where or under what it runs.
//
//     crash_threads ORACLE THREADS END [DISPATCHES]    END: forever, or segv abort _exit exec normal after so
//                                                      many dispatches
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_THREADS = 16, PER_BUFFER = 256, COMMITTED_EVERY = 8, PAUSE_US = 1000 };

struct oracle {
    uint64_t dispatches[MOST_THREADS]; // whose call has returned
    uint64_t commits[MOST_THREADS];
};

static NSString *const source =
    @"kernel void count(device atomic_uint *x [[buffer(0)]]) { atomic_fetch_add_explicit(x, 1u, "
    @"memory_order_relaxed); }\n";

static struct {
    struct oracle *oracle;
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLComputePipelineState> count;
    id<MTLBuffer> data;
    uint64_t wanted; // dispatches, of all threads
    bool over;
} app;

// Only what is committed has to be small.
static MTLSize size_of(unsigned thread, uint64_t number, bool committed)
{
    if (committed)
        return MTLSizeMake(number % 16 + 1, thread + 1, 1);
    return MTLSizeMake(number + 1, (number * 2654435761U) % 65521 + 1, thread + 1);
}

static void encode_buffer(unsigned thread, uint64_t buffer)
{
    bool committed = buffer % COMMITTED_EVERY == 0;
    uint64_t *made = &app.oracle->dispatches[thread];
    id<MTLCommandBuffer> commands = [app.queue commandBuffer];
    [commands setLabel:[NSString stringWithFormat:@"%u %llu", thread, (unsigned long long)buffer]];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:app.count];
    [encoder setBuffer:app.data offset:0 atIndex:0];
    for (unsigned i = 0; i < PER_BUFFER; i++) {
        uint64_t number = buffer * PER_BUFFER + i;
        [encoder dispatchThreadgroups:size_of(thread, number, committed)
                threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        __atomic_store_n(made, number + 1, __ATOMIC_RELEASE);
    }
    [encoder endEncoding];
    if (!committed)
        return;
    [commands commit];
    __atomic_store_n(&app.oracle->commits[thread], buffer + 1, __ATOMIC_RELEASE);
}

static void *work(void *context)
{
    unsigned thread = (unsigned)(uintptr_t)context;
    for (uint64_t buffer = 0; !__atomic_load_n(&app.over, __ATOMIC_ACQUIRE); buffer++) {
        @autoreleasepool {
            encode_buffer(thread, buffer);
        }
        usleep(PAUSE_US);
    }
    return NULL;
}

static bool is_enough(void)
{
    uint64_t all = 0;
    for (int i = 0; i < MOST_THREADS; i++)
        all += __atomic_load_n(&app.oracle->dispatches[i], __ATOMIC_ACQUIRE);
    return all >= app.wanted;
}

// While the threads go on.
static void end(const char *how)
{
    if (strcmp(how, "segv") == 0)
        *(volatile int *)(uintptr_t)8 = 0; // NOLINT: meant
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "_exit") == 0)
        _exit(7);
    else if (strcmp(how, "exec") == 0)
        execl("/bin/sh", "sh", "-c", "echo another program; exit 5", (char *)NULL);
}

static void set_up(const char *oracle)
{
    int fd = open(oracle, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *app.oracle))
        exit(1);
    app.oracle = mmap(NULL, sizeof *app.oracle, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    NSError *error = nil;
    app.device = MTLCreateSystemDefaultDevice();
    app.queue = [app.device newCommandQueueWithMaxCommandBufferCount:1024];
    app.data = [app.device newBufferWithLength:64 options:0];
    NSString *text = [@"#include <metal_stdlib>\nusing namespace metal;\n" stringByAppendingString:source];
    id<MTLLibrary> library = [app.device newLibraryWithSource:text options:nil error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"count"];
    app.count = [app.device newComputePipelineStateWithFunction:function error:&error];
    [function release];
    [library release];
    if (app.oracle == MAP_FAILED || !app.count)
        exit(1);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    pthread_t threads[MOST_THREADS];
    unsigned count = (unsigned)atoi(argv[2]);
    app.wanted = argc > 4 ? strtoull(argv[4], NULL, 10) : UINT64_MAX;
    @autoreleasepool {
        set_up(argv[1]);
        for (unsigned i = 0; i < count && i < MOST_THREADS; i++) {
            if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i))
                return 1;
        }
        while (!is_enough())
            usleep(PAUSE_US);
        end(argv[3]);
        __atomic_store_n(&app.over, true, __ATOMIC_RELEASE);
        for (unsigned i = 0; i < count && i < MOST_THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    printf("done\n");
    return 0;
}
