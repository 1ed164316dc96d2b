// SPDX-License-Identifier: MIT
// Small Metal programs in one, for what a program can see of its surroundings and how it can end. Prints
// nothing that differs from run to run, unless it is asked to. Arguments: what to do (see the table at the
// end), then anything. Knows nothing of where or under what it runs.
#define _GNU_SOURCE
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLComputePipelineState> pipeline;
    id<MTLBuffer> data;
    char **arguments; // behind what to do
} app;

static void set_up(void)
{
    NSError *error = nil;
    app.device = MTLCreateSystemDefaultDevice();
    app.queue = [app.device newCommandQueue];
    id<MTLLibrary> library = [app.device
        newLibraryWithSource:@"kernel void one(device float *x [[buffer(0)]],\n"
                             @"                uint i [[thread_position_in_grid]]) { x[i] += 1; }\n"
                     options:nil
                       error:&error];
    id<MTLFunction> function = [library newFunctionWithName:@"one"];
    app.pipeline = [app.device newComputePipelineStateWithFunction:function error:&error];
    app.data = [app.device newBufferWithLength:4096 options:0];
    [function release];
    [library release];
}

static id<MTLCommandBuffer> submit(NSString *label)
{
    id<MTLCommandBuffer> commands = [app.queue commandBuffer];
    [commands setLabel:label];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:app.pipeline];
    [encoder setBuffer:app.data offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(100, 1, 1) threadsPerThreadgroup:MTLSizeMake(32, 1, 1)];
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    return commands;
}

static void work(void)
{
    @autoreleasepool {
        set_up();
        for (int i = 0; i < 3; i++)
            submit(@"step");
        printf("result %g\n", (double)*(float *)[app.data contents]);
    }
}

// ---- ways to end ----
static int end_return(void)
{
    work();
    return 5;
}

static int end_exit(void)
{
    work();
    exit(3);
}

static void last_words(void)
{
    printf("said at exit\n");
}

static int end_at_exit(void)
{
    atexit(last_words);
    work();
    exit(4);
}

static int end_quickly(void)
{
    work();
    fflush(stdout);
    _exit(6);
}

static int end_abort(void)
{
    work();
    fflush(stdout);
    abort();
}

static int end_crash(void)
{
    work();
    fflush(stdout);
    volatile uintptr_t nowhere = 16;
    *(volatile int *)nowhere = 1;
    return 0;
}

static int end_signal(void)
{
    work();
    fflush(stdout);
    raise(SIGTERM);
    return 0;
}

static int end_in_handler(void)
{
    @autoreleasepool {
        set_up();
        id<MTLCommandBuffer> commands = [app.queue commandBuffer];
        [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
            (void)done;
            printf("completed\n");
            exit(7);
        }];
        [commands commit];
        pause();
    }
    return 0;
}

// ---- errno ----
#define TELL_ERRNO(what, call)                                                                               \
    do {                                                                                                     \
        errno = EXDEV;                                                                                       \
        call;                                                                                                \
        printf("errno after %s: %s\n", what, strerrorname_np(errno));                                        \
    } while (0)

