// SPDX-License-Identifier: MIT
// Command buffers: state, handlers, waits, and the making of encoders. One thread encodes at a time; execute
// and finish are sent by the queue's thread. Breaking one of Metal's rules ends the process with Metal's
// words.
#import "metal/submission.h"

#import "metal/execution_log.h"

#include <stdlib.h>

@implementation _SMCommandBuffer

- (instancetype)initWithQueue:(SMGPUCommandQueue *)queue
                      retains:(BOOL)retains
                 errorOptions:(MTLCommandBufferErrorOption)options
{
    self = [super init];
    if (self) {
        _queue = [queue retain];
        _errorOptions = options;
        _scheduled_link = &_scheduled;
        _completed_link = &_completed;
        pthread_mutex_init(&_lock, NULL);
        pthread_cond_init(&_changed, NULL);
        sm_commands_init(&_commands, retains);
    }
    return self;
}

- (void)dealloc
{
    sm_commands_free(&_commands);
    pthread_cond_destroy(&_changed);
    pthread_mutex_destroy(&_lock);
    [_error release];
    [_queue release];
    [super dealloc];
}

- (sm_commands *)commands
{
    return &_commands;
}

- (id<MTLDevice>)device
{
    return [_queue device];
}

- (id<MTLCommandQueue>)commandQueue
{
    return (id<MTLCommandQueue>)_queue;
}

- (BOOL)retainedReferences
{
    return _commands.retains;
}

- (MTLCommandBufferErrorOption)errorOptions
{
    return _errorOptions;
}

- (MTLCommandBufferStatus)status
{
    return (MTLCommandBufferStatus)atomic_load_explicit(&_status, memory_order_acquire);
}

- (NSError *)error
{
    return [self status] == MTLCommandBufferStatusError ? _error : nil;
}

// ---- handlers ----
- (void)addHandler:(MTLCommandBufferHandler)block to:(sm_handler ***)link
{
    sm_handler *handler = malloc(sizeof *handler);
    *handler = (sm_handler){.block = Block_copy(block)};
    **link = handler;
    *link = &handler->next;
}

- (void)addScheduledHandler:(MTLCommandBufferHandler)block
{
    sm_assert_metal(block, "block must not be nil");
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted,
                    "Scheduled handler provided after commit call");
    [self addHandler:block to:&_scheduled_link];
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block
{
    sm_assert_metal(block, "block must not be nil");
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted,
                    "Completed handler provided after commit call");
    [self addHandler:block to:&_completed_link];
}

- (void)runHandlers:(sm_handler *)first
{
    for (sm_handler *handler = first, *next; handler; handler = next) {
        next = handler->next;
        handler->block((id<MTLCommandBuffer>)self);
        Block_release(handler->block);
        free(handler);
    }
}

- (void)runScheduledHandlers
{
    sm_handler *first = _scheduled;
    _scheduled = NULL;
    [self runHandlers:first];
}

- (void)runCompletedHandlers
{
    sm_handler *first = _completed;
    _completed = NULL;
    [self runHandlers:first];
}

// ---- state ----
- (void)changeStatus:(MTLCommandBufferStatus)status finished:(bool)finished
{
    pthread_mutex_lock(&_lock);
    atomic_store_explicit(&_status, status, memory_order_release);
    _is_finished = finished;
    pthread_mutex_unlock(&_lock);
    pthread_cond_broadcast(&_changed); // the queue holds the buffer, so it is still there
}

- (void)waitUntilScheduled
{
    sm_assert_metal([self status] >= MTLCommandBufferStatusCommitted,
                    "waitUntilScheduled called on a command buffer that is not committed");
    pthread_mutex_lock(&_lock);
    while ([self status] < MTLCommandBufferStatusScheduled)
        pthread_cond_wait(&_changed, &_lock);
    pthread_mutex_unlock(&_lock);
}

- (void)waitUntilCompleted
{
    sm_assert_metal([self status] >= MTLCommandBufferStatusCommitted,
                    "waitUntilCompleted called on a command buffer that is not committed");
    pthread_mutex_lock(&_lock);
    while (!_is_finished)
        pthread_cond_wait(&_changed, &_lock);
    pthread_mutex_unlock(&_lock);
}

- (void)enqueue
{
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted,
                    "enqueue an already committed command buffer");
    sm_assert_metal([self status] != MTLCommandBufferStatusEnqueued,
                    "enqueue an already enqueued command buffer");
    atomic_store_explicit(&_status, MTLCommandBufferStatusEnqueued, memory_order_release);
}

