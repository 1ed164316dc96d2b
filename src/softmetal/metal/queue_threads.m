// SPDX-License-Identifier: MIT
// The threads that run queues. They belong to nobody: a queue borrows one while it has work, so thousands of
// queues need few threads, and as many run at once as have work (a queue may block on an event of another).
// An idle thread waits a while for the next queue and ends.
#import "metal/submission.h"

#include <stdlib.h>
#include <time.h>

enum { IDLE_SECONDS = 2 };

typedef struct worker {
    struct worker *next_idle;
    SMGPUCommandQueue *queue; // retained; what to run next
    pthread_cond_t wake;
} worker;

static struct {
    pthread_mutex_t lock;
    worker *idle; // the one that became idle last comes first: its caches are warm
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void run_queue(SMGPUCommandQueue *queue)
{
    NSAutoreleasePool *autoreleased = [NSAutoreleasePool new];
    [queue run];
    [queue release];
    [autoreleased drain];
}

static void leave_idle_list(worker *self)
{
    worker **link = &pool.idle;
    while (*link != self)
        link = &(*link)->next_idle;
    *link = self->next_idle;
}

// Waits as an idle thread. True if there is a queue to run.
static bool wait_for_queue(worker *self)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += IDLE_SECONDS;
    pthread_mutex_lock(&pool.lock);
    self->next_idle = pool.idle;
    pool.idle = self;
    int error = 0;
    while (!self->queue && !error)
        error = pthread_cond_timedwait(&self->wake, &pool.lock, &deadline);
    if (!self->queue)
        leave_idle_list(self);
    pthread_mutex_unlock(&pool.lock);
    return self->queue != nil;
}

static void *worker_main(void *first_queue)
{
    worker self = {.queue = first_queue};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self.wake, &attributes);
    pthread_condattr_destroy(&attributes);
    GSRegisterCurrentThread();
    do {
        SMGPUCommandQueue *queue = self.queue;
        self.queue = nil;
        run_queue(queue);
    } while (wait_for_queue(&self));
    GSUnregisterCurrentThread();
    pthread_cond_destroy(&self.wake);
    return NULL;
}

static void create_thread(SMGPUCommandQueue *queue)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, worker_main, queue) != 0) {
        fputs("softmetal: cannot start a thread for a command queue\n", stderr);
        abort();
    }
    pthread_attr_destroy(&attributes);
}

void sm_start_worker(SMGPUCommandQueue *queue)
{
    [queue retain];
    pthread_mutex_lock(&pool.lock);
    worker *idle = pool.idle;
    if (idle) {
        pool.idle = idle->next_idle;
        idle->queue = queue;
        pthread_cond_signal(&idle->wake);
    }
    pthread_mutex_unlock(&pool.lock);
    if (!idle)
        create_thread(queue);
}
