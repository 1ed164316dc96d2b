// SPDX-License-Identifier: MIT
// Sets of allocations that are made resident together. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLRESIDENCYSET_H
#define SOFTMETAL_MTLRESIDENCYSET_H

#import <Metal/MTLAllocation.h>

@protocol MTLDevice;

@interface MTLResidencySetDescriptor : NSObject<NSCopying> {
  @private
    NSString *_label;
    NSUInteger _initialCapacity;
}
@property (nonatomic, copy) NSString *label;
@property (nonatomic) NSUInteger initialCapacity;
@end

@protocol MTLResidencySet<NSObject>
@property (readonly) id<MTLDevice> device;
@property (readonly) NSString *label;
@property (readonly) uint64_t allocatedSize;
@property (readonly, copy) MTL_ARRAY_OF(id<MTLAllocation>) * allAllocations;
@property (readonly) NSUInteger allocationCount;

- (void)requestResidency;
- (void)endResidency;
- (void)addAllocation:(id<MTLAllocation>)allocation;
- (void)addAllocations:(const id<MTLAllocation> *)allocations count:(NSUInteger)count;
- (void)removeAllocation:(id<MTLAllocation>)allocation;
- (void)removeAllocations:(const id<MTLAllocation> *)allocations count:(NSUInteger)count;
- (void)removeAllAllocations;
- (BOOL)containsAllocation:(id<MTLAllocation>)allocation;
- (void)commit;
@end

#endif
