// SPDX-License-Identifier: MIT
// Descriptor classes of submission: queues, command buffers, and the passes with their sample attachments.
// Plain values with Metal's defaults; like Metal's, a descriptor is not to be shared between threads.
#import "metal/resource.h"

// A pass has four slots for sample buffers, as on every Mac.
enum { SAMPLE_ATTACHMENTS = 4 };

@implementation MTLCommandQueueDescriptor

@synthesize maxCommandBufferCount = _maxCommandBufferCount;
@synthesize logState = _logState;

- (instancetype)init
{
    self = [super init];
    if (self)
        _maxCommandBufferCount = 64;
    return self;
}

- (void)dealloc
{
    [_logState release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLCommandQueueDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setMaxCommandBufferCount:_maxCommandBufferCount];
    [copy setLogState:[self logState]];
    return copy;
}

@end

@implementation MTLCommandBufferDescriptor

@synthesize retainedReferences = _retainedReferences;
@synthesize errorOptions = _errorOptions;
@synthesize logState = _logState;

- (instancetype)init
{
    self = [super init];
    if (self)
        _retainedReferences = YES;
    return self;
}

- (void)dealloc
{
    [_logState release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLCommandBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setRetainedReferences:_retainedReferences];
    [copy setErrorOptions:_errorOptions];
    [copy setLogState:_logState];
    return copy;
}

@end

@implementation MTLComputePassSampleBufferAttachmentDescriptor

@synthesize sampleBuffer = _sampleBuffer;
@synthesize startOfEncoderSampleIndex = _startOfEncoderSampleIndex;
@synthesize endOfEncoderSampleIndex = _endOfEncoderSampleIndex;

- (void)dealloc
{
    [_sampleBuffer release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLComputePassSampleBufferAttachmentDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setSampleBuffer:_sampleBuffer];
    [copy setStartOfEncoderSampleIndex:_startOfEncoderSampleIndex];
    [copy setEndOfEncoderSampleIndex:_endOfEncoderSampleIndex];
    return copy;
}

@end

@implementation MTLBlitPassSampleBufferAttachmentDescriptor

@synthesize sampleBuffer = _sampleBuffer;
@synthesize startOfEncoderSampleIndex = _startOfEncoderSampleIndex;
@synthesize endOfEncoderSampleIndex = _endOfEncoderSampleIndex;

- (void)dealloc
{
    [_sampleBuffer release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLBlitPassSampleBufferAttachmentDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setSampleBuffer:_sampleBuffer];
    [copy setStartOfEncoderSampleIndex:_startOfEncoderSampleIndex];
    [copy setEndOfEncoderSampleIndex:_endOfEncoderSampleIndex];
    return copy;
}

@end

// The two attachment arrays differ in the class of their elements only.
static id attachment_at(NSMutableDictionary *attachments, NSUInteger index, Class element)
{
    NSNumber *key = [NSNumber numberWithUnsignedLong:index];
    id found = [attachments objectForKey:key];
    if (!found) {
        found = [[[element alloc] init] autorelease];
        [attachments setObject:found forKey:key];
    }
    return found;
}

static void set_attachment(NSMutableDictionary *attachments, id descriptor, NSUInteger index)
{
    NSNumber *key = [NSNumber numberWithUnsignedLong:index];
    if (descriptor)
        [attachments setObject:[[descriptor copy] autorelease] forKey:key];
    else
        [attachments removeObjectForKey:key];
}

@implementation MTLComputePassSampleBufferAttachmentDescriptorArray

- (instancetype)init
{
    self = [super init];
    if (self)
        _attachments = [[NSMutableDictionary alloc] init];
    return self;
}

- (void)dealloc
{
    [_attachments release];
    [super dealloc];
}

- (MTLComputePassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index
{
    sm_assert_metal(index < SAMPLE_ATTACHMENTS, "attachmentIndex(%lu) must be < %d.", (unsigned long)index,
                    SAMPLE_ATTACHMENTS);
    return attachment_at(_attachments, index, [MTLComputePassSampleBufferAttachmentDescriptor class]);
}

- (void)setObject:(MTLComputePassSampleBufferAttachmentDescriptor *)descriptor
    atIndexedSubscript:(NSUInteger)index
{
    sm_assert_metal(index < SAMPLE_ATTACHMENTS, "attachmentIndex(%lu) must be < %d.", (unsigned long)index,
                    SAMPLE_ATTACHMENTS);
    set_attachment(_attachments, descriptor, index);
}

@end

@implementation MTLBlitPassSampleBufferAttachmentDescriptorArray

- (instancetype)init
{
    self = [super init];
    if (self)
        _attachments = [[NSMutableDictionary alloc] init];
    return self;
}

- (void)dealloc
{
    [_attachments release];
    [super dealloc];
}

- (MTLBlitPassSampleBufferAttachmentDescriptor *)objectAtIndexedSubscript:(NSUInteger)index
{
    sm_assert_metal(index < SAMPLE_ATTACHMENTS, "attachmentIndex(%lu) must be < %d.", (unsigned long)index,
                    SAMPLE_ATTACHMENTS);
    return attachment_at(_attachments, index, [MTLBlitPassSampleBufferAttachmentDescriptor class]);
}

- (void)setObject:(MTLBlitPassSampleBufferAttachmentDescriptor *)descriptor
    atIndexedSubscript:(NSUInteger)index
{
    sm_assert_metal(index < SAMPLE_ATTACHMENTS, "attachmentIndex(%lu) must be < %d.", (unsigned long)index,
                    SAMPLE_ATTACHMENTS);
    set_attachment(_attachments, descriptor, index);
}

@end

@implementation MTLComputePassDescriptor

@synthesize dispatchType = _dispatchType;
@synthesize sampleBufferAttachments = _sampleBufferAttachments;

+ (MTLComputePassDescriptor *)computePassDescriptor
{
    return [[[self alloc] init] autorelease];
}

- (instancetype)init
{
    self = [super init];
    if (self)
        _sampleBufferAttachments = [[MTLComputePassSampleBufferAttachmentDescriptorArray alloc] init];
    return self;
}

- (void)dealloc
{
    [_sampleBufferAttachments release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLComputePassDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setDispatchType:_dispatchType];
    for (NSUInteger i = 0; i < SAMPLE_ATTACHMENTS; i++)
        [[copy sampleBufferAttachments] setObject:[_sampleBufferAttachments objectAtIndexedSubscript:i]
                               atIndexedSubscript:i];
    return copy;
}

@end

@implementation MTLBlitPassDescriptor

@synthesize sampleBufferAttachments = _sampleBufferAttachments;

+ (MTLBlitPassDescriptor *)blitPassDescriptor
{
    return [[[self alloc] init] autorelease];
}

- (instancetype)init
{
    self = [super init];
    if (self)
        _sampleBufferAttachments = [[MTLBlitPassSampleBufferAttachmentDescriptorArray alloc] init];
    return self;
}

- (void)dealloc
{
    [_sampleBufferAttachments release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLBlitPassDescriptor *copy = [[[self class] allocWithZone:zone] init];
    for (NSUInteger i = 0; i < SAMPLE_ATTACHMENTS; i++)
        [[copy sampleBufferAttachments] setObject:[_sampleBufferAttachments objectAtIndexedSubscript:i]
                               atIndexedSubscript:i];
    return copy;
}

@end
