// SPDX-License-Identifier: MIT
// Runs kernels of an MSL file over one output buffer and prints it: run_kernel FILE OUT_WORDS_PER_THREAD GRID
// GROUP KERNEL... Grid and group are written 64 or 8x4x2. Each kernel gets its own zeroed `device uint *` at
// index 0.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>
#include <stdlib.h>

static MTLSize read_size(const char *text)
{
    unsigned long n[3] = {1, 1, 1};
    if (sscanf(text, "%lux%lux%lu", &n[0], &n[1], &n[2]) < 1 || !n[0] || !n[1] || !n[2]) {
        fprintf(stderr, "%s is not a size\n", text);
        exit(2);
    }
    return MTLSizeMake(n[0], n[1], n[2]);
}

static void die(const char *what, NSError *error)
{
    fprintf(stderr, "%s: %s\n", what, error ? [[error localizedDescription] UTF8String] : "not found");
    exit(1);
}

static void run(id<MTLDevice> device, id<MTLLibrary> library, const char *name, MTLSize grid, MTLSize group,
                unsigned words)
{
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:name]];
    if (!function)
        die(name, nil);
    id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function error:&error];
    if (!state)
        die(name, error);
    NSUInteger count = grid.width * grid.height * grid.depth * words;
    id<MTLBuffer> out = [device newBufferWithLength:count * 4 options:MTLResourceStorageModeShared];
    id<MTLCommandQueue> queue = [device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    [encoder setBuffer:out offset:0 atIndex:0];
    [encoder dispatchThreads:grid threadsPerThreadgroup:group];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands status] != MTLCommandBufferStatusCompleted)
        die(name, [commands error]);
    const unsigned *result = [out contents];
    printf("%s", name);
    for (NSUInteger i = 0; i < count; i++)
        printf(" %u", result[i]);
    printf("\n");
    [out release];
    [queue release];
    [state release];
    [function release];
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: run_kernel FILE WORDS GRID GROUP KERNEL...\n");
        return 2;
    }
    @autoreleasepool {
        NSError *error = nil;
        NSString *source = [NSString stringWithContentsOfFile:[NSString stringWithUTF8String:argv[1]]
                                                     encoding:NSUTF8StringEncoding
                                                        error:&error];
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        id<MTLLibrary> library = source ? [device newLibraryWithSource:source options:nil error:&error] : nil;
        if (!library)
            die(argv[1], error);
        for (int i = 5; i < argc; i++)
            run(device, library, argv[i], read_size(argv[3]), read_size(argv[4]), (unsigned)atoi(argv[2]));
        [library release];
        [device release];
    }
    return 0;
}
