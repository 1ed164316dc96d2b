// SPDX-License-Identifier: MIT
// A block of memory that buffers are cut from. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLHEAP_H
#define SOFTMETAL_MTLHEAP_H

#import <Metal/MTLAllocation.h>
#import <Metal/MTLResource.h>

@protocol MTLBuffer;
@protocol MTLDevice;

typedef NS_ENUM(NSInteger, MTLHeapType) {
    MTLHeapTypeAutomatic = 0,
    MTLHeapTypePlacement = 1,
    MTLHeapTypeSparse = 2,
};

@interface MTLHeapDescriptor : NSObject<NSCopying> {
  @private
    NSUInteger _size;
    MTLStorageMode _storageMode;
    MTLCPUCacheMode _cpuCacheMode;
    MTLHazardTrackingMode _hazardTrackingMode;
    MTLResourceOptions _resourceOptions;
    MTLHeapType _type;
}
@property (nonatomic) NSUInteger size;
@property (nonatomic) MTLStorageMode storageMode;
@property (nonatomic) MTLCPUCacheMode cpuCacheMode;
@property (nonatomic) MTLHazardTrackingMode hazardTrackingMode;
@property (nonatomic) MTLResourceOptions resourceOptions;
@property (nonatomic) MTLHeapType type;
@end

@protocol MTLHeap<MTLAllocation>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLStorageMode storageMode;
@property (readonly) MTLCPUCacheMode cpuCacheMode;
@property (readonly) MTLHazardTrackingMode hazardTrackingMode;
@property (readonly) MTLResourceOptions resourceOptions;
@property (readonly) NSUInteger size;
@property (readonly) NSUInteger usedSize;
@property (readonly) NSUInteger currentAllocatedSize;
@property (readonly) MTLHeapType type;

- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length
                             options:(MTLResourceOptions)options
                              offset:(NSUInteger)offset;
@end

#endif
