// SPDX-License-Identifier: MIT
// Writes the execution log. Called by queue threads; a line is written with one call, so lines of several
// processes do not mix. It never ends the program: a file that cannot be opened is told once, on stderr.
#include "metal/execution_log.h"

#import "metal/internal.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

static FILE *file;

static void open_log(void)
{
    const char *path = sm_get_settings()->log_path;
    if (!path)
        return;
    file = fopen(path, "ae");
    if (!file)
        fprintf(stderr, "softmetal: SOFTMETAL_LOG=%s: %s\n", path, strerror(errno));
    else
        setvbuf(file, NULL, _IOLBF, 1 << 16);
}

bool sm_execution_log_is_on(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_log);
    return file != NULL;
}

static void put_string(const char *text)
{
    putc_unlocked('"', file);
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; c++) {
        if (*c < 0x20)
            fprintf(file, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else
            putc_unlocked(*c, file);
    }
    putc_unlocked('"', file);
}

static void put_size(const char *name, const uint32_t *size)
{
    fprintf(file, ",\"%s\":[%u,%u,%u]", name, size[0], size[1], size[2]);
}

static void put_times(uint64_t start_ns, uint64_t end_ns)
{
    fprintf(file, ",\"start_ns\":%llu,\"end_ns\":%llu}\n", (unsigned long long)start_ns,
            (unsigned long long)end_ns);
}

void sm_execution_log_dispatch(const sm_logged_dispatch *dispatch)
{
    flockfile(file);
    fprintf(file, "{\"event\":\"dispatch\",\"queue\":%u,\"command_buffer\":%u,\"encoder\":%u,\"dispatch\":%u",
            dispatch->queue, dispatch->command_buffer, dispatch->encoder, dispatch->dispatch);
    fputs(",\"kernel\":", file);
    put_string(dispatch->kernel);
    put_size("grid", dispatch->grid);
    put_size("threadgroup", dispatch->group);
    put_times(dispatch->start_ns, dispatch->end_ns);
    funlockfile(file);
}

void sm_execution_log_buffer(const sm_logged_buffer *buffer)
{
    flockfile(file);
    fprintf(file, "{\"event\":\"command_buffer\",\"queue\":%u,\"command_buffer\":%u,\"status\":%u",
            buffer->queue, buffer->command_buffer, buffer->status);
    fputs(",\"label\":", file);
    put_string(buffer->label);
    put_times(buffer->start_ns, buffer->end_ns);
    funlockfile(file);
}
