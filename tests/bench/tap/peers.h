// SPDX-License-Identifier: MIT
// One point that is hooked, and recorders that hook it: each in a file of its own, all with the same fields,
// so that their costs can stand beside each other. The original does nothing and is called through a pointer,
// as a method is that was replaced.
#ifndef TESTS_BENCH_TAP_PEERS_H
#define TESTS_BENCH_TAP_PEERS_H

#include "objc/metal_c.h"

#include <stdint.h>

// What a recorder keeps of a dispatch, besides the time.
struct peer_fields {
    uint32_t pipeline;
    uint32_t grid[3];
    uint16_t threadgroup[3];
    uint16_t threadgroup_memory;
};

typedef void (*peer_dispatch)(id self, SEL op, mtl_size groups, mtl_size threads);

struct peer {
    const char *name;
    int (*begin)(const char *path); // once; 0 or -errno
    int (*begin_thread)(void);      // on each thread that dispatches; may be NULL
    peer_dispatch dispatch;         // in the place of the original
    void (*end)(void);              // once; what was recorded is in the file then
};

// The encoder that all dispatches are sent to, and its pipeline's number.
extern void *peer_encoder[4];
enum { PEER_PIPELINE = 7 };
extern peer_dispatch volatile peer_original;

static inline struct peer_fields peer_fields_of(mtl_size groups, mtl_size threads)
{
    return (struct peer_fields){
        .pipeline = PEER_PIPELINE,
        .grid = {(uint32_t)groups.width, (uint32_t)groups.height, (uint32_t)groups.depth},
        .threadgroup = {(uint16_t)threads.width, (uint16_t)threads.height, (uint16_t)threads.depth},
    };
}

extern const struct peer peer_tap, peer_tap_buffers, peer_fprintf, peer_fflush;
// In the program that was linked with it only: its library starts threads of its own in every program.
extern const struct peer peer_lttng __attribute__((weak));

#endif
