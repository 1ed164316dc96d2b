// SPDX-License-Identifier: MIT
// What the files of softmetal's Metal classes share: base classes, settings, and the C functions by which the
// submission side (queues, command buffers, encoders) uses the resource side (buffers, events, pipelines,
// counters, capture). Private to src/softmetal/metal; programs see only <Metal/Metal.h>.
#ifndef SOFTMETAL_METAL_INTERNAL_H
#define SOFTMETAL_METAL_INTERNAL_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "compiler/compiler.h"
#include "exec/exec.h"

// ---- settings: read once, when the first device is made (settings.m) ----
typedef enum sm_profile { SM_PROFILE_APPLE, SM_PROFILE_AMD, SM_PROFILE_NONE } sm_profile;
typedef struct sm_settings {
    sm_profile profile;       // SOFTMETAL_PROFILE=apple|amd|none
    int debug_layer;          // SOFTMETAL_DEBUG_LAYER=0|1|2: how many wrappers around queue, buffer, encoders
    bool capture_enabled;     // METAL_CAPTURE_ENABLED=1 or MTL_CAPTURE_ENABLED=1 at the first device
    bool validate;            // SOFTMETAL_VALIDATE=1
    long fail_command_buffer; // SOFTMETAL_FAULT=fail-cb:N : the Nth committed command buffer (from 0) fails;
                              // -1 none
    bool nil_counter_sets;    // SOFTMETAL_FAULT=nil-counter-sets
    bool zero_samples;        // SOFTMETAL_FAULT=zero-samples
    bool error_samples;       // SOFTMETAL_FAULT=error-samples
    long fail_allocation; // SOFTMETAL_FAULT=fail-alloc:N : the Nth resource allocation (from 0) gives nil; -1
                          // none
    const char *log_path; // SOFTMETAL_LOG=file : the execution log (execution_log.h); NULL none
} sm_settings;
const sm_settings *
sm_get_settings(void); // unknown values: one line on stderr naming the right ones, default used

// Metal's validation failure: prints "-[Class selector]:line: failed assertion `text'" to stderr and aborts.
#define sm_assert_metal(condition, ...)                                                                      \
    ((condition) ? (void)0 : sm_fail_metal(object_getClassName(self), _cmd, __LINE__, __VA_ARGS__))
void sm_fail_metal(const char *class_name, SEL selector, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

// ---- base classes (base.m), as a driver has them: labels live above, the device's children below ----
@interface _SMObjectWithLabel : NSObject {
  @protected
    NSString *_label;
}
@property (copy) NSString *label;
@end

@interface _SMDeviceObject : _SMObjectWithLabel {
  @protected
    id<MTLDevice> _device; // retained
}
- (instancetype)initWithDevice:(id<MTLDevice>)device;
@property (readonly) id<MTLDevice> device;
@end

// The device. Base in device.m; the resource side adds its creation methods in categories of its own files.
// Concrete subclasses, one family per profile, are in device.m.
@interface SMDevice : NSObject<MTLDevice> {
  @protected
    NSString *_name;
    uint64_t _registry_id;
  @public
    _Atomic uint64_t allocated_bytes; // currentAllocatedSize, kept by the resource side
    _Atomic int live_sample_buffers;  // at most 32
}
@end

// ---- the resource side, used by the submission side ----
sm_binding sm_buffer_binding(id<MTLBuffer> buffer, NSUInteger offset); // works for any wrapper depth
sm_pipeline *sm_pipeline_state_pipeline(id<MTLComputePipelineState> state);
NSString *sm_pipeline_state_function_name(id<MTLComputePipelineState> state);
NSString *sm_pipeline_state_source(id<MTLComputePipelineState> state);
// Playback of encodeWaitForEvent: / encodeSignalEvent:. The wait blocks the calling (queue) thread.
void sm_event_wait_on_gpu(id<MTLEvent> event, uint64_t value);
void sm_event_signal_on_gpu(id<MTLEvent> event, uint64_t value);
// Stores one timestamp (ns of sm_now_ns), or the fault value that the settings ask for.
void sm_counter_store(id<MTLCounterSampleBuffer> buffer, NSUInteger index, uint64_t ns);
void sm_counter_resolve(id<MTLCounterSampleBuffer> buffer, NSRange range, void *destination);
// One command of an indirect command buffer as recorded by MTLIndirectComputeCommand.
typedef struct sm_indirect_command {
    id<MTLComputePipelineState> pipeline; // nil: inherited from the encoder, or the command is reset
    bool is_set;                          // false: nothing to do (reset)
    bool barrier;
    bool threads_form; // grid is in threads
    MTLSize grid, group;
    sm_binding buffer[SM_MAX_BUFFERS];
    uint32_t threadgroup_bytes[SM_MAX_BUFFERS];
} sm_indirect_command;
NSUInteger sm_icb_size(id<MTLIndirectCommandBuffer> icb);
const sm_indirect_command *sm_icb_command(id<MTLIndirectCommandBuffer> icb, NSUInteger i);
BOOL sm_icb_inherits_pipeline(id<MTLIndirectCommandBuffer> icb);
BOOL sm_icb_inherits_buffers(id<MTLIndirectCommandBuffer> icb);
// Playback of the blit encoder's copyIndirectCommandBuffer:; ranges were checked when it was encoded.
void sm_icb_copy(id<MTLIndirectCommandBuffer> source, NSRange range, id<MTLIndirectCommandBuffer> destination,
                 NSUInteger index);
// Kernel log output goes to the command buffer's or the device's log state, else to stderr. The submission
// side passes the log state (of the command buffer's descriptor, else of the queue's) or NULL as
// sm_launch.log_context.
sm_log_fn sm_log_function(void);

// ---- capture, told by the submission side (capture.m) ----
// Called when a command buffer is made (before the application gets it) and in commit. The description is a
// property list: {label, queue, encoders: [{type, label, dispatches: [{kernel, grid, threadgroup, ...}]}]}.
BOOL sm_capture_wants(id<MTLCommandQueue> queue); // a capture runs and covers this queue's new buffers
void sm_capture_created(id command_buffer, id<MTLCommandQueue> queue);
void sm_capture_committed(id command_buffer);

// ---- the submission side, used by the resource side ----
NSDictionary *sm_command_buffer_description(id<MTLCommandBuffer> command_buffer);
// Every pipeline state that the command buffer dispatches.
NSSet *sm_command_buffer_pipelines(id<MTLCommandBuffer> command_buffer);
id sm_debug_innermost(id object); // the driver's object behind any number of wrappers

NSError *sm_error(NSString *domain, NSInteger code, NSString *text); // NSLocalizedDescriptionKey = text

#endif
