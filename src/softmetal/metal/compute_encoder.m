// SPDX-License-Identifier: MIT
// Compute encoders: bind state, check each dispatch by Metal's rules, record it. Runs on the thread that
// encodes. A dispatch costs no message send, no lock and, beyond the arena, no allocation. Concurrent
// encoders record the same list: playback runs their dispatches one after the other, which is one of the
// orders they allow.
#import "metal/submission.h"

#include <string.h>

enum { MAX_BYTES = 4096, THREADGROUP_ALIGNMENT = 16 };

@implementation SMGPUComputeEncoder

- (instancetype)initWithBuffer:(SMGPUCommandBuffer *)buffer dispatchType:(MTLDispatchType)type
{
    self = [super initWithBuffer:buffer type:SM_ENCODER_COMPUTE];
    if (self)
        _record->dispatch_type = _dispatch_type = type;
    return self;
}

- (MTLDispatchType)dispatchType
{
    return _dispatch_type;
}

- (void)setComputePipelineState:(id<MTLComputePipelineState>)state
{
    sm_assert_encoding();
    sm_assert_metal(state, "computePipelineState must not be nil");
    if (!_pipeline || _pipeline->state != state)
        _pipeline = sm_commands_use(_commands, state);
}

// ---- buffers ----
static void bind_at(SMGPUComputeEncoder *self, sm_binding binding, NSUInteger offset, NSUInteger index)
{
    self->_buffers[index] = binding;
    self->_offsets[index] = offset;
    self->_buffer_mask |= 1u << index;
    self->_bindings = NULL;
}

- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index
{
    sm_assert_encoding();
    sm_assert_metal(index < SM_MAX_BUFFERS, "index (%lu) must be < 31", (unsigned long)index);
    if (!buffer) {
        _buffer_mask &= ~(1u << index);
        _bindings = NULL;
        return;
    }
    sm_binding binding = sm_buffer_binding(buffer, 0);
    sm_assert_metal(offset < binding.length, "offset (%lu) must be < [buffer length] (%lu)",
                    (unsigned long)offset, (unsigned long)binding.length);
    sm_commands_keep(_commands, buffer);
    bind_at(self, binding, offset, index);
}

- (void)setBufferOffset:(NSUInteger)offset atIndex:(NSUInteger)index
{
    sm_assert_encoding();
    sm_assert_metal(index < SM_MAX_BUFFERS, "index (%lu) must be < 31", (unsigned long)index);
    sm_assert_metal(_buffer_mask >> index & 1, "no buffer is set at index (%lu)", (unsigned long)index);
    sm_assert_metal(offset < _buffers[index].length, "offset (%lu) must be < [buffer length] (%lu)",
                    (unsigned long)offset, (unsigned long)_buffers[index].length);
    _offsets[index] = offset;
    _bindings = NULL;
}

