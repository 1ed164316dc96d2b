// SPDX-License-Identifier: MIT
// The device: what it is, what it can do, and everything it makes. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLDEVICE_H
#define SOFTMETAL_MTLDEVICE_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLCounters.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

@class MTLArgumentDescriptor, MTLBinaryArchiveDescriptor, MTLCommandQueueDescriptor,
    MTLComputePipelineDescriptor, MTLComputePipelineReflection, MTLHeapDescriptor,
    MTLIndirectCommandBufferDescriptor, MTLLogStateDescriptor, MTLResidencySetDescriptor,
    MTLSharedEventHandle;
@protocol MTLArgumentEncoder;
@protocol MTLBinaryArchive;
@protocol MTLBuffer;
@protocol MTLCommandQueue;
@protocol MTLComputePipelineState;
@protocol MTLDevice;
@protocol MTLEvent;
@protocol MTLFence;
@protocol MTLHeap;
@protocol MTLIndirectCommandBuffer;
@protocol MTLLogState;
@protocol MTLResidencySet;
@protocol MTLSharedEvent;

MTL_EXTERN id<MTLDevice> MTLCreateSystemDefaultDevice(void);
MTL_EXTERN MTL_ARRAY_OF(id<MTLDevice>) * MTLCopyAllDevices(void);

typedef NSString *MTLDeviceNotificationName;

MTL_EXTERN MTLDeviceNotificationName const MTLDeviceWasAddedNotification;
MTL_EXTERN MTLDeviceNotificationName const MTLDeviceRemovalRequestedNotification;
MTL_EXTERN MTLDeviceNotificationName const MTLDeviceWasRemovedNotification;

#if MTL_HAS_BLOCKS
typedef void (^MTLDeviceNotificationHandler)(id<MTLDevice>, MTLDeviceNotificationName);
MTL_EXTERN MTL_ARRAY_OF(id<MTLDevice>) *
    MTLCopyAllDevicesWithObserver(id<NSObject> *observer, MTLDeviceNotificationHandler handler);
#endif
MTL_EXTERN void MTLRemoveDeviceObserver(id<NSObject> observer);

typedef NS_ENUM(NSUInteger, MTLFeatureSet) {
    MTLFeatureSet_iOS_GPUFamily1_v1 = 0,
    MTLFeatureSet_iOS_GPUFamily2_v1 = 1,
    MTLFeatureSet_iOS_GPUFamily1_v2 = 2,
    MTLFeatureSet_iOS_GPUFamily2_v2 = 3,
    MTLFeatureSet_iOS_GPUFamily3_v1 = 4,
    MTLFeatureSet_iOS_GPUFamily1_v3 = 5,
    MTLFeatureSet_iOS_GPUFamily2_v3 = 6,
    MTLFeatureSet_iOS_GPUFamily3_v2 = 7,
    MTLFeatureSet_iOS_GPUFamily1_v4 = 8,
    MTLFeatureSet_iOS_GPUFamily2_v4 = 9,
    MTLFeatureSet_iOS_GPUFamily3_v3 = 10,
    MTLFeatureSet_iOS_GPUFamily4_v1 = 11,
    MTLFeatureSet_iOS_GPUFamily1_v5 = 12,
    MTLFeatureSet_iOS_GPUFamily2_v5 = 13,
    MTLFeatureSet_iOS_GPUFamily3_v4 = 14,
    MTLFeatureSet_iOS_GPUFamily4_v2 = 15,
    MTLFeatureSet_iOS_GPUFamily5_v1 = 16,
    MTLFeatureSet_macOS_GPUFamily1_v1 = 10000,
    MTLFeatureSet_OSX_GPUFamily1_v1 = 10000,
    MTLFeatureSet_macOS_GPUFamily1_v2 = 10001,
    MTLFeatureSet_OSX_GPUFamily1_v2 = 10001,
    MTLFeatureSet_macOS_ReadWriteTextureTier2 = 10002,
    MTLFeatureSet_OSX_ReadWriteTextureTier2 = 10002,
    MTLFeatureSet_macOS_GPUFamily1_v3 = 10003,
    MTLFeatureSet_macOS_GPUFamily1_v4 = 10004,
    MTLFeatureSet_macOS_GPUFamily2_v1 = 10005,
    MTLFeatureSet_tvOS_GPUFamily1_v1 = 30000,
    MTLFeatureSet_TVOS_GPUFamily1_v1 = 30000,
    MTLFeatureSet_tvOS_GPUFamily1_v2 = 30001,
    MTLFeatureSet_tvOS_GPUFamily1_v3 = 30002,
    MTLFeatureSet_tvOS_GPUFamily2_v1 = 30003,
    MTLFeatureSet_tvOS_GPUFamily1_v4 = 30004,
    MTLFeatureSet_tvOS_GPUFamily2_v2 = 30005,
};

