// SPDX-License-Identifier: MIT
// A thread's own state for running kernels: made on first use, freed when the thread ends, and listed so that
// the watchdog can see how long each is inside one threadgroup.
#include "exec_internal.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    pthread_key_t key;
    sm_worker *list;
} workers = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void worker_free(void *pointer)
{
    sm_worker *worker = pointer;
    pthread_mutex_lock(&workers.lock);
    for (sm_worker **at = &workers.list; *at; at = &(*at)->next)
        if (*at == worker) {
            *at = worker->next;
            break;
        }
    pthread_mutex_unlock(&workers.lock);
    if (worker->frames_bytes)
        munmap(worker->frames, worker->frames_bytes);
    free(worker->memory);
    free(worker->variables);
    free(worker);
}

static void make_key(void)
{
    pthread_key_create(&workers.key, worker_free);
}

static sm_worker *worker_new(void)
{
    size_t bytes = (sizeof(sm_worker) + 63) & ~(size_t)63;
    sm_worker *worker = aligned_alloc(64, bytes);
    if (!worker)
        return NULL;
    *worker = (sm_worker){.thread = pthread_self()};
    worker->memory = aligned_alloc(128, SM_MAX_THREADGROUP_BYTES);
    if (!worker->memory || pthread_setspecific(workers.key, worker) != 0) {
        free(worker->memory);
        free(worker);
        return NULL;
    }
    pthread_mutex_lock(&workers.lock);
    worker->next = workers.list;
    workers.list = worker;
    pthread_mutex_unlock(&workers.lock);
    return worker;
}

sm_worker *sm_worker_current(void)
{
    pthread_once(&workers.once, make_key);
    sm_worker *worker = pthread_getspecific(workers.key);
    return worker ? worker : worker_new();
}

static int prepare_variables(sm_worker *worker, size_t bytes)
{
    if (bytes <= worker->variables_bytes)
        return 0;
    bytes = (bytes + 4095) & ~(size_t)4095;
    uint8_t *variables = aligned_alloc(4096, bytes);
    if (!variables)
        return -ENOMEM;
    free(worker->variables);
    worker->variables = variables;
    worker->variables_bytes = bytes;
    return 0;
}

// Room for the frames of a whole threadgroup; pages are only touched as kernels use them.
int sm_worker_prepare(sm_worker *worker, const sm_kernel *kernel, const sm_launch *launch)
{
    size_t threads = (size_t)launch->group_size[0] * launch->group_size[1] * launch->group_size[2];
    size_t need = (threads + SM_LANES - 1) / SM_LANES * kernel->frame_bytes;
    int error = prepare_variables(worker, kernel->static_threadgroup_bytes);
    if (error != 0 || (worker->frames && need <= worker->frames_bytes))
        return error;
    need = (need + 65536) & ~(size_t)65535; // never none: addresses are computed even of empty frames
    void *frames =
        mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (frames == MAP_FAILED)
        return -ENOMEM;
    if (worker->frames_bytes)
        munmap(worker->frames, worker->frames_bytes);
    worker->frames = frames;
    worker->frames_bytes = need;
    return 0;
}

void sm_worker_list_lock(void)
{
    pthread_mutex_lock(&workers.lock);
}

sm_worker *sm_worker_list(void)
{
    return workers.list;
}

void sm_worker_list_unlock(void)
{
    pthread_mutex_unlock(&workers.lock);
}
