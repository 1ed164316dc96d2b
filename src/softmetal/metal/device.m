// SPDX-License-Identifier: MIT
// The device: how a process gets it, what it is called, what it can do, and its queues. One per process,
// chosen by SOFTMETAL_PROFILE. Buffers, libraries and the like are made in categories beside those classes.
#import "metal/submission.h"

#include <unistd.h>

enum { DEFAULT_MAX_COMMAND_BUFFERS = 64 };

// ---- how a process gets it ----
static SMDevice *the_device;

static void make_device(void)
{
    bool is_apple = sm_get_settings()->profile == SM_PROFILE_APPLE;
    the_device = [(is_apple ? [SoftG1Device class] : [SoftR1Device class]) new];
}

static SMDevice *shared_device(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_device);
    return the_device;
}

id<MTLDevice> MTLCreateSystemDefaultDevice(void)
{
    return [shared_device() retain];
}

NSArray *MTLCopyAllDevices(void)
{
    return [[NSArray alloc] initWithObjects:shared_device(), nil];
}

// Holds the handler of MTLCopyAllDevicesWithObserver. Devices neither come nor go, so it is never called.
@interface SMDeviceObserver : NSObject {
  @public
    MTLDeviceNotificationHandler handler;
}
@end

@implementation SMDeviceObserver

- (void)dealloc
{
    Block_release(handler);
    [super dealloc];
}

@end

NSArray *MTLCopyAllDevicesWithObserver(id<NSObject> *observer, MTLDeviceNotificationHandler handler)
{
    if (observer) {
        SMDeviceObserver *new = [ SMDeviceObserver new ];
        new->handler = handler ? Block_copy(handler) : NULL;
        *observer = new; // the caller's, to be released after MTLRemoveDeviceObserver
    }
    return MTLCopyAllDevices();
}

void MTLRemoveDeviceObserver(id<NSObject> observer)
{
    if (![(NSObject *)observer isKindOfClass:[SMDeviceObserver class]])
        return;
    SMDeviceObserver *known = (SMDeviceObserver *)observer;
    Block_release(known->handler);
    known->handler = NULL;
}

// ---- properties ----
@interface MTLArchitecture (Softmetal)
- (instancetype)initWithName:(NSString *)name;
@end

@implementation MTLArchitecture

@synthesize name = _name;

- (instancetype)initWithName:(NSString *)name
{
    self = [super init];
    if (self)
        _name = [name copy];
    return self;
}

- (void)dealloc
{
    [_name release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    (void)zone;
    return [self retain];
}

@end

// Methods of MTLDevice that make resources are in categories in other files, limits in SMGPUDevice.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wprotocol"
#pragma clang diagnostic ignored "-Wobjc-property-implementation"
@implementation SMDevice
#pragma clang diagnostic pop

- (instancetype)init
{
    self = [super init];
    if (self) {
        _name = [[self familyName] copy];
        _registry_id = 0x100000000 + 0x50f7 + (uint64_t)sm_get_settings()->profile;
    }
    return self;
}

// One per process: references do not count.
- (instancetype)retain
{
    return self;
}

- (oneway void)release
{
}

- (NSUInteger)retainCount
{
    return NSUIntegerMax;
}

- (NSString *)name
{
    return _name;
}

- (uint64_t)registryID
{
    return _registry_id;
}

- (NSString *)description
{
    return [NSString stringWithFormat:@"<%s: %p> %@", object_getClassName(self), self, [self name]];
}

- (NSUInteger)currentAllocatedSize
{
    return (NSUInteger)atomic_load(&allocated_bytes);
}

// ---- what differs by family, in the form of a device that has nothing ----
- (sm_family)family
{
    return (sm_family){0};
}

- (NSString *)familyName
{
    return @"Softmetal";
}

- (NSString *)architectureName
{
    return @"softgpu";
}

- (BOOL)samplesAtStageBoundary
{
    return NO;
}

- (BOOL)samplesAtDispatchBoundary
{
    return NO;
}

- (BOOL)samplesAtBlitBoundary
{
    return NO;
}

- (BOOL)hasUnifiedMemory
{
    return NO;
}

- (MTLDeviceLocation)location
{
    return MTLDeviceLocationUnspecified;
}

- (BOOL)supportsFamily:(MTLGPUFamily)family
{
    switch (family) {
    case MTLGPUFamilyCommon1:
    case MTLGPUFamilyCommon2:
    case MTLGPUFamilyCommon3:
    case MTLGPUFamilyMac1:
    case MTLGPUFamilyMac2:
    case MTLGPUFamilyMetal3:
        return YES;
    default:
        return NO;
    }
}

- (BOOL)supportsFeatureSet:(MTLFeatureSet)set
{
    return set >= MTLFeatureSet_macOS_GPUFamily1_v1 && set <= MTLFeatureSet_macOS_GPUFamily2_v1;
}

- (BOOL)supportsCounterSampling:(MTLCounterSamplingPoint)point
{
    switch (point) {
    case MTLCounterSamplingPointAtStageBoundary:
        return [self samplesAtStageBoundary];
    case MTLCounterSamplingPointAtDispatchBoundary:
        return [self samplesAtDispatchBoundary];
    case MTLCounterSamplingPointAtBlitBoundary:
        return [self samplesAtBlitBoundary];
    default:
        return NO;
    }
}

// One clock for both: the samples of command buffers are in its nanoseconds.
- (void)sampleTimestamps:(MTLTimestamp *)cpu gpuTimestamp:(MTLTimestamp *)gpu
{
    uint64_t now_ns = sm_now_ns();
    if (cpu)
        *cpu = now_ns;
    if (gpu)
        *gpu = now_ns;
}

- (MTLArchitecture *)architecture
{
    return [[[MTLArchitecture alloc] initWithName:[self architectureName]] autorelease];
}

@end

@implementation SMGPUDevice

// ---- queues ----
- (id<MTLCommandQueue>)newCommandQueue
{
    return [self newCommandQueueWithMaxCommandBufferCount:DEFAULT_MAX_COMMAND_BUFFERS];
}

- (id<MTLCommandQueue>)newQueueWithMaxBuffers:(NSUInteger)count logState:(id<MTLLogState>)log
{
    Class class = [self family].queue;
    return sm_debug_wrap_queue([[class alloc] initWithDevice:self maxBuffers:count logState:log]);
}

- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)count
{
    sm_assert_metal(count > 0, "maxCommandBufferCount must be > 0");
    return [self newQueueWithMaxBuffers:count logState:nil];
}

