// SPDX-License-Identifier: MIT
// The debug layers' queues and command buffers, and how a driver's queue gets its wrappers. A wrapper stays
// alive while its command buffer runs, because the application's handlers get the wrapper.
#import "metal/debug_layer.h"

@implementation _SMLayer

- (instancetype)initWithInner:(id)object
{
    self = [super init];
    if (self)
        inner = [object retain];
    return self;
}

- (void)dealloc
{
    [inner release];
    [super dealloc];
}

@end

id sm_debug_innermost(id object)
{
    while ([object isKindOfClass:[_SMLayer class]])
        object = ((_SMLayer *)object)->inner;
    return object;
}

// ---- queues ----
@interface _SMLayerCommandQueue : _SMLayer<MTLCommandQueue> {
  @protected
    id<MTLCommandQueue> _inner;
}
@end

@interface _SMLayerCommandQueue (Classes)
- (_SMLayerCommandBuffer *)newWrapper:(id<MTLCommandBuffer>)buffer;
@end

@implementation _SMLayerCommandQueue

- (instancetype)initWithInner:(id)object
{
    self = [super initWithInner:object];
    if (self)
        _inner = object;
    return self;
}

SM_PASS0(NSString *, label)
SM_PASS1(void, setLabel, NSString *)
SM_PASS0(id<MTLDevice>, device)
SM_PASS0(void, insertDebugCaptureBoundary)
SM_PASS1(void, addResidencySet, id<MTLResidencySet>)
SM_PASS2(void, addResidencySets, const id<MTLResidencySet> *, count, NSUInteger)
SM_PASS1(void, removeResidencySet, id<MTLResidencySet>)
SM_PASS2(void, removeResidencySets, const id<MTLResidencySet> *, count, NSUInteger)

// The pool of the caller must not own the inner buffer: it would outlive its wrapper, which handlers point
// to.
- (id<MTLCommandBuffer>)commandBuffer
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    _SMLayerCommandBuffer *wrapper = [self newWrapper:[_inner commandBuffer]];
    [pool drain];
    return [wrapper autorelease];
}

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    _SMLayerCommandBuffer *wrapper = [self newWrapper:[_inner commandBufferWithUnretainedReferences]];
    [pool drain];
    return [wrapper autorelease];
}

- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    _SMLayerCommandBuffer *wrapper = [self newWrapper:[_inner commandBufferWithDescriptor:descriptor]];
    [pool drain];
    return [wrapper autorelease];
}

@end

// ---- command buffers ----
@interface _SMLayerCommandBuffer (Classes)
- (Class)computeEncoderClass;
- (Class)blitEncoderClass;
@end

@implementation _SMLayerCommandBuffer

- (instancetype)initWithInner:(id)object queue:(_SMLayerCommandQueue *)queue
{
    self = [super initWithInner:object];
    if (self) {
        _inner = object;
        _queue = [queue retain];
    }
    return self;
}

- (void)dealloc
{
    _SMLayerCommandQueue *queue = _queue;
    [super dealloc];
    [queue release];
}

SM_PASS0(id<MTLDevice>, device)
SM_PASS0(BOOL, retainedReferences)
SM_PASS0(MTLCommandBufferErrorOption, errorOptions)
SM_PASS0(NSString *, label)
SM_PASS1(void, setLabel, NSString *)
SM_PASS0(CFTimeInterval, kernelStartTime)
SM_PASS0(CFTimeInterval, kernelEndTime)
SM_PASS0(CFTimeInterval, GPUStartTime)
SM_PASS0(CFTimeInterval, GPUEndTime)
SM_PASS0(MTLCommandBufferStatus, status)
SM_PASS0(NSError *, error)
SM_PASS0(void, enqueue)
SM_PASS0(void, waitUntilScheduled)
SM_PASS0(void, waitUntilCompleted)
SM_PASS2(void, encodeWaitForEvent, id<MTLEvent>, value, uint64_t)
SM_PASS2(void, encodeSignalEvent, id<MTLEvent>, value, uint64_t)
SM_PASS1(void, pushDebugGroup, NSString *)
SM_PASS0(void, popDebugGroup)
SM_PASS1(void, useResidencySet, id<MTLResidencySet>)
SM_PASS2(void, useResidencySets, const id<MTLResidencySet> *, count, NSUInteger)

- (id<MTLCommandQueue>)commandQueue
{
    return (id<MTLCommandQueue>)_queue;
}

// The block must not retain the wrapper, or a buffer that is dropped would never go away.
- (void)addScheduledHandler:(MTLCommandBufferHandler)block
{
    sm_assert_metal(block, "block must not be nil");
    __block _SMLayerCommandBuffer *wrapper = self;
    [_inner addScheduledHandler:^(id<MTLCommandBuffer> buffer) {
        (void)buffer;
        block(wrapper);
    }];
}

