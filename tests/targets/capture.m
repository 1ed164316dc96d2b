// SPDX-License-Identifier: MIT
// Takes captures in the current folder, one way per run: capture WAY. Prints what the capture manager
// answers; what it wrote is for the test to look at. It never fails by itself.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static id<MTLDevice> device;
static id<MTLCommandQueue> first_queue, second_queue;
static id<MTLBuffer> memory;
static MTLCaptureManager *manager;

static NSURL *url(NSString *name)
{
    NSString *folder = [[NSFileManager defaultManager] currentDirectoryPath];
    return [NSURL fileURLWithPath:[folder stringByAppendingPathComponent:name]];
}

// ---- command buffers ----
static id<MTLComputePipelineState> pipeline(NSString *source, NSString *name)
{
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    id<MTLFunction> function = [[library newFunctionWithName:name] autorelease];
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
    [descriptor setComputeFunction:function];
    [descriptor setSupportIndirectCommandBuffers:YES];
    id<MTLComputePipelineState> state = function ? [device newComputePipelineStateWithDescriptor:descriptor
                                                                                         options:0
                                                                                      reflection:NULL
                                                                                           error:&error]
                                                 : nil;
    [library release];
    if (!state)
        fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]);
    return [state autorelease];
}

static NSString *const text_one = @"kernel void work(device int *a [[buffer(0)]]) { a[0] = 1; }\n"
                                  @"kernel void unused(device int *a [[buffer(0)]]) { a[0] = 0; }\n";
static NSString *const text_two = @"kernel void work(device int *a [[buffer(0)]]) { a[1] = 1; }\n";
static NSString *const text_three = @"kernel void recorded(device int *a [[buffer(0)]]) { a[2] = 1; }\n";

static id<MTLCommandBuffer> filled(id<MTLCommandQueue> queue, NSString *label)
{
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands setLabel:label];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder setLabel:@"fill"];
    [encoder fillBuffer:memory range:NSMakeRange(0, 64) value:0];
    [encoder endEncoding];
    return commands;
}

static void finish(id<MTLCommandBuffer> commands)
{
    [commands commit];
    [commands waitUntilCompleted];
}

// ---- the manager ----
static MTLCaptureDescriptor *wish(id object, NSString *name)
{
    MTLCaptureDescriptor *descriptor = [[MTLCaptureDescriptor new] autorelease];
    [descriptor setCaptureObject:object];
    [descriptor setDestination:MTLCaptureDestinationGPUTraceDocument];
    [descriptor setOutputURL:name ? url(name) : nil];
    return descriptor;
}

static BOOL start(const char *what, MTLCaptureDescriptor *descriptor)
{
    NSError *error = nil;
    BOOL is_started = [manager startCaptureWithDescriptor:descriptor error:&error];
    if (is_started)
        printf("%s: started, capturing %d, error %s\n", what, [manager isCapturing], error ? "too" : "none");
    else
        printf("%s: %s %d %s\n", what, [[error domain] UTF8String], (int)[error code],
               [[error localizedDescription] UTF8String]);
    return is_started;
}

static void stop(void)
{
    [manager stopCapture];
    printf("stopped, capturing %d\n", [manager isCapturing]);
}

// ---- the ways ----
static void errors(void)
{
    printf("supports documents %d, developer tools %d\n",
           [manager supportsDestination:MTLCaptureDestinationGPUTraceDocument],
           [manager supportsDestination:MTLCaptureDestinationDeveloperTools]);
    start("no object", wish(nil, @"a.gputrace"));
    start("wrong object", wish(@"text", @"a.gputrace"));
    start("no URL", wish(device, nil));
    MTLCaptureDescriptor *descriptor = wish(device, nil);
    [descriptor setOutputURL:[NSURL URLWithString:@"http://localhost/a.gputrace"]];
    start("no file URL", descriptor);
    [[NSFileManager defaultManager] createDirectoryAtPath:@"there" attributes:nil];
    start("existing path", wish(device, @"there"));
    descriptor = wish(device, @"a.gputrace");
    [descriptor setDestination:MTLCaptureDestinationDeveloperTools];
    start("developer tools", descriptor);
    [manager startCaptureWithDevice:device];
    printf("older form, capturing %d\n", [manager isCapturing]);
    [manager stopCapture];
    if (!start("right", wish(device, @"a.gputrace")))
        return;
    start("second", wish(device, @"b.gputrace"));
    stop();
    start("again", wish(device, @"a.gputrace"));
}

// Only what is made after the start and committed before the stop.
static void span(void)
{
    id<MTLCommandBuffer> early = filled(first_queue, @"early");
    start("span", wish(device, @"span.gputrace"));
    finish(early);
    id<MTLCommandBuffer> one = filled(first_queue, @"one"), two = filled(second_queue, @"two");
    id<MTLCommandBuffer> late = filled(first_queue, @"late"), dropped = filled(first_queue, @"dropped");
    (void)dropped;
    finish(two);
    finish(one);
    stop();
    finish(late);
    start("empty", wish(device, @"empty.gputrace"));
    stop();
}

