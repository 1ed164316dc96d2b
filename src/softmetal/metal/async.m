// SPDX-License-Identifier: MIT
// The completion-handler forms of Metal's creation methods: the work runs on a thread of its own, which ends
// with it. A thread each, not a queue: a handler may wait for another handler.
#import "metal/resource.h"

#include <stdlib.h>

typedef struct async_call {
    void (*function)(void *context);
    void *context;
} async_call;

static void *run(void *argument)
{
    async_call call = *(async_call *)argument;
    free(argument);
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    call.function(call.context);
    [pool drain];
    return NULL;
}

void sm_run_async(void (*function)(void *context), void *context)
{
    pthread_t thread;
    async_call *call = malloc(sizeof *call);
    if (call) {
        *call = (async_call){function, context};
        if (pthread_create(&thread, NULL, run, call) == 0) {
            pthread_detach(thread);
            return;
        }
    }
    // No memory or no thread: late is better than never.
    free(call);
    function(context);
}
