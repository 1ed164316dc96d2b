// SPDX-License-Identifier: MIT
// Builds the function of one region: a loop over the lanes of a row whose body is a copy of the region's
// blocks. What is live at the site is loaded from the frame first; what the region stored and a later site
// needs is written back on the way out. The loop's accesses are marked independent, as lanes between two
// synchronisations are, so that the vectoriser needs no proof.
#include "kernel_abi.h"
#include "lower.h"
#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    const lower_unit *unit;
    const lower_cfg *cfg;
    const lower_sites *sites;
    const lower_live *live;
    const lower_uniform *uniform;
    uint32_t site;
    bool full; // for a whole simdgroup in one row: 32 lanes from lane 0
    LLVMValueRef function;
    LLVMBuilderRef b;
    LLVMTypeRef i8, i16, i32, i64, pointer;
    LLVMBasicBlockRef entry, turn, line, loop, latch, line_end, done;
    LLVMBasicBlockRef *copy;  // by block
    LLVMBasicBlockRef *leave; // by site, and [count] for the return
    LLVMValueRef *local;      // by variable: its stand-in here
    LLVMValueRef *held;       // by variable: what its cell holds as a turn begins
    LLVMValueRef *cell;       // by variable: uniform value to write back
    LLVMValueRef builtin[BUILTIN_COUNT];
    LLVMValueRef lane64, next_local, least, most, step;
    LLVMValueRef frame, simd, group, args, rows, row_count;
    LLVMValueRef row;  // the one being run
    uint32_t leaving;  // how many different exits
    bool parts;        // lanes may leave by different ones
    uint32_t exits[2]; // if there are two: their sites
    bool private_arrays;
    LLVMValueRef access_group, loop_id;
    unsigned access_kind, loop_kind;
    lower_map value;
} builder;

// LLVM's C interface cannot make distinct metadata; its reader can.
static void make_metadata(builder *r)
{
    // Only whole simdgroups, and kernels without sites, are worth unrolling.
    const char *hint =
        r->full || r->sites->count == 1 ? "llvm.loop.mustprogress" : "llvm.loop.unroll.disable";
    char text[512];
    int length = snprintf(text, sizeof text,
                          "define void @f(ptr %%p) {\n"
                          "  br label %%l\n"
                          "l:\n"
                          "  store i8 0, ptr %%p, !llvm.access.group !0\n"
                          "  br label %%l, !llvm.loop !1\n"
                          "}\n"
                          "!0 = distinct !{}\n"
                          "!1 = distinct !{!1, !2, !3}\n"
                          "!2 = !{!\"llvm.loop.parallel_accesses\", !0}\n"
                          "!3 = !{!\"%s\"}\n",
                          hint);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, (size_t)length, "metadata");
    LLVMModuleRef module;
    char *message;
    if (LLVMParseIRInContext(r->unit->context, buffer, &module, &message))
        lower_fail("metadata: %s", message);
    r->access_kind = LLVMGetMDKindIDInContext(r->unit->context, "llvm.access.group", 17);
    r->loop_kind = LLVMGetMDKindIDInContext(r->unit->context, "llvm.loop", 9);
    LLVMBasicBlockRef loop = LLVMGetLastBasicBlock(LLVMGetNamedFunction(module, "f"));
    r->access_group = LLVMGetMetadata(LLVMGetFirstInstruction(loop), r->access_kind);
    r->loop_id = LLVMGetMetadata(LLVMGetBasicBlockTerminator(loop), r->loop_kind);
    LLVMDisposeModule(module);
}

static LLVMValueRef constant(const builder *r, uint64_t value)
{
    return LLVMConstInt(r->i32, value, 0);
}

static LLVMValueRef at_offset(const builder *r, LLVMValueRef base, uint64_t offset)
{
    LLVMValueRef index = LLVMConstInt(r->i64, offset, 0);
    return LLVMBuildInBoundsGEP2(r->b, r->i8, base, &index, 1, "");
}

static LLVMValueRef load_word(const builder *r, LLVMValueRef base, uint64_t offset, const char *name)
{
    return LLVMBuildLoad2(r->b, r->i32, at_offset(r, base, offset), name);
}

