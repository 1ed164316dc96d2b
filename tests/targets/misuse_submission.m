// SPDX-License-Identifier: MIT
// Breaks one rule of the submission side of Metal: misuse_submission RULE. With --list it prints, for each
// rule, its name, the profile and the wrapper depths it is for, the source file that keeps it, the method
// that must say so, and a part of what it must say, separated by |. Returns 0 if nothing stopped it.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>
#include <string.h>

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLCommandBuffer> commands;
static id<MTLBuffer> memory; // 1024 bytes

enum { HUGE_COUNT = 1u << 31 };
static const MTLSize one = {1, 1, 1};
static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "kernel void small(device int *out [[buffer(0)]]) { out[0] = 1; }\n"
    "[[max_total_threads_per_threadgroup(64)]] kernel void limited(device int *out [[buffer(0)]])\n"
    "{ out[0] = 1; }\n"
    "kernel void half_full(device int *out [[buffer(0)]], threadgroup int *more [[threadgroup(0)]],\n"
    "                      uint i [[thread_position_in_threadgroup]]) {\n"
    "    threadgroup int mine[4096];\n"
    "    mine[i] = more[i];\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    out[i] = mine[31 - i];\n"
    "}\n";

// ---- things to misuse ----
// Nothing at all, of any type: what a program passes by mistake, past the compiler's warnings.
static id nothing(void)
{
    return nil;
}

static id<MTLComputePipelineState> pipeline(NSString *name)
{
    NSString *text = [NSString stringWithUTF8String:source];
    id<MTLLibrary> library = [device newLibraryWithSource:text options:nil error:NULL];
    id<MTLFunction> function = [library newFunctionWithName:name];
    return [device newComputePipelineStateWithFunction:function error:NULL];
}

static id<MTLComputeCommandEncoder> compute(void)
{
    return [commands computeCommandEncoder];
}

static id<MTLBlitCommandEncoder> blit(void)
{
    return [commands blitCommandEncoder];
}

// An encoder that could dispatch.
static id<MTLComputeCommandEncoder> ready(NSString *name)
{
    id<MTLComputeCommandEncoder> encoder = compute();
    [encoder setComputePipelineState:pipeline(name)];
    [encoder setBuffer:memory offset:0 atIndex:0];
    return encoder;
}

static id<MTLComputeCommandEncoder> ended(void)
{
    id<MTLComputeCommandEncoder> encoder = compute();
    [encoder endEncoding];
    return encoder;
}

static id<MTLBlitCommandEncoder> ended_blit(void)
{
    id<MTLBlitCommandEncoder> encoder = blit();
    [encoder endEncoding];
    return encoder;
}

static id<MTLCommandBuffer> committed(void)
{
    [commands commit];
    return commands;
}

static id<MTLResidencySet> residency(void)
{
    MTLResidencySetDescriptor *descriptor = [[MTLResidencySetDescriptor new] autorelease];
    return [device newResidencySetWithDescriptor:descriptor error:NULL];
}

static id<MTLIndirectCommandBuffer> indirect_commands(void)
{
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:MTLIndirectCommandTypeConcurrentDispatch];
    [descriptor setMaxKernelBufferBindCount:2];
    return [device newIndirectCommandBufferWithDescriptor:descriptor maxCommandCount:4 options:0];
}

static id<MTLCounterSampleBuffer> samples(void)
{
    MTLCounterSampleBufferDescriptor *descriptor = [[MTLCounterSampleBufferDescriptor new] autorelease];
    [descriptor setCounterSet:[[device counterSets] lastObject]];
    [descriptor setSampleCount:4];
    [descriptor setStorageMode:MTLStorageModeShared];
    return [device newCounterSampleBufferWithDescriptor:descriptor error:NULL];
}

static void compute_pass(NSUInteger start, NSUInteger end)
{
    MTLComputePassDescriptor *pass = [MTLComputePassDescriptor computePassDescriptor];
    MTLComputePassSampleBufferAttachmentDescriptor *attachment =
        [[pass sampleBufferAttachments] objectAtIndexedSubscript:3];
    [attachment setSampleBuffer:samples()];
    [attachment setStartOfEncoderSampleIndex:start];
    [attachment setEndOfEncoderSampleIndex:end];
    [commands computeCommandEncoderWithDescriptor:pass];
}

