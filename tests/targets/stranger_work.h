// SPDX-License-Identifier: MIT
// A command buffer with the words about it: each function makes one Metal call and notes what it did. What is
// noted becomes one line of JSON per command buffer. One thread at a time may use one struct work.
#ifndef STRANGER_WORK_H
#define STRANGER_WORK_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "targets/stranger_said.h"

enum { MOST_GROUPS = 16 };

struct kernel {
    id<MTLComputePipelineState> state;
    const char *name;
};

struct work {
    id<MTLCommandBuffer> buffer;
    id<MTLComputeCommandEncoder> compute; // the one that is open, or nil
    id<MTLBlitCommandEncoder> blit;
    NSString *label;
    const char *flags, *end;
    struct said encoders;
    unsigned number, queue;
    bool enqueued, barrier;
    unsigned handlers, waits_completed, waits_scheduled, event_waits, event_signals;
    // of the open encoder
    const char *kernel;
    NSString *encoder_label;
    NSUInteger threadgroup_bytes[4];
    unsigned barriers, fence_waits, fence_updates, signposts, executes, executed, blits;
    uint64_t blit_bytes;
    NSString *groups[MOST_GROUPS]; // the command buffer's, then the encoder's
    unsigned group_count;
};

// ---- words ----
static inline void say_string(struct said *said, NSString *string)
{
    NSUInteger length = [string length];
    unichar *units = malloc((length + 1) * sizeof *units);
    [string getCharacters:units range:NSMakeRange(0, length)];
    said_units(said, length ? units : NULL, length); // an empty label is none
    free(units);
}

static inline void say_groups(struct work *work)
{
    said_open(&work->encoders, "[");
    for (unsigned i = 0; i < work->group_count; i++)
        say_string(&work->encoders, work->groups[i]);
    said_close(&work->encoders, "]");
}

static inline void say_size(struct said *said, MTLSize size)
{
    said_three(said, size.width, size.height, size.depth);
}

// Everything about a command buffer; the last thing that is done with it.
static inline void work_say(struct work *work, struct said *line)
{
    said_open(line, "{");
    said_key_number(line, "command_buffer", work->number);
    said_key_number(line, "queue", work->queue);
    said_key(line, "label");
    say_string(line, work->label);
    said_key_text(line, "end", work->end ? work->end : "completed");
    said_key_text(line, "flags", work->flags ? work->flags : "");
    said_key_number(line, "enqueued", work->enqueued);
    said_key_number(line, "handlers", work->handlers);
    said_key_number(line, "waits_completed", work->waits_completed);
    said_key_number(line, "waits_scheduled", work->waits_scheduled);
    said_key_number(line, "event_waits", work->event_waits);
    said_key_number(line, "event_signals", work->event_signals);
    said_key(line, "encoders");
    said_open(line, "[");
    if (work->encoders.length)
        said_raw(line, work->encoders.text, work->encoders.length);
    said_close(line, "]");
    said_close(line, "}");
    free(work->encoders.text);
    [work->buffer release];
    work->buffer = nil;
}

static inline void work_print(struct work *work)
{
    struct said line = {0};
    work_say(work, &line);
    said_print(&line);
}

// ---- command buffers ----
static inline struct work work_on(id<MTLCommandBuffer> buffer, unsigned queue, unsigned number)
{
    return (struct work){.buffer = [buffer retain], .queue = queue, .number = number};
}

static inline void work_label(struct work *work, NSString *label)
{
    [work->buffer setLabel:label];
    work->label = label;
}

static inline void work_enqueue(struct work *work)
{
    [work->buffer enqueue];
    work->enqueued = true;
}

static inline void work_commit(struct work *work)
{
    [work->buffer commit];
}

static inline void work_wait(struct work *work)
{
    [work->buffer waitUntilCompleted];
    work->waits_completed++;
}

static inline void work_push(struct work *work, NSString *group)
{
    if (work->compute)
        [work->compute pushDebugGroup:group];
    else if (work->blit)
        [work->blit pushDebugGroup:group];
    else
        [work->buffer pushDebugGroup:group];
    work->groups[work->group_count++] = group;
}

static inline void work_pop(struct work *work)
{
    if (work->compute)
        [work->compute popDebugGroup];
    else if (work->blit)
        [work->blit popDebugGroup];
    else
        [work->buffer popDebugGroup];
    work->group_count--;
}

