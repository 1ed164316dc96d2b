// SPDX-License-Identifier: MIT
// MTLCaptureManager: one capture at a time per process. Starting and stopping is the application's; queues
// tell of every command buffer made and committed. A command buffer is captured if it was made after the
// start and committed before the stop. Command buffers are not kept alive by a capture.
#import "metal/capture.h"

#include <stdlib.h>
#include <unistd.h>

// State of the process's one capture. is_running is also read without the lock: the common case is no
// capture.
static struct {
    pthread_mutex_t lock;
    _Atomic bool is_running; // until the bundle is written
    SMCaptureRecord *record; // of the running capture
    const void **pending;    // command buffers made and not yet committed, by address
    size_t pending_count, pending_capacity;
} capture = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- which command buffers ----
static bool is_same(id a, id b)
{
    return a && sm_debug_innermost(a) == sm_debug_innermost(b);
}

sm_capture_kind sm_capture_kind_of(id object)
{
    id inner = sm_debug_innermost(object);
    if ([inner isKindOfClass:[SMDevice class]])
        return SM_CAPTURE_DEVICE;
    if ([inner isKindOfClass:[SMCaptureScope class]])
        return SM_CAPTURE_SCOPE;
    return [inner respondsToSelector:@selector(commandBufferWithUnretainedReferences)] ? SM_CAPTURE_QUEUE
                                                                                       : SM_CAPTURE_NOTHING;
}

// Under the lock.
static bool covers(id object, id<MTLCommandQueue> queue)
{
    switch (sm_capture_kind_of(object)) {
    case SM_CAPTURE_QUEUE:
        return is_same(object, queue);
    case SM_CAPTURE_SCOPE: {
        id<MTLCommandQueue> only = [(SMCaptureScope *)object commandQueue];
        bool is_ours =
            only ? is_same(only, queue) : is_same([(SMCaptureScope *)object device], [queue device]);
        return is_ours && [(SMCaptureScope *)object isOpen];
    }
    default:
        return is_same(object, [queue device]);
    }
}

BOOL sm_capture_wants(id<MTLCommandQueue> queue)
{
    if (!atomic_load(&capture.is_running))
        return NO;
    pthread_mutex_lock(&capture.lock);
    BOOL answer = capture.record && covers(capture.record->object, queue);
    pthread_mutex_unlock(&capture.lock);
    return answer;
}

// Under the lock. True if it was there.
static bool remove_pending(const void *command_buffer)
{
    for (size_t i = 0; i < capture.pending_count; i++) {
        if (capture.pending[i] != command_buffer)
            continue;
        capture.pending[i] = capture.pending[--capture.pending_count];
        return true;
    }
    return false;
}

// Under the lock. Without memory the command buffer is simply not captured.
static void add_pending(const void *command_buffer)
{
    if (capture.pending_count == capture.pending_capacity) {
        size_t capacity = capture.pending_capacity ? 2 * capture.pending_capacity : 64;
        const void **grown = realloc(capture.pending, capacity * sizeof *grown);
        if (!grown)
            return;
        capture.pending = grown;
        capture.pending_capacity = capacity;
    }
    capture.pending[capture.pending_count++] = command_buffer;
}

void sm_capture_created(id command_buffer, id<MTLCommandQueue> queue)
{
    if (!atomic_load(&capture.is_running))
        return;
    const void *identity = sm_debug_innermost(command_buffer);
    pthread_mutex_lock(&capture.lock);
    // A buffer that was dropped without commit may have had the same address.
    remove_pending(identity);
    if (capture.record && covers(capture.record->object, queue))
        add_pending(identity);
    pthread_mutex_unlock(&capture.lock);
}

void sm_capture_committed(id command_buffer)
{
    if (!atomic_load(&capture.is_running))
        return;
    pthread_mutex_lock(&capture.lock);
    SMCaptureRecord *record =
        remove_pending(sm_debug_innermost(command_buffer)) ? [capture.record retain] : nil;
    pthread_mutex_unlock(&capture.lock);
    if (!record)
        return;
    // Outside of the lock: describing takes as long as the command buffer is large.
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    NSDictionary *description = sm_command_buffer_description(command_buffer);
    NSSet *pipelines = sm_command_buffer_pipelines(command_buffer);
    pthread_mutex_lock(&capture.lock);
    if (capture.record == record) {
        [record->descriptions addObject:description];
        [record->pipelines unionSet:pipelines];
    }
    pthread_mutex_unlock(&capture.lock);
    [pool drain];
    [record release];
}

// ---- start and stop ----
static NSError *capture_error(MTLCaptureError code, NSString *text)
{
    return sm_error(MTLCaptureErrorDomain, code, text);
}