- (void)commit
{
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted,
                    "commit an already committed command buffer");
    sm_assert_metal(!_open_encoder, "commit command buffer with uncommitted encoder");
    atomic_store_explicit(&_status, MTLCommandBufferStatusCommitted, memory_order_release);
}

// ---- debug groups and encoders ----
- (void)pushDebugGroup:(NSString *)string
{
    sm_assert_metal(string, "string must not be nil");
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted, "pushDebugGroup: after commit");
    _debug_groups++;
    sm_commands_add_text(&_commands, SM_COMMAND_PUSH_GROUP, string);
}

- (void)popDebugGroup
{
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted, "popDebugGroup after commit");
    sm_assert_metal(_debug_groups, "popDebugGroup called without a matching pushDebugGroup:");
    _debug_groups--;
    sm_commands_add_text(&_commands, SM_COMMAND_POP_GROUP, nil);
}

- (void)encoderDidEnd:(_SMCommandEncoder *)encoder
{
    if (_open_encoder == encoder)
        _open_encoder = nil;
}

@end

@implementation SMGPUCommandBuffer

// Handlers of a buffer that is dropped without commit run too, with the state it has.
- (void)dealloc
{
    if ([self status] < MTLCommandBufferStatusCommitted) {
        [_queue forget:self];
        [self runScheduledHandlers];
        [self runCompletedHandlers];
    }
    [log_state release];
    [super dealloc];
}

- (void)enqueue
{
    [super enqueue];
    [_queue reservePlaceFor:self];
}

- (void)commit
{
    static _Atomic unsigned committed;
    [super commit];
    number = atomic_fetch_add(&committed, 1);
    if (sm_get_settings()->debug_layer == 0)
        sm_capture_committed(self);
    [_queue submit:self];
}

// ---- encoders ----
- (void)assertCanEncode:(SEL)selector
{
    sm_assert_metal_as(selector, [self status] < MTLCommandBufferStatusCommitted,
                       "cannot encode into a command buffer that is already committed");
    sm_assert_metal_as(selector, !_open_encoder,
                       "A command encoder is already encoding to this command buffer");
}

- (SMGPUComputeEncoder *)computeEncoder:(MTLDispatchType)type
{
    SMGPUComputeEncoder *encoder = [[_queue->family.compute_encoder alloc] initWithBuffer:self
                                                                             dispatchType:type];
    _open_encoder = encoder;
    return [encoder autorelease];
}

