// SPDX-License-Identifier: MIT
// MTLHeap: one allocation out of which buffers are cut, first fit. Called from any thread; the list of ranges
// is under the heap's lock. Memory of a heap is never cleared between two users, as Metal promises nothing
// either.
#import "metal/resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// What Apple GPUs ask for: a buffer of a heap begins at a multiple of this.
enum { HEAP_ALIGNMENT = 256 };

static MTLSizeAndAlign buffer_size_and_align(NSUInteger length)
{
    return (MTLSizeAndAlign){.size = sm_round_up(length, HEAP_ALIGNMENT), .align = HEAP_ALIGNMENT};
}

@implementation SMHeap

@synthesize type = _type;
@synthesize storageMode = _storageMode;
@synthesize cpuCacheMode = _cpuCacheMode;
@synthesize hazardTrackingMode = _hazardTrackingMode;
@synthesize size = _size;

- (instancetype)initWithDevice:(SMDevice *)device descriptor:(MTLHeapDescriptor *)descriptor
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    _type = [descriptor type];
    _storageMode = [descriptor storageMode];
    _cpuCacheMode = [descriptor cpuCacheMode];
    _hazardTrackingMode = [descriptor hazardTrackingMode];
    // Unlike the device's own resources, a heap's are untracked unless asked for.
    if (_hazardTrackingMode == MTLHazardTrackingModeDefault)
        _hazardTrackingMode = MTLHazardTrackingModeUntracked;
    atomic_init(&_purgeable_state, MTLPurgeableStateNonVolatile);
    pthread_mutex_init(&_lock, NULL);
    _size = sm_round_up([descriptor size], sm_page_size());
    memory = sm_device_memory_alloc(device, _size);
    if (!memory) {
        [self release];
        return nil;
    }
    return self;
}

- (void)dealloc
{
    sm_device_memory_free((SMDevice *)_device, memory, _size);
    pthread_mutex_destroy(&_lock);
    free(_ranges);
    [super dealloc];
}

- (MTLResourceOptions)resourceOptions
{
    return sm_pack_options(_storageMode, _cpuCacheMode, _hazardTrackingMode);
}

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state
{
    return sm_exchange_purgeable_state(&_purgeable_state, state);
}

- (NSUInteger)currentAllocatedSize
{
    return _size;
}

- (NSUInteger)allocatedSize
{
    return _size;
}

- (NSUInteger)usedSize
{
    NSUInteger used = 0;
    pthread_mutex_lock(&_lock);
    for (size_t i = 0; i < _range_count; i++)
        if (!_ranges[i].is_aliasable)
            used += _ranges[i].size;
    pthread_mutex_unlock(&_lock);
    return used;
}

// Calls visit for each gap between ranges that are in use, in order, until it returns true. Under the lock.
- (bool)visitGaps:(bool (*)(NSUInteger begin, NSUInteger end, void *context))visit context:(void *)context
{
    NSUInteger begin = 0;
    for (size_t i = 0; i < _range_count; i++) {
        if (_ranges[i].is_aliasable)
            continue;
        if (_ranges[i].offset > begin && visit(begin, _ranges[i].offset, context))
            return true;
        // Ranges of a placement heap may overlap: the furthest end counts.
        NSUInteger end = _ranges[i].offset + _ranges[i].size;
        begin = end > begin ? end : begin;
    }
    return begin < _size && visit(begin, _size, context);
}

typedef struct gap_query {
    NSUInteger size, alignment;
    NSUInteger found; // offset of the first fit, or the size of the largest gap
} gap_query;

static bool first_fit(NSUInteger begin, NSUInteger end, void *context)
{
    gap_query *query = context;
    NSUInteger offset = sm_round_up(begin, query->alignment);
    if (offset > end || end - offset < query->size)
        return false;
    query->found = offset;
    return true;
}

static bool largest(NSUInteger begin, NSUInteger end, void *context)
{
    gap_query *query = context;
    NSUInteger offset = sm_round_up(begin, query->alignment);
    if (offset < end && end - offset > query->found)
        query->found = end - offset;
    return false;
}

- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment
{
    gap_query query = {.alignment = alignment ? alignment : 1};
    pthread_mutex_lock(&_lock);
    [self visitGaps:largest context:&query];
    pthread_mutex_unlock(&_lock);
    return query.found;
}