- (id<MTLCommandQueue>)newCommandQueueWithDescriptor:(MTLCommandQueueDescriptor *)descriptor
{
    sm_assert_metal(descriptor, "descriptor must not be nil");
    sm_assert_metal([descriptor maxCommandBufferCount] > 0, "maxCommandBufferCount must be > 0");
    return [self newQueueWithMaxBuffers:[descriptor maxCommandBufferCount] logState:[descriptor logState]];
}

// ---- limits ----
static uint64_t memory_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t whole_pages(uint64_t bytes)
{
    return bytes & ~(uint64_t)(16384 - 1);
}

- (uint64_t)recommendedMaxWorkingSetSize
{
    return whole_pages(memory_bytes() / 4 * 3);
}

- (NSUInteger)maxBufferLength
{
    return (NSUInteger)whole_pages(memory_bytes() / 2);
}

- (MTLSize)maxThreadsPerThreadgroup
{
    return MTLSizeMake(SM_MAX_THREADS, SM_MAX_THREADS, SM_MAX_THREADS);
}

- (NSUInteger)maxThreadgroupMemoryLength
{
    return SM_MAX_THREADGROUP_BYTES;
}

- (uint64_t)maxTransferRate
{
    return 0; // unknown: there is no bus between the CPU and itself
}

- (NSUInteger)maximumConcurrentCompilationTaskCount
{
    return (NSUInteger)sysconf(_SC_NPROCESSORS_ONLN);
}

- (BOOL)shouldMaximizeConcurrentCompilation
{
    return atomic_load(&_maximize_compilation);
}

- (void)setShouldMaximizeConcurrentCompilation:(BOOL)maximize
{
    atomic_store(&_maximize_compilation, maximize);
}

- (MTLReadWriteTextureTier)readWriteTextureSupport
{
    return MTLReadWriteTextureTierNone; // there are no textures
}

- (MTLArgumentBuffersTier)argumentBuffersSupport
{
    return MTLArgumentBuffersTier2;
}

- (NSUInteger)locationNumber
{
    return 0;
}

- (BOOL)isLowPower
{
    return NO;
}

- (BOOL)isHeadless
{
    return NO;
}

- (BOOL)isRemovable
{
    return NO;
}

- (uint64_t)peerGroupID
{
    return 0;
}

- (uint32_t)peerIndex
{
    return 0;
}

- (uint32_t)peerCount
{
    return 0;
}

- (BOOL)supportsDynamicLibraries
{
    return NO;
}

- (BOOL)supportsRaytracing
{
    return NO;
}

- (BOOL)supportsFunctionPointers
{
    return NO;
}

@end
