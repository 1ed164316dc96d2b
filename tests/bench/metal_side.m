// SPDX-License-Identifier: MIT
// The benchmark's kernels through Metal: compiles, dispatches, and times compiling and submitting. A plain
// Metal program: it must not use anything of softmetal's own.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    const char *folder;
    bool fast_math;
    id<MTLLibrary> library; // of the file last used
    const char *file;
    id<MTLComputePipelineState> pipeline;
    id<MTLBuffer> buffer[BENCH_BUFFERS];
    const bench_case *the_case;
    bench_data data;
} metal;

static bool failed(const char *what, NSError *error)
{
    fprintf(stderr, "bench: Metal: %s: %s\n", what, [[error description] UTF8String]);
    return false;
}

static bool open_device(const char *folder, bool fast_math)
{
    metal.device = MTLCreateSystemDefaultDevice();
    metal.queue = [metal.device newCommandQueue];
    metal.folder = folder;
    metal.fast_math = fast_math;
    return metal.queue != nil || failed("no device", nil);
}

static id<MTLLibrary> make_library(const char *file)
{
    NSError *error = nil;
    char *text = bench_read_file(metal.folder, file, ".metal");
    if (!text)
        return nil;
    MTLCompileOptions *options = [[MTLCompileOptions alloc] init];
    [options setFastMathEnabled:metal.fast_math];
    id<MTLLibrary> library = [metal.device newLibraryWithSource:[NSString stringWithUTF8String:text]
                                                        options:options
                                                          error:&error];
    [options release];
    free(text);
    if (library == nil)
        failed(file, error);
    return library;
}

static id<MTLLibrary> library_of(const char *file)
{
    if (metal.file && strcmp(metal.file, file) == 0)
        return metal.library;
    [metal.library release];
    metal.library = make_library(file);
    metal.file = metal.library ? file : NULL;
    return metal.library;
}

// Returns when it is compiled: softmetal does so in the background, but has to know the threadgroup memory.
static id<MTLComputePipelineState> make_pipeline(id<MTLLibrary> library, NSString *name)
{
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:name];
    if (function == nil)
        return nil;
    id<MTLComputePipelineState> pipeline = [metal.device newComputePipelineStateWithFunction:function
                                                                                       error:&error];
    [function release];
    if (pipeline == nil)
        failed([name UTF8String], error);
    [pipeline staticThreadgroupMemoryLength];
    return pipeline;
}

static bool prepare(const bench_case *the_case, const bench_data *data)
{
    bool good = true;
    id<MTLLibrary> library = library_of(the_case->file);
    if (library == nil)
        return false;
    metal.the_case = the_case;
    metal.data = *data;
    metal.pipeline = make_pipeline(library, [NSString stringWithUTF8String:the_case->metal_kernel]);
    for (unsigned i = 0; i < data->buffer_count; i++) {
        metal.buffer[i] = [metal.device newBufferWithBytesNoCopy:data->buffer[i]
                                                          length:data->bytes[i]
                                                         options:MTLResourceStorageModeShared
                                                     deallocator:nil];
        good = good && metal.buffer[i] != nil;
    }
    return (good && metal.pipeline != nil) || failed("cannot prepare", nil);
}

static bool metal_open(const char *folder, bool fast_math)
{
    @autoreleasepool {
        return open_device(folder, fast_math);
    }
}

static bool metal_prepare(const bench_case *the_case, const bench_data *data)
{
    @autoreleasepool {
        return prepare(the_case, data);
    }
}

static MTLSize size_of(const uint32_t n[3])
{
    return MTLSizeMake(n[0], n[1], n[2]);
}

static void encode(id<MTLComputeCommandEncoder> encoder)
{
    [encoder setComputePipelineState:metal.pipeline];
    for (unsigned i = 0; i < metal.data.buffer_count; i++)
        [encoder setBuffer:metal.buffer[i] offset:0 atIndex:i];
    [encoder setBytes:metal.data.param
               length:metal.data.param_count * sizeof *metal.data.param
              atIndex:metal.data.buffer_count];
    [encoder dispatchThreadgroups:size_of(metal.the_case->metal_groups)
            threadsPerThreadgroup:size_of(metal.the_case->metal_threads)];
}

