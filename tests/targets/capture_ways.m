// SPDX-License-Identifier: MIT
// Submits command buffers in one of the ways that programs have: capture_ways WAY. Knows nothing of a tap.
// Prints each command buffer in order of creation, checks that all of them did their work, and ends with
// "done N" (or the number of those that did not).
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_BUFFERS = 1024, PIECE_BYTES = 4096, THREADS = 4 };

static id<MTLDevice> device;
static id<MTLCommandQueue> queues[2];
static id<MTLBuffer> memory; // command buffer n fills the nth piece
static struct {
    pthread_mutex_t lock;
    unsigned count;
    bool will_run[MAX_BUFFERS];
} made = {.lock = PTHREAD_MUTEX_INITIALIZER};

// ---- command buffers ----
static void fill_piece(id<MTLCommandBuffer> commands, unsigned number)
{
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder fillBuffer:memory range:NSMakeRange((NSUInteger)number * PIECE_BYTES, PIECE_BYTES) value:1];
    [encoder endEncoding];
}

// Created and numbered, nothing encoded; owned by the caller.
static id<MTLCommandBuffer> create(unsigned queue, NSString *label, unsigned *number)
{
    pthread_mutex_lock(&made.lock);
    id<MTLCommandBuffer> commands = [[queues[queue] commandBuffer] retain];
    *number = made.count++;
    printf("buffer %u %s\n", *number, [label UTF8String]);
    pthread_mutex_unlock(&made.lock);
    [commands setLabel:label];
    made.will_run[*number] = true;
    return commands;
}

static id<MTLCommandBuffer> filled(unsigned queue, NSString *label)
{
    unsigned number;
    id<MTLCommandBuffer> commands = create(queue, label, &number);
    fill_piece(commands, number);
    return commands;
}

static NSString *text(const char *format, int a, int b)
{
    char label[64];
    snprintf(label, sizeof label, format, a, b);
    return [NSString stringWithUTF8String:label];
}

static void finish(id<MTLCommandBuffer> commands)
{
    [commands commit];
    [commands waitUntilCompleted];
    [commands release];
}

static int report(void)
{
    const unsigned char *bytes = [memory contents];
    unsigned wrong = 0;
    for (unsigned n = 0; n < made.count; n++) {
        bool has_run = bytes[n * PIECE_BYTES] == 1 && bytes[n * PIECE_BYTES + PIECE_BYTES - 1] == 1;
        wrong += has_run != made.will_run[n];
    }
    if (wrong)
        printf("wrong %u\n", wrong);
    else
        printf("done %u\n", made.count);
    return wrong ? 1 : 0;
}

// ---- one thread ----
// Step s has s + 1 buffers; the program waits for each of its steps twice.
static void steps(void)
{
    for (int step = 0; step < 4; step++) {
        id<MTLCommandBuffer> last = nil;
        for (int i = 0; i <= step; i++) {
            [last release];
            last = filled(0, text("step %d.%d", step, i));
            [last commit];
        }
        [last waitUntilCompleted];
        [last waitUntilCompleted];
        [last release];
    }
}

// The next buffer is made before the wait for the last one, as MLX does.
static void early(void)
{
    unsigned number, next_number;
    id<MTLCommandBuffer> commands = create(0, @"early 0", &number);
    for (int i = 1; i <= 6; i++) {
        fill_piece(commands, number);
        [commands commit];
        id<MTLCommandBuffer> next = create(0, text("early %d", i, 0), &next_number);
        [commands waitUntilCompleted];
        [commands release];
        commands = next;
        number = next_number;
    }
    made.will_run[number] = false;
    [commands release];
}

static void two_queues(void)
{
    id<MTLCommandBuffer> list[8];
    for (int i = 0; i < 8; i++) {
        list[i] = filled((unsigned)i % 2, text("queue %d.%d", i % 2, i / 2));
        [list[i] commit];
    }
    for (int i = 0; i < 8; i++) {
        [list[i] waitUntilCompleted];
        [list[i] release];
    }
}

