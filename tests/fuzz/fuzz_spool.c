// SPDX-License-Identifier: MIT
// libFuzzer's entry for reader and model: makes a spool of the input and goes through all of it. The first
// byte of the input says how. 'f': a file, whose header is the next 256 bytes and whose segments are the
// rest. Any other: records, 33 bytes each, put into segments that are sound, so that the model sees more of
// them.
#define _GNU_SOURCE
#include "unit/spool_exercise.h"
#include "unit/spool_maker.h"

#include <sys/mman.h>

enum { SMALL_HEADER = 256, PAGE = 4096, CHUNK = 1 + MT_SPOOL_SLOT_BYTES };
// The byte in front of a record.
enum { STREAM = 3, BUMP_NUMBER = 8, KNOWN_TYPE = 16, NEW_SEGMENT = 32, OWN_TIME = 64 };

static const uint8_t types[] = {
    MT_REC_DISPATCH_GROUPS,
    MT_REC_DISPATCH_THREADS,
    MT_REC_DISPATCH_INDIRECT,
    MT_REC_DISPATCH_WIDE,
    MT_REC_EXECUTE,
    MT_REC_THREAD,
    MT_REC_ANCHOR,
    MT_REC_DROP,
    MT_REC_CONTEXT,
    MT_REC_CB_CREATE,
    MT_REC_CB_ENQUEUE,
    MT_REC_CB_COMMIT,
    MT_REC_CB_DONE,
    MT_REC_CB_DISCARD,
    MT_REC_CB_HANDLER,
    MT_REC_CB_PRESENT,
    MT_REC_ENCODER_BEGIN,
    MT_REC_ENCODER_END,
    MT_REC_SYNC,
    MT_REC_BLIT,
    MT_REC_LABEL,
    MT_REC_GROUP_PUSH,
    MT_REC_GROUP_POP,
    MT_REC_SIGNPOST,
    MT_REC_WAIT_BEGIN,
    MT_REC_WAIT_END,
    MT_REC_MEMORY,
    MT_REC_CAPTURE,
};
static const uint8_t definitions[] = {
    MT_REC_STRING,  MT_REC_PROCESS,  MT_REC_TEXT,     MT_REC_DEVICE,      MT_REC_QUEUE,
    MT_REC_LIBRARY, MT_REC_FUNCTION, MT_REC_PIPELINE, MT_REC_THREAD_NAME,
};

static void fill_file(int fd, const void *bytes, size_t size)
{
    if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) || write_bytes(fd, bytes, size))
        abort();
}

static void as_file(int fd, const uint8_t *data, size_t size)
{
    size_t head = size < SMALL_HEADER ? size : SMALL_HEADER;
    fill_file(fd, data, head);
    if (size > head && (lseek(fd, PAGE, SEEK_SET) < 0 || write_bytes(fd, data + head, size - head)))
        abort();
}

static void put_chunk(struct spool_maker *maker, const uint8_t *chunk, uint64_t *time)
{
    uint8_t how = chunk[0];
    uint32_t stream = how & STREAM;
    struct mt_rec_any slot;
    memcpy(&slot, chunk + 1, sizeof slot);
    *time += slot.time & 0xfff;
    if (how & KNOWN_TYPE) {
        uint8_t type = (uint8_t)slot.word;
        type = stream ? types[type % sizeof types] : definitions[type % sizeof definitions];
        slot.word = (slot.word & ~UINT32_C(0xff)) | type;
    }
    if (how & BUMP_NUMBER)
        maker->streams[stream].next_number++;
    if (how & NEW_SEGMENT)
        maker_segment(maker, stream);
    maker_put(maker, stream, how & OWN_TIME ? 0 : maker_at(*time), &slot, sizeof slot);
}

static void as_records(int fd, uint8_t mode, const uint8_t *data, size_t size)
{
    struct spool_maker maker;
    maker_begin(&maker, MAKER_SEGMENT_BYTES);
    struct mt_spool_header *header = maker_header(&maker);
    header->state = mode & 1 ? MT_SPOOL_RUNNING : MT_SPOOL_ENDED;
    header->end_ticks = mode & 1 ? 0 : maker_at(1000000);
    header->keep_bytes = mode & 2 ? 1 << 20 : 0;
    header->overwritten_segments = mode & 2 ? 5 : 0;
    header->ticks_per_second = mode & 4 ? 0 : 1000000000;
    maker.streams[1].encoder = mode & 8 ? 1 : 0;
    maker.streams[1].command_buffer = mode & 8 ? 1 : 0;
    uint64_t time = 0;
    for (size_t at = 0; at + CHUNK <= size; at += CHUNK)
        put_chunk(&maker, data + at, &time);
    fill_file(fd, maker.bytes, maker.size);
    maker_end(&maker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    if (fd < 0 && (fd = memfd_create("spool", MFD_CLOEXEC)) < 0)
        abort();
    if (!size)
        return 0;
    if (data[0] == 'f')
        as_file(fd, data + 1, size - 1);
    else
        as_records(fd, data[0], data + 1, size - 1);
    exercise_spool(fd, true);
    return 0;
}