static NSError *descriptor_error(MTLCaptureDescriptor *descriptor)
{
    if (![descriptor captureObject])
        return capture_error(MTLCaptureErrorInvalidDescriptor, @"Capture object must not be nil.");
    if (sm_capture_kind_of([descriptor captureObject]) == SM_CAPTURE_NOTHING)
        return capture_error(MTLCaptureErrorInvalidDescriptor,
                             @"Capture object must be a device, a command queue or a capture scope.");
    if ([descriptor destination] != MTLCaptureDestinationGPUTraceDocument)
        return capture_error(MTLCaptureErrorNotSupported, @"Capturing to developer tools is not supported.");
    if (!sm_get_settings()->capture_enabled)
        return capture_error(MTLCaptureErrorNotSupported,
                             @"Capturing is not supported: the capture layer is not inserted. Set "
                             @"METAL_CAPTURE_ENABLED=1 in the environment before the first device is made.");
    NSURL *url = [descriptor outputURL];
    if (!url || ![url isFileURL])
        return capture_error(MTLCaptureErrorInvalidDescriptor, @"Output URL must be a file URL.");
    if (access([[url path] fileSystemRepresentation], F_OK) == 0)
        return capture_error(MTLCaptureErrorInvalidDescriptor,
                             [NSString stringWithFormat:@"Output URL already exists: %@", [url path]]);
    return nil;
}

// Takes over record. False if a capture runs already.
static bool begin(SMCaptureRecord *record)
{
    pthread_mutex_lock(&capture.lock);
    bool is_free = !atomic_load(&capture.is_running);
    if (is_free) {
        capture.record = record;
        atomic_store(&capture.is_running, true);
    }
    pthread_mutex_unlock(&capture.lock);
    if (!is_free)
        [record release];
    return is_free;
}

// Takes the record out; nil if no capture runs, or if `only` is given and is not what is captured.
static SMCaptureRecord *take_record(id only)
{
    pthread_mutex_lock(&capture.lock);
    SMCaptureRecord *record = capture.record;
    if (record && (!only || record->object == only)) {
        capture.record = nil;
        capture.pending_count = 0;
    } else {
        record = nil;
    }
    pthread_mutex_unlock(&capture.lock);
    return record;
}

static void finish(SMCaptureRecord *record)
{
    if (!record)
        return;
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    NSString *why = nil;
    record->stop_ns = sm_now_ns();
    if (!sm_capture_write_bundle(record, &why))
        fprintf(stderr, "softmetal: capture: %s\n", [why UTF8String]);
    [record release];
    [pool drain];
    atomic_store(&capture.is_running, false);
}

void sm_capture_scope_ended(SMCaptureScope *scope)
{
    if (atomic_load(&capture.is_running))
        finish(take_record(scope));
}

@implementation MTLCaptureManager

+ (MTLCaptureManager *)sharedCaptureManager
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static MTLCaptureManager *shared;
    pthread_mutex_lock(&lock);
    if (!shared)
        shared = [[self alloc] init];
    pthread_mutex_unlock(&lock);
    return shared;
}

@synthesize defaultCaptureScope = _defaultCaptureScope;

- (void)dealloc
{
    [_defaultCaptureScope release];
    [super dealloc];
}

- (BOOL)isCapturing
{
    return atomic_load(&capture.is_running);
}

- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device
{
    sm_assert_metal(device != nil, "device must not be nil.");
    return [[SMCaptureScope alloc] initWithDevice:device queue:nil];
}

- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)queue
{
    sm_assert_metal(queue != nil, "commandQueue must not be nil.");
    return [[SMCaptureScope alloc] initWithDevice:[queue device] queue:queue];
}

- (BOOL)supportsDestination:(MTLCaptureDestination)destination
{
    return destination == MTLCaptureDestinationGPUTraceDocument && sm_get_settings()->capture_enabled;
}

- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    NSError *fault = [self isCapturing] ? nil : descriptor_error(descriptor);
    if (!fault) {
        SMCaptureRecord *record = [[SMCaptureRecord alloc] init];
        record->object = [[descriptor captureObject] retain];
        record->path = [[[descriptor outputURL] path] copy];
        record->descriptions = [[NSMutableArray alloc] init];
        record->pipelines = [[NSMutableSet alloc] init];
        record->start_ns = sm_now_ns();
        if (!begin(record))
            fault = capture_error(MTLCaptureErrorAlreadyCapturing, @"A capture is already in progress.");
    }
    if (error)
        *error = fault;
    return fault == nil;
}

// The older forms go to developer tools; there are none to take it.
- (void)startWithObject:(id)object
{
    MTLCaptureDescriptor *descriptor = [[[MTLCaptureDescriptor alloc] init] autorelease];
    NSError *error = nil;
    [descriptor setCaptureObject:object];
    if (![self startCaptureWithDescriptor:descriptor error:&error])
        fprintf(stderr, "softmetal: capture: %s\n", [[error localizedDescription] UTF8String]);
}

- (void)startCaptureWithDevice:(id<MTLDevice>)device
{
    [self startWithObject:device];
}

- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)queue
{
    [self startWithObject:queue];
}

- (void)startCaptureWithScope:(id<MTLCaptureScope>)scope
{
    [self startWithObject:scope];
}

- (void)stopCapture
{
    finish(take_record(nil));
}

@end

@implementation MTLCaptureDescriptor

@synthesize captureObject = _captureObject;
@synthesize destination = _destination;
@synthesize outputURL = _outputURL;

- (instancetype)init
{
    self = [super init];
    if (self)
        _destination = MTLCaptureDestinationDeveloperTools;
    return self;
}

- (void)dealloc
{
    [_captureObject release];
    [_outputURL release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLCaptureDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setCaptureObject:_captureObject];
    [copy setDestination:_destination];
    [copy setOutputURL:_outputURL];
    return copy;
}

@end
