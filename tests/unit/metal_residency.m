// SPDX-License-Identifier: MIT
// Residency sets: what is in them, what counts after commit, and what they keep alive.
#include "msl/harness.h"

int main(void)
{
    msl_start();
    NSError *error = nil;
    MTLResidencySetDescriptor *descriptor = [[MTLResidencySetDescriptor new] autorelease];
    [descriptor setLabel:@"weights"];
    [descriptor setInitialCapacity:4];
    id<MTLResidencySet> set = [msl.device newResidencySetWithDescriptor:descriptor error:&error];
    id<MTLBuffer> a = [msl.device newBufferWithLength:4096 options:0];
    id<MTLBuffer> b = [msl.device newBufferWithLength:8192 options:0];
    CHECK(set && !error && [set device] == msl.device);
    CHECK_STR([[set label] UTF8String], "weights");

    id<MTLAllocation> both[2] = {a, b};
    [set addAllocation:a];
    [set addAllocations:both count:2]; // the first is there already
    CHECK_EQ([set allocationCount], 2);
    CHECK([set containsAllocation:a] && [set containsAllocation:b]);
    CHECK_EQ([set allocatedSize], 0); // before commit
    [set commit];
    [set requestResidency];
    CHECK_EQ([set allocatedSize], 12288);

    [set removeAllocation:a];
    CHECK_EQ([set allocationCount], 1);
    CHECK(![set containsAllocation:a]);
    CHECK([[set allAllocations] count] == 1 && [[set allAllocations] lastObject] == b);
    CHECK_EQ([set allocatedSize], 12288);
    [set commit];
    CHECK_EQ([set allocatedSize], 8192);

    // Queues and command buffers take sets, and run as they do without.
    [msl.queue addResidencySet:set];
    @autoreleasepool {
        id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        [commands useResidencySet:set];
        [commands commit];
        [commands waitUntilCompleted];
        CHECK_EQ([commands status], MTLCommandBufferStatusCompleted);
    }
    [msl.queue removeResidencySet:set];

    [set removeAllAllocations];
    CHECK_EQ([set allocationCount], 0);
    [set endResidency];
    [a release];
    [b release];
    [set release];
    return msl_end();
}
