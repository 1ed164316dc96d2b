// SPDX-License-Identifier: MIT
// Untyped memory that kernels reach. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLBUFFER_H
#define SOFTMETAL_MTLBUFFER_H

#import <Metal/MTLResource.h>

@protocol MTLBuffer<MTLResource>
@property (readonly) NSUInteger length;
@property (readonly) uint64_t gpuAddress;

- (void *)contents;
- (void)didModifyRange:(NSRange)range;
- (void)addDebugMarker:(NSString *)marker range:(NSRange)range;
- (void)removeAllDebugMarkers;
@end

#endif
