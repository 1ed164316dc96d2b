// SPDX-License-Identifier: MIT
// Runs kernels on the CPU: worker threads, threadgroups, time limit, guarded memory. Plain C, thread-safe.
#ifndef SOFTMETAL_EXEC_H
#define SOFTMETAL_EXEC_H

#include "kernel_abi.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sm_binding {
    void *address; // NULL if nothing is bound
    size_t length; // bytes from address to the end of the buffer
} sm_binding;

typedef struct sm_launch {
    const sm_kernel *kernel;
    const char *kernel_name;
    sm_binding buffer[SM_MAX_BUFFERS];
    uint32_t threadgroup_bytes[SM_MAX_BUFFERS]; // dynamic threadgroup memory by index
    uint32_t grid[3];                           // in threads; not a multiple of group_size: ragged edge
    uint32_t group_size[3];
    sm_log_fn log; // NULL: none
    void *log_context;
} sm_launch;

typedef enum sm_fault_kind { SM_FAULT_NONE, SM_FAULT_TIMEOUT, SM_FAULT_BAD_ACCESS } sm_fault_kind;

typedef struct sm_fault {
    sm_fault_kind kind;
    char text[400]; // names kernel, buffer index and offset
} sm_fault;

// Runs the whole grid on all cores and returns when it is done: 0, -EFAULT or -ETIMEDOUT with *fault filled,
// -ENOMEM. Several threads may call it at once; they share the workers.
int sm_exec_run(const sm_launch *launch, sm_fault *fault);

// Page-aligned zeroed memory for buffers. With SOFTMETAL_VALIDATE=1 it ends at an inaccessible page and
// begins after one. Free with the same size.
void *sm_memory_alloc(size_t bytes);
void sm_memory_free(void *address, size_t bytes);

uint64_t sm_now_ns(void); // the one clock of softmetal: CLOCK_MONOTONIC

#endif
