// SPDX-License-Identifier: MIT
// The benchmark's numbers as a table for people and as JSON for programs.
#include "bench/bench.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Work per nanosecond is 10^9 of it per second.
static double speed(const bench_result *result, double ns)
{
    return result->the_case->work(result->the_case) / ns;
}

static double ratio(const bench_result *result)
{
    return result->opencl.wall_ns / result->metal.wall_ns;
}

static double cpu_ratio(const bench_result *result)
{
    return result->opencl.cpu_ns / result->metal.cpu_ns;
}

static double goal(const bench_result *result)
{
    return result->the_case->barriers ? 1.0 : 0.5;
}

void bench_print_table(const bench_result *results, size_t count)
{
    size_t reached = 0;
    printf("%-30s %10s %10s %-8s %7s %9s %6s\n", "kernel", "softmetal", "PoCL", "", "ratio", "CPU time",
           "goal");
    for (size_t i = 0; i < count; i++) {
        const bench_result *r = &results[i];
        bool reaches = ratio(r) >= goal(r);
        reached += reaches;
        printf("%-30s %10.2f %10.2f %-8s %7.2f %9.2f %6.1f%s\n", r->the_case->name,
               speed(r, r->metal.wall_ns), speed(r, r->opencl.wall_ns), r->the_case->unit, ratio(r),
               cpu_ratio(r), goal(r), reaches ? "" : " below");
    }
    printf("\n%zu of %zu kernels reach the goal (PoCL's speed with barriers, half of it without)\n", reached,
           count);
}

static const char *time_text(double ns, char text[32])
{
    if (ns <= 0)
        snprintf(text, 32, "-");
    else if (ns < 1e5)
        snprintf(text, 32, "%.2f us", ns / 1e3);
    else
        snprintf(text, 32, "%.1f ms", ns / 1e6);
    return text;
}

void bench_print_costs(const bench_costs *costs)
{
    char metal[32], opencl[32];
    printf("\n%-30s %12s %12s\n", "cost", "softmetal", "PoCL");
    for (size_t i = 0; i < costs->count; i++)
        printf("%-30s %12s %12s\n", costs->cost[i].name, time_text(costs->cost[i].metal_ns, metal),
               time_text(costs->cost[i].opencl_ns, opencl));
}

static cJSON *side_json(const bench_result *result, const bench_time *time, double error)
{
    cJSON *side = cJSON_CreateObject();
    cJSON_AddNumberToObject(side, "speed", speed(result, time->wall_ns));
    cJSON_AddNumberToObject(side, "wall_ns", time->wall_ns);
    cJSON_AddNumberToObject(side, "cpu_ns", time->cpu_ns);
    cJSON_AddNumberToObject(side, "error", error);
    return side;
}

static cJSON *result_json(const bench_result *result)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "kernel", result->the_case->name);
    cJSON_AddStringToObject(row, "unit", result->the_case->unit);
    cJSON_AddItemToObject(row, "softmetal", side_json(result, &result->metal, result->metal_error));
    cJSON_AddItemToObject(row, "pocl", side_json(result, &result->opencl, result->opencl_error));
    cJSON_AddNumberToObject(row, "ratio", ratio(result));
    cJSON_AddNumberToObject(row, "cpu_ratio", cpu_ratio(result));
    cJSON_AddNumberToObject(row, "goal", goal(result));
    return row;
}

static cJSON *cost_json(const bench_cost *cost)
{
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "cost", cost->key);
    cJSON_AddNumberToObject(row, "softmetal_ns", cost->metal_ns);
    cJSON_AddNumberToObject(row, "pocl_ns", cost->opencl_ns);
    return row;
}

bool bench_write_json(const char *path, bool fast_math, const bench_result *results, size_t count,
                      const bench_costs *costs)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddBoolToObject(root, "fast_math", fast_math);
    cJSON *rows = cJSON_AddArrayToObject(root, "kernels");
    for (size_t i = 0; i < count; i++)
        cJSON_AddItemToArray(rows, result_json(&results[i]));
    rows = cJSON_AddArrayToObject(root, "costs");
    for (size_t i = 0; i < costs->count; i++)
        cJSON_AddItemToArray(rows, cost_json(&costs->cost[i]));
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    FILE *file = fopen(path, "w");
    bool good = text && file && fputs(text, file) >= 0 && fputc('\n', file) != EOF;
    if (file && fclose(file) != 0)
        good = false;
    if (!good)
        perror(path);
    free(text);
    return good;
}
