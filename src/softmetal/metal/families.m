// SPDX-License-Identifier: MIT
// The concrete classes of the two GPU families that softmetal shows, as a driver has them: what the
// application gets is an instance of these, most methods are inherited, some are overridden and call super.
// G1 stands for an Apple GPU (SOFTMETAL_PROFILE=apple), R1 for a discrete one (amd, none).
#import "metal/submission.h"

// ---- G1 ----
@interface SoftG1FamilyCommandQueue : SMGPUCommandQueue
@end

@implementation SoftG1FamilyCommandQueue
@end

@interface SoftG1FamilyCommandBuffer : SMGPUCommandBuffer
@end

@implementation SoftG1FamilyCommandBuffer

// The family's own commit, above the one that submits: callers meet an override whose super is public too.
- (void)commit
{
    [super commit];
}

@end

@interface SoftG1FamilyComputeContext : SMGPUComputeEncoder
@end

@implementation SoftG1FamilyComputeContext

- (void)endEncoding
{
    [super endEncoding];
    _pipeline = NULL; // the context's state does not outlive its encoding
}

@end

@interface SoftG1FamilyBlitContext : SMGPUBlitEncoder
@end

@implementation SoftG1FamilyBlitContext
@end

@implementation SoftG1Device

- (sm_family)family
{
    return (sm_family){[SoftG1FamilyCommandQueue class],
                       [SoftG1FamilyCommandBuffer class],
                       [SoftG1FamilyComputeContext class],
                       [SoftG1FamilyBlitContext class]};
}

- (NSString *)familyName
{
    return @"Softmetal G1";
}

// Engines read the generation from the digits before the last letter of an Apple GPU's name.
- (NSString *)architectureName
{
    return @"softgpu_g13s";
}

- (BOOL)supportsFamily:(MTLGPUFamily)family
{
    return (family >= MTLGPUFamilyApple1 && family <= MTLGPUFamilyApple8) || [super supportsFamily:family];
}

- (BOOL)hasUnifiedMemory
{
    return YES;
}

- (MTLDeviceLocation)location
{
    return MTLDeviceLocationBuiltIn;
}

- (BOOL)samplesAtStageBoundary
{
    return YES;
}

@end

// ---- R1 ----
@interface SoftR1CommandQueue : SMGPUCommandQueue
@end

@implementation SoftR1CommandQueue
@end

@interface SoftR1CommandBuffer : SMGPUCommandBuffer
@end

@implementation SoftR1CommandBuffer
@end

@interface SoftR1ComputeContext : SMGPUComputeEncoder
@end

@implementation SoftR1ComputeContext
@end

@interface SoftR1BlitContext : SMGPUBlitEncoder
@end

@implementation SoftR1BlitContext
@end

@implementation SoftR1Device

- (sm_family)family
{
    return (sm_family){[SoftR1CommandQueue class],
                       [SoftR1CommandBuffer class],
                       [SoftR1ComputeContext class],
                       [SoftR1BlitContext class]};
}

- (NSString *)familyName
{
    return @"Softmetal R1";
}

- (NSString *)architectureName
{
    return @"softgpu_r13d";
}

- (MTLDeviceLocation)location
{
    return MTLDeviceLocationSlot;
}

- (BOOL)samplesAtDispatchBoundary
{
    return sm_get_settings()->profile == SM_PROFILE_AMD;
}

- (BOOL)samplesAtBlitBoundary
{
    return sm_get_settings()->profile == SM_PROFILE_AMD;
}

@end
