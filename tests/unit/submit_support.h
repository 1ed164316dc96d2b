// SPDX-License-Identifier: MIT
// What the tests of submission share: three kernels whose results tell the order in which they ran, and how
// to encode one. It counts checks through test.h and decides nothing itself.
#ifndef TESTS_UNIT_SUBMIT_SUPPORT_H
#define TESTS_UNIT_SUBMIT_SUPPORT_H

#include "msl/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum {
    SHORT_US = 20000, // long enough for what must not happen to happen; never long enough to be waited for
    LONG_MS = 60000   // until a wait counts as hanging
};

static const char submit_kernels[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void increase(device int *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i]++; }\n"
    "kernel void add(device int *out [[buffer(0)]], constant int &c [[buffer(1)]],\n"
    "                uint i [[thread_position_in_grid]]) { out[i] += c; }\n"
    "kernel void mix_in(device uint *out [[buffer(0)]], constant uint &c [[buffer(1)]]) {\n"
    "    out[0] = out[0] * 31 + c;\n"
    "}\n";

static inline void submit_start(void)
{
    msl_start();
    msl_source(submit_kernels);
}

static inline id<MTLComputePipelineState> submit_pipeline(const char *name)
{
    return msl_pipeline(&(msl_call){.kernel = name});
}

static inline void submit_threads(id<MTLComputeCommandEncoder> encoder, NSUInteger threads)
{
    [encoder dispatchThreads:MTLSizeMake(threads, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
}

// An encoder that mixes the number into the first word: the word tells which numbers came, in which order.
static inline void submit_mix(id<MTLCommandBuffer> commands, id<MTLBuffer> memory, unsigned number)
{
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:submit_pipeline("mix_in")];
    [encoder setBuffer:memory offset:0 atIndex:0];
    [encoder setBytes:&number length:sizeof number atIndex:1];
    submit_threads(encoder, 1);
    [encoder endEncoding];
}

// What the word is after the numbers 1 to count.
static inline unsigned submit_mixed(unsigned count)
{
    unsigned value = 0;
    for (unsigned i = 1; i <= count; i++)
        value = value * 31 + i;
    return value;
}

static inline void submit_finish(id<MTLCommandBuffer> commands)
{
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQ([commands status], MTLCommandBufferStatusCompleted);
    CHECK([commands error] == nil);
}

static inline bool submit_reaches(_Atomic int *counter, int value)
{
    for (int i = 0; i < LONG_MS && *counter < value; i++)
        usleep(1000);
    return *counter == value;
}

#endif
