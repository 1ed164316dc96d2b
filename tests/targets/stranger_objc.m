// SPDX-License-Identifier: MIT
// An inference-like program in Objective-C that uses nearly every way Metal has to make and submit compute
// work, and prints what it did as lines of JSON: what it made in order, then one line per command buffer.
// Knows nothing of where or under what it runs. Argument: a folder to write a library into.
#include "targets/stranger_work.h"

#include <pthread.h>

static NSString *const source =
    @"#include <metal_stdlib>\n"
    @"using namespace metal;\n"
    @"constant int mode [[function_constant(0)]];\n"
    @"constant float scale [[function_constant(1)]];\n"
    @"constant bool is_causal [[function_constant(2)]];\n"
    @"constant float4 corner [[function_constant(3)]];\n"
    @"kernel void rope(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n"
    @"kernel void norm(device float *x [[buffer(0)]], threadgroup float *sums [[threadgroup(0)]],\n"
    @"                 threadgroup float *more [[threadgroup(1)]], uint i [[thread_position_in_grid]],\n"
    @"                 uint t [[thread_position_in_threadgroup]])\n"
    @"{\n"
    @"    sums[t] = more[t] = x[i];\n"
    @"    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"    x[i] = sums[t] * 0.5f + more[t];\n"
    @"}\n"
    @"kernel void attention(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]])\n"
    @"{ x[i] = is_causal ? mode * scale : corner.x; }\n";
static NSString *const other_source =
    @"kernel void softmax(device float *x [[buffer(0)]],\n"
    @"                    uint i [[thread_position_in_grid]]) { x[i] *= 2; }\n";
static NSString *const bad_source = @"kernel void wrong(device float *x) { x[0] = \"text\" }\n";

enum { FLOATS = 4096, QUEUES = 3 };

static struct {
    id<MTLDevice> device;
    id<MTLCommandQueue> queues[QUEUES];
    id<MTLBuffer> data, other;
    struct kernel rope, norm, attention, softmax, listed;
    unsigned command_buffers, async_done;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} app = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

// Text with halves of surrogate pairs, which Foundation's own strings do not hold everywhere.
@interface HalfString : NSString
@end
@implementation HalfString
- (NSUInteger)length
{
    return 5;
}
- (unichar)characterAtIndex:(NSUInteger)index
{
    static const unichar units[] = {'a', 0xd83d, 'b', 0xde00, 0xd83d};
    return units[index];
}
- (id)copyWithZone:(NSZone *)zone
{
    (void)zone;
    return [self retain];
}
@end

// ---- asynchronous results ----
static void async_ended(void)
{
    pthread_mutex_lock(&app.lock);
    app.async_done++;
    pthread_cond_broadcast(&app.changed);
    pthread_mutex_unlock(&app.lock);
}

static void async_wait(unsigned count)
{
    pthread_mutex_lock(&app.lock);
    while (app.async_done < count)
        pthread_cond_wait(&app.changed, &app.lock);
    app.async_done = 0;
    pthread_mutex_unlock(&app.lock);
}

// ---- what is made ----
static void say_made(const char *what, const char *name, const char *detail, bool made)
{
    struct said line = {0};
    said_open(&line, "{");
    said_key_text(&line, what, name);
    said_key_text(&line, "detail", detail);
    said_key_number(&line, "made", made);
    said_close(&line, "}");
    said_print(&line);
}

static void make_queues(void)
{
    MTLCommandQueueDescriptor *descriptor = [[[MTLCommandQueueDescriptor alloc] init] autorelease];
    [descriptor setMaxCommandBufferCount:7];
    app.queues[0] = [app.device newCommandQueue];
    app.queues[1] = [app.device newCommandQueueWithMaxCommandBufferCount:5];
    [app.queues[1] setLabel:@"second \"queue\""];
    app.queues[2] = [app.device newCommandQueueWithDescriptor:descriptor];
    say_made("queue", NULL, "0", app.queues[0]);
    say_made("queue", "second \"queue\"", "5", app.queues[1]);
    [app.queues[2] setLabel:[[[HalfString alloc] init] autorelease]];
    say_made("queue", "half", "7", app.queues[2]);
}

