// SPDX-License-Identifier: MIT
// What all encoders have in common. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCOMMANDENCODER_H
#define SOFTMETAL_MTLCOMMANDENCODER_H

#import <Metal/MTLResource.h>

@protocol MTLDevice;

typedef NS_OPTIONS(NSUInteger, MTLBarrierScope) {
    MTLBarrierScopeBuffers = 1,
    MTLBarrierScopeTextures = 2,
    MTLBarrierScopeRenderTargets = 4,
};

@protocol MTLCommandEncoder<NSObject>
@property (readonly) id<MTLDevice> device;
@property (copy) NSString *label;

- (void)endEncoding;
- (void)insertDebugSignpost:(NSString *)string;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
@end

#endif
