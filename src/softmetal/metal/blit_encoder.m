// SPDX-License-Identifier: MIT
// Blit encoders: check and record copies, fills and counter resolves. Runs on the thread that encodes.
#import "metal/submission.h"

@implementation SMGPUBlitEncoder

static char *checked_range(SMGPUBlitEncoder *self, SEL selector, const char *name, id<MTLBuffer> buffer,
                           NSUInteger offset, NSUInteger size)
{
    sm_assert_metal_as(selector, !self->_ended, "encoder has already ended: endEncoding was called");
    sm_assert_metal_as(selector, buffer, "%s must not be nil", name);
    sm_binding binding = sm_buffer_binding(buffer, 0);
    sm_assert_metal_as(selector, sm_range_fits(offset, size, binding.length),
                       "(%sOffset(%lu) + size(%lu)) must be <= [%s length](%lu)", name, (unsigned long)offset,
                       (unsigned long)size, name, (unsigned long)binding.length);
    sm_commands_keep(self->_commands, buffer);
    return (char *)binding.address + offset;
}

- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)source_offset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destination_offset
                  size:(NSUInteger)size
{
    const char *from = checked_range(self, _cmd, "sourceBuffer", source, source_offset, size);
    char *to = checked_range(self, _cmd, "destinationBuffer", destination, destination_offset, size);
    sm_copy_command *command = sm_commands_add(_commands, SM_COMMAND_COPY, sizeof *command);
    command->source = from;
    command->destination = to;
    command->size = size;
    _record->work++;
}

- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value
{
    char *to = checked_range(self, _cmd, "buffer", buffer, range.location, range.length);
    sm_assert_metal(range.length, "range.length must be > 0");
    sm_copy_command *command = sm_commands_add(_commands, SM_COMMAND_FILL, sizeof *command);
    command->destination = to;
    command->size = range.length;
    command->value = value;
    _record->work++;
}

// Memory is one: what the GPU wrote is what the CPU sees.
- (void)synchronizeResource:(id<MTLResource>)resource
{
    sm_assert_encoding();
    sm_assert_metal(resource, "resource must not be nil");
    sm_assert_metal([resource storageMode] == MTLStorageModeManaged, "resource is not a managed resource");
    sm_commands_keep(_commands, resource);
}

// ---- indirect command buffers ----
static void check_icb_range(SMGPUBlitEncoder *self, SEL selector, id<MTLIndirectCommandBuffer> icb,
                            NSRange range)
{
    sm_assert_metal_as(selector, !self->_ended, "encoder has already ended: endEncoding was called");
    sm_assert_metal_as(selector, icb, "indirectCommandBuffer must not be nil");
    sm_assert_metal_as(selector, sm_range_fits(range.location, range.length, sm_icb_size(icb)),
                       "range {%lu, %lu} must be inside the %lu commands of the indirect command buffer",
                       (unsigned long)range.location, (unsigned long)range.length,
                       (unsigned long)sm_icb_size(icb));
    sm_commands_keep(self->_commands, icb);
}

- (void)resetCommandsInBuffer:(id<MTLIndirectCommandBuffer>)icb withRange:(NSRange)range
{
    check_icb_range(self, _cmd, icb, range);
    sm_icb_command_range *command = sm_commands_add(_commands, SM_COMMAND_RESET_INDIRECT, sizeof *command);
    command->icb = icb;
    command->range = range;
    _record->work++;
}

- (void)copyIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)source
                      sourceRange:(NSRange)range
                      destination:(id<MTLIndirectCommandBuffer>)destination
                 destinationIndex:(NSUInteger)index
{
    check_icb_range(self, _cmd, source, range);
    check_icb_range(self, _cmd, destination, NSMakeRange(index, range.length));
    sm_icb_command_range *command = sm_commands_add(_commands, SM_COMMAND_COPY_INDIRECT, sizeof *command);
    command->icb = source;
    command->range = range;
    command->destination = destination;
    command->index = index;
    _record->work++;
}

// Commands are as good as they get.
- (void)optimizeIndirectCommandBuffer:(id<MTLIndirectCommandBuffer>)icb withRange:(NSRange)range
{
    check_icb_range(self, _cmd, icb, range);
}

// ---- counters ----
- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)samples
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier
{
    (void)barrier;
    [self addSample:samples at:index supported:[(SMDevice *)[self device] samplesAtBlitBoundary]];
}

- (void)resolveCounters:(id<MTLCounterSampleBuffer>)samples
                inRange:(NSRange)range
      destinationBuffer:(id<MTLBuffer>)destination
      destinationOffset:(NSUInteger)offset
{
    sm_assert_encoding();
    sm_assert_metal(samples, "sampleBuffer must not be nil");
    sm_assert_metal(range.length && sm_range_fits(range.location, range.length, [samples sampleCount]),
                    "range {%lu, %lu} must be inside the %lu samples of the sample buffer",
                    (unsigned long)range.location, (unsigned long)range.length,
                    (unsigned long)[samples sampleCount]);
    sm_assert_metal(offset % 8 == 0, "destinationOffset (%lu) must be a multiple of 8",
                    (unsigned long)offset);
    char *to = checked_range(self, _cmd, "destinationBuffer", destination, offset,
                             range.length * sizeof(MTLCounterResultTimestamp));
    sm_resolve_command *command = sm_commands_add(_commands, SM_COMMAND_RESOLVE, sizeof *command);
    command->samples = samples;
    command->range = range;
    command->destination = to;
    sm_commands_keep(_commands, samples);
    _record->work++;
}

@end
