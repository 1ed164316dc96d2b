// SPDX-License-Identifier: MIT
// Memory and references of the recorded command list. Used by one thread at a time: the one that encodes,
// later the queue's. Nothing here fails softly: without memory for a few kilobytes it ends the process, as
// malloc failure inside Metal does.
#import "metal/commands.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK_BYTES = 4096, MAX_CHUNK_BYTES = 65536, ALIGNMENT = 16, FIRST_REFERENCES = 32 };

struct sm_chunk {
    sm_chunk *next;
    size_t size;
};

static void *must_alloc(void *memory)
{
    if (!memory) {
        fputs("softmetal: out of memory while encoding\n", stderr);
        abort();
    }
    return memory;
}

void sm_commands_init(sm_commands *list, bool retains)
{
    *list = (sm_commands){.retains = retains};
    list->link = &list->first;
    list->encoder_link = &list->first_encoder;
    list->use_link = &list->first_use;
}

void sm_commands_free(sm_commands *list)
{
    if (list->retains)
        for (size_t i = 0; i < list->reference_capacity; i++)
            [list->reference[i].object release];
    free(list->reference);
    for (sm_chunk *chunk = list->chunk, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    sm_commands_init(list, list->retains);
}

static void add_chunk(sm_commands *list, size_t at_least)
{
    size_t size = list->chunk ? list->chunk->size * 2 : FIRST_CHUNK_BYTES;
    if (size > MAX_CHUNK_BYTES)
        size = MAX_CHUNK_BYTES;
    if (size < at_least + ALIGNMENT)
        size = at_least + ALIGNMENT;
    sm_chunk *chunk = must_alloc(malloc(size));
    *chunk = (sm_chunk){.next = list->chunk, .size = size};
    list->chunk = chunk;
    _Static_assert(sizeof *chunk == ALIGNMENT, "what follows the chunk's head is aligned");
    list->free_start = (char *)(chunk + 1);
    list->free_end = (char *)chunk + size;
}

void *sm_commands_alloc(sm_commands *list, size_t size)
{
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > (size_t)(list->free_end - list->free_start))
        add_chunk(list, size);
    void *memory = list->free_start;
    list->free_start += size;
    return memory;
}

static void append(sm_commands *list, sm_command *command)
{
    *list->link = command;
    list->link = &command->next;
}

void *sm_commands_add(sm_commands *list, sm_command_kind kind, size_t size)
{
    sm_command *command = sm_commands_alloc(list, size);
    memset(command, 0, size);
    command->kind = kind;
    append(list, command);
    return command;
}

const char *sm_commands_text(sm_commands *list, NSString *text)
{
    if (!text)
        return NULL;
    NSUInteger size = [text lengthOfBytesUsingEncoding:NSUTF8StringEncoding] + 1;
    char *copy = sm_commands_alloc(list, size);
    if (![text getCString:copy maxLength:size encoding:NSUTF8StringEncoding])
        copy[0] = 0;
    return copy;
}

void sm_commands_add_text(sm_commands *list, sm_command_kind kind, NSString *text)
{
    sm_text_command *command = sm_commands_add(list, kind, sizeof *command);
    command->text = sm_commands_text(list, text);
}

sm_encoder *sm_commands_begin_encoder(sm_commands *list, sm_encoder_type type)
{
    sm_encoder *encoder = sm_commands_add(list, SM_COMMAND_BEGIN_ENCODER, sizeof *encoder);
    encoder->type = type;
    encoder->index = list->encoder_count++;
    encoder->state = MTLCommandEncoderErrorStatePending;
    *list->encoder_link = encoder;
    list->encoder_link = &encoder->next;
    return encoder;
}

// ---- references: a set of objects, so that each is retained once however often it is bound ----
static size_t slot_of(id object, size_t capacity)
{
    uint64_t hash = (uint64_t)(uintptr_t)object * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32) & (capacity - 1);
}

static sm_reference *find_slot(sm_reference *table, size_t capacity, id object)
{
    size_t i = slot_of(object, capacity);
    while (table[i].object && table[i].object != object)
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

static void grow_references(sm_commands *list)
{
    size_t capacity = list->reference_capacity ? list->reference_capacity * 2 : FIRST_REFERENCES;
    sm_reference *table = must_alloc(calloc(capacity, sizeof *table));
    for (size_t i = 0; i < list->reference_capacity; i++)
        if (list->reference[i].object)
            *find_slot(table, capacity, list->reference[i].object) = list->reference[i];
    free(list->reference);
    list->reference = table;
    list->reference_capacity = capacity;
}

static sm_reference *reference_to(sm_commands *list, id object)
{
    if (list->reference_count * 2 >= list->reference_capacity)
        grow_references(list);
    sm_reference *reference = find_slot(list->reference, list->reference_capacity, object);
    if (!reference->object) {
        reference->object = list->retains ? [object retain] : object;
        list->reference_count++;
    }
    return reference;
}

void sm_commands_keep(sm_commands *list, id object)
{
    if (object && list->retains)
        reference_to(list, object);
}

static sm_pipeline_use *new_use(sm_commands *list, id<MTLComputePipelineState> state)
{
    sm_pipeline_use *use = sm_commands_alloc(list, sizeof *use);
    *use = (sm_pipeline_use){
        .state = state,
        .pipeline = sm_pipeline_state_pipeline(state),
        .name = sm_commands_text(list, sm_pipeline_state_function_name(state)),
        .max_threads = [state maxTotalThreadsPerThreadgroup],
    };
    *list->use_link = use;
    list->use_link = &use->next;
    return use;
}

sm_pipeline_use *sm_commands_use(sm_commands *list, id<MTLComputePipelineState> state)
{
    sm_reference *reference = reference_to(list, state);
    if (!reference->use)
        reference->use = new_use(list, state);
    return reference->use;
}
