// SPDX-License-Identifier: MIT
// What goes wrong while a command buffer runs is told by that command buffer alone: domain, code, text, the
// state of each encoder. What comes behind it runs, and what it would have signalled is signalled.
#include "unit/submit_support.h"

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void increase(device int *out [[buffer(0)]]) { out[0]++; }\n"
    "kernel void stray(device int *out [[buffer(0)]], constant int &at [[buffer(1)]]) { out[at] = 1; }\n";

enum { BYTES = 16384 }; // whole pages: behind the last byte is the guard
static id<MTLBuffer> memory;

static int value(void)
{
    return *(int *)[memory contents];
}

static id<MTLComputeCommandEncoder> begin(id<MTLCommandBuffer> commands, const char *kernel)
{
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:submit_pipeline(kernel)];
    [encoder setBuffer:memory offset:0 atIndex:0];
    return encoder;
}

// Three encoders; the second runs this kernel, the others increase the first word.
static void encode(id<MTLCommandBuffer> commands, const char *kernel)
{
    const char *names[3] = {"increase", kernel, "increase"};
    for (int i = 0; i < 3; i++) {
        id<MTLComputeCommandEncoder> encoder = begin(commands, names[i]);
        [encoder setLabel:[NSString stringWithFormat:@"encoder %d", i]];
        [encoder insertDebugSignpost:[NSString stringWithFormat:@"mark %d", i]];
        [encoder setBytes:&(int){BYTES / 4} length:4 atIndex:1]; // where the stray one writes
        submit_threads(encoder, 1);
        [encoder endEncoding];
    }
}

static id<MTLCommandBuffer> run(const char *kernel, MTLCommandBufferErrorOption options)
{
    MTLCommandBufferDescriptor *descriptor = [[MTLCommandBufferDescriptor new] autorelease];
    [descriptor setErrorOptions:options];
    id<MTLCommandBuffer> commands = [msl.queue commandBufferWithDescriptor:descriptor];
    CHECK_EQ([commands errorOptions], options);
    encode(commands, kernel);
    [commands commit];
    [commands waitUntilCompleted];
    return commands;
}

static void check_error(id<MTLCommandBuffer> commands, MTLCommandBufferError code, const char *text)
{
    NSError *error = [commands error];
    CHECK_EQ([commands status], MTLCommandBufferStatusError);
    CHECK_STR([[error domain] UTF8String], "MTLCommandBufferErrorDomain");
    CHECK_EQ([error code], code);
    CHECK_HAS([[error localizedDescription] UTF8String], text);
    CHECK([commands GPUStartTime] > 0 && [commands GPUEndTime] >= [commands GPUStartTime]);
}

// The first of the process is well, the second fails by SOFTMETAL_FAULT: nothing of it runs but its signals.
static void injected(void)
{
    CHECK_EQ([run("increase", 0) status], MTLCommandBufferStatusCompleted);
    CHECK_EQ(value(), 3);
    id<MTLSharedEvent> event = [msl.device newSharedEvent];
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    encode(commands, "increase");
    [commands encodeSignalEvent:event value:1];
    [commands commit];
    [commands waitUntilCompleted];
    check_error(commands, MTLCommandBufferErrorInternal, "Internal Error: fault injected by");
    CHECK_EQ(value(), 3);
    CHECK_EQ([event signaledValue], 1);
    [event release];
}

static void encoder_states(void)
{
    static const MTLCommandEncoderErrorState states[3] = {MTLCommandEncoderErrorStateCompleted,
                                                          MTLCommandEncoderErrorStateFaulted,
                                                          MTLCommandEncoderErrorStatePending};
    static const char *const names[3] = {"encoder 0: completed", "encoder 1: faulted", "encoder 2: pending"};
    int before = value();
    id<MTLCommandBuffer> bad = run("stray", MTLCommandBufferErrorOptionEncoderExecutionStatus);
    check_error(bad, MTLCommandBufferErrorPageFault, "Caused GPU Address Fault Error: ");
    CHECK_HAS([[[bad error] localizedDescription] UTF8String], "stray");
    CHECK_EQ(value(), before + 1); // the encoder before it ran, the one behind it did not
    NSArray *infos = [[[bad error] userInfo] objectForKey:MTLCommandBufferEncoderInfoErrorKey];
    if (!CHECK_EQ([infos count], 3))
        return;
    for (NSUInteger i = 0; i < 3; i++) {
        id<MTLCommandBufferEncoderInfo> info = [infos objectAtIndex:i];
        CHECK_EQ([info errorState], states[i]);
        CHECK_STR([[info description] UTF8String], names[i]);
        CHECK_EQ([[info debugSignposts] count], 1);
        CHECK_EQ([[[info debugSignposts] lastObject] characterAtIndex:5], '0' + i);
    }
    bad = run("stray", MTLCommandBufferErrorOptionNone);
    check_error(bad, MTLCommandBufferErrorPageFault, "stray");
    CHECK([[[bad error] userInfo] objectForKey:MTLCommandBufferEncoderInfoErrorKey] == nil);
}

