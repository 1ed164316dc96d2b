// SPDX-License-Identifier: MIT
// Runs a program and prints what it used as one line of JSON. A process counts the memory of the one that
// started it as its own peak until it has more, so this one is small, which Python is not.
//
//     spend PROGRAM [ARGUMENTS]
#define _GNU_SOURCE
#include "samples.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: spend PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    uint64_t begin_ns = samples_clock_ns(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv(arguments[1], arguments + 1);
        perror(arguments[1]);
        _exit(127);
    }
    int status = 0;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        perror("spend");
        return 1;
    }
    printf("{\"seconds\": %.4f, \"cpu_seconds\": %.4f, \"peak_kib\": %ld}\n",
           (double)(samples_clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9,
           seconds_of(used.ru_utime) + seconds_of(used.ru_stime), used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