static void blit_pass(NSUInteger start, NSUInteger end)
{
    MTLBlitPassDescriptor *pass = [MTLBlitPassDescriptor blitPassDescriptor];
    MTLBlitPassSampleBufferAttachmentDescriptor *attachment =
        [[pass sampleBufferAttachments] objectAtIndexedSubscript:0];
    [attachment setSampleBuffer:samples()];
    [attachment setStartOfEncoderSampleIndex:start];
    [attachment setEndOfEncoderSampleIndex:end];
    [commands blitCommandEncoderWithDescriptor:pass];
}

static void dispatch(id<MTLComputeCommandEncoder> encoder, NSUInteger groups, NSUInteger threads)
{
    [encoder dispatchThreadgroups:MTLSizeMake(groups, 1, 1) threadsPerThreadgroup:MTLSizeMake(threads, 1, 1)];
}

static void copy(id<MTLBlitCommandEncoder> encoder, NSUInteger from, NSUInteger to, NSUInteger size)
{
    [encoder copyFromBuffer:memory sourceOffset:from toBuffer:memory destinationOffset:to size:size];
}

// ---- the rules ----
static const char *wanted; // the rule to break; NULL: list them
static bool is_known;
static const char *profile, *depths, *file, *class_name; // of the rules that follow

static void rules_of(const char *source_file, const char *class)
{
    profile = "apple";
    depths = "0 1 2";
    file = source_file;
    class_name = class;
}

// Is this the rule to break? Lists it if they are listed.
static bool breaks(const char *name, const char *selector, const char *text)
{
    if (!wanted)
        printf("%s|%s|%s|%s|-[%s %s]|%s\n", name, profile, depths, file, class_name, selector, text);
    bool is_wanted = wanted && strcmp(wanted, name) == 0;
    is_known |= is_wanted;
    return is_wanted;
}

static void queues(void)
{
    rules_of("device.m", "SoftG1Device");
    const char *selector = "newCommandQueueWithMaxCommandBufferCount:";
    if (breaks("queue-without-room", selector, "maxCommandBufferCount must be > 0"))
        [device newCommandQueueWithMaxCommandBufferCount:0];
    selector = "newCommandQueueWithDescriptor:";
    if (breaks("queue-nil", selector, "descriptor must not be nil"))
        [device newCommandQueueWithDescriptor:nothing()];
    if (breaks("queue-described-without-room", selector, "maxCommandBufferCount must be > 0")) {
        MTLCommandQueueDescriptor *descriptor = [[MTLCommandQueueDescriptor new] autorelease];
        [descriptor setMaxCommandBufferCount:0];
        [device newCommandQueueWithDescriptor:descriptor];
    }

    rules_of("queue.m", "SoftG1FamilyCommandQueue");
    if (breaks("buffer-nil", "commandBufferWithDescriptor:", "descriptor must not be nil"))
        [queue commandBufferWithDescriptor:nothing()];
    if (breaks("queue-residency-nil", "addResidencySet:", "residencySet must not be nil"))
        [queue addResidencySet:nothing()];
    if (breaks("queue-residencies-nil", "addResidencySet:", "residencySet must not be nil")) {
        id<MTLResidencySet> sets[2] = {residency(), nothing()};
        [queue addResidencySets:sets count:2];
    }
}

static const MTLCommandBufferHandler ignore = ^(id<MTLCommandBuffer> buffer) {
    (void)buffer;
};

static void handlers(void)
{
    rules_of("command_buffer.m", "SoftG1FamilyCommandBuffer");
    if (breaks("scheduled-late", "addScheduledHandler:", "Scheduled handler provided after commit call"))
        [committed() addScheduledHandler:ignore];
    if (breaks("completed-late", "addCompletedHandler:", "Completed handler provided after commit call"))
        [committed() addCompletedHandler:ignore];
    if (breaks("completed-after-the-end",
               "addCompletedHandler:", "Completed handler provided after commit call")) {
        [committed() waitUntilCompleted];
        [commands addCompletedHandler:ignore];
    }
    depths = "0";
    if (breaks("scheduled-nil", "addScheduledHandler:", "block must not be nil"))
        [commands addScheduledHandler:nothing()];
    if (breaks("completed-nil", "addCompletedHandler:", "block must not be nil"))
        [commands addCompletedHandler:nothing()];

    rules_of("debug_layer.m", "SMDebugCommandBuffer");
    depths = "1 2";
    if (breaks("wrapped-scheduled-nil", "addScheduledHandler:", "block must not be nil"))
        [commands addScheduledHandler:nothing()];
    if (breaks("wrapped-completed-nil", "addCompletedHandler:", "block must not be nil"))
        [commands addCompletedHandler:nothing()];
}

