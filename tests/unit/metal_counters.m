// SPDX-License-Identifier: MIT
// Counter sets and sample buffers of the apple profile: names, the limits of an Apple GPU with their errors,
// samples at encoder boundaries, and resolving on both sides.
#include "msl/harness.h"

static MTLCounterSampleBufferDescriptor *descriptor_for(NSUInteger count)
{
    MTLCounterSampleBufferDescriptor *descriptor = [[MTLCounterSampleBufferDescriptor new] autorelease];
    [descriptor setCounterSet:[[msl.device counterSets] lastObject]];
    [descriptor setSampleCount:count];
    [descriptor setStorageMode:MTLStorageModeShared];
    return descriptor;
}

static void names(void)
{
    NSArray *sets = [msl.device counterSets];
    id<MTLCounterSet> set = [sets lastObject];
    CHECK_EQ([sets count], 1);
    CHECK([[set name] isEqual:MTLCommonCounterSetTimestamp]);
    CHECK_EQ([[set counters] count], 1);
    CHECK([[(id<MTLCounter>)[[set counters] lastObject] name] isEqual:MTLCommonCounterTimestamp]);
}

static void refused(MTLCounterSampleBufferDescriptor *descriptor, NSInteger code, const char *text)
{
    NSError *error = nil;
    CHECK([msl.device newCounterSampleBufferWithDescriptor:descriptor error:&error] == nil);
    CHECK([[error domain] isEqual:MTLCounterErrorDomain]);
    CHECK_EQ([error code], code);
    CHECK_HAS([[error localizedDescription] UTF8String], text);
}

static void limits(void)
{
    enum { LIVE = 32 };
    refused([[MTLCounterSampleBufferDescriptor new] autorelease], MTLCounterSampleBufferErrorInvalid,
            "Counter set");
    refused(descriptor_for(0), MTLCounterSampleBufferErrorInvalid, "length: 0 B. Expected range: 8 -> 32768");
    refused(descriptor_for(4097), MTLCounterSampleBufferErrorInvalid,
            "length: 32776 B. Expected range: 8 -> 32768");
    MTLCounterSampleBufferDescriptor *managed = descriptor_for(1);
    [managed setStorageMode:MTLStorageModeManaged];
    refused(managed, MTLCounterSampleBufferErrorInvalid, "storage mode");

    id<MTLCounterSampleBuffer> live[LIVE];
    for (int i = 0; i < LIVE; i++) {
        live[i] = [msl.device newCounterSampleBufferWithDescriptor:descriptor_for(4096) error:NULL];
        CHECK(live[i] && [live[i] sampleCount] == 4096);
    }
    refused(descriptor_for(1), MTLCounterSampleBufferErrorOutOfMemory, "Cannot allocate sample buffer");
    [live[7] release];
    live[7] = [msl.device newCounterSampleBufferWithDescriptor:descriptor_for(1) error:NULL];
    CHECK(live[7] != nil);
    for (int i = 0; i < LIVE; i++)
        [live[i] release];
}

// Three encoders, the second without work: its samples never land.
static void encode(id<MTLCommandBuffer> commands, id<MTLCounterSampleBuffer> samples, id<MTLBuffer> memory)
{
    for (NSUInteger i = 0; i < 3; i++) {
        MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
        MTLComputePassSampleBufferAttachmentDescriptor *attachment =
            [[pass sampleBufferAttachments] objectAtIndexedSubscript:0];
        [attachment setSampleBuffer:samples];
        [attachment setStartOfEncoderSampleIndex:2 * i];
        [attachment setEndOfEncoderSampleIndex:i == 2 ? MTLCounterDontSample : 2 * i + 1];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDescriptor:pass];
        [encoder setComputePipelineState:msl_new_pipeline("work", nil)];
        [encoder setBuffer:memory offset:0 atIndex:0];
        if (i != 1)
            [encoder dispatchThreads:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
        [encoder endEncoding];
    }
}

static void sampling(void)
{
    id<MTLCounterSampleBuffer> samples = [msl.device newCounterSampleBufferWithDescriptor:descriptor_for(6)
                                                                                    error:NULL];
    id<MTLBuffer> memory = [msl.device newBufferWithLength:64 options:0];
    MTLTimestamp cpu = 0, before = 0, after = 0;
    [msl.device sampleTimestamps:&cpu gpuTimestamp:&before];
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    encode(commands, samples, memory);
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit resolveCounters:samples inRange:NSMakeRange(0, 6) destinationBuffer:memory destinationOffset:16];
    [blit endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    [msl.device sampleTimestamps:&cpu gpuTimestamp:&after];
    CHECK_EQ([commands status], MTLCommandBufferStatusCompleted);

    NSData *resolved = [samples resolveCounterRange:NSMakeRange(0, 6)];
    CHECK_EQ([resolved length], 6 * sizeof(MTLCounterResultTimestamp));
    const MTLCounterResultTimestamp *t = [resolved bytes];
    CHECK(before <= t[0].timestamp && t[0].timestamp <= t[1].timestamp && t[1].timestamp <= t[4].timestamp);
    CHECK(t[4].timestamp <= after);
    CHECK_EQ(t[2].timestamp | t[3].timestamp | t[5].timestamp, 0);
    CHECK(memcmp(t, (char *)[memory contents] + 16, [resolved length]) == 0);
    resolved = [samples resolveCounterRange:NSMakeRange(4, 1)];
    CHECK_EQ(((const MTLCounterResultTimestamp *)[resolved bytes])->timestamp, t[4].timestamp);
    [memory release];
    [samples release];
}

int main(void)
{
    msl_source("kernel void work(device int *a [[buffer(0)]]) { a[0] = 1; }");
    names();
    limits();
    sampling();
    return msl_end();
}
