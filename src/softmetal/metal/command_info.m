// SPDX-License-Identifier: MIT
// What a command buffer tells about its commands: the error with the state of each encoder, and the
// description that a capture stores. Reads the recorded list; never changes it.
#import "metal/submission.h"

// ---- errors ----
@interface SMCommandBufferEncoderInfo : NSObject<MTLCommandBufferEncoderInfo> {
    NSString *_label;
    NSArray *_debugSignposts;
    MTLCommandEncoderErrorState _errorState;
}
@end

@implementation SMCommandBufferEncoderInfo

@synthesize label = _label, debugSignposts = _debugSignposts, errorState = _errorState;

- (instancetype)initWithEncoder:(const sm_encoder *)encoder
{
    self = [super init];
    if (!self)
        return nil;
    _label = [[NSString alloc] initWithUTF8String:encoder->label ? encoder->label : ""];
    _errorState = encoder->state;
    NSMutableArray *signposts = [NSMutableArray new];
    for (const sm_command *c = encoder->head.next; c && c->kind != SM_COMMAND_END_ENCODER; c = c->next)
        if (c->kind == SM_COMMAND_SIGNPOST)
            [signposts addObject:[NSString stringWithUTF8String:((const sm_text_command *)c)->text]];
    _debugSignposts = signposts;
    return self;
}

- (void)dealloc
{
    [_label release];
    [_debugSignposts release];
    [super dealloc];
}

- (NSString *)description
{
    static const char *const state[] = {"unknown", "completed", "affected", "pending", "faulted"};
    return [NSString stringWithFormat:@"%@: %s", _label, state[_errorState]];
}

@end

static NSArray *encoder_infos(const sm_commands *list)
{
    NSMutableArray *infos = [NSMutableArray array];
    for (const sm_encoder *encoder = list->first_encoder; encoder; encoder = encoder->next) {
        SMCommandBufferEncoderInfo *info = [[SMCommandBufferEncoderInfo alloc] initWithEncoder:encoder];
        [infos addObject:info];
        [info release];
    }
    return infos;
}

NSError *sm_playback_error(const sm_commands *list, const sm_playback_result *result,
                           MTLCommandBufferErrorOption options)
{
    if (!(options & MTLCommandBufferErrorOptionEncoderExecutionStatus))
        return sm_error(MTLCommandBufferErrorDomain, result->code, result->text);
    NSDictionary *info = [NSDictionary dictionaryWithObjectsAndKeys:result->text, NSLocalizedDescriptionKey,
                                                                    encoder_infos(list),
                                                                    MTLCommandBufferEncoderInfoErrorKey, nil];
    return [NSError errorWithDomain:MTLCommandBufferErrorDomain code:result->code userInfo:info];
}

// ---- descriptions ----
static NSString *text(const char *utf8)
{
    return [NSString stringWithUTF8String:utf8 ? utf8 : ""];
}

static NSArray *size(const uint32_t *value)
{
    return [NSArray arrayWithObjects:[NSNumber numberWithUnsignedInt:value[0]],
                                     [NSNumber numberWithUnsignedInt:value[1]],
                                     [NSNumber numberWithUnsignedInt:value[2]], nil];
}

static NSMutableDictionary *describe_bindings(NSString *form, const sm_pipeline_use *use,
                                              const sm_bindings *bindings)
{
    NSMutableArray *indices = [NSMutableArray array];
    for (uint32_t mask = bindings->buffer_mask; mask; mask &= mask - 1)
        [indices addObject:[NSNumber numberWithInt:__builtin_ctz(mask)]];
    unsigned bytes = 0;
    for (int i = 0; i < __builtin_popcount(bindings->threadgroup_mask); i++)
        bytes += bindings->threadgroup_bytes[i];
    return [NSMutableDictionary dictionaryWithObjectsAndKeys:form, @"form", text(use ? use->name : NULL),
                                                             @"kernel", indices, @"buffers",
                                                             [NSNumber numberWithUnsignedInt:bytes],
                                                             @"threadgroup_memory", nil];
}