// Committed before it and behind it, on its queue and on another one.
static void fails_alone(void)
{
    id<MTLCommandQueue> other = [msl.device newCommandQueue];
    id<MTLSharedEvent> event = [msl.device newSharedEvent];
    id<MTLCommandBuffer> before = [msl.queue commandBuffer], bad = [msl.queue commandBuffer];
    id<MTLCommandBuffer> behind = [msl.queue commandBuffer], beside = [other commandBuffer];
    int start = value();
    encode(before, "increase");
    encode(bad, "stray");
    [bad encodeSignalEvent:event value:4]; // behind the fault: nobody may wait for ever
    encode(behind, "increase");
    [beside encodeWaitForEvent:event value:4];
    [beside commit];
    [before commit];
    [bad commit];
    [behind commit];
    [behind waitUntilCompleted];
    [beside waitUntilCompleted];
    CHECK_EQ([before status], MTLCommandBufferStatusCompleted);
    check_error(bad, MTLCommandBufferErrorPageFault, "stray");
    CHECK_EQ([behind status], MTLCommandBufferStatusCompleted);
    CHECK_EQ([beside status], MTLCommandBufferStatusCompleted);
    CHECK([before error] == nil && [behind error] == nil && [beside error] == nil);
    CHECK_EQ(value(), start + 3 + 1 + 3);
    [event release];
    [other release];
}

// What only the GPU can see: sizes in a buffer, and commands that have no pipeline.
static void invalid_arguments(void)
{
    const uint32_t huge[3] = {1, 1u << 31, 1};
    id<MTLBuffer> sizes = [[msl.device newBufferWithBytes:huge length:sizeof huge options:0] autorelease];
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = begin(commands, "increase");
    [encoder dispatchThreadgroupsWithIndirectBuffer:sizes
                               indirectBufferOffset:0
                              threadsPerThreadgroup:MTLSizeMake(1, 2, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    check_error(commands, MTLCommandBufferErrorInvalidResource,
                "Invalid Resource: the threadgroupsPerGrid in the indirect buffer are too large");

    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:MTLIndirectCommandTypeConcurrentDispatch];
    [descriptor setInheritBuffers:YES];
    [descriptor setInheritPipelineState:YES];
    id<MTLIndirectCommandBuffer> icb = [msl.device newIndirectCommandBufferWithDescriptor:descriptor
                                                                          maxCommandCount:1
                                                                                  options:0];
    [[icb indirectComputeCommandAtIndex:0] concurrentDispatchThreadgroups:MTLSizeMake(1, 1, 1)
                                                    threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
    commands = [msl.queue commandBuffer];
    encoder = [commands computeCommandEncoder];
    [encoder executeCommandsInBuffer:icb withRange:NSMakeRange(0, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    check_error(commands, MTLCommandBufferErrorInvalidResource,
                "Invalid Resource: a command of the indirect command buffer has no pipeline");
    [icb release];
}

int main(void)
{
    setenv("SOFTMETAL_FAULT", "fail-cb:1", 1);
    setenv("SOFTMETAL_VALIDATE", "1", 1); // without it a bad access ends the process
    msl_start();
    msl_source(source);
    memory = [msl.device newBufferWithLength:BYTES options:0];
    injected();
    encoder_states();
    fails_alone();
    invalid_arguments();
    CHECK_EQ([run("increase", 0) status], MTLCommandBufferStatusCompleted);
    [memory release];
    return msl_end();
}
