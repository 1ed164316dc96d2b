// SPDX-License-Identifier: MIT
// Two queues, eight threads that encode at once, 10,000 command buffers (or as many as the first argument
// says). Every command buffer changes numbers of its thread in a way that depends on all before it; at the
// end one thread works out the same numbers and compares them exactly. Prints how many command buffers and
// dispatches there were.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, QUEUES = 2, WORDS = 128, GROUP = 32, MAX_LETTERS = 2000 };

static const char source[] =
    "#include <metal_stdlib>\n"
    "using namespace metal;\n"
    "struct task { uint seed, round; };\n"
    "kernel void stir(device uint *state [[buffer(0)]], constant task &s [[buffer(1)]],\n"
    "                device atomic_uint *total [[buffer(2)]], uint i [[thread_position_in_grid]])\n"
    "{\n"
    "    state[i] = (state[i] ^ s.seed) * 0x9e3779b1u + i + s.round;\n"
    "    if (i == 0)\n"
    "        atomic_fetch_add_explicit(total, 1u, memory_order_relaxed);\n"
    "}\n"
    "kernel void turn(const device uint *from [[buffer(0)]], device uint *to [[buffer(1)]],\n"
    "                 uint i [[thread_position_in_grid]], uint n [[threads_per_grid]])\n"
    "{\n"
    "    to[i] = to[i] * 3 + from[(i + 1) % n];\n"
    "}\n"
    "kernel void plan(device uint *groups [[buffer(0)]], constant task &s [[buffer(1)]])\n"
    "{\n"
    "    groups[0] = 1 + s.round % 4;\n"
    "    groups[1] = groups[2] = 1;\n"
    "}\n"
    "kernel void count(device uint *state [[buffer(0)]], uint i [[thread_position_in_grid]])\n"
    "{\n"
    "    state[i] += 5;\n"
    "}\n"
    "kernel void fold(device uint *state [[buffer(0)]], threadgroup uint *copy [[threadgroup(0)]],\n"
    "                 uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]])\n"
    "{\n"
    "    copy[i] = state[i];\n"
    "    uint sum = simd_sum(state[i]);\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    "    state[i] = copy[(i * 7 + 3) % n] ^ sum;\n"
    "}\n";

enum { STIR, TURN, PLAN, COUNT, FOLD, KERNELS };
static const char *const kernel_names[KERNELS] = {"stir", "turn", "plan", "count", "fold"};

typedef struct task {
    uint32_t seed, round;
} task;

// One encoding thread: what it works on, and what it did.
typedef struct worker {
    unsigned number;
    id<MTLCommandQueue> queue;
    id<MTLBuffer> state, other, groups;
    id<MTLBuffer> mail;         // of this thread and its neighbour on the other queue
    id<MTLSharedEvent> arrived; // letters in it
    unsigned rounds, buffers, dispatches, stirs, letters;
    _Atomic unsigned scheduled, completed;
    unsigned handlers;
    id<MTLCommandBuffer> last;
    pthread_t thread;
} worker;

static id<MTLDevice> device;
static id<MTLComputePipelineState> pipelines[KERNELS];
static id<MTLBuffer> total;
static unsigned buffers_each = 10000 / THREADS;
static worker workers[THREADS];

static task task_of(unsigned number, unsigned round)
{
    return (task){number * 7919 + round * 31, round};
}

// ---- encoding ----
static void dispatch(worker *w, id<MTLComputeCommandEncoder> encoder, int kernel, NSUInteger threads,
                     NSUInteger group)
{
    [encoder setComputePipelineState:pipelines[kernel]];
    [encoder dispatchThreads:MTLSizeMake(threads, 1, 1) threadsPerThreadgroup:MTLSizeMake(group, 1, 1)];
    w->dispatches++;
}

static void encode_stir(worker *w, id<MTLComputeCommandEncoder> encoder, id<MTLBuffer> target)
{
    task s = task_of(w->number, w->rounds);
    [encoder setBuffer:target offset:0 atIndex:0];
    [encoder setBytes:&s length:sizeof s atIndex:1];
    [encoder setBuffer:total offset:0 atIndex:2];
    dispatch(w, encoder, STIR, WORDS, GROUP);
    w->stirs++;
}

static void encode_turn(worker *w, id<MTLComputeCommandEncoder> encoder)
{
    [encoder setBuffer:w->state offset:0 atIndex:0];
    [encoder setBuffer:w->other offset:0 atIndex:1];
    dispatch(w, encoder, TURN, WORDS, GROUP);
}

