// SPDX-License-Identifier: MIT
// Queues that command buffers are made from and run on. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCOMMANDQUEUE_H
#define SOFTMETAL_MTLCOMMANDQUEUE_H

#import <Metal/MTLDefines.h>

@class MTLCommandBufferDescriptor;
@protocol MTLCommandBuffer;
@protocol MTLDevice;
@protocol MTLLogState;
@protocol MTLResidencySet;

@interface MTLCommandQueueDescriptor : NSObject<NSCopying> {
  @private
    NSUInteger _maxCommandBufferCount;
    id<MTLLogState> _logState;
}
@property NSUInteger maxCommandBufferCount;
@property (retain) id<MTLLogState> logState;
@end

@protocol MTLCommandQueue<NSObject>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;

- (id<MTLCommandBuffer>)commandBuffer;
- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor;
- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences;
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)residencySet;
- (void)addResidencySets:(const id<MTLResidencySet> *)residencySets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)residencySet;
- (void)removeResidencySets:(const id<MTLResidencySet> *)residencySets count:(NSUInteger)count;
@end

#endif