- (void)setBuffers:(id<MTLBuffer> const *)buffers offsets:(const NSUInteger *)offsets withRange:(NSRange)range
{
    sm_assert_encoding();
    sm_assert_metal(sm_range_fits(range.location, range.length, SM_MAX_BUFFERS),
                    "range {%lu, %lu} must be inside {0, 31}", (unsigned long)range.location,
                    (unsigned long)range.length);
    for (NSUInteger i = 0; i < range.length; i++)
        [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
}

- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index
{
    sm_assert_encoding();
    sm_assert_metal(bytes, "bytes must not be NULL");
    sm_assert_metal(index < SM_MAX_BUFFERS, "index (%lu) must be < 31", (unsigned long)index);
    sm_assert_metal(length > 0 && length <= MAX_BYTES, "length (%lu) must be > 0 and <= 4096",
                    (unsigned long)length);
    void *copy = sm_commands_alloc(_commands, length);
    memcpy(copy, bytes, length);
    bind_at(self, (sm_binding){copy, length}, 0, index);
}

- (void)setThreadgroupMemoryLength:(NSUInteger)length atIndex:(NSUInteger)index
{
    sm_assert_encoding();
    sm_assert_metal(index < SM_MAX_BUFFERS, "index (%lu) must be < 31", (unsigned long)index);
    sm_assert_metal(length % THREADGROUP_ALIGNMENT == 0, "length (%lu) must be a multiple of 16 bytes",
                    (unsigned long)length);
    sm_assert_metal(length <= SM_MAX_THREADGROUP_BYTES, "length (%lu) must be <= 32768",
                    (unsigned long)length);
    _threadgroup_bytes[index] = (uint32_t)length;
    if (length)
        _threadgroup_mask |= 1u << index;
    else
        _threadgroup_mask &= ~(1u << index);
    _bindings = NULL;
}

// ---- textures and images: there are none, so nothing but nil can be bound ----
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index
{
    (void)index;
    sm_assert_encoding();
    sm_assert_metal(!texture, "softmetal has no textures");
}

- (void)setTextures:(id<MTLTexture> const *)textures withRange:(NSRange)range
{
    for (NSUInteger i = 0; i < range.length; i++)
        [self setTexture:textures[i] atIndex:range.location + i];
}

- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index
{
    (void)index;
    sm_assert_encoding();
    sm_assert_metal(!sampler, "softmetal has no samplers");
}

- (void)setSamplerStates:(id<MTLSamplerState> const *)samplers withRange:(NSRange)range
{
    for (NSUInteger i = 0; i < range.length; i++)
        [self setSamplerState:samplers[i] atIndex:range.location + i];
}

- (void)setSamplerState:(id<MTLSamplerState>)sampler
            lodMinClamp:(float)min
            lodMaxClamp:(float)max
                atIndex:(NSUInteger)index
{
    (void)min, (void)max;
    [self setSamplerState:sampler atIndex:index];
}

- (void)setSamplerStates:(id<MTLSamplerState> const *)samplers
            lodMinClamps:(const float *)mins
            lodMaxClamps:(const float *)maxs
               withRange:(NSRange)range
{
    (void)mins, (void)maxs;
    [self setSamplerStates:samplers withRange:range];
}

// ---- residency ----
- (void)useResource:(id<MTLResource>)resource usage:(MTLResourceUsage)usage
{
    (void)usage;
    sm_assert_encoding();
    sm_assert_metal(resource, "resource must not be nil");
    sm_commands_keep(_commands, resource);
}

- (void)useResources:(id<MTLResource> const *)resources count:(NSUInteger)count usage:(MTLResourceUsage)usage
{
    for (NSUInteger i = 0; i < count; i++)
        [self useResource:resources[i] usage:usage];
}

- (void)useHeap:(id<MTLHeap>)heap
{
    sm_assert_encoding();
    sm_assert_metal(heap, "heap must not be nil");
    sm_commands_keep(_commands, heap);
}

- (void)useHeaps:(id<MTLHeap> const *)heaps count:(NSUInteger)count
{
    for (NSUInteger i = 0; i < count; i++)
        [self useHeap:heaps[i]];
}

// ---- barriers: dispatches run one after the other ----
- (void)memoryBarrierWithScope:(MTLBarrierScope)scope
{
    (void)scope;
    sm_assert_encoding();
}

- (void)memoryBarrierWithResources:(id<MTLResource> const *)resources count:(NSUInteger)count
{
    (void)resources, (void)count;
    sm_assert_encoding();
}

- (void)sampleCountersInBuffer:(id<MTLCounterSampleBuffer>)samples
                 atSampleIndex:(NSUInteger)index
                   withBarrier:(BOOL)barrier
{
    (void)barrier;
    [self addSample:samples at:index supported:[(SMDevice *)[self device] samplesAtDispatchBoundary]];
}

// ---- dispatches ----
static uint32_t copy_buffers(SMGPUComputeEncoder *self, sm_binding *out)
{
    uint32_t count = 0;
    for (uint32_t mask = self->_buffer_mask; mask; mask &= mask - 1) {
        unsigned i = (unsigned)__builtin_ctz(mask);
        NSUInteger offset = self->_offsets[i];
        out[count++] =
            (sm_binding){(char *)self->_buffers[i].address + offset, self->_buffers[i].length - offset};
    }
    return count;
}

static uint32_t copy_threadgroup_lengths(SMGPUComputeEncoder *self, uint32_t *out)
{
    uint32_t total = 0;
    for (uint32_t mask = self->_threadgroup_mask; mask; mask &= mask - 1) {
        *out = self->_threadgroup_bytes[__builtin_ctz(mask)];
        total += *out++;
    }
    return total;
}

// What is bound now, as a record that later dispatches share until something else is bound.
static const sm_bindings *bindings(SMGPUComputeEncoder *self, SEL selector)
{
    if (self->_bindings)
        return self->_bindings;
    size_t buffers = (size_t)__builtin_popcount(self->_buffer_mask);
    size_t threadgroups = (size_t)__builtin_popcount(self->_threadgroup_mask);
    sm_bindings *new = sm_commands_alloc(self->_commands, sizeof *new + buffers * sizeof *new->buffer +
                                                              threadgroups * sizeof *new->threadgroup_bytes);
    new->buffer_mask = self->_buffer_mask;
    new->threadgroup_mask = self->_threadgroup_mask;
    new->buffer = (sm_binding *)(new + 1);
    new->threadgroup_bytes = (uint32_t *)(new->buffer + buffers);
    copy_buffers(self, new->buffer);
    new->threadgroup_total = copy_threadgroup_lengths(self, new->threadgroup_bytes);
    sm_assert_metal_as(selector, new->threadgroup_total <= SM_MAX_THREADGROUP_BYTES,
                       "total threadgroup memory length (%u) must be <= 32768", new->threadgroup_total);
    return self->_bindings = new;
}

static void check_group(SMGPUComputeEncoder *self, SEL selector, MTLSize group)
{
    sm_assert_metal_as(selector, !self->_ended, "encoder has already ended: endEncoding was called");
    sm_assert_metal_as(selector, self->_pipeline, "computePipelineState must be set before dispatch");
    sm_assert_metal_as(selector, group.width && group.height && group.depth,
                       "threadsPerThreadgroup (%lu, %lu, %lu): every component must be > 0",
                       (unsigned long)group.width, (unsigned long)group.height, (unsigned long)group.depth);
    NSUInteger limit = self->_pipeline->max_threads;
    // Each component first: the product of three large ones would wrap around.
    bool fits = group.width <= limit && group.height <= limit && group.depth <= limit &&
                group.width * group.height * group.depth <= limit;
    sm_assert_metal_as(
        selector, fits,
        "(threadsPerThreadgroup.width(%lu) * threadsPerThreadgroup.height(%lu) * "
        "threadsPerThreadgroup.depth(%lu))(%lu) must be <= %lu. (kernel threadgroup size limit)",
        (unsigned long)group.width, (unsigned long)group.height, (unsigned long)group.depth,
        (unsigned long)(group.width * group.height * group.depth), (unsigned long)limit);
}

static void check_grid(SMGPUComputeEncoder *self, SEL selector, const char *name, MTLSize grid, MTLSize unit)
{
    sm_assert_metal_as(selector, grid.width && grid.height && grid.depth,
                       "%s (%lu, %lu, %lu): every component must be > 0", name, (unsigned long)grid.width,
                       (unsigned long)grid.height, (unsigned long)grid.depth);
    bool fits = grid.width <= UINT32_MAX / unit.width && grid.height <= UINT32_MAX / unit.height &&
                grid.depth <= UINT32_MAX / unit.depth;
    sm_assert_metal_as(selector, fits,
                       "%s (%lu, %lu, %lu): the grid has more than 2^32 - 1 threads in one direction", name,
                       (unsigned long)grid.width, (unsigned long)grid.height, (unsigned long)grid.depth);
}

static sm_dispatch_command *add_dispatch(SMGPUComputeEncoder *self, SEL selector, MTLSize grid, MTLSize unit,
                                         MTLSize group)
{
    const sm_bindings *bound = bindings(self, selector);
    sm_dispatch_command *command = sm_commands_add(self->_commands, SM_COMMAND_DISPATCH, sizeof *command);
    command->pipeline = self->_pipeline;
    command->bindings = bound;
    command->grid[0] = (uint32_t)(grid.width * unit.width);
    command->grid[1] = (uint32_t)(grid.height * unit.height);
    command->grid[2] = (uint32_t)(grid.depth * unit.depth);
    command->group[0] = (uint32_t)group.width;
    command->group[1] = (uint32_t)group.height;
    command->group[2] = (uint32_t)group.depth;
    self->_pipeline->is_dispatched = true;
    self->_record->work++;
    return command;
}

- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)group
{
    check_group(self, _cmd, group);
    check_grid(self, _cmd, "threadgroupsPerGrid", groups, group);
    add_dispatch(self, _cmd, groups, group, group);
}