static id<MTLCommandBuffer> new_buffer(worker *w)
{
    w->buffers++;
    return w->buffers % 3 ? [w->queue commandBuffer] : [w->queue commandBufferWithUnretainedReferences];
}

static void commit(worker *w, id<MTLCommandBuffer> buffer)
{
    [buffer commit];
    [w->last release];
    w->last = [buffer retain];
}

static void serial(worker *w)
{
    id<MTLCommandBuffer> buffer = new_buffer(w);
    id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
    encode_stir(w, encoder, w->state);
    encode_turn(w, encoder);
    [encoder endEncoding];
    commit(w, buffer);
}

static void concurrent(worker *w)
{
    id<MTLCommandBuffer> buffer = new_buffer(w);
    id<MTLComputeCommandEncoder> encoder =
        [buffer computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    encode_stir(w, encoder, w->state);
    encode_stir(w, encoder, w->other);
    [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
    encode_turn(w, encoder);
    [encoder endEncoding];
    commit(w, buffer);
    [buffer waitUntilCompleted];
}

static void blits(worker *w)
{
    id<MTLCommandBuffer> buffer = new_buffer(w);
    id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];
    [blit copyFromBuffer:w->state
             sourceOffset:0
                 toBuffer:w->other
        destinationOffset:WORDS * 2
                     size:WORDS * 2];
    [blit fillBuffer:w->state range:NSMakeRange(0, WORDS) value:(uint8_t)w->rounds];
    [blit endEncoding];
    id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
    encode_turn(w, encoder);
    [encoder endEncoding];
    commit(w, buffer);
}

static void indirect(worker *w)
{
    id<MTLCommandBuffer> buffer = new_buffer(w);
    id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
    task s = task_of(w->number, w->rounds);
    [encoder setBuffer:w->groups offset:0 atIndex:0];
    [encoder setBytes:&s length:sizeof s atIndex:1];
    dispatch(w, encoder, PLAN, 1, 1);
    [encoder endEncoding];
    encoder = [buffer computeCommandEncoder];
    [encoder setComputePipelineState:pipelines[COUNT]];
    [encoder setBuffer:w->state offset:0 atIndex:0];
    [encoder dispatchThreadgroupsWithIndirectBuffer:w->groups
                               indirectBufferOffset:0
                              threadsPerThreadgroup:MTLSizeMake(GROUP, 1, 1)];
    w->dispatches++;
    [encoder endEncoding];
    commit(w, buffer);
}

static void folding(worker *w)
{
    id<MTLCommandBuffer> buffer = new_buffer(w);
    id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
    [encoder setBuffer:w->state offset:0 atIndex:0];
    [encoder setThreadgroupMemoryLength:WORDS * 4 atIndex:0];
    dispatch(w, encoder, FOLD, WORDS, WORDS);
    [encoder endEncoding];
    commit(w, buffer);
}

// Encoded and committed in the wrong order, executed in the order of enqueue.
static void reversed(worker *w)
{
    id<MTLCommandBuffer> first = new_buffer(w), second = new_buffer(w);
    [first enqueue];
    [second enqueue];
    id<MTLComputeCommandEncoder> encoder = [second computeCommandEncoder];
    encode_turn(w, encoder);
    [encoder endEncoding];
    commit(w, second);
    encoder = [first computeCommandEncoder];
    encode_stir(w, encoder, w->state);
    [encoder endEncoding];
    [first commit];
}

static void handlers(worker *w)
{
    id<MTLCommandBuffer> buffer = new_buffer(w);
    [buffer addScheduledHandler:^(id<MTLCommandBuffer> done) {
        (void)done;
        w->scheduled++;
    }];
    [buffer addCompletedHandler:^(id<MTLCommandBuffer> done) {
        w->completed += [done status] == MTLCommandBufferStatusCompleted;
    }];
    w->handlers++;
    id<MTLComputeCommandEncoder> encoder = [buffer computeCommandEncoder];
    encode_stir(w, encoder, w->other);
    [encoder endEncoding];
    commit(w, buffer);
}

// From a thread on the one queue to its neighbour on the other: never back, which could wait in a circle.
static void letter(worker *w)
{
    const NSUInteger bytes = WORDS * 4, at = w->letters++ * bytes;
    bool is_sender = w->number % 2 == 0;
    id<MTLCommandBuffer> buffer = new_buffer(w);
    if (!is_sender)
        [buffer encodeWaitForEvent:w->arrived value:w->letters];
    id<MTLBlitCommandEncoder> blit = [buffer blitCommandEncoder];
    [blit copyFromBuffer:is_sender ? w->state : w->mail
             sourceOffset:is_sender ? 0 : at
                 toBuffer:is_sender ? w->mail : w->other
        destinationOffset:is_sender ? at : 0
                     size:bytes];
    [blit endEncoding];
    if (is_sender)
        [buffer encodeSignalEvent:w->arrived value:w->letters];
    commit(w, buffer);
    if (w->letters % 20 == 0)
        [w->arrived waitUntilSignaledValue:w->letters timeoutMS:600000];
}

// ---- the same on the CPU ----
typedef struct model {
    uint32_t state[WORDS], other[WORDS];
    unsigned letters;
} model;

static uint32_t mail[THREADS / 2][MAX_LETTERS][WORDS];

static void model_stir(uint32_t *values, unsigned number, unsigned round)
{
    task s = task_of(number, round);
    for (uint32_t i = 0; i < WORDS; i++)
        values[i] = (values[i] ^ s.seed) * 0x9e3779b1u + i + s.round;
}

static void model_turn(model *m)
{
    for (unsigned i = 0; i < WORDS; i++)
        m->other[i] = m->other[i] * 3 + m->state[(i + 1) % WORDS];
}

static void model_serial(model *m, unsigned number, unsigned round)
{
    model_stir(m->state, number, round);
    model_turn(m);
}

static void model_concurrent(model *m, unsigned number, unsigned round)
{
    model_stir(m->state, number, round);
    model_stir(m->other, number, round);
    model_turn(m);
}

static void model_blits(model *m, unsigned number, unsigned round)
{
    (void)number;
    memcpy((char *)m->other + WORDS * 2, m->state, WORDS * 2);
    memset(m->state, (uint8_t)round, WORDS);
    model_turn(m);
}

static void model_indirect(model *m, unsigned number, unsigned round)
{
    (void)number;
    for (unsigned i = 0; i < (1 + round % 4) * GROUP; i++)
        m->state[i] += 5;
}

static void model_folding(model *m, unsigned number, unsigned round)
{
    (void)number;
    (void)round;
    uint32_t copy[WORDS], sum[WORDS / 32] = {0};
    memcpy(copy, m->state, sizeof copy);
    for (unsigned i = 0; i < WORDS; i++)
        sum[i / 32] += copy[i];
    for (unsigned i = 0; i < WORDS; i++)
        m->state[i] = copy[(i * 7 + 3) % WORDS] ^ sum[i / 32];
}

static void model_handlers(model *m, unsigned number, unsigned round)
{
    model_stir(m->other, number, round);
}

static void model_letter(model *m, unsigned number, unsigned round)
{
    (void)round;
    uint32_t *text = mail[number / 2][m->letters++];
    if (number % 2 == 0)
        memcpy(text, m->state, sizeof m->state);
    else
        memcpy(m->other, text, sizeof m->other);
}

// ---- a round of each kind in turn ----
typedef struct kind {
    void (*encode)(worker *w);
    void (*model)(model *m, unsigned number, unsigned round);
    unsigned buffers;
} kind;

static const kind kinds[] = {{serial, model_serial, 1},     {concurrent, model_concurrent, 1},
                             {blits, model_blits, 1},       {indirect, model_indirect, 1},
                             {folding, model_folding, 1},   {reversed, model_serial, 2},
                             {handlers, model_handlers, 1}, {letter, model_letter, 1}};

static const kind *kind_of(unsigned round, unsigned buffers_left)
{
    const kind *wanted = &kinds[round % (sizeof kinds / sizeof *kinds)];
    return wanted->buffers <= buffers_left ? wanted : &kinds[0];
}

static void *thread_main(void *argument)
{
    worker *w = argument;
    while (w->buffers < buffers_each) {
        @autoreleasepool {
            kind_of(w->rounds, buffers_each - w->buffers)->encode(w);
            w->rounds++;
        }
    }
    @autoreleasepool {
        [w->last waitUntilCompleted];
    }
    return NULL;
}

static int check(const worker *w)
{
    model m = {0};
    unsigned round = 0, made = 0;
    while (made < buffers_each) {
        const kind *now = kind_of(round, buffers_each - made);
        now->model(&m, w->number, round++);
        made += now->buffers;
    }
    int wrong = memcmp(m.state, [w->state contents], sizeof m.state) != 0 ||
                memcmp(m.other, [w->other contents], sizeof m.other) != 0;
    wrong += w->completed != w->handlers || w->scheduled != w->handlers;
    wrong += [w->last status] != MTLCommandBufferStatusCompleted;
    if (wrong)
        printf("thread %u: wrong (handlers %u, scheduled %u, completed %u)\n", w->number, w->handlers,
               (unsigned)w->scheduled, (unsigned)w->completed);
    return wrong;
}

// ---- the program ----
static void make_pipelines(void)
{
    NSError *error = nil;
    id<MTLLibrary> library = [device newLibraryWithSource:[NSString stringWithUTF8String:source]
                                                  options:nil
                                                    error:&error];
    for (int i = 0; i < KERNELS; i++) {
        id<MTLFunction> function =
            [library newFunctionWithName:[NSString stringWithUTF8String:kernel_names[i]]];
        pipelines[i] = function ? [device newComputePipelineStateWithFunction:function error:&error] : nil;
        if (!pipelines[i]) {
            fprintf(stderr, "%s\n", [[error localizedDescription] UTF8String]);
            exit(1);
        }
        [function release];
    }
    [library release];
}

static void make_workers(id<MTLCommandQueue> *queues)
{
    for (unsigned i = 0; i < THREADS; i++) {
        worker *w = &workers[i];
        w->number = i;
        w->queue = queues[i % QUEUES];
        w->state = [device newBufferWithLength:WORDS * 4 options:MTLResourceStorageModeShared];
        w->other = [device newBufferWithLength:WORDS * 4 options:MTLResourceStorageModeShared];
        w->groups = [device newBufferWithLength:16 options:MTLResourceStorageModeShared];
        w->mail = i % 2 ? workers[i - 1].mail
                        : [device newBufferWithLength:MAX_LETTERS * WORDS * 4
                                              options:MTLResourceStorageModePrivate];
        w->arrived = i % 2 ? workers[i - 1].arrived : [device newSharedEvent];
    }
}

static void release_all(id<MTLCommandQueue> *queues)
{
    for (unsigned i = 0; i < THREADS; i++) {
        worker *w = &workers[i];
        [w->state release];
        [w->other release];
        [w->groups release];
        [w->last release];
        if (i % 2 == 0) {
            [w->mail release];
            [w->arrived release];
        }
    }
    for (int i = 0; i < KERNELS; i++)
        [pipelines[i] release];
    for (int i = 0; i < QUEUES; i++)
        [queues[i] release];
    [total release];
}

// All that was committed before it is done, handlers too, when this returns.
static void drain(id<MTLCommandQueue> queue)
{
    id<MTLCommandBuffer> last = [queue commandBuffer];
    [last commit];
    [last waitUntilCompleted];
}

int main(int argc, char **argv)
{
    int wrong = 0;
    unsigned buffers = QUEUES, dispatches = 0, stirs = 0;
    buffers_each = argc > 1 ? (unsigned)atoi(argv[1]) / THREADS : buffers_each;
    if (buffers_each > 9 * MAX_LETTERS) { // one in nine is a letter
        fprintf(stderr, "at most %d command buffers\n", 9 * MAX_LETTERS * THREADS);
        return 2;
    }
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        make_pipelines();
        id<MTLCommandQueue> queues[QUEUES] = {[device newCommandQueue],
                                              [device newCommandQueueWithMaxCommandBufferCount:16]};
        total = [device newBufferWithLength:4 options:MTLResourceStorageModeShared];
        make_workers(queues);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_create(&workers[i].thread, NULL, thread_main, &workers[i]);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(workers[i].thread, NULL);
        for (unsigned i = 0; i < QUEUES; i++)
            drain(queues[i]);
        for (unsigned i = 0; i < THREADS; i++) {
            wrong += check(&workers[i]);
            buffers += workers[i].buffers;
            dispatches += workers[i].dispatches;
            stirs += workers[i].stirs;
        }
        wrong += *(uint32_t *)[total contents] != stirs;
        release_all(queues);
    }
    printf("command buffers: %u, dispatches: %u, wrong: %d\n", buffers, dispatches, wrong);
    return wrong != 0;
}
