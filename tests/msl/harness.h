// SPDX-License-Identifier: MIT
// Runs one kernel in a few lines, for the tests of the language: a library from tests/msl/NAME.metal or from
// text, arguments copied in and out, errors counted as failed checks. Used by unit tests of one thread each;
// it never computes a result by itself.
#ifndef TESTS_MSL_HARNESS_H
#define TESTS_MSL_HARNESS_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "unit/test.h"
#include <stdlib.h>

enum { MSL_NONE, MSL_BUFFER, MSL_BYTES, MSL_SHARED, MSL_UNBOUND, MSL_MAX_ARGS = 16 };

// Buffers and bytes get the indices 0, 1, ... in the order in which they stand, threadgroup memory its own.
typedef struct msl_arg {
    void *data;
    size_t size;
    int kind;
} msl_arg;

#define BUF(array) {(void *)(array), sizeof(array), MSL_BUFFER}
#define MEM(pointer, size) {(void *)(pointer), size, MSL_BUFFER}
#define VAL(value) {(void *)&(value), sizeof(value), MSL_BYTES}
#define SHARED(size) {NULL, size, MSL_SHARED}

// Sizes that are left out are 1. With `groups` threadgroups are dispatched, else threads.
typedef struct msl_call {
    const char *kernel;
    unsigned threads[3], groups[3], group[3];
    bool indirect; // the number of groups comes from a buffer
    MTLFunctionConstantValues *constants;
    msl_arg args[MSL_MAX_ARGS];
} msl_call;

static struct {
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLLibrary> library;
    NSAutoreleasePool *pool;
    NSMutableDictionary *pipelines; // those without constants, by name
    char error[2000];               // of the last call that failed
} msl;

static inline void msl_note(NSError *error)
{
    const char *text = error ? [[error localizedDescription] UTF8String] : "no error object";
    snprintf(msl.error, sizeof msl.error, "%s", text);
}

static inline void msl_start(void)
{
    if (msl.device)
        return;
    msl.pool = [[NSAutoreleasePool alloc] init];
    msl.device = MTLCreateSystemDefaultDevice();
    msl.queue = [msl.device newCommandQueue];
    msl.pipelines = [[NSMutableDictionary alloc] init];
}

// Takes the text as the library of the calls that follow. False, with msl.error, if it does not compile.
static inline bool msl_compile(const char *source, MTLCompileOptions *options)
{
    NSError *error = nil;
    msl_start();
    [msl.pipelines removeAllObjects];
    [msl.library release];
    msl.error[0] = 0;
    msl.library = [msl.device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                           options:options
                                             error:&error];
    if (!msl.library)
        msl_note(error);
    return msl.library != nil;
}

static inline void msl_source(const char *source)
{
    if (!CHECK(msl_compile(source, nil)))
        printf("    %s\n", msl.error);
}

