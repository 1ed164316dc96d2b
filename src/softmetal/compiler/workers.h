// SPDX-License-Identifier: MIT
// Background threads that compile pipelines: started on demand, at most one per core, at low priority.
#ifndef SOFTMETAL_COMPILER_WORKERS_H
#define SOFTMETAL_COMPILER_WORKERS_H

#include <stdbool.h>

typedef struct sm_job {
    struct sm_job *next, *previous;
    void (*run)(struct sm_job *job);  // on a worker, or on the thread that took the job
    void (*drop)(struct sm_job *job); // instead of run, when the process exits first
    bool queued;
} sm_job;

// Puts the job at the end of the queue; false if there is no thread to run it and none could be started.
bool sm_workers_add(sm_job *job);
// Takes a job that no worker has begun out of the queue: the caller runs it. False: it has begun, or ended.
bool sm_workers_take(sm_job *job);

#endif