static void finish(id<MTLCommandBuffer> buffer)
{
    [buffer commit];
    [buffer waitUntilCompleted];
    if ([buffer status] != MTLCommandBufferStatusCompleted) {
        failed("command buffer", [buffer error]);
        exit(1);
    }
}

static void metal_run(unsigned times)
{
    @autoreleasepool {
        id<MTLCommandBuffer> buffer = [metal.queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
        for (unsigned i = 0; i < times; i++)
            encode(encoder);
        [encoder endEncoding];
        finish(buffer);
    }
}

static void metal_release(void)
{
    for (unsigned i = 0; i < BENCH_BUFFERS; i++) {
        [metal.buffer[i] release];
        metal.buffer[i] = nil;
    }
    [metal.pipeline release];
    metal.pipeline = nil;
}

const bench_side bench_metal = {"softmetal", metal_open, metal_prepare, metal_run, metal_release};

static bool compile_ns(double *library_ns, double *pipeline_ns)
{
    size_t libraries = 0, pipelines = 0;
    const char *file = NULL;
    *library_ns = *pipeline_ns = 0;
    for (size_t i = 0; i < bench_case_count; i++) {
        uint64_t start = bench_now_ns();
        if (!file || strcmp(file, bench_cases[i].file) != 0) {
            file = bench_cases[i].file;
            if (library_of(file) == nil)
                return false;
            *library_ns += (double)(bench_now_ns() - start);
            libraries++;
            start = bench_now_ns();
        }
        id<MTLComputePipelineState> pipeline =
            make_pipeline(metal.library, [NSString stringWithUTF8String:bench_cases[i].metal_kernel]);
        if (pipeline == nil)
            return false;
        *pipeline_ns += (double)(bench_now_ns() - start);
        pipelines++;
        [pipeline release];
    }
    *library_ns /= (double)libraries;
    *pipeline_ns /= (double)pipelines;
    return true;
}

bool bench_metal_compile_ns(double *library_ns, double *pipeline_ns)
{
    @autoreleasepool {
        return compile_ns(library_ns, pipeline_ns);
    }
}

enum { EMPTY_BUFFERS = 2000, EMPTY_DISPATCHES = 20000 };

static double empty_buffer_ns(void)
{
    double *times = calloc(EMPTY_BUFFERS, sizeof *times), median = 0;
    for (int i = 0; times && i < EMPTY_BUFFERS; i++) {
        @autoreleasepool {
            uint64_t start = bench_now_ns();
            finish([metal.queue commandBuffer]);
            times[i] = (double)(bench_now_ns() - start);
        }
    }
    if (times)
        median = bench_median(times, EMPTY_BUFFERS);
    free(times);
    return median;
}

static double empty_dispatch_ns(id<MTLComputePipelineState> pipeline)
{
    uint64_t start = bench_now_ns();
    @autoreleasepool {
        id<MTLCommandBuffer> buffer = [metal.queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        for (int i = 0; i < EMPTY_DISPATCHES; i++)
            [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
        [encoder endEncoding];
        finish(buffer);
    }
    return (double)(bench_now_ns() - start) / EMPTY_DISPATCHES;
}

static bool submit_ns(double *buffer_ns, double *dispatch_ns)
{
    if (library_of("plain") == nil)
        return false;
    id<MTLComputePipelineState> pipeline = make_pipeline(metal.library, @"nothing");
    if (pipeline == nil)
        return false;
    empty_dispatch_ns(pipeline);
    *dispatch_ns = empty_dispatch_ns(pipeline);
    *buffer_ns = empty_buffer_ns();
    [pipeline release];
    return true;
}

bool bench_metal_submit_ns(double *buffer_ns, double *dispatch_ns)
{
    @autoreleasepool {
        return submit_ns(buffer_ns, dispatch_ns);
    }
}
