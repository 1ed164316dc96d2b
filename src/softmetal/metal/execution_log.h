// SPDX-License-Identifier: MIT
// The execution log, SOFTMETAL_LOG=file: one JSON line per executed dispatch and per command buffer, so that
// tests can compare what a profiler saw with what ran. Thread-safe; several processes may append to one file.
#ifndef SOFTMETAL_METAL_EXECUTION_LOG_H
#define SOFTMETAL_METAL_EXECUTION_LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sm_logged_dispatch {
    unsigned queue, command_buffer, encoder, dispatch;
    const char *kernel;
    const uint32_t *grid, *group; // in threads
    uint64_t start_ns, end_ns;
} sm_logged_dispatch;

typedef struct sm_logged_buffer {
    unsigned queue, command_buffer;
    const char *label; // may be NULL
    unsigned status;   // MTLCommandBufferStatus
    uint64_t start_ns, end_ns;
} sm_logged_buffer;

bool sm_execution_log_is_on(void);
void sm_execution_log_dispatch(const sm_logged_dispatch *dispatch);
void sm_execution_log_buffer(const sm_logged_buffer *buffer);

#endif
