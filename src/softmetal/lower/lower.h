// SPDX-License-Identifier: MIT
// softmetal-lower: from the bitcode of one kernel to an object file whose functions run rows of lanes.
// One process, one thread, one kernel; everything is freed by exit. Each step is a file:
//   inline + optimise (passes.c) -> what is the same in all lanes (uniform.c) -> values into slots (slots.c)
//   -> cuts (sites.c) -> what lives across them (live.c) -> one function per region (region.c) -> object
//   (passes.c)
#ifndef SOFTMETAL_LOWER_H
#define SOFTMETAL_LOWER_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The kernel on its way.
typedef struct lower_unit {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout;
    LLVMValueRef kernel;        // sm_kernel_thread
    uint32_t threadgroup_bytes; // of its threadgroup variables
} lower_unit;

void lower_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *lower_alloc(size_t count, size_t size); // zeroed; never returns NULL

// ---- map.c: pointer -> word ----
typedef struct lower_map {
    const void **key;
    uintptr_t *value;
    size_t capacity, count;
} lower_map;
void map_put(lower_map *map, const void *key, uintptr_t value);
bool map_get(const lower_map *map, const void *key, uintptr_t *value);
uintptr_t map_or(const lower_map *map, const void *key, uintptr_t otherwise);

// ---- metadata.c ----
unsigned metadata_kind(LLVMContextRef context, const char *name);
// A loop's identity with one property (the text of its node). If parallel_accesses is given, accesses marked
// with the node put there are independent over the loop's turns.
LLVMValueRef metadata_loop(LLVMContextRef context, const char *property, LLVMValueRef *parallel_accesses);

// ---- cfg.c: a function's blocks by number, with what LLVM's C interface does not tell ----
#define CFG_NONE UINT32_MAX
typedef struct lower_cfg {
    LLVMValueRef function;
    uint32_t count; // block 0 is the entry
    LLVMBasicBlockRef *block;
    uint32_t **succ, *succ_count;
    uint32_t **pred, *pred_count;
    uint32_t *idom, *ipdom; // CFG_NONE: none (entry), or the virtual exit
    uint32_t *loop_depth;   // how many loops hold this block
    uint32_t *loop_header;  // header of the innermost loop, or CFG_NONE
    uint32_t *loop_parent;  // by header: header of the loop around it, or CFG_NONE
    uint32_t *order;        // program order, each loop's blocks together; order[block] = position
    lower_map number;
} lower_cfg;
lower_cfg *cfg_build(LLVMValueRef function);
uint32_t cfg_number(const lower_cfg *cfg, LLVMBasicBlockRef block);
bool cfg_dominates(const lower_cfg *cfg, uint32_t a, uint32_t b);
bool cfg_in_loop(const lower_cfg *cfg, uint32_t block, uint32_t header);
// Marks in `seen` what is reachable from the successors of `block` without passing `stop`.
void cfg_reach_until(const lower_cfg *cfg, uint32_t block, uint32_t stop, bool *seen);

// ---- builtins.c: the pseudo-functions of kernel_abi.h ----
typedef enum lower_builtin {
    BUILTIN_NONE,
    BUILTIN_X,
    BUILTIN_Y,
    BUILTIN_Z,
    BUILTIN_GRID_X,
    BUILTIN_GRID_Y,
    BUILTIN_GRID_Z,
    BUILTIN_INDEX,
    BUILTIN_LANE,
    BUILTIN_SIMD_INDEX,
    BUILTIN_GROUP,
    BUILTIN_ARGS,
    BUILTIN_SIMD,
    BUILTIN_SIMD_SYNC,
    BUILTIN_BARRIER,
    BUILTIN_NEVER, // made by breaks.c: false
    BUILTIN_COUNT
} lower_builtin;
lower_builtin builtin_of(LLVMValueRef instruction); // BUILTIN_NONE unless it is a call of one
bool builtin_is_sync(lower_builtin builtin);
bool builtin_is_uniform(lower_builtin builtin); // the same value in every lane of a row and a simdgroup