static LLVMValueRef add_nuw(const builder *r, LLVMValueRef a, LLVMValueRef b, const char *name)
{
    LLVMValueRef sum = LLVMBuildAdd(r->b, a, b, name);
    if (LLVMIsAInstruction(sum)) {
        LLVMSetNUW(sum, 1);
    }
    return sum;
}

static LLVMValueRef parallel(const builder *r, LLVMValueRef access)
{
    LLVMSetMetadata(access, r->access_kind, r->access_group);
    return access;
}

static void add_attribute(const builder *r, unsigned index, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(r->function, index, LLVMCreateEnumAttribute(r->unit->context, kind, 0));
}

static void declare(builder *r)
{
    LLVMTypeRef parameters[6] = {r->pointer, r->pointer, r->pointer, r->pointer, r->pointer, r->i32};
    char name[32];
    snprintf(name, sizeof name, r->full ? "region_%u_full" : "region_%u_part", r->site);
    r->function = LLVMAddFunction(r->unit->module, name, LLVMFunctionType(r->i32, parameters, 6, 0));
    LLVMSetLinkage(r->function, LLVMInternalLinkage);
    for (unsigned k = 1; k <= 5; k++) {
        add_attribute(r, k, "noalias");
        if (k > 2)
            add_attribute(r, k, "readonly");
    }
    add_attribute(r, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
    r->frame = LLVMGetParam(r->function, 0);
    r->simd = LLVMGetParam(r->function, 1);
    r->group = LLVMGetParam(r->function, 2);
    r->args = LLVMGetParam(r->function, 3);
    r->rows = LLVMGetParam(r->function, 4);
    r->row_count = LLVMGetParam(r->function, 5);
    r->entry = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "entry");
    r->turn = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "turn");
    r->line = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "row");
    r->loop = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "lane");
    for (uint32_t b = 0; b < r->cfg->count; b++)
        if (r->live->region[r->site][b])
            r->copy[b] = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "");
    r->latch = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "next_lane");
    r->line_end = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "next_row");
    r->done = LLVMAppendBasicBlockInContext(r->unit->context, r->function, "done");
}

// The stand-ins of variables.
static void build_entry(builder *r)
{
    LLVMPositionBuilderAtEnd(r->b, r->entry);
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!variable->scalar && variable->in_frame)
            continue;
        r->local[v] = LLVMBuildAlloca(r->b, variable->type, "");
        if (variable->uniform)
            r->cell[v] = LLVMBuildAlloca(r->b, variable->type, "");
        LLVMSetAlignment(r->local[v], LLVMGetAlignment(variable->alloca));
        r->private_arrays |= !variable->scalar;
    }
    r->next_local = LLVMBuildAlloca(r->b, r->i32, "");
    r->least = LLVMBuildAlloca(r->b, r->i32, "");
    r->most = LLVMBuildAlloca(r->b, r->i32, "");
    LLVMBuildBr(r->b, r->turn);
}

// What all lanes of a row start from.
static void load_row(builder *r, LLVMValueRef first[BUILTIN_COUNT])
{
    for (unsigned d = 0; d < 3; d++) {
        LLVMValueRef own = load_word(r, r->row, offsetof(sm_row, x0) + 4 * d, "");
        LLVMValueRef position = load_word(r, r->group, offsetof(sm_group, position) + 4 * d, "");
        LLVMValueRef size = load_word(r, r->args, offsetof(sm_args, group_size) + 4 * d, "");
        first[BUILTIN_X + d] = own;
        first[BUILTIN_GRID_X + d] = LLVMBuildAdd(r->b, LLVMBuildMul(r->b, position, size, ""), own, "");
    }
    first[BUILTIN_INDEX] = load_word(r, r->row, offsetof(sm_row, first), "");
    first[BUILTIN_LANE] = r->full ? constant(r, 0) : load_word(r, r->row, offsetof(sm_row, lane0), "");
    first[BUILTIN_SIMD_INDEX] = LLVMBuildLShr(r->b, first[BUILTIN_INDEX], constant(r, 5), "");
}

