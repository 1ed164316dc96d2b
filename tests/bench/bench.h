// SPDX-License-Identifier: MIT
// What the parts of the benchmark share: the cases with their data, the two sides that run them, and the
// measured numbers. One thread runs it all; a part never looks behind another part's functions.
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_BUFFERS = 5, BENCH_PARAMS = 2 };

// Host memory both sides work on, and the struct of 32-bit values that is each kernel's last argument.
typedef struct bench_data {
    void *buffer[BENCH_BUFFERS];
    size_t bytes[BENCH_BUFFERS];
    unsigned buffer_count;
    uint32_t param[BENCH_PARAMS];
    unsigned param_count;
} bench_data;

typedef struct bench_case bench_case;
struct bench_case {
    const char *name;                         // its row in the table
    const char *file;                         // kernels/<file>.metal and kernels/<file>.cl
    const char *metal_kernel, *opencl_kernel; // function names
    uint32_t size[2];                         // what the functions below make of it
    uint32_t metal_groups[3], metal_threads[3];
    uint32_t opencl_groups[3], opencl_threads[3];
    void (*lay_out)(const bench_case *self, bench_data *data);       // sizes of buffers, parameters
    void (*fill)(const bench_case *self, bench_data *data);          // the same values each time
    double (*error)(const bench_case *self, const bench_data *data); // largest, relative to the value range
    double tolerance;
    double (*work)(const bench_case *self); // floating-point operations or bytes of one run
    const char *unit;                       // "GFLOP/s" or "GB/s"
    bool barriers;                          // synchronises: the goal is PoCL's speed, else half of it
};

extern const bench_case bench_cases[];
extern const size_t bench_case_count;

bool bench_data_make(const bench_case *the_case, bench_data *data);
void bench_data_free(bench_data *data);

// One implementation of the kernels. open and prepare tell what is wrong on stderr and return false.
typedef struct bench_side {
    const char *name;
    bool (*open)(const char *folder, bool fast_math); // kernels are in that folder
    bool (*prepare)(const bench_case *the_case, const bench_data *data);
    void (*run)(unsigned times); // runs the prepared kernel so often and waits
    void (*release)(void);       // forgets the prepared kernel
} bench_side;

extern const bench_side bench_metal, bench_opencl;

typedef struct bench_time {
    double wall_ns, cpu_ns; // medians per run; CPU time is that of all threads
} bench_time;

typedef struct bench_result {
    const bench_case *the_case;
    bench_time metal, opencl;
    double metal_error, opencl_error;
} bench_result;

enum { BENCH_MAX_COSTS = 24 };

typedef struct bench_cost {
    const char *name, *key;
    double metal_ns, opencl_ns;
} bench_cost;

typedef struct bench_costs {
    bench_cost cost[BENCH_MAX_COSTS];
    size_t count;
} bench_costs;

// Measures in processes of their own, which are this program again: with --child-costs.
bool bench_costs_measure(const char *folder, bench_costs *costs);
int bench_costs_child(const char *folder);
// On an opened side.
bool bench_metal_compile_ns(double *library_ns, double *pipeline_ns);
bool bench_opencl_compile_ns(double *library_ns, double *pipeline_ns);
bool bench_metal_submit_ns(double *empty_buffer_ns, double *empty_dispatch_ns);
bool bench_opencl_submit_ns(double *empty_buffer_ns, double *empty_dispatch_ns);

void bench_print_table(const bench_result *results, size_t count);
void bench_print_costs(const bench_costs *costs);
bool bench_write_json(const char *path, bool fast_math, const bench_result *results, size_t count,
                      const bench_costs *costs);

uint64_t bench_now_ns(void);
uint64_t bench_cpu_ns(void);
char *bench_read_file(const char *folder, const char *name, const char *suffix); // malloc'd text or NULL
double bench_median(double *values, size_t count);

#endif
