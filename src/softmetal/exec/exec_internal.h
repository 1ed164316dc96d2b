// SPDX-License-Identifier: MIT
// What the executor's files share: a worker's own state, a job, and the ways out of a kernel that went wrong.
#ifndef SOFTMETAL_EXEC_INTERNAL_H
#define SOFTMETAL_EXEC_INTERNAL_H

#include "exec.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>

// Where the lanes of one simdgroup are.
typedef struct sm_simd_state {
    uint32_t lanes;    // mask of the lanes that exist
    uint32_t waiting;  // mask of the lanes held at a barrier
    uint32_t released; // mask of the lanes let through the barrier they stand at
    uint32_t done;
    bool together;           // all lanes at `site`, none done
    uint16_t site;           // if together
    uint16_t lane[SM_LANES]; // else
    uint32_t row_count;
    sm_row row[SM_LANES];
} sm_simd_state;

// One per thread that runs kernels. Only its own thread writes it, but for `limit` and `kill`.
typedef struct sm_worker {
    sm_simd simd[SM_MAX_SIMDS];
    sm_simd_state state[SM_MAX_SIMDS];
    sm_group group;
    uint32_t shape[3]; // the rows in `state` are for groups of this size
    uint8_t *frames;
    size_t frames_bytes;
    uint8_t *memory;    // dynamic threadgroup memory
    uint8_t *variables; // threadgroup variables
    size_t variables_bytes;
    // leaving a kernel by force
    sigjmp_buf escape;
    volatile sig_atomic_t in_kernel;
    volatile sig_atomic_t escape_kind; // sm_fault_kind
    void *volatile bad_address;
    _Atomic uint64_t group_started_ns; // 0: not in a kernel
    _Atomic bool kill;                 // the watchdog wants this group ended
    pthread_t thread;
    struct sm_worker *next; // in the watchdog's list
} sm_worker;

typedef struct sm_job {
    const sm_launch *launch;
    sm_args args;
    uint64_t total;
    _Atomic uint64_t next;    // first group nobody has taken
    _Atomic int fault;        // sm_fault_kind of the first fault
    sm_fault *report;         // filled by the worker that sets `fault`
    uint32_t chunk;           // groups taken at a time
    int active;               // helpers inside; under the pool's lock
    struct sm_job *following; // in the pool's list
} sm_job;

// group.c: runs one threadgroup to its end on this worker.
void sm_group_run(sm_worker *worker, const sm_kernel *kernel, const sm_args *args);

// worker.c
sm_worker *sm_worker_current(void); // this thread's, made on first use; NULL: no memory
int sm_worker_prepare(sm_worker *worker, const sm_kernel *kernel, const sm_launch *launch);
void sm_worker_list_lock(void);
sm_worker *sm_worker_list(void);
void sm_worker_list_unlock(void);

// pool.c: lets helper threads take part in a job until its groups are gone.
void sm_pool_offer(sm_job *job);
void sm_pool_withdraw(sm_job *job); // waits until no helper is inside
uint64_t sm_job_run(sm_job *job, sm_worker *worker, uint64_t publish_after_ns); // exec.c

// fault.c
void sm_fault_install(void); // once; handlers as the settings ask
void sm_fault_unblock(void); // after a jump out of a handler
bool sm_fault_validating(void);
void sm_fault_describe(const sm_worker *worker, const sm_launch *launch, sm_fault *fault);

#endif
