// SPDX-License-Identifier: MIT
// MTLArgumentEncoder: fills a struct of pointers and constants that a kernel reads from a buffer. The layout
// is C's, because the kernel is compiled as C++: members in order of their index, each at its natural
// alignment. Used by one thread at a time, as Metal's.
#import "metal/resource.h"

#include <stdlib.h>
#include <string.h>

typedef struct slot {
    NSUInteger index, count; // count: elements of an array member, index, index + 1, ...
    NSUInteger offset, size; // size of one element
    bool is_pointer;
} slot;

@interface SMArgumentEncoder : _SMDeviceObject<MTLArgumentEncoder> {
    slot *_slots; // by index
    size_t _count;
    NSUInteger _length, _alignment;
    SMBuffer *_buffer; // retained
    NSUInteger _offset;
}
@end

@implementation SMArgumentEncoder

@synthesize alignment = _alignment;

- (instancetype)initWithDevice:(id<MTLDevice>)device slots:(slot *)slots count:(size_t)count
{
    self = [super initWithDevice:device];
    if (!self) {
        free(slots);
        return nil;
    }
    _slots = slots;
    _count = count;
    _alignment = 1;
    for (size_t i = 0; i < count; i++) {
        NSUInteger natural = slots[i].size < 16 ? slots[i].size : 16;
        slots[i].offset = sm_round_up(_length, natural);
        _length = slots[i].offset + slots[i].size * slots[i].count;
        _alignment = natural > _alignment ? natural : _alignment;
    }
    _length = sm_round_up(_length, _alignment);
    return self;
}

- (void)dealloc
{
    free(_slots);
    [_buffer release];
    [super dealloc];
}

- (NSUInteger)encodedLength
{
    return _length;
}

- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset
{
    sm_assert_metal(offset % _alignment == 0, "offset(%lu) must be a multiple of the alignment %lu.",
                    (unsigned long)offset, (unsigned long)_alignment);
    SMBuffer *base = sm_debug_innermost(buffer);
    sm_assert_metal(!base || (offset <= base->length && _length <= base->length - offset),
                    "offset(%lu) + encodedLength(%lu) must be <= [argumentBuffer length](%lu).",
                    (unsigned long)offset, (unsigned long)_length, (unsigned long)[buffer length]);
    [base retain];
    [_buffer release];
    _buffer = base;
    _offset = offset;
}

- (void)setArgumentBuffer:(id<MTLBuffer>)buffer
              startOffset:(NSUInteger)offset
             arrayElement:(NSUInteger)element
{
    [self setArgumentBuffer:buffer offset:offset + element * _length];
}

- (void *)addressOfIndex:(NSUInteger)index pointer:(bool)is_pointer selector:(SEL)selector
{
    const char *class_name = object_getClassName(self);
    if (!_buffer)
        sm_fail_metal(class_name, selector, __LINE__, "no argument buffer is set.");
    for (size_t i = 0; i < _count; i++) {
        const slot *found = &_slots[i];
        if (index < found->index || index >= found->index + found->count)
            continue;
        if (is_pointer && !found->is_pointer)
            sm_fail_metal(class_name, selector, __LINE__, "the argument at index %lu is not a buffer.",
                          (unsigned long)index);
        return (char *)_buffer->memory + _offset + found->offset + (index - found->index) * found->size;
    }
    sm_fail_metal(class_name, selector, __LINE__, "index(%lu) is not an argument of this encoder.",
                  (unsigned long)index);
}

- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index
{
    uint64_t address = buffer ? [buffer gpuAddress] + offset : 0;
    memcpy([self addressOfIndex:index pointer:true selector:_cmd], &address, sizeof address);
}

- (void)setBuffers:(id<MTLBuffer> const *)buffers offsets:(const NSUInteger *)offsets withRange:(NSRange)range
{
    for (NSUInteger i = 0; i < range.length; i++)
        [self setBuffer:buffers[i] offset:offsets[i] atIndex:range.location + i];
}

- (void *)constantDataAtIndex:(NSUInteger)index
{
    return [self addressOfIndex:index pointer:false selector:_cmd];
}

- (id<MTLArgumentEncoder>)newArgumentEncoderForBufferAtIndex:(NSUInteger)index
{
    // The shape of what a pointer leads to is not known here.
    sm_assert_metal(false, "no nested argument buffer at index %lu.", (unsigned long)index);
    return nil;
}

@end

id<MTLArgumentEncoder> sm_new_slot_encoder(id<MTLDevice> device, NSUInteger count)
{
    slot *slots = calloc(count ? count : 1, sizeof *slots);
    if (!slots)
        return nil;
    for (NSUInteger i = 0; i < count; i++)
        slots[i] = (slot){.index = i, .count = 1, .size = 8, .is_pointer = true};
    return [[SMArgumentEncoder alloc] initWithDevice:device slots:slots count:count];
}

static int compare_slots(const void *a, const void *b)
{
    const slot *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

@implementation SMDevice (ArgumentEncoders)

- (id<MTLArgumentEncoder>)newArgumentEncoderWithArguments:(NSArray *)arguments
{
    sm_assert_metal([arguments count] > 0, "arguments must not be empty.");
    slot *slots = calloc([arguments count], sizeof *slots);
    if (!slots)
        return nil;
    size_t count = 0;
    for (MTLArgumentDescriptor *argument in arguments) {
        size_t size = sm_data_type_size((uint32_t)[argument dataType]);
        sm_assert_metal(size > 0, "dataType %lu is not supported in an argument buffer.",
                        (unsigned long)[argument dataType]);
        slots[count++] = (slot){.index = [argument index],
                                .count = [argument arrayLength] ? [argument arrayLength] : 1,
                                .size = size,
                                .is_pointer = [argument dataType] == MTLDataTypePointer};
    }
    qsort(slots, count, sizeof *slots, compare_slots);
    return [[SMArgumentEncoder alloc] initWithDevice:self slots:slots count:count];
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferBinding:(id<MTLBufferBinding>)binding
{
    sm_assert_metal(binding != nil, "bufferBinding must not be nil.");
    return sm_new_slot_encoder(self, sm_round_up([binding bufferDataSize], 8) / 8);
}

@end
