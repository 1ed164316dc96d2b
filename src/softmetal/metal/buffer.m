// SPDX-License-Identifier: MIT
// MTLBuffer: memory that kernels and the application share. Called from any thread; a buffer's memory never
// moves and its GPU address is its CPU address, so pointers inside argument structs work.
#import "metal/resource.h"

#include <objc/runtime.h>
#include <string.h>

@implementation SMBuffer

- (instancetype)initWithDevice:(SMDevice *)device length:(NSUInteger)bytes options:(MTLResourceOptions)options
{
    self = [super initWithDevice:device options:options];
    if (!self)
        return nil;
    length = bytes;
    memory = sm_device_memory_alloc(device, bytes);
    if (!memory) {
        [self release];
        return nil;
    }
    return self;
}

- (instancetype)initWithDevice:(SMDevice *)device
                        noCopy:(void *)pointer
                        length:(NSUInteger)bytes
                       options:(MTLResourceOptions)options
                   deallocator:(void (^)(void *pointer, NSUInteger length))deallocator
{
    self = [super initWithDevice:device options:options];
    if (!self)
        return nil;
    memory = pointer;
    length = bytes;
    _is_borrowed = true;
    if (deallocator)
        _deallocator = Block_copy(deallocator);
    atomic_fetch_add(&device->allocated_bytes, bytes);
    return self;
}

- (instancetype)initWithHeap:(SMHeap *)heap
                      memory:(void *)pointer
                      length:(NSUInteger)bytes
                      offset:(NSUInteger)offset
                     options:(MTLResourceOptions)options
{
    self = [super initWithDevice:[heap device] options:options];
    if (!self)
        return nil;
    _heap = [heap retain];
    _heap_offset = offset;
    memory = pointer;
    length = bytes;
    return self;
}

- (void)dealloc
{
    if (_heap) {
        [_heap releaseRangeOf:self];
        [_heap release];
    } else if (_is_borrowed) {
        atomic_fetch_sub(&((SMDevice *)_device)->allocated_bytes, length);
        if (_deallocator) {
            _deallocator(memory, length);
            Block_release(_deallocator);
        }
    } else {
        sm_device_memory_free((SMDevice *)_device, memory, length);
    }
    [super dealloc];
}

- (void *)contents
{
    return _storageMode == MTLStorageModePrivate ? NULL : memory;
}

- (NSUInteger)length
{
    return length;
}

- (uint64_t)gpuAddress
{
    return (uint64_t)(uintptr_t)memory;
}

- (id<MTLHeap>)heap
{
    return _heap;
}

- (NSUInteger)heapOffset
{
    return _heap_offset;
}

- (NSUInteger)allocatedSize
{
    return _heap ? [_heap rangeSizeOf:self] : sm_round_up(length, sm_page_size());
}

- (void)makeAliasable
{
    [super makeAliasable];
    [_heap makeRangeAliasableOf:self];
}

- (BOOL)isAliasable
{
    return _heap ? [_heap isRangeAliasableOf:self] : NO;
}

- (void)didModifyRange:(NSRange)range
{
    sm_assert_metal(_storageMode == MTLStorageModeManaged,
                    "didModifyRange can only be called on buffers with managed storage mode.");
    sm_assert_metal(range.location <= length && range.length <= length - range.location,
                    "range.location(%lu) + range.length(%lu) must be <= buffer length(%lu).",
                    (unsigned long)range.location, (unsigned long)range.length, (unsigned long)length);
}

- (void)addDebugMarker:(NSString *)marker range:(NSRange)range
{
    sm_assert_metal(marker != nil, "marker must not be nil.");
    sm_assert_metal(range.location <= length && range.length <= length - range.location,
                    "range {%lu, %lu} is outside of the buffer's length %lu.", (unsigned long)range.location,
                    (unsigned long)range.length, (unsigned long)length);
}

- (void)removeAllDebugMarkers
{
}

- (NSString *)description
{
    return [NSString stringWithFormat:@"<%@: %p>\n    label = %@\n    length = %lu", [self class], self,
                                      _label ? _label : @"<none>", (unsigned long)length];
}

@end

@implementation SoftG1Buffer

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state
{
    sm_assert_metal(!_heap || state == MTLPurgeableStateKeepCurrent,
                    "setPurgeableState is not for resources of a heap; use the heap's.");
    return [super setPurgeableState:state];
}

@end

@implementation SoftR1Buffer
@end

Class sm_buffer_class(void)
{
    return sm_get_settings()->profile == SM_PROFILE_APPLE ? [SoftG1Buffer class] : [SoftR1Buffer class];
}

sm_binding sm_buffer_binding(id<MTLBuffer> buffer, NSUInteger offset)
{
    // Called for every bound buffer of every dispatch: wrappers are looked for only where there can be one.
    Class exact = object_getClass(buffer);
    bool is_bare = exact == [SoftG1Buffer class] || exact == [SoftR1Buffer class];
    SMBuffer *base = is_bare ? (SMBuffer *)buffer : sm_debug_innermost(buffer);
    if (!base || offset > base->length)
        return (sm_binding){0};
    return (sm_binding){(char *)base->memory + offset, base->length - offset};
}

@implementation SMDevice (Buffers)

- (void)checkBufferLength:(NSUInteger)length options:(MTLResourceOptions)options selector:(SEL)selector
{
    if (length == 0)
        sm_fail_metal(object_getClassName(self), selector, __LINE__,
                      "Buffer Validation\nCannot create buffer of zero length.");
    if (sm_options_storage(options) == MTLStorageModeMemoryless)
        sm_fail_metal(object_getClassName(self), selector, __LINE__,
                      "Buffer Validation\nMemoryless storage mode is not for buffers.");
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options
{
    [self checkBufferLength:length options:options selector:_cmd];
    if (length > [self maxBufferLength] || sm_allocation_fails())
        return nil;
    return [[sm_buffer_class() alloc] initWithDevice:self length:length options:options];
}

- (id<MTLBuffer>)newBufferWithBytes:(const void *)pointer
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options
{
    sm_assert_metal(pointer != NULL, "pointer must not be NULL.");
    sm_assert_metal(sm_options_storage(options) != MTLStorageModePrivate,
                    "Buffer Validation\nnewBufferWithBytes cannot be used with private storage mode.");
    SMBuffer *buffer = [self newBufferWithLength:length options:options];
    if (buffer)
        memcpy(buffer->memory, pointer, length);
    return buffer;
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void *)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void *pointer, NSUInteger length))deallocator
{
    size_t page = sm_page_size();
    [self checkBufferLength:length options:options selector:_cmd];
    sm_assert_metal(pointer != NULL, "newBufferWithBytesNoCopy:pointer must not be NULL.");
    sm_assert_metal((uintptr_t)pointer % page == 0,
                    "newBufferWithBytesNoCopy:pointer %p is not %zu byte aligned.", pointer, page);
    sm_assert_metal(length % page == 0, "newBufferWithBytesNoCopy:length 0x%lx is not %zu byte aligned.",
                    (unsigned long)length, page);
    sm_assert_metal(sm_options_storage(options) != MTLStorageModePrivate,
                    "newBufferWithBytesNoCopy cannot be used with private storage mode.");
    if (length > [self maxBufferLength] || sm_allocation_fails())
        return nil;
    return [[sm_buffer_class() alloc] initWithDevice:self
                                              noCopy:pointer
                                              length:length
                                             options:options
                                         deallocator:deallocator];
}

@end
