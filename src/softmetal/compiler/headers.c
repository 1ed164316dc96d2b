// SPDX-License-Identifier: MIT
// Precompiled headers, two in a chain: the standard library (once per machine and flags) and the user's library
// on top of it. Runs on any thread; a header is written under a temporary name and renamed.
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
    bool ready[2][2];
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

static int ensure_base(const sm_header_request *request, char **path, sm_text *messages)
{
    char key[SM_HASH_TEXT], *input = NULL;
    int err = 0;
    base_key(request, key);
    *path = sm_cache_path(key, ".pch");
    if (!*path)
        return -ENOMEM;
    pthread_mutex_lock(&base.lock);
    bool *ready = &base.ready[request->fast_math][request->distributed];
    if (!*ready || access(*path, R_OK) != 0) {
        *ready = sm_cache_check_plain(key, ".pch");
        if (!*ready && asprintf(&input, "%s/msl.h", request->tools->stdlib) < 0) {
            input = NULL;
            err = -ENOMEM;
        } else if (!*ready) {
            err = precompile(request, input, NULL, key, messages);
            *ready = !err;
        }
        free(input);
    }
    pthread_mutex_unlock(&base.lock);
    if (err) {
        free(*path);
        *path = NULL;
    }
    return err;
}

int sm_header_build(const sm_header_request *request, sm_text *messages)
{
    char *input = sm_cache_path(request->key, ".cpp"), *below = NULL;
    int err = input ? ensure_base(request, &below, messages) : -ENOMEM;
    if (!err) // the text stays beside the header: clang looks for it when it reads the header
        err = sm_cache_store_plain(request->key, ".cpp", request->text, request->length);
    if (!err)
        err = precompile(request, input, below, request->key, messages);
    free(below);
    free(input);
    return err;
}