static void life_of_a_buffer(void)
{
    rules_of("command_buffer.m", "SoftG1FamilyCommandBuffer");
    if (breaks("wait-scheduled-early", "waitUntilScheduled",
               "waitUntilScheduled called on a command buffer that is not committed"))
        [commands waitUntilScheduled];
    if (breaks("wait-early", "waitUntilCompleted",
               "waitUntilCompleted called on a command buffer that is not committed"))
        [commands waitUntilCompleted];
    if (breaks("wait-enqueued", "waitUntilCompleted",
               "waitUntilCompleted called on a command buffer that is not committed")) {
        [commands enqueue];
        [commands waitUntilCompleted];
    }
    if (breaks("enqueue-late", "enqueue", "enqueue an already committed command buffer"))
        [committed() enqueue];
    if (breaks("enqueue-twice", "enqueue", "enqueue an already enqueued command buffer")) {
        [commands enqueue];
        [commands enqueue];
    }
    if (breaks("commit-twice", "commit", "commit an already committed command buffer"))
        [committed() commit];
    if (breaks("commit-after-the-end", "commit", "commit an already committed command buffer")) {
        [committed() waitUntilCompleted];
        [commands commit];
    }
    if (breaks("commit-open-encoder", "commit", "commit command buffer with uncommitted encoder")) {
        compute();
        [commands commit];
    }
    if (breaks("commit-open-blit", "commit", "commit command buffer with uncommitted encoder")) {
        blit();
        [commands commit];
    }
}

static void inside_a_buffer(void)
{
    rules_of("command_buffer.m", "SoftG1FamilyCommandBuffer");
    if (breaks("push-nil", "pushDebugGroup:", "string must not be nil"))
        [commands pushDebugGroup:nothing()];
    if (breaks("push-late", "pushDebugGroup:", "pushDebugGroup: after commit"))
        [committed() pushDebugGroup:@"late"];
    if (breaks("pop-unpushed", "popDebugGroup", "popDebugGroup called without a matching pushDebugGroup:"))
        [commands popDebugGroup];
    if (breaks("pop-late", "popDebugGroup", "popDebugGroup after commit")) {
        [commands pushDebugGroup:@"left open"];
        [committed() popDebugGroup];
    }
    if (breaks("wait-event-nil", "encodeWaitForEvent:value:", "event must not be nil"))
        [commands encodeWaitForEvent:nothing() value:1];
    if (breaks("signal-event-nil", "encodeSignalEvent:value:", "event must not be nil"))
        [commands encodeSignalEvent:nothing() value:1];
    if (breaks("signal-event-late", "encodeSignalEvent:value:", "encodeSignalEvent:value: after commit"))
        [committed() encodeSignalEvent:[device newEvent] value:1];
    if (breaks("signal-event-inside", "encodeSignalEvent:value:", "with uncommitted encoder")) {
        compute();
        [commands encodeSignalEvent:[device newEvent] value:1];
    }
    if (breaks("wait-event-inside", "encodeWaitForEvent:value:", "with uncommitted encoder")) {
        blit();
        [commands encodeWaitForEvent:[device newEvent] value:1];
    }
    if (breaks("residency-nil", "useResidencySet:", "residencySet must not be nil"))
        [commands useResidencySet:nothing()];
    if (breaks("residency-late", "useResidencySet:", "useResidencySet: after commit"))
        [committed() useResidencySet:residency()];
}

static void making_encoders(void)
{
    const char *late = "cannot encode into a command buffer that is already committed";
    const char *second = "A command encoder is already encoding to this command buffer";
    rules_of("command_buffer.m", "SoftG1FamilyCommandBuffer");
    if (breaks("compute-late", "computeCommandEncoder", late))
        [committed() computeCommandEncoder];
    if (breaks("blit-late", "blitCommandEncoder", late))
        [committed() blitCommandEncoder];
    if (breaks("second-compute", "computeCommandEncoder", second)) {
        compute();
        compute();
    }
    if (breaks("second-blit", "blitCommandEncoder", second)) {
        compute();
        blit();
    }
    if (breaks("second-typed", "computeCommandEncoderWithDispatchType:", second)) {
        blit();
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    }
    if (breaks("second-pass", "computeCommandEncoderWithDescriptor:", second)) {
        blit();
        compute_pass(0, 1);
    }
    if (breaks("second-blit-pass", "blitCommandEncoderWithDescriptor:", second)) {
        blit();
        blit_pass(0, 1);
    }
    if (breaks("dispatch-type", "computeCommandEncoderWithDispatchType:", "dispatchType (2) is not a valid"))
        // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): that is the misuse
        [commands computeCommandEncoderWithDispatchType:(MTLDispatchType)2];
    if (breaks("pass-nil", "computeCommandEncoderWithDescriptor:", "descriptor must not be nil"))
        [commands computeCommandEncoderWithDescriptor:nothing()];
    if (breaks("blit-pass-nil", "blitCommandEncoderWithDescriptor:", "descriptor must not be nil"))
        [commands blitCommandEncoderWithDescriptor:nothing()];
}

