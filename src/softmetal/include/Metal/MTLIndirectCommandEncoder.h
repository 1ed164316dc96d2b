// SPDX-License-Identifier: MIT
// One kernel launch inside an indirect command buffer. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLINDIRECTCOMMANDENCODER_H
#define SOFTMETAL_MTLINDIRECTCOMMANDENCODER_H

#import <Metal/MTLTypes.h>

@protocol MTLBuffer;
@protocol MTLComputePipelineState;

@protocol MTLIndirectComputeCommand<NSObject>
- (void)setComputePipelineState:(id<MTLComputePipelineState>)state;
- (void)setKernelBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)concurrentDispatchThreadgroups:(MTLSize)threadgroupsPerGrid
                 threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)concurrentDispatchThreads:(MTLSize)threadsPerGrid
            threadsPerThreadgroup:(MTLSize)threadsPerThreadgroup;
- (void)setBarrier;
- (void)clearBarrier;
- (void)reset;
- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index;
@end

#endif
