// SPDX-License-Identifier: MIT
// Argument encoders: the layout of what they fill is the one that kernels read, by descriptors, from a
// function, from a pipeline's reflection, and for elements of an array.
#include "msl/harness.h"

static const char source[] =
    "struct refs { device float *out; device const float *in; };\n"
    "kernel void pointers(constant refs *all [[buffer(3)]], constant uint &which [[buffer(0)]],\n"
    "                     uint i [[thread_position_in_grid]]) { all[which].out[i] = all[which].in[i] + 1; }\n"
    "struct mixed { float scale; device float *values; device float *more[2]; };\n"
    "kernel void mixture(constant mixed &m [[buffer(0)]]) { m.more[1][0] = m.scale * m.values[1]; }\n";

static MTLArgumentDescriptor *member(NSUInteger index, MTLDataType type, NSUInteger length)
{
    MTLArgumentDescriptor *descriptor = [MTLArgumentDescriptor argumentDescriptor];
    [descriptor setIndex:index];
    [descriptor setDataType:type];
    [descriptor setArrayLength:length];
    return descriptor;
}

static void run(const char *kernel, NSUInteger index, id<MTLBuffer> arguments, uint32_t which,
                NSUInteger threads)
{
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:msl_new_pipeline(kernel, nil)];
    [encoder setBytes:&which length:sizeof which atIndex:0];
    [encoder setBuffer:arguments offset:0 atIndex:index];
    [encoder dispatchThreads:MTLSizeMake(threads, 1, 1) threadsPerThreadgroup:MTLSizeMake(threads, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQ([commands status], MTLCommandBufferStatusCompleted);
}

static void from_function(void)
{
    id<MTLFunction> function = [[msl.library newFunctionWithName:@"pointers"] autorelease];
    id<MTLArgumentEncoder> encoder = [function newArgumentEncoderWithBufferIndex:3];
    CHECK_EQ([encoder encodedLength], 16);
    CHECK_EQ([encoder alignment], 8);
    id<MTLBuffer> arguments = [msl.device newBufferWithLength:32 options:0];
    id<MTLBuffer> in = [msl.device newBufferWithLength:256 options:0];
    id<MTLBuffer> out = [msl.device newBufferWithLength:128 options:0];
    ((float *)[in contents])[32 + 31] = 41;
    [encoder setArgumentBuffer:arguments startOffset:0 arrayElement:1];
    id<MTLBuffer> both[2] = {out, in};
    [encoder setBuffers:both offsets:(NSUInteger[]){0, 128} withRange:NSMakeRange(0, 2)];
    run("pointers", 3, arguments, 1, 32);
    CHECK_NEAR(((float *)[out contents])[31], 42, 0);
    CHECK_EQ(((uint64_t *)[arguments contents])[0], 0); // element 0 was left alone
    [out release];
    [in release];
    [arguments release];
    [encoder release];
}

static void from_descriptors(void)
{
    // In any order: the index says where a member is.
    NSArray *members =
        [NSArray arrayWithObjects:member(2, MTLDataTypePointer, 2), member(0, MTLDataTypeFloat, 0),
                                  member(1, MTLDataTypePointer, 0), nil];
    id<MTLArgumentEncoder> encoder = [msl.device newArgumentEncoderWithArguments:members];
    CHECK_EQ([encoder encodedLength], 32);
    id<MTLBuffer> arguments = [msl.device newBufferWithLength:32 options:0];
    id<MTLBuffer> values = [msl.device newBufferWithLength:64 options:0];
    ((float *)[values contents])[3] = 21;
    [encoder setArgumentBuffer:arguments offset:0];
    *(float *)[encoder constantDataAtIndex:0] = 2;
    [encoder setBuffer:values offset:8 atIndex:1];
    [encoder setBuffer:values offset:32 atIndex:3];
    CHECK_EQ(((uint64_t *)[arguments contents])[3], [values gpuAddress] + 32);
    run("mixture", 0, arguments, 0, 1);
    CHECK_NEAR(((float *)[values contents])[8], 42, 0);
    [encoder setBuffer:nil offset:0 atIndex:3];
    CHECK_EQ(((uint64_t *)[arguments contents])[3], 0);
    [values release];
    [arguments release];
    [encoder release];
}

static void from_binding(void)
{
    MTLComputePipelineReflection *reflection = nil;
    id<MTLFunction> function = [[msl.library newFunctionWithName:@"pointers"] autorelease];
    id<MTLComputePipelineState> state =
        [msl.device newComputePipelineStateWithFunction:function
                                                options:MTLPipelineOptionBufferTypeInfo
                                             reflection:&reflection
                                                  error:NULL];
    id<MTLBufferBinding> binding = (id)[[reflection bindings] objectAtIndex:0];
    id<MTLArgumentEncoder> encoder = [msl.device newArgumentEncoderWithBufferBinding:binding];
    CHECK_EQ([encoder encodedLength], 16);
    [encoder setLabel:@"refs"];
    CHECK_STR([[encoder label] UTF8String], "refs");
    [encoder release];
    [state release];
}

int main(void)
{
    msl_source(source);
    from_function();
    from_descriptors();
    from_binding();
    return msl_end();
}
