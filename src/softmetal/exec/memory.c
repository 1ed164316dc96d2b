// SPDX-License-Identifier: MIT
// Memory of buffers. Without validation plain zeroed pages; with it each piece lies between inaccessible
// stretches, its end (rounded to 16 bytes) against the upper one.
#include "exec_internal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GUARD = 64 * 1024, MAP_FROM = 64 * 1024 };

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

static void *alloc_guarded(size_t bytes)
{
    size_t data = round_up(bytes, PAGE);
    if (data < bytes)
        return NULL;
    uint8_t *base =
        mmap(NULL, data + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mprotect(base + GUARD, data, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, data + 2 * GUARD);
        return NULL;
    }
    return base + GUARD + (data - round_up(bytes, 16));
}

void *sm_memory_alloc(size_t bytes)
{
    if (bytes == 0 || bytes > (size_t)1 << 46)
        return NULL;
    if (sm_fault_validating())
        return alloc_guarded(bytes);
    if (bytes >= MAP_FROM) {
        void *memory =
            mmap(NULL, round_up(bytes, PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? NULL : memory;
    }
    void *memory = aligned_alloc(PAGE, round_up(bytes, PAGE));
    if (memory)
        memset(memory, 0, round_up(bytes, PAGE));
    return memory;
}

void sm_memory_free(void *address, size_t bytes)
{
    if (!address)
        return;
    size_t data = round_up(bytes, PAGE);
    if (sm_fault_validating())
        munmap((uint8_t *)((uintptr_t)address & ~(uintptr_t)(PAGE - 1)) - GUARD, data + 2 * GUARD);
    else if (bytes >= MAP_FROM)
        munmap(address, data);
    else
        free(address);
}
