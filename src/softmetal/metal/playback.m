// SPDX-License-Identifier: MIT
// Executes a recorded command list: dispatches on the executor, copies, counter samples, events. Runs on the
// queue's thread, one command buffer at a time. After a fault the rest of the buffer is skipped; only its
// events are still signalled, so that nobody waits for ever.
#import "metal/submission.h"

#import "metal/execution_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct playback {
    SMGPUCommandBuffer *buffer;
    SMGPUCommandQueue *queue;
    sm_encoder *encoder;
    bool encoder_started; // its first command has begun
    unsigned dispatch;    // in the encoder
    bool logs;
    sm_launch launch;
    sm_playback_result result;
} playback;

// ---- kernels ----
static sm_playback_result compile_failure(const char *name, char *log)
{
    NSString *text = log ? [NSString stringWithFormat:@"Internal Error: %s", log]
                         : [NSString stringWithFormat:@"Internal Error: no kernel for function %s", name];
    free(log);
    return (sm_playback_result){.code = MTLCommandBufferErrorInternal, .text = text};
}

sm_playback_result sm_playback_prepare(sm_commands *list)
{
    for (sm_pipeline_use *use = list->first_use; use; use = use->next) {
        if (!use->is_dispatched)
            continue;
        char *log = NULL;
        use->kernel = sm_pipeline_kernel(use->pipeline, &log);
        if (!use->kernel)
            return compile_failure(use->name, log);
    }
    return (sm_playback_result){0};
}

// ---- dispatches ----
static void bind_all(sm_launch *launch, const sm_bindings *bindings)
{
    const sm_binding *buffer = bindings->buffer;
    memset(launch->buffer, 0, sizeof launch->buffer);
    for (uint32_t mask = bindings->buffer_mask; mask; mask &= mask - 1)
        launch->buffer[__builtin_ctz(mask)] = *buffer++;
    const uint32_t *bytes = bindings->threadgroup_bytes;
    memset(launch->threadgroup_bytes, 0, sizeof launch->threadgroup_bytes);
    for (uint32_t mask = bindings->threadgroup_mask; mask; mask &= mask - 1)
        launch->threadgroup_bytes[__builtin_ctz(mask)] = *bytes++;
}

// The encoder could not check this: how much memory the kernel itself declares is known once it is compiled.
static void check_threadgroup_memory(const playback *play, uint32_t dynamic)
{
    uint32_t fixed = play->launch.kernel->static_threadgroup_bytes;
    if (dynamic + fixed > SM_MAX_THREADGROUP_BYTES)
        sm_fail_metal(class_getName(play->queue->family.compute_encoder),
                      @selector(dispatchThreadgroups:threadsPerThreadgroup:), __LINE__,
                      "(threadgroup memory length(%u) + static threadgroup memory of %s(%u)) must be <= %u",
                      dynamic, play->launch.kernel_name, fixed, SM_MAX_THREADGROUP_BYTES);
}

static void fault(playback *play, int error, const sm_fault *fault)
{
    static const struct {
        int error;
        NSInteger code;
        const char *text;
    } kinds[] = {{-ETIMEDOUT, MTLCommandBufferErrorTimeout, "Caused GPU Timeout Error"},
                 {-EFAULT, MTLCommandBufferErrorPageFault, "Caused GPU Address Fault Error"},
                 {-ENOMEM, MTLCommandBufferErrorOutOfMemory, "Insufficient Memory"},
                 {0, MTLCommandBufferErrorInternal, "Internal Error"}};
    unsigned kind = 0;
    while (kinds[kind].error && kinds[kind].error != error)
        kind++;
    const char *text = fault->text[0] ? fault->text : strerror(-error);
    play->result.code = kinds[kind].code;
    play->result.text = [NSString stringWithFormat:@"%s: %s", kinds[kind].text, text];
    play->encoder->state = MTLCommandEncoderErrorStateFaulted;
}

static void log_dispatch(const playback *play, uint64_t start_ns)
{
    sm_execution_log_dispatch(&(sm_logged_dispatch){.queue = play->queue->number,
                                                    .command_buffer = play->buffer->number,
                                                    .encoder = play->encoder->index,
                                                    .dispatch = play->dispatch,
                                                    .kernel = play->launch.kernel_name,
                                                    .grid = play->launch.grid,
                                                    .group = play->launch.group_size,
                                                    .start_ns = start_ns,
                                                    .end_ns = sm_now_ns()});
}

// Runs what stands in play->launch, which has that much dynamic threadgroup memory.
static void launch(playback *play, uint32_t threadgroup_bytes)
{
    sm_fault reason;
    reason.text[0] = 0;
    check_threadgroup_memory(play, threadgroup_bytes);
    uint64_t start_ns = play->logs ? sm_now_ns() : 0;
    int error = sm_exec_run(&play->launch, &reason);
    if (play->logs)
        log_dispatch(play, start_ns);
    play->dispatch++;
    if (error)
        fault(play, error, &reason);
}

