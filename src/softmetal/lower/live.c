// SPDX-License-Identifier: MIT
// What lives across the sites, and where in the simdgroup's frame it is kept: 32 values side by side for a
// varying slot, one cell for a uniform one, 32 objects for an array.
#include "kernel_abi.h"
#include "lower.h"

static void find_variables(lower_live *live, const lower_cfg *cfg, const lower_slots *slots)
{
    uint32_t capacity = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i))
            capacity += LLVMIsAAllocaInst(i) != NULL;
    live->variable = lower_alloc(capacity, sizeof *live->variable);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsAAllocaInst(i))
                continue;
            if (!LLVMIsAConstantInt(LLVMGetOperand(i, 0)) ||
                LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0)) != 1)
                lower_fail("the kernel has an array of variable length");
            lower_variable *v = &live->variable[live->count];
            v->alloca = i;
            v->type = LLVMGetAllocatedType(i);
            v->scalar = slot_is_scalar(i);
            v->uniform = v->scalar && map_or(&slots->uniform, i, 0);
            map_put(&live->index, i, live->count++);
        }
}

static void find_regions(lower_live *live, const lower_cfg *cfg, const lower_sites *sites)
{
    uint32_t *stack = lower_alloc(cfg->count, sizeof *stack);
    live->region = lower_alloc(sites->count, sizeof *live->region);
    for (uint32_t s = 0; s < sites->count; s++) {
        bool *in = live->region[s] = lower_alloc(cfg->count, sizeof *in);
        uint32_t depth = 0;
        stack[depth++] = sites->site[s].block;
        in[sites->site[s].block] = true;
        while (depth) {
            uint32_t b = stack[--depth];
            for (uint32_t k = 0; k < cfg->succ_count[b]; k++) {
                uint32_t to = cfg->succ[b][k];
                if (!in[to] && sites->at_block[to] == CFG_NONE) {
                    in[to] = true;
                    stack[depth++] = to;
                }
            }
        }
    }
}

// First access of each scalar slot in each block: 1 load, 2 store; 4 is added if there is any store.
static uint8_t **first_accesses(const lower_live *live, const lower_cfg *cfg)
{
    uint8_t **access = lower_alloc(cfg->count, sizeof *access);
    for (uint32_t b = 0; b < cfg->count; b++) {
        access[b] = lower_alloc(live->count, sizeof **access);
        for (LLVMValueRef i = LLVMGetFirstInstruction(cfg->block[b]); i; i = LLVMGetNextInstruction(i)) {
            bool load = LLVMIsALoadInst(i), store = LLVMIsAStoreInst(i);
            if (!load && !store)
                continue;
            uintptr_t v;
            if (!map_get(&live->index, LLVMGetOperand(i, store), &v) || !live->variable[v].scalar)
                continue;
            if (!(access[b][v] & 3))
                access[b][v] |= load ? 1 : 2;
            if (store)
                access[b][v] |= 4;
        }
    }
    return access;
}

static bool **live_at_blocks(const lower_live *live, const lower_cfg *cfg, uint8_t **access)
{
    bool **in = lower_alloc(cfg->count, sizeof *in);
    for (uint32_t b = 0; b < cfg->count; b++)
        in[b] = lower_alloc(live->count, sizeof **in);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = cfg->count; b-- > 0;)
            for (uint32_t v = 0; v < live->count; v++) {
                if (in[b][v] || (access[b][v] & 3) == 2)
                    continue;
                bool now = (access[b][v] & 3) == 1;
                for (uint32_t k = 0; k < cfg->succ_count[b] && !now; k++)
                    now = in[cfg->succ[b][k]][v];
                if (now)
                    changed = in[b][v] = true;
            }
    }
    return in;
}

static bool site_repeats(const lower_cfg *cfg, uint32_t block)
{
    bool *seen = lower_alloc(cfg->count, sizeof *seen);
    cfg_reach_until(cfg, block, CFG_NONE, seen);
    return seen[block];
}

// Is an address in the array kept where another region can find it: in a slot, or in memory?
static bool address_is_kept(LLVMValueRef address)
{
    for (LLVMUseRef use = LLVMGetFirstUse(address); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool derived = LLVMIsAGetElementPtrInst(user) || LLVMIsASelectInst(user) ||
                       LLVMIsABitCastInst(user) || LLVMIsAPtrToIntInst(user);
        if ((LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == address) ||
            (derived && address_is_kept(user)))
            return true;
    }
    return false;
}

