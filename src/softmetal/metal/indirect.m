// SPDX-License-Identifier: MIT
// MTLIndirectCommandBuffer for compute: dispatches that are recorded once, by any thread, each command by one
// thread at a time, and executed by the queue's threads. Like Metal's, it does not keep buffers alive.
#import "metal/resource.h"

#include <stdlib.h>
#include <string.h>

@interface SMIndirectCommandBuffer : _SMResource<MTLIndirectCommandBuffer> {
  @public
    sm_indirect_command *commands; // pipelines are retained
    NSUInteger count;
    MTLIndirectCommandBufferDescriptor *descriptor; // own copy
    uint64_t _resource_id;
}
@end

// What the application holds while it records one command.
@interface SMIndirectComputeCommand : NSObject<MTLIndirectComputeCommand> {
    SMIndirectCommandBuffer *_owner; // retained
    sm_indirect_command *_command;
}
@end

static void clear_command(sm_indirect_command *command)
{
    [command->pipeline release];
    memset(command, 0, sizeof *command);
}

@implementation SMIndirectComputeCommand

- (instancetype)initWithOwner:(SMIndirectCommandBuffer *)owner index:(NSUInteger)index
{
    self = [super init];
    if (!self)
        return nil;
    _owner = [owner retain];
    _command = &owner->commands[index];
    return self;
}

