// SPDX-License-Identifier: MIT
// Log states: what a kernel logs reaches the handlers of the command buffer's or the queue's log state, with
// its level and its numbers; sizes that are refused.
#include "msl/harness.h"

static const char source[] = "#include <metal_stdlib>\n"
                             "#include <metal_logging>\n"
                             "using namespace metal;\n"
                             "kernel void talk(uint i [[thread_position_in_grid]]) {\n"
                             "    if (i == 2) {\n"
                             "        os_log_default.log_debug(\"debug %d\", 1);\n"
                             "        os_log_default.log(\"i=%u f=%.2f s=%5d|\", i, 1.25f, -7);\n"
                             "        os_log_default.log_error(\"error %x\", 255);\n"
                             "    }\n"
                             "}\n";

static NSMutableArray *lines; // "level text"; handlers of one dispatch come from one thread at a time here

static id<MTLLogState> log_state(MTLLogLevel level)
{
    NSError *error = nil;
    MTLLogStateDescriptor *descriptor = [[MTLLogStateDescriptor new] autorelease];
    [descriptor setLevel:level];
    id<MTLLogState> state = [msl.device newLogStateWithDescriptor:descriptor error:&error];
    CHECK(state && !error);
    [state addLogHandler:^(NSString *subsystem, NSString *category, MTLLogLevel given, NSString *message) {
        (void)subsystem;
        (void)category;
        @synchronized(lines) {
            [lines addObject:[NSString stringWithFormat:@"%d %@", (int)given, message]];
        }
    }];
    return [state autorelease];
}

static void run(id<MTLCommandBuffer> commands)
{
    [lines removeAllObjects];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:msl_new_pipeline("talk", nil)];
    [encoder dispatchThreads:MTLSizeMake(4, 1, 1) threadsPerThreadgroup:MTLSizeMake(4, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    CHECK_EQ([commands status], MTLCommandBufferStatusCompleted);
}

static void check_lines(NSString *expected)
{
    CHECK_STR([[lines componentsJoinedByString:@"\n"] UTF8String], [expected UTF8String]);
}

int main(void)
{
    msl_start();
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    [options setEnableLogging:YES];
    if (!CHECK(msl_compile(source, options)))
        printf("    %s\n", msl.error);
    lines = [NSMutableArray new];

    MTLCommandBufferDescriptor *descriptor = [[MTLCommandBufferDescriptor new] autorelease];
    [descriptor setLogState:log_state(MTLLogLevelDebug)];
    run([msl.queue commandBufferWithDescriptor:descriptor]);
    check_lines(@"1 debug 1\n3 i=2 f=1.25 s=   -7|\n4 error ff");

    [descriptor setLogState:log_state(MTLLogLevelError)];
    run([msl.queue commandBufferWithDescriptor:descriptor]);
    check_lines(@"4 error ff");

    MTLCommandQueueDescriptor *queue_descriptor = [[MTLCommandQueueDescriptor new] autorelease];
    [queue_descriptor setLogState:log_state(MTLLogLevelNotice)];
    id<MTLCommandQueue> queue = [msl.device newCommandQueueWithDescriptor:queue_descriptor];
    run([queue commandBuffer]);
    check_lines(@"3 i=2 f=1.25 s=   -7|\n4 error ff");
    [queue release];

    NSError *error = nil;
    MTLLogStateDescriptor *small = [[MTLLogStateDescriptor new] autorelease];
    [small setBufferSize:1];
    CHECK([msl.device newLogStateWithDescriptor:small error:&error] == nil);
    CHECK_STR([[error domain] UTF8String], [MTLLogStateErrorDomain UTF8String]);
    CHECK_EQ([error code], MTLLogStateErrorInvalidSize);
    [lines release];
    return msl_end();
}
