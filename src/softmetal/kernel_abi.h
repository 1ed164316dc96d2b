// SPDX-License-Identifier: MIT
// The binary contract between a compiled kernel, the lowering that compiles it, and the executor that runs
// it. Plain C, also included by the C++ header that stands for Metal's standard library. A change of anything
// here needs a new SM_ABI_VERSION: the number is part of the key of the kernel cache.
//
// A kernel is cut into regions at its synchronisation points (barriers, simdgroup operations, and the
// branches around them). A region runs for a row of lanes of one simdgroup in one call, as a loop over the
// lanes; what lives across a cut is kept in the simdgroup's frame, one array of 32 per value.
#ifndef SOFTMETAL_KERNEL_ABI_H
#define SOFTMETAL_KERNEL_ABI_H

#ifdef __cplusplus
#define SM_ALIGN(n) alignas(n)
extern "C" {
#else
#define SM_ALIGN(n) _Alignas(n)
#endif

#define SM_ABI_VERSION 3
#define SM_LANES 32
#define SM_MAX_BUFFERS 31
#define SM_MAX_THREADS 1024
#define SM_MAX_SIMDS (SM_MAX_THREADS / SM_LANES)
#define SM_MAX_THREADGROUP_BYTES 32768

typedef unsigned char sm_u8;
typedef unsigned short sm_u16;
typedef unsigned int sm_u32;
typedef unsigned long sm_u64;

struct sm_args;

// One value of a kernel's log call: kind is 'i' (signed), 'u' (unsigned), 'f' (double), 's' (string), 'p'.
typedef struct sm_log_value {
    sm_u32 kind;
    union {
        long i;
        sm_u64 u;
        double f;
        const char *s;
        const void *p;
    } as;
} sm_log_value;
typedef void (*sm_log_fn)(const struct sm_args *args, sm_u32 level, const char *format,
                          const sm_log_value *values, sm_u32 count);

// What a dispatch hands to its kernel. Never written while the dispatch runs.
typedef struct sm_args {
    void *buffer[SM_MAX_BUFFERS];       // by [[buffer(n)]] index
    sm_u32 threadgroup[SM_MAX_BUFFERS]; // offset of [[threadgroup(n)]] in sm_group.memory
    sm_u32 grid[3];                     // threads_per_grid
    sm_u32 group_size[3];               // dispatch_threads_per_threadgroup
    sm_u32 groups[3];                   // threadgroups_per_grid
    sm_log_fn log;                      // never null
    void *log_context;
} sm_args;

// One running threadgroup; edge groups of a ragged grid have a smaller size than sm_args.group_size.
typedef struct sm_group {
    sm_u32 position[3]; // threadgroup_position_in_grid
    sm_u32 size[3];     // threads_per_threadgroup
    sm_u32 threads;     // product of size
    sm_u32 simds;       // simdgroups_per_threadgroup
    sm_u8 *memory;      // dynamic threadgroup memory
    sm_u8 *variables;   // threadgroup variables inside the kernel
} sm_group;

// Where the lanes of one simdgroup meet. A lane stores at in[k][lane * sizeof(T)], synchronises with an
// operation, and loads the answer from out (sizeof(T) <= 16).
typedef struct sm_simd {
    SM_ALIGN(64) sm_u8 in[3][SM_LANES * 16];
    SM_ALIGN(64) sm_u8 out[SM_LANES * 16];
    sm_u32 aux[SM_LANES];  // second operand: a lane number, a distance
    sm_u16 next[SM_LANES]; // after a region whose lanes part: each lane's next site
} sm_simd;

// Runs once per meeting, for the lanes whose bits are set in mask.
typedef void (*sm_simd_op)(sm_simd *simd, sm_u32 mask);

// A run of `count` threads along x: thread i has x = x0 + i, index in threadgroup first + i, lane lane0 + i.
// In a kernel without sites of its own a row may be longer than a simdgroup.
typedef struct sm_row {
    sm_u32 x0, y, z;
    sm_u32 first;
    sm_u32 lane0;
    sm_u32 count;
} sm_row;

#define SM_SITE_DONE 0xffffu     // the thread has returned
#define SM_SITE_DIVERGED 0xfffeu // returned by a region: look at sm_simd.next

// Runs lanes, given as rows, from their site to the next one: the site all of them reached, or
// SM_SITE_DIVERGED. All lanes that stand at the site must be given in one call: what is uniform over them is
// kept once.
typedef sm_u32 (*sm_region)(sm_u8 *frame, sm_simd *simd, const sm_group *group, const sm_args *args,
                            const sm_row *rows, sm_u32 row_count);

enum { SM_SITE_JOIN, SM_SITE_SIMD, SM_SITE_BARRIER };

typedef struct sm_site {
    sm_u32 kind;      // SM_SITE_...
    sm_simd_op op;    // for SM_SITE_SIMD
    sm_region region; // what runs from here
} sm_site;

// Size and alignment of what each buffer or threadgroup argument points to, in the order of the parameters.
typedef struct sm_arg_layout {
    sm_u32 size, align;
} sm_arg_layout;

// The one exported symbol of a kernel object, `sm_kernel_info`, made by the lowering. Sites are numbered in
// program order with each loop's sites together: the lowest waiting site runs first. Site 0 is the entry.
typedef struct sm_kernel {
    sm_u32 abi;
    sm_u32 sites;
    sm_u32 frame_bytes;              // per simdgroup
    sm_u32 static_threadgroup_bytes; // threadgroup variables inside the kernel
    sm_u32 arg_layouts_count;
    const sm_arg_layout *arg_layouts;
    const sm_site *site;
} sm_kernel;

// Calls that only the lowering understands; it puts a value or a cut in their place. The lane-valued ones are
// constant for the life of a thread.
#ifdef SM_IN_KERNEL
#define SM_PURE __attribute__((const, nothrow))
sm_u32 __sm_x(void) SM_PURE; // thread_position_in_threadgroup
sm_u32 __sm_y(void) SM_PURE;
sm_u32 __sm_z(void) SM_PURE;
sm_u32 __sm_grid_x(void) SM_PURE; // thread_position_in_grid
sm_u32 __sm_grid_y(void) SM_PURE;
sm_u32 __sm_grid_z(void) SM_PURE;
sm_u32 __sm_index(void) SM_PURE;      // thread_index_in_threadgroup
sm_u32 __sm_lane(void) SM_PURE;       // thread_index_in_simdgroup
sm_u32 __sm_simd_index(void) SM_PURE; // simdgroup_index_in_threadgroup
const sm_group *__sm_group(void) SM_PURE;
const sm_args *__sm_args(void) SM_PURE;
sm_simd *__sm_simd(void) SM_PURE;
void __sm_simd_sync(sm_simd_op op) __attribute__((convergent, nothrow)); // op: a constant function
void __sm_barrier(void) __attribute__((convergent, nothrow));
// Where the lowering starts: calls the user's kernel with its arguments. Written by SM_KERNEL_ENTRY.
void sm_kernel_thread(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
