// SPDX-License-Identifier: MIT
// Pipelines: one function with its constants, compiled to one shared object by a worker or by the first
// thread that waits for it. A pipeline keeps its library; a queued or running job keeps its pipeline.
#define _GNU_SOURCE
#include "cache.h"
#include "library.h"
#include "workers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_ullong pipelines_built, pipelines_cached;

struct sm_pipeline {
    sm_job job; // first: a job is its pipeline
    atomic_int references;
    sm_library *library;
    const sm_entry *entry;
    char *text; // the C++ unit
    char key[SM_HASH_TEXT];
    pthread_mutex_t lock;
    pthread_cond_t finished;
    bool done;
    char *error; // why there is no kernel
    void *handle;
    const sm_kernel *kernel;
};

// Files of one compilation, in the cache folder under names of their own.
typedef struct work_files {
    char *unit, *bitcode, *object, *shared;
} work_files;

static int make_files(work_files *files)
{
    *files = (work_files){.unit = sm_cache_temporary(".cpp"),
                          .bitcode = sm_cache_temporary(".bc"),
                          .object = sm_cache_temporary(".o"),
                          .shared = sm_cache_temporary(".so")};
    return files->unit && files->bitcode && files->object && files->shared ? 0 : -ENOMEM;
}

static void remove_files(work_files *files)
{
    char *const all[] = {files->unit, files->bitcode, files->object, files->shared};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i])
            unlink(all[i]);
        free(all[i]);
    }
}

static int write_unit(const sm_pipeline *pipeline, const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    size_t length = strlen(pipeline->text);
    ssize_t done = write(fd, pipeline->text, length);
    int err = done == (ssize_t)length ? 0 : done < 0 ? -errno : -ENOSPC;
    if (close(fd) < 0 && !err)
        err = -errno;
    return err;
}

static int run_clang(const sm_pipeline *pipeline, const work_files *files, const char *header, sm_text *log)
{
    static const char *const output[] = {"-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c", "-x", "c++",
                                         NULL};
    const sm_library *library = pipeline->library;
    sm_text messages = {0};
    sm_arguments arguments = {.count = 0};
    sm_add_clang(&arguments, library->tools, library->fast_math, library->unit.distributed);
    sm_arguments_add_all(&arguments, output);
    const char *const named[] = {"-include-pch", header, files->unit, "-o", files->bitcode, NULL};
    sm_arguments_add_all(&arguments, named);
    int err = sm_run_tool(&arguments, &messages);
    sm_message_map map = sm_library_messages(library);
    map.unit = files->unit;
    sm_map_messages(messages.data, &map, log);
    sm_text_free(&messages);
    return err;
}

// A header from the disk that clang does not like is made once more.
static int emit_bitcode(const sm_pipeline *pipeline, const work_files *files, sm_text *log)
{
    char *header = NULL;
    unsigned generation = 0;
    sm_text said = {0};
    int err = sm_library_header(pipeline->library, &header, &generation, log);
    if (!err)
        err = run_clang(pipeline, files, header, &said);
    if (err == -EINVAL && said.length && sm_library_renew_header(pipeline->library, generation, log)) {
        said.length = 0;
        err = run_clang(pipeline, files, header, &said);
    }
    if (err && said.length)
        sm_text_add(log, said.data, said.length);
    sm_text_free(&said);
    free(header);
    return err;
}

static int lower(const sm_pipeline *pipeline, const work_files *files, sm_text *log)
{
    const sm_toolchain *tools = pipeline->library->tools;
    if (access(tools->lower, X_OK) != 0) {
        sm_text_printf(log, "softmetal: %s not found\n", tools->lower);
        return -ENOENT;
    }
    sm_arguments arguments = {.count = 0};
    const char *const named[] = {tools->lower, files->bitcode, "-o", files->object, NULL};
    sm_arguments_add_all(&arguments, named);
    return sm_run_tool(&arguments, log);
}

