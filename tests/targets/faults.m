// SPDX-License-Identifier: MIT
// Prints what a device says of itself and what becomes of three buffers, three command buffers and two
// counter samples on it, one fact a line. Tests run it with SOFTMETAL_PROFILE and SOFTMETAL_FAULT and compare
// the lines.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;

static void say(const char *what, const char *value)
{
    printf("%s: %s\n", what, value);
}

static const char *yes(BOOL answer)
{
    return answer ? "yes" : "no";
}

static void describe(void)
{
    static const struct {
        const char *name;
        MTLGPUFamily family;
    } families[] = {{"apple1", MTLGPUFamilyApple1},   {"apple7", MTLGPUFamilyApple7},
                    {"apple9", MTLGPUFamilyApple9},   {"mac2", MTLGPUFamilyMac2},
                    {"common3", MTLGPUFamilyCommon3}, {"metal3", MTLGPUFamilyMetal3}};
    static const struct {
        const char *name;
        MTLCounterSamplingPoint point;
    } points[] = {{"at stage boundary", MTLCounterSamplingPointAtStageBoundary},
                  {"at dispatch boundary", MTLCounterSamplingPointAtDispatchBoundary},
                  {"at blit boundary", MTLCounterSamplingPointAtBlitBoundary},
                  {"at draw boundary", MTLCounterSamplingPointAtDrawBoundary}};
    say("name", [[device name] UTF8String]);
    say("architecture", [[[device architecture] name] UTF8String]);
    say("device class", object_getClassName(device));
    say("queue class", object_getClassName(queue));
    say("command buffer class", object_getClassName([queue commandBuffer]));
    say("unified memory", yes([device hasUnifiedMemory]));
    say("built in", yes([device location] == MTLDeviceLocationBuiltIn));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        say(families[i].name, yes([device supportsFamily:families[i].family]));
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        say(points[i].name, yes([device supportsCounterSampling:points[i].point]));
    NSArray *sets = [device counterSets];
    say("counter sets",
        sets ? [[[sets valueForKey:@"name"] componentsJoinedByString:@" "] UTF8String] : "nil");
}

static void allocate(void)
{
    static const char *const names[] = {"allocation 0", "allocation 1", "allocation 2"};
    for (int i = 0; i < 3; i++) {
        id<MTLBuffer> buffer = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
        say(names[i], buffer ? object_getClassName(buffer) : "nil");
        [buffer release];
    }
}

static void submit(void)
{
    for (int i = 0; i < 3; i++) {
        id<MTLCommandBuffer> commands = [queue commandBuffer];
        [commands commit];
        [commands waitUntilCompleted];
        NSError *error = [commands error];
        printf("command buffer %d: status %d, error %s %d\n", i, (int)[commands status],
               error ? [[error domain] UTF8String] : "none", (int)[error code]);
    }
}

// Two samples around a fill, the third place is left alone: what a tap does, in the way that the device has.
static void encode_samples(id<MTLCommandBuffer> commands, id<MTLBuffer> memory,
                           id<MTLCounterSampleBuffer> samples)
{
    MTLBlitPassDescriptor *pass = [MTLBlitPassDescriptor blitPassDescriptor];
    BOOL at_stages = [device supportsCounterSampling:MTLCounterSamplingPointAtStageBoundary];
    if (at_stages) {
        MTLBlitPassSampleBufferAttachmentDescriptor *attachment =
            [[pass sampleBufferAttachments] objectAtIndexedSubscript:0];
        [attachment setSampleBuffer:samples];
        [attachment setStartOfEncoderSampleIndex:0];
        [attachment setEndOfEncoderSampleIndex:1];
    }
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoderWithDescriptor:pass];
    if (!at_stages)
        [encoder sampleCountersInBuffer:samples atSampleIndex:0 withBarrier:YES];
    [encoder fillBuffer:memory range:NSMakeRange(0, 64) value:1];
    if (!at_stages)
        [encoder sampleCountersInBuffer:samples atSampleIndex:1 withBarrier:YES];
    [encoder endEncoding];
}

static void print_samples(id<MTLCounterSampleBuffer> samples)
{
    NSData *data = [samples resolveCounterRange:NSMakeRange(0, 3)];
    const MTLCounterResultTimestamp *t = [data bytes];
    const char *kind = "wrong";
    if (t[0].timestamp == MTLCounterErrorValue && t[1].timestamp == MTLCounterErrorValue)
        kind = "errors";
    else if (!t[0].timestamp && !t[1].timestamp)
        kind = "zero";
    else if (t[0].timestamp && t[0].timestamp <= t[1].timestamp)
        kind = "in order";
    say("samples", kind);
    say("place without a sample", t[2].timestamp ? "written" : "0");
}

static void sample(void)
{
    NSError *error = nil;
    MTLCounterSampleBufferDescriptor *descriptor = [[MTLCounterSampleBufferDescriptor new] autorelease];
    [descriptor setCounterSet:[[device counterSets] lastObject]];
    [descriptor setSampleCount:3];
    [descriptor setStorageMode:MTLStorageModeShared];
    id<MTLCounterSampleBuffer> samples = [device newCounterSampleBufferWithDescriptor:descriptor
                                                                                error:&error];
    if (!samples) {
        printf("sample buffer: %s %d\n", [[error domain] UTF8String], (int)[error code]);
        return;
    }
    id<MTLBuffer> memory = [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    encode_samples(commands, memory, samples);
    [commands commit];
    [commands waitUntilCompleted];
    print_samples(samples);
    [memory release];
    [samples release];
}

int main(void)
{
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        queue = [device newCommandQueue];
        describe();
        allocate();
        submit();
        sample();
        [queue release];
    }
    return 0;
}