static id<MTLLibrary> library_made(const char *form, id<MTLLibrary> library)
{
    say_made("library", form, NULL, library);
    return [library autorelease];
}

static id<MTLLibrary> make_libraries(NSString *folder)
{
    NSError *error = nil;
    id<MTLLibrary> main_library = library_made("source", [app.device newLibraryWithSource:source
                                                                                  options:nil
                                                                                    error:&error]);
    library_made("default", [app.device newDefaultLibrary]);
    NSString *file = [folder stringByAppendingPathComponent:@"other.metallib"];
    [other_source writeToFile:file atomically:YES];
    library_made("file", [app.device newLibraryWithFile:file error:&error]);
    library_made("source", [app.device newLibraryWithSource:bad_source options:nil error:&error]);
    __block id<MTLLibrary> late = nil;
    [app.device newLibraryWithSource:other_source
                             options:nil
                   completionHandler:^(id<MTLLibrary> library, NSError *problem) {
                       (void)problem;
                       late = [library retain];
                       async_ended();
                   }];
    async_wait(1);
    library_made("source,async", late);
    return main_library;
}

static id<MTLFunction> function_made(const char *name, const char *constants, id<MTLFunction> function)
{
    say_made("function", name, constants, function);
    return [function autorelease];
}

static MTLFunctionConstantValues *constants_by_index(void)
{
    const float scale = 0.125f;
    const bool causal = true;
    const int32_t mode = -3;
    const float corner[4] = {1, 2.5f, -4, 0};
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    [values setConstantValue:&corner type:MTLDataTypeFloat4 atIndex:3];
    [values setConstantValue:&causal type:MTLDataTypeBool atIndex:2];
    [values setConstantValue:&scale type:MTLDataTypeFloat atIndex:1];
    [values setConstantValue:&mode type:MTLDataTypeInt atIndex:0];
    return values;
}

static MTLFunctionConstantValues *constants_by_name(void)
{
    const float scale = 2, corner[4] = {0, 0, 0, 1};
    const bool causal = false;
    const int32_t mode = 1;
    MTLFunctionConstantValues *values = [[[MTLFunctionConstantValues alloc] init] autorelease];
    [values setConstantValue:&scale type:MTLDataTypeFloat withName:@"scale"];
    [values setConstantValue:&mode type:MTLDataTypeInt withName:@"mode"];
    [values setConstantValue:&causal type:MTLDataTypeBool withName:@"is_causal"];
    [values setConstantValue:&corner type:MTLDataTypeFloat4 withName:@"corner"];
    return values;
}

static id<MTLComputePipelineState> pipeline_made(const char *name, const char *flags,
                                                 id<MTLComputePipelineState> pipeline)
{
    say_made("pipeline", name, flags, pipeline);
    return pipeline;
}

// The pipeline that failed is made of a function that was not specialised.
static void make_plain_pipelines(id<MTLLibrary> library)
{
    NSError *error = nil;
    MTLComputePipelineReflection *reflection = nil;
    id<MTLFunction> rope = function_made("rope", NULL, [library newFunctionWithName:@"rope"]);
    id<MTLFunction> norm = function_made("norm", NULL, [library newFunctionWithName:@"norm"]);
    function_made("missing", NULL, [library newFunctionWithName:@"missing"]);
    app.rope.name = "rope";
    app.rope.state =
        pipeline_made("rope", "", [app.device newComputePipelineStateWithFunction:rope error:&error]);
    app.norm.name = "norm";
    app.norm.state =
        pipeline_made("norm", "reflection",
                      [app.device newComputePipelineStateWithFunction:norm
                                                              options:MTLPipelineOptionBindingInfo
                                                           reflection:&reflection
                                                                error:&error]);
}

