// SPDX-License-Identifier: MIT
// Compute pipelines: limits from function, library and descriptor, labels, static threadgroup memory,
// reflection, descriptors that are copied, errors, and completion handlers.
#include "msl/harness.h"

#include <stdatomic.h>
#include <unistd.h>

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct shape { int n; float4 v; };\n"
    "kernel void plain(device float *a [[buffer(0)]]) { a[0] = 1; }\n"
    "[[max_total_threads_per_threadgroup(128)]] kernel void limited(device float *a [[buffer(0)]]) { a[0] = "
    "1; }\n"
    "kernel void shapes(constant shape &p [[buffer(0)]], device half4 *h [[buffer(1)]],\n"
    "                   const device uint *u [[buffer(2)]], threadgroup float *t [[threadgroup(0)]],\n"
    "                   uint i [[thread_position_in_threadgroup]])\n"
    "{\n"
    "    threadgroup float s[64];\n"
    "    s[i] = u[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    t[i] = s[63 - i];\n"
    "    h[i] = half4(p.v) * t[i];\n"
    "}\n";

static id<MTLFunction> function(NSString *name)
{
    return [[msl.library newFunctionWithName:name] autorelease];
}

static void limits(void)
{
    NSError *error = nil;
    id<MTLComputePipelineState> state = [msl.device newComputePipelineStateWithFunction:function(@"plain")
                                                                                  error:&error];
    CHECK(state && !error && [state device] == msl.device);
    CHECK_EQ([state maxTotalThreadsPerThreadgroup], 1024);
    CHECK_EQ([state threadExecutionWidth], 32);
    CHECK_EQ([state staticThreadgroupMemoryLength], 0);
    CHECK_EQ([state retainCount], 1);
    CHECK([state label] == nil && ![state supportIndirectCommandBuffers]);
    [state release];
    state = [msl.device newComputePipelineStateWithFunction:function(@"limited") error:&error];
    CHECK_EQ([state maxTotalThreadsPerThreadgroup], 128);
    [state release];
    state = [msl.device newComputePipelineStateWithFunction:function(@"shapes") error:&error];
    CHECK_EQ([state staticThreadgroupMemoryLength], 256);
    [state release];
}

static void descriptors(void)
{
    NSError *error = nil;
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
    [descriptor setComputeFunction:function(@"limited")];
    [descriptor setLabel:@"small"];
    [descriptor setMaxTotalThreadsPerThreadgroup:64];
    [descriptor setSupportIndirectCommandBuffers:YES];
    [[[descriptor buffers] objectAtIndexedSubscript:2] setMutability:MTLMutabilityImmutable];
    MTLComputePipelineDescriptor *copy = [[descriptor copy] autorelease];
    [descriptor setLabel:@"other"];
    CHECK([copy computeFunction] == [descriptor computeFunction] && [[copy label] isEqual:@"small"]);
    CHECK_EQ([[[copy buffers] objectAtIndexedSubscript:2] mutability], MTLMutabilityImmutable);
    id<MTLComputePipelineState> state = [msl.device newComputePipelineStateWithDescriptor:copy
                                                                                  options:0
                                                                               reflection:NULL
                                                                                    error:&error];
    CHECK_EQ([state maxTotalThreadsPerThreadgroup], 64);
    CHECK([[state label] isEqual:@"small"] && [state supportIndirectCommandBuffers]);
    CHECK([state gpuResourceID]._impl != 0);
    [state release];
    [copy setMaxTotalThreadsPerThreadgroup:2000];
    CHECK([msl.device newComputePipelineStateWithDescriptor:copy options:0 reflection:NULL
                                                      error:&error] == nil);
    CHECK_HAS([[error localizedDescription] UTF8String], "(2000) must be <= 1024");
}

