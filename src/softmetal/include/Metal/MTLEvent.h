// SPDX-License-Identifier: MIT
// Order between command buffers (events), and between GPU and CPU (shared events). Own declarations for
// programs on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLEVENT_H
#define SOFTMETAL_MTLEVENT_H

#import <Metal/MTLDefines.h>

@protocol MTLDevice;
@protocol MTLSharedEvent;

@protocol MTLEvent<NSObject>
@property (readonly) id<MTLDevice> device;
@property (copy) NSString *label;
@end

@interface MTLSharedEventListener : NSObject {
  @private
    dispatch_queue_t _dispatchQueue;
}
@property (readonly) dispatch_queue_t dispatchQueue;

- (instancetype)init;
- (instancetype)initWithDispatchQueue:(dispatch_queue_t)dispatchQueue;
+ (MTLSharedEventListener *)sharedListener;
@end

@interface MTLSharedEventHandle : NSObject<NSSecureCoding> {
  @private
    id<MTLSharedEvent> _event;
    NSString *_label;
}
@property (readonly) NSString *label;
@end

#if MTL_HAS_BLOCKS
typedef void (^MTLSharedEventNotificationBlock)(id<MTLSharedEvent>, uint64_t);
#endif

@protocol MTLSharedEvent<MTLEvent>
@property uint64_t signaledValue;

#if MTL_HAS_BLOCKS
- (void)notifyListener:(MTLSharedEventListener *)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block;
#endif
- (MTLSharedEventHandle *)newSharedEventHandle;
- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds;
@end

#endif
