// SPDX-License-Identifier: MIT
// What pipelines say of the buffers they bind. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLPIPELINE_H
#define SOFTMETAL_MTLPIPELINE_H

#import <Metal/MTLDefines.h>

typedef NS_ENUM(NSUInteger, MTLMutability) {
    MTLMutabilityDefault = 0,
    MTLMutabilityMutable = 1,
    MTLMutabilityImmutable = 2,
};

typedef NS_ENUM(NSInteger, MTLShaderValidation) {
    MTLShaderValidationDefault = 0,
    MTLShaderValidationEnabled = 1,
    MTLShaderValidationDisabled = 2,
};

@interface MTLPipelineBufferDescriptor : NSObject<NSCopying> {
  @private
    MTLMutability _mutability;
}
@property (nonatomic) MTLMutability mutability;
@end

@interface MTLPipelineBufferDescriptorArray : NSObject {
  @private
    NSMutableDictionary *_descriptors;
}
- (MTLPipelineBufferDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLPipelineBufferDescriptor *)descriptor atIndexedSubscript:(NSUInteger)index;
@end

#endif
