// SPDX-License-Identifier: MIT
// What the files of the resource and program side (buffers, heaps, libraries, pipelines, counters, logs)
// share among themselves. The submission side uses internal.h only.
#ifndef SOFTMETAL_METAL_RESOURCE_H
#define SOFTMETAL_METAL_RESOURCE_H

#import "metal/internal.h"

#include "metal/constant_use.h"
#include "metal/data_type.h"
#include "metal/log_format.h"

#include <Block.h>
#include <pthread.h>
#include <stdatomic.h>

// ---- resources (resource.m) ----
@interface _SMResource : _SMDeviceObject {
  @protected
    MTLStorageMode _storageMode;
    MTLCPUCacheMode _cpuCacheMode;
    MTLHazardTrackingMode _hazardTrackingMode;
    _Atomic NSUInteger _purgeable_state;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device options:(MTLResourceOptions)options;
@property (readonly) MTLStorageMode storageMode;
@property (readonly) MTLCPUCacheMode cpuCacheMode;
@property (readonly) MTLHazardTrackingMode hazardTrackingMode;
@property (readonly) MTLResourceOptions resourceOptions;
@property (readonly) id<MTLHeap> heap;
@property (readonly) NSUInteger heapOffset;
@property (readonly) NSUInteger allocatedSize;
- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state;
- (void)makeAliasable;
- (BOOL)isAliasable;
@end

MTLResourceOptions sm_pack_options(MTLStorageMode storage, MTLCPUCacheMode cache,
                                   MTLHazardTrackingMode hazard);
MTLStorageMode sm_options_storage(MTLResourceOptions options);
MTLCPUCacheMode sm_options_cache(MTLResourceOptions options);
MTLHazardTrackingMode sm_options_hazard(MTLResourceOptions options);
// What setPurgeableState: does for anything that has such a state.
MTLPurgeableState sm_exchange_purgeable_state(_Atomic NSUInteger *state, MTLPurgeableState wanted);
size_t sm_page_size(void);
NSUInteger sm_round_up(NSUInteger value, NSUInteger alignment);
// Counts one allocation of a resource; true if it is the one that SOFTMETAL_FAULT=fail-alloc:N makes fail.
bool sm_allocation_fails(void);
// Device memory, counted in device->allocated_bytes. NULL if there is none.
void *sm_device_memory_alloc(SMDevice *device, size_t bytes);
void sm_device_memory_free(SMDevice *device, void *memory, size_t bytes);

@class SMHeap;

@interface SMBuffer : _SMResource<MTLBuffer> {
  @public
    void *memory;
    NSUInteger length;
  @protected
    SMHeap *_heap; // retained; nil for a buffer with memory of its own
    NSUInteger _heap_offset;
    void (^_deallocator)(void *pointer, NSUInteger length);
    bool _is_borrowed; // the application's memory (no-copy)
}
- (instancetype)initWithDevice:(SMDevice *)device
                        length:(NSUInteger)bytes
                       options:(MTLResourceOptions)options;
- (instancetype)initWithDevice:(SMDevice *)device
                        noCopy:(void *)pointer
                        length:(NSUInteger)bytes
                       options:(MTLResourceOptions)options
                   deallocator:(void (^)(void *pointer, NSUInteger length))deallocator;
- (instancetype)initWithHeap:(SMHeap *)heap
                      memory:(void *)pointer
                      length:(NSUInteger)bytes
                      offset:(NSUInteger)offset
                     options:(MTLResourceOptions)options;
@end

@interface SoftG1Buffer : SMBuffer
@end

@interface SoftR1Buffer : SMBuffer
@end

Class sm_buffer_class(void); // of this process's profile

// ---- heaps (heap.m) ----
typedef struct sm_heap_range {
    NSUInteger offset, size;
    const void *owner; // the buffer that holds it
    bool is_aliasable; // counted as free by the allocator, still backed
} sm_heap_range;

@interface SMHeap : _SMDeviceObject<MTLHeap> {
  @public
    void *memory;
  @protected
    MTLHeapType _type;
    MTLStorageMode _storageMode;
    MTLCPUCacheMode _cpuCacheMode;
    MTLHazardTrackingMode _hazardTrackingMode;
    NSUInteger _size;
    _Atomic NSUInteger _purgeable_state;
    pthread_mutex_t _lock;
    sm_heap_range *_ranges; // by offset
    size_t _range_count, _range_capacity;
}
- (instancetype)initWithDevice:(SMDevice *)device descriptor:(MTLHeapDescriptor *)descriptor;
- (void)releaseRangeOf:(const void *)owner;
- (void)makeRangeAliasableOf:(const void *)owner;
- (BOOL)isRangeAliasableOf:(const void *)owner;
- (NSUInteger)rangeSizeOf:(const void *)owner;
@end

@interface SoftG1Heap : SMHeap
@end

// ---- programs ----
// Runs function(context) on a new thread with an autorelease pool of its own.
void sm_run_async(void (*function)(void *context), void *context);

@interface SMLibrary : _SMDeviceObject<MTLLibrary> {
  @public
    sm_library *library;
  @protected
    NSArray *_names;
    MTLLibraryType _type;
    NSString *_installName;
    NSUInteger _max_threads;
    sm_use_index *_uses; // which function needs which constant; NULL if the library has none
}
- (NSUInteger)maxThreads; // of the compile options; 0 if none was asked for
// One flag for each constant of sm_library_constants.
- (void)findConstantsUsedBy:(const sm_function *)function used:(bool *)used;
// Takes over the caller's reference to compiled.
- (instancetype)initWithDevice:(id<MTLDevice>)device
                       library:(sm_library *)compiled
                       options:(MTLCompileOptions *)options;
@end

@interface SMDevice (Libraries)
- (id<MTLLibrary>)newLibraryWithText:(const char *)text
                              length:(size_t)length
                             options:(MTLCompileOptions *)options
                               error:(NSError **)error;
@end

@interface SMFunction : _SMDeviceObject<MTLFunction> {
  @public
    SMLibrary *owner; // retained
    const sm_function *function;
    sm_constant_value *values;
    size_t value_count;
  @protected
    NSString *_name;
    MTLFunctionOptions _options;
}
// specialized is the name that the function shows; nil for its own.
- (instancetype)initWithLibrary:(SMLibrary *)library
                       function:(const sm_function *)compiled
                         values:(MTLFunctionConstantValues *)constants
                specializedName:(NSString *)specialized
                        options:(MTLFunctionOptions)options;
// What is wrong with the constants' values, as Metal says it; nil if all is there.
- (NSString *)constantFault;
@end

@interface SoftG1Library : SMLibrary
@end

@interface SoftG1Function : SMFunction
@end

@interface SMComputePipelineState : _SMDeviceObject<MTLComputePipelineState> {
  @protected
    SMFunction *_function; // retained
    sm_pipeline *_pipeline;
    NSUInteger _max_threads;
    BOOL _support_indirect;
    MTLShaderValidation _shader_validation;
    MTLSize _required_threads;
    uint64_t _resource_id;
}
- (instancetype)initWithFunction:(SMFunction *)function
                        pipeline:(sm_pipeline *)pipeline
                      descriptor:(MTLComputePipelineDescriptor *)descriptor
                      maxThreads:(NSUInteger)max_threads;
- (sm_pipeline *)pipeline;
- (SMFunction *)function;
@end

@interface SoftG1ComputePipeline : SMComputePipelineState
@end

@interface SoftR1ComputePipeline : SMComputePipelineState
@end

// The kernel of a pipeline; waits for the compiler. NULL, and *error, if it cannot be compiled.
const sm_kernel *sm_wait_for_kernel(sm_pipeline *pipeline, NSError **error);

@interface MTLComputePipelineReflection (Softmetal)
- (instancetype)initWithFunction:(const sm_function *)function kernel:(const sm_kernel *)kernel;
@end

@interface MTLFunctionConstantValues (Softmetal)
// A malloc'd array with malloc'd names; free with sm_constant_values_free.
- (sm_constant_value *)softmetalCopyValues:(size_t *)count;
@end
void sm_constant_values_free(sm_constant_value *values, size_t count);

@interface MTLFunctionConstant (Softmetal)
- (instancetype)initWithConstant:(const sm_constant *)constant;
@end

// An encoder for a struct of 8-byte slots, as a kernel sees a struct of pointers.
id<MTLArgumentEncoder> sm_new_slot_encoder(id<MTLDevice> device, NSUInteger slots);

// A number that no other object of this process has, for gpuResourceID.
uint64_t sm_next_resource_id(void);

#endif
