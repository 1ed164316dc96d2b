// SPDX-License-Identifier: MIT
// What compiling and submitting cost. Measured in child processes with fresh caches of both sides in a
// temporary folder: the first finds them empty, the second full. Removes the folder in the end.
#define _GNU_SOURCE // nftw
#include "bench/bench.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct child_times {
    double library[2], pipeline[2], buffer[2], dispatch[2]; // softmetal, PoCL
} child_times;

int bench_costs_child(const char *folder)
{
    child_times t;
    if (!bench_metal.open(folder, true) || !bench_opencl.open(folder, true) ||
        !bench_metal_compile_ns(&t.library[0], &t.pipeline[0]) ||
        !bench_opencl_compile_ns(&t.library[1], &t.pipeline[1]) ||
        !bench_metal_submit_ns(&t.buffer[0], &t.dispatch[0]) ||
        !bench_opencl_submit_ns(&t.buffer[1], &t.dispatch[1]))
        return 1;
    printf("%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", t.library[0], t.library[1], t.pipeline[0],
           t.pipeline[1], t.buffer[0], t.buffer[1], t.dispatch[0], t.dispatch[1]);
    return 0;
}

static void exec_child(int output, const char *folder, const char *cache)
{
    static const char self[] = "/proc/self/exe";
    char path[200];
    dup2(output, STDOUT_FILENO);
    snprintf(path, sizeof path, "%s/softmetal", cache);
    setenv("SOFTMETAL_CACHE", path, 1);
    snprintf(path, sizeof path, "%s/pocl", cache);
    setenv("POCL_CACHE_DIR", path, 1);
    execl(self, self, "--kernels", folder, "--child-costs", (char *)NULL);
    perror(self);
    _exit(127);
}

static bool read_times(FILE *from, child_times *t)
{
    return fscanf(from, "%lf %lf %lf %lf %lf %lf %lf %lf", &t->library[0], &t->library[1], &t->pipeline[0],
                  &t->pipeline[1], &t->buffer[0], &t->buffer[1], &t->dispatch[0], &t->dispatch[1]) == 8;
}

static bool run_child(const char *folder, const char *cache, child_times *times)
{
    int ends[2], status = 1;
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exec_child(ends[1], folder, cache);
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    bool good = from && child > 0 && read_times(from, times);
    if (from)
        fclose(from);
    if (child > 0)
        waitpid(child, &status, 0);
    return good && status == 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static void add(bench_costs *costs, const char *name, const char *key, const double ns[2])
{
    costs->cost[costs->count++] = (bench_cost){name, key, ns[0], ns[1]};
}

bool bench_costs_measure(const char *folder, bench_costs *costs)
{
    char cache[] = "/tmp/softmetal-bench-XXXXXX";
    child_times cold, cached;
    if (!mkdtemp(cache)) {
        perror(cache);
        return false;
    }
    bool good = run_child(folder, cache, &cold) && run_child(folder, cache, &cached);
    nftw(cache, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (!good) {
        fputs("bench: the costs could not be measured\n", stderr);
        return false;
    }
    add(costs, "library, cold", "library_cold", cold.library);
    add(costs, "library, cached", "library_cached", cached.library);
    add(costs, "pipeline, cold", "pipeline_cold", cold.pipeline);
    add(costs, "pipeline, cached", "pipeline_cached", cached.pipeline);
    add(costs, "empty command buffer", "empty_command_buffer", cached.buffer);
    add(costs, "empty dispatch", "empty_dispatch", cached.dispatch);
    return true;
}