// The text of tests/msl/NAME, from malloc; ends the test if it cannot be read.
static inline char *msl_read(const char *name)
{
    const char *top = getenv("SRC");
    char path[1000];
    snprintf(path, sizeof path, "%s/tests/msl/%s", top ? top : ".", name);
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, 1 << 18) : NULL;
    if (!text || !fread(text, 1, (1 << 18) - 1, file)) {
        printf("%s cannot be read (SRC is the source folder)\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static inline void msl_load_with(const char *name, MTLCompileOptions *options)
{
    char *text = msl_read(name);
    if (!CHECK(msl_compile(text, options))) {
        printf("    %s: %s\n", name, msl.error);
        exit(test_end());
    }
    free(text);
}

static inline void msl_load(const char *name)
{
    msl_load_with(name, nil);
}

static inline id<MTLComputePipelineState> msl_new_pipeline(const char *kernel,
                                                           MTLFunctionConstantValues *values)
{
    NSError *error = nil;
    NSString *name = [NSString stringWithUTF8String:kernel];
    id<MTLFunction> function = values
                                   ? [msl.library newFunctionWithName:name constantValues:values error:&error]
                                   : [msl.library newFunctionWithName:name];
    id<MTLComputePipelineState> pipeline =
        function ? [msl.device newComputePipelineStateWithFunction:function error:&error] : nil;
    [function release];
    if (!pipeline)
        msl_note(error);
    return [pipeline autorelease];
}

static inline id<MTLComputePipelineState> msl_pipeline(const msl_call *call)
{
    NSString *name = [NSString stringWithUTF8String:call->kernel];
    id<MTLComputePipelineState> pipeline = call->constants ? nil : [msl.pipelines objectForKey:name];
    if (pipeline)
        return pipeline;
    pipeline = msl_new_pipeline(call->kernel, call->constants);
    if (pipeline && !call->constants)
        [msl.pipelines setObject:pipeline forKey:name];
    return pipeline;
}

static inline MTLSize msl_size(const unsigned *size)
{
    return MTLSizeMake(size[0] ? size[0] : 1, size[1] ? size[1] : 1, size[2] ? size[2] : 1);
}

static inline void msl_dispatch(id<MTLComputeCommandEncoder> encoder, const msl_call *call)
{
    MTLSize group = msl_size(call->group), groups = msl_size(call->groups);
    if (call->indirect) {
        // The numbers do not begin the buffer, so that the offset has to count.
        uint32_t numbers[4] = {77, (uint32_t)groups.width, (uint32_t)groups.height, (uint32_t)groups.depth};
        id<MTLBuffer> buffer = [[msl.device newBufferWithBytes:numbers length:sizeof numbers
                                                       options:0] autorelease];
        [encoder dispatchThreadgroupsWithIndirectBuffer:buffer
                                   indirectBufferOffset:4
                                  threadsPerThreadgroup:group];
    } else if (call->groups[0]) {
        [encoder dispatchThreadgroups:groups threadsPerThreadgroup:group];
    } else {
        [encoder dispatchThreads:msl_size(call->threads) threadsPerThreadgroup:group];
    }
}

// Binds the arguments; buffers[i] stands for args[i] afterwards.
static inline void msl_bind(id<MTLComputeCommandEncoder> encoder, const msl_call *call,
                            id<MTLBuffer> *buffers)
{
    NSUInteger index = 0, shared = 0;
    for (int i = 0; i < MSL_MAX_ARGS && call->args[i].kind; i++) {
        const msl_arg *arg = &call->args[i];
        if (arg->kind == MSL_SHARED) {
            [encoder setThreadgroupMemoryLength:arg->size atIndex:shared++];
        } else if (arg->kind == MSL_BYTES) {
            [encoder setBytes:arg->data length:arg->size atIndex:index++];
        } else if (arg->kind == MSL_BUFFER) {
            buffers[i] = [[msl.device newBufferWithBytes:arg->data length:arg->size options:0] autorelease];
            [encoder setBuffer:buffers[i] offset:0 atIndex:index++];
        } else {
            index++;
        }
    }
}

// Runs the call and copies buffers back. False, with msl.error, if the command buffer failed.
static inline bool msl_try(const msl_call *call)
{
    bool done = false;
    @autoreleasepool {
        id<MTLBuffer> buffers[MSL_MAX_ARGS] = {nil};
        id<MTLComputePipelineState> pipeline = msl_pipeline(call);
        if (!pipeline)
            return false;
        id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
        id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
        [encoder setComputePipelineState:pipeline];
        msl_bind(encoder, call, buffers);
        msl_dispatch(encoder, call);
        [encoder endEncoding];
        [commands commit];
        [commands waitUntilCompleted];
        done = [commands status] == MTLCommandBufferStatusCompleted;
        if (!done)
            msl_note([commands error]);
        for (int i = 0; i < MSL_MAX_ARGS; i++) {
            const msl_arg *arg = &call->args[i];
            if (buffers[i] && arg->data)
                memcpy(arg->data, (const void *)[buffers[i] contents], arg->size);
        }
    }
    return done;
}

static inline void msl_run_at(const msl_call *call, const char *file, int line)
{
    if (!test_record(msl_try(call), file, line, call->kernel))
        printf("    %s\n", msl.error);
}
#define RUN(...) msl_run_at(&(msl_call){__VA_ARGS__}, __FILE__, __LINE__)

static inline int msl_end(void)
{
    [msl.pipelines release];
    [msl.library release];
    [msl.queue release];
    [msl.device release];
    [msl.pool drain];
    return test_end();
}

#endif
