// SPDX-License-Identifier: MIT
// Runs a dispatch: the calling thread begins at once, and helpers join when it turns out to be long.
// Threadgroups are taken in order, a chunk at a time. A fault ends the whole dispatch.
#include "exec_internal.h"
#include <errno.h>
#include <string.h>
#include <time.h>

enum { OFFER_AFTER_NS = 15000 };

uint64_t sm_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void no_log(const sm_args *args, sm_u32 level, const char *format, const sm_log_value *values,
                   sm_u32 count)
{
    (void)args, (void)level, (void)format, (void)values, (void)count;
}

static void place_group(sm_group *group, const sm_args *args, uint64_t number)
{
    uint64_t left = number;
    group->threads = 1;
    for (int d = 0; d < 3; d++) {
        group->position[d] = (uint32_t)(left % args->groups[d]);
        left /= args->groups[d];
        uint32_t rest = args->grid[d] - group->position[d] * args->group_size[d];
        group->size[d] = rest < args->group_size[d] ? rest : args->group_size[d];
        group->threads *= group->size[d];
    }
    group->simds = (group->threads + SM_LANES - 1) / SM_LANES;
}

// The first worker that faults fills the report; the others only stop.
static void take_fault(sm_job *job, sm_worker *worker)
{
    int none = SM_FAULT_NONE;
    worker->in_kernel = 0;
    atomic_store(&worker->group_started_ns, 0);
    sm_fault_unblock();
    if (!atomic_compare_exchange_strong(&job->fault, &none, worker->escape_kind))
        return;
    job->report->kind = (sm_fault_kind)worker->escape_kind;
    sm_fault_describe(worker, job->launch, job->report);
}

// Runs groups until none is left. A caller that is still busy after offer_after_ns lets helpers in.
uint64_t sm_job_run(sm_job *job, sm_worker *worker, uint64_t offer_after_ns)
{
    const sm_kernel *kernel = job->launch->kernel;
    volatile bool offered = offer_after_ns == UINT64_MAX;
    if (sm_worker_prepare(worker, kernel, job->launch) != 0) {
        atomic_store(&job->next, job->total);
        return 0;
    }
    sm_fault_install();
    worker->group.memory = worker->memory;
    worker->group.variables = worker->variables;
    if (sigsetjmp(worker->escape, 0)) {
        take_fault(job, worker);
        return 0;
    }
    uint64_t started = sm_now_ns(), now = started;
    while (!atomic_load_explicit(&job->fault, memory_order_relaxed)) {
        uint64_t first = atomic_fetch_add_explicit(&job->next, job->chunk, memory_order_relaxed);
        if (first >= job->total)
            break;
        uint64_t last = first + job->chunk < job->total ? first + job->chunk : job->total;
        atomic_store_explicit(&worker->group_started_ns, now, memory_order_relaxed);
        worker->in_kernel = 1;
        for (uint64_t g = first; g < last; g++) {
            place_group(&worker->group, &job->args, g);
            sm_group_run(worker, kernel, &job->args);
        }
        worker->in_kernel = 0;
        if (last >= job->total)
            break;
        now = sm_now_ns();
        if (!offered && now - started > offer_after_ns) {
            offered = true;
            sm_pool_offer(job);
        }
    }
    atomic_store_explicit(&worker->group_started_ns, 0, memory_order_relaxed);
    return offered;
}

static int fill_args(sm_job *job, const sm_launch *launch)
{
    sm_args *args = &job->args;
    uint32_t offset = 0;
    job->total = 1;
    for (int d = 0; d < 3; d++) {
        if (!launch->grid[d] || !launch->group_size[d])
            return -EINVAL;
        args->grid[d] = launch->grid[d];
        args->group_size[d] = launch->group_size[d];
        args->groups[d] =
            (uint32_t)(((uint64_t)launch->grid[d] + launch->group_size[d] - 1) / launch->group_size[d]);
        job->total *= args->groups[d];
    }
    for (int i = 0; i < SM_MAX_BUFFERS; i++) {
        args->buffer[i] = launch->buffer[i].address;
        args->threadgroup[i] = offset;
        offset += (launch->threadgroup_bytes[i] + 15) & ~15u;
    }
    if (offset > SM_MAX_THREADGROUP_BYTES ||
        (uint64_t)launch->group_size[0] * launch->group_size[1] * launch->group_size[2] > SM_MAX_THREADS)
        return -EINVAL;
    args->log = launch->log ? launch->log : no_log;
    args->log_context = launch->log_context;
    return 0;
}

// Few groups are taken singly; of very many small ones several at a time, to keep the counter cool.
static uint32_t choose_chunk(uint64_t total)
{
    uint64_t chunk = total / 256;
    return chunk < 1 ? 1 : chunk > 64 ? 64 : (uint32_t)chunk;
}

int sm_exec_run(const sm_launch *launch, sm_fault *fault)
{
    sm_job job = {.launch = launch, .report = fault};
    sm_worker *worker = sm_worker_current();
    fault->kind = SM_FAULT_NONE;
    fault->text[0] = 0;
    if (!worker)
        return -ENOMEM;
    int error = fill_args(&job, launch);
    if (error == 0)
        error = sm_worker_prepare(worker, launch->kernel, launch);
    if (error != 0)
        return error;
    job.chunk = choose_chunk(job.total);
    sm_job_run(&job, worker, OFFER_AFTER_NS);
    sm_pool_withdraw(&job);
    switch (atomic_load(&job.fault)) {
    case SM_FAULT_TIMEOUT:
        return -ETIMEDOUT;
    case SM_FAULT_BAD_ACCESS:
        return -EFAULT;
    default:
        return 0;
    }
}
