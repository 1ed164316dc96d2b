// SPDX-License-Identifier: MIT
// Blit encoders: copies, fills and synchronisations, with their size. Runs on the program's threads.
#include "hooks.h"
#include "tap.h"

static void record_blit(const struct mt_call *call, enum mt_blit_kind kind, uint64_t bytes)
{
    struct mt_encoder_entry *encoder = call->outermost ? mt_encoder_of(call->self) : NULL;
    if (!encoder)
        return;
    struct mt_rec_blit record = {
        .word = MT_REC_WORD(MT_REC_BLIT, kind),
        .encoder = encoder->o.id,
        .bytes = bytes,
    };
    mt_record_event(&record);
}

void mt_hook_BLIT_copyBuffer(id self, SEL op, id source, NSUInteger source_offset, id destination,
                             NSUInteger destination_offset, NSUInteger size)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_BLIT, MT_HOOK_BLIT_copyBuffer);
    record_blit(&call, MT_BLIT_COPY, size);
    MT_FORWARD(call, void, id, NSUInteger, id, NSUInteger, NSUInteger)
    (self, op, source, source_offset, destination, destination_offset, size);
    mt_call_end(&call);
}

void mt_hook_BLIT_fillBuffer(id self, SEL op, id buffer, ns_range range, uint8_t value)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_BLIT, MT_HOOK_BLIT_fillBuffer);
    record_blit(&call, MT_BLIT_FILL, range.length);
    MT_FORWARD(call, void, id, ns_range, uint8_t)(self, op, buffer, range, value);
    mt_call_end(&call);
}

void mt_hook_BLIT_synchronizeResource(id self, SEL op, id resource)
{
    struct mt_call call;
    mt_call_begin_fast(&call, self, MT_ROLE_BLIT, MT_HOOK_BLIT_synchronizeResource);
    record_blit(&call, MT_BLIT_SYNCHRONIZE, 0);
    MT_FORWARD(call, void, id)(self, op, resource);
    mt_call_end(&call);
}