static void any_encoder(void)
{
    const char *over = "encoder has already ended: endEncoding was called";
    rules_of("encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("end-twice", "endEncoding", "endEncoding has already been called"))
        [ended() endEncoding];
    if (breaks("encoder-dropped", "dealloc", "Command encoder released without endEncoding"))
        @autoreleasepool {
            compute();
        }
    if (breaks("signpost-ended", "insertDebugSignpost:", over))
        [ended() insertDebugSignpost:@"late"];
    if (breaks("signpost-nil", "insertDebugSignpost:", "string must not be nil"))
        [compute() insertDebugSignpost:nothing()];
    if (breaks("encoder-push-ended", "pushDebugGroup:", over))
        [ended() pushDebugGroup:@"late"];
    if (breaks("encoder-push-nil", "pushDebugGroup:", "string must not be nil"))
        [compute() pushDebugGroup:nothing()];
    if (breaks("encoder-pop-ended", "popDebugGroup", over))
        [ended() popDebugGroup];
    if (breaks("encoder-pop-unpushed", "popDebugGroup", "without a matching pushDebugGroup:")) {
        [commands pushDebugGroup:@"the buffer's own"];
        [compute() popDebugGroup];
    }
    if (breaks("update-fence-ended", "updateFence:", over))
        [ended() updateFence:[device newFence]];
    if (breaks("update-fence-nil", "updateFence:", "fence must not be nil"))
        [compute() updateFence:nothing()];
    if (breaks("wait-fence-ended", "waitForFence:", over))
        [ended() waitForFence:[device newFence]];
    if (breaks("wait-fence-nil", "waitForFence:", "fence must not be nil"))
        [compute() waitForFence:nothing()];

    class_name = "SoftG1FamilyBlitContext";
    if (breaks("blit-end-twice", "endEncoding", "endEncoding has already been called"))
        [ended_blit() endEncoding];
    if (breaks("blit-dropped", "dealloc", "Command encoder released without endEncoding"))
        @autoreleasepool {
            blit();
        }
    if (breaks("blit-fence-ended", "updateFence:", over))
        [ended_blit() updateFence:[device newFence]];
}

static void sample_passes(void)
{
    const char *selector = "attachSamples:start:end:";
    rules_of("encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("pass-start", selector, "startOfEncoderSampleIndex (4) must be < sampleCount (4)"))
        compute_pass(4, 1);
    if (breaks("pass-end", selector, "endOfEncoderSampleIndex (5) must be < sampleCount (4)"))
        compute_pass(MTLCounterDontSample, 5);
    class_name = "SoftG1FamilyBlitContext";
    if (breaks("blit-pass-end", selector, "endOfEncoderSampleIndex (4) must be < sampleCount (4)"))
        blit_pass(0, 4);

    const char *unsupported = "the device does not support sampling at stage boundaries";
    rules_of("encoder.m", "SoftR1ComputeContext");
    profile = "amd";
    if (breaks("pass-unsupported", selector, unsupported))
        compute_pass(0, 1);
    class_name = "SoftR1BlitContext";
    if (breaks("blit-pass-unsupported", selector, unsupported))
        blit_pass(0, 1);
}

static void sampling(void)
{
    const char *selector = "sampleCountersInBuffer:atSampleIndex:withBarrier:";
    const char *unsupported = "the device does not support sampling at this point";
    rules_of("encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("sample-unsupported", selector, unsupported))
        [compute() sampleCountersInBuffer:samples() atSampleIndex:0 withBarrier:YES];
    if (breaks("sample-ended", selector, "encoder has already ended: endEncoding was called"))
        [ended() sampleCountersInBuffer:samples() atSampleIndex:0 withBarrier:YES];
    class_name = "SoftG1FamilyBlitContext";
    if (breaks("blit-sample-unsupported", selector, unsupported))
        [blit() sampleCountersInBuffer:samples() atSampleIndex:0 withBarrier:NO];

    rules_of("encoder.m", "SoftR1ComputeContext");
    profile = "none";
    if (breaks("sample-unsupported-none", selector, unsupported))
        [compute() sampleCountersInBuffer:nothing() atSampleIndex:0 withBarrier:YES];
    profile = "amd";
    if (breaks("sample-nil", selector, "sampleBuffer must not be nil"))
        [compute() sampleCountersInBuffer:nothing() atSampleIndex:0 withBarrier:YES];
    if (breaks("sample-index", selector, "sampleIndex (4) must be < sampleCount (4)"))
        [compute() sampleCountersInBuffer:samples() atSampleIndex:4 withBarrier:YES];
    class_name = "SoftR1BlitContext";
    if (breaks("blit-sample-index", selector, "sampleIndex (9) must be < sampleCount (4)"))
        [blit() sampleCountersInBuffer:samples() atSampleIndex:9 withBarrier:NO];
}

// Every method of a compute encoder, after its end.
static void ended_compute(void)
{
    const char *over = "encoder has already ended: endEncoding was called";
    NSUInteger offset = 0;
    rules_of("compute_encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("pipeline-ended", "setComputePipelineState:", over))
        [ended() setComputePipelineState:pipeline(@"small")];
    if (breaks("buffer-ended", "setBuffer:offset:atIndex:", over))
        [ended() setBuffer:memory offset:0 atIndex:0];
    if (breaks("offset-ended", "setBufferOffset:atIndex:", over))
        [ended() setBufferOffset:0 atIndex:0];
    if (breaks("buffers-ended", "setBuffers:offsets:withRange:", over))
        [ended() setBuffers:&memory offsets:&offset withRange:NSMakeRange(0, 1)];
    if (breaks("bytes-ended", "setBytes:length:atIndex:", over))
        [ended() setBytes:"abcd" length:4 atIndex:0];
    if (breaks("threadgroup-ended", "setThreadgroupMemoryLength:atIndex:", over))
        [ended() setThreadgroupMemoryLength:16 atIndex:0];
    if (breaks("texture-ended", "setTexture:atIndex:", over))
        [ended() setTexture:nothing() atIndex:0];
    if (breaks("sampler-ended", "setSamplerState:atIndex:", over))
        [ended() setSamplerState:nothing() atIndex:0];
    if (breaks("resource-ended", "useResource:usage:", over))
        [ended() useResource:memory usage:MTLResourceUsageRead];
    if (breaks("heap-ended", "useHeap:", over))
        [ended() useHeap:nothing()];
    if (breaks("barrier-ended", "memoryBarrierWithScope:", over))
        [ended() memoryBarrierWithScope:MTLBarrierScopeBuffers];
    if (breaks("barrier-resources-ended", "memoryBarrierWithResources:count:", over))
        [ended() memoryBarrierWithResources:&memory count:1];
    if (breaks("dispatch-ended", "dispatchThreadgroups:threadsPerThreadgroup:", over))
        dispatch(ended(), 1, 1);
    if (breaks("dispatch-threads-ended", "dispatchThreads:threadsPerThreadgroup:", over))
        [ended() dispatchThreads:one threadsPerThreadgroup:one];
    if (breaks("execute-ended", "executeCommandsInBuffer:withRange:", over))
        [ended() executeCommandsInBuffer:indirect_commands() withRange:NSMakeRange(0, 1)];
    if (breaks("execute-indirect-ended",
               "executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:", over))
        [ended() executeCommandsInBuffer:indirect_commands() indirectBuffer:memory indirectBufferOffset:0];
}

static void bindings(void)
{
    NSUInteger offset = 0;
    static char bytes[5000];
    rules_of("compute_encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("pipeline-nil", "setComputePipelineState:", "computePipelineState must not be nil"))
        [compute() setComputePipelineState:nothing()];
    if (breaks("buffer-index", "setBuffer:offset:atIndex:", "index (31) must be < 31"))
        [compute() setBuffer:memory offset:0 atIndex:31];
    if (breaks("buffer-offset",
               "setBuffer:offset:atIndex:", "offset (1024) must be < [buffer length] (1024)"))
        [compute() setBuffer:memory offset:1024 atIndex:0];
    if (breaks("offset-index", "setBufferOffset:atIndex:", "index (99) must be < 31"))
        [compute() setBufferOffset:0 atIndex:99];
    if (breaks("offset-unset", "setBufferOffset:atIndex:", "no buffer is set at index (3)"))
        [compute() setBufferOffset:0 atIndex:3];
    if (breaks("offset-outside",
               "setBufferOffset:atIndex:", "offset (2000) must be < [buffer length] (1024)")) {
        id<MTLComputeCommandEncoder> encoder = compute();
        [encoder setBuffer:memory offset:0 atIndex:3];
        [encoder setBufferOffset:2000 atIndex:3];
    }
    if (breaks("buffers-range", "setBuffers:offsets:withRange:", "range {30, 2} must be inside {0, 31}"))
        [compute() setBuffers:&memory offsets:&offset withRange:NSMakeRange(30, 2)];
    if (breaks("bytes-null", "setBytes:length:atIndex:", "bytes must not be NULL"))
        [compute() setBytes:nothing() length:4 atIndex:0];
    if (breaks("bytes-index", "setBytes:length:atIndex:", "index (31) must be < 31"))
        [compute() setBytes:bytes length:4 atIndex:31];
    if (breaks("bytes-long", "setBytes:length:atIndex:", "length (4097) must be > 0 and <= 4096"))
        [compute() setBytes:bytes length:4097 atIndex:0];
    if (breaks("bytes-empty", "setBytes:length:atIndex:", "length (0) must be > 0 and <= 4096"))
        [compute() setBytes:bytes length:0 atIndex:0];
    if (breaks("threadgroup-index", "setThreadgroupMemoryLength:atIndex:", "index (31) must be < 31"))
        [compute() setThreadgroupMemoryLength:16 atIndex:31];
    if (breaks("threadgroup-odd",
               "setThreadgroupMemoryLength:atIndex:", "length (20) must be a multiple of 16 bytes"))
        [compute() setThreadgroupMemoryLength:20 atIndex:0];
    if (breaks("threadgroup-long", "setThreadgroupMemoryLength:atIndex:", "length (32784) must be <= 32768"))
        [compute() setThreadgroupMemoryLength:32784 atIndex:0];
    if (breaks("texture", "setTexture:atIndex:", "softmetal has no textures"))
        [compute() setTexture:(id)memory atIndex:0];
    if (breaks("sampler", "setSamplerState:atIndex:", "softmetal has no samplers"))
        [compute() setSamplerState:(id)memory atIndex:0];
    if (breaks("resource-nil", "useResource:usage:", "resource must not be nil"))
        [compute() useResource:nothing() usage:MTLResourceUsageRead];
    if (breaks("heap-nil", "useHeap:", "heap must not be nil"))
        [compute() useHeap:nothing()];
}

static void dispatches(void)
{
    const char *groups = "dispatchThreadgroups:threadsPerThreadgroup:";
    const char *threads = "dispatchThreads:threadsPerThreadgroup:";
    rules_of("compute_encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("no-pipeline", groups, "computePipelineState must be set before dispatch"))
        dispatch(compute(), 1, 1);
    if (breaks("threads-no-pipeline", threads, "computePipelineState must be set before dispatch"))
        [compute() dispatchThreads:one threadsPerThreadgroup:one];
    if (breaks("zero-threads", groups, "threadsPerThreadgroup (0, 1, 1): every component must be > 0"))
        dispatch(ready(@"small"), 1, 0);
    if (breaks("many-threads", groups, "(1025) must be <= 1024. (kernel threadgroup size limit)"))
        dispatch(ready(@"small"), 1, 1025);
    if (breaks("kernel-limit", threads, "(65) must be <= 64. (kernel threadgroup size limit)"))
        [ready(@"limited") dispatchThreads:one threadsPerThreadgroup:MTLSizeMake(13, 5, 1)];
    if (breaks("wrapping-threads", groups, "(kernel threadgroup size limit)"))
        [ready(@"small") dispatchThreadgroups:one
                        threadsPerThreadgroup:MTLSizeMake(HUGE_COUNT, HUGE_COUNT, 4)];
    if (breaks("zero-groups", groups, "threadgroupsPerGrid (0, 1, 1): every component must be > 0"))
        dispatch(ready(@"small"), 0, 32);
    if (breaks("zero-grid", threads, "threadsPerGrid (4, 0, 1): every component must be > 0"))
        [ready(@"small") dispatchThreads:MTLSizeMake(4, 0, 1) threadsPerThreadgroup:one];
    if (breaks("huge-grid", groups, "the grid has more than 2^32 - 1 threads in one direction"))
        dispatch(ready(@"small"), HUGE_COUNT, 32);
    if (breaks("threadgroup-total", groups, "total threadgroup memory length (40960) must be <= 32768")) {
        id<MTLComputeCommandEncoder> encoder = ready(@"small");
        [encoder setThreadgroupMemoryLength:20480 atIndex:0];
        [encoder setThreadgroupMemoryLength:20480 atIndex:1];
        dispatch(encoder, 1, 1);
    }

    rules_of("playback.m", "SoftG1FamilyComputeContext");
    if (breaks("static-and-dynamic", groups,
               "static threadgroup memory of half_full(16384)) must be <= 32768")) {
        id<MTLComputeCommandEncoder> encoder = ready(@"half_full");
        [encoder setThreadgroupMemoryLength:16400 atIndex:0];
        dispatch(encoder, 1, 32);
        [encoder endEncoding];
        [committed() waitUntilCompleted];
    }
}

static void dispatch_from(id<MTLComputeCommandEncoder> encoder, id<MTLBuffer> buffer, NSUInteger offset)
{
    [encoder dispatchThreadgroupsWithIndirectBuffer:buffer
                               indirectBufferOffset:offset
                              threadsPerThreadgroup:one];
}

static void indirect_dispatches(void)
{
    const char *dispatch_selector =
        "dispatchThreadgroupsWithIndirectBuffer:indirectBufferOffset:threadsPerThreadgroup:";
    const char *execute = "executeCommandsInBuffer:withRange:";
    const char *execute_from = "executeCommandsInBuffer:indirectBuffer:indirectBufferOffset:";
    rules_of("compute_encoder.m", "SoftG1FamilyComputeContext");
    if (breaks("indirect-no-pipeline", dispatch_selector, "computePipelineState must be set before dispatch"))
        dispatch_from(compute(), memory, 0);
    if (breaks("indirect-nil", dispatch_selector, "indirectBuffer must not be nil"))
        dispatch_from(ready(@"small"), nothing(), 0);
    if (breaks("indirect-odd", dispatch_selector, "indirectBufferOffset (6) must be a multiple of 4"))
        dispatch_from(ready(@"small"), memory, 6);
    if (breaks("indirect-outside", dispatch_selector,
               "indirectBufferOffset (1016) + 12 must be <= [indirectBuffer length] (1024)"))
        dispatch_from(ready(@"small"), memory, 1016);
    if (breaks("execute-nil", execute, "indirectCommandBuffer must not be nil"))
        [compute() executeCommandsInBuffer:nothing() withRange:NSMakeRange(0, 1)];
    if (breaks("execute-outside", execute, "executionRange {3, 2} must be inside the 4 commands"))
        [compute() executeCommandsInBuffer:indirect_commands() withRange:NSMakeRange(3, 2)];
    if (breaks("execute-indirect-nil", execute_from, "indirectCommandBuffer must not be nil"))
        [compute() executeCommandsInBuffer:nothing() indirectBuffer:memory indirectBufferOffset:0];
    if (breaks("execute-indirect-outside", execute_from,
               "indirectBufferOffset (1020) + 8 must be <= [indirectBuffer length] (1024)"))
        [compute() executeCommandsInBuffer:indirect_commands()
                            indirectBuffer:memory
                      indirectBufferOffset:1020];
}

static void blits(void)
{
    const char *over = "encoder has already ended: endEncoding was called";
    const char *copy_selector = "copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:";
    rules_of("blit_encoder.m", "SoftG1FamilyBlitContext");
    if (breaks("copy-ended", copy_selector, over))
        copy(ended_blit(), 0, 64, 4);
    if (breaks("copy-from-outside", copy_selector,
               "(sourceBufferOffset(1000) + size(25)) must be <= [sourceBuffer length](1024)"))
        copy(blit(), 1000, 0, 25);
    if (breaks("copy-to-outside", copy_selector, "must be <= [destinationBuffer length](1024)"))
        copy(blit(), 0, NSUIntegerMax, 25);
    if (breaks("fill-ended", "fillBuffer:range:value:", over))
        [ended_blit() fillBuffer:memory range:NSMakeRange(0, 4) value:1];
    if (breaks("fill-nil", "fillBuffer:range:value:", "buffer must not be nil"))
        [blit() fillBuffer:nothing() range:NSMakeRange(0, 4) value:1];
    if (breaks("fill-outside",
               "fillBuffer:range:value:", "(bufferOffset(1020) + size(8)) must be <= [buffer length](1024)"))
        [blit() fillBuffer:memory range:NSMakeRange(1020, 8) value:1];
    if (breaks("fill-empty", "fillBuffer:range:value:", "range.length must be > 0"))
        [blit() fillBuffer:memory range:NSMakeRange(0, 0) value:1];
    if (breaks("synchronize-ended", "synchronizeResource:", over))
        [ended_blit() synchronizeResource:memory];
    if (breaks("synchronize-nil", "synchronizeResource:", "resource must not be nil"))
        [blit() synchronizeResource:nothing()];
    if (breaks("synchronize-shared", "synchronizeResource:", "resource is not a managed resource"))
        [blit() synchronizeResource:memory];
    if (breaks("copy-nil", copy_selector, "sourceBuffer must not be nil"))
        [blit() copyFromBuffer:nothing() sourceOffset:0 toBuffer:memory destinationOffset:0 size:4];

    rules_of("debug_encoders.m", "SMDebugBlitCommandEncoder");
    depths = "1 2";
    if (breaks("copy-overlap", copy_selector, "ranges of a copy inside one buffer overlap"))
        copy(blit(), 0, 8, 16);
}

static void blits_of_commands(void)
{
    const char *over = "encoder has already ended: endEncoding was called";
    const char *outside = "range {3, 2} must be inside the 4 commands of the indirect command buffer";
    const char *reset = "resetCommandsInBuffer:withRange:";
    const char *copy_selector = "copyIndirectCommandBuffer:sourceRange:destination:destinationIndex:";
    NSRange past_end = NSMakeRange(3, 2);
    rules_of("blit_encoder.m", "SoftG1FamilyBlitContext");
    if (breaks("reset-ended", reset, over))
        [ended_blit() resetCommandsInBuffer:indirect_commands() withRange:NSMakeRange(0, 1)];
    if (breaks("reset-nil", reset, "indirectCommandBuffer must not be nil"))
        [blit() resetCommandsInBuffer:nothing() withRange:NSMakeRange(0, 1)];
    if (breaks("reset-outside", reset, outside))
        [blit() resetCommandsInBuffer:indirect_commands() withRange:past_end];
    if (breaks("optimize-outside", "optimizeIndirectCommandBuffer:withRange:", outside))
        [blit() optimizeIndirectCommandBuffer:indirect_commands() withRange:past_end];
    if (breaks("copy-commands-outside", copy_selector, outside))
        [blit() copyIndirectCommandBuffer:indirect_commands()
                              sourceRange:NSMakeRange(0, 2)
                              destination:indirect_commands()
                         destinationIndex:3];
}

static void resolves(void)
{
    const char *selector = "resolveCounters:inRange:destinationBuffer:destinationOffset:";
    rules_of("blit_encoder.m", "SoftG1FamilyBlitContext");
#define RESOLVE(encoder, from, range, to, offset)                                                            \
    [encoder resolveCounters:from inRange:range destinationBuffer:to destinationOffset:offset]
    if (breaks("resolve-ended", selector, "encoder has already ended: endEncoding was called"))
        RESOLVE(ended_blit(), samples(), NSMakeRange(0, 1), memory, 0);
    if (breaks("resolve-nil", selector, "sampleBuffer must not be nil"))
        RESOLVE(blit(), nothing(), NSMakeRange(0, 1), memory, 0);
    if (breaks("resolve-outside", selector, "range {3, 2} must be inside the 4 samples"))
        RESOLVE(blit(), samples(), NSMakeRange(3, 2), memory, 0);
    if (breaks("resolve-none", selector, "range {0, 0} must be inside the 4 samples"))
        RESOLVE(blit(), samples(), NSMakeRange(0, 0), memory, 0);
    if (breaks("resolve-odd", selector, "destinationOffset (4) must be a multiple of 8"))
        RESOLVE(blit(), samples(), NSMakeRange(0, 1), memory, 4);
    if (breaks("resolve-nowhere", selector, "destinationBuffer must not be nil"))
        RESOLVE(blit(), samples(), NSMakeRange(0, 1), nothing(), 0);
    if (breaks("resolve-no-room", selector, "must be <= [destinationBuffer length](1024)"))
        RESOLVE(blit(), samples(), NSMakeRange(0, 2), memory, 1016);
}

static void all_rules(void)
{
    queues();
    handlers();
    life_of_a_buffer();
    inside_a_buffer();
    making_encoders();
    any_encoder();
    sample_passes();
    sampling();
    ended_compute();
    bindings();
    dispatches();
    indirect_dispatches();
    blits();
    blits_of_commands();
    resolves();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: misuse_submission RULE|--list\n");
        return 2;
    }
    wanted = strcmp(argv[1], "--list") == 0 ? NULL : argv[1];
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        queue = [device newCommandQueue];
        commands = [queue commandBuffer];
        memory = [device newBufferWithLength:1024 options:MTLResourceStorageModeShared];
        all_rules();
    }
    return wanted && !is_known ? 2 : 0;
}
