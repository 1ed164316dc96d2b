// SPDX-License-Identifier: MIT
// MTLSharedEventListener: where notifications run. On the application's dispatch queue if libdispatch is in
// the process, else on one thread of the listener's own, started by the first notification. Links no
// libdispatch.
#import "metal/event.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef struct job {
    struct job *next;
    void (*function)(void *context);
    void *context;
} job;

// Belongs to the listener and to its thread; whoever leaves last frees it.
typedef struct listener_thread {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job *first, **tail;
    unsigned references;
    bool is_running, stop;
} listener_thread;

// The listener's class as programs get it; the public class has no room for a thread.
@interface SMSharedEventListener : MTLSharedEventListener {
    listener_thread *_thread;
    dispatch_queue_t _queue;
}
@end

static void *dispatch_symbol(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

static void thread_release(listener_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool is_last = --thread->references == 0;
    pthread_mutex_unlock(&thread->lock);
    if (!is_last)
        return;
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}

// Waits for a job; NULL when the listener is gone and all its jobs are done.
static job *next_job(listener_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    while (!thread->first && !thread->stop)
        pthread_cond_wait(&thread->changed, &thread->lock);
    job *found = thread->first;
    if (found) {
        thread->first = found->next;
        if (!thread->first)
            thread->tail = &thread->first;
    }
    pthread_mutex_unlock(&thread->lock);
    return found;
}

static void *run_jobs(void *context)
{
    listener_thread *thread = context;
    for (job *next = next_job(thread); next; next = next_job(thread)) {
        NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
        next->function(next->context);
        free(next);
        [pool drain];
    }
    thread_release(thread);
    return NULL;
}

static listener_thread *thread_new(void)
{
    listener_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_cond_init(&thread->changed, NULL);
    thread->tail = &thread->first;
    thread->references = 1;
    return thread;
}

// Under the lock.
static void start_thread(listener_thread *thread)
{
    pthread_t id;
    if (thread->is_running || pthread_create(&id, NULL, run_jobs, thread) != 0)
        return;
    pthread_detach(id);
    thread->references++;
    thread->is_running = true;
}

static void thread_add(listener_thread *thread, void (*function)(void *), void *context)
{
    job *added = calloc(1, sizeof *added);
    if (!added)
        return;
    *added = (job){.function = function, .context = context};
    pthread_mutex_lock(&thread->lock);
    *thread->tail = added;
    thread->tail = &added->next;
    start_thread(thread);
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

static void thread_stop(listener_thread *thread)
{
    if (!thread)
        return;
    pthread_mutex_lock(&thread->lock);
    thread->stop = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    thread_release(thread);
}

@implementation MTLSharedEventListener

+ (id)allocWithZone:(NSZone *)zone
{
    if (self == [MTLSharedEventListener class])
        return [SMSharedEventListener allocWithZone:zone];
    return [super allocWithZone:zone];
}

+ (MTLSharedEventListener *)sharedListener
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static MTLSharedEventListener *shared;
    pthread_mutex_lock(&lock);
    if (!shared)
        shared = [[MTLSharedEventListener alloc] init];
    pthread_mutex_unlock(&lock);
    return shared;
}

- (instancetype)init
{
    return [super init];
}

- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue
{
    self = [self init];
    if (self)
        _dispatchQueue = queue;
    return self;
}

- (dispatch_queue_t)dispatchQueue
{
    return _dispatchQueue;
}

- (void)softmetalRun:(void (*)(void *context))function context:(void *)context
{
    sm_run_async(function, context);
}

@end

@implementation SMSharedEventListener

- (instancetype)init
{
    self = [super init];
    if (!self)
        return nil;
    _thread = thread_new();
    if (!_thread) {
        [self release];
        return nil;
    }
    return self;
}

- (instancetype)initWithDispatchQueue:(dispatch_queue_t)queue
{
    self = [super initWithDispatchQueue:queue];
    if (!self)
        return nil;
    void (*retain_queue)(void *) = (void (*)(void *))dispatch_symbol("dispatch_retain");
    if (queue && retain_queue && dispatch_symbol("dispatch_async_f")) {
        retain_queue(queue);
        _queue = queue;
    }
    return self;
}

- (void)dealloc
{
    void (*release_queue)(void *) = (void (*)(void *))dispatch_symbol("dispatch_release");
    if (_queue && release_queue)
        release_queue(_queue);
    thread_stop(_thread);
    [super dealloc];
}

- (void)softmetalRun:(void (*)(void *context))function context:(void *)context
{
    typedef void (*async_function)(dispatch_queue_t queue, void *context, void (*work)(void *));
    if (_queue)
        ((async_function)dispatch_symbol("dispatch_async_f"))(_queue, context, function);
    else
        thread_add(_thread, function, context);
}

@end
