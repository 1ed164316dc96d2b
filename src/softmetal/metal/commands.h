// SPDX-License-Identifier: MIT
// The list of commands that a command buffer records: plain structs in an arena, no object per dispatch.
// Written by the thread that encodes, read once by the queue's thread (playback.m), then freed. Commands
// never own anything themselves: what has to stay alive is in the list's references.
#ifndef SOFTMETAL_METAL_COMMANDS_H
#define SOFTMETAL_METAL_COMMANDS_H

#import "metal/internal.h"

typedef struct sm_chunk sm_chunk;

// A pipeline as the command buffer knows it, once per buffer: all that a dispatch needs without a message
// send.
typedef struct sm_pipeline_use {
    struct sm_pipeline_use *next;
    id<MTLComputePipelineState> state;
    sm_pipeline *pipeline;
    const char *name;
    NSUInteger max_threads;
    bool is_dispatched;
    const sm_kernel *kernel; // found when the buffer is scheduled
} sm_pipeline_use;

typedef enum sm_command_kind {
    SM_COMMAND_DISPATCH,
    SM_COMMAND_DISPATCH_INDIRECT,
    SM_COMMAND_EXECUTE_INDIRECT, // indirect command buffer, range given or read from a buffer
    SM_COMMAND_COPY,
    SM_COMMAND_FILL,
    SM_COMMAND_RESOLVE,
    SM_COMMAND_RESET_INDIRECT,
    SM_COMMAND_COPY_INDIRECT,
    SM_COMMAND_SAMPLE,
    SM_COMMAND_WAIT_EVENT,
    SM_COMMAND_SIGNAL_EVENT,
    SM_COMMAND_BEGIN_ENCODER,
    SM_COMMAND_END_ENCODER,
    SM_COMMAND_PUSH_GROUP,
    SM_COMMAND_POP_GROUP,
    SM_COMMAND_SIGNPOST,
} sm_command_kind;

typedef struct sm_command {
    struct sm_command *next;
    sm_command_kind kind;
} sm_command;

// What is bound at a dispatch. Consecutive dispatches with the same bindings share one. The arrays have one
// entry per bit that is set in the mask, lowest bit first.
typedef struct sm_bindings {
    uint32_t buffer_mask, threadgroup_mask;
    sm_binding *buffer;
    uint32_t *threadgroup_bytes;
    uint32_t threadgroup_total;
} sm_bindings;

typedef struct sm_dispatch_command {
    sm_command head;
    bool threads_form; // dispatchThreads:, told in the description only; grid is in threads in any case
    sm_pipeline_use *pipeline;
    const sm_bindings *bindings;
    uint32_t grid[3], group[3];
} sm_dispatch_command;

typedef struct sm_indirect_dispatch_command {
    sm_command head;
    sm_pipeline_use *pipeline;
    const sm_bindings *bindings;
    const uint32_t *groups; // MTLDispatchThreadgroupsIndirectArguments in a buffer
    uint32_t group[3];
} sm_indirect_dispatch_command;

typedef struct sm_execute_command {
    sm_command head;
    id<MTLIndirectCommandBuffer> icb;
    sm_pipeline_use *pipeline;   // inherited by the commands, may be NULL
    const sm_bindings *bindings; // inherited by the commands
    NSRange range;
    const uint32_t *indirect_range; // MTLIndirectCommandBufferExecutionRange in a buffer, or NULL
} sm_execute_command;

typedef struct sm_copy_command {
    sm_command head;
    void *destination;
    const void *source; // COPY
    size_t size;
    uint8_t value; // FILL
} sm_copy_command;

typedef struct sm_resolve_command {
    sm_command head;
    id<MTLCounterSampleBuffer> samples;
    NSRange range;
    void *destination;
} sm_resolve_command;

typedef struct sm_icb_command_range {
    sm_command head;
    id<MTLIndirectCommandBuffer> icb;
    NSRange range;
    id<MTLIndirectCommandBuffer> destination; // COPY_INDIRECT
    NSUInteger index;
} sm_icb_command_range;

typedef struct sm_sample_command {
    sm_command head;
    id<MTLCounterSampleBuffer> samples;
    NSUInteger index;
} sm_sample_command;

typedef struct sm_event_command {
    sm_command head;
    id<MTLEvent> event;
    uint64_t value;
} sm_event_command;

typedef struct sm_text_command {
    sm_command head;
    const char *text;
} sm_text_command;

#define SM_MAX_ATTACHMENTS 4
typedef struct sm_attachment {
    id<MTLCounterSampleBuffer> samples; // nil: unused
    NSUInteger start, end;              // MTLCounterDontSample: not wanted
} sm_attachment;

typedef enum sm_encoder_type { SM_ENCODER_COMPUTE, SM_ENCODER_BLIT } sm_encoder_type;

// One encoder of the command buffer; SM_COMMAND_BEGIN_ENCODER and the record of its whole.
typedef struct sm_encoder {
    sm_command head;
    struct sm_encoder *next;
    sm_encoder_type type;
    MTLDispatchType dispatch_type;
    const char *label; // set when it ends; NULL if none
    uint32_t index;
    uint32_t work; // commands that do something on the GPU
    uint32_t attachments;
    sm_attachment attachment[SM_MAX_ATTACHMENTS];
    MTLCommandEncoderErrorState state; // written by playback
} sm_encoder;

typedef struct sm_reference {
    id object;
    sm_pipeline_use *use; // if it is a pipeline
} sm_reference;

typedef struct sm_commands {
    bool retains; // false: commandBufferWithUnretainedReferences
    sm_chunk *chunk;
    char *free_start, *free_end;
    sm_command *first, **link;
    sm_encoder *first_encoder, **encoder_link;
    uint32_t encoder_count;
    sm_pipeline_use *first_use, **use_link;
    sm_reference *reference; // open addressing, a power of two
    size_t reference_count, reference_capacity;
} sm_commands;

void sm_commands_init(sm_commands *list, bool retains);
void sm_commands_free(sm_commands *list); // releases the references; the list is empty after it

void *sm_commands_alloc(sm_commands *list, size_t size);                     // aligned to 16, not cleared
void *sm_commands_add(sm_commands *list, sm_command_kind kind, size_t size); // cleared behind its head
void sm_commands_add_text(sm_commands *list, sm_command_kind kind, NSString *text);
const char *sm_commands_text(sm_commands *list, NSString *text); // NULL for nil
sm_encoder *sm_commands_begin_encoder(sm_commands *list, sm_encoder_type type);
// Keeps an object alive as long as the list, once, unless the references are unretained.
void sm_commands_keep(sm_commands *list, id object);
sm_pipeline_use *sm_commands_use(sm_commands *list, id<MTLComputePipelineState> state);

#endif
