// SPDX-License-Identifier: MIT
// What encoders record is what runs: bindings as they were at each dispatch, serial and concurrent encoders,
// both dispatch forms, sizes from buffers, indirect commands, copies and fills, fences and barriers.
#include "unit/submit_support.h"

enum { WORDS = 128 };
static id<MTLBuffer> memory;

static int *words(void)
{
    return [memory contents];
}

static id<MTLComputeCommandEncoder> begin(id<MTLCommandBuffer> commands, const char *kernel)
{
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:submit_pipeline(kernel)];
    [encoder setBuffer:memory offset:0 atIndex:0];
    return encoder;
}

// Every dispatch has what was bound when it was encoded, not what is bound at the end.
static void bindings(void)
{
    memset(words(), 0, WORDS * 4);
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = begin(commands, "add");
    int number = 5;
    [encoder setBytes:&number length:sizeof number atIndex:1];
    number = 1000; // what was set is a copy
    submit_threads(encoder, 10);
    [encoder setBufferOffset:40 atIndex:0];
    submit_threads(encoder, 10);
    [encoder setBytes:&number length:sizeof number atIndex:1];
    submit_threads(encoder, 1);
    id<MTLBuffer> both[2] = {memory, [[msl.device newBufferWithBytes:&number length:4
                                                             options:0] autorelease]};
    const NSUInteger offsets[2] = {80, 0};
    [encoder setBuffers:both offsets:offsets withRange:NSMakeRange(0, 2)];
    submit_threads(encoder, 1);
    [encoder setComputePipelineState:submit_pipeline("increase")];
    submit_threads(encoder, 2);
    [encoder endEncoding];
    submit_finish(commands);
    CHECK_EQ(words()[0], 5);
    CHECK_EQ(words()[9], 5);
    CHECK_EQ(words()[10], 1005);
    CHECK_EQ(words()[19], 5);
    CHECK_EQ(words()[20], 1001);
    CHECK_EQ(words()[21], 1);
    CHECK_EQ(words()[22], 0);
}

