// SPDX-License-Identifier: MIT
// How a blit encoder starts: the samples at its ends. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLBLITPASS_H
#define SOFTMETAL_MTLBLITPASS_H

#import <Metal/MTLDefines.h>

@protocol MTLCounterSampleBuffer;

@interface MTLBlitPassSampleBufferAttachmentDescriptor : NSObject<NSCopying> {
  @private
    id<MTLCounterSampleBuffer> _sampleBuffer;
    NSUInteger _startOfEncoderSampleIndex;
    NSUInteger _endOfEncoderSampleIndex;
}
@property (nonatomic, retain) id<MTLCounterSampleBuffer> sampleBuffer;
@property (nonatomic) NSUInteger startOfEncoderSampleIndex;
@property (nonatomic) NSUInteger endOfEncoderSampleIndex;
@end

@interface MTLBlitPassSampleBufferAttachmentDescriptorArray : NSObject {
  @private
    NSMutableDictionary *_attachments;
}
- (MTLBlitPassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index;
- (void)setObject:(MTLBlitPassSampleBufferAttachmentDescriptor *)descriptor
    atIndexedSubscript:(NSUInteger)index;
@end

@interface MTLBlitPassDescriptor : NSObject<NSCopying> {
  @private
    MTLBlitPassSampleBufferAttachmentDescriptorArray *_sampleBufferAttachments;
}
@property (readonly) MTLBlitPassSampleBufferAttachmentDescriptorArray *sampleBufferAttachments;

+ (MTLBlitPassDescriptor *)blitPassDescriptor;
@end

#endif