// An array stays on the stack only if one region alone uses it and is not entered again.
static bool array_crosses(const lower_live *live, const lower_cfg *cfg, const lower_sites *sites,
                          LLVMValueRef alloca)
{
    uint32_t found = CFG_NONE;
    if (sites->count == 1)
        return false;
    if (address_is_kept(alloca))
        return true;
    for (LLVMUseRef use = LLVMGetFirstUse(alloca); use; use = LLVMGetNextUse(use)) {
        uint32_t b = cfg_number(cfg, LLVMGetInstructionParent(LLVMGetUser(use)));
        for (uint32_t s = 0; s < sites->count; s++) {
            if (!live->region[s][b])
                continue;
            if (found != CFG_NONE && found != s)
                return true;
            found = s;
        }
    }
    return found != CFG_NONE && site_repeats(cfg, sites->site[found].block);
}

static uint32_t align_up(uint32_t offset, uint32_t to)
{
    return (offset + to - 1) & ~(to - 1);
}

static uint64_t place(lower_variable *variable, uint64_t offset, uint32_t align, uint64_t size)
{
    offset = (offset + align - 1) & ~(uint64_t)(align - 1);
    variable->offset = (uint32_t)offset;
    if (offset + size > 64u << 20)
        lower_fail("a thread of the kernel needs too much memory of its own");
    return offset + size;
}

// Uniform cells first, then what each lane has of its own.
static void lay_out(lower_live *live, LLVMTargetDataRef layout)
{
    uint64_t offset = 0;
    for (uint32_t v = 0; v < live->count; v++) {
        lower_variable *variable = &live->variable[v];
        if (variable->in_frame && variable->uniform)
            offset = place(variable, offset, 16, LLVMABISizeOfType(layout, variable->type));
    }
    for (uint32_t v = 0; v < live->count; v++) {
        lower_variable *variable = &live->variable[v];
        if (variable->in_frame && !variable->uniform)
            offset = place(variable, offset, 64, LLVMABISizeOfType(layout, variable->type) * SM_LANES);
    }
    live->frame_bytes = align_up((uint32_t)offset, 64);
}

// Arrays by their uses, slots by their loads and stores: both are users of the alloca.
static void find_uses(lower_live *live, const lower_cfg *cfg, const lower_sites *sites)
{
    live->used_in = lower_alloc(sites->count, sizeof *live->used_in);
    for (uint32_t s = 0; s < sites->count; s++)
        live->used_in[s] = lower_alloc(live->count, sizeof **live->used_in);
    for (uint32_t v = 0; v < live->count; v++)
        for (LLVMUseRef use = LLVMGetFirstUse(live->variable[v].alloca); use; use = LLVMGetNextUse(use)) {
            uint32_t b = cfg_number(cfg, LLVMGetInstructionParent(LLVMGetUser(use)));
            for (uint32_t s = 0; s < sites->count; s++)
                live->used_in[s][v] |= live->region[s][b];
        }
}

lower_live *live_analyse(const lower_cfg *cfg, const lower_sites *sites, const lower_slots *slots,
                         LLVMTargetDataRef layout)
{
    lower_live *live = lower_alloc(1, sizeof *live);
    find_variables(live, cfg, slots);
    find_regions(live, cfg, sites);
    find_uses(live, cfg, sites);
    uint8_t **access = first_accesses(live, cfg);
    bool **in = live_at_blocks(live, cfg, access);
    live->live_in = lower_alloc(sites->count, sizeof *live->live_in);
    live->stored_in = lower_alloc(sites->count, sizeof *live->stored_in);
    for (uint32_t s = 0; s < sites->count; s++) {
        live->live_in[s] = in[sites->site[s].block];
        live->stored_in[s] = lower_alloc(live->count, sizeof **live->stored_in);
        for (uint32_t b = 0; b < cfg->count; b++)
            for (uint32_t v = 0; live->region[s][b] && v < live->count; v++)
                live->stored_in[s][v] |= (access[b][v] & 4) != 0;
        for (uint32_t v = 0; s && v < live->count; v++)
            live->variable[v].in_frame |= live->live_in[s][v];
    }
    for (uint32_t v = 0; v < live->count; v++)
        if (!live->variable[v].scalar)
            live->variable[v].in_frame = array_crosses(live, cfg, sites, live->variable[v].alloca);
    lay_out(live, layout);
    return live;
}
