// SPDX-License-Identifier: MIT
// Calls the hooked point through one of the recorders of peers.h, on as many threads as asked for, and prints
// what it measured as one line of JSON.
//
//     peers NAME loop|spread EVENTS THREADS FILE    events per thread; FILE is what is recorded to
//
// loop measures chunks of calls, spread single ones. The name "none" calls the original.
#define _GNU_SOURCE
#include "peers.h"

#include "samples.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { CHUNK = 1000, MOST_THREADS = 16 };

static struct {
    const struct peer *peer;
    bool spreads;
    long events;
    unsigned threads;
    pthread_barrier_t ready;
    struct samples samples[MOST_THREADS];
    int failed;
} run;

// ---- the original ----
static void nothing(id self, SEL op, mtl_size groups, mtl_size threads)
{
    __asm__ volatile("" ::"r"(self), "r"(op), "r"(&groups), "r"(&threads) : "memory");
}

static int begin_nothing(const char *path)
{
    (void)path;
    return 0;
}

static void end_nothing(void) {}

static void *encoder_isa[1];
void *peer_encoder[4] = {encoder_isa};
peer_dispatch volatile peer_original = nothing;
static const struct peer peer_none = {"none", begin_nothing, NULL, nothing, end_nothing};

// ---- measuring ----
static void measure_loop(struct samples *samples)
{
    peer_dispatch volatile dispatch = run.peer->dispatch;
    mtl_size groups = {128, 4, 1}, threads = {32, 8, 1};
    for (long done = 0; done < run.events; done += CHUNK) {
        uint64_t before = mt_os_counter();
        for (int i = 0; i < CHUNK; i++)
            dispatch((id)peer_encoder, NULL, groups, threads);
        samples_add(samples, before, mt_os_counter());
    }
}

static void measure_spread(struct samples *samples)
{
    peer_dispatch volatile dispatch = run.peer->dispatch;
    mtl_size groups = {128, 4, 1}, threads = {32, 8, 1};
    for (long done = 0; done < run.events; done++) {
        uint64_t before = mt_os_counter();
        dispatch((id)peer_encoder, NULL, groups, threads);
        samples_add(samples, before, mt_os_counter());
    }
}

static void *run_thread(void *number)
{
    struct samples *samples = &run.samples[(uintptr_t)number];
    int rc = run.peer->begin_thread ? run.peer->begin_thread() : 0;
    if (rc || samples_begin(samples, (size_t)(run.spreads ? run.events : run.events / CHUNK + 1)))
        __atomic_store_n(&run.failed, 1, __ATOMIC_RELAXED);
    pthread_barrier_wait(&run.ready);
    if (__atomic_load_n(&run.failed, __ATOMIC_RELAXED))
        return NULL;
    if (run.spreads)
        measure_spread(samples);
    else
        measure_loop(samples);
    return NULL;
}

static int run_threads(void)
{
    pthread_t threads[MOST_THREADS];
    pthread_barrier_init(&run.ready, NULL, run.threads);
    for (uintptr_t i = 0; i < run.threads; i++) {
        if (pthread_create(&threads[i], NULL, run_thread, (void *)i)) {
            fprintf(stderr, "no thread\n");
            exit(1); // those there wait for the missing one
        }
    }
    for (unsigned i = 0; i < run.threads; i++)
        pthread_join(threads[i], NULL);
    return run.failed;
}

// ---- result ----
static void print_result(void)
{
    double ns_per_tick = samples_ns_per_tick(), quiet = 0, median = 0;
    printf("{");
    if (run.spreads) {
        samples_print_spread(&run.samples[0], ns_per_tick);
    } else {
        for (unsigned i = 0; i < run.threads; i++) {
            samples_sort(&run.samples[i]);
            quiet += samples_quiet(&run.samples[i]) * ns_per_tick / CHUNK / run.threads;
            median += samples_quantile(&run.samples[i], 0.5) * ns_per_tick / CHUNK / run.threads;
        }
        printf("\"ns\": %.3f, \"median_ns\": %.3f", quiet, median);
    }
    printf(", \"events\": %ld}\n", run.events * (long)run.threads);
}

static const struct peer *find_peer(const char *name)
{
    const struct peer *const peers[] = {&peer_none,    &peer_tap,    &peer_tap_buffers,
                                        &peer_fprintf, &peer_fflush, &peer_lttng};
    for (size_t i = 0; i < sizeof peers / sizeof *peers; i++) {
        if (peers[i] && strcmp(peers[i]->name, name) == 0)
            return peers[i];
    }
    return NULL;
}

int main(int count, char **arguments)
{
    run.peer = count == 6 ? find_peer(arguments[1]) : NULL;
    run.events = count == 6 ? strtol(arguments[3], NULL, 10) / CHUNK * CHUNK : 0;
    run.threads = count == 6 ? (unsigned)strtol(arguments[4], NULL, 10) : 0;
    if (!run.peer || run.events <= 0 || !run.threads || run.threads > MOST_THREADS) {
        fprintf(stderr, "usage: peers NAME loop|spread EVENTS THREADS FILE\n");
        return 2;
    }
    run.spreads = strcmp(arguments[2], "spread") == 0;
    int rc = run.peer->begin(arguments[5]);
    if (rc) {
        fprintf(stderr, "%s: %s\n", run.peer->name, strerror(-rc));
        return 1;
    }
    rc = run_threads();
    run.peer->end();
    if (!rc)
        print_result();
    return rc;
}
