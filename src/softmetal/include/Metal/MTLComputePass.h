// SPDX-License-Identifier: MIT
// How a compute encoder starts: dispatch type and the samples at its ends. Own declarations for programs on
// Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCOMPUTEPASS_H
#define SOFTMETAL_MTLCOMPUTEPASS_H

#import <Metal/MTLCommandBuffer.h>

@protocol MTLCounterSampleBuffer;

@interface MTLComputePassSampleBufferAttachmentDescriptor : NSObject<NSCopying> {
  @private
    id<MTLCounterSampleBuffer> _sampleBuffer;
    NSUInteger _startOfEncoderSampleIndex;
    NSUInteger _endOfEncoderSampleIndex;
}
@property (nonatomic, retain) id<MTLCounterSampleBuffer> sampleBuffer;
@property (nonatomic) NSUInteger startOfEncoderSampleIndex;
@property (nonatomic) NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLComputePassSampleBufferAttachmentDescriptorArray : NSObject {
  @private
    NSMutableDictionary *_attachments;
}
- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor *)descriptor
    atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLComputePassDescriptor : NSObject<NSCopying> {
  @private
    MTLDispatchType _dispatchType;
    MTLComputePassSampleBufferAttachmentDescriptorArray *_sampleBufferAttachments;
}
@property (nonatomic) MTLDispatchType dispatchType;
@property (readonly) MTLComputePassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;

+ (MTLComputePassDescriptor *)computePassDescriptor;
@end

#endif