static void make_special_pipelines(id<MTLLibrary> library)
{
    NSError *error = nil;
    id<MTLFunction> by_index = function_made("attention", "0=-3 1=0.125 2=true 3=(1,2.5,-4,0)",
                                             [library newFunctionWithName:@"attention"
                                                           constantValues:constants_by_index()
                                                                    error:&error]);
    id<MTLFunction> by_name = function_made("attention", "corner=(0,0,0,1) is_causal=false mode=1 scale=2",
                                            [library newFunctionWithName:@"attention"
                                                          constantValues:constants_by_name()
                                                                   error:&error]);
    app.attention.name = "attention 0=-3 1=0.125 2=true 3=(1,2.5,-4,0)";
    [app.device
        newComputePipelineStateWithFunction:by_index
                          completionHandler:^(id<MTLComputePipelineState> pipeline, NSError *problem) {
                              (void)problem;
                              app.attention.state = [pipeline retain];
                              async_ended();
                          }];
    async_wait(1);
    pipeline_made("attention", "async", app.attention.state);
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    [descriptor setComputeFunction:by_name];
    [descriptor setLabel:@"softmax of our own"];
    app.softmax.name = "softmax of our own corner=(0,0,0,1) is_causal=false mode=1 scale=2";
    [app.device
        newComputePipelineStateWithDescriptor:descriptor
                                      options:0
                            completionHandler:^(id<MTLComputePipelineState> pipeline,
                                                MTLComputePipelineReflection *reflection, NSError *problem) {
                                (void)problem;
                                (void)reflection;
                                app.softmax.state = [pipeline retain];
                                async_ended();
                            }];
    async_wait(1);
    pipeline_made("softmax of our own", "async,descriptor,reflection", app.softmax.state);
}

// One for indirect command buffers, and one that asks for more threads than there are.
static void make_described_pipelines(id<MTLLibrary> library)
{
    NSError *error = nil;
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    id<MTLFunction> rope = function_made("rope", NULL, [library newFunctionWithName:@"rope"]);
    [descriptor setComputeFunction:rope];
    [descriptor setLabel:@"listed"];
    [descriptor setSupportIndirectCommandBuffers:YES];
    app.listed.name = "listed";
    app.listed.state = pipeline_made("listed", "descriptor",
                                     [app.device newComputePipelineStateWithDescriptor:descriptor
                                                                               options:0
                                                                            reflection:NULL
                                                                                 error:&error]);
    [descriptor setLabel:@"too large"];
    [descriptor setMaxTotalThreadsPerThreadgroup:100000];
    pipeline_made("too large", "descriptor",
                  [app.device newComputePipelineStateWithDescriptor:descriptor
                                                            options:0
                                                         reflection:NULL
                                                              error:&error]);
}

// ---- submission ----
static struct work begin(unsigned queue, NSString *label)
{
    struct work work = work_on([app.queues[queue] commandBuffer], queue, app.command_buffers++);
    if (label)
        work_label(&work, label);
    return work;
}

static void end(struct work *work)
{
    work_commit(work);
    work_wait(work);
    if ([work->buffer status] == MTLCommandBufferStatusError)
        work->end = "failed";
    work_print(work);
}

static void use(struct work *work, const struct kernel *kernel)
{
    work_pipeline(work, kernel);
    [work->compute setBuffer:app.data offset:0 atIndex:0];
}

static void one_dispatch(struct work *work)
{
    work_compute(work);
    use(work, &app.rope);
    work_threads(work, MTLSizeMake(100, 1, 1), MTLSizeMake(32, 1, 1));
    work_end_encoder(work);
}

static void indirect_dispatch(struct work *work, NSUInteger offset, MTLSize groups, MTLSize threads)
{
    uint32_t *numbers = (uint32_t *)((char *)[app.other contents] + offset);
    numbers[0] = (uint32_t)groups.width;
    numbers[1] = (uint32_t)groups.height;
    numbers[2] = (uint32_t)groups.depth;
    [work->compute dispatchThreadgroupsWithIndirectBuffer:app.other
                                     indirectBufferOffset:offset
                                    threadsPerThreadgroup:threads];
    say_dispatch(work, "indirect", groups, threads);
}

