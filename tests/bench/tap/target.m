// SPDX-License-Identifier: MIT
// A Metal program to be measured with and without the tap, which it knows nothing of. It makes command
// buffers of so many dispatches and prints what it measured as one line of JSON.
//
//     target encode N M    M command buffers of N dispatches, never committed
//     target commit N M    the same, each committed and waited for
//     target loop N M      the same as encode; time of a dispatch in a loop of N
//     target spread N M    the same as encode; times of single dispatches
//     target calls N M     the same, committed in batches; times of the other calls
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "samples.h"

#include <string.h>

enum { BATCH = 16 };
enum call { CALL_CREATE, CALL_ENCODER, CALL_PIPELINE, CALL_END, CALL_COMMIT, CALL_WAIT, CALLS };
static const char *const call_names[CALLS] = {"create", "encoder", "pipeline", "end", "commit", "wait"};

struct run {
    bool commits, loops, spreads, calls;
    long dispatches, buffers;
    id<MTLCommandQueue> queue;
    id<MTLComputePipelineState> pipeline;
    struct samples samples[CALLS]; // the first one is of dispatches, if those are measured
};

static bool make_pipeline(struct run *run)
{
    NSError *error = nil;
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    run->queue = [device newCommandQueue];
    id<MTLLibrary> library = [device newLibraryWithSource:@"kernel void nothing() { }"
                                                  options:nil
                                                    error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"nothing"];
    if (function)
        run->pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    if (!run->pipeline)
        fprintf(stderr, "no pipeline: %s\n", [[error localizedDescription] UTF8String]);
    return run->pipeline != nil;
}

// ---- dispatches ----
static void dispatch_all(struct run *run, id<MTLComputeCommandEncoder> encoder)
{
    MTLSize one = MTLSizeMake(1, 1, 1);
    uint64_t before = mt_os_counter();
    for (long i = 0; i < run->dispatches; i++)
        [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
    if (run->loops)
        samples_add(&run->samples[0], before, mt_os_counter());
}

static void dispatch_each(struct run *run, id<MTLComputeCommandEncoder> encoder)
{
    MTLSize one = MTLSizeMake(1, 1, 1);
    for (long i = 0; i < run->dispatches; i++) {
        uint64_t before = mt_os_counter();
        [encoder dispatchThreadgroups:one threadsPerThreadgroup:one];
        samples_add(&run->samples[0], before, mt_os_counter());
    }
}

// ---- command buffers ----
// A call has ended that began at `before`. The time at which the next one begins.
static uint64_t timed(struct run *run, enum call call, uint64_t before)
{
    uint64_t after = mt_os_counter();
    if (run->calls)
        samples_add(&run->samples[call], before, after);
    return mt_os_counter();
}

static id<MTLCommandBuffer> encode_buffer(struct run *run)
{
    uint64_t now = mt_os_counter();
    id<MTLCommandBuffer> buffer = [run->queue commandBuffer];
    now = timed(run, CALL_CREATE, now);
    id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
    now = timed(run, CALL_ENCODER, now);
    [encoder setComputePipelineState:run->pipeline];
    timed(run, CALL_PIPELINE, now);
    if (run->spreads)
        dispatch_each(run, encoder);
    else
        dispatch_all(run, encoder);
    now = mt_os_counter();
    [encoder endEncoding];
    timed(run, CALL_END, now);
    return buffer;
}

static void one_buffer(struct run *run)
{
    id<MTLCommandBuffer> buffer = encode_buffer(run);
    if (!run->commits)
        return;
    [buffer commit];
    [buffer waitUntilCompleted];
}

// A commit that wakes a thread and a wait that sleeps take as long as the system likes. So the buffers are
// held back by one that is enqueued before them and committed after them, and what is timed are waits for
// buffers that are done.
static void one_batch(struct run *run)
{
    id<MTLCommandBuffer> gate = [run->queue commandBuffer], buffers[BATCH];
    [gate enqueue];
    for (int i = 0; i < BATCH; i++) {
        buffers[i] = encode_buffer(run);
        uint64_t now = mt_os_counter();
        [buffers[i] commit];
        timed(run, CALL_COMMIT, now);
    }
    [gate commit];
    [buffers[BATCH - 1] waitUntilCompleted];
    for (int i = 0; i < BATCH; i++) {
        uint64_t now = mt_os_counter();
        [buffers[i] waitUntilCompleted];
        timed(run, CALL_WAIT, now);
    }
}

static void all_buffers(struct run *run)
{
    for (long i = 0; i < run->buffers; i += run->calls ? BATCH : 1) {
        @autoreleasepool {
            if (run->calls)
                one_batch(run);
            else
                one_buffer(run);
        }
    }
}

// ---- what was measured ----
static void print_result(struct run *run, uint64_t cpu_ns)
{
    double ns_per_tick = samples_ns_per_tick();
    printf("{");
    if (run->loops) {
        samples_sort(&run->samples[0]);
        double each = ns_per_tick / (double)run->dispatches;
        printf("\"ns\": %.3f, \"median_ns\": %.3f", samples_quiet(&run->samples[0]) * each,
               samples_quantile(&run->samples[0], 0.5) * each);
    } else if (run->spreads) {
        samples_print_spread(&run->samples[0], ns_per_tick);
    } else if (run->calls) {
        for (int call = 0; call < CALLS; call++) {
            samples_sort(&run->samples[call]);
            printf("%s\"%s\": %.2f", call ? ", " : "", call_names[call],
                   samples_quiet(&run->samples[call]) * ns_per_tick);
        }
    } else {
        printf("\"cpu_ns\": %.1f", (double)cpu_ns / (double)run->buffers);
    }
    printf("}\n");
}

static int make_room(struct run *run)
{
    size_t room = (size_t)(run->buffers + BATCH) * (run->spreads ? (size_t)run->dispatches : 1);
    int rc = 0;
    for (int call = 0; !rc && call < (run->calls ? CALLS : 1); call++)
        rc = samples_begin(&run->samples[call], room);
    return rc;
}

static bool read_arguments(struct run *run, int count, char **arguments)
{
    if (count != 4)
        return false;
    const char *mode = arguments[1];
    run->loops = strcmp(mode, "loop") == 0;
    run->spreads = strcmp(mode, "spread") == 0;
    run->calls = strcmp(mode, "calls") == 0;
    run->commits = strcmp(mode, "commit") == 0;
    run->dispatches = strtol(arguments[2], NULL, 10);
    run->buffers = strtol(arguments[3], NULL, 10);
    bool known = run->commits || run->loops || run->spreads || run->calls || strcmp(mode, "encode") == 0;
    return known && run->dispatches > 0 && run->buffers > 0;
}

int main(int count, char **arguments)
{
    static struct run run;
    if (!read_arguments(&run, count, arguments)) {
        fprintf(stderr, "usage: target encode|commit|loop|spread|calls DISPATCHES COMMAND_BUFFERS\n");
        return 2;
    }
    @autoreleasepool {
        if (!make_pipeline(&run) || make_room(&run))
            return 1;
        uint64_t begin = samples_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        all_buffers(&run);
        print_result(&run, samples_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
    }
    return 0;
}