// The loop over the rows; returns how many lanes the current one has.
static LLVMValueRef build_rows(builder *r, LLVMValueRef first[BUILTIN_COUNT])
{
    LLVMPositionBuilderAtEnd(r->b, r->line);
    LLVMValueRef number = LLVMBuildPhi(r->b, r->i32, "row_number");
    LLVMValueRef wide = LLVMBuildZExt(r->b, number, r->i64, "");
    LLVMValueRef offset = LLVMBuildMul(r->b, wide, LLVMConstInt(r->i64, sizeof(sm_row), 0), "");
    r->row = r->full ? r->rows : LLVMBuildInBoundsGEP2(r->b, r->i8, r->rows, &offset, 1, "");
    load_row(r, first);
    LLVMValueRef count =
        r->full ? constant(r, SM_LANES) : load_word(r, r->row, offsetof(sm_row, count), "count");
    LLVMBuildBr(r->b, r->loop);
    LLVMPositionBuilderAtEnd(r->b, r->line_end);
    LLVMValueRef following = LLVMBuildNUWAdd(r->b, number, constant(r, 1), "");
    LLVMValueRef more = LLVMBuildICmp(r->b, LLVMIntULT, following, r->row_count, "");
    if (r->full)
        LLVMBuildBr(r->b, r->done);
    else
        LLVMBuildCondBr(r->b, more, r->line, r->done);
    LLVMValueRef incoming[2] = {constant(r, 0), following};
    LLVMBasicBlockRef from[2] = {r->turn, r->line_end};
    LLVMAddIncoming(number, incoming, from, r->full ? 1 : 2);
    return count;
}

// Does leaving this region towards any site write this variable back?
static bool writes_back(const builder *r, uint32_t v, uint32_t to)
{
    return r->live->variable[v].scalar && r->live->stored_in[r->site][v] && r->live->live_in[to][v];
}

static void build_cells(builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!variable->uniform || !variable->in_frame)
            continue;
        LLVMValueRef from = at_offset(r, r->frame, variable->offset);
        r->held[v] = LLVMBuildLoad2(r->b, variable->type, from, "");
        LLVMBuildStore(r->b, r->held[v], r->cell[v]);
    }
}

static LLVMTypeRef memory_type(const builder *r, LLVMTypeRef type)
{
    bool is_bit = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
    return is_bit ? r->i8 : type;
}

static LLVMValueRef frame_address(builder *r, uint32_t v)
{
    const lower_variable *variable = &r->live->variable[v];
    LLVMValueRef base = at_offset(r, r->frame, variable->offset);
    LLVMTypeRef type = memory_type(r, variable->type);
    return LLVMBuildInBoundsGEP2(r->b, type, base, &r->lane64, 1, "");
}

static void load_live(builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!variable->scalar) {
            if (variable->in_frame)
                r->local[v] = frame_address(r, v);
            continue;
        }
        if (!r->site || !r->live->live_in[r->site][v])
            continue;
        LLVMValueRef value;
        if (variable->uniform) {
            value = r->held[v];
        } else {
            LLVMTypeRef type = memory_type(r, variable->type);
            value = parallel(r, LLVMBuildLoad2(r->b, type, frame_address(r, v), ""));
            if (type != variable->type)
                value = LLVMBuildTrunc(r->b, value, variable->type, "");
        }
        LLVMBuildStore(r->b, value, r->local[v]);
    }
}

