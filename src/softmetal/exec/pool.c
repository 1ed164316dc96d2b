// SPDX-License-Identifier: MIT
// Helper threads, one less than there are cores, that join jobs too long for one thread. They start with the
// first offered job, sleep when there is none, and live until the process ends.
#include "exec_internal.h"
#include <pthread.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t offered, left;
    sm_job *jobs;
    int helpers;
    bool started;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .offered = PTHREAD_COND_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static sm_job *job_with_groups(void)
{
    for (sm_job *job = pool.jobs; job; job = job->following)
        if (atomic_load_explicit(&job->next, memory_order_relaxed) < job->total && !atomic_load(&job->fault))
            return job;
    return NULL;
}

static void *helper_main(void *unused)
{
    (void)unused;
    sm_worker *worker = sm_worker_current();
    pthread_mutex_lock(&pool.lock);
    while (worker) {
        sm_job *job = job_with_groups();
        if (!job) {
            pthread_cond_wait(&pool.offered, &pool.lock);
            continue;
        }
        job->active++;
        pthread_mutex_unlock(&pool.lock);
        sm_job_run(job, worker, UINT64_MAX);
        pthread_mutex_lock(&pool.lock);
        if (--job->active == 0)
            pthread_cond_broadcast(&pool.left);
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void start_helpers(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pool.started = true;
    for (long i = 1; i < cores && i < 64; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, helper_main, NULL) != 0)
            break; // the callers do the work themselves
        pthread_detach(thread);
        pool.helpers++;
    }
}

void sm_pool_offer(sm_job *job)
{
    pthread_mutex_lock(&pool.lock);
    if (!pool.started)
        start_helpers();
    job->following = pool.jobs;
    pool.jobs = job;
    pthread_cond_broadcast(&pool.offered);
    pthread_mutex_unlock(&pool.lock);
}

void sm_pool_withdraw(sm_job *job)
{
    pthread_mutex_lock(&pool.lock);
    for (sm_job **at = &pool.jobs; *at; at = &(*at)->following)
        if (*at == job) {
            *at = job->following;
            break;
        }
    while (job->active)
        pthread_cond_wait(&pool.left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}