typedef NS_ENUM(NSInteger, MTLGPUFamily) {
    MTLGPUFamilyApple1 = 1001,
    MTLGPUFamilyApple2 = 1002,
    MTLGPUFamilyApple3 = 1003,
    MTLGPUFamilyApple4 = 1004,
    MTLGPUFamilyApple5 = 1005,
    MTLGPUFamilyApple6 = 1006,
    MTLGPUFamilyApple7 = 1007,
    MTLGPUFamilyApple8 = 1008,
    MTLGPUFamilyApple9 = 1009,
    MTLGPUFamilyApple10 = 1010,
    MTLGPUFamilyMac1 = 2001,
    MTLGPUFamilyMac2 = 2002,
    MTLGPUFamilyCommon1 = 3001,
    MTLGPUFamilyCommon2 = 3002,
    MTLGPUFamilyCommon3 = 3003,
    MTLGPUFamilyMacCatalyst1 = 4001,
    MTLGPUFamilyMacCatalyst2 = 4002,
    MTLGPUFamilyMetal3 = 5001,
    MTLGPUFamilyMetal4 = 5002,
};

typedef NS_ENUM(NSUInteger, MTLDeviceLocation) {
    MTLDeviceLocationBuiltIn = 0,
    MTLDeviceLocationSlot = 1,
    MTLDeviceLocationExternal = 2,
    MTLDeviceLocationUnspecified = (NSUInteger)~0UL,
};

typedef NS_OPTIONS(NSUInteger, MTLPipelineOption) {
    MTLPipelineOptionNone = 0,
    MTLPipelineOptionArgumentInfo = 1,
    MTLPipelineOptionBufferTypeInfo = 2,
    MTLPipelineOptionFailOnBinaryArchiveMiss = 4,
    MTLPipelineOptionBindingInfo = 1,
};

typedef NS_ENUM(NSUInteger, MTLReadWriteTextureTier) {
    MTLReadWriteTextureTierNone = 0,
    MTLReadWriteTextureTier1 = 1,
    MTLReadWriteTextureTier2 = 2,
};

typedef NS_ENUM(NSUInteger, MTLArgumentBuffersTier) {
    MTLArgumentBuffersTier1 = 0,
    MTLArgumentBuffersTier2 = 1,
};

MTL_EXTERN NSErrorDomain const MTLDeviceErrorDomain;

typedef NS_ENUM(NSInteger, MTLDeviceError) {
    MTLDeviceErrorNone = 0,
    MTLDeviceErrorNotSupported = 1,
};

typedef MTLComputePipelineReflection *MTLAutoreleasedComputePipelineReflection;

#if MTL_HAS_BLOCKS
typedef void (^MTLNewLibraryCompletionHandler)(id<MTLLibrary>, NSError *);
typedef void (^MTLNewComputePipelineStateCompletionHandler)(id<MTLComputePipelineState>, NSError *);
typedef void (^MTLNewComputePipelineStateWithReflectionCompletionHandler)(id<MTLComputePipelineState>,
                                                                          MTLComputePipelineReflection *,
                                                                          NSError *);
#endif

typedef uint64_t MTLTimestamp;

@interface MTLArchitecture : NSObject<NSCopying> {
  @private
    NSString *_name;
}
@property (readonly) NSString *name;
@end

