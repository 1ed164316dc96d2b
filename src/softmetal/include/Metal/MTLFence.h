// SPDX-License-Identifier: MIT
// Order between encoders of one queue. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLFENCE_H
#define SOFTMETAL_MTLFENCE_H

#import <Metal/MTLDefines.h>

@protocol MTLDevice;

@protocol MTLFence<NSObject>
@property (readonly) id<MTLDevice> device;
@property (copy) NSString *label;
@end

#endif