- (void)dispatchThreads:(MTLSize)threads threadsPerThreadgroup:(MTLSize)group
{
    MTLSize unit = {1, 1, 1};
    check_group(self, _cmd, group);
    check_grid(self, _cmd, "threadsPerGrid", threads, unit);
    add_dispatch(self, _cmd, threads, unit, group)->threads_form = true;
}

// Arguments that the GPU reads from a buffer when it gets there.
static const uint32_t *indirect_arguments(SMGPUComputeEncoder *self, SEL selector, id<MTLBuffer> buffer,
                                          NSUInteger offset, NSUInteger size)
{
    sm_assert_metal_as(selector, buffer, "indirectBuffer must not be nil");
    sm_assert_metal_as(selector, offset % 4 == 0, "indirectBufferOffset (%lu) must be a multiple of 4",
                       (unsigned long)offset);
    sm_binding binding = sm_buffer_binding(buffer, 0);
    sm_assert_metal_as(selector, sm_range_fits(offset, size, binding.length),
                       "indirectBufferOffset (%lu) + %lu must be <= [indirectBuffer length] (%lu)",
                       (unsigned long)offset, (unsigned long)size, (unsigned long)binding.length);
    sm_commands_keep(self->_commands, buffer);
    const uint32_t *words = binding.address;
    return words + offset / sizeof *words;
}

