// SPDX-License-Identifier: MIT
// The recorder that everybody writes first: a mutex, a clock, and a line of JSON through stdio. With fflush
// after each line it loses as little in a crash as the tap does.
#include "peers.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static struct {
    pthread_mutex_t lock;
    FILE *file;
} out = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int begin(const char *path)
{
    out.file = fopen(path, "we");
    return out.file ? 0 : -errno;
}

static void end(void)
{
    fclose(out.file);
}

static void print(mtl_size groups, mtl_size threads)
{
    struct peer_fields fields = peer_fields_of(groups, threads);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(
        out.file,
        "{\"time_ns\":%lld,\"pipeline\":%u,\"grid\":[%u,%u,%u],\"threadgroup\":[%u,%u,%u],\"memory\":%u}\n",
        (long long)now.tv_sec * 1000000000 + now.tv_nsec, fields.pipeline, fields.grid[0], fields.grid[1],
        fields.grid[2], fields.threadgroup[0], fields.threadgroup[1], fields.threadgroup[2],
        fields.threadgroup_memory);
}

static void dispatch_fprintf(id self, SEL op, mtl_size groups, mtl_size threads)
{
    pthread_mutex_lock(&out.lock);
    print(groups, threads);
    pthread_mutex_unlock(&out.lock);
    peer_original(self, op, groups, threads);
}

static void dispatch_fflush(id self, SEL op, mtl_size groups, mtl_size threads)
{
    pthread_mutex_lock(&out.lock);
    print(groups, threads);
    fflush(out.file);
    pthread_mutex_unlock(&out.lock);
    peer_original(self, op, groups, threads);
}

const struct peer peer_fprintf = {"fprintf", begin, NULL, dispatch_fprintf, end};
const struct peer peer_fflush = {"fflush", begin, NULL, dispatch_fflush, end};
