// SPDX-License-Identifier: MIT
// Compiled kernels, how they are asked for, and their reflection. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCOMPUTEPIPELINE_H
#define SOFTMETAL_MTLCOMPUTEPIPELINE_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLLinkedFunctions.h>
#import <Metal/MTLPipeline.h>
#import <Metal/MTLStageInputOutputDescriptor.h>
#import <Metal/MTLTypes.h>

@protocol MTLBinaryArchive;
@protocol MTLDevice;
@protocol MTLDynamicLibrary;
@protocol MTLFunction;

@interface MTLComputePipelineReflection : NSObject {
  @private
    MTL_ARRAY_OF(id<MTLBinding>) * _bindings;
    MTL_ARRAY_OF(MTLArgument *) * _arguments;
}
@property (readonly) MTL_ARRAY_OF(id<MTLBinding>) * bindings;
@property (readonly) MTL_ARRAY_OF(MTLArgument *) * arguments;
@end

@interface MTLComputePipelineDescriptor : NSObject<NSCopying> {
  @private
    NSString *_label;
    id<MTLFunction> _computeFunction;
    BOOL _threadGroupSizeIsMultipleOfThreadExecutionWidth;
    NSUInteger _maxTotalThreadsPerThreadgroup;
    MTLStageInputOutputDescriptor *_stageInputDescriptor;
    MTLPipelineBufferDescriptorArray *_buffers;
    BOOL _supportIndirectCommandBuffers;
    MTL_ARRAY_OF(id<MTLDynamicLibrary>) * _insertLibraries;
    MTL_ARRAY_OF(id<MTLDynamicLibrary>) * _preloadedLibraries;
    MTL_ARRAY_OF(id<MTLBinaryArchive>) * _binaryArchives;
    MTLLinkedFunctions *_linkedFunctions;
    BOOL _supportAddingBinaryFunctions;
    NSUInteger _maxCallStackDepth;
    MTLShaderValidation _shaderValidation;
    MTLSize _requiredThreadsPerThreadgroup;
}
@property (nonatomic, copy) NSString *label;
@property (nonatomic, retain) id<MTLFunction> computeFunction;
@property (nonatomic) BOOL threadGroupSizeIsMultipleOfThreadExecutionWidth;
@property (nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property (nonatomic, copy) MTLStageInputOutputDescriptor *stageInputDescriptor;
@property (readonly) MTLPipelineBufferDescriptorArray *buffers;
@property (nonatomic) BOOL supportIndirectCommandBuffers;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLDynamicLibrary>) * insertLibraries;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLDynamicLibrary>) * preloadedLibraries;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLBinaryArchive>) * binaryArchives;
@property (nonatomic, copy) MTLLinkedFunctions *linkedFunctions;
@property (nonatomic) BOOL supportAddingBinaryFunctions;
@property (nonatomic) NSUInteger maxCallStackDepth;
@property (nonatomic) MTLShaderValidation shaderValidation;
@property (nonatomic) MTLSize requiredThreadsPerThreadgroup;

- (void)reset;
@end

@protocol MTLComputePipelineState<NSObject>
@property (readonly) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) NSUInteger maxTotalThreadsPerThreadgroup;
@property (readonly) NSUInteger threadExecutionWidth;
@property (readonly) NSUInteger staticThreadgroupMemoryLength;
@property (readonly) BOOL supportIndirectCommandBuffers;
@property (readonly) MTLResourceID gpuResourceID;
@end

#endif
