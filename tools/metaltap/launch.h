// SPDX-License-Identifier: MIT
// Runs a program in the foreground as if nobody stood in between: signals, stops and the exit status go
// through. One thread; one launch per process, since signal handlers have no context.
#ifndef MT_LAUNCH_H
#define MT_LAUNCH_H

#include <sys/types.h>

struct mt_launch {
    const char *path; // to execute
    char **arguments; // from the program's name, ended by NULL
    char **environment;
    int first_tick_ms, tick_ms;                 // 0: no ticks
    void (*tick)(void *context, pid_t process); // while it runs
    void *context;
};

// Waits for its end. 0 with waitpid's status; or -errno, when it could not be started.
int mt_launch(const struct mt_launch *launch, pid_t *process, int *status);

#endif