static void build_lane_values(builder *r, LLVMValueRef first[BUILTIN_COUNT], LLVMValueRef i)
{
    bool cut = r->sites->count > 1;
    memcpy(r->builtin, first, sizeof r->builtin);
    r->builtin[BUILTIN_X] = add_nuw(r, first[BUILTIN_X], i, "x");
    r->builtin[BUILTIN_GRID_X] = add_nuw(r, first[BUILTIN_GRID_X], i, "grid_x");
    r->builtin[BUILTIN_INDEX] = add_nuw(r, first[BUILTIN_INDEX], i, "index");
    if (cut) {
        r->builtin[BUILTIN_LANE] = add_nuw(r, first[BUILTIN_LANE], i, "lane");
        r->lane64 = LLVMBuildZExt(r->b, r->builtin[BUILTIN_LANE], r->i64, "");
    } else {
        LLVMValueRef index = r->builtin[BUILTIN_INDEX];
        r->builtin[BUILTIN_LANE] = LLVMBuildAnd(r->b, index, constant(r, SM_LANES - 1), "lane");
        r->builtin[BUILTIN_SIMD_INDEX] = LLVMBuildLShr(r->b, index, constant(r, 5), "");
    }
    r->builtin[BUILTIN_GROUP] = r->group;
    r->builtin[BUILTIN_ARGS] = r->args;
    r->builtin[BUILTIN_SIMD] = r->simd;
    r->builtin[BUILTIN_NEVER] = LLVMConstInt(LLVMInt1TypeInContext(r->unit->context), 0, 0);
}

// The way out towards a site; `to` is the number of sites for a return.
static LLVMBasicBlockRef leave_to(builder *r, uint32_t to)
{
    if (r->leave[to])
        return r->leave[to];
    LLVMBasicBlockRef block = LLVMInsertBasicBlockInContext(r->unit->context, r->latch, "leave");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(r->b);
    r->leave[to] = block;
    if (r->leaving < 2)
        r->exits[r->leaving] = to == r->sites->count ? SM_SITE_DONE : to;
    r->leaving++;
    LLVMPositionBuilderAtEnd(r->b, block);
    for (uint32_t v = 0; to < r->sites->count && v < r->live->count; v++) {
        if (!writes_back(r, v, to))
            continue;
        const lower_variable *variable = &r->live->variable[v];
        if (variable->uniform)
            LLVMBuildStore(r->b, LLVMBuildLoad2(r->b, variable->type, r->local[v], ""), r->cell[v]);
    }
    LLVMBuildStore(r->b, constant(r, to == r->sites->count ? SM_SITE_DONE : to), r->next_local);
    LLVMBuildBr(r->b, r->latch);
    if (before)
        LLVMPositionBuilderAtEnd(r->b, before);
    return block;
}

static LLVMBasicBlockRef target_of(builder *r, LLVMBasicBlockRef old)
{
    uint32_t to = cfg_number(r->cfg, old);
    uint32_t site = r->sites->at_block[to];
    return site == CFG_NONE ? r->copy[to] : leave_to(r, site);
}

static LLVMValueRef mapped(builder *r, LLVMValueRef old)
{
    uintptr_t known;
    if (map_get(&r->value, old, &known))
        return (LLVMValueRef)known;
    if (map_get(&r->live->index, old, &known))
        return r->local[known];
    return old;
}

static bool knows_base(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAArgument(pointer) || LLVMIsAGlobalVariable(pointer) || LLVMIsALoadInst(pointer);
}

// A private array is shared by the turns of the loop: what may reach it is not independent.
static void mark_access(builder *r, LLVMValueRef copy)
{
    bool load = LLVMIsALoadInst(copy), store = LLVMIsAStoreInst(copy);
    if ((!load && !store) || LLVMGetVolatile(copy))
        return;
    LLVMValueRef base = LLVMGetOperand(copy, store ? 1 : 0);
    while (LLVMIsAGetElementPtrInst(base))
        base = LLVMGetOperand(base, 0);
    if (LLVMIsAAllocaInst(base) || (r->private_arrays && !knows_base(base)))
        return;
    if (r->private_arrays && LLVMIsALoadInst(base) && LLVMIsAAllocaInst(LLVMGetOperand(base, 0)))
        return;
    parallel(r, copy);
}

static LLVMValueRef copy_mapped(builder *r, LLVMValueRef old)
{
    LLVMValueRef copy = LLVMInstructionClone(old);
    LLVMInsertIntoBuilder(r->b, copy);
    int n = LLVMGetNumOperands(copy);
    for (int k = 0; k < n; k++) {
        LLVMValueRef operand = LLVMGetOperand(copy, (unsigned)k);
        if (!LLVMValueIsBasicBlock(operand))
            LLVMSetOperand(copy, (unsigned)k, mapped(r, operand));
    }
    map_put(&r->value, old, (uintptr_t)copy);
    return copy;
}