- (void)dispatchThreadgroupsWithIndirectBuffer:(id<MTLBuffer>)buffer
                          indirectBufferOffset:(NSUInteger)offset
                         threadsPerThreadgroup:(MTLSize)group
{
    check_group(self, _cmd, group);
    const uint32_t *groups =
        indirect_arguments(self, _cmd, buffer, offset, sizeof(MTLDispatchThreadgroupsIndirectArguments));
    const sm_bindings *bound = bindings(self, _cmd);
    sm_indirect_dispatch_command *command =
        sm_commands_add(_commands, SM_COMMAND_DISPATCH_INDIRECT, sizeof *command);
    command->pipeline = _pipeline;
    command->bindings = bound;
    command->groups = groups;
    command->group[0] = (uint32_t)group.width;
    command->group[1] = (uint32_t)group.height;
    command->group[2] = (uint32_t)group.depth;
    _pipeline->is_dispatched = true;
    _record->work++;
}

static sm_execute_command *add_execute(SMGPUComputeEncoder *self, SEL selector,
                                       id<MTLIndirectCommandBuffer> icb)
{
    const sm_bindings *bound = bindings(self, selector);
    sm_execute_command *command =
        sm_commands_add(self->_commands, SM_COMMAND_EXECUTE_INDIRECT, sizeof *command);
    command->icb = icb;
    command->pipeline = self->_pipeline;
    command->bindings = bound;
    sm_commands_keep(self->_commands, icb);
    if (self->_pipeline && sm_icb_inherits_pipeline(icb))
        self->_pipeline->is_dispatched = true;
    self->_record->work++;
    return command;
}

- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)icb withRange:(NSRange)range
{
    sm_assert_encoding();
    sm_assert_metal(icb, "indirectCommandBuffer must not be nil");
    sm_assert_metal(
        sm_range_fits(range.location, range.length, sm_icb_size(icb)),
        "executionRange {%lu, %lu} must be inside the %lu commands of the indirect command buffer",
        (unsigned long)range.location, (unsigned long)range.length, (unsigned long)sm_icb_size(icb));
    add_execute(self, _cmd, icb)->range = range;
}

- (void)executeCommandsInBuffer:(id<MTLIndirectCommandBuffer>)icb
                 indirectBuffer:(id<MTLBuffer>)buffer
           indirectBufferOffset:(NSUInteger)offset
{
    sm_assert_encoding();
    sm_assert_metal(icb, "indirectCommandBuffer must not be nil");
    const uint32_t *range =
        indirect_arguments(self, _cmd, buffer, offset, sizeof(MTLIndirectCommandBufferExecutionRange));
    add_execute(self, _cmd, icb)->indirect_range = range;
}

@end