static void use_kernel(playback *play, const sm_pipeline_use *use)
{
    play->launch.kernel = use->kernel;
    play->launch.kernel_name = use->name;
}

static void play_dispatch(playback *play, const sm_dispatch_command *command)
{
    use_kernel(play, command->pipeline);
    bind_all(&play->launch, command->bindings);
    memcpy(play->launch.grid, command->grid, sizeof command->grid);
    memcpy(play->launch.group_size, command->group, sizeof command->group);
    launch(play, command->bindings->threadgroup_total);
}

static void invalid_arguments(playback *play, const char *what)
{
    play->result.code = MTLCommandBufferErrorInvalidResource;
    play->result.text = [NSString stringWithFormat:@"Invalid Resource: %s", what];
    play->encoder->state = MTLCommandEncoderErrorStateFaulted;
}

static void play_indirect_dispatch(playback *play, const sm_indirect_dispatch_command *command)
{
    use_kernel(play, command->pipeline);
    bind_all(&play->launch, command->bindings);
    bool is_empty = false;
    for (unsigned i = 0; i < 3; i++) {
        uint64_t threads = (uint64_t)command->groups[i] * command->group[i];
        if (threads > UINT32_MAX)
            return invalid_arguments(play, "the threadgroupsPerGrid in the indirect buffer are too large");
        play->launch.grid[i] = (uint32_t)threads;
        play->launch.group_size[i] = command->group[i];
        is_empty |= threads == 0;
    }
    if (!is_empty)
        launch(play, command->bindings->threadgroup_total);
}

// ---- indirect command buffers ----
static bool use_icb_kernel(playback *play, const sm_execute_command *execute,
                           const sm_indirect_command *command)
{
    if (sm_icb_inherits_pipeline(execute->icb) || !command->pipeline) {
        if (!execute->pipeline || !execute->pipeline->kernel) {
            invalid_arguments(play, "a command of the indirect command buffer has no pipeline");
            return false;
        }
        use_kernel(play, execute->pipeline);
        return true;
    }
    char *log = NULL;
    play->launch.kernel_name = [sm_pipeline_state_function_name(command->pipeline) UTF8String];
    play->launch.kernel = sm_pipeline_kernel(sm_pipeline_state_pipeline(command->pipeline), &log);
    if (play->launch.kernel)
        return true;
    uint64_t start_ns = play->result.start_ns;
    play->result = compile_failure(play->launch.kernel_name, log);
    play->result.start_ns = start_ns;
    return false;
}

static void play_icb_command(playback *play, const sm_execute_command *execute,
                             const sm_indirect_command *command)
{
    if (!command->is_set || !use_icb_kernel(play, execute, command))
        return;
    bind_all(&play->launch, execute->bindings);
    memcpy(play->launch.threadgroup_bytes, command->threadgroup_bytes, sizeof play->launch.threadgroup_bytes);
    if (!sm_icb_inherits_buffers(execute->icb))
        memcpy(play->launch.buffer, command->buffer, sizeof play->launch.buffer);
    const NSUInteger grid[3] = {command->grid.width, command->grid.height, command->grid.depth};
    const NSUInteger group[3] = {command->group.width, command->group.height, command->group.depth};
    uint32_t threadgroup_bytes = 0;
    for (unsigned i = 0; i < SM_MAX_BUFFERS; i++)
        threadgroup_bytes += command->threadgroup_bytes[i];
    for (unsigned i = 0; i < 3; i++) {
        play->launch.grid[i] = (uint32_t)(command->threads_form ? grid[i] : grid[i] * group[i]);
        play->launch.group_size[i] = (uint32_t)group[i];
    }
    launch(play, threadgroup_bytes);
}

static void play_execute(playback *play, const sm_execute_command *command)
{
    NSRange range = command->range;
    if (command->indirect_range) // in a buffer, read now
        range = NSMakeRange(command->indirect_range[0], command->indirect_range[1]);
    if (!sm_range_fits(range.location, range.length, sm_icb_size(command->icb)))
        return invalid_arguments(play,
                                 "the range in the indirect buffer is outside the indirect command buffer");
    for (NSUInteger i = 0; i < range.length && !play->result.code; i++)
        play_icb_command(play, command, sm_icb_command(command->icb, range.location + i));
}

// ---- encoders and their samples ----
static void sample(sm_attachment *attachment, NSUInteger index, uint64_t now_ns)
{
    if (index != MTLCounterDontSample)
        sm_counter_store(attachment->samples, index, now_ns);
}

