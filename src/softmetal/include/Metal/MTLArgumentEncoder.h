// SPDX-License-Identifier: MIT
// Writes resources into a buffer that a kernel reads as a struct of pointers. Own declarations for programs
// on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLARGUMENTENCODER_H
#define SOFTMETAL_MTLARGUMENTENCODER_H

#import <Metal/MTLBuffer.h>

@protocol MTLDevice;

@protocol MTLArgumentEncoder<NSObject>
@property (readonly) id<MTLDevice> device;
@property (copy) NSString *label;
@property (readonly) NSUInteger encodedLength;
@property (readonly) NSUInteger alignment;

- (void)setArgumentBuffer:(id<MTLBuffer>)argumentBuffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(id<MTLBuffer>)argumentBuffer
              startOffset:(NSUInteger)offset
             arrayElement:(NSUInteger)arrayElement;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(id<MTLBuffer> const *)buffers
           offsets:(const NSUInteger *)offsets
         withRange:(NSRange)range;
- (void *)constantDataAtIndex:(NSUInteger)index;
- (id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index;
@end

#endif
