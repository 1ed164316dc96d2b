// SPDX-License-Identifier: MIT
// Metal compute for Objective-C programs on Linux: include this, link -lMetal. With clang use
// -fobjc-runtime=gcc -fblocks; gobjc works too, without the calls that take blocks.
// Rendering, textures, ray tracing and Metal 4 are not here: their selectors would not be answered.
#ifndef SOFTMETAL_METAL_H
#define SOFTMETAL_METAL_H

#import <Metal/MTLAllocation.h>
#import <Metal/MTLArgument.h>
#import <Metal/MTLArgumentEncoder.h>
#import <Metal/MTLBinaryArchive.h>
#import <Metal/MTLBlitCommandEncoder.h>
#import <Metal/MTLBlitPass.h>
#import <Metal/MTLBuffer.h>
#import <Metal/MTLCaptureManager.h>
#import <Metal/MTLCaptureScope.h>
#import <Metal/MTLCommandBuffer.h>
#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLCommandQueue.h>
#import <Metal/MTLComputeCommandEncoder.h>
#import <Metal/MTLComputePass.h>
#import <Metal/MTLComputePipeline.h>
#import <Metal/MTLCounters.h>
#import <Metal/MTLDataType.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLDevice.h>
#import <Metal/MTLDynamicLibrary.h>
#import <Metal/MTLEvent.h>
#import <Metal/MTLFence.h>
#import <Metal/MTLFunctionConstantValues.h>
#import <Metal/MTLFunctionDescriptor.h>
#import <Metal/MTLHeap.h>
#import <Metal/MTLIndirectCommandBuffer.h>
#import <Metal/MTLIndirectCommandEncoder.h>
#import <Metal/MTLLibrary.h>
#import <Metal/MTLLinkedFunctions.h>
#import <Metal/MTLLogState.h>
#import <Metal/MTLPipeline.h>
#import <Metal/MTLResidencySet.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLStageInputOutputDescriptor.h>
#import <Metal/MTLTexture.h>
#import <Metal/MTLTypes.h>

#endif
