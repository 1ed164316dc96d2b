// SPDX-License-Identifier: MIT
// `make bench`: runs each kernel on softmetal and on PoCL in turns, checks both results first, and prints
// speeds and ratios; then what compiling and submitting cost. Ends with 1 if a result is wrong.
#include "bench/bench.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_NS = 20000000, MIN_ROUNDS = 7, MAX_ROUNDS = 101, MAX_BATCH = 1000 };

typedef struct options {
    const char *folder, *json, *only;
    double seconds; // for each kernel, both sides together
    bool fast_math, costs, child_costs;
} options;

static int usage(FILE *out)
{
    fputs("usage: bench [options]\n"
          "  --kernels FOLDER   where the .metal and .cl files are (tests/bench/kernels)\n"
          "  --json FILE        write the numbers there too\n"
          "  --only TEXT        only kernels with TEXT in their name\n"
          "  --seconds N        time for each kernel (1)\n"
          "  --no-fast-math     precise math on both sides\n"
          "  --no-costs         leave out the costs of compiling and submitting\n",
          out);
    return out == stderr ? 2 : 0;
}

static bool is_right(const bench_side *side, const bench_case *the_case, bench_data *data, double *error)
{
    the_case->fill(the_case, data);
    side->run(1);
    *error = the_case->error(the_case, data);
    if (*error <= the_case->tolerance)
        return true;
    fprintf(stderr, "bench: %s: wrong result on %s: error %g, allowed %g\n", the_case->name, side->name,
            *error, the_case->tolerance);
    return false;
}

// So many runs that the clock's and the submission's share is small.
static unsigned batch_of(const bench_side *side)
{
    uint64_t start = bench_now_ns();
    side->run(1);
    uint64_t one = bench_now_ns() - start + 1;
    return one >= BATCH_NS ? 1 : BATCH_NS / one > MAX_BATCH ? MAX_BATCH : (unsigned)(BATCH_NS / one);
}

typedef struct samples {
    double wall[MAX_ROUNDS], cpu[MAX_ROUNDS];
} samples;

static void time_batch(const bench_side *side, unsigned batch, samples *all, size_t round)
{
    uint64_t cpu = bench_cpu_ns(), wall = bench_now_ns();
    side->run(batch);
    all->wall[round] = (double)(bench_now_ns() - wall) / batch;
    all->cpu[round] = (double)(bench_cpu_ns() - cpu) / batch;
}

// In turns, so that a change of the machine's speed meets both.
static void time_both(bench_result *result, double seconds)
{
    static samples metal, opencl;
    unsigned metal_batch = batch_of(&bench_metal), opencl_batch = batch_of(&bench_opencl);
    uint64_t end = bench_now_ns() + (uint64_t)(seconds * 1e9);
    size_t rounds = 0;
    while (rounds < MAX_ROUNDS && (rounds < MIN_ROUNDS || bench_now_ns() < end)) {
        time_batch(&bench_metal, metal_batch, &metal, rounds);
        time_batch(&bench_opencl, opencl_batch, &opencl, rounds);
        rounds++;
    }
    result->metal = (bench_time){bench_median(metal.wall, rounds), bench_median(metal.cpu, rounds)};
    result->opencl = (bench_time){bench_median(opencl.wall, rounds), bench_median(opencl.cpu, rounds)};
}

static bool measure(const bench_case *the_case, double seconds, bench_result *result)
{
    bench_data data;
    if (!bench_data_make(the_case, &data))
        return false;
    *result = (bench_result){.the_case = the_case};
    bool good = bench_metal.prepare(the_case, &data) && bench_opencl.prepare(the_case, &data) &&
                is_right(&bench_metal, the_case, &data, &result->metal_error) &&
                is_right(&bench_opencl, the_case, &data, &result->opencl_error);
    if (good)
        time_both(result, seconds);
    bench_metal.release();
    bench_opencl.release();
    bench_data_free(&data);
    return good;
}

static int run(const options *chosen)
{
    static bench_costs costs;
    bench_result *results = calloc(bench_case_count, sizeof *results);
    size_t count = 0;
    bool good = results && bench_metal.open(chosen->folder, chosen->fast_math) &&
                bench_opencl.open(chosen->folder, chosen->fast_math);
    bool opened = good;
    for (size_t i = 0; opened && i < bench_case_count; i++) {
        if (chosen->only && !strstr(bench_cases[i].name, chosen->only))
            continue;
        if (measure(&bench_cases[i], chosen->seconds, &results[count]))
            count++;
        else
            good = false;
    }
    printf("Fast math: %s, for both. Medians of interleaved runs; ratio: softmetal by PoCL.\n\n",
           chosen->fast_math ? "on" : "off");
    bench_print_table(results, count);
    if (opened && chosen->costs) {
        good = bench_costs_measure(chosen->folder, &costs) && good;
        bench_print_costs(&costs);
    }
    if (chosen->json)
        good = bench_write_json(chosen->json, chosen->fast_math, results, count, &costs) && good;
    free(results);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    enum { HELP, KERNELS, JSON, ONLY, SECONDS, NO_FAST_MATH, NO_COSTS, CHILD_COSTS };
    static const struct option known[] = {
        {"help", no_argument, NULL, HELP},
        {"kernels", required_argument, NULL, KERNELS},
        {"json", required_argument, NULL, JSON},
        {"only", required_argument, NULL, ONLY},
        {"seconds", required_argument, NULL, SECONDS},
        {"no-fast-math", no_argument, NULL, NO_FAST_MATH},
        {"no-costs", no_argument, NULL, NO_COSTS},
        {"child-costs", no_argument, NULL, CHILD_COSTS},
        {NULL, 0, NULL, 0},
    };
    options chosen = {.folder = "tests/bench/kernels", .seconds = 1, .fast_math = true, .costs = true};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case HELP:
            return usage(stdout);
        case KERNELS:
            chosen.folder = optarg;
            break;
        case JSON:
            chosen.json = optarg;
            break;
        case ONLY:
            chosen.only = optarg;
            break;
        case SECONDS:
            chosen.seconds = strtod(optarg, NULL);
            break;
        case NO_FAST_MATH:
            chosen.fast_math = false;
            break;
        case NO_COSTS:
            chosen.costs = false;
            break;
        case CHILD_COSTS:
            chosen.child_costs = true;
            break;
        default:
            return usage(stderr);
        }
    }
    return chosen.child_costs ? bench_costs_child(chosen.folder) : run(&chosen);
}