static void all_forms_of_dispatch(void)
{
    struct work work = begin(0, @"all forms");
    work_compute(&work);
    work_encoder_label(&work, @"forms");
    use(&work, &app.rope);
    work_threadgroups(&work, MTLSizeMake(3, 2, 1), MTLSizeMake(16, 2, 1));
    work_threads(&work, MTLSizeMake(101, 3, 2), MTLSizeMake(8, 2, 2));
    indirect_dispatch(&work, 64, MTLSizeMake(5, 1, 1), MTLSizeMake(32, 1, 1));
    use(&work, &app.norm);
    work_threadgroup_memory(&work, 256, 0);
    work_threadgroup_memory(&work, 512, 1);
    work_threadgroups(&work, MTLSizeMake(4, 1, 1), MTLSizeMake(64, 1, 1));
    work_threadgroup_memory(&work, 1024, 1);
    work_threads(&work, MTLSizeMake(64, 1, 1), MTLSizeMake(64, 1, 1));
    use(&work, &app.attention);
    work_threadgroups(&work, MTLSizeMake(1, 1, 1), MTLSizeMake(32, 1, 1));
    use(&work, &app.softmax);
    work_threadgroups(&work, MTLSizeMake(2, 1, 1), MTLSizeMake(32, 1, 1));
    work_end_encoder(&work);
    end(&work);
}

static void concurrent_with_barriers(void)
{
    id<MTLResource> resources[] = {app.data, app.other};
    struct work work =
        work_on([app.queues[1] commandBufferWithUnretainedReferences], 1, app.command_buffers++);
    work.flags = "unretained";
    work_label(&work, @"to be renamed");
    work_label(&work, @"concurrent");
    work_compute_typed(&work, MTLDispatchTypeConcurrent);
    use(&work, &app.rope);
    work_threadgroups(&work, MTLSizeMake(2, 1, 1), MTLSizeMake(32, 1, 1));
    work_barrier(&work);
    work_threadgroups(&work, MTLSizeMake(3, 1, 1), MTLSizeMake(32, 1, 1));
    [work.compute memoryBarrierWithResources:resources count:2];
    work.barriers++;
    work_barrier(&work);
    work_threads(&work, MTLSizeMake(7, 1, 1), MTLSizeMake(7, 1, 1));
    work_threadgroups(&work, MTLSizeMake(1, 1, 1), MTLSizeMake(32, 1, 1));
    work_end_encoder(&work);
    work_compute_typed(&work, MTLDispatchTypeSerial);
    work_end_encoder(&work);
    work_compute_described(&work, MTLDispatchTypeConcurrent);
    use(&work, &app.rope);
    work_threadgroups(&work, MTLSizeMake(9, 1, 1), MTLSizeMake(32, 1, 1));
    work_end_encoder(&work);
    end(&work);
}

static void copies_and_fences(void)
{
    id<MTLFence> fence = [[app.device newFence] autorelease];
    MTLCommandBufferDescriptor *descriptor = [[[MTLCommandBufferDescriptor alloc] init] autorelease];
    [descriptor setRetainedReferences:NO];
    struct work work =
        work_on([app.queues[2] commandBufferWithDescriptor:descriptor], 2, app.command_buffers++);
    work.flags = "descriptor,unretained";
    work_blit(&work, false);
    [work.blit copyFromBuffer:app.data sourceOffset:0 toBuffer:app.other destinationOffset:4096 size:1000];
    [work.blit fillBuffer:app.data range:NSMakeRange(16, 200) value:0];
    work.blits = 2;
    work.blit_bytes = 1200;
    [work.blit insertDebugSignpost:@"copied"];
    work.signposts++;
    [work.blit updateFence:fence];
    work.fence_updates++;
    work_encoder_label(&work, @"copies");
    work_end_encoder(&work);
    work_compute_described(&work, MTLDispatchTypeSerial);
    [work.compute waitForFence:fence];
    work.fence_waits++;
    use(&work, &app.rope);
    work_threads(&work, MTLSizeMake(10, 1, 1), MTLSizeMake(10, 1, 1));
    [work.compute updateFence:fence];
    work.fence_updates++;
    work_end_encoder(&work);
    work_blit(&work, true);
    [work.blit waitForFence:fence];
    work.fence_waits++;
    [work.blit fillBuffer:app.other range:NSMakeRange(0, 64) value:7];
    work.blits = 1;
    work.blit_bytes = 64;
    work_end_encoder(&work);
    end(&work);
}

