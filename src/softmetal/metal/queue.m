// SPDX-License-Identifier: MIT
// Command queues: they make command buffers, keep them in enqueue order, and run them one after the other on
// a borrowed thread. Completed handlers run in the same order, on such a thread too, while the next buffer
// may already execute. A queue never waits for another one, except through events.
#import "metal/submission.h"

@implementation _SMCommandQueue

- (instancetype)initWithDevice:(id<MTLDevice>)device
{
    self = [super initWithDevice:device];
    if (self) {
        pthread_mutex_init(&_lock, NULL);
        _residencySets = [NSMutableArray new];
    }
    return self;
}

- (void)dealloc
{
    [_residencySets release];
    pthread_mutex_destroy(&_lock);
    [super dealloc];
}

- (void)addResidencySet:(id<MTLResidencySet>)set
{
    sm_assert_metal(set, "residencySet must not be nil");
    pthread_mutex_lock(&_lock);
    if ([_residencySets indexOfObjectIdenticalTo:set] == NSNotFound)
        [_residencySets addObject:set];
    pthread_mutex_unlock(&_lock);
}

- (void)removeResidencySet:(id<MTLResidencySet>)set
{
    pthread_mutex_lock(&_lock);
    [_residencySets removeObjectIdenticalTo:set];
    pthread_mutex_unlock(&_lock);
}

- (void)addResidencySets:(const id<MTLResidencySet> *)sets count:(NSUInteger)count
{
    for (NSUInteger i = 0; i < count; i++)
        [self addResidencySet:sets[i]];
}

- (void)removeResidencySets:(const id<MTLResidencySet> *)sets count:(NSUInteger)count
{
    for (NSUInteger i = 0; i < count; i++)
        [self removeResidencySet:sets[i]];
}

// Marks a frame for tools of old; there is no capture tool that listens.
- (void)insertDebugCaptureBoundary
{
}

@end

@implementation SMGPUCommandQueue

- (instancetype)initWithDevice:(SMDevice *)device
                    maxBuffers:(NSUInteger)max_buffers
                      logState:(id<MTLLogState>)log
{
    static _Atomic unsigned queues;
    self = [super initWithDevice:device];
    if (self) {
        pthread_cond_init(&_room, NULL);
        _max_buffers = max_buffers;
        family = [device family];
        log_state = [log retain];
        number = atomic_fetch_add(&queues, 1);
    }
    return self;
}

- (void)dealloc
{
    [log_state release];
    pthread_cond_destroy(&_room);
    [super dealloc];
}

// ---- making command buffers ----
// Blocks while maxCommandBufferCount buffers exist that are neither completed nor dropped, as Metal does.
- (void)waitForRoom
{
    pthread_mutex_lock(&_lock);
    while (_live_buffers >= _max_buffers)
        pthread_cond_wait(&_room, &_lock);
    _live_buffers++;
    pthread_mutex_unlock(&_lock);
}

- (void)lockedGiveRoom
{
    _live_buffers--;
    pthread_cond_signal(&_room);
}

- (SMGPUCommandBuffer *)newBufferRetaining:(BOOL)retains
                              errorOptions:(MTLCommandBufferErrorOption)options
                                  logState:(id<MTLLogState>)log
{
    [self waitForRoom];
    SMGPUCommandBuffer *buffer = [[family.command_buffer alloc] initWithQueue:self
                                                                      retains:retains
                                                                 errorOptions:options];
    buffer->log_state = [log ? log : log_state retain];
    if (sm_get_settings()->debug_layer == 0)
        sm_capture_created(buffer, self);
    return buffer;
}

- (id<MTLCommandBuffer>)commandBuffer
{
    return [[self newBufferRetaining:YES errorOptions:MTLCommandBufferErrorOptionNone
                            logState:nil] autorelease];
}

- (id<MTLCommandBuffer>)commandBufferWithUnretainedReferences
{
    return [[self newBufferRetaining:NO errorOptions:MTLCommandBufferErrorOptionNone
                            logState:nil] autorelease];
}

- (id<MTLCommandBuffer>)commandBufferWithDescriptor:(MTLCommandBufferDescriptor *)descriptor
{
    sm_assert_metal(descriptor, "descriptor must not be nil");
    return [[self newBufferRetaining:[descriptor retainedReferences]
                        errorOptions:[descriptor errorOptions]
                            logState:[descriptor logState]] autorelease];
}

