// SPDX-License-Identifier: MIT
// The queue of pipelines to compile and the threads that empty it. At exit the running tools are ended, the
// threads waited for, and the private cache folder removed.
#define _GNU_SOURCE
#include "workers.h"
#include "cache.h"
#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WORKERS = 64, IDLE_SECONDS = 5, LOW_PRIORITY = 10 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed, ended;
    sm_job *first, *last;
    int workers, idle;
    bool stopping;
    pid_t owner; // threads do not survive a fork
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .changed = PTHREAD_COND_INITIALIZER,
          .ended = PTHREAD_COND_INITIALIZER};

static void unlink_job(sm_job *job)
{
    if (job->previous)
        job->previous->next = job->next;
    else
        pool.first = job->next;
    if (job->next)
        job->next->previous = job->previous;
    else
        pool.last = job->previous;
    job->next = job->previous = NULL;
    job->queued = false;
}

// Waits for a job; NULL when none came for a while or the process exits. Called with the lock held.
static sm_job *next_job(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    int late = 0;
    pool.idle++;
    while (!pool.first && !pool.stopping && !late)
        late = pthread_cond_timedwait(&pool.changed, &pool.lock, &until);
    pool.idle--;
    sm_job *job = pool.stopping ? NULL : pool.first;
    if (job)
        unlink_job(job);
    return job;
}

static void *work(void *unused)
{
    (void)unused;
    // Per thread on Linux, and inherited by the tools that it starts.
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LOW_PRIORITY);
    pthread_mutex_lock(&pool.lock);
    for (sm_job *job; (job = next_job());) {
        pthread_mutex_unlock(&pool.lock);
        job->run(job);
        pthread_mutex_lock(&pool.lock);
    }
    pool.workers--;
    pthread_cond_broadcast(&pool.ended);
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

// The host's signals are for the host's threads.
static bool start_worker(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, saved;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    bool started = pthread_create(&thread, &attributes, work, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    pool.workers += started;
    return started;
}

static int worker_limit(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores;
}

// A forked child has the queue but not the threads.
static void notice_fork(void)
{
    if (pool.owner == getpid())
        return;
    pool.owner = getpid();
    pool.workers = pool.idle = 0;
    pool.first = pool.last = NULL;
}

bool sm_workers_add(sm_job *job)
{
    pthread_mutex_lock(&pool.lock);
    notice_fork();
    bool accepted = !pool.stopping;
    if (accepted && !pool.idle && pool.workers < worker_limit())
        accepted = start_worker() || pool.workers > 0;
    if (accepted) {
        job->next = NULL;
        job->previous = pool.last;
        *(pool.last ? &pool.last->next : &pool.first) = job;
        pool.last = job;
        job->queued = true;
        pthread_cond_signal(&pool.changed);
    }
    pthread_mutex_unlock(&pool.lock);
    return accepted;
}

bool sm_workers_take(sm_job *job)
{
    pthread_mutex_lock(&pool.lock);
    bool taken = job->queued;
    if (taken)
        unlink_job(job);
    pthread_mutex_unlock(&pool.lock);
    return taken;
}

// Destructors run after main: jobs that nobody waits for any more are dropped, running ones end with their
// tool.
__attribute__((destructor)) static void stop_workers(void)
{
    if (pool.owner && pool.owner != getpid())
        return;
    sm_process_stop();
    pthread_mutex_lock(&pool.lock);
    pool.stopping = true;
    pthread_cond_broadcast(&pool.changed);
    while (pool.workers > 0)
        pthread_cond_wait(&pool.ended, &pool.lock);
    while (pool.first) {
        sm_job *job = pool.first;
        unlink_job(job);
        pthread_mutex_unlock(&pool.lock);
        job->drop(job);
        pthread_mutex_lock(&pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    sm_cache_close();
}
