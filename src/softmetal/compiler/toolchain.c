// SPDX-License-Identifier: MIT
// Finds the tools: SOFTMETAL_CLANG, SOFTMETAL_LLD and SOFTMETAL_HOME if set, else PATH, the usual folders and
// the tree that this library is installed in. The only place of the compiler that reads those variables.
#define _GNU_SOURCE
#include "toolchain.h"
#include "kernel_abi.h"
#include "process.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const common_flags[] = {"-std=gnu++20",
                                           "-fdeclspec",
                                           "-march=native",
                                           "-nostdinc",
                                           "-nostdinc++",
                                           "-fno-exceptions",
                                           "-fno-rtti",
                                           "-fPIC",
                                           "-fno-math-errno",
                                           "-ffp-contract=fast",
                                           "-fno-strict-aliasing",
                                           "-fno-threadsafe-statics",
                                           "-fno-stack-protector",
                                           "-fcf-protection=none",
                                           "-Xclang",
                                           "-ffloat16-excess-precision=none",
                                           "-fmax-type-align=4",
                                           "-w",
                                           "-mtls-dialect=gnu2",
                                           "-fvisibility=hidden",
                                           "-O2",
                                           "-fno-caret-diagnostics",
                                           "-fno-color-diagnostics",
                                           "-Xclang",
                                           "-fno-pch-timestamp",
                                           NULL};

// Not -ffast-math: engines compare with infinity.
static const char *const fast_flags[] = {"-fassociative-math", "-freciprocal-math", "-fno-signed-zeros",
                                         "-fno-trapping-math", NULL};

