// SPDX-License-Identifier: MIT
// Index settings of stage-in kernels; softmetal has no vertex attributes. Own declarations for programs on
// Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLSTAGEINPUTOUTPUTDESCRIPTOR_H
#define SOFTMETAL_MTLSTAGEINPUTOUTPUTDESCRIPTOR_H

#import <Metal/MTLArgument.h>

typedef NS_ENUM(NSUInteger, MTLIndexType) {
    MTLIndexTypeUInt16 = 0,
    MTLIndexTypeUInt32 = 1,
};

@interface MTLStageInputOutputDescriptor : NSObject<NSCopying> {
  @private
    MTLIndexType _indexType;
    NSUInteger _indexBufferIndex;
}
@property (nonatomic) MTLIndexType indexType;
@property (nonatomic) NSUInteger indexBufferIndex;

+ (MTLStageInputOutputDescriptor *)stageInputOutputDescriptor;
- (void)reset;
@end

#endif