// The libraries are named in full: it works without their development files.
static int link_object(const sm_pipeline *pipeline, const work_files *files, sm_text *log)
{
    static const char *const libraries[] = {"-L/lib/x86_64-linux-gnu",
                                            "-L/usr/lib/x86_64-linux-gnu",
                                            "-L/lib64",
                                            "-L/usr/lib64",
                                            "--as-needed",
                                            "-l:libm.so.6",
                                            "-l:libmvec.so.1",
                                            "-l:libc.so.6",
                                            NULL};
    const sm_toolchain *tools = pipeline->library->tools;
    sm_arguments arguments = {.count = 0};
    const char *const named[] = {
        tools->lld,    "-shared", "--gc-sections", "--no-undefined", "--build-id=none",
        "--threads=1", "-o",      files->shared,   files->object,    NULL};
    sm_arguments_add_all(&arguments, named);
    if (tools->builtins)
        sm_arguments_add(&arguments, tools->builtins);
    sm_arguments_add_all(&arguments, libraries);
    return sm_run_tool(&arguments, log);
}

static int compile(const sm_pipeline *pipeline, sm_text *log)
{
    work_files files;
    int err = make_files(&files);
    if (!err)
        err = write_unit(pipeline, files.unit);
    if (!err)
        err = emit_bitcode(pipeline, &files, log);
    if (!err)
        err = lower(pipeline, &files, log);
    if (!err)
        err = link_object(pipeline, &files, log);
    if (!err)
        err = sm_cache_commit_sealed(files.shared, pipeline->key, ".so");
    remove_files(&files);
    if (!err)
        atomic_fetch_add(&pipelines_built, 1);
    return err;
}

static int load(sm_pipeline *pipeline, sm_text *log)
{
    char *path = sm_cache_path(pipeline->key, ".so");
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const sm_kernel *kernel = handle ? dlsym(handle, "sm_kernel_info") : NULL;
    free(path);
    if (kernel && kernel->abi == SM_ABI_VERSION) {
        pipeline->handle = handle;
        pipeline->kernel = kernel;
        return 0;
    }
    const char *why = handle ? NULL : dlerror();
    sm_text_printf(log, "softmetal: cannot load the kernel: %s\n", why ? why : "wrong version");
    if (handle)
        dlclose(handle);
    return -ENOEXEC;
}

static int compile_or_load(sm_pipeline *pipeline, sm_text *log)
{
    if (pipeline->entry->unsupported) {
        sm_text_printf(log, "%s\n", pipeline->entry->unsupported);
        return -ENOTSUP;
    }
    if (sm_cache_check_sealed(pipeline->key, ".so") && load(pipeline, log) == 0) {
        atomic_fetch_add(&pipelines_cached, 1);
        return 0;
    }
    sm_cache_remove(pipeline->key, ".so");
    log->length = 0;
    int err = compile(pipeline, log);
    return err ? err : load(pipeline, log);
}

static void finish(sm_pipeline *pipeline, char *error)
{
    pthread_mutex_lock(&pipeline->lock);
    pipeline->done = true;
    pipeline->error = error;
    pthread_cond_broadcast(&pipeline->finished);
    pthread_mutex_unlock(&pipeline->lock);
}

static void run_pipeline(sm_pipeline *pipeline)
{
    sm_text log = {0}, text = {0};
    int err = compile_or_load(pipeline, &log);
    if (err) {
        sm_text_printf(&text,
                       "Compute function '%s' could not be compiled: ", pipeline->entry->function.name);
        if (log.length)
            sm_text_add(&text, log.data, log.length);
        else
            sm_text_printf(&text, "%s\n", strerror(-err));
    }
    finish(pipeline, err ? sm_text_take(&text) : NULL);
    sm_text_free(&log);
    sm_text_free(&text);
}

static void run_job(sm_job *job)
{
    sm_pipeline *pipeline = (sm_pipeline *)job;
    run_pipeline(pipeline);
    sm_pipeline_release(pipeline); // the job's own reference
}

static void drop_job(sm_job *job)
{
    sm_pipeline *pipeline = (sm_pipeline *)job;
    finish(pipeline, strdup("softmetal: the process is exiting\n"));
    sm_pipeline_release(pipeline);
}

