// SPDX-License-Identifier: MIT
// SHA-256 for the names of cache files, and a fast checksum that finds damaged ones.
#ifndef SOFTMETAL_COMPILER_HASH_H
#define SOFTMETAL_COMPILER_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { SM_HASH_BYTES = 32, SM_HASH_TEXT = 65 };

typedef struct sm_hash {
    uint32_t state[8];
    uint64_t total;
    uint8_t block[64];
    size_t used;
} sm_hash;

void sm_hash_begin(sm_hash *hash);
void sm_hash_add(sm_hash *hash, const void *data, size_t length);
// Adds the length too, so that ("ab","c") and ("a","bc") differ. NULL counts as "".
void sm_hash_add_string(sm_hash *hash, const char *string);
void sm_hash_add_number(sm_hash *hash, uint64_t number);
int sm_hash_add_file(sm_hash *hash, const char *path); // content; 0 or -errno
void sm_hash_end(sm_hash *hash, char text[SM_HASH_TEXT]);

uint64_t sm_checksum(const void *data, size_t length);

#endif
