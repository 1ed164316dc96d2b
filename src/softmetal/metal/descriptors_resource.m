// SPDX-License-Identifier: MIT
// Descriptor classes of resources: heaps, residency sets, indirect command buffers, logs, counters, archives.
// Plain values with Metal's defaults; like Metal's, a descriptor is not to be shared between threads.
#import "metal/resource.h"

@implementation MTLHeapDescriptor

@synthesize size = _size;
@synthesize storageMode = _storageMode;
@synthesize cpuCacheMode = _cpuCacheMode;
@synthesize hazardTrackingMode = _hazardTrackingMode;
@synthesize type = _type;

- (instancetype)init
{
    self = [super init];
    if (self)
        _storageMode = MTLStorageModePrivate;
    return self;
}

- (MTLResourceOptions)resourceOptions
{
    return sm_pack_options(_storageMode, _cpuCacheMode, _hazardTrackingMode);
}

- (void)setResourceOptions:(MTLResourceOptions)options
{
    _storageMode = sm_options_storage(options);
    _cpuCacheMode = sm_options_cache(options);
    _hazardTrackingMode = sm_options_hazard(options);
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLHeapDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setSize:_size];
    [copy setResourceOptions:[self resourceOptions]];
    [copy setType:_type];
    return copy;
}

@end

@implementation MTLResidencySetDescriptor

@synthesize label = _label;
@synthesize initialCapacity = _initialCapacity;

- (void)dealloc
{
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLResidencySetDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setLabel:_label];
    [copy setInitialCapacity:_initialCapacity];
    return copy;
}

@end

@implementation MTLIndirectCommandBufferDescriptor

@synthesize commandTypes = _commandTypes;
@synthesize inheritPipelineState = _inheritPipelineState;
@synthesize inheritBuffers = _inheritBuffers;
@synthesize maxVertexBufferBindCount = _maxVertexBufferBindCount;
@synthesize maxFragmentBufferBindCount = _maxFragmentBufferBindCount;
@synthesize maxKernelBufferBindCount = _maxKernelBufferBindCount;
@synthesize maxKernelThreadgroupMemoryBindCount = _maxKernelThreadgroupMemoryBindCount;
@synthesize supportRayTracing = _supportRayTracing;

- (instancetype)init
{
    self = [super init];
    if (!self)
        return nil;
    _inheritPipelineState = YES;
    _inheritBuffers = YES;
    _maxVertexBufferBindCount = SM_MAX_BUFFERS;
    _maxFragmentBufferBindCount = SM_MAX_BUFFERS;
    _maxKernelBufferBindCount = SM_MAX_BUFFERS;
    _maxKernelThreadgroupMemoryBindCount = SM_MAX_BUFFERS;
    return self;
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLIndirectCommandBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setCommandTypes:_commandTypes];
    [copy setInheritPipelineState:_inheritPipelineState];
    [copy setInheritBuffers:_inheritBuffers];
    [copy setMaxVertexBufferBindCount:_maxVertexBufferBindCount];
    [copy setMaxFragmentBufferBindCount:_maxFragmentBufferBindCount];
    [copy setMaxKernelBufferBindCount:_maxKernelBufferBindCount];
    [copy setMaxKernelThreadgroupMemoryBindCount:_maxKernelThreadgroupMemoryBindCount];
    [copy setSupportRayTracing:_supportRayTracing];
    return copy;
}

@end

@implementation MTLLogStateDescriptor

@synthesize level = _level;
@synthesize bufferSize = _bufferSize;

- (instancetype)init
{
    self = [super init];
    if (!self)
        return nil;
    _level = MTLLogLevelDebug;
    _bufferSize = 1024 * 1024;
    return self;
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLLogStateDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setLevel:_level];
    [copy setBufferSize:_bufferSize];
    return copy;
}

@end

@implementation MTLCounterSampleBufferDescriptor

@synthesize counterSet = _counterSet;
@synthesize label = _label;
@synthesize storageMode = _storageMode;
@synthesize sampleCount = _sampleCount;

- (void)dealloc
{
    [_counterSet release];
    [_label release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLCounterSampleBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setCounterSet:[self counterSet]];
    [copy setLabel:[self label]];
    [copy setStorageMode:_storageMode];
    [copy setSampleCount:_sampleCount];
    return copy;
}

@end

@implementation MTLBinaryArchiveDescriptor

@synthesize url = _url;

- (void)dealloc
{
    [_url release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLBinaryArchiveDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setUrl:_url];
    return copy;
}

@end
