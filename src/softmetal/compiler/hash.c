// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) and a fast 64-bit checksum. Pure functions on the caller's memory.
#include "hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void expand(const uint8_t *block, uint32_t w[64])
{
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void compress(sm_hash *hash, const uint8_t *block)
{
    uint32_t w[64], s[8];
    expand(block, w);
    memcpy(s, hash->state, sizeof(s));
    for (int i = 0; i < 64; i++) {
        uint32_t e = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t t1 = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
        uint32_t a = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t t2 = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        hash->state[i] += s[i];
}

void sm_hash_begin(sm_hash *hash)
{
    *hash = (sm_hash){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                0x1f83d9ab, 0x5be0cd19}};
}

void sm_hash_add(sm_hash *hash, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    hash->total += length;
    while (length) {
        if (!hash->used && length >= 64) {
            compress(hash, bytes);
            bytes += 64;
            length -= 64;
            continue;
        }
        size_t part = 64 - hash->used < length ? 64 - hash->used : length;
        memcpy(hash->block + hash->used, bytes, part);
        hash->used += part;
        bytes += part;
        length -= part;
        if (hash->used == 64) {
            compress(hash, hash->block);
            hash->used = 0;
        }
    }
}

void sm_hash_add_number(sm_hash *hash, uint64_t number)
{
    sm_hash_add(hash, &number, sizeof(number));
}

void sm_hash_add_string(sm_hash *hash, const char *string)
{
    size_t length = string ? strlen(string) : 0;
    sm_hash_add_number(hash, length);
    sm_hash_add(hash, string, length);
}

int sm_hash_add_file(sm_hash *hash, const char *path)
{
    uint8_t buffer[16384];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    uint64_t total = 0;
    ssize_t got;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        sm_hash_add(hash, buffer, (size_t)got);
        total += (uint64_t)got;
    }
    int err = got < 0 ? -errno : 0;
    close(fd);
    sm_hash_add_number(hash, total);
    return err;
}

void sm_hash_end(sm_hash *hash, char text[SM_HASH_TEXT])
{
    uint64_t bits = hash->total * 8;
    uint8_t padding[72] = {0x80};
    size_t length = (hash->used < 56 ? 56 : 120) - hash->used;
    for (int i = 0; i < 8; i++)
        padding[length + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    sm_hash_add(hash, padding, length + 8);
    for (int i = 0; i < 8; i++)
        snprintf(text + 8 * i, 9, "%08x", hash->state[i]);
}

// Eight bytes a step: whole precompiled headers are checked with it.
uint64_t sm_checksum(const void *data, size_t length)
{
    const uint8_t *bytes = data;
    uint64_t sum = 0x9e3779b97f4a7c15u ^ length;
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0xff51afd7ed558ccdu;
        sum ^= sum >> 32;
    }
    for (; length; bytes++, length--)
        sum = (sum ^ *bytes) * 0xc4ceb9fe1a85ec53u;
    return sum ^ sum >> 29;
}