static int write_text(const sm_library *library, const sm_entry *entry, const sm_constant_value *values,
                      size_t count, char **out, char **log)
{
    sm_text text = {0};
    const char *why = NULL;
    int err =
        sm_write_constants(library->unit.constants, library->unit.constant_count, values, count, &text, &why);
    sm_text_printf(&text, "SM_KERNEL_ENTRY((%s)%s)\n", entry->expression, entry->sources);
    if (!err && text.failed)
        err = -ENOMEM;
    if (err && log)
        *log = strdup(why ? why : strerror(-err));
    *out = err ? NULL : sm_text_take(&text);
    sm_text_free(&text);
    return err;
}

static void make_key(sm_pipeline *pipeline)
{
    sm_hash hash;
    sm_hash_begin(&hash);
    sm_hash_add_string(&hash, "pipeline");
    sm_hash_add_string(&hash, pipeline->library->tools->id);
    sm_hash_add_string(&hash, pipeline->library->key);
    sm_hash_add_string(&hash, pipeline->text);
    sm_hash_end(&hash, pipeline->key);
}

int sm_pipeline_create(sm_library *library, const sm_function *function, const sm_constant_value *values,
                       size_t value_count, sm_pipeline **out, char **log)
{
    const sm_entry *entry = (const sm_entry *)function;
    sm_pipeline *pipeline = calloc(1, sizeof(*pipeline));
    if (log)
        *log = NULL;
    *out = NULL;
    if (!pipeline)
        return -ENOMEM;
    int err = write_text(library, entry, values, value_count, &pipeline->text, log);
    if (err) {
        free(pipeline);
        return err;
    }
    pipeline->job.run = run_job;
    pipeline->job.drop = drop_job;
    pipeline->library = sm_library_retain(library);
    pipeline->entry = entry;
    atomic_init(&pipeline->references, 2); // the caller's and the job's
    pthread_mutex_init(&pipeline->lock, NULL);
    pthread_cond_init(&pipeline->finished, NULL);
    make_key(pipeline);
    if (!sm_workers_add(&pipeline->job))
        run_job(&pipeline->job);
    *out = pipeline;
    return 0;
}

sm_pipeline *sm_pipeline_retain(sm_pipeline *pipeline)
{
    atomic_fetch_add_explicit(&pipeline->references, 1, memory_order_relaxed);
    return pipeline;
}

void sm_pipeline_release(sm_pipeline *pipeline)
{
    if (!pipeline || atomic_fetch_sub_explicit(&pipeline->references, 1, memory_order_acq_rel) != 1)
        return;
    if (pipeline->handle)
        dlclose(pipeline->handle);
    sm_library_release(pipeline->library);
    pthread_cond_destroy(&pipeline->finished);
    pthread_mutex_destroy(&pipeline->lock);
    free(pipeline->error);
    free(pipeline->text);
    free(pipeline);
}

const sm_kernel *sm_pipeline_kernel(sm_pipeline *pipeline, char **log)
{
    if (log)
        *log = NULL;
    if (sm_workers_take(&pipeline->job)) {
        run_pipeline(pipeline); // at this thread's priority, ahead of the queue
        atomic_fetch_sub_explicit(&pipeline->references, 1, memory_order_acq_rel); // the job's; not the last
    }
    pthread_mutex_lock(&pipeline->lock);
    while (!pipeline->done)
        pthread_cond_wait(&pipeline->finished, &pipeline->lock);
    if (!pipeline->kernel && log)
        *log = strdup(pipeline->error ? pipeline->error : "softmetal: out of memory\n");
    const sm_kernel *kernel = pipeline->kernel;
    pthread_mutex_unlock(&pipeline->lock);
    return kernel;
}

void sm_compiler_get_stats(sm_compiler_stats *out)
{
    *out = (sm_compiler_stats){.libraries_built = atomic_load(&sm_libraries_built),
                               .libraries_cached = atomic_load(&sm_libraries_cached),
                               .pipelines_built = atomic_load(&pipelines_built),
                               .pipelines_cached = atomic_load(&pipelines_cached)};
}
