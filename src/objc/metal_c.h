// SPDX-License-Identifier: MIT
// Metal's values and plain structs for C: the part of Metal's interface that is numbers, under names of our
// own so that it can stand beside <Metal/Metal.h> in one file. Valid for Apple's Metal and for softmetal
// alike.
#ifndef MT_METAL_C_H
#define MT_METAL_C_H

#include "objc/objc.h"

// ---- structs passed by value ----
typedef struct mtl_size {
    NSUInteger width, height, depth;
} mtl_size;
typedef struct mtl_size_and_align {
    NSUInteger size, align;
} mtl_size_and_align;
typedef struct ns_range {
    NSUInteger location, length;
} ns_range;
// What dispatchThreadgroupsWithIndirectBuffer: reads from the buffer.
typedef struct mtl_indirect_grid {
    uint32_t threadgroups[3];
} mtl_indirect_grid;

_Static_assert(sizeof(NSUInteger) == 8, "Metal is 64-bit only");
_Static_assert(sizeof(mtl_size) == 24 && offsetof(mtl_size, depth) == 16, "layout of MTLSize");
_Static_assert(sizeof(mtl_size_and_align) == 16, "layout of MTLSizeAndAlign");
_Static_assert(sizeof(ns_range) == 16 && offsetof(ns_range, length) == 8, "layout of NSRange");
_Static_assert(sizeof(mtl_indirect_grid) == 12, "layout of MTLDispatchThreadgroupsIndirectArguments");

static inline mtl_size mtl_size_make(NSUInteger width, NSUInteger height, NSUInteger depth)
{
    return (mtl_size){width, height, depth};
}

// ---- values ----
enum { // MTLResourceOptions
    MTL_CPU_CACHE_DEFAULT = 0,
    MTL_CPU_CACHE_WRITE_COMBINED = 1,
    MTL_STORAGE_SHARED = 0 << 4,
    MTL_STORAGE_MANAGED = 1 << 4,
    MTL_STORAGE_PRIVATE = 2 << 4,
    MTL_HAZARD_DEFAULT = 0 << 8,
    MTL_HAZARD_UNTRACKED = 1 << 8,
    MTL_HAZARD_TRACKED = 2 << 8,
};
enum { // MTLStorageMode
    MTL_STORAGE_MODE_SHARED = 0,
    MTL_STORAGE_MODE_MANAGED = 1,
    MTL_STORAGE_MODE_PRIVATE = 2,
};
enum { // MTLHeapType
    MTL_HEAP_AUTOMATIC = 0,
    MTL_HEAP_PLACEMENT = 1,
};
enum { // MTLResourceUsage
    MTL_USAGE_READ = 1,
    MTL_USAGE_WRITE = 2,
};
enum { // MTLDispatchType
    MTL_DISPATCH_SERIAL = 0,
    MTL_DISPATCH_CONCURRENT = 1,
};
enum { // MTLBarrierScope
    MTL_BARRIER_BUFFERS = 1,
};
enum { // MTLCommandBufferStatus
    MTL_STATUS_NOT_ENQUEUED = 0,
    MTL_STATUS_ENQUEUED = 1,
    MTL_STATUS_COMMITTED = 2,
    MTL_STATUS_SCHEDULED = 3,
    MTL_STATUS_COMPLETED = 4,
    MTL_STATUS_ERROR = 5,
};
enum { // MTLCommandBufferError
    MTL_CB_ERROR_NONE = 0,
    MTL_CB_ERROR_INTERNAL = 1,
    MTL_CB_ERROR_TIMEOUT = 2,
    MTL_CB_ERROR_PAGE_FAULT = 3,
    MTL_CB_ERROR_ACCESS_REVOKED = 4,
    MTL_CB_ERROR_NOT_PERMITTED = 7,
    MTL_CB_ERROR_OUT_OF_MEMORY = 8,
    MTL_CB_ERROR_INVALID_RESOURCE = 9,
    MTL_CB_ERROR_DEVICE_REMOVED = 11,
    MTL_CB_ERROR_STACK_OVERFLOW = 12,
};
enum { // MTLCommandBufferErrorOption
    MTL_CB_ERROR_OPTION_NONE = 0,
    MTL_CB_ERROR_OPTION_ENCODER_STATUS = 1,
};
enum {                        // MTLGPUFamily
    MTL_FAMILY_APPLE1 = 1001, // 1002 ... 1010 follow
    MTL_FAMILY_APPLE7 = 1007,
    MTL_FAMILY_APPLE8 = 1008,
    MTL_FAMILY_APPLE9 = 1009,
    MTL_FAMILY_MAC2 = 2002,
    MTL_FAMILY_COMMON1 = 3001, // ... 3003
    MTL_FAMILY_COMMON3 = 3003,
    MTL_FAMILY_METAL3 = 5001,
    MTL_FAMILY_METAL4 = 5002,
};
enum { // MTLCounterSamplingPoint
    MTL_SAMPLE_AT_STAGE = 0,
    MTL_SAMPLE_AT_DRAW = 1,
    MTL_SAMPLE_AT_DISPATCH = 2,
    MTL_SAMPLE_AT_TILE = 3,
    MTL_SAMPLE_AT_BLIT = 4,
};
#define MTL_DONT_SAMPLE ((NSUInteger)~0UL) // a sample index that stands for none
#define MTL_SAMPLE_ERROR (~(uint64_t)0)    // a resolved sample that could not be taken

