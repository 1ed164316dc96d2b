// SPDX-License-Identifier: MIT
// MTLResidencySet: allocations that an application wants resident together. All memory is resident here; the
// set keeps Metal's book: changes count from the next commit on. Called from any thread, under the set's
// lock.
#import "metal/resource.h"

@interface SMResidencySet : _SMDeviceObject<MTLResidencySet> {
    pthread_mutex_t _lock;
    NSMutableArray *_members; // committed or not; a set may be large, but order makes allAllocations stable
    NSMutableSet *_lookup;
    uint64_t _committed_size;
    bool _is_requested;
}
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MTLResidencySetDescriptor *)descriptor;
@end

@implementation SMResidencySet

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MTLResidencySetDescriptor *)descriptor
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    pthread_mutex_init(&_lock, NULL);
    NSUInteger capacity = [descriptor initialCapacity];
    capacity = capacity < 65536 ? capacity : 65536;
    _members = [[NSMutableArray alloc] initWithCapacity:capacity];
    _lookup = [[NSMutableSet alloc] initWithCapacity:capacity];
    [self setLabel:[descriptor label]];
    return self;
}

- (void)dealloc
{
    [_members release];
    [_lookup release];
    pthread_mutex_destroy(&_lock);
    [super dealloc];
}

- (void)addAllocations:(const id<MTLAllocation> *)allocations count:(NSUInteger)count
{
    pthread_mutex_lock(&_lock);
    for (NSUInteger i = 0; i < count; i++) {
        if ([_lookup containsObject:allocations[i]])
            continue;
        [_lookup addObject:allocations[i]];
        [_members addObject:allocations[i]];
    }
    pthread_mutex_unlock(&_lock);
}

- (void)addAllocation:(id<MTLAllocation>)allocation
{
    sm_assert_metal(allocation != nil, "allocation must not be nil.");
    [self addAllocations:&allocation count:1];
}

- (void)removeAllocations:(const id<MTLAllocation> *)allocations count:(NSUInteger)count
{
    pthread_mutex_lock(&_lock);
    for (NSUInteger i = 0; i < count; i++) {
        if (![_lookup containsObject:allocations[i]])
            continue;
        // The array first: the set may hold the last reference that keeps the argument alive.
        [_members removeObjectIdenticalTo:allocations[i]];
        [_lookup removeObject:allocations[i]];
    }
    pthread_mutex_unlock(&_lock);
}

- (void)removeAllocation:(id<MTLAllocation>)allocation
{
    sm_assert_metal(allocation != nil, "allocation must not be nil.");
    [self removeAllocations:&allocation count:1];
}

- (void)removeAllAllocations
{
    pthread_mutex_lock(&_lock);
    [_members removeAllObjects];
    [_lookup removeAllObjects];
    pthread_mutex_unlock(&_lock);
}

- (BOOL)containsAllocation:(id<MTLAllocation>)allocation
{
    pthread_mutex_lock(&_lock);
    BOOL found = [_lookup containsObject:allocation];
    pthread_mutex_unlock(&_lock);
    return found;
}

- (NSArray *)allAllocations
{
    pthread_mutex_lock(&_lock);
    NSArray *all = [NSArray arrayWithArray:_members];
    pthread_mutex_unlock(&_lock);
    return all;
}

- (NSUInteger)allocationCount
{
    pthread_mutex_lock(&_lock);
    NSUInteger count = [_members count];
    pthread_mutex_unlock(&_lock);
    return count;
}

- (uint64_t)allocatedSize
{
    pthread_mutex_lock(&_lock);
    uint64_t size = _committed_size;
    pthread_mutex_unlock(&_lock);
    return size;
}

- (void)commit
{
    pthread_mutex_lock(&_lock);
    _committed_size = 0;
    for (id<MTLAllocation> member in _members)
        _committed_size += [member allocatedSize];
    pthread_mutex_unlock(&_lock);
}

- (void)requestResidency
{
    pthread_mutex_lock(&_lock);
    _is_requested = true;
    pthread_mutex_unlock(&_lock);
}

- (void)endResidency
{
    pthread_mutex_lock(&_lock);
    _is_requested = false;
    pthread_mutex_unlock(&_lock);
}

@end

@implementation SMDevice (Residency)

- (id<MTLResidencySet>)newResidencySetWithDescriptor:(MTLResidencySetDescriptor *)descriptor
                                               error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    if (error)
        *error = nil;
    return [[SMResidencySet alloc] initWithDevice:self descriptor:descriptor];
}

@end