static bool is_hoistable(const builder *r, const lower_map *stored, LLVMValueRef i)
{
    if (LLVMIsATerminatorInst(i) || LLVMIsAAllocaInst(i) || LLVMIsAStoreInst(i) || LLVMIsAAtomicRMWInst(i) ||
        LLVMIsAAtomicCmpXchgInst(i) || !uniform_value(r->uniform, i))
        return false;
    if (LLVMIsACallInst(i))
        return LLVMIsAIntrinsicInst(i) && LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind;
    int n = LLVMGetNumOperands(i);
    uintptr_t known;
    for (int k = 0; k < n; k++) {
        LLVMValueRef operand = LLVMGetOperand(i, (unsigned)k);
        if (LLVMIsAAllocaInst(operand)) {
            bool load = LLVMIsALoadInst(i) && map_get(&r->live->index, operand, &known);
            if (!load || !r->held[known] || map_or(stored, operand, 0))
                return false;
        } else if (LLVMIsAInstruction(operand) && !map_get(&r->value, operand, &known)) {
            return false;
        }
    }
    return true;
}

// What the region does first and alike in all lanes is done once, before the loop over them.
static void hoist_uniform(builder *r)
{
    LLVMBasicBlockRef block = r->cfg->block[r->sites->site[r->site].block];
    lower_map stored = {0};
    uintptr_t v;
    r->value = (lower_map){0};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        lower_builtin builtin = builtin_of(i);
        if (LLVMIsAStoreInst(i))
            map_put(&stored, LLVMGetOperand(i, 1), 1);
        if (builtin == BUILTIN_GROUP || builtin == BUILTIN_ARGS || builtin == BUILTIN_SIMD)
            map_put(&r->value, i,
                    (uintptr_t)(builtin == BUILTIN_GROUP  ? r->group
                                : builtin == BUILTIN_ARGS ? r->args
                                                          : r->simd));
        else if (!is_hoistable(r, &stored, i))
            continue;
        else if (LLVMIsALoadInst(i) && map_get(&r->live->index, LLVMGetOperand(i, 0), &v))
            map_put(&r->value, i, (uintptr_t)r->held[v]);
        else
            copy_mapped(r, i);
    }
}

static void copy_instruction(builder *r, LLVMValueRef old)
{
    uintptr_t hoisted;
    if (map_get(&r->value, old, &hoisted))
        return;
    lower_builtin builtin = builtin_of(old);
    if (LLVMIsAAllocaInst(old) || builtin_is_sync(builtin))
        return;
    if (builtin != BUILTIN_NONE) {
        map_put(&r->value, old, (uintptr_t)r->builtin[builtin]);
        return;
    }
    mark_access(r, copy_mapped(r, old));
}

static void copy_terminator(builder *r, LLVMValueRef old)
{
    if (LLVMIsAReturnInst(old)) {
        LLVMBuildBr(r->b, leave_to(r, r->sites->count));
        return;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(r->b);
    LLVMValueRef copy = LLVMInstructionClone(old);
    LLVMInsertIntoBuilder(r->b, copy);
    unsigned n = LLVMGetNumSuccessors(old);
    for (unsigned k = 0; k < n; k++)
        LLVMSetSuccessor(copy, k, target_of(r, LLVMGetSuccessor(old, k)));
    if (n > 1)
        LLVMSetOperand(copy, 0, mapped(r, LLVMGetOperand(copy, 0)));
    LLVMPositionBuilderAtEnd(r->b, here);
}

static void copy_blocks(builder *r)
{
    for (uint32_t b = 0; b < r->cfg->count; b++) {
        if (!r->copy[b])
            continue;
        LLVMPositionBuilderAtEnd(r->b, r->copy[b]);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(r->cfg->block[b]);
        for (LLVMValueRef i = LLVMGetFirstInstruction(r->cfg->block[b]); i != end;
             i = LLVMGetNextInstruction(i))
            copy_instruction(r, i);
        copy_terminator(r, end);
    }
}

static bool written_anywhere(const builder *r, uint32_t v)
{
    for (uint32_t to = 0; to < r->sites->count; to++)
        if (r->leave[to] && writes_back(r, v, to))
            return true;
    return false;
}

// A lane's own cells take whatever it holds, needed at this exit or not: a store without a condition.
static void store_varying(builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (variable->uniform || !written_anywhere(r, v))
            continue;
        LLVMValueRef value = LLVMBuildLoad2(r->b, variable->type, r->local[v], "");
        if (memory_type(r, variable->type) != variable->type)
            value = LLVMBuildZExt(r->b, value, r->i8, "");
        parallel(r, LLVMBuildStore(r->b, value, frame_address(r, v)));
    }
}

