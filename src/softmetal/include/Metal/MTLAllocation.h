// SPDX-License-Identifier: MIT
// What a residency set can hold: heaps and resources. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLALLOCATION_H
#define SOFTMETAL_MTLALLOCATION_H

#import <Metal/MTLDefines.h>

@protocol MTLAllocation<NSObject>
@property (readonly) NSUInteger allocatedSize;
@end

#endif
