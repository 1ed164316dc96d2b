// SPDX-License-Identifier: MIT
// The benchmark's kernels through OpenCL on PoCL: compiles, dispatches, and times compiling and submitting.
// Uses the host's memory in place, as the Metal side does.
#define CL_TARGET_OPENCL_VERSION 120
#include "bench/bench.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    const char *folder;
    bool fast_math;
    cl_program program; // of the file last used
    const char *file;
    cl_kernel kernel;
    cl_mem buffer[BENCH_BUFFERS];
    const bench_case *the_case;
    bench_data data;
} opencl;

static bool failed(const char *what, cl_int error)
{
    fprintf(stderr, "bench: OpenCL: %s: error %d\n", what, error);
    return false;
}

// The platform called "Portable Computing Language"; another vendor's would make no fair pair.
static bool find_pocl(void)
{
    cl_platform_id platform[16];
    cl_uint count = 0;
    if (clGetPlatformIDs(16, platform, &count) != CL_SUCCESS)
        count = 0;
    for (cl_uint i = 0; i < count && i < 16; i++) {
        char name[200] = "";
        clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, "Portable Computing Language") &&
            clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, &opencl.device, NULL) == CL_SUCCESS)
            return true;
    }
    fputs("bench: PoCL is not installed: make deps-bench\n", stderr);
    return false;
}

static bool opencl_open(const char *folder, bool fast_math)
{
    cl_int error = CL_SUCCESS;
    opencl.folder = folder;
    opencl.fast_math = fast_math;
    if (!find_pocl())
        return false;
    opencl.context = clCreateContext(NULL, 1, &opencl.device, NULL, NULL, &error);
    if (opencl.context)
        opencl.queue = clCreateCommandQueue(opencl.context, opencl.device, 0, &error);
    return opencl.queue || failed("no queue", error);
}

static bool build_failed(const char *file, cl_program program, cl_int error)
{
    char log[4000] = "";
    clGetProgramBuildInfo(program, opencl.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
    return failed(file, error);
}

static bool load_program(const char *file)
{
    cl_int error;
    if (opencl.file && strcmp(opencl.file, file) == 0)
        return true;
    if (opencl.program)
        clReleaseProgram(opencl.program);
    opencl.file = NULL;
    char *text = bench_read_file(opencl.folder, file, ".cl");
    if (!text)
        return false;
    opencl.program = clCreateProgramWithSource(opencl.context, 1, (const char **)&text, NULL, &error);
    free(text);
    error = clBuildProgram(opencl.program, 1, &opencl.device, opencl.fast_math ? "-cl-fast-relaxed-math" : "",
                           NULL, NULL);
    if (error != CL_SUCCESS)
        return build_failed(file, opencl.program, error);
    opencl.file = file;
    return true;
}

static bool opencl_prepare(const bench_case *the_case, const bench_data *data)
{
    cl_int error;
    if (!load_program(the_case->file))
        return false;
    opencl.the_case = the_case;
    opencl.data = *data;
    opencl.kernel = clCreateKernel(opencl.program, the_case->opencl_kernel, &error);
    if (!opencl.kernel)
        return failed(the_case->opencl_kernel, error);
    for (unsigned i = 0; i < data->buffer_count; i++) {
        opencl.buffer[i] = clCreateBuffer(opencl.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                          data->bytes[i], data->buffer[i], &error);
        if (error == CL_SUCCESS)
            error = clSetKernelArg(opencl.kernel, i, sizeof(cl_mem), &opencl.buffer[i]);
        if (error != CL_SUCCESS)
            return failed("buffer", error);
    }
    error = clSetKernelArg(opencl.kernel, data->buffer_count, data->param_count * sizeof *data->param,
                           data->param);
    return error == CL_SUCCESS || failed("parameters", error);
}

static void enqueue(const uint32_t groups[3], const uint32_t threads[3])
{
    size_t global[3], local[3];
    for (int d = 0; d < 3; d++) {
        local[d] = threads[d];
        global[d] = (size_t)groups[d] * threads[d];
    }
    cl_int error = clEnqueueNDRangeKernel(opencl.queue, opencl.kernel, 3, NULL, global, local, 0, NULL, NULL);
    if (error != CL_SUCCESS) {
        failed("dispatch", error);
        exit(1);
    }
}

// Lets the host see the results; PoCL works on the host's own memory, so this costs next to nothing.
static void show_results(void)
{
    for (unsigned i = 0; i < opencl.data.buffer_count; i++) {
        void *mapped = clEnqueueMapBuffer(opencl.queue, opencl.buffer[i], CL_TRUE, CL_MAP_READ, 0,
                                          opencl.data.bytes[i], 0, NULL, NULL, NULL);
        clEnqueueUnmapMemObject(opencl.queue, opencl.buffer[i], mapped, 0, NULL, NULL);
    }
    clFinish(opencl.queue);
}

static void opencl_run(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        enqueue(opencl.the_case->opencl_groups, opencl.the_case->opencl_threads);
    clFinish(opencl.queue);
    if (times == 1)
        show_results();
}

static void opencl_release(void)
{
    for (unsigned i = 0; i < BENCH_BUFFERS; i++)
        if (opencl.buffer[i])
            clReleaseMemObject(opencl.buffer[i]);
    memset(opencl.buffer, 0, sizeof opencl.buffer);
    if (opencl.kernel)
        clReleaseKernel(opencl.kernel);
    opencl.kernel = NULL;
}

const bench_side bench_opencl = {"PoCL", opencl_open, opencl_prepare, opencl_run, opencl_release};

// PoCL compiles a kernel for its work-group size at the first dispatch: that one, of a single work-group, is
// the counterpart of a pipeline.
static bool time_first_dispatch(const bench_case *the_case, double *ns)
{
    static const uint32_t one[3] = {1, 1, 1};
    bench_data data;
    if (!bench_data_make(the_case, &data))
        return false;
    bool good = opencl_prepare(the_case, &data);
    uint64_t start = bench_now_ns();
    if (good) {
        enqueue(one, the_case->opencl_threads);
        clFinish(opencl.queue);
    }
    *ns += (double)(bench_now_ns() - start);
    opencl_release();
    bench_data_free(&data);
    return good;
}

// A kernel of an earlier case would count as compiled in no time.
static bool shares_kernel(size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(bench_cases[k].opencl_kernel, bench_cases[i].opencl_kernel) == 0)
            return true;
    return false;
}

