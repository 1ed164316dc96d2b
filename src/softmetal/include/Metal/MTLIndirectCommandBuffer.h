// SPDX-License-Identifier: MIT
// Kernel launches recorded once and executed often. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLINDIRECTCOMMANDBUFFER_H
#define SOFTMETAL_MTLINDIRECTCOMMANDBUFFER_H

#import <Metal/MTLIndirectCommandEncoder.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

typedef NS_OPTIONS(NSUInteger, MTLIndirectCommandType) {
    MTLIndirectCommandTypeDraw = 0x1,
    MTLIndirectCommandTypeDrawIndexed = 0x2,
    MTLIndirectCommandTypeDrawPatches = 0x4,
    MTLIndirectCommandTypeDrawIndexedPatches = 0x8,
    MTLIndirectCommandTypeConcurrentDispatch = 0x20,
    MTLIndirectCommandTypeConcurrentDispatchThreads = 0x40,
    MTLIndirectCommandTypeDrawMeshThreadgroups = 0x80,
    MTLIndirectCommandTypeDrawMeshThreads = 0x100,
};

typedef struct {
    uint32_t location;
    uint32_t length;
} MTLIndirectCommandBufferExecutionRange;

static inline MTLIndirectCommandBufferExecutionRange
MTLIndirectCommandBufferExecutionRangeMake(uint32_t location, uint32_t length)
{
    MTLIndirectCommandBufferExecutionRange range = {location, length};
    return range;
}

@interface MTLIndirectCommandBufferDescriptor : NSObject<NSCopying> {
  @private
    MTLIndirectCommandType _commandTypes;
    BOOL _inheritPipelineState;
    BOOL _inheritBuffers;
    NSUInteger _maxVertexBufferBindCount;
    NSUInteger _maxFragmentBufferBindCount;
    NSUInteger _maxKernelBufferBindCount;
    NSUInteger _maxKernelThreadgroupMemoryBindCount;
    BOOL _supportRayTracing;
}
@property (nonatomic) MTLIndirectCommandType commandTypes;
@property (nonatomic) BOOL inheritPipelineState;
@property (nonatomic) BOOL inheritBuffers;
@property (nonatomic) NSUInteger maxVertexBufferBindCount;
@property (nonatomic) NSUInteger maxFragmentBufferBindCount;
@property (nonatomic) NSUInteger maxKernelBufferBindCount;
@property (nonatomic) NSUInteger maxKernelThreadgroupMemoryBindCount;
@property (nonatomic) BOOL supportRayTracing;
@end

@protocol MTLIndirectCommandBuffer<MTLResource>
@property (readonly) NSUInteger size;
@property (readonly) MTLResourceID gpuResourceID;

- (void)resetWithRange:(NSRange)range;
- (id<MTLIndirectComputeCommand>)indirectComputeCommandAtIndex:(NSUInteger)commandIndex;
@end

#endif
