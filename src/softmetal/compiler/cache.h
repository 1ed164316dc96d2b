// SPDX-License-Identifier: MIT
// The folder of compiled things: named by content, shared by processes, bounded in size. Where it cannot be
// used, a private folder that is removed at exit takes its place.
#ifndef SOFTMETAL_COMPILER_CACHE_H
#define SOFTMETAL_COMPILER_CACHE_H

#include "hash.h"

#include <stdbool.h>

// All of these may be called from any thread; the first call opens the cache. Paths are malloc'd, NULL
// without memory.
char *sm_cache_path(const char *key, const char *suffix);
// A name in the cache folder that nobody else uses; the caller removes or commits the file.
char *sm_cache_temporary(const char *suffix);

// Files with a trailer that proves them whole. A damaged one counts as absent. A hit counts as a use.
int sm_cache_store(const char *key, const char *suffix, const void *data, size_t length);
int sm_cache_store_plain(const char *key, const char *suffix, const void *data, size_t length); // without it
int sm_cache_load(const char *key, const char *suffix, char **data,
                  size_t *length); // NUL is added after data

// Gives a finished temporary file its name.
int sm_cache_commit(const char *temporary, const char *key, const char *suffix);
// The same with a trailer behind the content, which ELF does not mind.
int sm_cache_commit_sealed(const char *temporary, const char *key, const char *suffix);
bool sm_cache_check_sealed(const char *key, const char *suffix);
// For files that bear no trailer: size and checksum are kept in a file beside them.
int sm_cache_commit_plain(const char *temporary, const char *key, const char *suffix);
bool sm_cache_check_plain(const char *key, const char *suffix);
// Marks a file as used; false if it is not there. Files used within the last minute are never removed for
// room.
bool sm_cache_touch(const char *key, const char *suffix);
void sm_cache_remove(const char *key, const char *suffix);

// Removes the private folder, if there is one. Called once at exit.
void sm_cache_close(void);

#endif
