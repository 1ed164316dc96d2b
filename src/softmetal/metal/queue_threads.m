// SPDX-License-Identifier: MIT
// The threads that run queues. They belong to nobody: a queue borrows one while it has work, so thousands of
// queues need few threads, and as many run at once as have work (a queue may block on an event of another).
// An idle thread waits a while for the next queue and ends.
#import "metal/submission.h"

#include <stdlib.h>
#include <time.h>

enum { IDLE_SECONDS = 2 };

typedef struct worker {
    struct worker *next;
    SMGPUCommandQueue *queue; // retained; what to run next
    pthread_cond_t wake;
} worker;

static struct {
    pthread_mutex_t lock;
    worker *idle;  // the one that became idle last comes first: its caches are warm
    worker *spare; // of threads that ended; never freed, so that a late signal does no harm
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void leave_idle_list(worker *self)
{
    worker **link = &pool.idle;
    while (*link != self)
        link = &(*link)->next;
    *link = self->next;
}

// Waits as an idle thread. False if nothing came: the worker is spare then, and no longer this thread's.
static bool wait_for_queue(worker *self)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += IDLE_SECONDS;
    pthread_mutex_lock(&pool.lock);
    self->next = pool.idle;
    pool.idle = self;
    int error = 0;
    while (!self->queue && !error)
        error = pthread_cond_timedwait(&self->wake, &pool.lock, &deadline);
    bool has_queue = self->queue != nil;
    if (!has_queue) {
        leave_idle_list(self);
        self->next = pool.spare;
        pool.spare = self;
    }
    pthread_mutex_unlock(&pool.lock);
    return has_queue;
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    GSRegisterCurrentThread();
    do {
        SMGPUCommandQueue *queue = self->queue;
        self->queue = nil;
        NSAutoreleasePool *autoreleased = [NSAutoreleasePool new];
        [queue runWithPool:autoreleased];
        [queue release];
        [autoreleased drain];
    } while (wait_for_queue(self));
    GSUnregisterCurrentThread();
    return NULL;
}

static worker *new_worker(void)
{
    worker *self = calloc(1, sizeof *self);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (!self || pthread_cond_init(&self->wake, &attributes) != 0)
        abort();
    pthread_condattr_destroy(&attributes);
    return self;
}

static void create_thread(worker *self)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, worker_main, self) != 0) {
        fputs("softmetal: cannot start a thread for a command queue\n", stderr);
        abort();
    }
    pthread_attr_destroy(&attributes);
}

void sm_start_worker(SMGPUCommandQueue *queue)
{
    [queue retain];
    pthread_mutex_lock(&pool.lock);
    bool is_idle = pool.idle != NULL;
    worker **list = is_idle ? &pool.idle : &pool.spare;
    worker *found = *list;
    if (found) {
        *list = found->next;
        found->queue = queue;
    }
    pthread_mutex_unlock(&pool.lock);
    if (is_idle) {
        pthread_cond_signal(&found->wake); // without the lock: it need not wait for us
        return;
    }
    if (!found)
        found = new_worker();
    found->queue = queue;
    create_thread(found);
}