static void reversed(void)
{
    for (int i = 0; i < 3; i++) {
        id<MTLCommandBuffer> first = filled(0, text("reversed %d.%d", i, 0));
        id<MTLCommandBuffer> second = filled(0, text("reversed %d.%d", i, 1));
        [second commit];
        finish(first);
        [second waitUntilCompleted];
        [second release];
    }
}

// The second is dropped with no commit.
static void dropped(void)
{
    for (int i = 0; i < 5; i++) {
        @autoreleasepool {
            id<MTLCommandBuffer> commands = filled(0, text("dropped %d", i, 0));
            made.will_run[i] = i != 1;
            if (i != 1)
                finish(commands);
            else
                [commands release];
        }
    }
}

// The first is kept and never committed.
static void kept(void)
{
    unsigned number;
    id<MTLCommandBuffer> commands = create(0, @"kept 0", &number);
    made.will_run[number] = false;
    for (int i = 1; i < 100; i++)
        finish(filled(0, text("kept %d", i, 0)));
    [commands release];
}

// The program has a capture of its own while it makes its first two.
static void own(void)
{
    MTLCaptureManager *manager = [MTLCaptureManager sharedCaptureManager];
    MTLCaptureDescriptor *descriptor = [[MTLCaptureDescriptor new] autorelease];
    NSError *error = nil;
    [descriptor setCaptureObject:device];
    [descriptor setDestination:MTLCaptureDestinationGPUTraceDocument];
    [descriptor setOutputURL:[NSURL fileURLWithPath:@"own.gputrace"]];
    printf("own capture %d\n", [manager startCaptureWithDescriptor:descriptor error:&error]);
    finish(filled(0, @"own 0"));
    finish(filled(0, @"own 1"));
    [manager stopCapture];
    finish(filled(0, @"own 2"));
    finish(filled(0, @"own 3"));
}

// A child without a program of its own comes and goes while the second buffer is open.
static void forked(void)
{
    finish(filled(0, @"forked 0"));
    id<MTLCommandBuffer> commands = filled(0, @"forked 1");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    finish(commands);
    finish(filled(0, @"forked 2"));
}

// ---- on the GPU's side ----
// The first needs a signal of the second, on another queue.
static void gpu_event(void)
{
    id<MTLEvent> event = [device newEvent];
    for (int i = 0; i < 2; i++) {
        id<MTLCommandBuffer> first = filled(0, text("event %d.%d", i, 0));
        id<MTLCommandBuffer> second = filled(1, text("event %d.%d", i, 1));
        [first encodeWaitForEvent:event value:(uint64_t)i + 1];
        [second encodeSignalEvent:event value:(uint64_t)i + 1];
        [first commit];
        finish(second);
        [first waitUntilCompleted];
        [first release];
    }
    [event release];
}

// The second takes its place in the queue before the first.
static void enqueued(void)
{
    for (int i = 0; i < 2; i++) {
        id<MTLCommandBuffer> first = filled(0, text("enqueued %d.%d", i, 0));
        id<MTLCommandBuffer> second = filled(0, text("enqueued %d.%d", i, 1));
        [second enqueue];
        [first enqueue];
        [first commit];
        finish(second);
        [first waitUntilCompleted];
        [first release];
    }
}

// ---- without a wait of Metal's ----
static void completed(void)
{
    static sem_t room;
    enum { COUNT = 300, AT_ONCE = 3 };
    sem_init(&room, 0, AT_ONCE);
    sem_t *const signal = &room;
    for (int i = 0; i < COUNT; i++) {
        sem_wait(signal);
        id<MTLCommandBuffer> commands = filled(0, text("completed %d", i, 0));
        [commands addCompletedHandler:^(id<MTLCommandBuffer> it) {
            (void)it;
            sem_post(signal);
        }];
        [commands commit];
        [commands release];
    }
    for (int i = 0; i < AT_ONCE; i++)
        sem_wait(signal);
}

