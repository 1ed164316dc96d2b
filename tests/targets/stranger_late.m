// SPDX-License-Identifier: MIT
// Loads a library into itself when Metal is long in use, as a script language would: with a queue, pipelines,
// a command buffer and an encoder that are older than the library. Prints what it does from then on as lines
// of JSON, one per command buffer. Argument: the library, or - to load none.
#include "targets/stranger_work.h"

#include <dlfcn.h>

static NSString *const source =
    @"kernel void early(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n"
    @"kernel void late(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 2; }\n";

static struct {
    id<MTLDevice> device;
    id<MTLCommandQueue> old_queue, new_queue;
    id<MTLLibrary> library;
    id<MTLBuffer> data;
    struct kernel labelled, plain, later;
    unsigned command_buffers;
} app;

static id<MTLComputePipelineState> make_pipeline(NSString *function, NSString *label)
{
    NSError *error = nil;
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    [descriptor setComputeFunction:[[app.library newFunctionWithName:function] autorelease]];
    [descriptor setLabel:label];
    return [app.device newComputePipelineStateWithDescriptor:descriptor
                                                     options:0
                                                  reflection:NULL
                                                       error:&error];
}

static void before(void)
{
    NSError *error = nil;
    app.device = MTLCreateSystemDefaultDevice();
    app.data = [app.device newBufferWithLength:4096 options:0];
    app.old_queue = [app.device newCommandQueue];
    [app.old_queue setLabel:@"old queue"];
    app.library = [app.device newLibraryWithSource:source options:nil error:&error];
    app.labelled = (struct kernel){make_pipeline(@"early", @"an old pipeline"), "an old pipeline"};
    app.plain = (struct kernel){make_pipeline(@"early", nil), "?"};
    id<MTLCommandBuffer> done = [app.old_queue commandBuffer];
    [done commit];
    [done waitUntilCompleted];
}

static void dispatch(struct work *work, const struct kernel *kernel, NSUInteger size)
{
    work_pipeline(work, kernel);
    [work->compute setBuffer:app.data offset:0 atIndex:0];
    work_threads(work, MTLSizeMake(size, 1, 1), MTLSizeMake(4, 1, 1));
    work_threadgroups(work, MTLSizeMake(size, 1, 1), MTLSizeMake(8, 1, 1));
}

static void end(struct work *work)
{
    work_end_encoder(work);
    work_commit(work);
    work_wait(work);
    work_print(work);
}

static void on(id<MTLCommandQueue> queue, unsigned number, NSString *label, const struct kernel *kernel)
{
    struct work work = work_on([queue commandBuffer], number, app.command_buffers++);
    work_label(&work, label);
    work_compute(&work);
    dispatch(&work, kernel, 3 + app.command_buffers);
    end(&work);
}

// The command buffer is older than the library, its encoder is not.
static void old_buffer(struct work *work)
{
    work->number = app.command_buffers++;
    work->flags = "seen_late";
    work_compute(work);
    dispatch(work, &app.labelled, 100);
    end(work);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    @autoreleasepool {
        before();
        struct work made_before = work_on([app.old_queue commandBuffer], 0, 0);
        // Dispatches on this encoder end before it; what is seen of it is left open.
        id<MTLCommandBuffer> half_encoded = [app.old_queue commandBuffer];
        id<MTLComputeCommandEncoder> open = [half_encoded computeCommandEncoder];
        if (strcmp(argv[1], "-") != 0 && !dlopen(argv[1], RTLD_NOW | RTLD_LOCAL))
            return 3;
        on(app.old_queue, 0, @"old queue, old pipeline", &app.labelled);
        on(app.old_queue, 0, @"old queue, pipeline without a name", &app.plain);
        work_label(&made_before, @"old buffer");
        old_buffer(&made_before);
        app.later = (struct kernel){make_pipeline(@"late", nil), "late"};
        app.new_queue = [app.device newCommandQueue];
        [app.new_queue setLabel:@"new queue"];
        on(app.new_queue, 1, @"new queue, new pipeline", &app.later);
        [open setComputePipelineState:app.plain.state];
        [open setBuffer:app.data offset:0 atIndex:0];
        [open dispatchThreads:MTLSizeMake(5, 1, 1) threadsPerThreadgroup:MTLSizeMake(5, 1, 1)];
        [open endEncoding];
        [half_encoded setLabel:@"half encoded"];
        [half_encoded commit];
        [half_encoded waitUntilCompleted];
        const id owned[] = {app.labelled.state, app.plain.state, app.later.state, app.old_queue,
                            app.new_queue,      app.library,     app.data,        app.device};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
            [owned[i] release];
    }
    return 0;
}