// ---- encoders ----
static inline void begin_encoder(struct work *work, const char *kind, const char *form, const char *type)
{
    said_open(&work->encoders, "{");
    said_key_text(&work->encoders, "kind", kind);
    said_key_text(&work->encoders, "form", form);
    said_key_text(&work->encoders, "dispatch_type", type);
    said_key(&work->encoders, "group");
    say_groups(work);
    said_key(&work->encoders, "dispatches");
    said_open(&work->encoders, "[");
    work->kernel = NULL;
    work->encoder_label = nil;
    work->barrier = false;
    work->barriers = work->fence_waits = work->fence_updates = work->signposts = 0;
    work->executes = work->executed = work->blits = 0;
    work->blit_bytes = 0;
    memset(work->threadgroup_bytes, 0, sizeof work->threadgroup_bytes);
}

static inline void work_compute(struct work *work)
{
    begin_encoder(work, "compute", "plain", "serial");
    work->compute = [[work->buffer computeCommandEncoder] retain];
}

static inline void work_compute_typed(struct work *work, MTLDispatchType type)
{
    begin_encoder(work, "compute", "dispatch_type", type == MTLDispatchTypeSerial ? "serial" : "concurrent");
    work->compute = [[work->buffer computeCommandEncoderWithDispatchType:type] retain];
}

static inline void work_compute_described(struct work *work, MTLDispatchType type)
{
    begin_encoder(work, "compute", "descriptor", type == MTLDispatchTypeSerial ? "serial" : "concurrent");
    MTLComputePassDescriptor *descriptor = [MTLComputePassDescriptor computePassDescriptor];
    [descriptor setDispatchType:type];
    work->compute = [[work->buffer computeCommandEncoderWithDescriptor:descriptor] retain];
}

static inline void work_blit(struct work *work, bool described)
{
    begin_encoder(work, "blit", described ? "descriptor" : "plain", "serial");
    work->blit =
        described ? [work->buffer blitCommandEncoderWithDescriptor:[MTLBlitPassDescriptor blitPassDescriptor]]
                  : [work->buffer blitCommandEncoder];
    [work->blit retain];
}

static inline void work_encoder_label(struct work *work, NSString *label)
{
    [work->compute setLabel:label];
    [work->blit setLabel:label];
    work->encoder_label = label;
}

static inline void work_end_encoder(struct work *work)
{
    struct said *said = &work->encoders;
    [work->compute endEncoding];
    [work->blit endEncoding];
    [work->compute release];
    [work->blit release];
    work->compute = nil;
    work->blit = nil;
    said_close(said, "]");
    said_key(said, "label");
    say_string(said, work->encoder_label);
    said_key_number(said, "barriers", work->barriers);
    said_key_number(said, "fence_waits", work->fence_waits);
    said_key_number(said, "fence_updates", work->fence_updates);
    said_key_number(said, "signposts", work->signposts);
    said_key_number(said, "indirect_executes", work->executes);
    said_key_number(said, "executed", work->executed);
    said_key_number(said, "blits", work->blits);
    said_key_number(said, "blit_bytes", work->blit_bytes);
    said_close(said, "}");
}

// ---- compute ----
static inline void work_pipeline(struct work *work, const struct kernel *kernel)
{
    [work->compute setComputePipelineState:kernel->state];
    work->kernel = kernel->name;
}

static inline void work_threadgroup_memory(struct work *work, NSUInteger bytes, NSUInteger index)
{
    [work->compute setThreadgroupMemoryLength:bytes atIndex:index];
    work->threadgroup_bytes[index] = bytes;
}

// kernel, form, grid (of an indirect dispatch: what the buffer will say), threadgroup, memory, barrier, group
static inline void say_dispatch(struct work *work, const char *form, MTLSize grid, MTLSize threads)
{
    struct said *said = &work->encoders;
    NSUInteger bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += work->threadgroup_bytes[i];
    said_open(said, "[");
    said_text(said, work->kernel);
    said_text(said, form);
    say_size(said, grid);
    say_size(said, threads);
    said_number(said, bytes);
    said_number(said, work->barrier);
    say_groups(work);
    said_close(said, "]");
    work->barrier = false;
}

static inline void work_threadgroups(struct work *work, MTLSize groups, MTLSize threads)
{
    [work->compute dispatchThreadgroups:groups threadsPerThreadgroup:threads];
    say_dispatch(work, "threadgroups", groups, threads);
}

static inline void work_threads(struct work *work, MTLSize grid, MTLSize threads)
{
    [work->compute dispatchThreads:grid threadsPerThreadgroup:threads];
    say_dispatch(work, "threads", grid, threads);
}

static inline void work_barrier(struct work *work)
{
    [work->compute memoryBarrierWithScope:MTLBarrierScopeBuffers];
    work->barrier = true;
    work->barriers++;
}

#endif
