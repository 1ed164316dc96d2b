// SPDX-License-Identifier: MIT
// The tap among its peers: the hook of interpose/hook_compute.c itself, on an encoder that is none, writing
// to a real spool. Nothing of Metal is needed for that but what the hook looks at: the class of the encoder,
// and the entry that is the context of the thread's stream. Also what a command buffer leaves on record,
// through the same functions that its hooks call.
#include "hooks.h"
#include "peers.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>

static struct mt_class encoder_class;

static void warn(const char *text)
{
    fprintf(stderr, "peer tap: %s\n", text);
}

static int begin(const char *path)
{
    struct mt_record_setup setup = {.path = path, .run = 1, .warn = warn};
    encoder_class.cls = mt_objc_class_fast((id)peer_encoder);
    encoder_class.original[MT_HOOK_COMPUTE_dispatchThreadgroups] = (mt_objc_imp)peer_original;
    mt_class_last[MT_ROLE_COMPUTE] = &encoder_class;
    mt_calls_wanted = true;
    int rc = mt_record_start(&setup);
    return !rc && mt_os_ticks_from_clock ? -ENOTSUP : rc;
}

// Each thread has an entry of its own for the one encoder: that is what two encoders would look like.
static int begin_thread(void)
{
    struct mt_encoder_entry *entry = mt_arena(sizeof *entry);
    if (!entry)
        return -ENOMEM;
    entry->o = (struct mt_object){.object = (id)peer_encoder, .kind = MT_KIND_ENCODER, .id = 1};
    entry->fast = (id)peer_encoder;
    entry->head = MT_REC_WORD(MT_REC_DISPATCH_GROUPS, PEER_PIPELINE);
    entry->dispatch_threadgroups = (mt_objc_imp)peer_original;
    struct mt_rec_encoder_begin record = {.word = MT_REC_WORD(MT_REC_ENCODER_BEGIN, 0), .encoder = 1};
    if (!mt_record_event(&record))
        return -ENOSPC;
    mt_record_here->context = entry;
    return 0;
}

static void end(void)
{
    mt_record_stop();
}

const struct peer peer_tap = {"tap", begin, begin_thread, mt_hook_COMPUTE_dispatchThreadgroups, end};

// ---- a command buffer ----
static void record(uint32_t type, uint32_t object)
{
    struct mt_slot instead[1];
    struct mt_rec_cb_commit *open = mt_record_open(1, instead); // all have their object in the same place
    open->word = MT_REC_WORD(type, 0);
    open->command_buffer = object;
    mt_record_close(open, 1, instead);
}

static void record_done(uint32_t buffer, uint64_t now)
{
    struct mt_slot instead[2];
    struct mt_rec_cb_done *open = mt_record_open(2, instead);
    open->word = MT_REC_WORD(MT_REC_CB_DONE, 4);
    open->command_buffer = buffer;
    open->scheduled = open->gpu_start_ns = open->gpu_end_ns = now;
    mt_record_close(open, 2, instead);
}

// Made, committed, done: what is kept of each; encoders and waits come on top of that.
static void record_buffer(id self, SEL op, mtl_size groups, mtl_size threads)
{
    uint32_t buffer = mt_record_next(MT_COUNT_COMMAND_BUFFER);
    record(MT_REC_CB_CREATE, buffer);
    mt_record_anchor();
    record(MT_REC_CB_COMMIT, buffer);
    record_done(buffer, groups.width);
    peer_original(self, op, groups, threads);
}

const struct peer peer_tap_buffers = {"tap-buffers", begin, begin_thread, record_buffer, end};