// Keeps the ranges in order of their offset. Under the lock. 0 or -ENOMEM.
- (int)insertRange:(sm_heap_range)range
{
    if (_range_count == _range_capacity) {
        size_t capacity = _range_capacity ? 2 * _range_capacity : 16;
        sm_heap_range *grown = realloc(_ranges, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        _ranges = grown;
        _range_capacity = capacity;
    }
    size_t i = _range_count;
    for (; i > 0 && _ranges[i - 1].offset > range.offset; i--)
        _ranges[i] = _ranges[i - 1];
    _ranges[i] = range;
    _range_count++;
    return 0;
}

- (sm_heap_range *)findRangeOf:(const void *)owner
{
    for (size_t i = 0; i < _range_count; i++)
        if (_ranges[i].owner == owner)
            return &_ranges[i];
    return NULL;
}

- (void)releaseRangeOf:(const void *)owner
{
    pthread_mutex_lock(&_lock);
    sm_heap_range *range = [self findRangeOf:owner];
    if (range) {
        size_t after = (size_t)(_ranges + _range_count - (range + 1));
        memmove(range, range + 1, after * sizeof *range);
        _range_count--;
    }
    pthread_mutex_unlock(&_lock);
}

- (void)makeRangeAliasableOf:(const void *)owner
{
    pthread_mutex_lock(&_lock);
    sm_heap_range *range = [self findRangeOf:owner];
    if (range)
        range->is_aliasable = true;
    pthread_mutex_unlock(&_lock);
}

- (BOOL)isRangeAliasableOf:(const void *)owner
{
    pthread_mutex_lock(&_lock);
    sm_heap_range *range = [self findRangeOf:owner];
    BOOL answer = range && range->is_aliasable;
    pthread_mutex_unlock(&_lock);
    return answer;
}

- (NSUInteger)rangeSizeOf:(const void *)owner
{
    pthread_mutex_lock(&_lock);
    sm_heap_range *range = [self findRangeOf:owner];
    NSUInteger answer = range ? range->size : 0;
    pthread_mutex_unlock(&_lock);
    return answer;
}

- (void)checkLength:(NSUInteger)bytes options:(MTLResourceOptions)options selector:(SEL)selector
{
    const char *class_name = object_getClassName(self);
    if (bytes == 0)
        sm_fail_metal(class_name, selector, __LINE__,
                      "Buffer Validation\nCannot create buffer of zero length.");
    if (sm_options_storage(options) != _storageMode)
        sm_fail_metal(class_name, selector, __LINE__,
                      "Requested storage mode is not compatible with the heap's storage mode.");
    if (sm_options_cache(options) != _cpuCacheMode)
        sm_fail_metal(class_name, selector, __LINE__,
                      "Requested CPU cache mode is not compatible with the heap's CPU cache mode.");
}

- (id<MTLBuffer>)newBufferOfLength:(NSUInteger)bytes atOffset:(NSUInteger)offset
{
    return [[sm_buffer_class() alloc] initWithHeap:self
                                            memory:(char *)memory + offset
                                            length:bytes
                                            offset:offset
                                           options:[self resourceOptions]];
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)bytes options:(MTLResourceOptions)options
{
    [self checkLength:bytes options:options selector:_cmd];
    sm_assert_metal(_type == MTLHeapTypeAutomatic, "heap type must be MTLHeapTypeAutomatic.");
    if (bytes > _size || sm_allocation_fails())
        return nil;
    MTLSizeAndAlign need = buffer_size_and_align(bytes);
    gap_query query = {.size = need.size, .alignment = need.align};
    SMBuffer *buffer = nil;
    pthread_mutex_lock(&_lock);
    if ([self visitGaps:first_fit context:&query])
        buffer = [self newBufferOfLength:bytes atOffset:query.found];
    int rc = buffer ? [self insertRange:(sm_heap_range){query.found, need.size, buffer, false}] : 0;
    pthread_mutex_unlock(&_lock);
    if (rc < 0) {
        [buffer release];
        return nil;
    }
    return buffer;
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)bytes
                             options:(MTLResourceOptions)options
                              offset:(NSUInteger)offset
{
    [self checkLength:bytes options:options selector:_cmd];
    sm_assert_metal(_type == MTLHeapTypePlacement, "heap type must be MTLHeapTypePlacement.");
    MTLSizeAndAlign need = buffer_size_and_align(bytes);
    sm_assert_metal(offset % need.align == 0, "offset %lu must be a multiple of %lu.", (unsigned long)offset,
                    (unsigned long)need.align);
    sm_assert_metal(offset <= _size && need.size <= _size - offset,
                    "offset(%lu) + size(%lu) must be <= heap size(%lu).", (unsigned long)offset,
                    (unsigned long)need.size, (unsigned long)_size);
    if (sm_allocation_fails())
        return nil;
    SMBuffer *buffer = [self newBufferOfLength:bytes atOffset:offset];
    pthread_mutex_lock(&_lock);
    int rc = [self insertRange:(sm_heap_range){offset, need.size, buffer, false}];
    pthread_mutex_unlock(&_lock);
    if (rc < 0) {
        [buffer release];
        return nil;
    }
    return buffer;
}

@end

@implementation SoftG1Heap
@end

@implementation SMDevice (Heaps)

- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options
{
    (void)options;
    return buffer_size_and_align(length);
}

- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor *)descriptor
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    sm_assert_metal([descriptor size] > 0, "Heap Descriptor Validation\nHeap size must be greater than 0.");
    sm_assert_metal([descriptor storageMode] != MTLStorageModeManaged &&
                        [descriptor storageMode] != MTLStorageModeMemoryless,
                    "Heap Descriptor Validation\nHeaps must have private or shared storage mode.");
    sm_assert_metal([descriptor type] != MTLHeapTypeSparse,
                    "Heap Descriptor Validation\nSparse heaps are not supported by this device.");
    // An absurd size is refused before rounding can overflow.
    if ([descriptor size] > [self maxBufferLength] * 16 || sm_allocation_fails())
        return nil;
    return [[SoftG1Heap alloc] initWithDevice:self descriptor:descriptor];
}

@end
