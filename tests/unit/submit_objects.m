// SPDX-License-Identifier: MIT
// Devices, queues, command buffers and encoders as objects: how a process gets the device, what a command
// buffer keeps alive, labels and debug groups, residency sets and log states of queues.
#include "unit/submit_support.h"

// ---- devices ----
static void devices(void)
{
    __block int calls = 0;
    id<NSObject> observer = nil;
    id<MTLDevice> again = MTLCreateSystemDefaultDevice();
    NSArray *all = MTLCopyAllDevices();
    NSArray *observed =
        MTLCopyAllDevicesWithObserver(&observer, ^(id<MTLDevice> device, MTLDeviceNotificationName name) {
            (void)device;
            (void)name;
            calls++;
        });
    CHECK(again == msl.device);
    CHECK([all count] == 1 && [all lastObject] == msl.device);
    CHECK([observed count] == 1 && [observed lastObject] == msl.device);
    CHECK(observer != nil);
    MTLRemoveDeviceObserver(observer);
    MTLRemoveDeviceObserver(observer); // twice does no harm
    CHECK_EQ(calls, 0);
    [observer release];
    [observed release];
    [all release];
    [again release];
}

static void facts(void)
{
    CHECK_HAS([[msl.device name] UTF8String], "Softmetal ");
    CHECK_HAS([[msl.device description] UTF8String], [[msl.device name] UTF8String]);
    CHECK_HAS([[[msl.device architecture] name] UTF8String], "softgpu_");
    CHECK_INT([msl.device registryID], >, 0);
    CHECK_EQ([msl.device maxThreadsPerThreadgroup].width, 1024);
    CHECK_EQ([msl.device maxThreadgroupMemoryLength], 32768);
    CHECK_INT([msl.device maxBufferLength], <=, [msl.device recommendedMaxWorkingSetSize]);
    CHECK([msl.device supportsFamily:MTLGPUFamilyMetal3] && [msl.device supportsFamily:MTLGPUFamilyMac2]);
    CHECK_EQ([msl.device supportsFamily:MTLGPUFamilyApple7], [msl.device hasUnifiedMemory]);
    NSUInteger before = [msl.device currentAllocatedSize];
    id<MTLBuffer> buffer = [msl.device newBufferWithLength:1 << 20 options:0];
    CHECK_INT([msl.device currentAllocatedSize], >=, before + (1 << 20));
    [buffer release];
    CHECK_EQ([msl.device currentAllocatedSize], before);
}

// ---- references ----
static id<MTLCommandBuffer> command_buffer(BOOL retains)
{
    if (!retains)
        return [msl.queue commandBufferWithUnretainedReferences];
    MTLCommandBufferDescriptor *descriptor = [[MTLCommandBufferDescriptor new] autorelease];
    CHECK([descriptor retainedReferences]);
    return [msl.queue commandBufferWithDescriptor:descriptor];
}

// Each object once however often it is bound, until the buffer is done.
static void check_references(BOOL retains)
{
    id<MTLBuffer> memory = [msl.device newBufferWithLength:64 options:0];
    id<MTLComputePipelineState> state = msl_new_pipeline("increase", nil);
    NSUInteger buffer_before = [memory retainCount], state_before = [state retainCount];
    id<MTLCommandBuffer> commands = command_buffer(retains);
    CHECK_EQ([commands retainedReferences], retains);
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:state];
    for (NSUInteger i = 0; i < 100; i++) {
        [encoder setBuffer:memory offset:0 atIndex:i % 8];
        submit_threads(encoder, 1);
    }
    [encoder endEncoding];
    CHECK_EQ([memory retainCount], buffer_before + (NSUInteger)retains);
    CHECK_EQ([state retainCount], state_before + (NSUInteger)retains);
    submit_finish(commands);
    CHECK_EQ([memory retainCount], buffer_before);
    CHECK_EQ([state retainCount], state_before);
    CHECK_EQ(*(int *)[memory contents], 100);
    [memory release];
}

// A program may let go of its buffer right after encoding.
static void released_early(void)
{
    id<MTLBuffer> memory = [msl.device newBufferWithLength:64 options:0];
    id<MTLBuffer> copy = [msl.device newBufferWithLength:64 options:0];
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:memory range:NSMakeRange(0, 64) value:9];
    [blit copyFromBuffer:memory sourceOffset:0 toBuffer:copy destinationOffset:0 size:64];
    [blit endEncoding];
    [memory release];
    submit_finish(commands);
    CHECK_EQ(((char *)[copy contents])[63], 9);
    [copy release];
}

// When it is done nobody keeps a command buffer, and with it its queue: neither wrappers nor encoders do.
static void lets_go(void)
{
    id<MTLCommandQueue> queue = [msl.device newCommandQueue];
    NSUInteger before = [queue retainCount];
    for (int committed = 0; committed < 2; committed++) {
        @autoreleasepool {
            id<MTLCommandBuffer> commands = [queue commandBuffer];
            [[commands computeCommandEncoder] endEncoding];
            [commands addCompletedHandler:^(id<MTLCommandBuffer> given) {
                (void)given;
            }];
            CHECK_INT([queue retainCount], >, before);
            if (committed)
                submit_finish(commands);
        }
        for (int i = 0; i<LONG_MS && [queue retainCount]> before; i++)
            usleep(1000); // the thread that ran it lets go last
        CHECK_EQ([queue retainCount], before);
    }
    [queue release];
}

