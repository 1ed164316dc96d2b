// SPDX-License-Identifier: MIT
// The strings and numbers that Metal exports: error domains, counter names, notification names. Values are
// those that Metal prints in its own errors.
#import "metal/resource.h"

NSErrorDomain const MTLLibraryErrorDomain = @"MTLLibraryErrorDomain";
NSErrorDomain const MTLCommandBufferErrorDomain = @"MTLCommandBufferErrorDomain";
NSErrorDomain const MTLCounterErrorDomain = @"MTLCounterErrorDomain";
NSErrorDomain const MTLCaptureErrorDomain = @"MTLCaptureErrorDomain";
NSErrorDomain const MTLLogStateErrorDomain = @"MTLLogStateErrorDomain";
NSErrorDomain const MTLBinaryArchiveDomain = @"MTLBinaryArchiveDomain";
NSErrorDomain const MTLDynamicLibraryDomain = @"MTLDynamicLibraryDomain";
NSErrorDomain const MTLDeviceErrorDomain = @"MTLDeviceErrorDomain";
NSErrorUserInfoKey const MTLCommandBufferEncoderInfoErrorKey = @"MTLCommandBufferEncoderInfoErrorKey";

MTLDeviceNotificationName const MTLDeviceWasAddedNotification = @"MTLDeviceWasAddedNotification";
MTLDeviceNotificationName const MTLDeviceRemovalRequestedNotification =
    @"MTLDeviceRemovalRequestedNotification";
MTLDeviceNotificationName const MTLDeviceWasRemovedNotification = @"MTLDeviceWasRemovedNotification";

MTLCommonCounter MTLCommonCounterTimestamp = @"GPUTimestamp";
MTLCommonCounter MTLCommonCounterTessellationInputPatches = @"TessellationInputPatches";
MTLCommonCounter MTLCommonCounterVertexInvocations = @"VertexInvocations";
MTLCommonCounter MTLCommonCounterPostTessellationVertexInvocations = @"PostTessellationVertexInvocations";
MTLCommonCounter MTLCommonCounterClipperInvocations = @"ClipperInvocations";
MTLCommonCounter MTLCommonCounterClipperPrimitivesOut = @"ClipperPrimitivesOut";
MTLCommonCounter MTLCommonCounterFragmentInvocations = @"FragmentInvocations";
MTLCommonCounter MTLCommonCounterFragmentsPassed = @"FragmentsPassed";
MTLCommonCounter MTLCommonCounterComputeKernelInvocations = @"KernelInvocations";
MTLCommonCounter MTLCommonCounterTotalCycles = @"TotalCycles";
MTLCommonCounter MTLCommonCounterVertexCycles = @"VertexCycles";
MTLCommonCounter MTLCommonCounterTessellationCycles = @"TessellationCycles";
MTLCommonCounter MTLCommonCounterPostTessellationVertexCycles = @"PostTessellationVertexCycles";
MTLCommonCounter MTLCommonCounterFragmentCycles = @"FragmentCycles";
MTLCommonCounter MTLCommonCounterRenderTargetWriteCycles = @"RenderTargetWriteCycles";

MTLCommonCounterSet MTLCommonCounterSetTimestamp = @"timestamp";
MTLCommonCounterSet MTLCommonCounterSetStageUtilization = @"stageutilization";
MTLCommonCounterSet MTLCommonCounterSetStatistic = @"statistic";

const NSUInteger MTLAttributeStrideStatic = NSUIntegerMax;
