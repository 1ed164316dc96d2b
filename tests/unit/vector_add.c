// SPDX-License-Identifier: MIT
// Adds two vectors on Metal from plain C through src/objc, and checks every sum, the completed handler and
// the times. Run as a test: returns 0 if all is right.
#include "objc/sends.h"

#include <stdio.h>

enum { COUNT = 1000, GROUP = 64 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "kernel void add(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],\n"
    "                device float *c [[buffer(2)]], uint i [[thread_position_in_grid]])\n"
    "{ c[i] = a[i] + b[i]; }\n";

static int complain(const char *what, id error)
{
    char text[1024];
    mt_objc_error_text(error, text, sizeof text);
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

static id make_pipeline(id device, id *error)
{
    id text = mt_objc_string(source), name = mt_objc_string("add");
    id library = mtl_device_newLibraryWithSource(device, text, NULL, error);
    id function = mtl_library_newFunctionWithName(library, name);
    id pipeline = function ? mtl_device_newComputePipelineState(device, function, error) : NULL;
    mt_objc_release(function);
    mt_objc_release(library);
    mt_objc_release(name);
    mt_objc_release(text);
    return pipeline;
}

static void count_call(void *context, id command_buffer)
{
    (void)command_buffer;
    ++*(int *)context;
}

static id encode(id queue, id pipeline, const id buffer[3], int *completed)
{
    id command_buffer = mtl_commandQueue_commandBuffer(queue);
    id encoder = mtl_commandBuffer_computeCommandEncoder(command_buffer);
    mtl_compute_setComputePipelineState(encoder, pipeline);
    for (NSUInteger i = 0; i < 3; i++)
        mtl_compute_setBuffer(encoder, buffer[i], 0, i);
    mtl_compute_dispatchThreads(encoder, mtl_size_make(COUNT, 1, 1), mtl_size_make(GROUP, 1, 1));
    mtl_encoder_endEncoding(encoder);
    void *handler = mt_objc_block_object(count_call, completed, NULL);
    mtl_commandBuffer_addCompletedHandler(command_buffer, handler);
    mt_objc_block_release(handler);
    return command_buffer;
}

static int wrong_sums(const float *c)
{
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += c[i] != 3.0f * (float)i;
    return wrong;
}

static int run(id device)
{
    id error = NULL, pipeline = make_pipeline(device, &error), buffer[3];
    if (!pipeline)
        return complain("pipeline", error);
    for (int i = 0; i < 3; i++)
        buffer[i] = mtl_device_newBufferWithLength(device, COUNT * sizeof(float), MTL_STORAGE_SHARED);
    float *a = mtl_buffer_contents(buffer[0]), *b = mtl_buffer_contents(buffer[1]);
    for (int i = 0; i < COUNT; i++)
        b[i] = 2.0f * (a[i] = (float)i);
    id queue = mtl_device_newCommandQueue(device);
    int completed = 0, result = 0;
    id command_buffer = encode(queue, pipeline, buffer, &completed);
    mtl_commandBuffer_commit(command_buffer);
    mtl_commandBuffer_waitUntilCompleted(command_buffer);
    if (mtl_commandBuffer_status(command_buffer) != MTL_STATUS_COMPLETED)
        result = complain("command buffer", mtl_commandBuffer_error(command_buffer));
    double seconds =
        mtl_commandBuffer_GPUEndTime(command_buffer) - mtl_commandBuffer_GPUStartTime(command_buffer);
    int wrong = wrong_sums(mtl_buffer_contents(buffer[2]));
    printf("wrong %d, completed handlers %d, time %s\n", wrong, completed,
           seconds > 0 ? "positive" : "missing");
    for (int i = 0; i < 3; i++)
        mt_objc_release(buffer[i]);
    mt_objc_release(queue);
    mt_objc_release(pipeline);
    return result || wrong || completed != 1 || seconds <= 0;
}

int main(void)
{
    void *pool = mt_objc_pool_push();
    id device = MTLCreateSystemDefaultDevice();
    int result = device ? run(device) : 1;
    mt_objc_release(device);
    mt_objc_pool_pop(pool);
    return result;
}
