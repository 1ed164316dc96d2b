// SPDX-License-Identifier: MIT
// Counter sets and sample buffers: timestamps that the queue's threads store and the application resolves. A
// sample is one atomic word; nothing else is shared. What was never sampled stays 0, which means missing.
#import "metal/resource.h"

#include <stdlib.h>
#include <string.h>

// Apple GPUs: a sample buffer is 8 to 32768 bytes, and 32 may live at once.
enum { SAMPLE_BYTES = sizeof(uint64_t), BUFFER_BYTES_MAX = 32768, LIVE_BUFFERS_MAX = 32 };

@interface SMCounter : NSObject<MTLCounter> {
    NSString *_name;
}
@end

@implementation SMCounter

@synthesize name = _name;

- (instancetype)initWithName:(NSString *)name
{
    self = [super init];
    if (self)
        _name = [name copy];
    return self;
}

- (void)dealloc
{
    [_name release];
    [super dealloc];
}

@end

@interface SMCounterSet : NSObject<MTLCounterSet> {
    NSString *_name;
    NSArray *_counters;
}
@end

@implementation SMCounterSet

@synthesize name = _name;
@synthesize counters = _counters;

- (instancetype)initWithName:(NSString *)name counterName:(NSString *)counter_name
{
    self = [super init];
    if (!self)
        return nil;
    SMCounter *counter = [[SMCounter alloc] initWithName:counter_name];
    _name = [name copy];
    _counters = [[NSArray alloc] initWithObjects:counter, nil];
    [counter release];
    return self;
}

- (void)dealloc
{
    [_name release];
    [_counters release];
    [super dealloc];
}

- (NSString *)description
{
    return [NSString stringWithFormat:@"<%@: %p> %@", [self class], self, _name];
}

@end

@interface SMCounterSampleBuffer : _SMDeviceObject<MTLCounterSampleBuffer> {
  @public
    _Atomic uint64_t *samples;
    NSUInteger count;
    MTLStorageMode storage;
}
@end

@implementation SMCounterSampleBuffer

// The place among the live ones has been taken by the caller; dealloc gives it back.
- (instancetype)initWithDevice:(SMDevice *)device descriptor:(MTLCounterSampleBufferDescriptor *)descriptor
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    count = [descriptor sampleCount];
    storage = [descriptor storageMode];
    [self setLabel:[descriptor label]];
    samples = calloc(count, sizeof *samples);
    if (!samples) {
        [self release];
        return nil;
    }
    return self;
}

- (void)dealloc
{
    free(samples);
    atomic_fetch_sub(&((SMDevice *)_device)->live_sample_buffers, 1);
    [super dealloc];
}

- (NSUInteger)sampleCount
{
    return count;
}

- (void)copyRange:(NSRange)range to:(void *)destination
{
    for (NSUInteger i = 0; i < range.length; i++) {
        MTLCounterResultTimestamp result = {atomic_load(&samples[range.location + i])};
        memcpy((char *)destination + i * sizeof result, &result, sizeof result);
    }
}

- (NSData *)resolveCounterRange:(NSRange)range
{
    sm_assert_metal(storage == MTLStorageModeShared,
                    "resolveCounterRange is for sample buffers with shared storage mode.");
    sm_assert_metal(range.location <= count && range.length <= count - range.location,
                    "range {%lu, %lu} is outside of the sample buffer's %lu samples.",
                    (unsigned long)range.location, (unsigned long)range.length, (unsigned long)count);
    NSMutableData *data = [NSMutableData dataWithLength:range.length * sizeof(MTLCounterResultTimestamp)];
    [self copyRange:range to:[data mutableBytes]];
    return data;
}

@end

void sm_counter_store(id<MTLCounterSampleBuffer> buffer, NSUInteger index, uint64_t ns)
{
    SMCounterSampleBuffer *base = sm_debug_innermost(buffer);
    const sm_settings *settings = sm_get_settings();
    if (!base || index >= base->count)
        return;
    uint64_t value = settings->error_samples ? MTLCounterErrorValue : settings->zero_samples ? 0 : ns;
    atomic_store(&base->samples[index], value);
}

void sm_counter_resolve(id<MTLCounterSampleBuffer> buffer, NSRange range, void *destination)
{
    [(SMCounterSampleBuffer *)sm_debug_innermost(buffer) copyRange:range to:destination];
}

static bool has_counters(void)
{
    const sm_settings *settings = sm_get_settings();
    return settings->profile != SM_PROFILE_NONE && !settings->nil_counter_sets;
}

static pthread_once_t timestamp_set_once = PTHREAD_ONCE_INIT;
static SMCounterSet *timestamp_set;

static void make_timestamp_set(void)
{
    timestamp_set = [[SMCounterSet alloc] initWithName:MTLCommonCounterSetTimestamp
                                           counterName:MTLCommonCounterTimestamp];
}

// What is wrong with the descriptor on this device, as Metal says it; nil if nothing.
static NSError *descriptor_error(MTLCounterSampleBufferDescriptor *descriptor)
{
    NSUInteger samples = [descriptor sampleCount];
    NSUInteger samples_max = sm_get_settings()->profile == SM_PROFILE_APPLE ? BUFFER_BYTES_MAX / SAMPLE_BYTES
                                                                            : UINT32_MAX / SAMPLE_BYTES;
    NSString *fault = nil;
    if (!has_counters() || [descriptor counterSet] != (id)timestamp_set || !timestamp_set)
        fault = @"Counter set is not supported by this device";
    else if (samples == 0 || samples > samples_max)
        fault = [NSString stringWithFormat:@"Invalid sample buffer length: %lu B. Expected range: %d -> %lu",
                                           (unsigned long)(samples * SAMPLE_BYTES), (int)SAMPLE_BYTES,
                                           (unsigned long)(samples_max * SAMPLE_BYTES)];
    else if ([descriptor storageMode] != MTLStorageModeShared &&
             [descriptor storageMode] != MTLStorageModePrivate)
        fault = @"Invalid storage mode for a sample buffer: must be shared or private";
    return fault ? sm_error(MTLCounterErrorDomain, MTLCounterSampleBufferErrorInvalid, fault) : nil;
}

@implementation SMDevice (Counters)

- (NSArray *)counterSets
{
    if (!has_counters())
        return nil;
    pthread_once(&timestamp_set_once, make_timestamp_set);
    return [NSArray arrayWithObject:timestamp_set];
}

- (id<MTLCounterSampleBuffer>)newCounterSampleBufferWithDescriptor:
                                  (MTLCounterSampleBufferDescriptor *)descriptor
                                                             error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    pthread_once(&timestamp_set_once, make_timestamp_set);
    NSError *fault = descriptor_error(descriptor);
    bool is_limited = sm_get_settings()->profile == SM_PROFILE_APPLE;
    SMCounterSampleBuffer *buffer = nil;
    if (!fault) {
        if (atomic_fetch_add(&live_sample_buffers, 1) < LIVE_BUFFERS_MAX || !is_limited)
            buffer = [[SMCounterSampleBuffer alloc] initWithDevice:self descriptor:descriptor];
        else
            atomic_fetch_sub(&live_sample_buffers, 1);
        if (!buffer)
            fault = sm_error(MTLCounterErrorDomain, MTLCounterSampleBufferErrorOutOfMemory,
                             @"Cannot allocate sample buffer");
    }
    if (error)
        *error = fault;
    return buffer;
}

@end
