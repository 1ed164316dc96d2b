// SPDX-License-Identifier: MIT
// What compute and blit encoders share: begin and end, labels, debug groups, fences, counter samples. Runs on
// the thread that encodes. An encoder only records; nothing here executes.
#import "metal/submission.h"

@implementation _SMCommandEncoder

- (instancetype)initWithBuffer:(SMGPUCommandBuffer *)buffer type:(sm_encoder_type)type
{
    self = [super init];
    if (self) {
        _buffer = [buffer retain];
        _commands = [buffer commands];
        _record = sm_commands_begin_encoder(_commands, type);
    }
    return self;
}

- (void)dealloc
{
    sm_assert_metal(_ended, "Command encoder released without endEncoding");
    [_buffer release];
    [super dealloc];
}

- (id<MTLDevice>)device
{
    return [_buffer device];
}

- (void)endEncoding
{
    sm_assert_metal(!_ended, "endEncoding has already been called");
    _record->label = sm_commands_text(_commands, [self label]);
    sm_commands_add(_commands, SM_COMMAND_END_ENCODER, sizeof(sm_command));
    _ended = true;
    [_buffer encoderDidEnd:self];
}

// ---- debug groups ----
- (void)insertDebugSignpost:(NSString *)string
{
    sm_assert_encoding();
    sm_assert_metal(string, "string must not be nil");
    sm_commands_add_text(_commands, SM_COMMAND_SIGNPOST, string);
}

- (void)pushDebugGroup:(NSString *)string
{
    sm_assert_encoding();
    sm_assert_metal(string, "string must not be nil");
    _debug_groups++;
    sm_commands_add_text(_commands, SM_COMMAND_PUSH_GROUP, string);
}

- (void)popDebugGroup
{
    sm_assert_encoding();
    sm_assert_metal(_debug_groups, "popDebugGroup called without a matching pushDebugGroup:");
    _debug_groups--;
    sm_commands_add_text(_commands, SM_COMMAND_POP_GROUP, nil);
}

// ---- fences: encoders of a queue run one after the other, so their order already holds ----
- (void)updateFence:(id<MTLFence>)fence
{
    sm_assert_encoding();
    sm_assert_metal(fence, "fence must not be nil");
    sm_commands_keep(_commands, fence);
}

- (void)waitForFence:(id<MTLFence>)fence
{
    sm_assert_encoding();
    sm_assert_metal(fence, "fence must not be nil");
    sm_commands_keep(_commands, fence);
}

// ---- counter samples ----
- (void)addSample:(id<MTLCounterSampleBuffer>)samples at:(NSUInteger)index supported:(BOOL)supported
{
    SEL selector = @selector(sampleCountersInBuffer:atSampleIndex:withBarrier:);
    sm_assert_metal_as(selector, !_ended, "encoder has already ended: endEncoding was called");
    sm_assert_metal_as(selector, supported,
                       "the device does not support sampling at this point: check supportsCounterSampling:");
    sm_assert_metal_as(selector, samples, "sampleBuffer must not be nil");
    sm_assert_metal_as(selector, index < [samples sampleCount],
                       "sampleIndex (%lu) must be < sampleCount (%lu)", (unsigned long)index,
                       (unsigned long)[samples sampleCount]);
    sm_sample_command *command = sm_commands_add(_commands, SM_COMMAND_SAMPLE, sizeof *command);
    command->samples = samples;
    command->index = index;
    sm_commands_keep(_commands, samples);
}

static BOOL sample_index_is_valid(NSUInteger index, NSUInteger count)
{
    return index == MTLCounterDontSample || index < count;
}

- (void)attachSamples:(id<MTLCounterSampleBuffer>)samples start:(NSUInteger)start end:(NSUInteger)end
{
    if (!samples)
        return;
    sm_assert_metal([(SMDevice *)[self device] samplesAtStageBoundary],
                    "sampleBufferAttachments: the device does not support sampling at stage boundaries");
    NSUInteger count = [samples sampleCount];
    sm_assert_metal(sample_index_is_valid(start, count),
                    "startOfEncoderSampleIndex (%lu) must be < sampleCount (%lu)", (unsigned long)start,
                    (unsigned long)count);
    sm_assert_metal(sample_index_is_valid(end, count),
                    "endOfEncoderSampleIndex (%lu) must be < sampleCount (%lu)", (unsigned long)end,
                    (unsigned long)count);
    _record->attachment[_record->attachments++] = (sm_attachment){samples, start, end};
    sm_commands_keep(_commands, samples);
}

@end