// Each is committed by the completed handler of the one before.
static void chain(void)
{
    static sem_t end;
    enum { COUNT = 4 };
    id<MTLCommandBuffer> list[COUNT];
    sem_init(&end, 0, 0);
    sem_t *const signal = &end;
    for (int i = 0; i < COUNT; i++)
        list[i] = filled(0, text("chain %d", i, 0));
    for (int i = 0; i < COUNT; i++) {
        id<MTLCommandBuffer> next = i + 1 < COUNT ? list[i + 1] : nil;
        [list[i] addCompletedHandler:^(id<MTLCommandBuffer> it) {
            (void)it;
            [next commit];
            if (!next)
                sem_post(signal);
        }];
    }
    [list[0] commit];
    sem_wait(signal);
    for (int i = 0; i < COUNT; i++)
        [list[i] release];
}

// ---- several threads ----
static void on_threads(void *(*run)(void *), void *arguments, size_t size)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (char *)arguments + i * size);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

typedef struct part {
    id<MTLCommandBuffer> commands;
    unsigned number;
} part;

static void *encode_part(void *argument)
{
    @autoreleasepool {
        part *it = argument;
        fill_piece(it->commands, it->number);
        [it->commands commit];
    }
    return NULL;
}

// One thread makes the buffers in order, others encode and commit them, as llama.cpp does.
static void parallel(void)
{
    for (int round = 0; round < 3; round++) {
        part parts[THREADS];
        for (int i = 0; i < THREADS; i++) {
            parts[i].commands = create(0, text("parallel %d.%d", round, i), &parts[i].number);
            [parts[i].commands enqueue];
        }
        on_threads(encode_part, parts, sizeof *parts);
        [parts[THREADS - 1].commands waitUntilCompleted];
        for (int i = 0; i < THREADS; i++)
            [parts[i].commands release];
    }
}

static void *submit_alone(void *argument)
{
    const int thread = *(int *)argument;
    for (int i = 0; i < 8; i++) {
        @autoreleasepool {
            finish(filled((unsigned)thread % 2, text("alone %d.%d", thread, i)));
        }
    }
    return NULL;
}

// Each thread for itself, on two queues.
static void alone(void)
{
    int numbers[THREADS] = {0, 1, 2, 3};
    on_threads(submit_alone, numbers, sizeof *numbers);
}

// The same without this program's lock, so that creations meet: no order is known here.
static void *submit_racing(void *argument)
{
    const int thread = *(int *)argument;
    id<MTLCommandBuffer> last = nil;
    for (int i = 0; i < 8; i++) {
        @autoreleasepool {
            id<MTLCommandBuffer> commands = [[queues[thread % 2] commandBuffer] retain];
            unsigned number = (unsigned)(thread * 8 + i);
            [commands setLabel:text("racing %d.%d", thread, i)];
            fill_piece(commands, number);
            made.will_run[number] = true;
            [commands commit];
            [last release];
            last = commands;
        }
    }
    [last waitUntilCompleted];
    [last release];
    return NULL;
}

static void racing(void)
{
    int numbers[THREADS] = {0, 1, 2, 3};
    made.count = 8 * THREADS;
    on_threads(submit_racing, numbers, sizeof *numbers);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"steps", steps},       {"early", early},         {"queues", two_queues}, {"reversed", reversed},
    {"dropped", dropped},   {"kept", kept},           {"own", own},           {"event", gpu_event},
    {"enqueued", enqueued}, {"completed", completed}, {"chain", chain},       {"alone", alone},
    {"parallel", parallel}, {"racing", racing},       {"forked", forked},
};

int main(int argc, char **argv)
{
    int status = 2;
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        memory = [device newBufferWithLength:(NSUInteger)MAX_BUFFERS * PIECE_BYTES
                                     options:MTLResourceStorageModeShared];
        for (int i = 0; i < 2; i++)
            queues[i] = [device newCommandQueue];
        for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++) {
            if (strcmp(argv[1], ways[i].name) == 0) {
                ways[i].run();
                status = report();
            }
        }
        for (int i = 0; i < 2; i++)
            [queues[i] release];
        [memory release];
    }
    return status;
}