- (void)addCompletedHandler:(MTLCommandBufferHandler)block
{
    sm_assert_metal(block, "block must not be nil");
    __block _SMLayerCommandBuffer *wrapper = self;
    [_inner addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
        (void)buffer;
        block(wrapper);
    }];
}

// Keeps the wrapper until its last handler has run; that is the one added here.
- (void)commit
{
    if ([_inner status] <
        MTLCommandBufferStatusCommitted) { // otherwise the inner commit has something to say
        __block _SMLayerCommandBuffer *wrapper = [self retain];
        [_inner addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
            (void)buffer;
            [wrapper release];
        }];
    }
    [_inner commit];
}

// ---- encoders ----
- (id<MTLComputeCommandEncoder>)wrapCompute:(id<MTLComputeCommandEncoder>)encoder
                                       pool:(NSAutoreleasePool *)pool
{
    id wrapper = [[[self computeEncoderClass] alloc] initWithInner:encoder buffer:self];
    [pool drain];
    return [wrapper autorelease];
}

- (id<MTLBlitCommandEncoder>)wrapBlit:(id<MTLBlitCommandEncoder>)encoder pool:(NSAutoreleasePool *)pool
{
    id wrapper = [[[self blitEncoderClass] alloc] initWithInner:encoder buffer:self];
    [pool drain];
    return [wrapper autorelease];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoder
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    return [self wrapCompute:[_inner computeCommandEncoder] pool:pool];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDispatchType:(MTLDispatchType)type
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    return [self wrapCompute:[_inner computeCommandEncoderWithDispatchType:type] pool:pool];
}

- (id<MTLComputeCommandEncoder>)computeCommandEncoderWithDescriptor:(MTLComputePassDescriptor *)descriptor
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    return [self wrapCompute:[_inner computeCommandEncoderWithDescriptor:descriptor] pool:pool];
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoder
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    return [self wrapBlit:[_inner blitCommandEncoder] pool:pool];
}

- (id<MTLBlitCommandEncoder>)blitCommandEncoderWithDescriptor:(MTLBlitPassDescriptor *)descriptor
{
    NSAutoreleasePool *pool = [NSAutoreleasePool new];
    return [self wrapBlit:[_inner blitCommandEncoderWithDescriptor:descriptor] pool:pool];
}

@end

// ---- the inner layer ----
@interface SMGPUDebugCommandBuffer : _SMLayerCommandBuffer
@end

@implementation SMGPUDebugCommandBuffer

- (Class)computeEncoderClass
{
    return [SMGPUDebugComputeCommandEncoder class];
}

- (Class)blitEncoderClass
{
    return [SMGPUDebugBlitCommandEncoder class];
}

@end

@interface SMGPUDebugCommandQueue : _SMLayerCommandQueue
@end

@implementation SMGPUDebugCommandQueue

- (_SMLayerCommandBuffer *)newWrapper:(id<MTLCommandBuffer>)buffer
{
    return [[SMGPUDebugCommandBuffer alloc] initWithInner:buffer queue:self];
}

@end

// ---- the outer layer: what the application holds, so it is what a capture knows ----
@interface SMDebugCommandBuffer : _SMLayerCommandBuffer
@end

@implementation SMDebugCommandBuffer

- (Class)computeEncoderClass
{
    return [SMDebugComputeCommandEncoder class];
}

- (Class)blitEncoderClass
{
    return [SMDebugBlitCommandEncoder class];
}

- (void)commit
{
    if ([_inner status] < MTLCommandBufferStatusCommitted)
        sm_capture_committed(self);
    [super commit];
}

@end

@interface SMDebugCommandQueue : _SMLayerCommandQueue
@end

@implementation SMDebugCommandQueue

- (_SMLayerCommandBuffer *)newWrapper:(id<MTLCommandBuffer>)buffer
{
    _SMLayerCommandBuffer *wrapper = [[SMDebugCommandBuffer alloc] initWithInner:buffer queue:self];
    sm_capture_created(wrapper, self);
    return wrapper;
}

@end

id<MTLCommandQueue> sm_debug_wrap_queue(SMGPUCommandQueue *queue)
{
    id<MTLCommandQueue> result = queue;
    int layers = sm_get_settings()->debug_layer;
    if (layers >= 2) {
        result = [[SMGPUDebugCommandQueue alloc] initWithInner:result];
        [queue release];
    }
    if (layers >= 1) {
        id<MTLCommandQueue> wrapped = result;
        result = [[SMDebugCommandQueue alloc] initWithInner:wrapped];
        [wrapped release];
    }
    return result;
}
