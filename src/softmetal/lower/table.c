// SPDX-License-Identifier: MIT
// The data that a kernel object exports: sm_kernel_info and its table of sites.
#include "kernel_abi.h"
#include "lower.h"

static LLVMValueRef site_table(const lower_unit *unit, const lower_sites *sites, LLVMValueRef *regions)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(unit->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(unit->context, 0);
    LLVMValueRef *rows = lower_alloc(sites->count, sizeof(LLVMValueRef));
    for (uint32_t s = 0; s < sites->count; s++) {
        const lower_site *site = &sites->site[s];
        LLVMValueRef fields[3] = {LLVMConstInt(i32, site->kind, 0),
                                  site->op ? site->op : LLVMConstNull(pointer), regions[s]};
        rows[s] = LLVMConstStructInContext(unit->context, fields, 3, 0);
    }
    LLVMValueRef array = LLVMConstArray2(LLVMTypeOf(rows[0]), rows, sites->count);
    LLVMValueRef table = LLVMAddGlobal(unit->module, LLVMTypeOf(array), "sites");
    LLVMSetInitializer(table, array);
    LLVMSetGlobalConstant(table, 1);
    LLVMSetLinkage(table, LLVMInternalLinkage);
    return table;
}

void table_build(const lower_unit *unit, const lower_sites *sites, const lower_live *live,
                 LLVMValueRef *regions)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(unit->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(unit->context, 0);
    LLVMValueRef layouts = LLVMGetNamedGlobal(unit->module, "sm_arg_layouts");
    LLVMValueRef layouts_count = LLVMGetNamedGlobal(unit->module, "sm_arg_layouts_count");
    LLVMValueRef count = layouts_count ? LLVMGetInitializer(layouts_count) : LLVMConstInt(i32, 0, 0);
    LLVMValueRef fields[7] = {
        LLVMConstInt(i32, SM_ABI_VERSION, 0),
        LLVMConstInt(i32, sites->count, 0),
        LLVMConstInt(i32, live->frame_bytes, 0),
        LLVMConstInt(i32, unit->threadgroup_bytes, 0),
        count,
        layouts ? layouts : LLVMConstNull(pointer),
        site_table(unit, sites, regions),
    };
    LLVMValueRef info = LLVMConstStructInContext(unit->context, fields, 7, 0);
    LLVMValueRef global = LLVMAddGlobal(unit->module, LLVMTypeOf(info), "sm_kernel_info");
    LLVMSetInitializer(global, info);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
}
