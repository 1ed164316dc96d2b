// SPDX-License-Identifier: MIT
// The constants and structs that src/objc/metal_c.h repeats for plain C, beside those of Metal's own headers.
#import <Metal/Metal.h>

#include "objc/sends.h"
#include "unit/test.h"

typedef struct pair {
    const char *name;
    long long ours, metals;
} pair;
#define SAME(ours, metals) {#ours, (long long)(ours), (long long)(metals)}

static const pair pairs[] = {
    SAME(MTL_CB_ERROR_NONE, MTLCommandBufferErrorNone),
    SAME(MTL_CB_ERROR_OPTION_NONE, MTLCommandBufferErrorOptionNone),
    SAME(MTL_CPU_CACHE_DEFAULT, MTLResourceCPUCacheModeDefaultCache),
    SAME(MTL_DISPATCH_SERIAL, MTLDispatchTypeSerial),
    SAME(MTL_HAZARD_DEFAULT, MTLResourceHazardTrackingModeDefault),
    SAME(MTL_HEAP_AUTOMATIC, MTLHeapTypeAutomatic),
    SAME(MTL_PIPELINE_OPTION_NONE, MTLPipelineOptionNone),
    SAME(MTL_STORAGE_MODE_SHARED, MTLStorageModeShared),
    SAME(MTL_CPU_CACHE_WRITE_COMBINED, MTLResourceCPUCacheModeWriteCombined),
    SAME(MTL_STORAGE_SHARED, MTLResourceStorageModeShared),
    SAME(MTL_STORAGE_MANAGED, MTLResourceStorageModeManaged),
    SAME(MTL_STORAGE_PRIVATE, MTLResourceStorageModePrivate),
    SAME(MTL_HAZARD_UNTRACKED, MTLResourceHazardTrackingModeUntracked),
    SAME(MTL_HAZARD_TRACKED, MTLResourceHazardTrackingModeTracked),
    SAME(MTL_STORAGE_MODE_PRIVATE, MTLStorageModePrivate),
    SAME(MTL_STORAGE_MODE_MANAGED, MTLStorageModeManaged),
    SAME(MTL_HEAP_PLACEMENT, MTLHeapTypePlacement),
    SAME(MTL_USAGE_READ, MTLResourceUsageRead),
    SAME(MTL_USAGE_WRITE, MTLResourceUsageWrite),
    SAME(MTL_DISPATCH_CONCURRENT, MTLDispatchTypeConcurrent),
    SAME(MTL_BARRIER_BUFFERS, MTLBarrierScopeBuffers),
    SAME(MTL_STATUS_NOT_ENQUEUED, MTLCommandBufferStatusNotEnqueued),
    SAME(MTL_STATUS_ENQUEUED, MTLCommandBufferStatusEnqueued),
    SAME(MTL_STATUS_COMMITTED, MTLCommandBufferStatusCommitted),
    SAME(MTL_STATUS_SCHEDULED, MTLCommandBufferStatusScheduled),
    SAME(MTL_STATUS_COMPLETED, MTLCommandBufferStatusCompleted),
    SAME(MTL_STATUS_ERROR, MTLCommandBufferStatusError),
    SAME(MTL_CB_ERROR_INTERNAL, MTLCommandBufferErrorInternal),
    SAME(MTL_CB_ERROR_TIMEOUT, MTLCommandBufferErrorTimeout),
    SAME(MTL_CB_ERROR_PAGE_FAULT, MTLCommandBufferErrorPageFault),
    SAME(MTL_CB_ERROR_ACCESS_REVOKED, MTLCommandBufferErrorAccessRevoked),
    SAME(MTL_CB_ERROR_NOT_PERMITTED, MTLCommandBufferErrorNotPermitted),
    SAME(MTL_CB_ERROR_OUT_OF_MEMORY, MTLCommandBufferErrorOutOfMemory),
    SAME(MTL_CB_ERROR_INVALID_RESOURCE, MTLCommandBufferErrorInvalidResource),
    SAME(MTL_CB_ERROR_DEVICE_REMOVED, MTLCommandBufferErrorDeviceRemoved),
    SAME(MTL_CB_ERROR_STACK_OVERFLOW, MTLCommandBufferErrorStackOverflow),
    SAME(MTL_CB_ERROR_OPTION_ENCODER_STATUS, MTLCommandBufferErrorOptionEncoderExecutionStatus),
    SAME(MTL_FAMILY_APPLE1, MTLGPUFamilyApple1),
    SAME(MTL_FAMILY_APPLE7, MTLGPUFamilyApple7),
    SAME(MTL_FAMILY_APPLE8, MTLGPUFamilyApple8),
    SAME(MTL_FAMILY_APPLE9, MTLGPUFamilyApple9),
    SAME(MTL_FAMILY_MAC2, MTLGPUFamilyMac2),
    SAME(MTL_FAMILY_COMMON1, MTLGPUFamilyCommon1),
    SAME(MTL_FAMILY_COMMON3, MTLGPUFamilyCommon3),
    SAME(MTL_FAMILY_METAL3, MTLGPUFamilyMetal3),
    SAME(MTL_FAMILY_METAL4, MTLGPUFamilyMetal4),
    SAME(MTL_SAMPLE_AT_STAGE, MTLCounterSamplingPointAtStageBoundary),
    SAME(MTL_SAMPLE_AT_DRAW, MTLCounterSamplingPointAtDrawBoundary),
    SAME(MTL_SAMPLE_AT_DISPATCH, MTLCounterSamplingPointAtDispatchBoundary),
    SAME(MTL_SAMPLE_AT_TILE, MTLCounterSamplingPointAtTileDispatchBoundary),
    SAME(MTL_SAMPLE_AT_BLIT, MTLCounterSamplingPointAtBlitBoundary),
    SAME(MTL_DONT_SAMPLE, MTLCounterDontSample),
    SAME(MTL_SAMPLE_ERROR, MTLCounterErrorValue),
    SAME(MTL_CAPTURE_TO_TOOLS, MTLCaptureDestinationDeveloperTools),
    SAME(MTL_CAPTURE_TO_DOCUMENT, MTLCaptureDestinationGPUTraceDocument),
    SAME(MTL_CAPTURE_ERROR_NOT_SUPPORTED, MTLCaptureErrorNotSupported),
    SAME(MTL_CAPTURE_ERROR_ALREADY_CAPTURING, MTLCaptureErrorAlreadyCapturing),
    SAME(MTL_CAPTURE_ERROR_INVALID_DESCRIPTOR, MTLCaptureErrorInvalidDescriptor),
    SAME(MTL_LIBRARY_ERROR_UNSUPPORTED, MTLLibraryErrorUnsupported),
    SAME(MTL_LIBRARY_ERROR_INTERNAL, MTLLibraryErrorInternal),
    SAME(MTL_LIBRARY_ERROR_COMPILE_FAILURE, MTLLibraryErrorCompileFailure),
    SAME(MTL_LIBRARY_ERROR_COMPILE_WARNING, MTLLibraryErrorCompileWarning),
    SAME(MTL_LIBRARY_ERROR_FUNCTION_NOT_FOUND, MTLLibraryErrorFunctionNotFound),
    SAME(MTL_LIBRARY_ERROR_FILE_NOT_FOUND, MTLLibraryErrorFileNotFound),
    SAME(MTL_LANGUAGE_2_4, MTLLanguageVersion2_4),
    SAME(MTL_LANGUAGE_3_0, MTLLanguageVersion3_0),
    SAME(MTL_LANGUAGE_3_1, MTLLanguageVersion3_1),
    SAME(MTL_LANGUAGE_3_2, MTLLanguageVersion3_2),
    SAME(MTL_MATH_SAFE, MTLMathModeSafe),
    SAME(MTL_MATH_RELAXED, MTLMathModeRelaxed),
    SAME(MTL_MATH_FAST, MTLMathModeFast),
    SAME(MTL_PIPELINE_OPTION_BINDING_INFO, MTLPipelineOptionBindingInfo),
    SAME(MTL_PIPELINE_OPTION_BUFFER_TYPE_INFO, MTLPipelineOptionBufferTypeInfo),
    SAME(MTL_TYPE_FLOAT, MTLDataTypeFloat),
    SAME(MTL_TYPE_HALF, MTLDataTypeHalf),
    SAME(MTL_TYPE_INT, MTLDataTypeInt),
    SAME(MTL_TYPE_UINT, MTLDataTypeUInt),
    SAME(MTL_TYPE_SHORT, MTLDataTypeShort),
    SAME(MTL_TYPE_USHORT, MTLDataTypeUShort),
    SAME(MTL_TYPE_CHAR, MTLDataTypeChar),
    SAME(MTL_TYPE_UCHAR, MTLDataTypeUChar),
    SAME(MTL_TYPE_BOOL, MTLDataTypeBool),
    SAME(MTL_TYPE_LONG, MTLDataTypeLong),
    SAME(MTL_TYPE_ULONG, MTLDataTypeULong),
    SAME(MTL_PURGEABLE_KEEP, MTLPurgeableStateKeepCurrent),
    SAME(MTL_PURGEABLE_NON_VOLATILE, MTLPurgeableStateNonVolatile),
    SAME(MTL_PURGEABLE_VOLATILE, MTLPurgeableStateVolatile),
    SAME(MTL_PURGEABLE_EMPTY, MTLPurgeableStateEmpty),
    SAME(sizeof(mtl_size), sizeof(MTLSize)),
    SAME(sizeof(mtl_bool), sizeof(BOOL)),
    SAME(sizeof(ns_range), sizeof(NSRange)),
    SAME(sizeof(mtl_indirect_grid), sizeof(MTLDispatchThreadgroupsIndirectArguments)),
};

int main(void)
{
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if (!CHECK_EQ(pairs[i].ours, pairs[i].metals))
            printf("    %s\n", pairs[i].name);
    return test_end();
}
