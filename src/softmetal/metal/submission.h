// SPDX-License-Identifier: MIT
// What queues, command buffers, encoders, playback and the debug layers share among themselves. The resource
// side uses internal.h only. Class names have the shape of a driver's: private bases, a middle that does the
// work, and one concrete class per GPU family.
#ifndef SOFTMETAL_METAL_SUBMISSION_H
#define SOFTMETAL_METAL_SUBMISSION_H

#import "metal/commands.h"

#include <Block.h>
#include <pthread.h>
#include <stdatomic.h>

// sm_assert_metal for a method that does the checks of several.
#define sm_assert_metal_as(selector, condition, ...)                                                         \
    ((condition) ? (void)0 : sm_fail_metal(object_getClassName(self), selector, __LINE__, __VA_ARGS__))

@class SMGPUCommandBuffer, SMGPUCommandQueue, _SMCommandEncoder;

// The concrete classes of one GPU family.
typedef struct sm_family {
    Class queue, command_buffer, compute_encoder, blit_encoder;
} sm_family;

@interface SMDevice (Submission)
- (sm_family)family;
- (NSString *)familyName;
- (NSString *)architectureName;
- (BOOL)samplesAtStageBoundary;
- (BOOL)samplesAtDispatchBoundary;
- (BOOL)samplesAtBlitBoundary;
@end

// A device that runs command buffers: queues and limits. The families are below it (families.m).
@interface SMGPUDevice : SMDevice {
    _Atomic BOOL _maximize_compilation;
}
@end

@interface SoftG1Device : SMGPUDevice // SOFTMETAL_PROFILE=apple
@end

@interface SoftR1Device : SMGPUDevice // SOFTMETAL_PROFILE=amd and none
@end

// ---- queues (queue.m) ----
@interface _SMCommandQueue : _SMDeviceObject {
  @protected
    pthread_mutex_t _lock;
    NSMutableArray *_residencySets;
}
- (void)insertDebugCaptureBoundary;
- (void)addResidencySet:(id<MTLResidencySet>)set;
- (void)addResidencySets:(const id<MTLResidencySet> *)sets count:(NSUInteger)count;
- (void)removeResidencySet:(id<MTLResidencySet>)set;
- (void)removeResidencySets:(const id<MTLResidencySet> *)sets count:(NSUInteger)count;
@end

@interface SMGPUCommandQueue : _SMCommandQueue<MTLCommandQueue> {
  @protected
    pthread_cond_t _room; // a command buffer was finished or dropped
    NSUInteger _max_buffers, _live_buffers;
    SMGPUCommandBuffer *_first, *_last;           // enqueued, in order
    SMGPUCommandBuffer *_first_done, *_last_done; // executed, handlers still to run
    bool _executing, _completing;
  @public
    sm_family family;
    id<MTLLogState> log_state; // retained
    unsigned number;           // in order of creation, for the execution log
}
- (instancetype)initWithDevice:(SMDevice *)device
                    maxBuffers:(NSUInteger)max_buffers
                      logState:(id<MTLLogState>)log;
// The next three are sent by command buffers.
- (void)reservePlaceFor:(SMGPUCommandBuffer *)buffer; // enqueue
- (void)submit:(SMGPUCommandBuffer *)buffer;          // commit; enqueued or not
- (void)forget:(SMGPUCommandBuffer *)buffer;          // dropped without commit
- (void)runWithPool:(NSAutoreleasePool *)pool;        // by a worker: executes all that is ready
@end

// Runs -[queue runWithPool:] on a thread of the pool (queue_threads.m). The queue stays alive until then.
void sm_start_worker(SMGPUCommandQueue *queue);

// ---- command buffers (command_buffer.m) ----
typedef struct sm_handler {
    struct sm_handler *next;
    MTLCommandBufferHandler block;
} sm_handler;

// Labels, handlers, state: what a command buffer is before anything can run it.
@interface _SMCommandBuffer : _SMObjectWithLabel {
  @protected
    SMGPUCommandQueue *_queue; // retained
    _Atomic NSUInteger _status;
    NSError *_error;
    MTLCommandBufferErrorOption _errorOptions;
    sm_handler *_scheduled, *_completed;
    sm_handler **_scheduled_link, **_completed_link;
    _SMCommandEncoder *_open_encoder; // not retained: an encoder that goes away unended aborts
    unsigned _debug_groups;
    pthread_mutex_t _lock;
    pthread_cond_t _changed;
    bool _is_finished; // handlers have run
    sm_commands _commands;
}
- (instancetype)initWithQueue:(SMGPUCommandQueue *)queue
                      retains:(BOOL)retains
                 errorOptions:(MTLCommandBufferErrorOption)options;