bool bench_opencl_compile_ns(double *library_ns, double *pipeline_ns)
{
    size_t libraries = 0, kernels = 0;
    *library_ns = *pipeline_ns = 0;
    for (size_t i = 0; i < bench_case_count; i++) {
        uint64_t start = bench_now_ns();
        if (!opencl.file || strcmp(opencl.file, bench_cases[i].file) != 0) {
            if (!load_program(bench_cases[i].file))
                return false;
            *library_ns += (double)(bench_now_ns() - start);
            libraries++;
        }
        if (shares_kernel(i))
            continue;
        if (!time_first_dispatch(&bench_cases[i], pipeline_ns))
            return false;
        kernels++;
    }
    *library_ns /= (double)libraries;
    *pipeline_ns /= (double)kernels;
    return true;
}

enum { EMPTY_FLUSHES = 2000, EMPTY_DISPATCHES = 20000 };

static double empty_marker_ns(void)
{
    double *times = calloc(EMPTY_FLUSHES, sizeof *times), median = 0;
    for (int i = 0; times && i < EMPTY_FLUSHES; i++) {
        uint64_t start = bench_now_ns();
        clEnqueueMarkerWithWaitList(opencl.queue, 0, NULL, NULL);
        clFinish(opencl.queue);
        times[i] = (double)(bench_now_ns() - start);
    }
    if (times)
        median = bench_median(times, EMPTY_FLUSHES);
    free(times);
    return median;
}

static double empty_dispatch_ns(void)
{
    static const uint32_t one[3] = {1, 1, 1}, threads[3] = {32, 1, 1};
    uint64_t start = bench_now_ns();
    for (int i = 0; i < EMPTY_DISPATCHES; i++)
        enqueue(one, threads);
    clFinish(opencl.queue);
    return (double)(bench_now_ns() - start) / EMPTY_DISPATCHES;
}

bool bench_opencl_submit_ns(double *buffer_ns, double *dispatch_ns)
{
    if (!load_program("plain"))
        return false;
    opencl.kernel = clCreateKernel(opencl.program, "nothing", NULL);
    if (!opencl.kernel)
        return false;
    empty_dispatch_ns();
    *dispatch_ns = empty_dispatch_ns();
    *buffer_ns = empty_marker_ns();
    opencl_release();
    return true;
}