- (void)dealloc
{
    [_owner release];
    [super dealloc];
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state
{
    sm_assert_metal(
        ![_owner->descriptor inheritPipelineState],
        "setComputePipelineState is not allowed: the indirect command buffer inherits its pipeline state.");
    sm_assert_metal(state != nil, "pipelineState must not be nil.");
    sm_assert_metal([state supportIndirectCommandBuffers],
                    "pipelineState must have been created with supportIndirectCommandBuffers set to YES.");
    [state retain];
    [_command->pipeline release];
    _command->pipeline = state;
}

- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index
{
    sm_assert_metal(![_owner->descriptor inheritBuffers],
                    "setKernelBuffer is not allowed: the indirect command buffer inherits its buffers.");
    sm_assert_metal(index < [_owner->descriptor maxKernelBufferBindCount] && index < SM_MAX_BUFFERS,
                    "buffer index %lu must be < maxKernelBufferBindCount (%lu).", (unsigned long)index,
                    (unsigned long)[_owner->descriptor maxKernelBufferBindCount]);
    sm_assert_metal(!buffer || offset < [buffer length], "offset(%lu) must be < [buffer length](%lu).",
                    (unsigned long)offset, (unsigned long)[buffer length]);
    _command->buffer[index] = sm_buffer_binding(buffer, offset);
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index
{
    sm_assert_metal(index < [_owner->descriptor maxKernelThreadgroupMemoryBindCount] &&
                        index < SM_MAX_BUFFERS,
                    "index %lu must be < maxKernelThreadgroupMemoryBindCount (%lu).", (unsigned long)index,
                    (unsigned long)[_owner->descriptor maxKernelThreadgroupMemoryBindCount]);
    sm_assert_metal(length % 16 == 0, "length(%lu) must be a multiple of 16 bytes.", (unsigned long)length);
    sm_assert_metal(length <= SM_MAX_THREADGROUP_BYTES, "length(%lu) must be <= %d.", (unsigned long)length,
                    SM_MAX_THREADGROUP_BYTES);
    _command->threadgroup_bytes[index] = (uint32_t)length;
}

- (void)dispatch:(MTLSize)grid group:(MTLSize)group inThreads:(bool)in_threads
{
    _command->threads_form = in_threads;
    _command->grid = grid;
    _command->group = group;
    _command->is_set = true;
}

- (void)concurrentDispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group
{
    sm_assert_metal([_owner->descriptor commandTypes] & MTLIndirectCommandTypeConcurrentDispatch,
                    "commandTypes of the indirect command buffer must have "
                    "MTLIndirectCommandTypeConcurrentDispatch.");
    [self dispatch:groups group:group inThreads:false];
}

- (void)concurrentDispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group
{
    sm_assert_metal([_owner->descriptor commandTypes] & MTLIndirectCommandTypeConcurrentDispatchThreads,
                    "commandTypes of the indirect command buffer must have "
                    "MTLIndirectCommandTypeConcurrentDispatchThreads.");
    [self dispatch:threads group:group inThreads:true];
}

- (void)setBarrier
{
    _command->barrier = true;
}

- (void)clearBarrier
{
    _command->barrier = false;
}

// Imageblocks and stage-in data are for tile and tessellation kernels; a compute kernel ignores them.
- (void)setImageblockWidth:(NSUInteger)width height:(NSUInteger)height
{
    (void)width;
    (void)height;
}

- (void)setStageInRegion:(MTLRegion)region
{
    (void)region;
}

- (void)reset
{
    clear_command(_command);
}

@end

@implementation SMIndirectCommandBuffer

- (instancetype)initWithDevice:(id<MTLDevice>)device
                    descriptor:(MTLIndirectCommandBufferDescriptor *)given
                         count:(NSUInteger)max_count
                       options:(MTLResourceOptions)options
{
    self = [super initWithDevice:device options:options];
    if (!self)
        return nil;
    descriptor = [given copy];
    _resource_id = sm_next_resource_id();
    commands = calloc(max_count, sizeof *commands);
    if (!commands) {
        [self release];
        return nil;
    }
    count = max_count;
    atomic_fetch_add(&((SMDevice *)_device)->allocated_bytes, [self allocatedSize]);
    return self;
}

- (void)dealloc
{
    for (NSUInteger i = 0; i < count; i++)
        clear_command(&commands[i]);
    atomic_fetch_sub(&((SMDevice *)_device)->allocated_bytes, [self allocatedSize]);
    free(commands);
    [descriptor release];
    [super dealloc];
}

- (NSUInteger)size
{
    return count;
}

- (NSUInteger)allocatedSize
{
    return count * sizeof *commands;
}

- (MTLResourceID)gpuResourceID
{
    return (MTLResourceID){_resource_id};
}

- (void)resetWithRange:(NSRange)range
{
    sm_assert_metal(range.location <= count && range.length <= count - range.location,
                    "range {%lu, %lu} is outside of the %lu commands.", (unsigned long)range.location,
                    (unsigned long)range.length, (unsigned long)count);
    for (NSUInteger i = 0; i < range.length; i++)
        clear_command(&commands[range.location + i]);
}

- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)index
{
    sm_assert_metal(index < count, "commandIndex(%lu) must be < size(%lu).", (unsigned long)index,
                    (unsigned long)count);
    return [[[SMIndirectComputeCommand alloc] initWithOwner:self index:index] autorelease];
}

@end

NSUInteger sm_icb_size(id<MTLIndirectCommandBuffer> icb)
{
    return ((SMIndirectCommandBuffer *)sm_debug_innermost(icb))->count;
}

const sm_indirect_command *sm_icb_command(id<MTLIndirectCommandBuffer> icb, NSUInteger i)
{
    return &((SMIndirectCommandBuffer *)sm_debug_innermost(icb))->commands[i];
}

BOOL sm_icb_inherits_pipeline(id<MTLIndirectCommandBuffer> icb)
{
    return [((SMIndirectCommandBuffer *)sm_debug_innermost(icb))->descriptor inheritPipelineState];
}

BOOL sm_icb_inherits_buffers(id<MTLIndirectCommandBuffer> icb)
{
    return [((SMIndirectCommandBuffer *)sm_debug_innermost(icb))->descriptor inheritBuffers];
}

void sm_icb_copy(id<MTLIndirectCommandBuffer> source, NSRange range, id<MTLIndirectCommandBuffer> destination,
                 NSUInteger index)
{
    SMIndirectCommandBuffer *from = sm_debug_innermost(source);
    SMIndirectCommandBuffer *to = sm_debug_innermost(destination);
    // Backwards when the ranges may overlap with the destination ahead, as memmove does.
    bool backwards = from == to && index > range.location;
    for (NSUInteger n = 0; n < range.length; n++) {
        NSUInteger i = backwards ? range.length - 1 - n : n;
        sm_indirect_command copy = from->commands[range.location + i];
        [copy.pipeline retain];
        clear_command(&to->commands[index + i]);
        to->commands[index + i] = copy;
    }
}

@implementation SMDevice (IndirectCommandBuffers)

- (id<MTLIndirectCommandBuffer>)newIndirectCommandBufferWithDescriptor:
                                    (MTLIndirectCommandBufferDescriptor *)descriptor
                                                       maxCommandCount:(NSUInteger)max_count
                                                               options:(MTLResourceOptions)options
{
    const NSUInteger compute =
        MTLIndirectCommandTypeConcurrentDispatch | MTLIndirectCommandTypeConcurrentDispatchThreads;
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    sm_assert_metal([descriptor commandTypes] != 0, "descriptor.commandTypes must not be 0.");
    sm_assert_metal(([descriptor commandTypes] & ~compute) == 0,
                    "descriptor.commandTypes(0x%lx): this device has compute commands only.",
                    (unsigned long)[descriptor commandTypes]);
    sm_assert_metal(max_count > 0 && max_count <= 16384, "maxCount(%lu) must be in 1 -> 16384.",
                    (unsigned long)max_count);
    sm_assert_metal([descriptor maxKernelBufferBindCount] <= SM_MAX_BUFFERS,
                    "maxKernelBufferBindCount(%lu) must be <= %d.",
                    (unsigned long)[descriptor maxKernelBufferBindCount], SM_MAX_BUFFERS);
    if (sm_allocation_fails())
        return nil;
    return [[SMIndirectCommandBuffer alloc] initWithDevice:self
                                                descriptor:descriptor
                                                     count:max_count
                                                   options:options];
}

@end
