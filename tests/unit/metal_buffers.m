// SPDX-License-Identifier: MIT
// Buffers in all forms of creation: what they hold, what they say of themselves, what is counted on the
// device, and when the deallocator of borrowed memory runs.
#include "msl/harness.h"

static void forms(void)
{
    NSUInteger before = [msl.device currentAllocatedSize];
    id<MTLBuffer> buffer = [msl.device newBufferWithLength:1000 options:MTLResourceStorageModeShared];
    const unsigned char *bytes = [buffer contents];
    CHECK_EQ([buffer length], 1000);
    CHECK(bytes && [buffer gpuAddress] == (uint64_t)(uintptr_t)bytes);
    CHECK_EQ(bytes[0] | bytes[999], 0);
    CHECK([buffer device] == msl.device && [buffer heap] == nil);
    CHECK_EQ([buffer allocatedSize], 4096);
    CHECK_EQ([msl.device currentAllocatedSize], before + 4096);
    CHECK_EQ([buffer retainCount], 1);
    [buffer release];
    CHECK_EQ([msl.device currentAllocatedSize], before);

    buffer = [msl.device newBufferWithBytes:"hello" length:6 options:0];
    CHECK_STR([buffer contents], "hello");
    [buffer setLabel:@"greeting"];
    CHECK_STR([[buffer label] UTF8String], "greeting");
    [buffer release];

    CHECK([msl.device newBufferWithLength:[msl.device maxBufferLength] + 1 options:0] == nil);
}

static void options(void)
{
    static const struct {
        MTLResourceOptions options;
        MTLStorageMode storage;
        MTLCPUCacheMode cache;
        MTLHazardTrackingMode hazard;
        bool is_visible;
    } cases[] = {
        {0, MTLStorageModeShared, MTLCPUCacheModeDefaultCache, MTLHazardTrackingModeTracked, true},
        {MTLResourceStorageModeManaged, MTLStorageModeManaged, 0, MTLHazardTrackingModeTracked, true},
        {MTLResourceStorageModePrivate, MTLStorageModePrivate, 0, MTLHazardTrackingModeTracked, false},
        {MTLResourceCPUCacheModeWriteCombined, 0, MTLCPUCacheModeWriteCombined, MTLHazardTrackingModeTracked,
         true},
        {MTLResourceHazardTrackingModeUntracked, 0, 0, MTLHazardTrackingModeUntracked, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        id<MTLBuffer> buffer = [msl.device newBufferWithLength:64 options:cases[i].options];
        CHECK_EQ([buffer storageMode], cases[i].storage);
        CHECK_EQ([buffer cpuCacheMode], cases[i].cache);
        CHECK_EQ([buffer hazardTrackingMode], cases[i].hazard);
        CHECK_EQ([buffer contents] != NULL, cases[i].is_visible);
        CHECK_EQ([buffer resourceOptions] & ~(NSUInteger)MTLResourceHazardTrackingModeMask,
                 cases[i].options & ~(NSUInteger)MTLResourceHazardTrackingModeMask);
        CHECK([buffer gpuAddress] != 0);
        [buffer release];
    }
}

static void purgeable(void)
{
    id<MTLBuffer> buffer = [msl.device newBufferWithLength:64 options:0];
    CHECK_EQ([buffer setPurgeableState:MTLPurgeableStateVolatile], MTLPurgeableStateNonVolatile);
    CHECK_EQ([buffer setPurgeableState:MTLPurgeableStateKeepCurrent], MTLPurgeableStateVolatile);
    CHECK_EQ([buffer setPurgeableState:MTLPurgeableStateNonVolatile], MTLPurgeableStateVolatile);
    [buffer release];
}

static void borrowed(void)
{
    __block void *freed = NULL;
    __block NSUInteger freed_length = 0;
    NSUInteger before = [msl.device currentAllocatedSize];
    void *memory = aligned_alloc(4096, 8192);
    id<MTLBuffer> buffer = [msl.device newBufferWithBytesNoCopy:memory
                                                         length:8192
                                                        options:0
                                                    deallocator:^(void *pointer, NSUInteger length) {
                                                        freed = pointer;
                                                        freed_length = length;
                                                    }];
    CHECK([buffer contents] == memory);
    CHECK_EQ([msl.device currentAllocatedSize], before + 8192);

    // A command buffer keeps it, and with it the memory, until it has run.
    id<MTLSharedEvent> gate = [msl.device newSharedEvent];
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        [commands encodeWaitForEvent:gate value:1];
        id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
        [encoder fillBuffer:buffer range:NSMakeRange(0, 8192) value:9];
        [encoder endEncoding];
        [commands commit];
        [buffer release];
        CHECK(freed == NULL);
        [gate setSignaledValue:1];
        [commands waitUntilCompleted];
    }
    @autoreleasepool { // what the queue's thread held goes with the next one at the latest
        id<MTLCommandBuffer> next = [msl.queue commandBuffer];
        [next commit];
        [next waitUntilCompleted];
    }
    CHECK(freed == memory && freed_length == 8192);
    CHECK_EQ(((unsigned char *)memory)[8191], 9);
    CHECK_EQ([msl.device currentAllocatedSize], before);
    free(memory);
    [gate release];

    memory = aligned_alloc(4096, 4096);
    buffer = [msl.device newBufferWithBytesNoCopy:memory length:4096 options:0 deallocator:nil];
    [buffer release];
    *(char *)memory = 1; // still ours
    free(memory);
}

int main(void)
{
    msl_start();
    forms();
    options();
    purgeable();
    borrowed();
    return msl_end();
}
