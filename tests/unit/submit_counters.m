// SPDX-License-Identifier: MIT
// Counter samples of command buffers in every profile: attachments where the device samples at stage
// boundaries, sample commands where it does at dispatches and blits, nothing where it has no counters. They
// lie inside the command buffer's GPU time and resolve to the same numbers on both sides.
#include "unit/submit_support.h"

enum { SAMPLES = 8 };
static id<MTLBuffer> memory;
static BOOL at_stages, at_dispatches, at_blits;

static id<MTLCounterSampleBuffer> new_samples(void)
{
    MTLCounterSampleBufferDescriptor *descriptor = [[MTLCounterSampleBufferDescriptor new] autorelease];
    NSError *error = nil;
    [descriptor setCounterSet:[[msl.device counterSets] lastObject]];
    [descriptor setSampleCount:SAMPLES];
    [descriptor setStorageMode:MTLStorageModeShared];
    id<MTLCounterSampleBuffer> samples = [msl.device newCounterSampleBufferWithDescriptor:descriptor
                                                                                    error:&error];
    CHECK(samples && !error);
    return samples;
}

// One dispatch between the samples 0 and 1.
static void encode_compute(id<MTLCommandBuffer> commands, id<MTLCounterSampleBuffer> samples)
{
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    MTLComputePassSampleBufferAttachmentDescriptor *attachment =
        [[pass sampleBufferAttachments] objectAtIndexedSubscript:3]; // any slot will do
    [attachment setSampleBuffer:at_stages ? samples : nil];
    [attachment setStartOfEncoderSampleIndex:0];
    [attachment setEndOfEncoderSampleIndex:1];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDescriptor:pass];
    [encoder setComputePipelineState:submit_pipeline("increase")];
    [encoder setBuffer:memory offset:0 atIndex:0];
    if (at_dispatches)
        [encoder sampleCountersInBuffer:samples atSampleIndex:0 withBarrier:YES];
    submit_threads(encoder, 1);
    if (at_dispatches)
        [encoder sampleCountersInBuffer:samples atSampleIndex:1 withBarrier:NO];
    [encoder endEncoding];
}

// A fill between the samples 2 and 3, and the resolve of all behind it.
static void encode_blit(id<MTLCommandBuffer> commands, id<MTLCounterSampleBuffer> samples)
{
    MTLBlitPassDescriptor *pass = [MTLBlitPassDescriptor blitPassDescriptor];
    MTLBlitPassSampleBufferAttachmentDescriptor *attachment =
        [[pass sampleBufferAttachments] objectAtIndexedSubscript:0];
    [attachment setSampleBuffer:at_stages ? samples : nil];
    [attachment setStartOfEncoderSampleIndex:2];
    [attachment setEndOfEncoderSampleIndex:3];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoderWithDescriptor:pass];
    if (at_blits)
        [blit sampleCountersInBuffer:samples atSampleIndex:2 withBarrier:YES];
    [blit fillBuffer:memory range:NSMakeRange(4, 4) value:1];
    if (at_blits)
        [blit sampleCountersInBuffer:samples atSampleIndex:3 withBarrier:YES];
    [blit endEncoding];
    blit = [commands blitCommandEncoder];
    [blit resolveCounters:samples
                  inRange:NSMakeRange(0, SAMPLES)
        destinationBuffer:memory
        destinationOffset:64];
    [blit endEncoding];
}

// Encoders that do nothing land no samples, and an index may be left out.
static void encode_rest(id<MTLCommandBuffer> commands, id<MTLCounterSampleBuffer> samples)
{
    if (!at_stages)
        return;
    for (int i = 0; i < 2; i++) {
        MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
        MTLComputePassSampleBufferAttachmentDescriptor *attachment =
            [[pass sampleBufferAttachments] objectAtIndexedSubscript:0];
        [attachment setSampleBuffer:samples];
        [attachment setStartOfEncoderSampleIndex:i ? MTLCounterDontSample : 4];
        [attachment setEndOfEncoderSampleIndex:i ? 6 : 5];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDescriptor:pass];
        [encoder setComputePipelineState:submit_pipeline("increase")];
        [encoder setBuffer:memory offset:0 atIndex:0];
        if (i)
            submit_threads(encoder, 1);
        [encoder endEncoding];
    }
}

