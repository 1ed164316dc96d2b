// SPDX-License-Identifier: MIT
// Precompiled headers, two in a chain: the standard library (once per machine and flags) and the user's
// library on top of it. Runs on any thread; a header is written under a temporary name and renamed.
#define _GNU_SOURCE
#include "cache.h"
#include "library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// One standard library header per combination of flags; checked once per process.
static struct {
    pthread_mutex_t lock;
    bool checked[2][2];
} base = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int precompile(const sm_header_request *request, const char *input, const char *below, const char *key,
                      sm_text *messages)
{
    char *output = sm_cache_temporary(".pch");
    if (!output)
        return -ENOMEM;
    sm_arguments arguments = {.count = 0};
    sm_add_clang(&arguments, request->tools, request->fast_math, request->distributed);
    if (below) {
        sm_arguments_add(&arguments, "-include-pch");
        sm_arguments_add(&arguments, below);
    }
    static const char *const kind[] = {"-x", "c++-header", NULL};
    sm_arguments_add_all(&arguments, kind);
    sm_arguments_add(&arguments, input);
    sm_arguments_add(&arguments, "-o");
    sm_arguments_add(&arguments, output);
    int err = sm_run_tool(&arguments, messages);
    if (!err)
        err = sm_cache_commit_plain(output, key, ".pch");
    if (err)
        unlink(output);
    free(output);
    return err;
}

static void base_key(const sm_header_request *request, char key[SM_HASH_TEXT])
{
    sm_hash hash;
    sm_hash_begin(&hash);
    sm_hash_add_string(&hash, "standard library");
    sm_hash_add_string(&hash, request->tools->front_id);
    sm_hash_add_string(&hash, request->tools->stdlib);
    sm_hash_add_number(&hash, request->fast_math | request->distributed << 1);
    sm_hash_end(&hash, key);
}

// The text lies beside the header: clang looks at it again whenever it reads the header.
static bool exists(const char *key, bool deeply)
{
    bool whole = deeply ? sm_cache_check_plain(key, ".pch") : sm_cache_touch(key, ".pch");
    return whole && sm_cache_touch(key, ".cpp");
}

// The standard library as one file in the cache: a header made from the installed files would be refused once
// they are replaced, in the middle of a process that has been told their hash.
static int copy_library(const sm_header_request *request, const char *key, sm_text *messages)
{
    static const char *const kind[] = {"-E", "-frewrite-includes", "-x", "c++-header", NULL};
    char *input = NULL, *output = sm_cache_temporary(".cpp");
    int err = output && asprintf(&input, "%s/msl.h", request->tools->stdlib) >= 0 ? 0 : -ENOMEM;
    sm_arguments arguments = {.count = 0};
    sm_add_clang(&arguments, request->tools, request->fast_math, request->distributed);
    sm_arguments_add_all(&arguments, kind);
    const char *const named[] = {input, "-o", output, NULL};
    sm_arguments_add_all(&arguments, named);
    if (!err)
        err = sm_run_tool(&arguments, messages);
    if (!err)
        err = sm_cache_commit(output, key, ".cpp");
    if (err && output)
        unlink(output);
    free(input);
    free(output);
    return err;
}

static int build_base(const sm_header_request *request, const char *key, sm_text *messages)
{
    char *input = sm_cache_path(key, ".cpp");
    int err = input ? copy_library(request, key, messages) : -ENOMEM;
    if (!err)
        err = precompile(request, input, NULL, key, messages);
    free(input);
    return err;
}

// One thread makes the standard library's header; the others wait for it.
static int ensure_base(const sm_header_request *request, const char *key, sm_text *messages)
{
    pthread_mutex_lock(&base.lock);
    bool *checked = &base.checked[request->fast_math][request->distributed];
    int err = exists(key, !*checked) ? 0 : build_base(request, key, messages);
    *checked = !err;
    pthread_mutex_unlock(&base.lock);
    return err;
}

bool sm_header_exists(const sm_header_request *request, bool deeply)
{
    char below[SM_HASH_TEXT];
    base_key(request, below);
    return exists(below, deeply) && exists(request->key, deeply);
}

int sm_header_build(const sm_header_request *request, sm_text *messages)
{
    char key[SM_HASH_TEXT];
    base_key(request, key);
    char *input = sm_cache_path(request->key, ".cpp"), *below = sm_cache_path(key, ".pch");
    int err = input && below ? ensure_base(request, key, messages) : -ENOMEM;
    if (!err)
        err = sm_cache_store_plain(request->key, ".cpp", request->text, request->length);
    if (!err)
        err = precompile(request, input, below, request->key, messages);
    free(below);
    free(input);
    return err;
}