// ---- breaks.c: operations in front of a break stay in their loop ----
void breaks_hold(lower_unit *unit);

// ---- threadgroup.c: thread-local globals become places in the group's memory ----
void threadgroup_place(lower_unit *unit);

// ---- uniform.c ----
typedef struct lower_uniform {
    const lower_cfg *cfg;
    lower_map varying; // values that may differ between lanes
} lower_uniform;
lower_uniform *uniform_analyse(const lower_cfg *cfg);
bool uniform_value(const lower_uniform *u, LLVMValueRef value);

// ---- induction.c: a loop variable that starts at a lane's own place becomes that place plus a uniform one
// ----
bool induction_split(const lower_cfg *cfg, const lower_uniform *u);

// ---- slots.c: no value crosses a block except through a slot (an alloca in the entry block) ----
typedef struct lower_slots {
    lower_map uniform; // slot -> 1 if all lanes hold the same value in it
} lower_slots;
bool slots_tree_is_cheap(const lower_uniform *u, LLVMValueRef value);
void slots_rematerialise(const lower_cfg *cfg, const lower_uniform *u);
lower_slots *slots_demote(const lower_cfg *cfg, const lower_uniform *u);
// Ends a block behind each synchronisation; the tail becomes a block of its own.
void slots_split_at_syncs(LLVMValueRef function);
bool slot_is_scalar(LLVMValueRef alloca); // only loaded and stored whole

// ---- loops.c: which loops stay rolled, and which run with the lanes innermost (their headers) ----
void loops_keep_rolled(const lower_cfg *cfg, const lower_uniform *u);
void loops_choose(const lower_cfg *cfg, const lower_uniform *u, lower_map *headers);

// ---- sites.c ----
typedef struct lower_site {
    uint32_t block;
    uint32_t kind;   // SM_SITE_...
    LLVMValueRef op; // function, for SM_SITE_SIMD
} lower_site;
typedef struct lower_sites {
    uint32_t count;
    lower_site *site;   // in program order
    uint32_t *at_block; // site number by block, or CFG_NONE
} lower_sites;
lower_sites *sites_find(const lower_cfg *cfg, const lower_map *loop_headers);

// ---- live.c ----
typedef struct lower_variable {
    LLVMValueRef alloca;
    LLVMTypeRef type;
    bool scalar;     // a slot that mem2reg can lift; else an array or an escaped object
    bool uniform;    // one cell per simdgroup
    bool in_frame;   // lives across a site
    uint32_t offset; // in the frame
} lower_variable;
typedef struct lower_live {
    uint32_t count;
    lower_variable *variable;
    bool **live_in;   // [site][variable]
    bool **stored_in; // [site][variable]: its region may store it
    bool **used_in;   // [site][variable]: its region has to do with it
    bool **region;    // [site][block]
    uint32_t frame_bytes;
    lower_map index; // alloca -> variable number
} lower_live;
lower_live *live_analyse(const lower_cfg *cfg, const lower_sites *sites, const lower_slots *slots,
                         LLVMTargetDataRef layout);

// ---- region.c ----
// Makes the region function of one site.
LLVMValueRef region_build(const lower_unit *unit, const lower_cfg *cfg, const lower_sites *sites,
                          const lower_live *live, const lower_uniform *uniform, uint32_t site);

// ---- table.c: sm_kernel_info and the site table ----
void table_build(const lower_unit *unit, const lower_sites *sites, const lower_live *live,
                 LLVMValueRef *regions);

// ---- passes.c ----
void passes_prepare(
    lower_unit *unit); // inline everything, scalar optimisations, no vectors, no phi on a critical edge
void passes_finish(lower_unit *unit); // full optimisation with the vectoriser
void passes_run(const lower_unit *unit, const char *passes, bool vectorise);
void passes_emit(const lower_unit *unit, const char *path);

#endif
