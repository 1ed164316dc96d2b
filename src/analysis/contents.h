// SPDX-License-Identifier: MIT
// What the command buffers in flight hold, as far as the time of kernels depends on it: one kernel only, or
// more. Memory follows the number of command buffers in flight and has a limit; one that found no room counts
// as unknown, never as something it is not. Zeroed memory is empty. One thread at a time.
#ifndef MT_ANALYSIS_CONTENTS_H
#define MT_ANALYSIS_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#define MT_KERNEL_MIXED UINT32_MAX // more than one kernel, or other work as well

struct mt_content {
    uint32_t command_buffer; // 0: free place
    uint32_t kernel;
    uint32_t dispatches;
};
struct mt_contents {
    struct mt_content *places; // a power of two of them
    uint32_t count, room;
    struct mt_content *last; // the one asked for last
};

enum { MT_CONTENTS_MAX = 16384 };

// The entry of a command buffer, made if it is not there (`kernel` as given, no dispatches); NULL if there is
// no room, and `*error` is -ENOMEM if that is why. Valid until the next call.
struct mt_content *mt_contents_get(struct mt_contents *contents, uint32_t command_buffer, uint32_t kernel,
                                   int *error);
// Takes the entry out. False if there is none.
bool mt_contents_take(struct mt_contents *contents, uint32_t command_buffer, struct mt_content *content);
void mt_contents_free(struct mt_contents *contents);

// Some dispatches of one kernel; nearly always of the same command buffer as those before.
static inline int mt_contents_dispatches(struct mt_contents *contents, uint32_t command_buffer,
                                         uint32_t kernel, uint32_t count)
{
    int error = 0;
    struct mt_content *content = contents->last;
    if (!content || content->command_buffer != command_buffer) {
        content = mt_contents_get(contents, command_buffer, kernel, &error);
        if (!content)
            return error;
    }
    if (content->kernel != kernel)
        content->kernel = MT_KERNEL_MIXED;
    content->dispatches += count;
    return 0;
}

#endif
