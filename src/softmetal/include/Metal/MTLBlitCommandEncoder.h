// SPDX-License-Identifier: MIT
// Encodes copies and fills of buffers into a command buffer. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLBLITCOMMANDENCODER_H
#define SOFTMETAL_MTLBLITCOMMANDENCODER_H

#import <Metal/MTLCommandEncoder.h>

@protocol MTLBuffer;
@protocol MTLCounterSampleBuffer;
@protocol MTLFence;
@protocol MTLIndirectCommandBuffer;
@protocol MTLResource;

@protocol MTLBlitCommandEncoder<MTLCommandEncoder>
- (void)synchronizeResource:(id<MTLResource>)resource;
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)buffer withRange:(NSRange)range;
- (void)copyIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)source
                      sourceRange:(NSRange)sourceRange
                      destination:(id<MTLIndirectCommandBuffer>)destination
                 destinationIndex:(NSUInteger)destinationIndex;
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)indirectCommandBuffer
                            withRange:(NSRange)range;
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)sampleBuffer
                 atSampleIndex:(NSUInteger)sampleIndex
                   withBarrier:(BOOL)barrier;
- (void)resolveCounters:(id<MTLCounterSampleBuffer>)sampleBuffer
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)destinationBuffer
      destinationOffset:(NSUInteger)destinationOffset;
@end

#endif
