// SPDX-License-Identifier: MIT
// Heaps: where buffers go, what is free, what aliasing gives back, placement, and that a buffer keeps its
// heap.
#include "msl/harness.h"

enum { SIZE = 65536 };

static id<MTLHeap> heap(MTLHeapType type)
{
    MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor new] autorelease];
    CHECK_EQ([descriptor storageMode], MTLStorageModePrivate);
    [descriptor setSize:SIZE];
    [descriptor setStorageMode:MTLStorageModeShared];
    [descriptor setType:type];
    return [msl.device newHeapWithDescriptor:descriptor];
}

static void automatic(void)
{
    NSUInteger before = [msl.device currentAllocatedSize];
    id<MTLHeap> h = heap(MTLHeapTypeAutomatic);
    CHECK_EQ([h size], SIZE);
    CHECK_EQ([h usedSize], 0);
    CHECK_EQ([h currentAllocatedSize], SIZE);
    CHECK_EQ([h maxAvailableSizeWithAlignment:256], SIZE);
    CHECK_EQ([msl.device currentAllocatedSize], before + SIZE);
    CHECK_EQ([msl.device heapBufferSizeAndAlignWithLength:1000 options:0].size, 1024);

    id<MTLBuffer> a = [h newBufferWithLength:1000 options:0], b = [h newBufferWithLength:10000 options:0];
    id<MTLBuffer> c = [h newBufferWithLength:100 options:0];
    CHECK([a heap] == h && [b heap] == h);
    CHECK_EQ([a heapOffset], 0);
    CHECK_EQ([b heapOffset], 1024);
    CHECK_EQ([c heapOffset], 1024 + 10240);
    CHECK_EQ([b allocatedSize], 10240);
    CHECK((char *)[b contents] == (char *)[a contents] + 1024);
    CHECK_EQ([b hazardTrackingMode], MTLHazardTrackingModeUntracked);
    CHECK_EQ([h usedSize], 1024 + 10240 + 256);
    CHECK_EQ([msl.device currentAllocatedSize], before + SIZE);

    [b release]; // a gap, which the next one of its size fills
    CHECK_EQ([h usedSize], 1280);
    CHECK_EQ([h maxAvailableSizeWithAlignment:1], SIZE - 11520);
    b = [h newBufferWithLength:10240 options:0];
    CHECK_EQ([b heapOffset], 1024);
    CHECK([h newBufferWithLength:SIZE options:0] == nil);

    CHECK(![b isAliasable]);
    [b makeAliasable];
    CHECK([b isAliasable]);
    CHECK_EQ([h usedSize], 1280);
    id<MTLBuffer> alias = [h newBufferWithLength:512 options:0];
    CHECK([alias contents] == [b contents]);

    [a release];
    [b release];
    [c release];
    [h release];
    CHECK_EQ([[alias heap] size], SIZE);
    ((char *)[alias contents])[511] = 1;
    [alias release];
    CHECK_EQ([msl.device currentAllocatedSize], before);
}

static void placement(void)
{
    id<MTLHeap> h = heap(MTLHeapTypePlacement);
    CHECK_EQ([h type], MTLHeapTypePlacement);
    id<MTLBuffer> a = [h newBufferWithLength:512 options:0 offset:4096];
    id<MTLBuffer> b = [h newBufferWithLength:512 options:0 offset:4096];
    CHECK_EQ([a heapOffset], 4096);
    CHECK_EQ([a gpuAddress], [b gpuAddress]);
    [a release];
    [b release];
    [h release];
}

static void purgeable(void)
{
    id<MTLHeap> h = heap(MTLHeapTypeAutomatic);
    CHECK_EQ([h setPurgeableState:MTLPurgeableStateVolatile], MTLPurgeableStateNonVolatile);
    CHECK_EQ([h setPurgeableState:MTLPurgeableStateKeepCurrent], MTLPurgeableStateVolatile);
    [h release];
}

// A kernel works on a heap's buffers as on any others.
static void in_a_kernel(void)
{
    msl_source("kernel void k(device int *a [[buffer(0)]], device int *b [[buffer(1)]], "
               "uint i [[thread_position_in_grid]]) { b[i] = a[i] + 1; }");
    id<MTLHeap> h = heap(MTLHeapTypeAutomatic);
    id<MTLBuffer> a = [h newBufferWithLength:128 options:0], b = [h newBufferWithLength:128 options:0];
    ((int *)[a contents])[31] = 41;
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:msl_new_pipeline("k", nil)];
    [encoder useHeap:h];
    [encoder setBuffer:a offset:0 atIndex:0];
    [encoder setBuffer:b offset:0 atIndex:1];
    [encoder dispatchThreads:MTLSizeMake(32, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if (!CHECK_EQ([commands status], MTLCommandBufferStatusCompleted))
        printf("    %s\n", [[[commands error] localizedDescription] UTF8String]);
    CHECK_EQ(((int *)[b contents])[31], 42);
    [a release];
    [b release];
    [h release];
}

int main(void)
{
    msl_start();
    automatic();
    placement();
    purgeable();
    in_a_kernel();
    return msl_end();
}