static void groups_in_groups(void)
{
    struct work work = begin(0, @"groups");
    work_push(&work, @"layer 0");
    work_push(&work, @"a/b");
    work_compute(&work);
    use(&work, &app.rope);
    work_threads(&work, MTLSizeMake(1, 1, 1), MTLSizeMake(1, 1, 1));
    work_push(&work, @"attn");
    work_threads(&work, MTLSizeMake(2, 1, 1), MTLSizeMake(1, 1, 1));
    work_push(&work, @"q \"k\" <v>\n");
    work_threads(&work, MTLSizeMake(3, 1, 1), MTLSizeMake(1, 1, 1));
    [work.compute insertDebugSignpost:@"here"];
    work.signposts++;
    work_pop(&work);
    work_pop(&work);
    work_push(&work, @"attn"); // again, the same path
    work_threads(&work, MTLSizeMake(4, 1, 1), MTLSizeMake(1, 1, 1));
    work_pop(&work);
    work_end_encoder(&work);
    work_pop(&work);
    work_blit(&work, false);
    [work.blit pushDebugGroup:@"moved"];
    [work.blit fillBuffer:app.other range:NSMakeRange(0, 4) value:1];
    work.blits = 1;
    work.blit_bytes = 4;
    [work.blit popDebugGroup];
    work_end_encoder(&work);
    work_pop(&work);
    one_dispatch(&work);
    end(&work);
}

static void listed_commands(void)
{
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:MTLIndirectCommandTypeConcurrentDispatch];
    [descriptor setInheritBuffers:NO];
    [descriptor setInheritPipelineState:NO];
    [descriptor setMaxKernelBufferBindCount:1];
    id<MTLIndirectCommandBuffer> list = [[app.device newIndirectCommandBufferWithDescriptor:descriptor
                                                                            maxCommandCount:4
                                                                                    options:0] autorelease];
    for (NSUInteger i = 0; i < 4; i++) {
        id<MTLIndirectComputeCommand> command = [list indirectComputeCommandAtIndex:i];
        [command setComputePipelineState:app.listed.state];
        [command setKernelBuffer:app.data offset:0 atIndex:0];
        [command setBarrier];
        [command concurrentDispatchThreadgroups:MTLSizeMake(2, 1, 1)
                          threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
    }
    struct work work = begin(0, @"listed");
    work_compute(&work);
    use(&work, &app.listed);
    work_threads(&work, MTLSizeMake(64, 1, 1), MTLSizeMake(32, 1, 1));
    [work.compute executeCommandsInBuffer:list withRange:NSMakeRange(1, 3)];
    [work.compute executeCommandsInBuffer:list withRange:NSMakeRange(0, 1)];
    work.executes = 2;
    work.executed = 4;
    work_end_encoder(&work);
    end(&work);
}

static void enqueued_one_way_committed_the_other(void)
{
    struct work first = begin(0, @"enqueued first"), second = begin(0, @"enqueued second");
    work_enqueue(&first);
    work_enqueue(&second);
    one_dispatch(&second);
    work_commit(&second);
    one_dispatch(&first);
    work_commit(&first);
    work_wait(&second);
    work_wait(&second);
    work_print(&first);
    work_print(&second);
}

static void handlers(void)
{
    __block volatile int ran = 0;
    struct work work = begin(1, @"with handlers");
    one_dispatch(&work);
    [work.buffer addScheduledHandler:^(id<MTLCommandBuffer> buffer) {
        ran += buffer == work.buffer ? 1 : 1000;
    }];
    for (int i = 0; i < 2; i++)
        [work.buffer addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
            ran += buffer == work.buffer ? 10 : 1000;
        }];
    work.handlers = 3;
    work_commit(&work);
    [work.buffer waitUntilScheduled];
    work.waits_scheduled++;
    work_wait(&work);
    printf("{\"handlers_ran\":%d}\n", ran);
    work_print(&work);
}