static int tell_errno(void)
{
    @autoreleasepool {
        set_up();
        id<MTLCommandBuffer> commands = nil;
        id<MTLComputeCommandEncoder> encoder = nil;
        id<MTLBlitCommandEncoder> blit = nil;
        id<MTLCommandQueue> queue = nil;
        id<MTLBuffer> buffer = nil;
        for (int i = 0; i < 20; i++) {
            TELL_ERRNO("newCommandQueue", queue = [app.device newCommandQueue]);
            TELL_ERRNO("queue setLabel", [queue setLabel:@"queue"]);
            TELL_ERRNO("newBuffer", buffer = [app.device newBufferWithLength:64 options:0]);
            TELL_ERRNO("commandBuffer", commands = [app.queue commandBuffer]);
            TELL_ERRNO("setLabel", [commands setLabel:@"label"]);
            TELL_ERRNO("enqueue", [commands enqueue]);
            TELL_ERRNO("computeCommandEncoder", encoder = [commands computeCommandEncoder]);
            TELL_ERRNO("pushDebugGroup", [encoder pushDebugGroup:@"group"]);
            TELL_ERRNO("setComputePipelineState", [encoder setComputePipelineState:app.pipeline]);
            TELL_ERRNO("setBuffer", [encoder setBuffer:buffer offset:0 atIndex:0]);
            TELL_ERRNO("dispatchThreads", [encoder dispatchThreads:MTLSizeMake(16, 1, 1)
                                              threadsPerThreadgroup:MTLSizeMake(16, 1, 1)]);
            TELL_ERRNO("dispatchThreadgroups", [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1)
                                                       threadsPerThreadgroup:MTLSizeMake(16, 1, 1)]);
            TELL_ERRNO("popDebugGroup", [encoder popDebugGroup]);
            TELL_ERRNO("endEncoding", [encoder endEncoding]);
            TELL_ERRNO("blitCommandEncoder", blit = [commands blitCommandEncoder]);
            TELL_ERRNO("fillBuffer", [blit fillBuffer:buffer range:NSMakeRange(0, 4) value:0]);
            TELL_ERRNO("blit endEncoding", [blit endEncoding]);
            TELL_ERRNO("addCompletedHandler", [commands addCompletedHandler:^(id<MTLCommandBuffer> done) {
                           (void)done;
                       }]);
            TELL_ERRNO("commit", [commands commit]);
            [commands waitUntilCompleted];
            TELL_ERRNO("waitUntilCompleted", [commands waitUntilCompleted]);
            [buffer release];
            [queue release];
        }
    }
    return 0;
}

// ---- signals ----
static void tell_file(const char *path, const char *const *keys)
{
    char line[512];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        for (const char *const *key = keys; *key; key++) {
            if (strncmp(line, *key, strlen(*key)) == 0)
                printf("%s", line);
        }
    }
    if (file)
        fclose(file);
}

static void own_handler(int number)
{
    (void)number;
}

static int tell_signals(void)
{
    static const char *const keys[] = {"SigBlk:", "SigIgn:", "SigCgt:", "SigPnd:", NULL};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    signal(SIGUSR1, own_handler);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    work();
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0)
            printf("signal %d: %s, flags %x\n", number,
                   action.sa_handler == SIG_DFL       ? "default"
                   : action.sa_handler == SIG_IGN     ? "ignored"
                   : action.sa_handler == own_handler ? "ours"
                                                      : "other",
                   (unsigned)action.sa_flags);
    }
    tell_file("/proc/self/status", keys);
    return 0;
}

// Signals that are sent to the process have to reach a thread of the program's.
static int arrived; // set in whatever thread gets it
static void count_arrival(int number)
{
    (void)number;
    char name[32] = "";
    int file = open("/proc/thread-self/comm", O_RDONLY);
    if (read(file, name, sizeof name - 1) > 0)
        __atomic_store_n(&arrived, strncmp(name, "metaltap", 8) == 0 ? 2 : 1, __ATOMIC_RELAXED);
    close(file);
}

static int tell_delivery(void)
{
    work();
    signal(SIGUSR1, count_arrival);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    // Blocked here, it goes to any other thread that does not block it, or stays.
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    for (int i = 0; i < 50; i++) {
        kill(getpid(), SIGUSR1);
        usleep(1000);
        if (__atomic_load_n(&arrived, __ATOMIC_RELAXED) == 2)
            break;
    }
    printf("%s\n", __atomic_load_n(&arrived, __ATOMIC_RELAXED) == 2
                       ? "a thread of somebody else got the signal"
                       : "no other thread got the signal");
    return 0;
}

// ---- owners ----
static void tell_owners(const char *what, id object)
{
    printf("%s: %lu\n", what, (unsigned long)[object retainCount]);
}