// ---- the list of enqueued command buffers ----
- (void)lockedAppend:(SMGPUCommandBuffer *)buffer
{
    buffer->queue_previous = _last;
    buffer->queue_listed = true;
    if (_last)
        _last->queue_next = buffer;
    else
        _first = buffer;
    _last = buffer;
}

- (void)lockedRemove:(SMGPUCommandBuffer *)buffer
{
    SMGPUCommandBuffer *next = buffer->queue_next, *previous = buffer->queue_previous;
    if (next)
        next->queue_previous = previous;
    else
        _last = previous;
    if (previous)
        previous->queue_next = next;
    else
        _first = next;
    buffer->queue_next = buffer->queue_previous = nil;
    buffer->queue_listed = false;
}

// Takes the right to execute, for a worker. True: start that worker, best after unlocking.
- (BOOL)lockedClaimWork
{
    BOOL has_work = _first && _first->queue_ready && !_executing;
    _executing |= has_work;
    return has_work;
}

- (void)reservePlaceFor:(SMGPUCommandBuffer *)buffer
{
    pthread_mutex_lock(&_lock);
    [self lockedAppend:buffer];
    pthread_mutex_unlock(&_lock);
}

- (void)submit:(SMGPUCommandBuffer *)buffer
{
    [buffer retain]; // until its handlers have run
    pthread_mutex_lock(&_lock);
    if (!buffer->queue_listed)
        [self lockedAppend:buffer];
    buffer->queue_ready = true;
    BOOL start = [self lockedClaimWork];
    pthread_mutex_unlock(&_lock);
    if (start)
        sm_start_worker(self);
}

// A buffer that was enqueued and dropped gives its place up; those behind it must not wait for ever.
- (void)forget:(SMGPUCommandBuffer *)buffer
{
    pthread_mutex_lock(&_lock);
    if (buffer->queue_listed)
        [self lockedRemove:buffer];
    [self lockedGiveRoom];
    BOOL start = [self lockedClaimWork];
    pthread_mutex_unlock(&_lock);
    if (start)
        sm_start_worker(self);
}

// ---- running ----
// emptyPool keeps the pool itself, which matters when buffers are small and many.
- (SMGPUCommandBuffer *)lockedExecuteFirst:(NSAutoreleasePool *)pool
{
    SMGPUCommandBuffer *buffer = _first;
    [self lockedRemove:buffer];
    pthread_mutex_unlock(&_lock);
    [buffer execute];
    [pool emptyPool];
    pthread_mutex_lock(&_lock);
    [self lockedGiveRoom];
    if (_last_done)
        _last_done->queue_next = buffer;
    else
        _first_done = buffer;
    _last_done = buffer;
    return buffer;
}

// Handlers run in order, one thread at a time. Who finds another thread at it leaves its buffer to that
// thread.
- (void)lockedFinishDone:(NSAutoreleasePool *)pool
{
    if (_completing)
        return;
    _completing = true;
    while (_first_done) {
        SMGPUCommandBuffer *buffer = _first_done;
        _first_done = buffer->queue_next;
        if (!_first_done)
            _last_done = nil;
        buffer->queue_next = nil;
        pthread_mutex_unlock(&_lock);
        [buffer finish];
        [buffer release];
        [pool emptyPool];
        pthread_mutex_lock(&_lock);
    }
    _completing = false;
}

// Sent by a worker, for which the right to execute was taken. Application code never runs while it is held: a
// buffer that is committed meanwhile starts on another worker, as a GPU does not wait for handlers.
- (void)runWithPool:(NSAutoreleasePool *)pool
{
    pthread_mutex_lock(&_lock);
    do {
        if ([[self lockedExecuteFirst:pool] hasCompletedHandlers]) {
            _executing = false;
            if ([self lockedClaimWork])
                sm_start_worker(self);
            [self lockedFinishDone:pool];
        } else {
            [self lockedFinishDone:pool];
            _executing = false;
        }
    } while ([self lockedClaimWork]);
    pthread_mutex_unlock(&_lock);
}

@end