@property (readonly) id<MTLDevice> device;
@property (readonly) id<MTLCommandQueue> commandQueue;
@property (readonly) BOOL retainedReferences;
@property (readonly) MTLCommandBufferErrorOption errorOptions;
@property (readonly) MTLCommandBufferStatus status;
@property (readonly) NSError *error;
- (void)addScheduledHandler:(MTLCommandBufferHandler)block;
- (void)addCompletedHandler:(MTLCommandBufferHandler)block;
- (void)runScheduledHandlers;
- (void)runCompletedHandlers;
- (void)changeStatus:(MTLCommandBufferStatus)status finished:(bool)finished;
- (void)waitUntilScheduled;
- (void)waitUntilCompleted;
- (void)enqueue;
- (void)commit;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
- (sm_commands *)commands;
- (void)encoderDidEnd:(_SMCommandEncoder *)encoder;
@end

@interface SMGPUCommandBuffer : _SMCommandBuffer<MTLCommandBuffer> {
  @public
    // Kept by the queue, under its lock.
    SMGPUCommandBuffer *queue_next, *queue_previous;
    bool queue_listed, queue_ready;
    id<MTLLogState> log_state; // retained
    unsigned number;           // in order of commit over the whole process; set by commit
  @protected
    uint64_t _kernel_start_ns, _kernel_end_ns, _gpu_start_ns, _gpu_end_ns;
}
- (BOOL)hasCompletedHandlers;
- (void)execute; // by the queue, in order
- (void)finish;  // by the queue, in order, after execute: handlers, then waiters
@end

// ---- encoders (encoder.m, compute_encoder.m, blit_encoder.m) ----
@interface _SMCommandEncoder : _SMObjectWithLabel {
  @protected
    SMGPUCommandBuffer *_buffer; // retained
    sm_commands *_commands;      // the buffer's
    sm_encoder *_record;
    unsigned _debug_groups;
    bool _ended;
}
- (instancetype)initWithBuffer:(SMGPUCommandBuffer *)buffer type:(sm_encoder_type)type;
@property (readonly) id<MTLDevice> device;
- (void)endEncoding;
- (void)insertDebugSignpost:(NSString *)string;
- (void)pushDebugGroup:(NSString *)string;
- (void)popDebugGroup;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
// sampleCountersInBuffer:, with whether the device samples at this kind of point.
- (void)addSample:(id<MTLCounterSampleBuffer>)samples at:(NSUInteger)index supported:(BOOL)supported;
- (void)attachSamples:(id<MTLCounterSampleBuffer>)samples start:(NSUInteger)start end:(NSUInteger)end;
@end

// First line of every method of an encoder.
#define sm_assert_encoding() sm_assert_metal(!_ended, "encoder has already ended: endEncoding was called")
// A range of bytes inside a buffer; safe against overflow.
static inline bool sm_range_fits(NSUInteger offset, NSUInteger size, NSUInteger length)
{
    return offset <= length && size <= length - offset;
}

@interface SMGPUComputeEncoder : _SMCommandEncoder<MTLComputeCommandEncoder> {
  @protected
    MTLDispatchType _dispatch_type; // as in the record, which goes when the buffer has run
    sm_pipeline_use *_pipeline;
    const sm_bindings *_bindings; // of the last dispatch; NULL when something was bound since
    uint32_t _buffer_mask, _threadgroup_mask;
    sm_binding _buffers[SM_MAX_BUFFERS]; // from the start of the buffer
    NSUInteger _offsets[SM_MAX_BUFFERS];
    uint32_t _threadgroup_bytes[SM_MAX_BUFFERS];
}
- (instancetype)initWithBuffer:(SMGPUCommandBuffer *)buffer dispatchType:(MTLDispatchType)type;
@end

@interface SMGPUBlitEncoder : _SMCommandEncoder<MTLBlitCommandEncoder>
@end

// ---- playback (playback.m) ----
typedef struct sm_playback_result {
    NSInteger code;    // MTLCommandBufferError, 0 if all went well
    NSString *text;    // autoreleased
    uint64_t start_ns; // when the first command began; waits for events at the front come before it
} sm_playback_result;
// Waits until the kernels that the list dispatches are compiled.
sm_playback_result sm_playback_prepare(sm_commands *list);
sm_playback_result sm_playback_run(sm_commands *list, SMGPUCommandBuffer *buffer);
// For a buffer that fails: signals what it would have signalled from this command on.
void sm_playback_signal_events(const sm_command *command);
// The command buffer's error, with the state of its encoders if the options ask for it (command_info.m).
NSError *sm_playback_error(const sm_commands *list, const sm_playback_result *result,
                           MTLCommandBufferErrorOption options);

// ---- debug layers (debug_layer.m) ----
// The queue as the application gets it: wrapped as often as the settings say. Takes over the caller's
// reference.
id<MTLCommandQueue> sm_debug_wrap_queue(SMGPUCommandQueue *queue);

#endif
