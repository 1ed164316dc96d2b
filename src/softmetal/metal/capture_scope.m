// SPDX-License-Identifier: MIT
// MTLCaptureScope: marks a span of an application's work that a capture can be taken of. Begun and ended by
// the application's threads, looked at by whoever makes a command buffer.
#import "metal/capture.h"

@implementation SMCaptureScope

- (instancetype)initWithDevice:(id<MTLDevice>)device queue:(id<MTLCommandQueue>)queue
{
    self = [super init];
    if (!self)
        return nil;
    _device = [device retain];
    _queue = [queue retain];
    atomic_init(&_is_open, false);
    return self;
}

- (void)dealloc
{
    [_device release];
    [_queue release];
    [super dealloc];
}

- (id<MTLDevice>)device
{
    return _device;
}

- (id<MTLCommandQueue>)commandQueue
{
    return _queue;
}

- (bool)isOpen
{
    return atomic_load(&_is_open);
}

- (void)beginScope
{
    atomic_store(&_is_open, true);
}

- (void)endScope
{
    if (atomic_exchange(&_is_open, false))
        sm_capture_scope_ended(self);
}

@end