static void forms(void)
{
    memset(words(), 0, WORDS * 4);
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = begin(commands, "increase");
    [encoder dispatchThreads:MTLSizeMake(33, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder dispatchThreadgroups:MTLSizeMake(2, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
    submit_finish(commands);
    CHECK_EQ(words()[32], 2);
    CHECK_EQ(words()[33], 1);
    CHECK_EQ(words()[63], 1);
    CHECK_EQ(words()[64], 0);
}

// Within a barrier's two sides any order will do: the sum does not tell.
static void serial_and_concurrent(void)
{
    for (int concurrent = 0; concurrent < 2; concurrent++) {
        const MTLDispatchType type = concurrent ? MTLDispatchTypeConcurrent : MTLDispatchTypeSerial;
        memset(words(), 0, WORDS * 4);
        id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDispatchType:type];
        CHECK_EQ([encoder dispatchType], type);
        [encoder setComputePipelineState:submit_pipeline("mix_in")];
        [encoder setBuffer:memory offset:0 atIndex:0];
        for (unsigned i = 1; i <= 20; i++) {
            [encoder setBytes:&i length:sizeof i atIndex:1];
            submit_threads(encoder, 1);
            if (i % 2)
                [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
            else
                [encoder memoryBarrierWithResources:&memory count:1];
        }
        [encoder endEncoding];
        submit_finish(commands);
        CHECK_EQ((unsigned)words()[0], submit_mixed(20));
        CHECK_EQ([encoder dispatchType], type); // the encoder may outlive what it recorded
    }
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    [pass setDispatchType:MTLDispatchTypeConcurrent];
    id<MTLComputeCommandEncoder> encoder =
        [[msl.queue commandBuffer] computeCommandEncoderWithDescriptor:pass];
    CHECK_EQ([encoder dispatchType], MTLDispatchTypeConcurrent);
    [encoder endEncoding];
}

// The number of threadgroups is read when the GPU gets there: an earlier encoder may write it.
static void sizes_from_a_buffer(void)
{
    memset(words(), 0, WORDS * 4);
    id<MTLBuffer> sizes = [[msl.device newBufferWithLength:64 options:0] autorelease];
    uint32_t *size = [sizes contents];
    size[5] = size[6] = 1;
    size[8] = 0, size[9] = size[10] = 1; // nothing to do
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = begin(commands, "add");
    [encoder setBuffer:sizes offset:16 atIndex:0];
    [encoder setBytes:&(int){3} length:4 atIndex:1];
    submit_threads(encoder, 1);
    [encoder endEncoding];
    encoder = begin(commands, "increase");
    for (NSUInteger offset = 16; offset <= 32; offset += 16)
        [encoder dispatchThreadgroupsWithIndirectBuffer:sizes
                                   indirectBufferOffset:offset
                                  threadsPerThreadgroup:MTLSizeMake(10, 1, 1)];
    [encoder endEncoding];
    submit_finish(commands);
    CHECK_EQ(words()[0], 1);
    CHECK_EQ(words()[29], 1);
    CHECK_EQ(words()[30], 0);
}

static id<MTLIndirectCommandBuffer> new_commands(void)
{
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:MTLIndirectCommandTypeConcurrentDispatch];
    [descriptor setInheritBuffers:NO];
    [descriptor setInheritPipelineState:YES];
    [descriptor setMaxKernelBufferBindCount:1];
    id<MTLIndirectCommandBuffer> icb = [msl.device newIndirectCommandBufferWithDescriptor:descriptor
                                                                          maxCommandCount:4
                                                                                  options:0];
    for (NSUInteger i = 0; i < 2; i++) {
        id<MTLIndirectComputeCommand> command = [icb indirectComputeCommandAtIndex:i];
        [command setKernelBuffer:memory offset:64 * i atIndex:0];
        [command concurrentDispatchThreadgroups:MTLSizeMake(1, 1, 1)
                          threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    }
    return icb;
}

static void execute(id<MTLCommandBuffer> commands, id<MTLIndirectCommandBuffer> icb, NSRange range)
{
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:submit_pipeline("increase")];
    [encoder useResource:memory usage:MTLResourceUsageWrite];
    [encoder executeCommandsInBuffer:icb withRange:range];
    [encoder endEncoding];
}

// Blits change the commands between two encoders that execute them.
static void indirect_commands(void)
{
    memset(words(), 0, WORDS * 4);
    id<MTLIndirectCommandBuffer> icb = new_commands();
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    execute(commands, icb, NSMakeRange(0, 4)); // two of them are empty
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyIndirectCommandBuffer:icb sourceRange:NSMakeRange(1, 1) destination:icb destinationIndex:3];
    [blit resetCommandsInBuffer:icb withRange:NSMakeRange(0, 1)];
    [blit optimizeIndirectCommandBuffer:icb withRange:NSMakeRange(0, 4)];
    [blit endEncoding];
    execute(commands, icb, NSMakeRange(0, 4)); // the second command and its copy
    submit_finish(commands);
    CHECK_EQ(words()[0], 1);
    CHECK_EQ(words()[4], 0);
    CHECK_EQ(words()[16], 3);
    CHECK_EQ(words()[19], 3);
    [icb release];
}

// Copy, compute, copy: each sees what the one before it left. The fence says so once more.
static void blits_and_fences(void)
{
    memset(words(), 0, WORDS * 4);
    id<MTLFence> fence = [msl.device newFence];
    NSUInteger references = [fence retainCount];
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:memory range:NSMakeRange(8, 8) value:0x7f];
    [blit updateFence:fence];
    [blit endEncoding];
    id<MTLComputeCommandEncoder> encoder = begin(commands, "increase");
    [encoder waitForFence:fence];
    submit_threads(encoder, 4);
    [encoder updateFence:fence];
    [encoder endEncoding];
    blit = [commands blitCommandEncoder];
    [blit waitForFence:fence];
    [blit copyFromBuffer:memory sourceOffset:4 toBuffer:memory destinationOffset:100 size:8];
    [blit endEncoding];
    CHECK_INT([fence retainCount], >, references); // the command buffer keeps it
    submit_finish(commands);
    CHECK_EQ([fence retainCount], references);
    CHECK_EQ(words()[1], 1);
    CHECK_EQ(words()[2], 0x7f7f7f80);
    CHECK_EQ(words()[4], 0);
    CHECK_EQ(words()[25], 1);
    CHECK_EQ(words()[26], 0x7f7f7f80);
    CHECK_EQ(words()[27], 0);
    [fence release];
}

// The driver copies as if through a second buffer. With wrappers an overlap is refused (misuse_submission).
static void overlapping_copy(void)
{
    const char *depth = getenv("SOFTMETAL_DEBUG_LAYER");
    if (depth && strcmp(depth, "0") != 0)
        return;
    for (int i = 0; i < WORDS; i++)
        words()[i] = i;
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit copyFromBuffer:memory sourceOffset:0 toBuffer:memory destinationOffset:4 size:400];
    [blit endEncoding];
    submit_finish(commands);
    CHECK_EQ(words()[0], 0);
    CHECK_EQ(words()[1], 0);
    CHECK_EQ(words()[100], 99);
}

int main(void)
{
    submit_start();
    memory = [msl.device newBufferWithLength:WORDS * 4 options:MTLResourceStorageModeShared];
    bindings();
    forms();
    serial_and_concurrent();
    sizes_from_a_buffer();
    indirect_commands();
    blits_and_fences();
    overlapping_copy();
    [memory release];
    return msl_end();
}