static struct {
    pthread_mutex_t lock;
    bool found;
    sm_toolchain tools;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sm_arguments_add(sm_arguments *arguments, const char *argument)
{
    size_t capacity = sizeof(arguments->items) / sizeof(arguments->items[0]);
    if (arguments->count + 1 < capacity)
        arguments->items[arguments->count++] = argument;
    else
        arguments->overflow = true;
    arguments->items[arguments->count] = NULL;
}

void sm_arguments_add_all(sm_arguments *arguments, const char *const *list)
{
    for (; *list; list++)
        sm_arguments_add(arguments, *list);
}

int sm_run_tool(const sm_arguments *arguments, sm_text *messages)
{
    size_t before = messages->length;
    int status = arguments->overflow ? -E2BIG : sm_process_run(arguments->items, messages);
    if (status > 0 && messages->length == before)
        sm_text_printf(messages, "softmetal: %s failed with status %d\n", arguments->items[0], status);
    return status > 0 ? -EINVAL : status;
}

void sm_add_clang(sm_arguments *arguments, const sm_toolchain *tools, bool fast_math, bool distributed)
{
    sm_arguments_add(arguments, tools->clang);
    sm_arguments_add_all(arguments, common_flags);
    if (fast_math)
        sm_arguments_add_all(arguments, fast_flags);
    if (distributed)
        sm_arguments_add(arguments, "-DSM_MATRIX_DISTRIBUTED");
    sm_arguments_add(arguments, "-I");
    sm_arguments_add(arguments, tools->stdlib);
    sm_arguments_add(arguments, "-I");
    sm_arguments_add(arguments, tools->share);
}

static char *join(const char *a, const char *b)
{
    char *path = NULL;
    return asprintf(&path, "%s%s", a, b) < 0 ? NULL : path;
}

static char *find_in_path(const char *name)
{
    const char *path = getenv("PATH");
    char *copy = join(path ? path : "", ":/usr/bin:/usr/local/bin:/usr/lib/llvm-19/bin"), *save = NULL;
    char *found = NULL;
    for (char *part = copy ? strtok_r(copy, ":", &save) : NULL; part && !found;
         part = strtok_r(NULL, ":", &save)) {
        char *candidate = NULL;
        if (asprintf(&candidate, "%s/%s", part, name) < 0)
            break;
        if (part[0] == '/' && access(candidate, X_OK) == 0)
            found = candidate;
        else
            free(candidate);
    }
    free(copy);
    return found;
}

static char *find_tool(const char *variable, const char *name)
{
    const char *set = secure_getenv(variable);
    if (!set || !*set)
        return find_in_path(name);
    if (strchr(set, '/'))
        return access(set, X_OK) == 0 ? strdup(set) : NULL;
    return find_in_path(set);
}

// The folder above lib/ or bin/ that holds this code.
static char *find_home(void)
{
    const char *set = secure_getenv("SOFTMETAL_HOME");
    if (set && *set)
        return strdup(set);
    Dl_info info;
    char *path = dladdr((void *)&state, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    for (int up = 0; path && up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    return path;
}

// Debian puts it beside clang's own headers; without it a kernel that needs it fails to link, with a message.
static char *find_builtins(const char *clang)
{
    char *path = realpath(clang, NULL), *found = NULL;
    for (int up = 0; path && up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    if (path)
        found = join(path, "/lib/clang/19/lib/linux/libclang_rt.builtins-x86_64.a");
    free(path);
    if (found && access(found, R_OK) == 0)
        return found;
    free(found);
    return NULL;
}

static void hash_binary(sm_hash *hash, const char *path)
{
    struct stat st = {0};
    sm_hash_add_string(hash, path);
    if (stat(path, &st) == 0) {
        sm_hash_add_number(hash, (uint64_t)st.st_size);
        sm_hash_add_number(hash, (uint64_t)st.st_mtim.tv_sec);
        sm_hash_add_number(hash, (uint64_t)st.st_mtim.tv_nsec);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **list_folder(const char *folder, size_t *count)
{
    char **names = NULL;
    size_t capacity = 0;
    DIR *dir = opendir(folder);
    *count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] == '.' || !sm_grow((void **)&names, &capacity, *count, sizeof(*names)))
            continue;
        names[*count] = strdup(entry->d_name);
        *count += names[*count] != NULL;
    }
    if (dir)
        closedir(dir);
    if (*count)
        qsort(names, *count, sizeof(*names), by_name);
    return names;
}

static void hash_folder(sm_hash *hash, const char *folder, int depth)
{
    size_t count;
    char **names = list_folder(folder, &count);
    for (size_t i = 0; i < count; i++) {
        char *path = NULL;
        struct stat st;
        if (asprintf(&path, "%s/%s", folder, names[i]) >= 0 && stat(path, &st) == 0) {
            sm_hash_add_string(hash, names[i]);
            if (S_ISDIR(st.st_mode) && depth < 8)
                hash_folder(hash, path, depth + 1);
            else if (S_ISREG(st.st_mode))
                sm_hash_add_file(hash, path);
        }
        free(path);
        free(names[i]);
    }
    free(names);
}

// -march=native means another thing on another processor. The first entry says it for all.
static void hash_processor(sm_hash *hash)
{
    char line[4096];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof(line), file) && line[0] != '\n')
        if (strncmp(line, "model", 5) == 0 || strncmp(line, "flags", 5) == 0 ||
            strncmp(line, "vendor_id", 9) == 0)
            sm_hash_add_string(hash, line);
    if (file)
        fclose(file);
}

static void make_ids(sm_toolchain *tools)
{
    sm_hash hash;
    sm_hash_begin(&hash);
    sm_hash_add_number(&hash, SM_ABI_VERSION);
    for (int i = 0; common_flags[i]; i++)
        sm_hash_add_string(&hash, common_flags[i]);
    for (int i = 0; fast_flags[i]; i++)
        sm_hash_add_string(&hash, fast_flags[i]);
    hash_binary(&hash, tools->clang);
    hash_folder(&hash, tools->share, 0);
    hash_processor(&hash);
    sm_hash_end(&hash, tools->front_id);

    sm_hash_begin(&hash);
    sm_hash_add_string(&hash, tools->front_id);
    hash_binary(&hash, tools->lld);
    sm_hash_add_file(&hash, tools->lower);
    sm_hash_end(&hash, tools->id);
}

static void free_tools(sm_toolchain *tools)
{
    free(tools->clang);
    free(tools->lld);
    free(tools->lower);
    free(tools->share);
    free(tools->stdlib);
    free(tools->builtins);
    *tools = (sm_toolchain){0};
}

static int missing(sm_text *log, const char *what, const char *advice)
{
    sm_text_printf(log, "softmetal: %s not found; %s\n", what, advice);
    return -ENOENT;
}

static int find_tools(sm_toolchain *tools, sm_text *log)
{
    static const char advice[] = "install it with: apt-get install clang-19 lld-19";
    char *home = find_home();
    tools->clang = find_tool("SOFTMETAL_CLANG", "clang-19");
    tools->lld = find_tool("SOFTMETAL_LLD", "ld.lld-19");
    tools->lower = home ? join(home, "/libexec/softmetal/softmetal-lower") : NULL;
    tools->share = home ? join(home, "/share/softmetal") : NULL;
    tools->stdlib = home ? join(home, "/share/softmetal/stdlib") : NULL;
    char *header = tools->stdlib ? join(tools->stdlib, "/msl.h") : NULL;
    int err = 0;
    if (!tools->clang)
        err = missing(log, "clang-19", advice);
    else if (!tools->lld)
        err = missing(log, "ld.lld-19", advice);
    else if (!tools->lower || !header)
        err = -ENOMEM;
    else if (access(header, R_OK) != 0)
        err = missing(log, header, "set SOFTMETAL_HOME to the folder softmetal is installed in");
    free(header);
    free(home);
    if (!err) {
        tools->builtins = find_builtins(tools->clang);
        make_ids(tools);
    }
    return err;
}

int sm_toolchain_get(const sm_toolchain **out, char **log)
{
    sm_text text = {0};
    int err = 0;
    pthread_mutex_lock(&state.lock);
    if (!state.found) {
        err = find_tools(&state.tools, &text);
        state.found = !err;
        if (err)
            free_tools(&state.tools);
    }
    pthread_mutex_unlock(&state.lock);
    *out = &state.tools;
    if (err && log)
        *log = sm_text_take(&text);
    sm_text_free(&text);
    return err;
}
