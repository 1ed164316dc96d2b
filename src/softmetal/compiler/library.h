// SPDX-License-Identifier: MIT
// What the parts of the compiler share about libraries: the record itself and its precompiled header.
#ifndef SOFTMETAL_COMPILER_LIBRARY_H
#define SOFTMETAL_COMPILER_LIBRARY_H

#include "diagnostics.h"
#include "hash.h"
#include "toolchain.h"
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

struct sm_library {
    atomic_int references;
    sm_unit unit;           // functions and constants; its tokens are freed once the library exists
    sm_constant *constants; // the public parts of unit.constants
    char *source, *rewritten;
    size_t source_length, rewritten_length;
    char *file_name;
    const sm_toolchain *tools;
    char key[SM_HASH_TEXT];
    bool fast_math;
    pthread_mutex_t header_lock;
    bool header_checked;        // the precompiled header was made or found whole by this process
    unsigned header_generation; // how often this process made it
};

// sm_library_create with folders for #include, for the command line.
typedef struct sm_library_request {
    const char *text;
    size_t length;
    const sm_compile_options *options;
    const char *const *include_folders; // ends with NULL; may be NULL
} sm_library_request;

int sm_library_build(const sm_library_request *source, sm_library **out, char **log);

// Makes sure that the library's precompiled header is there, and gives its path and generation.
int sm_library_header(sm_library *library, char **path, unsigned *generation, sm_text *log);
// After clang failed with that generation: true if there is a newer one, or one was made because the old one
// was read from the disk or has lost a file. False: the failure is the user's.
bool sm_library_renew_header(sm_library *library, unsigned generation, sm_text *log);
sm_message_map sm_library_messages(const sm_library *library);

// headers.c: precompiles text that stands on top of the standard library; the key names the results.
typedef struct sm_header_request {
    const sm_toolchain *tools;
    const char *key;
    const char *text;
    size_t length;
    bool fast_math, distributed;
} sm_header_request;
// Are all files of the header there? With `deeply`, are they whole?
bool sm_header_exists(const sm_header_request *request, bool deeply);
// 0, -EINVAL (clang's messages are in *messages) or another -errno.
int sm_header_build(const sm_header_request *request, sm_text *messages);

extern atomic_ullong sm_libraries_built, sm_libraries_cached;

#endif