// Marks the exits (by site; the last entry is the return) that a block of the region leads to.
static void exits_from(const builder *r, uint32_t from, bool *exits)
{
    bool *seen = lower_alloc(r->cfg->count, sizeof *seen);
    uint32_t *stack = lower_alloc(r->cfg->count, sizeof *stack), depth = 0;
    seen[from] = true;
    stack[depth++] = from;
    while (depth) {
        uint32_t b = stack[--depth];
        exits[r->sites->count] |= r->cfg->succ_count[b] == 0;
        for (uint32_t k = 0; k < r->cfg->succ_count[b]; k++) {
            uint32_t to = r->cfg->succ[b][k];
            if (r->sites->at_block[to] != CFG_NONE) {
                exits[r->sites->at_block[to]] = true;
            } else if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
        }
    }
    free(seen);
    free(stack);
}

// Can a branch that differs between lanes send them to different exits?
static bool lanes_may_part(const builder *r)
{
    bool *exits = lower_alloc(r->sites->count + 1, sizeof *exits);
    for (uint32_t b = 0; b < r->cfg->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(r->cfg->block[b]);
        if (!r->live->region[r->site][b] || LLVMGetNumSuccessors(end) < 2 ||
            uniform_value(r->uniform, LLVMGetOperand(end, 0)))
            continue;
        memset(exits, 0, (r->sites->count + 1) * sizeof *exits);
        exits_from(r, b, exits);
        uint32_t count = 0;
        for (uint32_t k = 0; k <= r->sites->count; k++)
            count += exits[k];
        if (count > 1)
            return true;
    }
    return false;
}

static LLVMValueRef is_site(const builder *r, LLVMValueRef next, uint32_t site)
{
    return LLVMBuildICmp(r->b, LLVMIntEQ, next, constant(r, site), "");
}

// Which sites the lanes come to: of two, whether any lane comes to each; of more, the lowest and the highest.
static void note_next(builder *r)
{
    LLVMValueRef next = LLVMBuildLoad2(r->b, r->i32, r->next_local, "next");
    LLVMValueRef array = at_offset(r, r->simd, offsetof(sm_simd, next));
    LLVMValueRef own = LLVMBuildInBoundsGEP2(r->b, r->i16, array, &r->lane64, 1, "");
    parallel(r, LLVMBuildStore(r->b, LLVMBuildTrunc(r->b, next, r->i16, ""), own));
    LLVMValueRef least = LLVMBuildLoad2(r->b, r->i32, r->least, "");
    LLVMValueRef most = LLVMBuildLoad2(r->b, r->i32, r->most, "");
    if (r->leaving == 2) {
        LLVMValueRef is_first = LLVMBuildZExt(r->b, is_site(r, next, r->exits[0]), r->i32, "");
        LLVMValueRef is_second = LLVMBuildZExt(r->b, is_site(r, next, r->exits[1]), r->i32, "");
        LLVMBuildStore(r->b, LLVMBuildOr(r->b, least, is_first, ""), r->least);
        LLVMBuildStore(r->b, LLVMBuildOr(r->b, most, is_second, ""), r->most);
        return;
    }
    LLVMValueRef less = LLVMBuildICmp(r->b, LLVMIntULT, next, least, "");
    LLVMValueRef more = LLVMBuildICmp(r->b, LLVMIntUGT, next, most, "");
    LLVMBuildStore(r->b, LLVMBuildSelect(r->b, less, next, least, ""), r->least);
    LLVMBuildStore(r->b, LLVMBuildSelect(r->b, more, next, most, ""), r->most);
}