static void events_between_queues(void)
{
    id<MTLSharedEvent> shared = [[app.device newSharedEvent] autorelease];
    id<MTLEvent> event = [[app.device newEvent] autorelease];
    struct work first = begin(0, @"signals"), second = begin(1, @"waits");
    [second.buffer encodeWaitForEvent:event value:1];
    [second.buffer encodeWaitForEvent:shared value:3];
    second.event_waits = 2;
    one_dispatch(&second);
    [second.buffer encodeSignalEvent:shared value:4];
    second.event_signals = 1;
    work_commit(&second);
    one_dispatch(&first);
    [first.buffer encodeSignalEvent:event value:1];
    [first.buffer encodeSignalEvent:shared value:3];
    first.event_signals = 2;
    work_commit(&first);
    bool came = [shared waitUntilSignaledValue:4 timeoutMS:60000];
    bool late = [shared waitUntilSignaledValue:9 timeoutMS:1];
    printf("{\"shared_event_waits\":[4,9],\"came\":[%d,%d]}\n", came, late);
    work_wait(&first);
    work_wait(&second);
    work_print(&first);
    work_print(&second);
}

static void dropped(void)
{
    @autoreleasepool {
        struct work nothing = begin(0, @"dropped"), encoded = begin(2, @"dropped with work");
        one_dispatch(&encoded);
        nothing.end = encoded.end = "dropped";
        work_print(&nothing);
        work_print(&encoded);
    }
}

// ---- names that are hard to print ----
static void hard_names(void)
{
    NSString *names[] = {
        @"quotes \" ' and \\ backslash",
        @"lines\nand\ttabs\r\nand \x01 \x1b[31m",
        @"<script>alert('&amp;')</script>",
        [NSString
            stringWithFormat:@"\U0001f600 \u00e4\u00f6 \u65e5\u672c\u8a9e %C right to left", (unichar)0x202e],
        [@"" stringByPaddingToLength:65536 withString:@"a long name, " startingAtIndex:0],
        @"%s%n%d {\"json\":1}",
        @"",
        @" ",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct work work = begin((unsigned)i % QUEUES, names[i]);
        work_push(&work, names[i]);
        work_compute(&work);
        work_encoder_label(&work, names[i]);
        use(&work, &app.rope);
        work_threads(&work, MTLSizeMake(1 + i, 1, 1), MTLSizeMake(1, 1, 1));
        work_end_encoder(&work);
        work_pop(&work);
        end(&work);
    }
}

static void buffers_and_heaps(void)
{
    MTLHeapDescriptor *descriptor = [[[MTLHeapDescriptor alloc] init] autorelease];
    [descriptor setSize:1 << 20];
    [descriptor setStorageMode:MTLStorageModeShared];
    id<MTLHeap> heap = [app.device newHeapWithDescriptor:descriptor];
    id<MTLBuffer> inside = [heap newBufferWithLength:4096 options:MTLResourceStorageModeShared];
    printf("{\"heap_bytes\":%lu,\"heap_buffer_bytes\":%lu}\n", (unsigned long)[heap currentAllocatedSize],
           (unsigned long)[inside allocatedSize]);
    [inside release];
    [heap release];
}

int main(int argc, char **argv)
{
    @autoreleasepool {
        app.device = MTLCreateSystemDefaultDevice();
        app.data = [app.device newBufferWithLength:FLOATS * sizeof(float) options:0];
        app.other = [app.device newBufferWithLength:FLOATS * sizeof(float) options:0];
        make_queues();
        id<MTLLibrary> library = make_libraries([NSString stringWithUTF8String:argc > 1 ? argv[1] : "."]);
        make_plain_pipelines(library);
        make_special_pipelines(library);
        make_described_pipelines(library);
        all_forms_of_dispatch();
        concurrent_with_barriers();
        copies_and_fences();
        groups_in_groups();
        listed_commands();
        enqueued_one_way_committed_the_other();
        handlers();
        events_between_queues();
        dropped();
        hard_names();
        buffers_and_heaps();
        struct work empty = begin(2, nil);
        end(&empty);
        const struct kernel *kernels[] = {&app.rope, &app.norm, &app.attention, &app.softmax, &app.listed};
        for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
            [kernels[i]->state release];
        for (int i = 0; i < QUEUES; i++)
            [app.queues[i] release];
        [app.data release];
        [app.other release];
        [app.device release];
    }
    return 0;
}