enum { // MTLCaptureDestination
    MTL_CAPTURE_TO_TOOLS = 1,
    MTL_CAPTURE_TO_DOCUMENT = 2,
};
enum { // MTLCaptureError
    MTL_CAPTURE_ERROR_NOT_SUPPORTED = 1,
    MTL_CAPTURE_ERROR_ALREADY_CAPTURING = 2,
    MTL_CAPTURE_ERROR_INVALID_DESCRIPTOR = 3,
};
enum { // MTLLibraryError
    MTL_LIBRARY_ERROR_UNSUPPORTED = 1,
    MTL_LIBRARY_ERROR_INTERNAL = 2,
    MTL_LIBRARY_ERROR_COMPILE_FAILURE = 3,
    MTL_LIBRARY_ERROR_COMPILE_WARNING = 4,
    MTL_LIBRARY_ERROR_FUNCTION_NOT_FOUND = 5,
    MTL_LIBRARY_ERROR_FILE_NOT_FOUND = 6,
};
enum { // MTLLanguageVersion
    MTL_LANGUAGE_2_4 = (2 << 16) + 4,
    MTL_LANGUAGE_3_0 = (3 << 16) + 0,
    MTL_LANGUAGE_3_1 = (3 << 16) + 1,
    MTL_LANGUAGE_3_2 = (3 << 16) + 2,
};
enum { // MTLMathMode
    MTL_MATH_SAFE = 0,
    MTL_MATH_RELAXED = 1,
    MTL_MATH_FAST = 2,
};
enum { // MTLPipelineOption
    MTL_PIPELINE_OPTION_NONE = 0,
    MTL_PIPELINE_OPTION_BINDING_INFO = 1,
    MTL_PIPELINE_OPTION_BUFFER_TYPE_INFO = 2,
};
enum { // MTLDataType, for function constants
    MTL_TYPE_FLOAT = 3,
    MTL_TYPE_HALF = 16,
    MTL_TYPE_INT = 29,
    MTL_TYPE_UINT = 33,
    MTL_TYPE_SHORT = 37,
    MTL_TYPE_USHORT = 41,
    MTL_TYPE_CHAR = 45,
    MTL_TYPE_UCHAR = 49,
    MTL_TYPE_BOOL = 53,
    MTL_TYPE_LONG = 81,
    MTL_TYPE_ULONG = 85,
};
enum { // MTLPurgeableState
    MTL_PURGEABLE_KEEP = 1,
    MTL_PURGEABLE_NON_VOLATILE = 2,
    MTL_PURGEABLE_VOLATILE = 3,
    MTL_PURGEABLE_EMPTY = 4,
};

// ---- Metal's C functions; the results are owned by the caller ----
#ifndef __OBJC__ // <Metal/Metal.h> declares them with Objective-C types
extern id MTLCreateSystemDefaultDevice(void);
extern id MTLCopyAllDevices(void); // NSArray of devices
#endif

#endif
