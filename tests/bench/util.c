// SPDX-License-Identifier: MIT
// Clocks, files and medians for the benchmark, and the memory of a case.
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t bench_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t bench_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

enum { MOST_TEXT = 100000 };

char *bench_read_file(const char *folder, const char *name, const char *suffix)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, suffix);
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return NULL;
    }
    char *text = calloc(1, MOST_TEXT + 1);
    if (text && fread(text, 1, MOST_TEXT, file) == MOST_TEXT) {
        fprintf(stderr, "%s: longer than %d bytes\n", path, MOST_TEXT);
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

// Whole pages, as Metal wants them for memory it does not copy.
static size_t pages(size_t bytes)
{
    return (bytes + 16383) & ~(size_t)16383;
}

bool bench_data_make(const bench_case *the_case, bench_data *data)
{
    *data = (bench_data){0};
    the_case->lay_out(the_case, data);
    for (unsigned i = 0; i < data->buffer_count; i++) {
        data->bytes[i] = pages(data->bytes[i]);
        void *memory = mmap(NULL, data->bytes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            perror("mmap");
            bench_data_free(data);
            return false;
        }
        data->buffer[i] = memory;
    }
    return true;
}

void bench_data_free(bench_data *data)
{
    for (unsigned i = 0; i < data->buffer_count; i++)
        if (data->buffer[i])
            munmap(data->buffer[i], data->bytes[i]);
}