@protocol MTLDevice<NSObject>
@property (readonly) NSString *name;
@property (readonly) uint64_t registryID;
@property (readonly) MTLArchitecture *architecture;
@property (readonly) MTLSize maxThreadsPerThreadgroup;
@property (readonly, getter=isLowPower) BOOL lowPower;
@property (readonly, getter=isHeadless) BOOL headless;
@property (readonly, getter=isRemovable) BOOL removable;
@property (readonly) BOOL hasUnifiedMemory;
@property (readonly) uint64_t recommendedMaxWorkingSetSize;
@property (readonly) MTLDeviceLocation location;
@property (readonly) NSUInteger locationNumber;
@property (readonly) uint64_t maxTransferRate;
@property (readonly) MTLReadWriteTextureTier readWriteTextureSupport;
@property (readonly) MTLArgumentBuffersTier argumentBuffersSupport;
@property (readonly) NSUInteger currentAllocatedSize;
@property (readonly) NSUInteger maxThreadgroupMemoryLength;
@property (readonly) uint64_t peerGroupID;
@property (readonly) uint32_t peerIndex;
@property (readonly) uint32_t peerCount;
@property (readonly) NSUInteger maxBufferLength;
@property (readonly) MTL_ARRAY_OF(id<MTLCounterSet>) * counterSets;
@property (readonly) BOOL supportsDynamicLibraries;
@property (readonly) BOOL supportsRaytracing;
@property (readonly) BOOL supportsFunctionPointers;
@property BOOL shouldMaximizeConcurrentCompilation;
@property (readonly) NSUInteger maximumConcurrentCompilationTaskCount;

- (id<MTLCommandQueue>)newCommandQueue;
- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount;
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (id<MTLBuffer>)newBufferWithBytes:(const void *)bytes
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options;
#if MTL_HAS_BLOCKS
- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void *, NSUInteger))deallocator;
#endif
- (id<MTLLibrary>)newDefaultLibrary;
- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle *)bundle error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithFile:(NSString *)file error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError **)error;
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                               options:(MTLCompileOptions *)options
                                 error:(NSError **)error;
#if MTL_HAS_BLOCKS
- (void)newLibraryWithSource:(NSString *)source
                     options:(MTLCompileOptions *)options
           completionHandler:(MTLNewLibraryCompletionHandler)completionHandler;
#endif
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError **)error;
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                             reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                  error:(NSError **)error;
#if MTL_HAS_BLOCKS
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)completionHandler;
- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                    options:(MTLPipelineOption)options
                          completionHandler:
                              (MTLNewComputePipelineStateWithReflectionCompletionHandler)completionHandler;
#endif
- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                    error:(NSError **)error;
#if MTL_HAS_BLOCKS
- (void)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:
                                (MTLNewComputePipelineStateWithReflectionCompletionHandler)completionHandler;
#endif
- (id<MTLFence>)newFence;
- (BOOL)supportsFeatureSet:(MTLFeatureSet)featureSet;
- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithArguments:(MTL_ARRAY_OF(MTLArgumentDescriptor *) *)arguments;
- (id<MTLIndirectCommandBuffer>)newIndirectCommandBufferWithDescriptor:
                                    (MTLIndirectCommandBufferDescriptor *)descriptor
                                                       maxCommandCount:(NSUInteger)maxCommandCount
                                                               options:(MTLResourceOptions)options;
- (id<MTLEvent>)newEvent;
- (id<MTLSharedEvent>)newSharedEvent;
- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle *)handle;
- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:
                                  (MTLCounterSampleBufferDescriptor *)descriptor
                                                             error:(NSError **)error;
- (void)sampleTimestamps:(MTLTimestamp *)cpuTimestamp gpuTimestamp:(MTLTimestamp *)gpuTimestamp;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferBinding:(id<MTLBufferBinding>)bufferBinding;
- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)samplingPoint;
- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor
                                                 error:(NSError **)error;
- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor error:(NSError **)error;
- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:(MTLCommandQueueDescriptor *)descriptor;
- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor *)descriptor
                                               error:(NSError **)error;
@end

#endif