// ---- labels and groups ----
static void labels(void)
{
    id<MTLCommandQueue> queue = [msl.device newCommandQueue];
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    CHECK([queue label] == nil && [commands label] == nil);
    NSMutableString *text = [NSMutableString stringWithString:@"queue"];
    [queue setLabel:text];
    [text appendString:@" and more"]; // a label is a copy
    [commands setLabel:@"buffer"];
    [commands pushDebugGroup:@"outer"];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setLabel:@"encoder"];
    [encoder pushDebugGroup:@"inner"];
    [encoder insertDebugSignpost:@"here"];
    [encoder popDebugGroup];
    [encoder endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit setLabel:@"blit"];
    [blit pushDebugGroup:@"left open"];
    [blit endEncoding];
    [commands popDebugGroup];
    submit_finish(commands);
    CHECK_STR([[queue label] UTF8String], "queue");
    CHECK_STR([[commands label] UTF8String], "buffer");
    CHECK_STR([[encoder label] UTF8String], "encoder");
    CHECK_STR([[blit label] UTF8String], "blit");
    CHECK([encoder device] == msl.device && [blit device] == msl.device && [queue device] == msl.device);
    [queue insertDebugCaptureBoundary];
    [queue release];
}

// ---- residency sets ----
static void residency(void)
{
    id<MTLCommandQueue> queue = [msl.device newCommandQueue];
    MTLResidencySetDescriptor *descriptor = [[MTLResidencySetDescriptor new] autorelease];
    id<MTLResidencySet> sets[2];
    for (int i = 0; i < 2; i++)
        sets[i] = [msl.device newResidencySetWithDescriptor:descriptor error:NULL];
    NSUInteger before = [sets[0] retainCount];
    [queue addResidencySet:sets[0]];
    [queue addResidencySets:sets count:2]; // the first is there already
    CHECK_EQ([sets[0] retainCount], before + 1);
    CHECK_EQ([sets[1] retainCount], before + 1);
    [queue removeResidencySet:sets[0]];
    CHECK_EQ([sets[0] retainCount], before);
    [queue removeResidencySets:sets count:2];
    CHECK_EQ([sets[1] retainCount], before);

    id<MTLCommandBuffer> commands = [queue commandBuffer];
    [commands useResidencySets:sets count:2];
    CHECK_EQ([sets[1] retainCount], before + 1);
    submit_finish(commands);
    CHECK_EQ([sets[1] retainCount], before);
    [queue addResidencySet:sets[0]];
    @autoreleasepool {
        [queue release];
    }
    [sets[0] release];
    [sets[1] release];
}

// ---- log states ----
static const char talk[] = "#include <metal_stdlib>\n"
                           "#include <metal_logging>\n"
                           "using namespace metal;\n"
                           "kernel void talk() { os_log_default.log(\"said\"); }\n";
static _Atomic int said[2];

static id<MTLLogState> log_state(int number)
{
    MTLLogStateDescriptor *descriptor = [[MTLLogStateDescriptor new] autorelease];
    id<MTLLogState> state = [msl.device newLogStateWithDescriptor:descriptor error:NULL];
    [state addLogHandler:^(NSString *subsystem, NSString *category, MTLLogLevel level, NSString *message) {
        (void)subsystem;
        (void)category;
        said[number] += level == MTLLogLevelNotice && [message isEqual:@"said"];
    }];
    return [state autorelease];
}

static void talk_in(id<MTLCommandBuffer> commands)
{
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:msl_new_pipeline("talk", nil)];
    submit_threads(encoder, 1);
    [encoder endEncoding];
    submit_finish(commands);
}

// The command buffer's own comes first, else the queue's, which outlives the program's reference.
static void logs(void)
{
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    [options setEnableLogging:YES];
    if (!CHECK(msl_compile(talk, options)))
        return;
    MTLCommandQueueDescriptor *queue_descriptor = [[MTLCommandQueueDescriptor new] autorelease];
    MTLCommandBufferDescriptor *descriptor = [[MTLCommandBufferDescriptor new] autorelease];
    id<MTLCommandQueue> queue;
    @autoreleasepool {
        [queue_descriptor setLogState:log_state(0)];
        queue = [msl.device newCommandQueueWithDescriptor:queue_descriptor];
        [queue_descriptor setLogState:nil];
    }
    talk_in([queue commandBuffer]);
    CHECK(said[0] == 1 && said[1] == 0);
    talk_in([queue commandBufferWithDescriptor:descriptor]); // it has none of its own
    CHECK(said[0] == 2 && said[1] == 0);
    [descriptor setLogState:log_state(1)];
    talk_in([queue commandBufferWithDescriptor:descriptor]);
    CHECK(said[0] == 2 && said[1] == 1);
    talk_in([msl.queue commandBufferWithDescriptor:descriptor]);
    CHECK(said[0] == 2 && said[1] == 2);
    [queue release];
}

int main(void)
{
    submit_start();
    devices();
    facts();
    for (int i = 0; i < 2; i++)
        @autoreleasepool {
            check_references(i != 0);
        }
    released_early();
    lets_go();
    labels();
    residency();
    logs();
    return msl_end();
}
