// SPDX-License-Identifier: MIT
// Many threads: parts of a graph encoded in parallel into enqueued command buffers of one queue, a chain of
// command buffers submitted by completed handlers on another, encoders handed from thread to thread between
// dispatches, and threads by the hundred that live for one command buffer each. At the end it prints each
// command buffer as a line of JSON; all have labels of their own, since the order is anybody's. Knows nothing
// of where or under what it runs. Arguments: rounds, brief threads.
#include "targets/stranger_work.h"

#include <pthread.h>

enum { THREADS = 8, NODES = 12, CHAIN = 24, TURNS = 6, AT_ONCE = 16, MOST = 4096 };

static NSString *const source =
    @"kernel void left(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n"
    @"kernel void right(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 2; }\n"
    @"kernel void middle(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 3; }\n";

static struct {
    id<MTLDevice> device;
    id<MTLCommandQueue> queues[2];
    id<MTLBuffer> data;
    struct kernel kernels[3];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int links, turn;         // of the chain that have completed; whose turn the handed encoder is
    struct work works[MOST]; // every command buffer, each used by one thread at a time
    int work_count;
} app = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void set_up(void)
{
    NSError *error = nil;
    static const char *const names[] = {"left", "right", "middle"};
    app.device = MTLCreateSystemDefaultDevice();
    app.queues[0] = [app.device newCommandQueueWithMaxCommandBufferCount:256];
    app.queues[1] = [app.device newCommandQueue];
    app.data = [app.device newBufferWithLength:1 << 16 options:0];
    id<MTLLibrary> library = [app.device newLibraryWithSource:source options:nil error:&error];
    for (int i = 0; i < 3; i++) {
        id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:names[i]]];
        app.kernels[i].name = names[i];
        app.kernels[i].state = [app.device newComputePipelineStateWithFunction:function error:&error];
        [function release];
        if (!app.kernels[i].state)
            exit(1);
    }
    [library release];
}

static struct work *new_work(unsigned queue, NSString *label)
{
    pthread_mutex_lock(&app.lock);
    struct work *work = &app.works[app.work_count++];
    pthread_mutex_unlock(&app.lock);
    *work = work_on([app.queues[queue] commandBuffer], queue, 0);
    work_label(work, [label retain]); // let go of when all is printed
    return work;
}

static void dispatch(struct work *work, unsigned which, unsigned size)
{
    work_pipeline(work, &app.kernels[which % 3]);
    [work->compute setBuffer:app.data offset:0 atIndex:0];
    if (size % 3 == 0)
        work_threads(work, MTLSizeMake(size + 1, 1, 1), MTLSizeMake(16, 1, 1));
    else
        work_threadgroups(work, MTLSizeMake(size + 1, 1, 1), MTLSizeMake(8, 1, 1));
}

static void start_thread(pthread_t *thread, void *(*body)(void *), void *context)
{
    if (pthread_create(thread, NULL, body, context) != 0)
        exit(1);
}

// ---- a graph in parallel ----
struct share {
    struct work *work;
    unsigned number;
};

static void *encode_share(void *context)
{
    const struct share *share = context;
    struct work *work = share->work;
    @autoreleasepool {
        work_compute_typed(work, MTLDispatchTypeConcurrent);
        for (unsigned i = 0; i < NODES; i++) {
            work_push(work, i % 2 ? @"odd" : @"even");
            if (i % 4 == 3)
                work_barrier(work);
            dispatch(work, share->number + i, 10 * share->number + i);
            work_pop(work);
        }
        work_end_encoder(work);
        work_commit(work);
    }
    return NULL;
}

static void parallel_round(int round)
{
    struct share shares[THREADS];
    pthread_t threads[THREADS];
    @autoreleasepool {
        for (unsigned i = 0; i < THREADS; i++) {
            shares[i] =
                (struct share){new_work(0, [NSString stringWithFormat:@"round %d share %u", round, i]), i};
            work_enqueue(shares[i].work);
        }
        for (unsigned i = 0; i < THREADS; i++)
            start_thread(&threads[i], encode_share, &shares[i]);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        work_wait(shares[THREADS - 1].work);
    }
}

// ---- a chain of handlers ----
static void next_link(int number)
{
    struct work *work = new_work(1, [NSString stringWithFormat:@"link %d", number]);
    work_compute(work);
    dispatch(work, (unsigned)number, (unsigned)number);
    work_end_encoder(work);
    work->handlers = 1;
    [work->buffer addCompletedHandler:^(id<MTLCommandBuffer> buffer) {
        (void)buffer;
        @autoreleasepool {
            if (number + 1 < CHAIN)
                next_link(number + 1);
        }
        pthread_mutex_lock(&app.lock);
        app.links++;
        pthread_cond_broadcast(&app.changed);
        pthread_mutex_unlock(&app.lock);
    }];
    work_commit(work);
}

static void wait_for_chain(void)
{
    pthread_mutex_lock(&app.lock);
    while (app.links < CHAIN)
        pthread_cond_wait(&app.changed, &app.lock);
    pthread_mutex_unlock(&app.lock);
}

// ---- encoders from hand to hand ----
// Two threads take turns at two encoders: at every turn each has the other one.
struct hands {
    struct work *works[2];
    int me;
};

