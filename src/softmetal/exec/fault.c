// SPDX-License-Identifier: MIT
// Kernels that go wrong. A watchdog thread ends a threadgroup that runs longer than the time limit (it waits
// for another thread without a barrier, or loops for ever); with SOFTMETAL_VALIDATE=1 an access outside a
// buffer is caught. Both leave the kernel by a jump out of a signal handler, which is safe because compiled
// kernels hold no lock and call nothing but the mathematics library. Faults outside of a kernel go to whoever
// handled them before.
#include "exec_internal.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GUARD_REACH = 1 << 20 };

static struct {
    pthread_once_t once;
    bool validate;
    uint64_t limit_ns;
    int signal; // sent to a worker to make it leave
    struct sigaction before_segv, before_bus;
} faults = {.once = PTHREAD_ONCE_INIT};

// Set while this thread may be inside a kernel; read by signal handlers.
static __thread sm_worker *current __attribute__((tls_model("initial-exec")));

static void leave(sm_fault_kind kind, void *address)
{
    current->escape_kind = (sig_atomic_t)kind;
    current->bad_address = address;
    siglongjmp(current->escape, 1);
}

static void pass_on(int number, siginfo_t *info, void *context, const struct sigaction *before)
{
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
    else
        sigaction(number, before, NULL); // the access is repeated and ends the process as it would have
}

static void on_bad_access(int number, siginfo_t *info, void *context)
{
    if (current && current->in_kernel)
        leave(SM_FAULT_BAD_ACCESS, info->si_addr);
    pass_on(number, info, context, number == SIGSEGV ? &faults.before_segv : &faults.before_bus);
}

static void on_time_up(int number)
{
    (void)number;
    if (current && current->in_kernel && atomic_load(&current->kill)) {
        atomic_store(&current->kill, false);
        leave(SM_FAULT_TIMEOUT, NULL);
    }
}

static void *watchdog_main(void *unused)
{
    (void)unused;
    uint64_t pause_ns = faults.limit_ns / 8;
    pause_ns = pause_ns > 250000000 ? 250000000 : pause_ns < 1000000 ? 1000000 : pause_ns;
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)pause_ns};
    for (;;) {
        nanosleep(&pause, NULL);
        uint64_t now = sm_now_ns();
        sm_worker_list_lock();
        for (sm_worker *worker = sm_worker_list(); worker; worker = worker->next) {
            uint64_t started = atomic_load(&worker->group_started_ns);
            if (!started || now < started || now - started < faults.limit_ns)
                continue;
            atomic_store(&worker->kill, true);
            pthread_kill(worker->thread, faults.signal);
        }
        sm_worker_list_unlock();
    }
    return NULL;
}

static uint64_t read_limit(void)
{
    const char *text = getenv("SOFTMETAL_TIME_LIMIT");
    char *end;
    double seconds = text ? strtod(text, &end) : 0;
    if (text && (end == text || *end || !(seconds >= 0))) {
        fprintf(stderr, "softmetal: SOFTMETAL_TIME_LIMIT=%s is not a number of seconds; 30 is used\n", text);
        text = NULL;
    }
    return (uint64_t)((text ? seconds : 30.0) * 1e9);
}

static void start_watchdog(void)
{
    struct sigaction action = {.sa_handler = on_time_up, .sa_flags = SA_NODEFER | SA_RESTART};
    pthread_t thread;
    faults.signal = SIGRTMIN + 5;
    if (sigaction(faults.signal, &action, NULL) == 0 &&
        pthread_create(&thread, NULL, watchdog_main, NULL) == 0)
        pthread_detach(thread);
}

static void install(void)
{
    const char *validate = getenv("SOFTMETAL_VALIDATE");
    faults.validate = validate && strcmp(validate, "1") == 0;
    faults.limit_ns = read_limit();
    if (faults.limit_ns)
        start_watchdog();
    if (!faults.validate)
        return;
    struct sigaction action = {.sa_sigaction = on_bad_access, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, &faults.before_segv);
    sigaction(SIGBUS, &action, &faults.before_bus);
}

void sm_fault_install(void)
{
    pthread_once(&faults.once, install);
    current = sm_worker_current();
}

bool sm_fault_validating(void)
{
    pthread_once(&faults.once, install);
    return faults.validate;
}

// The handlers block nothing themselves, but a sanitizer's do.
void sm_fault_unblock(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    sigaddset(&set, SIGBUS);
    if (faults.signal)
        sigaddset(&set, faults.signal);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static long distance(const sm_binding *binding, const char *address)
{
    const char *begin = binding->address, *end = begin + binding->length;
    if (address < begin)
        return begin - address;
    return address < end ? 0 : address - end;
}

static void describe_access(const sm_worker *worker, const sm_launch *launch, sm_fault *fault)
{
    const char *address = worker->bad_address;
    int nearest = -1;
    for (int i = 0; i < SM_MAX_BUFFERS; i++) {
        const sm_binding *binding = &launch->buffer[i];
        if (binding->address && distance(binding, address) < GUARD_REACH &&
            (nearest < 0 || distance(binding, address) < distance(&launch->buffer[nearest], address)))
            nearest = i;
    }
    const uint32_t *at = worker->group.position;
    if (nearest >= 0) {
        const sm_binding *binding = &launch->buffer[nearest];
        snprintf(fault->text, sizeof fault->text,
                 "kernel '%s': access outside the buffer at index %d: offset %ld of %zu bytes "
                 "(threadgroup %u,%u,%u)",
                 launch->kernel_name, nearest, (long)(address - (const char *)binding->address),
                 binding->length, at[0], at[1], at[2]);
    } else if ((uintptr_t)address < GUARD_REACH) {
        snprintf(fault->text, sizeof fault->text,
                 "kernel '%s': access through a buffer argument that is not bound: offset %lu "
                 "(threadgroup %u,%u,%u)",
                 launch->kernel_name, (unsigned long)(uintptr_t)address, at[0], at[1], at[2]);
    } else {
        snprintf(fault->text, sizeof fault->text,
                 "kernel '%s': access to %p, which is in no bound buffer (threadgroup %u,%u,%u)",
                 launch->kernel_name, worker->bad_address, at[0], at[1], at[2]);
    }
}

void sm_fault_describe(const sm_worker *worker, const sm_launch *launch, sm_fault *fault)
{
    const uint32_t *at = worker->group.position;
    if (fault->kind == SM_FAULT_BAD_ACCESS) {
        describe_access(worker, launch, fault);
        return;
    }
    snprintf(fault->text, sizeof fault->text,
             "kernel '%s': threadgroup %u,%u,%u ran longer than %.3g s (a loop that does not end, or a "
             "thread that "
             "waits for another without a barrier)",
             launch->kernel_name, at[0], at[1], at[2], (double)faults.limit_ns * 1e-9);
}
