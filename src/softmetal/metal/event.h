// SPDX-License-Identifier: MIT
// Events and the listeners that their notifications run on. Private to event.m and event_listener.m.
#ifndef SOFTMETAL_METAL_EVENT_H
#define SOFTMETAL_METAL_EVENT_H

#import "metal/resource.h"

typedef struct sm_event_state sm_event_state;

@interface SMEvent : _SMDeviceObject<MTLEvent> {
  @protected
    sm_event_state *_state;
}
- (instancetype)initSharing:(SMEvent *)other device:(id<MTLDevice>)device;
- (void)waitOnGPUForValue:(uint64_t)value;
- (void)signalOnGPU:(uint64_t)value;
@end

@interface SMSharedEvent : SMEvent<MTLSharedEvent>
@end

@interface MTLSharedEventHandle (Softmetal)
- (instancetype)initWithSoftmetalEvent:(SMSharedEvent *)event;
- (SMSharedEvent *)softmetalEvent;
@end

@interface MTLSharedEventListener (Softmetal)
// Runs function(context) on the listener's queue or thread, in order. The caller's thread never runs it.
- (void)softmetalRun:(void (*)(void *context))function context:(void *)context;
@end

#endif
