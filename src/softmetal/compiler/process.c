// SPDX-License-Identifier: MIT
// Runs the tools with posix_spawn from any thread. Children get /dev/null, a pipe for stderr, default
// signals, and an environment without preloads: a profiler in this process must not end up in the compiler.
#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHILDREN = 256, MAX_MESSAGES = 1 << 20 };

static struct {
    pthread_mutex_t lock;
    pid_t children[MAX_CHILDREN];
    int count;
    bool stopped;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool passes(const char *variable)
{
    static const char *const dropped[] = {
        "LD_PRELOAD=", "LD_AUDIT=", "DYLD_", "CPATH=", "CPLUS_INCLUDE_PATH=", "CCC_OVERRIDE_OPTIONS=", NULL};
    for (int i = 0; dropped[i]; i++)
        if (strncmp(variable, dropped[i], strlen(dropped[i])) == 0)
            return false;
    return true;
}

// Pointers into our own environment; the caller frees the array only.
static char **child_environment(void)
{
    size_t count = 0, kept = 0;
    while (environ && environ[count])
        count++;
    char **list = malloc((count + 1) * sizeof(*list));
    for (size_t i = 0; list && i < count; i++)
        if (passes(environ[i]))
            list[kept++] = environ[i];
    if (list)
        list[kept] = NULL;
    return list;
}

static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    int err = posix_spawnattr_setsigmask(attributes, &none);
    if (!err)
        err = posix_spawnattr_setsigdefault(attributes, &all);
    if (!err)
        err = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return -err;
}

static int set_files(posix_spawn_file_actions_t *actions, int error_fd)
{
    int err = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
    if (!err)
        err = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
    if (!err)
        err = posix_spawn_file_actions_adddup2(actions, error_fd, 2);
    return -err;
}

static int spawn(const char *const *argv, int error_fd, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment = child_environment();
    if (!environment)
        return -ENOMEM;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int err = set_signals(&attributes);
    if (!err)
        err = set_files(&actions, error_fd);
    if (!err)
        err = -posix_spawn(child, argv[0], &actions, &attributes, (char *const *)argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return err;
}

// Spawning and listing happen under one lock, so that sm_process_stop() sees every child.
static int start_child(const char *const *argv, int error_fd, pid_t *child)
{
    int err = -ECANCELED;
    pthread_mutex_lock(&state.lock);
    if (!state.stopped && state.count < MAX_CHILDREN) {
        err = spawn(argv, error_fd, child);
        if (!err)
            state.children[state.count++] = *child;
    }
    pthread_mutex_unlock(&state.lock);
    return err;
}

static void forget_child(pid_t child)
{
    for (int i = 0; i < state.count; i++) {
        if (state.children[i] == child) {
            state.children[i] = state.children[--state.count];
            break;
        }
    }
}

// The child is taken from the list before it is reaped: its number is never killed after it was reused.
// -ECHILD: the host ignores SIGCHLD or reaped the child itself.
static int reap(pid_t child)
{
    siginfo_t info;
    int status = 0, result = -ECHILD;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&state.lock);
    forget_child(child);
    pid_t got;
    while ((got = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        ;
    if (got == child)
        result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (state.stopped)
        result = -ECANCELED;
    pthread_mutex_unlock(&state.lock);
    return result;
}

static void read_all(int fd, sm_text *messages)
{
    char buffer[8192];
    ssize_t got;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR))
        if (got > 0 && messages->length < MAX_MESSAGES)
            sm_text_add(messages, buffer, (size_t)got);
}

int sm_process_run(const char *const *argv, sm_text *messages)
{
    int pipe_fd[2];
    pid_t child;
    if (pipe2(pipe_fd, O_CLOEXEC) < 0)
        return -errno;
    // dup2 onto itself would keep close-on-exec: a host may have closed descriptor 2.
    if (pipe_fd[1] <= 2) {
        int higher = fcntl(pipe_fd[1], F_DUPFD_CLOEXEC, 3);
        close(pipe_fd[1]);
        pipe_fd[1] = higher;
    }
    int err = pipe_fd[1] < 0 ? -EMFILE : start_child(argv, pipe_fd[1], &child);
    if (pipe_fd[1] >= 0)
        close(pipe_fd[1]);
    if (!err) {
        size_t before = messages->length;
        read_all(pipe_fd[0], messages);
        err = reap(child);
        if (err == -ECHILD) // the tools say nothing when all is well
            err = messages->length > before;
    }
    close(pipe_fd[0]);
    return err;
}

void sm_process_stop(void)
{
    pthread_mutex_lock(&state.lock);
    state.stopped = true;
    for (int i = 0; i < state.count; i++)
        kill(state.children[i], SIGKILL);
    pthread_mutex_unlock(&state.lock);
}