// At the first command that does something: an encoder without work never lands its samples.
static void start_encoder(playback *play)
{
    sm_encoder *encoder = play->encoder;
    play->encoder_started = true;
    uint64_t now_ns = encoder->attachments ? sm_now_ns() : 0;
    for (uint32_t i = 0; i < encoder->attachments; i++)
        sample(&encoder->attachment[i], encoder->attachment[i].start, now_ns);
}

static void end_encoder(playback *play)
{
    sm_encoder *encoder = play->encoder;
    uint64_t now_ns = encoder->attachments ? sm_now_ns() : 0;
    for (uint32_t i = 0; i < encoder->attachments && play->encoder_started; i++)
        sample(&encoder->attachment[i], encoder->attachment[i].end, now_ns);
    encoder->state = MTLCommandEncoderErrorStateCompleted;
}

static void begin_encoder(playback *play, sm_encoder *encoder)
{
    play->encoder = encoder;
    play->encoder_started = false;
    play->dispatch = 0;
    encoder->state = MTLCommandEncoderErrorStateAffected;
}

// ---- the list ----
static void play_blit(const sm_command *command)
{
    const sm_copy_command *copy = (const sm_copy_command *)command;
    const sm_resolve_command *resolve = (const sm_resolve_command *)command;
    const sm_icb_command_range *icb = (const sm_icb_command_range *)command;
    switch (command->kind) {
    case SM_COMMAND_COPY:
        memmove(copy->destination, copy->source, copy->size);
        break;
    case SM_COMMAND_FILL:
        memset(copy->destination, copy->value, copy->size);
        break;
    case SM_COMMAND_RESOLVE:
        sm_counter_resolve(resolve->samples, resolve->range, resolve->destination);
        break;
    case SM_COMMAND_RESET_INDIRECT:
        [icb->icb resetWithRange:icb->range];
        break;
    default:
        sm_icb_copy(icb->icb, icb->range, icb->destination, icb->index);
        break;
    }
}

static void play_work(playback *play, sm_command *command)
{
    if (!play->encoder_started)
        start_encoder(play);
    if (command->kind == SM_COMMAND_DISPATCH)
        play_dispatch(play, (const sm_dispatch_command *)command);
    else if (command->kind == SM_COMMAND_DISPATCH_INDIRECT)
        play_indirect_dispatch(play, (const sm_indirect_dispatch_command *)command);
    else if (command->kind == SM_COMMAND_EXECUTE_INDIRECT)
        play_execute(play, (const sm_execute_command *)command);
    else
        play_blit(command);
}

static void play_command(playback *play, sm_command *command)
{
    const sm_event_command *event = (const sm_event_command *)command;
    const sm_sample_command *counter = (const sm_sample_command *)command;
    switch (command->kind) {
    case SM_COMMAND_BEGIN_ENCODER:
        begin_encoder(play, (sm_encoder *)command);
        break;
    case SM_COMMAND_END_ENCODER:
        end_encoder(play);
        break;
    case SM_COMMAND_SAMPLE:
        sm_counter_store(counter->samples, counter->index, sm_now_ns());
        break;
    case SM_COMMAND_WAIT_EVENT:
        sm_event_wait_on_gpu(event->event, event->value);
        break;
    case SM_COMMAND_SIGNAL_EVENT:
        sm_event_signal_on_gpu(event->event, event->value);
        break;
    case SM_COMMAND_PUSH_GROUP:
    case SM_COMMAND_POP_GROUP:
    case SM_COMMAND_SIGNPOST:
        break;
    default:
        play_work(play, command);
        break;
    }
}

// The GPU starts when the events at the front of the buffer are there.
static sm_command *wait_at_front(playback *play, sm_command *command)
{
    for (; command && command->kind == SM_COMMAND_WAIT_EVENT; command = command->next)
        play_command(play, command);
    play->result.start_ns = sm_now_ns();
    return command;
}

void sm_playback_signal_events(const sm_command *command)
{
    for (; command; command = command->next) {
        const sm_event_command *event = (const sm_event_command *)command;
        if (command->kind == SM_COMMAND_SIGNAL_EVENT)
            sm_event_signal_on_gpu(event->event, event->value);
    }
}

sm_playback_result sm_playback_run(sm_commands *list, SMGPUCommandBuffer *buffer)
{
    sm_encoder none = {0}; // until the first one begins
    playback play = {.buffer = buffer,
                     .encoder = &none,
                     .queue = (SMGPUCommandQueue *)[buffer commandQueue],
                     .logs = sm_execution_log_is_on(),
                     .launch = {.log = sm_log_function(), .log_context = buffer->log_state}};
    sm_command *command = wait_at_front(&play, list->first);
    for (; command && !play.result.code; command = command->next)
        play_command(&play, command);
    sm_playback_signal_events(command);
    return play.result;
}
