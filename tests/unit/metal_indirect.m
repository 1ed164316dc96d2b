// SPDX-License-Identifier: MIT
// Indirect command buffers: recorded dispatches in both forms, own and inherited state, ranges, reset,
// copies, and ranges that come from a buffer.
#include "msl/harness.h"

enum { COUNT = 4, WORDS = 32 };

static const char source[] = "kernel void add(device int *a [[buffer(0)]], constant int &n [[buffer(1)]],\n"
                             "                uint i [[thread_position_in_grid]]) { a[i] += n; }\n";

static id<MTLComputePipelineState> pipeline;
static id<MTLBuffer> memory, numbers; // COUNT rows of WORDS; 1, 10, 100, 1000

static id<MTLIndirectCommandBuffer> commands(MTLIndirectCommandType type, BOOL inherits)
{
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:type];
    [descriptor setInheritBuffers:inherits];
    [descriptor setInheritPipelineState:inherits];
    [descriptor setMaxKernelBufferBindCount:2];
    id<MTLIndirectCommandBuffer> made = [msl.device newIndirectCommandBufferWithDescriptor:descriptor
                                                                           maxCommandCount:COUNT
                                                                                   options:0];
    CHECK_EQ([made size], COUNT);
    CHECK([made gpuResourceID]._impl != 0);
    return [made autorelease];
}

// Command i adds numbers[i] to row i.
static void record(id<MTLIndirectCommandBuffer> buffer, NSUInteger i, bool inherits, bool in_threads)
{
    const MTLSize one = {1, 1, 1}, row = {WORDS, 1, 1}, half = {WORDS / 2, 1, 1}, two = {2, 1, 1};
    id<MTLIndirectComputeCommand> command = [buffer indirectComputeCommandAtIndex:i];
    if (!inherits) {
        [command setComputePipelineState:pipeline];
        [command setKernelBuffer:memory offset:i * WORDS * 4 atIndex:0];
        [command setKernelBuffer:numbers offset:i * 4 atIndex:1];
    }
    [command setBarrier];
    if (in_threads)
        [command concurrentDispatchThreads:row threadsPerThreadgroup:one];
    else
        [command concurrentDispatchThreadgroups:two threadsPerThreadgroup:half];
}

static id<MTLCommandBuffer> run(void (^encode)(id<MTLComputeCommandEncoder> encoder))
{
    memset([memory contents], 0, [memory length]);
    id<MTLCommandBuffer> done = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [done computeCommandEncoder];
    encode(encoder);
    [encoder endEncoding];
    [done commit];
    [done waitUntilCompleted];
    return done;
}

// The first and the last word of each row.
static void expect(int a, int b, int c, int d)
{
    const int want[COUNT] = {a, b, c, d}, *got = [memory contents];
    for (int i = 0; i < COUNT; i++) {
        CHECK_EQ(got[i * WORDS], want[i]);
        CHECK_EQ(got[i * WORDS + WORDS - 1], want[i]);
    }
}

static void forms(void)
{
    const MTLIndirectCommandType types[] = {MTLIndirectCommandTypeConcurrentDispatch,
                                            MTLIndirectCommandTypeConcurrentDispatchThreads};
    for (int form = 0; form < 2; form++) {
        id<MTLIndirectCommandBuffer> buffer = commands(types[form], NO);
        for (NSUInteger i = 0; i < COUNT; i++)
            record(buffer, i, false, form == 1);
        [[buffer indirectComputeCommandAtIndex:1] reset];
        run(^(id<MTLComputeCommandEncoder> encoder) {
            [encoder executeCommandsInBuffer:buffer withRange:NSMakeRange(0, COUNT)];
        });
        expect(1, 0, 100, 1000);
        run(^(id<MTLComputeCommandEncoder> encoder) {
            [encoder executeCommandsInBuffer:buffer withRange:NSMakeRange(2, 1)];
        });
        expect(0, 0, 100, 0);
        [buffer resetWithRange:NSMakeRange(0, COUNT)];
        run(^(id<MTLComputeCommandEncoder> encoder) {
            [encoder executeCommandsInBuffer:buffer withRange:NSMakeRange(0, COUNT)];
        });
        expect(0, 0, 0, 0);
    }
}

