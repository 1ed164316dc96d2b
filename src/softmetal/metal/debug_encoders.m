// SPDX-License-Identifier: MIT
// The debug layers' encoders. Runs on the thread that encodes.
#import "metal/debug_layer.h"

@implementation _SMLayerComputeCommandEncoder

- (instancetype)initWithInner:(id)object buffer:(_SMLayerCommandBuffer *)buffer
{
    self = [super initWithInner:object];
    if (self) {
        _inner = object;
        _buffer = [buffer retain];
    }
    return self;
}

- (void)dealloc
{
    _SMLayerCommandBuffer *buffer = _buffer;
    [super dealloc];
    [buffer release];
}

SM_PASS0(id<MTLDevice>, device)
SM_PASS0(NSString *, label)
SM_PASS1(void, setLabel, NSString *)
SM_PASS0(void, endEncoding)
SM_PASS1(void, insertDebugSignpost, NSString *)
SM_PASS1(void, pushDebugGroup, NSString *)
SM_PASS0(void, popDebugGroup)
SM_PASS0(MTLDispatchType, dispatchType)
SM_PASS1(void, setComputePipelineState, id<MTLComputePipelineState>)
SM_PASS3(void, setBytes, const void *, length, NSUInteger, atIndex, NSUInteger)
SM_PASS3(void, setBuffer, id<MTLBuffer>, offset, NSUInteger, atIndex, NSUInteger)
SM_PASS2(void, setBufferOffset, NSUInteger, atIndex, NSUInteger)
SM_PASS3(void, setBuffers, id<MTLBuffer> const *, offsets, const NSUInteger *, withRange, NSRange)
SM_PASS2(void, setTexture, id<MTLTexture>, atIndex, NSUInteger)
SM_PASS2(void, setTextures, id<MTLTexture> const *, withRange, NSRange)
SM_PASS2(void, setSamplerState, id<MTLSamplerState>, atIndex, NSUInteger)
SM_PASS2(void, setSamplerStates, id<MTLSamplerState> const *, withRange, NSRange)
SM_PASS4(void, setSamplerState, id<MTLSamplerState>, lodMinClamp, float, lodMaxClamp, float, atIndex,
         NSUInteger)
SM_PASS4(void, setSamplerStates, id<MTLSamplerState> const *, lodMinClamps, const float *, lodMaxClamps,
         const float *, withRange, NSRange)
SM_PASS2(void, setThreadgroupMemoryLength, NSUInteger, atIndex, NSUInteger)
SM_PASS2(void, dispatchThreadgroups, MTLSize, threadsPerThreadgroup, MTLSize)
SM_PASS3(void, dispatchThreadgroupsWithIndirectBuffer, id<MTLBuffer>, indirectBufferOffset, NSUInteger,
         threadsPerThreadgroup, MTLSize)
SM_PASS2(void, dispatchThreads, MTLSize, threadsPerThreadgroup, MTLSize)
SM_PASS1(void, updateFence, id<MTLFence>)
SM_PASS1(void, waitForFence, id<MTLFence>)
SM_PASS2(void, useResource, id<MTLResource>, usage, MTLResourceUsage)
SM_PASS3(void, useResources, id<MTLResource> const *, count, NSUInteger, usage, MTLResourceUsage)
SM_PASS1(void, useHeap, id<MTLHeap>)
SM_PASS2(void, useHeaps, id<MTLHeap> const *, count, NSUInteger)
SM_PASS2(void, executeCommandsInBuffer, id<MTLIndirectCommandBuffer>, withRange, NSRange)
SM_PASS3(void, executeCommandsInBuffer, id<MTLIndirectCommandBuffer>, indirectBuffer, id<MTLBuffer>,
         indirectBufferOffset, NSUInteger)
SM_PASS1(void, memoryBarrierWithScope, MTLBarrierScope)
SM_PASS2(void, memoryBarrierWithResources, id<MTLResource> const *, count, NSUInteger)
SM_PASS3(void, sampleCountersInBuffer, id<MTLCounterSampleBuffer>, atSampleIndex, NSUInteger, withBarrier,
         BOOL)

@end

@implementation _SMLayerBlitCommandEncoder

- (instancetype)initWithInner:(id)object buffer:(_SMLayerCommandBuffer *)buffer
{
    self = [super initWithInner:object];
    if (self) {
        _inner = object;
        _buffer = [buffer retain];
    }
    return self;
}

- (void)dealloc
{
    _SMLayerCommandBuffer *buffer = _buffer;
    [super dealloc];
    [buffer release];
}

SM_PASS0(id<MTLDevice>, device)
SM_PASS0(NSString *, label)
SM_PASS1(void, setLabel, NSString *)
SM_PASS0(void, endEncoding)
SM_PASS1(void, insertDebugSignpost, NSString *)
SM_PASS1(void, pushDebugGroup, NSString *)
SM_PASS0(void, popDebugGroup)
SM_PASS1(void, synchronizeResource, id<MTLResource>)
SM_PASS3(void, fillBuffer, id<MTLBuffer>, range, NSRange, value, uint8_t)
SM_PASS5(void, copyFromBuffer, id<MTLBuffer>, sourceOffset, NSUInteger, toBuffer, id<MTLBuffer>,
         destinationOffset, NSUInteger, size, NSUInteger)
SM_PASS1(void, updateFence, id<MTLFence>)
SM_PASS1(void, waitForFence, id<MTLFence>)
SM_PASS2(void, resetCommandsInBuffer, id<MTLIndirectCommandBuffer>, withRange, NSRange)
SM_PASS4(void, copyIndirectCommandBuffer, id<MTLIndirectCommandBuffer>, sourceRange, NSRange, destination,
         id<MTLIndirectCommandBuffer>, destinationIndex, NSUInteger)
SM_PASS2(void, optimizeIndirectCommandBuffer, id<MTLIndirectCommandBuffer>, withRange, NSRange)
SM_PASS3(void, sampleCountersInBuffer, id<MTLCounterSampleBuffer>, atSampleIndex, NSUInteger, withBarrier,
         BOOL)
SM_PASS4(void, resolveCounters, id<MTLCounterSampleBuffer>, inRange, NSRange, destinationBuffer,
         id<MTLBuffer>, destinationOffset, NSUInteger)

@end

// ---- the outer layer: the API's rules that a driver does not check ----
@implementation SMDebugComputeCommandEncoder
@end

@implementation SMDebugBlitCommandEncoder

- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)from
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)to
                  size:(NSUInteger)size
{
    bool overlap = source == destination && from < to + size && to < from + size;
    sm_assert_metal(!overlap, "the source and destination ranges of a copy inside one buffer overlap");
    [super copyFromBuffer:source sourceOffset:from toBuffer:destination destinationOffset:to size:size];
}

@end

// ---- the inner layer: passes on, and is one more class that a call goes through ----
@implementation SMGPUDebugComputeCommandEncoder
@end

@implementation SMGPUDebugBlitCommandEncoder
@end
