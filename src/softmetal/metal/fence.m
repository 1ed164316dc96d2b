// SPDX-License-Identifier: MIT
// MTLFence: a name for an order between encoders. Encoders of a queue run in order here, so a fence carries
// no state; it exists to be passed around and checked.
#import "metal/resource.h"

@interface SMFence : _SMDeviceObject<MTLFence>
@end

@implementation SMFence
@end

@implementation SMDevice (Fences)

- (id<MTLFence>)newFence
{
    return [[SMFence alloc] initWithDevice:self];
}

@end
