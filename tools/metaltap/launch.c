// SPDX-License-Identifier: MIT
// Starts the child, passes signals on to it and waits. What arrives while the child runs is handled in signal
// handlers, which do nothing but kill(); after its end every signal has its old meaning again.
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// All that a program may reasonably be sent. SIGTSTP and SIGCONT have rules of their own below.
static const int passed_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH,
                                     SIGALRM, SIGTSTP, SIGCONT, SIGURG,  SIGIO,   SIGPROF, SIGVTALRM};
enum { PASSED_COUNT = sizeof passed_signals / sizeof passed_signals[0], SIGNALS_MAX = 96 };

// The one thing signal handlers know.
static struct {
    volatile sig_atomic_t child;    // 0: none
    volatile sig_atomic_t stopping; // we stop because the child did; what continues us continues it as well
} state;

struct signals {
    int numbers[SIGNALS_MAX];
    struct sigaction before[SIGNALS_MAX];
    size_t count;
    sigset_t mask_before, mask_waiting; // the second lets SIGCHLD through in any case
};

static bool from_terminal(int number, const siginfo_t *info)
{
    bool kind =
        number == SIGINT || number == SIGQUIT || number == SIGTSTP || number == SIGHUP || number == SIGWINCH;
#ifdef __linux__
    // Not by si_pid: that is 0 too for a sender outside of a container.
    return kind && info->si_code == SI_KERNEL;
#else
    return kind && info->si_pid == 0;
#endif
}

// A terminal signals the whole foreground group: the child has it already, unless it left our group.
static bool child_has_it(int number, const siginfo_t *info, pid_t child)
{
    return from_terminal(number, info) && getpgid(child) == getpgrp();
}

static void pass_on(int number, siginfo_t *info, void *unused)
{
    int saved = errno;
    pid_t child = (pid_t)state.child;
    (void)unused;
    if (child > 0 && !child_has_it(number, info, child) && !(number == SIGCONT && state.stopping))
        kill(child, number);
    errno = saved;
}

static void wake(int number)
{
    (void)number; // its arrival ends pselect
}

// A signal that was ignored stays so, for us and the child (nohup).
static void catch_signal(struct signals *signals, int number)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    size_t i = signals->count;
    if (i == SIGNALS_MAX || sigaction(number, NULL, &signals->before[i]) != 0 ||
        signals->before[i].sa_handler == SIG_IGN)
        return;
    sigfillset(&action.sa_mask);
    if (sigaction(number, &action, NULL) == 0)
        signals->numbers[signals->count++] = number;
}

static void set_signal(struct signals *signals, int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    size_t i = signals->count;
    sigemptyset(&action.sa_mask);
    if (i < SIGNALS_MAX && sigaction(number, &action, &signals->before[i]) == 0)
        signals->numbers[signals->count++] = number;
}

// Everything is blocked from here on but while we wait, so that no signal is lost before the child is known.
static void take_signals(struct signals *signals)
{
    sigset_t all;
    signals->count = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &signals->mask_before);
    signals->mask_waiting = signals->mask_before;
    sigdelset(&signals->mask_waiting, SIGCHLD);
    for (size_t i = 0; i < PASSED_COUNT; i++)
        catch_signal(signals, passed_signals[i]);
#ifdef SIGRTMIN
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        catch_signal(signals, number);
#endif
    set_signal(signals, SIGCHLD, wake);
    set_signal(signals, SIGPIPE, SIG_IGN); // of our own messages: the exit code must still come through
}

static void give_back_signals(const struct signals *signals)
{
    for (size_t i = 0; i < signals->count; i++)
        sigaction(signals->numbers[i], &signals->before[i], NULL);
    sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

// A text file without a first line for the system is run by the shell, as execvp does.
static void execute_by_shell(const struct mt_launch *launch)
{
    static char shell[] = "/bin/sh";
    size_t count = 0;
    while (launch->arguments[count])
        count++;
    char **arguments = calloc(count + 2, sizeof *arguments);
    if (!arguments)
        return;
    arguments[0] = shell;
    arguments[1] = (char *)launch->path;
    for (size_t i = 1; i < count; i++)
        arguments[i + 1] = launch->arguments[i];
    execve(shell, arguments, launch->environment);
}

static _Noreturn void become_program(const struct mt_launch *launch, const struct signals *signals, int fd)
{
    give_back_signals(signals);
    execve(launch->path, launch->arguments, launch->environment);
    if (errno == ENOEXEC)
        execute_by_shell(launch);
    int error = errno;
    ssize_t written = write(fd, &error, sizeof error);
    _exit(written == (ssize_t)sizeof error ? 0 : 1);
}

// 0 when the child has become the program; its errno otherwise.
static int start(const struct mt_launch *launch, const struct signals *signals, pid_t *process)
{
    int ends[2], error = 0;
    if (pipe(ends) != 0)
        return -errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    *process = fork();
    if (*process == 0)
        become_program(launch, signals, ends[1]);
    if (*process < 0)
        error = errno;
    close(ends[1]);
    if (*process > 0 && read(ends[0], &error, sizeof error) == (ssize_t)sizeof error)
        waitpid(*process, NULL, 0);
    close(ends[0]);
    return -error;
}

// The child was stopped from the keyboard: stop as well, so that the shell takes its terminal back.
static void stop_with_child(pid_t child)
{
    sigset_t resume, before;
    siginfo_t info = {0};
    sigemptyset(&resume);
    sigaddset(&resume, SIGCONT);
    state.stopping = 1;
    raise(SIGSTOP);
    sigprocmask(SIG_UNBLOCK, &resume, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    // Whoever continued us has continued the whole group, or us alone. The child may even have been stopped
    // again by now, which is looked at later, as its end is.
    waitid(P_PID, (id_t)child, &info, WNOHANG | WCONTINUED | WSTOPPED | WNOWAIT);
    if (info.si_pid == 0)
        kill(child, SIGCONT);
    else if (info.si_code == CLD_CONTINUED)
        waitid(P_PID, (id_t)child, &info, WNOHANG | WCONTINUED);
    state.stopping = 0;
}

static void sleep_for(int milliseconds, const sigset_t *mask)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    pselect(0, NULL, NULL, NULL, milliseconds ? &time : NULL, mask);
}

static int await_end(const struct mt_launch *launch, const struct signals *signals, pid_t child)
{
    int status = 0, pause_ms = launch->first_tick_ms;
    struct timespec now, last;
    clock_gettime(CLOCK_MONOTONIC, &last);
    for (;;) {
        pid_t found = waitpid(child, &status, WNOHANG | WUNTRACED);
        if (found == child && WIFSTOPPED(status)) {
            if (WSTOPSIG(status) != SIGSTOP)
                stop_with_child(child);
            continue;
        }
        if (found == child || (found < 0 && errno != EINTR))
            return status;
        sleep_for(pause_ms, &signals->mask_waiting);
        clock_gettime(CLOCK_MONOTONIC, &now);
        long passed_ms = (now.tv_sec - last.tv_sec) * 1000 + (now.tv_nsec - last.tv_nsec) / 1000000;
        if (pause_ms && passed_ms >= pause_ms) {
            launch->tick(launch->context, child);
            pause_ms = launch->tick_ms;
            clock_gettime(CLOCK_MONOTONIC, &last);
        }
    }
}

int mt_launch(const struct mt_launch *launch, pid_t *process, int *status)
{
    struct signals signals;
    take_signals(&signals);
    int result = start(launch, &signals, process);
    if (result == 0) {
        state.child = *process;
        *status = await_end(launch, &signals, *process);
        state.child = 0;
    }
    give_back_signals(&signals);
    return result;
}