static NSMutableDictionary *describe_dispatch(const sm_command *command)
{
    const sm_dispatch_command *direct = (const sm_dispatch_command *)command;
    const sm_indirect_dispatch_command *indirect = (const sm_indirect_dispatch_command *)command;
    const sm_execute_command *execute = (const sm_execute_command *)command;
    NSMutableDictionary *entry;
    switch (command->kind) {
    case SM_COMMAND_DISPATCH:
        entry = describe_bindings(direct->threads_form ? @"threads" : @"threadgroups", direct->pipeline,
                                  direct->bindings);
        [entry setObject:size(direct->grid) forKey:@"grid"];
        [entry setObject:size(direct->group) forKey:@"threadgroup"];
        return entry;
    case SM_COMMAND_DISPATCH_INDIRECT:
        entry = describe_bindings(@"indirect", indirect->pipeline, indirect->bindings);
        [entry setObject:size(indirect->group) forKey:@"threadgroup"];
        return entry;
    case SM_COMMAND_EXECUTE_INDIRECT:
        return describe_bindings(@"indirect command buffer", execute->pipeline, execute->bindings);
    default:
        return nil;
    }
}

// Tracks the debug groups that are open where a command stands.
static void follow_groups(NSMutableArray *groups, const sm_command *command)
{
    if (command->kind == SM_COMMAND_PUSH_GROUP)
        [groups addObject:text(((const sm_text_command *)command)->text)];
    else if (command->kind == SM_COMMAND_POP_GROUP && [groups count])
        [groups removeLastObject];
}

static NSDictionary *describe_encoder(const sm_encoder *encoder, NSArray *dispatches)
{
    BOOL is_compute = encoder->type == SM_ENCODER_COMPUTE;
    return [NSDictionary
        dictionaryWithObjectsAndKeys:is_compute ? @"compute" : @"blit", @"type", text(encoder->label),
                                     @"label",
                                     encoder->dispatch_type == MTLDispatchTypeConcurrent ? @"concurrent"
                                                                                         : @"serial",
                                     @"dispatch_type", [NSNumber numberWithUnsignedInt:encoder->work],
                                     @"commands", dispatches, @"dispatches", nil];
}

NSDictionary *sm_command_buffer_description(id<MTLCommandBuffer> command_buffer)
{
    SMGPUCommandBuffer *buffer = sm_debug_innermost(command_buffer);
    NSString *label = [buffer label], *queue = [[buffer commandQueue] label];
    NSMutableArray *encoders = [NSMutableArray array], *groups = [NSMutableArray array], *dispatches = nil;
    for (const sm_command *c = [buffer commands]->first; c; c = c->next) {
        follow_groups(groups, c);
        if (c->kind == SM_COMMAND_BEGIN_ENCODER) {
            dispatches = [NSMutableArray array];
            [encoders addObject:describe_encoder((const sm_encoder *)c, dispatches)];
        }
        NSMutableDictionary *dispatch = describe_dispatch(c);
        if ([groups count])
            [dispatch setObject:[groups componentsJoinedByString:@"/"] forKey:@"group"];
        if (dispatch)
            [dispatches addObject:dispatch];
    }
    return [NSDictionary dictionaryWithObjectsAndKeys:label ? label : @"", @"label", queue ? queue : @"",
                                                      @"queue", encoders, @"encoders", nil];
}

static void add_icb_pipelines(NSMutableSet *set, const sm_execute_command *command)
{
    for (NSUInteger i = 0; i < sm_icb_size(command->icb); i++) {
        id<MTLComputePipelineState> state = sm_icb_command(command->icb, i)->pipeline;
        if (state)
            [set addObject:state];
    }
}

NSSet *sm_command_buffer_pipelines(id<MTLCommandBuffer> command_buffer)
{
    sm_commands *list = [(SMGPUCommandBuffer *)sm_debug_innermost(command_buffer) commands];
    NSMutableSet *set = [NSMutableSet set];
    for (const sm_pipeline_use *use = list->first_use; use; use = use->next)
        if (use->is_dispatched)
            [set addObject:use->state];
    for (const sm_command *c = list->first; c; c = c->next)
        if (c->kind == SM_COMMAND_EXECUTE_INDIRECT)
            add_icb_pipelines(set, (const sm_execute_command *)c);
    return set;
}