// All lanes' next sites: one, or SM_SITE_DIVERGED with each lane's own in sm_simd.next.
static LLVMValueRef common_next(builder *r)
{
    if (!r->parts)
        return LLVMBuildLoad2(r->b, r->i32, r->next_local, "");
    LLVMValueRef least = LLVMBuildLoad2(r->b, r->i32, r->least, "");
    LLVMValueRef most = LLVMBuildLoad2(r->b, r->i32, r->most, "");
    LLVMValueRef diverged = constant(r, SM_SITE_DIVERGED);
    if (r->leaving == 2) {
        LLVMValueRef no_second = is_site(r, most, 0), no_first = is_site(r, least, 0);
        LLVMValueRef other = LLVMBuildSelect(r->b, no_first, constant(r, r->exits[1]), diverged, "");
        return LLVMBuildSelect(r->b, no_second, constant(r, r->exits[0]), other, "");
    }
    LLVMValueRef same = LLVMBuildICmp(r->b, LLVMIntEQ, least, most, "");
    return LLVMBuildSelect(r->b, same, least, diverged, "");
}

static void build_latch(builder *r, LLVMValueRef i, LLVMValueRef count)
{
    LLVMPositionBuilderAtEnd(r->b, r->latch);
    store_varying(r);
    if (r->parts)
        note_next(r);
    LLVMValueRef following = LLVMBuildNUWAdd(r->b, i, constant(r, 1), "");
    LLVMSetNSW(following, 1);
    LLVMValueRef again = LLVMBuildICmp(r->b, LLVMIntULT, following, count, "");
    LLVMValueRef branch = LLVMBuildCondBr(r->b, again, r->loop, r->line_end);
    LLVMSetMetadata(branch, r->loop_kind, r->loop_id);
    LLVMValueRef incoming[2] = {constant(r, 0), following};
    LLVMBasicBlockRef from[2] = {r->line, r->latch};
    LLVMAddIncoming(i, incoming, from, 2);
}

static void commit_cells(builder *r)
{
    for (uint32_t v = 0; v < r->live->count; v++) {
        const lower_variable *variable = &r->live->variable[v];
        if (!variable->uniform || !written_anywhere(r, v))
            continue;
        LLVMValueRef value = LLVMBuildLoad2(r->b, variable->type, r->cell[v], "");
        LLVMBuildStore(r->b, value, at_offset(r, r->frame, variable->offset));
    }
}

static LLVMBasicBlockRef append(const builder *r, const char *name)
{
    return LLVMAppendBasicBlockInContext(r->unit->context, r->function, name);
}

static void build_done(builder *r)
{
    LLVMPositionBuilderAtEnd(r->b, r->done);
    commit_cells(r);
    LLVMValueRef next = common_next(r);
    if (r->leave[r->site] && r->sites->site[r->site].kind == SM_SITE_JOIN) {
        LLVMBasicBlockRef leave = append(r, "leave");
        LLVMValueRef here = LLVMBuildICmp(r->b, LLVMIntEQ, next, constant(r, r->site), "");
        LLVMBuildCondBr(r->b, here, r->turn, leave);
        LLVMPositionBuilderAtEnd(r->b, leave);
    }
    LLVMBuildRet(r->b, next);
}

static void build_turn(builder *r)
{
    LLVMPositionBuilderAtEnd(r->b, r->turn);
    build_cells(r);
}

