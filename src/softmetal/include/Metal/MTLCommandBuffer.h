// SPDX-License-Identifier: MIT
// One unit of submission: its encoders, its state, its times, its error. Own declarations for programs on
// Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCOMMANDBUFFER_H
#define SOFTMETAL_MTLCOMMANDBUFFER_H

#import <Metal/MTLDefines.h>

@class MTLBlitPassDescriptor, MTLComputePassDescriptor;
@protocol MTLBlitCommandEncoder;
@protocol MTLCommandBuffer;
@protocol MTLCommandQueue;
@protocol MTLComputeCommandEncoder;
@protocol MTLDevice;
@protocol MTLEvent;
@protocol MTLLogState;
@protocol MTLResidencySet;

typedef NS_ENUM(NSUInteger, MTLCommandBufferStatus) {
    MTLCommandBufferStatusNotEnqueued = 0,
    MTLCommandBufferStatusEnqueued = 1,
    MTLCommandBufferStatusCommitted = 2,
    MTLCommandBufferStatusScheduled = 3,
    MTLCommandBufferStatusCompleted = 4,
    MTLCommandBufferStatusError = 5,
};

MTL_EXTERN NSErrorDomain const MTLCommandBufferErrorDomain;

typedef NS_ENUM(NSUInteger, MTLCommandBufferError) {
    MTLCommandBufferErrorNone = 0,
    MTLCommandBufferErrorInternal = 1,
    MTLCommandBufferErrorTimeout = 2,
    MTLCommandBufferErrorPageFault = 3,
    MTLCommandBufferErrorBlacklisted = 4,
    MTLCommandBufferErrorAccessRevoked = 4,
    MTLCommandBufferErrorNotPermitted = 7,
    MTLCommandBufferErrorOutOfMemory = 8,
    MTLCommandBufferErrorInvalidResource = 9,
    MTLCommandBufferErrorMemoryless = 10,
    MTLCommandBufferErrorDeviceRemoved = 11,
    MTLCommandBufferErrorStackOverflow = 12,
};

MTL_EXTERN NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey;

typedef NS_OPTIONS(NSUInteger, MTLCommandBufferErrorOption) {
    MTLCommandBufferErrorOptionNone = 0,
    MTLCommandBufferErrorOptionEncoderExecutionStatus = 1,
};

typedef NS_ENUM(NSInteger, MTLCommandEncoderErrorState) {
    MTLCommandEncoderErrorStateUnknown = 0,
    MTLCommandEncoderErrorStateCompleted = 1,
    MTLCommandEncoderErrorStateAffected = 2,
    MTLCommandEncoderErrorStatePending = 3,
    MTLCommandEncoderErrorStateFaulted = 4,
};

@interface MTLCommandBufferDescriptor : NSObject<NSCopying> {
  @private
    BOOL _retainedReferences;
    MTLCommandBufferErrorOption _errorOptions;
    id<MTLLogState> _logState;
}
@property (nonatomic) BOOL retainedReferences;
@property (nonatomic) MTLCommandBufferErrorOption errorOptions;
@property (nonatomic, retain) id<MTLLogState> logState;
@end

@protocol MTLCommandBufferEncoderInfo<NSObject>
@property (nonatomic, readonly) NSString *label;
@property (nonatomic, readonly) MTL_ARRAY_OF(NSString *) * debugSignposts;
@property (nonatomic, readonly) MTLCommandEncoderErrorState errorState;
@end

#if MTL_HAS_BLOCKS
typedef void (^MTLCommandBufferHandler)(id<MTLCommandBuffer>);
#endif

typedef NS_ENUM(NSUInteger, MTLDispatchType) {
    MTLDispatchTypeSerial = 0,
    MTLDispatchTypeConcurrent = 1,
};

@protocol MTLCommandBuffer<NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) id<MTLCommandQueue> commandQueue;
@property (readonly) BOOL retainedReferences;
@property (readonly) MTLCommandBufferErrorOption errorOptions;
@property (copy) NSString *label;
@property (readonly) CFTimeInterval kernelStartTime;
@property (readonly) CFTimeInterval kernelEndTime;
@property (readonly) CFTimeInterval GPUStartTime;
@property (readonly) CFTimeInterval GPUEndTime;
@property (readonly) MTLCommandBufferStatus status;
@property (readonly) NSError *error;

- (void)enqueue;
- (void)commit;
#if MTL_HAS_BLOCKS
- (void)addScheduledHandler:(MTLCommandBufferHandler)block;
#endif
- (void)waitUntilScheduled;
#if MTL_HAS_BLOCKS
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;
#endif
- (void)waitUntilCompleted;
- (id<MTLBlitCommandEncoder>)blitCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor;
- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:(MTLBlitPassDescriptor *)descriptor;
- (id<MTLComputeCommandEncoder>)computeCommandEncoder;
- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)dispatchType;
- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
- (void)useResidencySet:(id<MTLResidencySet>)residencySet;
- (void)useResidencySets:(const id<MTLResidencySet> *)residencySets count:(NSUInteger)count;
@end

#endif
