// SPDX-License-Identifier: MIT
// MTLComputePipelineState: a kernel on its way to machine code. Making one returns at once and a background
// thread compiles; whoever needs the code (a dispatch, reflection, a completion handler) waits. Called from
// any thread.
#import "metal/resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// What Metal's drivers put into the errors of pipeline creation.
static NSString *const compiler_error_domain = @"CompilerError";
enum { COMPILER_ERROR_FAILED = 2 };

@implementation SMComputePipelineState

- (instancetype)initWithFunction:(SMFunction *)function
                        pipeline:(sm_pipeline *)pipeline
                      descriptor:(MTLComputePipelineDescriptor *)descriptor
                      maxThreads:(NSUInteger)max_threads
{
    self = [super initWithDevice:[function device]];
    if (!self) {
        sm_pipeline_release(pipeline);
        return nil;
    }
    _function = [function retain];
    _pipeline = pipeline;
    _max_threads = max_threads;
    _support_indirect = [descriptor supportIndirectCommandBuffers];
    _shader_validation = [descriptor shaderValidation];
    _required_threads = [descriptor requiredThreadsPerThreadgroup];
    _resource_id = sm_next_resource_id();
    [self setLabel:[descriptor label]];
    return self;
}

- (void)dealloc
{
    sm_pipeline_release(_pipeline);
    [_function release];
    [super dealloc];
}

- (sm_pipeline *)pipeline
{
    return _pipeline;
}

- (SMFunction *)function
{
    return _function;
}

- (NSUInteger)maxTotalThreadsPerThreadgroup
{
    return _max_threads;
}

- (NSUInteger)threadExecutionWidth
{
    return SM_LANES;
}

- (NSUInteger)staticThreadgroupMemoryLength
{
    const sm_kernel *kernel = sm_wait_for_kernel(_pipeline, NULL);
    return kernel ? kernel->static_threadgroup_bytes : 0;
}

- (NSUInteger)imageblockMemoryLengthForDimensions:(MTLSize)dimensions
{
    (void)dimensions;
    return 0;
}

- (BOOL)supportIndirectCommandBuffers
{
    return _support_indirect;
}

- (MTLShaderValidation)shaderValidation
{
    return _shader_validation;
}

- (MTLSize)requiredThreadsPerThreadgroup
{
    return _required_threads;
}

- (MTLResourceID)gpuResourceID
{
    return (MTLResourceID){_resource_id};
}

- (NSUInteger)allocatedSize
{
    return 0;
}

@end

@implementation SoftG1ComputePipeline
@end

@implementation SoftR1ComputePipeline
@end

static SMComputePipelineState *innermost(id<MTLComputePipelineState> state)
{
    Class exact = object_getClass(state);
    if (exact == [SoftG1ComputePipeline class] || exact == [SoftR1ComputePipeline class])
        return (SMComputePipelineState *)state;
    return sm_debug_innermost(state);
}

sm_pipeline *sm_pipeline_state_pipeline(id<MTLComputePipelineState> state)
{
    return [innermost(state) pipeline];
}

NSString *sm_pipeline_state_function_name(id<MTLComputePipelineState> state)
{
    return [[innermost(state) function] name];
}

NSString *sm_pipeline_state_source(id<MTLComputePipelineState> state)
{
    SMFunction *function = [innermost(state) function];
    return function ? [NSString stringWithUTF8String:sm_library_source(function->owner->library)] : nil;
}

static NSError *compiler_error(char *log)
{
    NSString *text = log ? [NSString stringWithUTF8String:log] : @"Compiler encountered an internal error";
    free(log);
    return sm_error(compiler_error_domain, COMPILER_ERROR_FAILED, text);
}

const sm_kernel *sm_wait_for_kernel(sm_pipeline *pipeline, NSError **error)
{
    char *log = NULL;
    const sm_kernel *kernel = sm_pipeline_kernel(pipeline, &log);
    if (!kernel && error)
        *error = compiler_error(log);
    else
        free(log);
    return kernel;
}

// The smallest of what the device can do and what function, library and descriptor allow.
static NSUInteger thread_limit(SMFunction *function, MTLComputePipelineDescriptor *descriptor)
{
    NSUInteger limits[] = {function->function->max_threads, [function->owner maxThreads],
                           [descriptor maxTotalThreadsPerThreadgroup]};
    NSUInteger limit = SM_MAX_THREADS;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i] && limits[i] < limit)
            limit = limits[i];
    return limit;
}

static NSString *descriptor_fault(SMFunction *function, MTLComputePipelineDescriptor *descriptor)
{
    NSUInteger wanted = [descriptor maxTotalThreadsPerThreadgroup];
    if (wanted > SM_MAX_THREADS)
        return [NSString stringWithFormat:@"maxTotalThreadsPerThreadgroup (%lu) must be <= %d",
                                          (unsigned long)wanted, SM_MAX_THREADS];
    // A function that was taken without values can still be whole: it may need none.
    return [function constantFault];
}

@implementation SMDevice (ComputePipelines)

- (SMComputePipelineState *)newPipelineForFunction:(SMFunction *)function
                                        descriptor:(MTLComputePipelineDescriptor *)descriptor
                                             error:(NSError **)error
{
    NSString *fault = descriptor_fault(function, descriptor);
    if (fault) {
        if (error)
            *error = sm_error(compiler_error_domain, COMPILER_ERROR_FAILED, fault);
        return nil;
    }
    sm_pipeline *pipeline = NULL;
    char *log = NULL;
    int rc = sm_pipeline_create(function->owner->library, function->function, function->values,
                                function->value_count, &pipeline, &log);
    if (rc < 0) {
        NSError *why = compiler_error(log);
        if (error)
            *error = why;
        return nil;
    }
    free(log);
    Class class = sm_get_settings()->profile == SM_PROFILE_APPLE ? [SoftG1ComputePipeline class]
                                                                 : [SoftR1ComputePipeline class];
    return [[class alloc] initWithFunction:function
                                  pipeline:pipeline
                                descriptor:descriptor
                                maxThreads:thread_limit(function, descriptor)];
}