static void check_samples(id<MTLCommandBuffer> commands, id<MTLCounterSampleBuffer> samples)
{
    const double tolerance = 1e-6; // seconds in a double
    NSData *data = [samples resolveCounterRange:NSMakeRange(0, SAMPLES)];
    if (!CHECK_EQ([data length], SAMPLES * sizeof(MTLCounterResultTimestamp)))
        return;
    const MTLCounterResultTimestamp *t = [data bytes];
    for (int i = 0; i < 4; i++) {
        CHECK_INT(t[i].timestamp, >, 0);
        CHECK_INT(t[i].timestamp, >=, t[i ? i - 1 : 0].timestamp);
    }
    CHECK((double)t[0].timestamp * 1e-9 >= [commands GPUStartTime] - tolerance);
    CHECK((double)t[3].timestamp * 1e-9 <= [commands GPUEndTime] + tolerance);
    CHECK_EQ(t[4].timestamp | t[5].timestamp | t[7].timestamp, 0);
    CHECK_EQ(t[6].timestamp > 0, at_stages);
    CHECK(memcmp((char *)[memory contents] + 64, t, [data length]) == 0);
}

static void sampling(void)
{
    MTLTimestamp cpu[2] = {0}, gpu[2] = {0};
    id<MTLCounterSampleBuffer> samples = new_samples();
    NSUInteger references = [samples retainCount];
    [msl.device sampleTimestamps:&cpu[0] gpuTimestamp:&gpu[0]];
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    @autoreleasepool {
        encode_compute(commands, samples);
        encode_rest(commands, samples);
        encode_blit(commands, samples);
    }
    CHECK_INT([samples retainCount], >, references);
    submit_finish(commands);
    CHECK_EQ([samples retainCount], references);
    [msl.device sampleTimestamps:&cpu[1] gpuTimestamp:&gpu[1]];
    check_samples(commands, samples);
    MTLCounterResultTimestamp t[4];
    memcpy(t, (char *)[memory contents] + 64, sizeof t);
    CHECK(cpu[0] && cpu[1] >= cpu[0]);
    CHECK(gpu[0] <= t[0].timestamp && t[3].timestamp <= gpu[1]); // one clock
    [samples release];
}

static void no_counters(void)
{
    MTLCounterSampleBufferDescriptor *descriptor = [[MTLCounterSampleBufferDescriptor new] autorelease];
    NSError *error = nil;
    [descriptor setSampleCount:SAMPLES];
    CHECK([msl.device counterSets] == nil);
    CHECK([msl.device newCounterSampleBufferWithDescriptor:descriptor error:&error] == nil);
    CHECK_STR([[error domain] UTF8String], "MTLCounterErrorDomain");
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    encode_compute(commands, nil); // attachments without a buffer mean nothing
    submit_finish(commands);
    CHECK_EQ(*(int *)[memory contents], 1);
}

int main(void)
{
    submit_start();
    memory = [msl.device newBufferWithLength:256 options:0];
    at_stages = [msl.device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary];
    at_dispatches = [msl.device supportsCounterSampling:MTLCounterSamplingPointAtDispatchBoundary];
    at_blits = [msl.device supportsCounterSampling:MTLCounterSamplingPointAtBlitBoundary];
    const char *profile = getenv("SOFTMETAL_PROFILE");
    CHECK_EQ(at_stages, !profile || strcmp(profile, "apple") == 0);
    CHECK_EQ(at_dispatches, profile && strcmp(profile, "amd") == 0);
    CHECK_EQ(at_blits, at_dispatches);
    CHECK(![msl.device supportsCounterSampling:MTLCounterSamplingPointAtDrawBoundary]);
    CHECK(![msl.device supportsCounterSampling:MTLCounterSamplingPointAtTileDispatchBoundary]);
    if (at_stages || at_dispatches)
        sampling();
    else
        no_counters();
    [memory release];
    return msl_end();
}
