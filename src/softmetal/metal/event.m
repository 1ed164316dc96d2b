// SPDX-License-Identifier: MIT
// MTLEvent and MTLSharedEvent: a number that only waiters look at. The queue's threads wait and signal here
// for the GPU, application threads for the CPU. Notifications are never run on the thread that signals.
#import "metal/event.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct sm_event_state {
    _Atomic unsigned references; // events that share it through a handle
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t value;
    struct notification *waiting;
};

typedef struct notification {
    struct notification *next;
    MTLSharedEventListener *listener; // retained
    id<MTLSharedEvent> event;         // retained: the block gets it
    MTLSharedEventNotificationBlock block;
    uint64_t at, reached;
} notification;

static sm_event_state *state_new(void)
{
    sm_event_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    atomic_init(&state->references, 1);
    pthread_mutex_init(&state->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&state->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return state;
}

static void notification_free(notification *item)
{
    Block_release(item->block);
    [item->listener release];
    [item->event release];
    free(item);
}

static void state_release(sm_event_state *state)
{
    // A waiting notification retains its event, so none is left when the last event goes.
    if (!state || atomic_fetch_sub(&state->references, 1) != 1)
        return;
    pthread_cond_destroy(&state->changed);
    pthread_mutex_destroy(&state->lock);
    free(state);
}

static void run_notification(void *context)
{
    notification *item = context;
    item->block(item->event, item->reached);
    notification_free(item);
}

static void deliver(notification *list)
{
    while (list) {
        notification *item = list;
        list = item->next;
        [item->listener softmetalRun:run_notification context:item];
    }
}

// Takes out what waits for a value that is reached now. Under the lock.
static notification *take_reached(sm_event_state *state)
{
    notification *reached = NULL, **tail = &reached;
    for (notification **link = &state->waiting; *link;) {
        notification *item = *link;
        if (item->at > state->value) {
            link = &item->next;
            continue;
        }
        *link = item->next;
        item->next = NULL;
        item->reached = state->value;
        *tail = item;
        tail = &item->next;
    }
    return reached;
}

static void state_set(sm_event_state *state, uint64_t value, bool only_up)
{
    pthread_mutex_lock(&state->lock);
    if (!only_up || value > state->value)
        state->value = value;
    notification *reached = take_reached(state);
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
    deliver(reached);
}

static uint64_t state_get(sm_event_state *state)
{
    pthread_mutex_lock(&state->lock);
    uint64_t value = state->value;
    pthread_mutex_unlock(&state->lock);
    return value;
}

// deadline NULL: for ever.
static bool state_wait(sm_event_state *state, uint64_t value, const struct timespec *deadline)
{
    int rc = 0;
    pthread_mutex_lock(&state->lock);
    while (state->value < value && rc != ETIMEDOUT)
        rc = deadline ? pthread_cond_timedwait(&state->changed, &state->lock, deadline)
                      : pthread_cond_wait(&state->changed, &state->lock);
    bool is_reached = state->value >= value;
    pthread_mutex_unlock(&state->lock);
    return is_reached;
}

@implementation SMEvent

- (instancetype)initWithDevice:(id<MTLDevice>)device
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    _state = state_new();
    if (!_state) {
        [self release];
        return nil;
    }
    return self;
}

- (instancetype)initSharing:(SMEvent *)other device:(id<MTLDevice>)device
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    _state = other->_state;
    atomic_fetch_add(&_state->references, 1);
    [self setLabel:[other label]];
    return self;
}

- (void)dealloc
{
    state_release(_state);
    [super dealloc];
}

- (void)waitOnGPUForValue:(uint64_t)value
{
    state_wait(_state, value, NULL);
}

- (void)signalOnGPU:(uint64_t)value
{
    // A GPU's signal never takes an event back; only the CPU's setter can.
    state_set(_state, value, true);
}

@end

@implementation SMSharedEvent

- (uint64_t)signaledValue
{
    return state_get(_state);
}

- (void)setSignaledValue:(uint64_t)value
{
    state_set(_state, value, false);
}

- (BOOL)waitUntilSignaledValue:(uint64_t)value timeoutMS:(uint64_t)milliseconds
{
    // More than a year is for ever; it keeps the sum below from overflowing.
    if (milliseconds > 366ull * 24 * 3600 * 1000)
        return state_wait(_state, value, NULL);
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(milliseconds / 1000);
    deadline.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (deadline.tv_nsec >= 1000000000) {
        deadline.tv_sec++;
        deadline.tv_nsec -= 1000000000;
    }
    return state_wait(_state, value, &deadline);
}

- (void)notifyListener:(MTLSharedEventListener *)listener
               atValue:(uint64_t)value
                 block:(MTLSharedEventNotificationBlock)block
{
    sm_assert_metal(listener != nil, "listener must not be nil.");
    sm_assert_metal(block != nil, "block must not be nil.");
    notification *item = calloc(1, sizeof *item);
    if (!item)
        return;
    *item = (notification){.listener = [listener retain], .event = [self retain], .at = value};
    item->block = Block_copy(block);
    pthread_mutex_lock(&_state->lock);
    notification **link = &_state->waiting;
    while (*link)
        link = &(*link)->next;
    *link = item;
    notification *reached = take_reached(_state);
    pthread_mutex_unlock(&_state->lock);
    deliver(reached);
}

- (MTLSharedEventHandle *)newSharedEventHandle
{
    return [[MTLSharedEventHandle alloc] initWithSoftmetalEvent:self];
}

@end

@implementation MTLSharedEventHandle

@synthesize label = _label;

- (instancetype)initWithSoftmetalEvent:(SMSharedEvent *)event
{
    self = [super init];
    if (!self)
        return nil;
    _event = [event retain];
    _label = [[event label] copy];
    return self;
}

- (SMSharedEvent *)softmetalEvent
{
    return (SMSharedEvent *)_event;
}

- (void)dealloc
{
    [_event release];
    [_label release];
    [super dealloc];
}

+ (BOOL)supportsSecureCoding
{
    return YES;
}

// Metal's handles travel through XPC only, which Linux does not have.
- (void)encodeWithCoder:(NSCoder *)coder
{
    [NSException raise:NSInvalidArgumentException
                format:@"MTLSharedEventHandle cannot be encoded by %@", [coder class]];
}

- (instancetype)initWithCoder:(NSCoder *)coder
{
    [self release];
    [NSException raise:NSInvalidArgumentException
                format:@"MTLSharedEventHandle cannot be decoded by %@", [coder class]];
    return nil;
}

@end

void sm_event_wait_on_gpu(id<MTLEvent> event, uint64_t value)
{
    [(SMEvent *)sm_debug_innermost(event) waitOnGPUForValue:value];
}

void sm_event_signal_on_gpu(id<MTLEvent> event, uint64_t value)
{
    [(SMEvent *)sm_debug_innermost(event) signalOnGPU:value];
}

@implementation SMDevice (Events)

- (id<MTLEvent>)newEvent
{
    return [[SMEvent alloc] initWithDevice:self];
}

- (id<MTLSharedEvent>)newSharedEvent
{
    return [[SMSharedEvent alloc] initWithDevice:self];
}

- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle *)handle
{
    sm_assert_metal(handle != nil, "sharedEventHandle must not be nil.");
    return [[SMSharedEvent alloc] initSharing:[handle softmetalEvent] device:self];
}

@end
