// SPDX-License-Identifier: MIT
// What every Metal resource has: options, purgeable state, memory that is counted on its device. Called from
// any thread of the application. Owns no memory itself.
#import "metal/resource.h"

#include <unistd.h>

MTLResourceOptions sm_pack_options(MTLStorageMode storage, MTLCPUCacheMode cache,
                                   MTLHazardTrackingMode hazard)
{
    return (storage << MTLResourceStorageModeShift) | (cache << MTLResourceCPUCacheModeShift) |
           (hazard << MTLResourceHazardTrackingModeShift);
}

MTLStorageMode sm_options_storage(MTLResourceOptions options)
{
    return (options & MTLResourceStorageModeMask) >> MTLResourceStorageModeShift;
}

MTLCPUCacheMode sm_options_cache(MTLResourceOptions options)
{
    return (options & MTLResourceCPUCacheModeMask) >> MTLResourceCPUCacheModeShift;
}

MTLHazardTrackingMode sm_options_hazard(MTLResourceOptions options)
{
    return (options & MTLResourceHazardTrackingModeMask) >> MTLResourceHazardTrackingModeShift;
}

MTLPurgeableState sm_exchange_purgeable_state(_Atomic NSUInteger *state, MTLPurgeableState wanted)
{
    // Nothing is ever purged here: volatile memory stays, and only "empty" makes the old contents undefined.
    if (wanted == MTLPurgeableStateKeepCurrent)
        return atomic_load(state);
    return atomic_exchange(state, wanted);
}

size_t sm_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

NSUInteger sm_round_up(NSUInteger value, NSUInteger alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

bool sm_allocation_fails(void)
{
    static _Atomic long count;
    long fail_at = sm_get_settings()->fail_allocation;
    return atomic_fetch_add(&count, 1) == fail_at;
}

void *sm_device_memory_alloc(SMDevice *device, size_t bytes)
{
    void *memory = sm_memory_alloc(bytes);
    if (memory)
        atomic_fetch_add(&device->allocated_bytes, sm_round_up(bytes, sm_page_size()));
    return memory;
}

void sm_device_memory_free(SMDevice *device, void *memory, size_t bytes)
{
    if (!memory)
        return;
    sm_memory_free(memory, bytes);
    atomic_fetch_sub(&device->allocated_bytes, sm_round_up(bytes, sm_page_size()));
}

uint64_t sm_next_resource_id(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add(&last, 1) + 1;
}

@implementation _SMResource

@synthesize storageMode = _storageMode;
@synthesize cpuCacheMode = _cpuCacheMode;
@synthesize hazardTrackingMode = _hazardTrackingMode;

- (instancetype)initWithDevice:(id<MTLDevice>)device options:(MTLResourceOptions)options
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    _storageMode = sm_options_storage(options);
    _cpuCacheMode = sm_options_cache(options);
    _hazardTrackingMode = sm_options_hazard(options);
    // A resource never shows "default": what the device makes itself is tracked.
    if (_hazardTrackingMode == MTLHazardTrackingModeDefault)
        _hazardTrackingMode = MTLHazardTrackingModeTracked;
    atomic_init(&_purgeable_state, MTLPurgeableStateNonVolatile);
    return self;
}

- (MTLResourceOptions)resourceOptions
{
    return sm_pack_options(_storageMode, _cpuCacheMode, _hazardTrackingMode);
}

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state
{
    return sm_exchange_purgeable_state(&_purgeable_state, state);
}

- (id<MTLHeap>)heap
{
    return nil;
}

- (NSUInteger)heapOffset
{
    return 0;
}

- (NSUInteger)allocatedSize
{
    return 0;
}

- (void)makeAliasable
{
    sm_assert_metal([self heap] != nil, "makeAliasable is only for resources of a heap");
}

- (BOOL)isAliasable
{
    return NO;
}

@end