static void inherited(void)
{
    id<MTLIndirectCommandBuffer> buffer = commands(MTLIndirectCommandTypeConcurrentDispatch, YES);
    for (NSUInteger i = 0; i < 3; i++)
        record(buffer, i, true, false);
    run(^(id<MTLComputeCommandEncoder> encoder) {
        [encoder setComputePipelineState:pipeline];
        [encoder setBuffer:memory offset:0 atIndex:0];
        [encoder setBuffer:numbers offset:4 atIndex:1];
        [encoder executeCommandsInBuffer:buffer withRange:NSMakeRange(0, COUNT)];
    });
    expect(30, 0, 0, 0);
}

static void ranges_in_a_buffer(void)
{
    id<MTLIndirectCommandBuffer> buffer = commands(MTLIndirectCommandTypeConcurrentDispatch, NO);
    for (NSUInteger i = 0; i < COUNT; i++)
        record(buffer, i, false, false);
    const uint32_t ranges[] = {77, 1, 2, 3, 9};
    id<MTLBuffer> where = [msl.device newBufferWithBytes:ranges length:sizeof ranges options:0];
    run(^(id<MTLComputeCommandEncoder> encoder) {
        [encoder executeCommandsInBuffer:buffer indirectBuffer:where indirectBufferOffset:4];
    });
    expect(0, 10, 100, 0);
    id<MTLCommandBuffer> bad = run(^(id<MTLComputeCommandEncoder> encoder) {
        [encoder executeCommandsInBuffer:buffer indirectBuffer:where indirectBufferOffset:12];
    });
    CHECK_EQ([bad status], MTLCommandBufferStatusError);
    CHECK_HAS([[[bad error] localizedDescription] UTF8String], "outside the indirect command buffer");
    [where release];
}

static void copies(void)
{
    id<MTLIndirectCommandBuffer> from = commands(MTLIndirectCommandTypeConcurrentDispatch, NO);
    id<MTLIndirectCommandBuffer> to = commands(MTLIndirectCommandTypeConcurrentDispatch, NO);
    for (NSUInteger i = 0; i < COUNT; i++)
        record(from, i, false, false);
    @autoreleasepool {
        id<MTLCommandBuffer> done = [msl.queue commandBuffer];
        id<MTLBlitCommandEncoder> blit = [done blitCommandEncoder];
        [blit copyIndirectCommandBuffer:from sourceRange:NSMakeRange(1, 2) destination:to destinationIndex:0];
        [blit resetCommandsInBuffer:from withRange:NSMakeRange(0, 3)];
        [blit optimizeIndirectCommandBuffer:to withRange:NSMakeRange(0, COUNT)];
        [blit endEncoding];
        [done commit];
        [done waitUntilCompleted];
    }
    run(^(id<MTLComputeCommandEncoder> encoder) {
        [encoder executeCommandsInBuffer:to withRange:NSMakeRange(0, COUNT)];
        [encoder executeCommandsInBuffer:from withRange:NSMakeRange(0, COUNT)];
    });
    expect(0, 10, 100, 1000);
}

int main(void)
{
    msl_source(source);
    const int values[COUNT] = {1, 10, 100, 1000};
    memory = [msl.device newBufferWithLength:COUNT * WORDS * 4 options:0];
    numbers = [msl.device newBufferWithBytes:values length:sizeof values options:0];
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
    [descriptor setComputeFunction:[[msl.library newFunctionWithName:@"add"] autorelease]];
    [descriptor setSupportIndirectCommandBuffers:YES];
    pipeline = [msl.device newComputePipelineStateWithDescriptor:descriptor
                                                         options:0
                                                      reflection:NULL
                                                           error:NULL];
    forms();
    inherited();
    ranges_in_a_buffer();
    copies();
    [memory release];
    [numbers release];
    [pipeline release];
    return msl_end();
}
