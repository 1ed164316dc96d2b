// SPDX-License-Identifier: MIT
// Functions and their constants: what a function tells of them, which values are refused and how, that values
// reach the kernel, and functions by descriptor or in the background.
#include "msl/harness.h"

#include <stdatomic.h>
#include <unistd.h>

static const char source[] =
    "constant float FC_scale [[function_constant(3)]];\n"
    "constant bool FC_more [[function_constant(4)]];\n"
    "constant int FC_add [[function_constant(5)]];\n"
    "constant bool has_more = is_function_constant_defined(FC_more);\n"
    "static float helper(float x) { return x * FC_scale; } // FC_add is not used here\n"
    "kernel void plain(device float *a [[buffer(0)]]) { a[0] = 1; }\n"
    "kernel void deep(device float *a [[buffer(0)]]) { a[0] = helper(2); }\n"
    "kernel void both(device float *a [[buffer(0)]]) { a[0] = FC_add + (has_more && FC_more ? 100 : 0); }\n";

static NSDictionary *constants_of(NSString *name)
{
    id<MTLFunction> function = [[msl.library newFunctionWithName:name] autorelease];
    CHECK_EQ([function functionType], MTLFunctionTypeKernel);
    CHECK([[function name] isEqual:name]);
    return [function functionConstantsDictionary];
}

static void told(void)
{
    CHECK_EQ([constants_of(@"plain") count], 0);
    NSDictionary *deep = constants_of(@"deep"), *both = constants_of(@"both");
    CHECK_EQ([deep count], 1);
    MTLFunctionConstant *scale = [deep objectForKey:@"FC_scale"];
    CHECK_EQ([scale index], 3);
    CHECK_EQ([scale type], MTLDataTypeFloat);
    CHECK([scale required]);
    CHECK_EQ([both count], 2);
    CHECK(![(MTLFunctionConstant *)[both objectForKey:@"FC_more"] required]);
    CHECK_EQ([(MTLFunctionConstant *)[both objectForKey:@"FC_add"] type], MTLDataTypeInt);
}

static void refused(MTLFunctionConstantValues *values, NSString *name, NSInteger code, const char *text)
{
    NSError *error = nil;
    CHECK([msl.library newFunctionWithName:name constantValues:values error:&error] == nil);
    CHECK_STR([[error domain] UTF8String], [MTLLibraryErrorDomain UTF8String]);
    CHECK_EQ([error code], code);
    CHECK_HAS([[error localizedDescription] UTF8String], text);
}

static void errors(void)
{
    float number = 0.5;
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues new] autorelease];
    [values setConstantValue:&number type:MTLDataTypeFloat atIndex:3];
    refused(values, @"both", MTLLibraryErrorCompileFailure, "'FC_add' at index 5");
    refused(values, @"nowhere", MTLLibraryErrorFunctionNotFound, "nowhere");
    [values setConstantValue:&number type:MTLDataTypeFloat withName:@"FC_add"];
    refused(values, @"both", MTLLibraryErrorCompileFailure, "type int");
    [values reset];
    refused(values, @"deep", MTLLibraryErrorCompileFailure, "'FC_scale' at index 3");

    NSError *error = nil; // a function taken without values shows it when it is to become a pipeline
    id<MTLFunction> function = [[msl.library newFunctionWithName:@"deep"] autorelease];
    CHECK([msl.device newComputePipelineStateWithFunction:function error:&error] == nil);
    CHECK_HAS([[error localizedDescription] UTF8String], "'FC_scale' at index 3");
}

static float run(const char *kernel, MTLFunctionConstantValues *values)
{
    float result = -1;
    RUN(.kernel = kernel, .constants = values, .threads = {1}, .group = {1},
        .args = {MEM(&result, sizeof result)});
    return result;
}

static void reaching_the_kernel(void)
{
    int seven = 7;
    float scale = 1.5;
    bool yes = true, no = false;
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues new] autorelease];
    CHECK_NEAR(run("plain", nil), 1, 0);
    [values setConstantValue:&scale type:MTLDataTypeFloat atIndex:3];
    CHECK_NEAR(run("deep", values), 3, 0);
    [values setConstantValue:&seven type:MTLDataTypeInt withName:@"FC_add"];
    CHECK_NEAR(run("both", values), 7, 0);
    [values setConstantValue:&yes type:MTLDataTypeBool atIndex:4];
    CHECK_NEAR(run("both", values), 107, 0);
    MTLFunctionConstantValues *copy = [[values copy] autorelease];
    [values setConstantValue:&no type:MTLDataTypeBool atIndex:4];
    CHECK_NEAR(run("both", values), 7, 0);
    CHECK_NEAR(run("both", copy), 107, 0);
}

static void by_descriptor(void)
{
    NSError *error = nil;
    int seven = 7;
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues new] autorelease];
    [values setConstantValue:&seven type:MTLDataTypeInt atIndex:5];
    MTLFunctionDescriptor *descriptor = [MTLFunctionDescriptor functionDescriptor];
    [descriptor setName:@"both"];
    [descriptor setSpecializedName:@"both_7"];
    [descriptor setConstantValues:values];
    id<MTLFunction> function = [msl.library newFunctionWithDescriptor:descriptor error:&error];
    CHECK(!error && [[function name] isEqual:@"both_7"]);
    [function release];
    [descriptor setName:@"nowhere"];
    CHECK([msl.library newFunctionWithDescriptor:descriptor error:&error] == nil);
    CHECK_EQ([error code], MTLLibraryErrorFunctionNotFound);
}

static void in_background(void)
{
    static _Atomic int calls;
    int seven = 7;
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues new] autorelease];
    [values setConstantValue:&seven type:MTLDataTypeInt atIndex:5];
    [msl.library newFunctionWithName:@"both"
                      constantValues:values
                   completionHandler:^(id<MTLFunction> function, NSError *error) {
                       CHECK(!error && [[function name] isEqual:@"both"]);
                       calls++;
                   }];
    while (calls < 1)
        usleep(1000);
    [msl.library newFunctionWithName:@"deep"
                      constantValues:values
                   completionHandler:^(id<MTLFunction> function, NSError *error) {
                       CHECK(!function && error);
                       calls++;
                   }];
    while (calls < 2)
        usleep(1000);
}

int main(void)
{
    msl_source(source);
    told();
    errors();
    reaching_the_kernel();
    by_descriptor();
    in_background();
    return msl_end();
}