// Known only when the exits are: at the end of the block that begins a turn.
static void start_next(builder *r)
{
    LLVMPositionBuilderBefore(r->b, LLVMGetBasicBlockTerminator(r->turn));
    LLVMBuildStore(r->b, constant(r, r->leaving == 2 ? 0 : UINT32_MAX), r->least);
    LLVMBuildStore(r->b, constant(r, 0), r->most);
    LLVMBuildStore(r->b, constant(r, SM_SITE_DONE), r->next_local);
}

static LLVMValueRef build_variant(builder r)
{
    LLVMValueRef first[BUILTIN_COUNT] = {0};
    r.copy = lower_alloc(r.cfg->count, sizeof *r.copy);
    r.leave = lower_alloc(r.sites->count + 1, sizeof *r.leave);
    r.local = lower_alloc(r.live->count, sizeof *r.local);
    r.cell = lower_alloc(r.live->count, sizeof *r.cell);
    r.held = lower_alloc(r.live->count, sizeof *r.held);
    make_metadata(&r);
    declare(&r);
    build_entry(&r);
    build_turn(&r);
    if (r.site)
        hoist_uniform(&r);
    LLVMBuildBr(r.b, r.line);
    LLVMValueRef count = build_rows(&r, first);
    LLVMPositionBuilderAtEnd(r.b, r.loop);
    LLVMValueRef i = LLVMBuildPhi(r.b, r.i32, "i");
    build_lane_values(&r, first, i);
    load_live(&r);
    LLVMBuildBr(r.b, r.copy[r.sites->site[r.site].block]);
    copy_blocks(&r);
    r.parts = r.leaving > 1 && lanes_may_part(&r);
    start_next(&r);
    build_latch(&r, i, count);
    build_done(&r);
    return r.function;
}

// Most rows are whole simdgroups: knowing that, LLVM unrolls the lanes and keeps a loop's values in
// registers.
static LLVMValueRef build_choice(builder *r, LLVMValueRef full, LLVMValueRef part)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(full);
    char name[32];
    snprintf(name, sizeof name, "region_%u", r->site);
    LLVMValueRef choice = LLVMAddFunction(r->unit->module, name, type);
    LLVMSetLinkage(choice, LLVMInternalLinkage);
    LLVMValueRef parameters[6];
    LLVMGetParams(choice, parameters);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(r->unit->context, choice, "");
    LLVMBasicBlockRef whole = LLVMAppendBasicBlockInContext(r->unit->context, choice, "");
    LLVMBasicBlockRef rest = LLVMAppendBasicBlockInContext(r->unit->context, choice, "");
    LLVMPositionBuilderAtEnd(r->b, entry);
    LLVMValueRef count = load_word(r, parameters[4], offsetof(sm_row, count), "");
    LLVMValueRef is_whole = LLVMBuildICmp(r->b, LLVMIntEQ, count, constant(r, SM_LANES), "");
    LLVMBuildCondBr(r->b, is_whole, whole, rest);
    LLVMPositionBuilderAtEnd(r->b, whole);
    LLVMBuildRet(r->b, LLVMBuildCall2(r->b, type, full, parameters, 6, ""));
    LLVMPositionBuilderAtEnd(r->b, rest);
    LLVMBuildRet(r->b, LLVMBuildCall2(r->b, type, part, parameters, 6, ""));
    return choice;
}

LLVMValueRef region_build(const lower_unit *unit, const lower_cfg *cfg, const lower_sites *sites,
                          const lower_live *live, const lower_uniform *uniform, uint32_t site)
{
    builder r = {.unit = unit, .cfg = cfg, .sites = sites, .live = live, .uniform = uniform, .site = site};
    r.b = LLVMCreateBuilderInContext(unit->context);
    r.i8 = LLVMInt8TypeInContext(unit->context);
    r.i16 = LLVMInt16TypeInContext(unit->context);
    r.i32 = LLVMInt32TypeInContext(unit->context);
    r.i64 = LLVMInt64TypeInContext(unit->context);
    r.pointer = LLVMPointerTypeInContext(unit->context, 0);
    LLVMValueRef region = build_variant(r);
    if (sites->count > 1) {
        r.full = true;
        region = build_choice(&r, build_variant(r), region);
    }
    LLVMDisposeBuilder(r.b);
    return region;
}