static int tell_retain_counts(void)
{
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    set_up();
    tell_owners("device", app.device);
    tell_owners("queue", app.queue);
    tell_owners("pipeline", app.pipeline);
    tell_owners("buffer", app.data);
    id<MTLCommandBuffer> commands = [[app.queue commandBuffer] retain];
    tell_owners("new command buffer", commands);
    id<MTLComputeCommandEncoder> encoder = [[commands computeCommandEncoder] retain];
    [encoder setComputePipelineState:app.pipeline];
    [encoder setBuffer:app.data offset:0 atIndex:0];
    [encoder dispatchThreads:MTLSizeMake(8, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    tell_owners("encoder", encoder);
    tell_owners("pipeline in use", app.pipeline);
    tell_owners("buffer in use", app.data);
    [encoder endEncoding];
    tell_owners("ended encoder", encoder);
    [encoder release];
    [commands commit];
    [commands waitUntilCompleted];
    [pool release];
    usleep(100000); // the driver's thread lets go
    tell_owners("done command buffer", commands);
    tell_owners("queue behind", app.queue);
    tell_owners("pipeline behind", app.pipeline);
    tell_owners("buffer behind", app.data);
    tell_owners("device behind", app.device);
    [commands release];
    return 0;
}

// ---- memory ----
static long resident_kb(void)
{
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static int many(void)
{
    int count = atoi(app.arguments[0]);
    @autoreleasepool {
        set_up();
    }
    for (int i = 0; i < count; i++) {
        @autoreleasepool {
            submit(i % 2 ? @"odd" : @"even");
        }
    }
    printf("resident %ld\n", resident_kb());
    return 0;
}

// ---- children ----
static int wait_for(pid_t child)
{
    int status = 0;
    fflush(stdout);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int fork_before(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        work();
        exit(11);
    }
    printf("child %d\n", wait_for(child));
    work();
    return 0;
}

// The child leaves by exit and so runs what is registered for it; the parent works on.
static int fork_behind(void)
{
    work();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child\n");
        exit(12);
    }
    printf("child %d\n", wait_for(child));
    @autoreleasepool {
        submit(@"behind the fork");
    }
    return 0;
}

static int start_others(void)
{
    work();
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", "stranger_ways", "return", (char *)NULL);
            _exit(99);
        }
        printf("child %d\n", wait_for(child));
    }
    return 0;
}

static int become_another(void)
{
    work();
    fflush(stdout);
    execl("/proc/self/exe", "stranger_ways", "return", (char *)NULL);
    return 99;
}

static int tell_environment(void)
{
    work();
    fflush(stdout);
    execlp("env", "env", "-0", (char *)NULL);
    return 99;
}

// Waits until somebody closes standard input, so that several are there at once.
static int linger(void)
{
    char byte;
    @autoreleasepool {
        set_up();
    }
    printf("ready\n");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    @autoreleasepool {
        submit([NSString stringWithFormat:@"of %d", (int)getpid()]);
    }
    printf("pid %d\n", (int)getpid());
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} ways[] = {
    {"return", end_return},
    {"exit", end_exit},
    {"at-exit", end_at_exit},
    {"_exit", end_quickly},
    {"abort", end_abort},
    {"crash", end_crash},
    {"signal", end_signal},
    {"in-handler", end_in_handler},
    {"errno", tell_errno},
    {"signals", tell_signals},
    {"delivery", tell_delivery},
    {"retain-counts", tell_retain_counts},
    {"many", many},
    {"fork-before", fork_before},
    {"fork-behind", fork_behind},
    {"start-others", start_others},
    {"become-another", become_another},
    {"environment", tell_environment},
    {"linger", linger},
};

int main(int argc, char **argv)
{
    app.arguments = argv + 2;
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(argv[1], ways[i].name) == 0)
            return ways[i].run();
    }
    fprintf(stderr, "stranger_ways: one of the ways\n");
    return 2;
}
