// SPDX-License-Identifier: MIT
// Memory that kernels reach: options, purgeable state, and what buffers have in common. Own declarations for
// programs on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLRESOURCE_H
#define SOFTMETAL_MTLRESOURCE_H

#import <Metal/MTLAllocation.h>
#import <Metal/MTLDefines.h>

@protocol MTLDevice;
@protocol MTLHeap;

typedef NS_ENUM(NSUInteger, MTLPurgeableState) {
    MTLPurgeableStateKeepCurrent = 1,
    MTLPurgeableStateNonVolatile = 2,
    MTLPurgeableStateVolatile = 3,
    MTLPurgeableStateEmpty = 4,
};

typedef NS_ENUM(NSUInteger, MTLCPUCacheMode) {
    MTLCPUCacheModeDefaultCache = 0,
    MTLCPUCacheModeWriteCombined = 1,
};

typedef NS_ENUM(NSUInteger, MTLStorageMode) {
    MTLStorageModeShared = 0,
    MTLStorageModeManaged = 1,
    MTLStorageModePrivate = 2,
    MTLStorageModeMemoryless = 3,
};

typedef NS_ENUM(NSUInteger, MTLHazardTrackingMode) {
    MTLHazardTrackingModeDefault = 0,
    MTLHazardTrackingModeUntracked = 1,
    MTLHazardTrackingModeTracked = 2,
};

#define MTLResourceCPUCacheModeShift 0
#define MTLResourceCPUCacheModeMask (0xfUL << MTLResourceCPUCacheModeShift)
#define MTLResourceStorageModeShift 4
#define MTLResourceStorageModeMask (0xfUL << MTLResourceStorageModeShift)
#define MTLResourceHazardTrackingModeShift 8
#define MTLResourceHazardTrackingModeMask (0x3UL << MTLResourceHazardTrackingModeShift)

typedef NS_OPTIONS(NSUInteger, MTLResourceOptions) {
    MTLResourceCPUCacheModeDefaultCache = 0x0,
    MTLResourceCPUCacheModeWriteCombined = 0x1,
    MTLResourceStorageModeShared = 0x0,
    MTLResourceStorageModeManaged = 0x10,
    MTLResourceStorageModePrivate = 0x20,
    MTLResourceStorageModeMemoryless = 0x30,
    MTLResourceHazardTrackingModeDefault = 0x0,
    MTLResourceHazardTrackingModeUntracked = 0x100,
    MTLResourceHazardTrackingModeTracked = 0x200,
    MTLResourceOptionCPUCacheModeDefault = 0x0,
    MTLResourceOptionCPUCacheModeWriteCombined = 0x1,
};

typedef NS_OPTIONS(NSUInteger, MTLResourceUsage) {
    MTLResourceUsageRead = 1,
    MTLResourceUsageWrite = 2,
    MTLResourceUsageSample = 4,
};

@protocol MTLResource<MTLAllocation>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLCPUCacheMode cpuCacheMode;
@property (readonly) MTLStorageMode storageMode;
@property (readonly) MTLHazardTrackingMode hazardTrackingMode;
@property (readonly) MTLResourceOptions resourceOptions;
@property (readonly) id<MTLHeap> heap;
@property (readonly) NSUInteger heapOffset;
@property (readonly) NSUInteger allocatedSize;

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
- (void)makeAliasable;
- (BOOL)isAliasable;
@end

#endif