- (SMGPUBlitEncoder *)blitEncoder
{
    SMGPUBlitEncoder *encoder = [[_queue->family.blit_encoder alloc] initWithBuffer:self
                                                                               type:SM_ENCODER_BLIT];
    _open_encoder = encoder;
    return [encoder autorelease];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder
{
    [self assertCanEncode:_cmd];
    return [self computeEncoder:MTLDispatchTypeSerial];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type
{
    [self assertCanEncode:_cmd];
    sm_assert_metal(type <= MTLDispatchTypeConcurrent, "dispatchType (%lu) is not a valid MTLDispatchType",
                    (unsigned long)type);
    return [self computeEncoder:type];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor
{
    [self assertCanEncode:_cmd];
    sm_assert_metal(descriptor, "descriptor must not be nil");
    SMGPUComputeEncoder *encoder = [self computeEncoder:[descriptor dispatchType]];
    MTLComputePassSampleBufferAttachmentDescriptorArray *attachments = [descriptor sampleBufferAttachments];
    for (NSUInteger i = 0; i < SM_MAX_ATTACHMENTS; i++) {
        MTLComputePassSampleBufferAttachmentDescriptor *attachment = [attachments objectAtIndexedSubscript:i];
        [encoder attachSamples:[attachment sampleBuffer]
                         start:[attachment startOfEncoderSampleIndex]
                           end:[attachment endOfEncoderSampleIndex]];
    }
    return encoder;
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoder
{
    [self assertCanEncode:_cmd];
    return [self blitEncoder];
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:(MTLBlitPassDescriptor *)descriptor
{
    [self assertCanEncode:_cmd];
    sm_assert_metal(descriptor, "descriptor must not be nil");
    SMGPUBlitEncoder *encoder = [self blitEncoder];
    MTLBlitPassSampleBufferAttachmentDescriptorArray *attachments = [descriptor sampleBufferAttachments];
    for (NSUInteger i = 0; i < SM_MAX_ATTACHMENTS; i++) {
        MTLBlitPassSampleBufferAttachmentDescriptor *attachment = [attachments objectAtIndexedSubscript:i];
        [encoder attachSamples:[attachment sampleBuffer]
                         start:[attachment startOfEncoderSampleIndex]
                           end:[attachment endOfEncoderSampleIndex]];
    }
    return encoder;
}

// ---- commands between encoders ----
- (void)addEvent:(id<MTLEvent>)event value:(uint64_t)value kind:(sm_command_kind)kind selector:(SEL)selector
{
    sm_assert_metal_as(selector, event, "event must not be nil");
    sm_assert_metal_as(selector, [self status] < MTLCommandBufferStatusCommitted, "%s after commit",
                       sel_getName(selector));
    sm_assert_metal_as(selector, !_open_encoder, "%s with uncommitted encoder", sel_getName(selector));
    sm_event_command *command = sm_commands_add(&_commands, kind, sizeof *command);
    command->event = event;
    command->value = value;
    sm_commands_keep(&_commands, event);
}

- (void)encodeWaitForEvent:(id<MTLEvent>)event value:(uint64_t)value
{
    [self addEvent:event value:value kind:SM_COMMAND_WAIT_EVENT selector:_cmd];
}

- (void)encodeSignalEvent:(id<MTLEvent>)event value:(uint64_t)value
{
    [self addEvent:event value:value kind:SM_COMMAND_SIGNAL_EVENT selector:_cmd];
}

- (void)useResidencySet:(id<MTLResidencySet>)set
{
    sm_assert_metal(set, "residencySet must not be nil");
    sm_assert_metal([self status] < MTLCommandBufferStatusCommitted, "useResidencySet: after commit");
    sm_commands_keep(&_commands, set);
}

- (void)useResidencySets:(const id<MTLResidencySet> *)sets count:(NSUInteger)count
{
    for (NSUInteger i = 0; i < count; i++)
        [self useResidencySet:sets[i]];
}

// ---- times ----
static CFTimeInterval seconds(uint64_t ns)
{
    return (CFTimeInterval)ns * 1e-9;
}

- (CFTimeInterval)kernelStartTime
{
    return [self status] >= MTLCommandBufferStatusCompleted ? seconds(_kernel_start_ns) : 0;
}

- (CFTimeInterval)kernelEndTime
{
    return [self status] >= MTLCommandBufferStatusCompleted ? seconds(_kernel_end_ns) : 0;
}

- (CFTimeInterval)GPUStartTime
{
    return [self status] >= MTLCommandBufferStatusCompleted ? seconds(_gpu_start_ns) : 0;
}

- (CFTimeInterval)GPUEndTime
{
    return [self status] >= MTLCommandBufferStatusCompleted ? seconds(_gpu_end_ns) : 0;
}

// ---- execution, by the queue ----
- (BOOL)hasCompletedHandlers
{
    return _completed != NULL;
}

- (sm_playback_result)play
{
    sm_playback_result prepared = sm_playback_prepare(&_commands);
    _kernel_end_ns = sm_now_ns();
    [self changeStatus:MTLCommandBufferStatusScheduled finished:false];
    [self runScheduledHandlers];
    if (number == (unsigned long)sm_get_settings()->fail_command_buffer)
        prepared = (sm_playback_result){MTLCommandBufferErrorInternal,
                                        @"Internal Error: fault injected by SOFTMETAL_FAULT=fail-cb", 0};
    if (!prepared.code)
        return sm_playback_run(&_commands, self);
    prepared.start_ns = sm_now_ns();
    sm_playback_signal_events(_commands.first);
    return prepared;
}

- (void)logExecutionWithStatus:(MTLCommandBufferStatus)status
{
    if (!sm_execution_log_is_on())
        return;
    sm_execution_log_buffer(&(sm_logged_buffer){.queue = _queue->number,
                                                .command_buffer = number,
                                                .label = [[self label] UTF8String],
                                                .status = (unsigned)status,
                                                .start_ns = _gpu_start_ns,
                                                .end_ns = _gpu_end_ns});
}

- (void)execute
{
    _kernel_start_ns = sm_now_ns();
    sm_playback_result result = [self play];
    _gpu_start_ns = result.start_ns;
    _gpu_end_ns = sm_now_ns();
    if (result.code)
        _error = [sm_playback_error(&_commands, &result, _errorOptions) retain];
    MTLCommandBufferStatus status =
        result.code ? MTLCommandBufferStatusError : MTLCommandBufferStatusCompleted;
    [self logExecutionWithStatus:status];
    atomic_store_explicit(&_status, status, memory_order_release);
}

// References go before the waiters are woken: who waited may count on them.
- (void)finish
{
    [self runCompletedHandlers];
    sm_commands_free(&_commands);
    [self changeStatus:[self status] finished:true];
}

@end