static void wait_for_turn(int turn)
{
    pthread_mutex_lock(&app.lock);
    while (app.turn < 2 * turn) // both have done the turn before
        pthread_cond_wait(&app.changed, &app.lock);
    pthread_mutex_unlock(&app.lock);
}

static void end_turn(void)
{
    pthread_mutex_lock(&app.lock);
    app.turn++;
    pthread_cond_broadcast(&app.changed);
    pthread_mutex_unlock(&app.lock);
}

static void *take_turns(void *context)
{
    const struct hands *hands = context;
    for (int turn = 0; turn < TURNS; turn++) {
        wait_for_turn(turn);
        @autoreleasepool {
            int which = (hands->me + turn) % 2;
            struct work *work = hands->works[which];
            if (turn == 0)
                work_compute(work);
            if (turn % 3 != 1) // at the others the pipeline is that of the thread before
                dispatch(work, (unsigned)(which + turn), (unsigned)turn);
            work_push(work, @"handed");
            work_threads(work, MTLSizeMake((NSUInteger)turn + 1, 2, 1), MTLSizeMake(1, 1, 1));
            if (turn % 2)
                work_pop(work);
            if (turn == TURNS - 1) {
                while (work->group_count)
                    work_pop(work);
                work_end_encoder(work);
                work_commit(work);
                work_wait(work);
            }
        }
        end_turn();
    }
    return NULL;
}

static void handed_over(int round)
{
    struct hands hands[2];
    pthread_t threads[2];
    @autoreleasepool {
        app.turn = 0;
        for (int i = 0; i < 2; i++)
            hands[0].works[i] = hands[1].works[i] =
                new_work((unsigned)i, [NSString stringWithFormat:@"handed %d %d", round, i]);
        for (int i = 0; i < 2; i++) {
            hands[i].me = i;
            start_thread(&threads[i], take_turns, &hands[i]);
        }
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
}

// Another thread ends an encoder of ours and begins one that we go on with; it may well be at the same place
// in memory.
static void *go_on(void *context)
{
    struct work **works = context;
    @autoreleasepool {
        dispatch(works[0], 1, 4);
        work_end_encoder(works[0]);
        work_commit(works[0]);
        work_compute(works[1]);
        dispatch(works[1], 2, 5);
    }
    return NULL;
}

static void handed_back(int round)
{
    pthread_t thread;
    @autoreleasepool {
        struct work *works[] = {new_work(0, [NSString stringWithFormat:@"handed back %d one", round]),
                                new_work(0, [NSString stringWithFormat:@"handed back %d two", round])};
        work_compute(works[0]);
        dispatch(works[0], 0, 7);
        start_thread(&thread, go_on, works);
        pthread_join(thread, NULL);
        work_threadgroups(works[1], MTLSizeMake(6, 1, 1), MTLSizeMake(8, 1, 1));
        dispatch(works[1], 1, 8);
        work_end_encoder(works[1]);
        work_commit(works[1]);
    }
}

// ---- brief threads ----
static void *live_briefly(void *context)
{
    int number = *(int *)context;
    @autoreleasepool {
        struct work *work = new_work(number % 2, [NSString stringWithFormat:@"brief %d", number]);
        work_compute(work);
        dispatch(work, (unsigned)number, (unsigned)number % 50);
        work_end_encoder(work);
        if (number % 5 == 0) {
            work_blit(work, false);
            [work->blit fillBuffer:app.data range:NSMakeRange(0, 64) value:0];
            work->blits = 1;
            work->blit_bytes = 64;
            work_end_encoder(work);
        }
        work_commit(work);
        if (number % 3 == 0)
            work_wait(work);
    }
    return NULL;
}

static void brief_threads(int count)
{
    pthread_t threads[AT_ONCE];
    int numbers[AT_ONCE];
    for (int first = 0; first < count; first += AT_ONCE) {
        int batch = count - first < AT_ONCE ? count - first : AT_ONCE;
        for (int i = 0; i < batch; i++) {
            numbers[i] = first + i;
            start_thread(&threads[i], live_briefly, &numbers[i]);
        }
        for (int i = 0; i < batch; i++)
            pthread_join(threads[i], NULL);
    }
}

// ---- the end ----
static int by_text(const void *one, const void *other)
{
    return strcmp(((const struct said *)one)->text, ((const struct said *)other)->text);
}

static void finish(void)
{
    for (int i = 0; i < app.work_count; i++)
        [app.works[i].buffer waitUntilCompleted];
    struct said *lines = calloc((size_t)app.work_count + 1, sizeof *lines);
    for (int i = 0; i < app.work_count; i++) {
        app.works[i].waits_completed++;
        work_say(&app.works[i], &lines[i]);
        [app.works[i].label release];
    }
    qsort(lines, (size_t)app.work_count, sizeof *lines, by_text);
    for (int i = 0; i < app.work_count; i++)
        said_print(&lines[i]);
    free(lines);
    for (int i = 0; i < 3; i++)
        [app.kernels[i].state release];
    [app.data release];
    [app.queues[0] release];
    [app.queues[1] release];
    [app.device release];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 6, brief = argc > 2 ? atoi(argv[2]) : 300;
    @autoreleasepool {
        set_up();
        next_link(0);
        for (int round = 0; round < rounds; round++) {
            parallel_round(round);
            handed_over(round);
            handed_back(round);
        }
        brief_threads(brief);
        wait_for_chain();
        finish();
    }
    return 0;
}
