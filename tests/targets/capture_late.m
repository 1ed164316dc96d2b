// SPDX-License-Identifier: MIT
// Loads a library when its first command buffer is long done, as a script language would: capture_late
// LIBRARY. Prints its command buffers.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <dlfcn.h>
#include <stdio.h>

static void submit(id<MTLCommandQueue> queue, NSString *label)
{
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands setLabel:label];
    [commands commit];
    [commands waitUntilCompleted];
    printf("%s %d\n", [label UTF8String], (int)[commands status]);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    @autoreleasepool {
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        id<MTLCommandQueue> queue = [device newCommandQueue];
        submit(queue, @"before");
        printf("loaded %d\n", dlopen(argv[1], RTLD_NOW) != NULL);
        submit(queue, @"behind");
        submit(queue, @"last");
        [queue release];
    }
    return 0;
}
