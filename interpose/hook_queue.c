// SPDX-License-Identifier: MIT
// Queues: the three ways to make a command buffer. A buffer gets its number and its entry here. A capture
// starts in here, before the call is forwarded, since only buffers made after its start are in it.
#include "capture.h"
#include "hooks.h"
#include "objc/sends.h"
#include "tap.h"

// A queue from before the tap was there is made known when it is first used.
static struct mt_queue_entry *queue_of(id self)
{
    static _Thread_local struct mt_queue_entry *last MT_TLS;
    struct mt_queue_entry *queue = last;
    if (__builtin_expect(queue && mt_object_is(&queue->o, self), 1))
        return queue;
    queue = mt_objects_find(MT_KIND_QUEUE, self);
    if (!queue)
        queue = mt_know_queue(self, NULL, 0, true);
    last = queue;
    return queue;
}

static struct mt_queue_entry *before_create(const struct mt_call *call)
{
    if (!call->outermost)
        return NULL;
    struct mt_queue_entry *queue = queue_of(call->self);
    if (mt_tap_captures() && queue)
        mt_capture_before_create(queue->device_object, call->self);
    return queue;
}

static id after_create(struct mt_call *call, struct mt_queue_entry *queue, id commands, uint32_t flags)
{
    if (call->outermost && commands)
        mt_know_command_buffer(commands, queue, flags);
    else if (call->outermost && mt_tap_captures())
        mt_capture_created(0, &(bool){false});
    mt_call_end(call);
    return commands;
}

id mt_hook_QUEUE_commandBuffer(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_QUEUE, MT_HOOK_QUEUE_commandBuffer);
    struct mt_queue_entry *queue = before_create(&call);
    return after_create(&call, queue, MT_FORWARD(call, id)(self, op), 0);
}

id mt_hook_QUEUE_commandBufferUnretained(id self, SEL op)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_QUEUE, MT_HOOK_QUEUE_commandBufferUnretained);
    struct mt_queue_entry *queue = before_create(&call);
    return after_create(&call, queue, MT_FORWARD(call, id)(self, op), MT_CB_UNRETAINED);
}

id mt_hook_QUEUE_commandBufferWithDescriptor(id self, SEL op, id descriptor)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_QUEUE, MT_HOOK_QUEUE_commandBufferWithDescriptor);
    struct mt_queue_entry *queue = before_create(&call);
    id commands = MT_FORWARD(call, id, id)(self, op, descriptor);
    bool unretained = call.outermost && commands && !mtl_commandBuffer_retainedReferences(commands);
    return after_create(&call, queue, commands, MT_CB_DESCRIPTOR | (unretained ? MT_CB_UNRETAINED : 0));
}

void mt_hook_QUEUE_setLabel(id self, SEL op, id label)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_QUEUE, MT_HOOK_QUEUE_setLabel);
    MT_FORWARD(call, void, id)(self, op, label);
    if (call.outermost) {
        struct mt_queue_entry *queue = queue_of(self);
        mt_record_label(MT_OBJECT_QUEUE, queue ? queue->o.id : 0, label);
    }
    mt_call_end(&call);
}
