// SPDX-License-Identifier: MIT
// A span of work that a capture can cover. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCAPTURESCOPE_H
#define SOFTMETAL_MTLCAPTURESCOPE_H

#import <Metal/MTLDefines.h>

@protocol MTLCommandQueue;
@protocol MTLDevice;

@protocol MTLCaptureScope<NSObject>
@property (copy) NSString *label;
@property (nonatomic, readonly) id<MTLDevice> device;
@property (nonatomic, readonly) id<MTLCommandQueue> commandQueue;

- (void)beginScope;
- (void)endScope;
@end

#endif
