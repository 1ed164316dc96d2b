// SPDX-License-Identifier: MIT
// Capture: the scope object and the bundle on disk. Private to capture.m, capture_scope.m and
// capture_bundle.m.
#ifndef SOFTMETAL_METAL_CAPTURE_H
#define SOFTMETAL_METAL_CAPTURE_H

#import "metal/resource.h"

@interface SMCaptureScope : _SMObjectWithLabel<MTLCaptureScope> {
    id<MTLDevice> _device;      // retained
    id<MTLCommandQueue> _queue; // retained; nil: all of the device's
    _Atomic bool _is_open;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device queue:(id<MTLCommandQueue>)queue;
- (bool)isOpen; // between beginScope and endScope
@end

// What an application may ask to capture. Told by class: libobjc finds a protocol that clang emitted only in
// files that also have a class which adopts it.
typedef enum sm_capture_kind {
    SM_CAPTURE_NOTHING,
    SM_CAPTURE_DEVICE,
    SM_CAPTURE_QUEUE,
    SM_CAPTURE_SCOPE
} sm_capture_kind;
sm_capture_kind sm_capture_kind_of(id object);

// The scope was closed: a capture of it is over.
void sm_capture_scope_ended(SMCaptureScope *scope);

// What a finished capture holds.
@interface SMCaptureRecord : NSObject {
  @public
    id object;                    // device, queue or scope; retained
    NSString *path;               // where the bundle goes
    uint64_t start_ns, stop_ns;   // of sm_now_ns
    NSMutableArray *descriptions; // of command buffers, in commit order
    NSMutableSet *pipelines;      // states that they dispatch
}
@end

// Writes the bundle under another name and renames it. NO, and *why, if it cannot; nothing is left then.
BOOL sm_capture_write_bundle(SMCaptureRecord *record, NSString **why);

#endif
