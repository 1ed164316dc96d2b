// SPDX-License-Identifier: MIT
// Binary archives: functions go in, a file comes out and is taken back, other files are refused. Writes into
// its work folder.
#include "msl/harness.h"

int main(void)
{
    msl_source("kernel void k(device int *a [[buffer(0)]]) { a[0] = 1; }");
    NSError *error = nil;
    NSString *folder = [[NSFileManager defaultManager] currentDirectoryPath];
    NSURL *url = [NSURL fileURLWithPath:[folder stringByAppendingPathComponent:@"archive.bin"]];
    MTLBinaryArchiveDescriptor *descriptor = [[MTLBinaryArchiveDescriptor new] autorelease];
    id<MTLBinaryArchive> archive = [msl.device newBinaryArchiveWithDescriptor:descriptor error:&error];
    CHECK(archive && !error && [archive device] == msl.device);

    MTLComputePipelineDescriptor *pipeline = [[MTLComputePipelineDescriptor new] autorelease];
    [pipeline setComputeFunction:[[msl.library newFunctionWithName:@"k"] autorelease]];
    CHECK([archive addComputePipelineFunctionsWithDescriptor:pipeline error:&error] && !error);
    CHECK([archive serializeToURL:url error:&error] && !error);
    [archive release];

    [descriptor setUrl:url];
    archive = [msl.device newBinaryArchiveWithDescriptor:descriptor error:&error];
    CHECK(archive && !error);
    [pipeline setBinaryArchives:[NSArray arrayWithObject:archive]];
    id<MTLComputePipelineState> state = [msl.device newComputePipelineStateWithDescriptor:pipeline
                                                                                  options:0
                                                                               reflection:NULL
                                                                                    error:&error];
    CHECK(state && !error);
    [state release];
    [archive release];

    [@"text" writeToFile:@"other" atomically:NO encoding:NSUTF8StringEncoding error:NULL];
    for (NSString *name in [NSArray arrayWithObjects:@"other", @"nowhere", nil]) {
        [descriptor setUrl:[NSURL fileURLWithPath:[folder stringByAppendingPathComponent:name]]];
        CHECK([msl.device newBinaryArchiveWithDescriptor:descriptor error:&error] == nil);
        CHECK([[error domain] isEqual:MTLBinaryArchiveDomain]);
        CHECK_EQ([error code], MTLBinaryArchiveErrorInvalidFile);
    }
    return msl_end();
}