// name, type, index, access, data type, size and alignment of what is bound.
static const struct {
    const char *name;
    MTLBindingType type;
    NSUInteger index;
    MTLBindingAccess access;
    MTLDataType data_type;
    NSUInteger size, alignment;
} bindings[] = {
    {"p", MTLBindingTypeBuffer, 0, MTLBindingAccessReadOnly, MTLDataTypeStruct, 32, 16},
    {"h", MTLBindingTypeBuffer, 1, MTLBindingAccessReadWrite, MTLDataTypeHalf4, 8, 8},
    {"u", MTLBindingTypeBuffer, 2, MTLBindingAccessReadOnly, MTLDataTypeUInt, 4, 4},
    {"t", MTLBindingTypeThreadgroupMemory, 0, MTLBindingAccessReadWrite, MTLDataTypeFloat, 4, 4},
};
enum { BINDINGS = sizeof bindings / sizeof *bindings };

static void check_reflection(MTLComputePipelineReflection *reflection)
{
    if (!CHECK_EQ([[reflection bindings] count], BINDINGS) ||
        !CHECK_EQ([[reflection arguments] count], BINDINGS))
        return;
    for (NSUInteger i = 0; i < BINDINGS; i++) {
        id<MTLBufferBinding> binding = (id)[[reflection bindings] objectAtIndex:i];
        MTLArgument *argument = [[reflection arguments] objectAtIndex:i];
        CHECK_STR([[binding name] UTF8String], bindings[i].name);
        CHECK_STR([[argument name] UTF8String], bindings[i].name);
        CHECK_EQ([binding type], bindings[i].type);
        CHECK_EQ([binding index], bindings[i].index);
        CHECK_EQ([argument index], bindings[i].index);
        CHECK([binding isUsed] && [argument isActive]);
        if (bindings[i].type == MTLBindingTypeBuffer) {
            CHECK_EQ([binding access], bindings[i].access);
            CHECK_EQ([binding bufferDataType], bindings[i].data_type);
            CHECK_EQ([binding bufferDataSize], bindings[i].size);
            CHECK_EQ([binding bufferAlignment], bindings[i].alignment);
            CHECK_EQ([argument bufferDataSize], bindings[i].size);
        } else {
            CHECK_EQ([(id<MTLThreadgroupBinding>)binding threadgroupMemoryDataSize], bindings[i].size);
            CHECK_EQ([(id<MTLThreadgroupBinding>)binding threadgroupMemoryAlignment], bindings[i].alignment);
        }
    }
}

static void reflection(void)
{
    NSError *error = nil;
    MTLComputePipelineReflection *found = nil;
    id<MTLComputePipelineState> state =
        [msl.device newComputePipelineStateWithFunction:function(@"shapes")
                                                options:MTLPipelineOptionArgumentInfo
                                             reflection:&found
                                                  error:&error];
    CHECK(state && !error);
    check_reflection(found);
    [state release];
    found = (id) @"old";
    state = [msl.device newComputePipelineStateWithFunction:function(@"shapes")
                                                    options:MTLPipelineOptionNone
                                                 reflection:&found
                                                      error:&error];
    CHECK(state && found == nil);
    [state release];
}

static void in_background(void)
{
    static _Atomic int calls;
    [msl.device newComputePipelineStateWithFunction:function(@"plain")
                                  completionHandler:^(id<MTLComputePipelineState> state, NSError *error) {
                                      CHECK(state && !error);
                                      calls++;
                                  }];
    while (calls < 1)
        usleep(1000);
    [msl.device newComputePipelineStateWithFunction:function(@"shapes")
                                            options:MTLPipelineOptionArgumentInfo
                                  completionHandler:^(id<MTLComputePipelineState> state,
                                                      MTLComputePipelineReflection *found, NSError *error) {
                                      CHECK(state && !error);
                                      check_reflection(found);
                                      calls++;
                                  }];
    while (calls < 2)
        usleep(1000);
}

int main(void)
{
    msl_source(source);
    limits();
    descriptors();
    reflection();
    in_background();
    return msl_end();
}