// Both forms end here. Reflection needs the compiled kernel, so asking for it waits.
- (SMComputePipelineState *)newPipelineForFunction:(SMFunction *)function
                                        descriptor:(MTLComputePipelineDescriptor *)descriptor
                                           options:(MTLPipelineOption)options
                                        reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                             error:(NSError **)error
{
    if (error)
        *error = nil;
    if (reflection)
        *reflection = nil;
    SMComputePipelineState *state = [self newPipelineForFunction:function descriptor:descriptor error:error];
    if (!state || !reflection ||
        !(options & (MTLPipelineOptionArgumentInfo | MTLPipelineOptionBufferTypeInfo)))
        return state;
    const sm_kernel *kernel = sm_wait_for_kernel([state pipeline], error);
    if (!kernel) {
        [state release];
        return nil;
    }
    *reflection = [[[MTLComputePipelineReflection alloc] initWithFunction:function->function
                                                                   kernel:kernel] autorelease];
    return state;
}

- (id<MTLComputePipelineState>)
    newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                options:(MTLPipelineOption)options
                             reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                  error:(NSError **)error
{
    sm_assert_metal(function != nil, "computeFunction must not be nil.");
    return [self newPipelineForFunction:(SMFunction *)function
                             descriptor:nil
                                options:options
                             reflection:reflection
                                  error:error];
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError **)error
{
    sm_assert_metal(function != nil, "computeFunction must not be nil.");
    return [self newPipelineForFunction:(SMFunction *)function
                             descriptor:nil
                                options:MTLPipelineOptionNone
                             reflection:NULL
                                  error:error];
}

- (id<MTLComputePipelineState>)
    newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                  options:(MTLPipelineOption)options
                               reflection:(MTLAutoreleasedComputePipelineReflection *)reflection
                                    error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    sm_assert_metal([descriptor computeFunction] != nil, "computeFunction must not be nil.");
    return [self newPipelineForFunction:(SMFunction *)[descriptor computeFunction]
                             descriptor:descriptor
                                options:options
                             reflection:reflection
                                  error:error];
}

typedef struct pipeline_call {
    SMDevice *device;
    MTLComputePipelineDescriptor *descriptor;
    MTLPipelineOption options;
    MTLNewComputePipelineStateCompletionHandler handler;
    MTLNewComputePipelineStateWithReflectionCompletionHandler reflection_handler;
} pipeline_call;

// A handler gets a pipeline that is compiled, or the reason why it cannot be.
static void run_pipeline_call(void *context)
{
    pipeline_call *call = context;
    NSError *error = nil;
    MTLComputePipelineReflection *reflection = nil;
    SMComputePipelineState *state =
        [call->device newPipelineForFunction:(SMFunction *)[call->descriptor computeFunction]
                                  descriptor:call->descriptor
                                     options:call->options
                                  reflection:&reflection
                                       error:&error];
    SMComputePipelineState *usable = state && sm_wait_for_kernel([state pipeline], &error) ? state : nil;
    if (call->handler) {
        call->handler(usable, error);
        Block_release(call->handler);
    } else {
        call->reflection_handler(usable, reflection, error);
        Block_release(call->reflection_handler);
    }
    [state release];
    [call->device release];
    [call->descriptor release];
    free(call);
}

- (pipeline_call *)callFor:(MTLComputePipelineDescriptor *)descriptor options:(MTLPipelineOption)options
{
    pipeline_call *call = calloc(1, sizeof *call);
    if (!call)
        return NULL;
    *call = (pipeline_call){.device = [self retain], .descriptor = [descriptor copy], .options = options};
    return call;
}

- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)handler
{
    sm_assert_metal(function != nil, "computeFunction must not be nil.");
    sm_assert_metal(handler != nil, "completionHandler must not be nil.");
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    [descriptor setComputeFunction:function];
    pipeline_call *call = [self callFor:descriptor options:MTLPipelineOptionNone];
    if (!call)
        return;
    call->handler = Block_copy(handler);
    sm_run_async(run_pipeline_call, call);
}

- (void)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                      options:(MTLPipelineOption)options
                            completionHandler:
                                (MTLNewComputePipelineStateWithReflectionCompletionHandler)handler
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    sm_assert_metal([descriptor computeFunction] != nil, "computeFunction must not be nil.");
    sm_assert_metal(handler != nil, "completionHandler must not be nil.");
    pipeline_call *call = [self callFor:descriptor options:options];
    if (!call)
        return;
    call->reflection_handler = Block_copy(handler);
    sm_run_async(run_pipeline_call, call);
}

- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                    options:(MTLPipelineOption)options
                          completionHandler:(MTLNewComputePipelineStateWithReflectionCompletionHandler)handler
{
    sm_assert_metal(function != nil, "computeFunction must not be nil.");
    MTLComputePipelineDescriptor *descriptor = [[[MTLComputePipelineDescriptor alloc] init] autorelease];
    [descriptor setComputeFunction:function];
    [self newComputePipelineStateWithDescriptor:descriptor options:options completionHandler:handler];
}

@end