static void queue(void)
{
    start("queue", wish(first_queue, @"queue.gputrace"));
    finish(filled(first_queue, @"mine"));
    finish(filled(second_queue, @"other"));
    stop();
}

static void scope_of(id<MTLCaptureScope> scope, NSString *name)
{
    [scope setLabel:@"the scope"];
    start([name UTF8String], wish(scope, name));
    finish(filled(first_queue, @"before"));
    [scope beginScope];
    finish(filled(first_queue, @"in"));
    finish(filled(second_queue, @"in, other queue"));
    [scope endScope];
    printf("ended, capturing %d\n", [manager isCapturing]);
    finish(filled(first_queue, @"after"));
    [scope release];
}

static void scopes(void)
{
    id<MTLCaptureScope> scope = [manager newCaptureScopeWithCommandQueue:first_queue];
    [manager setDefaultCaptureScope:scope];
    printf("default scope %d, its queue %d\n", [manager defaultCaptureScope] == scope,
           [scope commandQueue] == first_queue);
    scope_of(scope, @"scope-queue.gputrace");
    scope_of([manager newCaptureScopeWithDevice:device], @"scope-device.gputrace");
    [manager setDefaultCaptureScope:nil];
}

static void encode_dispatches(id<MTLCommandBuffer> commands)
{
    const MTLSize one = {1, 1, 1};
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setLabel:@"compute \"1\""];
    [encoder setComputePipelineState:pipeline(text_one, @"unused")];
    [encoder setComputePipelineState:pipeline(text_one, @"work")];
    [encoder setBuffer:memory offset:0 atIndex:0];
    [encoder setThreadgroupMemoryLength:32 atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(5, 2, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder pushDebugGroup:@"outer"];
    [encoder pushDebugGroup:@"inner"];
    [encoder setComputePipelineState:pipeline(text_two, @"work")];
    [encoder dispatchThreadgroups:MTLSizeMake(3, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    [encoder popDebugGroup];
    [encoder popDebugGroup];
    id<MTLBuffer> counts = [device newBufferWithBytes:(uint32_t[]){1, 1, 1} length:12 options:0];
    [encoder dispatchThreadgroupsWithIndirectBuffer:counts indirectBufferOffset:0 threadsPerThreadgroup:one];
    [counts release];
    [encoder endEncoding];
}

static void encode_recorded(id<MTLCommandBuffer> commands, id<MTLIndirectCommandBuffer> recorded)
{
    const MTLSize one = {1, 1, 1};
    id<MTLIndirectComputeCommand> command = [recorded indirectComputeCommandAtIndex:0];
    [command setComputePipelineState:pipeline(text_three, @"recorded")];
    [command setKernelBuffer:memory offset:0 atIndex:0];
    [command concurrentDispatchThreadgroups:one threadsPerThreadgroup:one];
    id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    [encoder executeCommandsInBuffer:recorded withRange:NSMakeRange(0, 2)];
    [encoder endEncoding];
}

static void contents(void)
{
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:MTLIndirectCommandTypeConcurrentDispatch];
    [descriptor setInheritBuffers:NO];
    [descriptor setInheritPipelineState:NO];
    [descriptor setMaxKernelBufferBindCount:1];
    id<MTLIndirectCommandBuffer> recorded = [device newIndirectCommandBufferWithDescriptor:descriptor
                                                                           maxCommandCount:2
                                                                                   options:0];
    start("contents", wish(device, @"contents.gputrace"));
    id<MTLCommandBuffer> commands = [first_queue commandBuffer];
    [commands setLabel:@"all kinds"];
    encode_dispatches(commands);
    encode_recorded(commands, recorded);
    finish(commands);
    stop();
    printf("status %d, a: %d %d %d\n", (int)[commands status], ((int *)[memory contents])[0],
           ((int *)[memory contents])[1], ((int *)[memory contents])[2]);
    [recorded release];
}

// Somebody else takes the path while the capture runs: what is there stays.
static void taken(void)
{
    start("taken", wish(device, @"taken.gputrace"));
    finish(filled(first_queue, @"one"));
    [[NSFileManager defaultManager] createDirectoryAtPath:@"taken.gputrace" attributes:nil];
    stop();
}

// The variable counts at the first device only.
static void late_enabling(void)
{
    setenv("METAL_CAPTURE_ENABLED", "1", 1);
    start("late", wish(device, @"late.gputrace"));
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"errors", errors},     {"span", span},   {"queue", queue},       {"scopes", scopes},
            {"contents", contents}, {"taken", taken}, {"late", late_enabling}};

int main(int argc, char **argv)
{
    int known = 0;
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        memory = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
        first_queue = [device newCommandQueue];
        second_queue = [device newCommandQueue];
        [first_queue setLabel:@"first"];
        manager = [MTLCaptureManager sharedCaptureManager];
        for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++) {
            if (strcmp(argv[1], ways[i].name) == 0) {
                ways[i].run();
                known = 1;
            }
        }
    }
    return known ? 0 : 2;
}
