// SPDX-License-Identifier: MIT
// Counter sets of a device, and the buffers that time stamps are sampled into. Own declarations for programs
// on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCOUNTERS_H
#define SOFTMETAL_MTLCOUNTERS_H

#import <Metal/MTLResource.h>

@protocol MTLDevice;

typedef NSString *const MTLCommonCounter;

MTL_EXTERN MTLCommonCounter MTLCommonCounterTimestamp;
MTL_EXTERN MTLCommonCounter MTLCommonCounterTessellationInputPatches;
MTL_EXTERN MTLCommonCounter MTLCommonCounterVertexInvocations;
MTL_EXTERN MTLCommonCounter MTLCommonCounterPostTessellationVertexInvocations;
MTL_EXTERN MTLCommonCounter MTLCommonCounterClipperInvocations;
MTL_EXTERN MTLCommonCounter MTLCommonCounterClipperPrimitivesOut;
MTL_EXTERN MTLCommonCounter MTLCommonCounterFragmentInvocations;
MTL_EXTERN MTLCommonCounter MTLCommonCounterFragmentsPassed;
MTL_EXTERN MTLCommonCounter MTLCommonCounterComputeKernelInvocations;
MTL_EXTERN MTLCommonCounter MTLCommonCounterTotalCycles;
MTL_EXTERN MTLCommonCounter MTLCommonCounterVertexCycles;
MTL_EXTERN MTLCommonCounter MTLCommonCounterTessellationCycles;
MTL_EXTERN MTLCommonCounter MTLCommonCounterPostTessellationVertexCycles;
MTL_EXTERN MTLCommonCounter MTLCommonCounterFragmentCycles;
MTL_EXTERN MTLCommonCounter MTLCommonCounterRenderTargetWriteCycles;

typedef NSString *const MTLCommonCounterSet;

MTL_EXTERN MTLCommonCounterSet MTLCommonCounterSetTimestamp;
MTL_EXTERN MTLCommonCounterSet MTLCommonCounterSetStageUtilization;
MTL_EXTERN MTLCommonCounterSet MTLCommonCounterSetStatistic;

#define MTLCounterErrorValue ((uint64_t)~0ULL)
#define MTLCounterDontSample ((NSUInteger)~0UL)

typedef struct {
    uint64_t timestamp;
} MTLCounterResultTimestamp;

typedef struct {
    uint64_t totalCycles;
    uint64_t vertexCycles;
    uint64_t tessellationCycles;
    uint64_t postTessellationVertexCycles;
    uint64_t fragmentCycles;
    uint64_t renderTargetCycles;
} MTLCounterResultStageUtilization;

typedef struct {
    uint64_t tessellationInputPatches;
    uint64_t vertexInvocations;
    uint64_t postTessellationVertexInvocations;
    uint64_t clipperInvocations;
    uint64_t clipperPrimitivesOut;
    uint64_t fragmentInvocations;
    uint64_t fragmentsPassed;
    uint64_t computeKernelInvocations;
} MTLCounterResultStatistic;

typedef NS_ENUM(NSUInteger, MTLCounterSamplingPoint) {
    MTLCounterSamplingPointAtStageBoundary = 0,
    MTLCounterSamplingPointAtDrawBoundary = 1,
    MTLCounterSamplingPointAtDispatchBoundary = 2,
    MTLCounterSamplingPointAtTileDispatchBoundary = 3,
    MTLCounterSamplingPointAtBlitBoundary = 4,
};

@protocol MTLCounter<NSObject>
@property (readonly, copy) NSString *name;
@end

@protocol MTLCounterSet<NSObject>
@property (readonly, copy) NSString *name;
@property (readonly, copy) MTL_ARRAY_OF(id<MTLCounter>) * counters;
@end

@interface MTLCounterSampleBufferDescriptor : NSObject<NSCopying> {
  @private
    id<MTLCounterSet> _counterSet;
    NSString *_label;
    MTLStorageMode _storageMode;
    NSUInteger _sampleCount;
}
@property (retain) id<MTLCounterSet> counterSet;
@property (copy) NSString *label;
@property MTLStorageMode storageMode;
@property NSUInteger sampleCount;
@end

@protocol MTLCounterSampleBuffer<NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) NSString *label;
@property (readonly) NSUInteger sampleCount;

- (NSData *)resolveCounterRange:(NSRange)range;
@end

MTL_EXTERN NSErrorDomain const MTLCounterErrorDomain;

typedef NS_ENUM(NSInteger, MTLCounterSampleBufferError) {
    MTLCounterSampleBufferErrorOutOfMemory = 0,
    MTLCounterSampleBufferErrorInvalid = 1,
    MTLCounterSampleBufferErrorInternal = 2,
};

#endif
