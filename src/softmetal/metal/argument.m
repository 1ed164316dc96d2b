// SPDX-License-Identifier: MIT
// Reflection: the buffers and threadgroup memory that a kernel takes, in the newer form (bindings) and the
// older one (arguments). Made once per pipeline that asks; immutable.
#import "metal/resource.h"

@interface SMBinding : NSObject<MTLBinding> {
  @public
    NSString *_name;
    MTLBindingType _type;
    MTLBindingAccess _access;
    NSUInteger _index;
    NSUInteger _size, _alignment;
}
@end

@implementation SMBinding

@synthesize name = _name;
@synthesize type = _type;
@synthesize access = _access;
@synthesize index = _index;

- (instancetype)initWithArgument:(const sm_argument *)argument layout:(sm_arg_layout)layout
{
    self = [super init];
    if (!self)
        return nil;
    _name = [[NSString alloc] initWithUTF8String:argument->name];
    _type = argument->kind == SM_ARGUMENT_BUFFER ? MTLBindingTypeBuffer : MTLBindingTypeThreadgroupMemory;
    _access = !argument->writes ? MTLBindingAccessReadOnly
              : argument->reads ? MTLBindingAccessReadWrite
                                : MTLBindingAccessWriteOnly;
    _index = argument->index;
    _size = layout.size;
    _alignment = layout.align;
    return self;
}

- (void)dealloc
{
    [_name release];
    [super dealloc];
}

- (BOOL)isUsed
{
    return YES;
}

- (BOOL)isArgument
{
    return YES;
}

@end

@interface SMBufferBinding : SMBinding<MTLBufferBinding> {
    MTLDataType _data_type;
}
@end

@implementation SMBufferBinding

- (instancetype)initWithArgument:(const sm_argument *)argument layout:(sm_arg_layout)layout
{
    self = [super initWithArgument:argument layout:layout];
    if (self)
        _data_type = sm_data_type_named(argument->type);
    return self;
}

- (NSUInteger)bufferAlignment
{
    return _alignment;
}

- (NSUInteger)bufferDataSize
{
    return _size;
}

- (MTLDataType)bufferDataType
{
    return _data_type;
}

- (MTLStructType *)bufferStructType
{
    return nil;
}

- (MTLPointerType *)bufferPointerType
{
    return nil;
}

@end

@interface SMThreadgroupBinding : SMBinding<MTLThreadgroupBinding>
@end

@implementation SMThreadgroupBinding

- (NSUInteger)threadgroupMemoryAlignment
{
    return _alignment;
}

- (NSUInteger)threadgroupMemoryDataSize
{
    return _size;
}

@end

@implementation MTLType

@synthesize dataType = _dataType;

@end

@implementation MTLStructMember

@synthesize name = _name;
@synthesize offset = _offset;
@synthesize dataType = _dataType;
@synthesize argumentIndex = _argumentIndex;

- (MTLStructType *)structType
{
    return _structType;
}

- (MTLArrayType *)arrayType
{
    return _arrayType;
}

- (MTLPointerType *)pointerType
{
    return _pointerType;
}

@end

@implementation MTLStructType

@synthesize members = _members;

- (MTLStructMember *)memberByName:(NSString *)name
{
    for (MTLStructMember *member in _members)
        if ([[member name] isEqualToString:name])
            return member;
    return nil;
}

@end

@implementation MTLArrayType

@synthesize elementType = _elementType;
@synthesize arrayLength = _arrayLength;
@synthesize stride = _stride;
@synthesize argumentIndexStride = _argumentIndexStride;

- (MTLStructType *)elementStructType
{
    return _elementStructType;
}

- (MTLArrayType *)elementArrayType
{
    return _elementArrayType;
}

- (MTLPointerType *)elementPointerType
{
    return _elementPointerType;
}

@end

@implementation MTLPointerType

@synthesize elementType = _elementType;
@synthesize access = _access;
@synthesize alignment = _alignment;
@synthesize dataSize = _dataSize;
@synthesize elementIsArgumentBuffer = _elementIsArgumentBuffer;

- (MTLStructType *)elementStructType
{
    return _elementStructType;
}

- (MTLArrayType *)elementArrayType
{
    return _elementArrayType;
}

@end

@implementation MTLArgument

@synthesize name = _name;
@synthesize type = _type;
@synthesize access = _access;
@synthesize index = _index;
@synthesize active = _active;
@synthesize bufferAlignment = _bufferAlignment;
@synthesize bufferDataSize = _bufferDataSize;
@synthesize bufferDataType = _bufferDataType;
@synthesize bufferStructType = _bufferStructType;
@synthesize bufferPointerType = _bufferPointerType;
@synthesize threadgroupMemoryAlignment = _threadgroupMemoryAlignment;
@synthesize threadgroupMemoryDataSize = _threadgroupMemoryDataSize;
@synthesize arrayLength = _arrayLength;

- (instancetype)initWithSoftmetalBinding:(SMBinding *)binding
{
    self = [super init];
    if (!self)
        return nil;
    _name = [[binding name] copy];
    _type = (MTLArgumentType)[binding type];
    _access = [binding access];
    _index = [binding index];
    _active = [binding isUsed];
    _arrayLength = 1;
    if (_type == MTLArgumentTypeBuffer) {
        _bufferAlignment = binding->_alignment;
        _bufferDataSize = binding->_size;
        _bufferDataType = [(SMBufferBinding *)binding bufferDataType];
    } else {
        _threadgroupMemoryAlignment = binding->_alignment;
        _threadgroupMemoryDataSize = binding->_size;
    }
    return self;
}

- (void)dealloc
{
    [_name release];
    [super dealloc];
}

@end

@implementation MTLComputePipelineReflection

@synthesize bindings = _bindings;
@synthesize arguments = _arguments;

- (instancetype)initWithFunction:(const sm_function *)function kernel:(const sm_kernel *)kernel
{
    self = [super init];
    if (!self)
        return nil;
    NSMutableArray *bindings = [[NSMutableArray alloc] init];
    NSMutableArray *arguments = [[NSMutableArray alloc] init];
    size_t layout = 0; // layouts are given for buffers and threadgroup memory only
    for (size_t i = 0; i < function->argument_count; i++) {
        const sm_argument *argument = &function->arguments[i];
        if (argument->kind == SM_ARGUMENT_BUILTIN || layout >= kernel->arg_layouts_count)
            continue;
        Class class =
            argument->kind == SM_ARGUMENT_BUFFER ? [SMBufferBinding class] : [SMThreadgroupBinding class];
        SMBinding *binding = [[class alloc] initWithArgument:argument layout:kernel->arg_layouts[layout++]];
        MTLArgument *older = [[MTLArgument alloc] initWithSoftmetalBinding:binding];
        [bindings addObject:binding];
        [arguments addObject:older];
        [binding release];
        [older release];
    }
    _bindings = bindings;
    _arguments = arguments;
    return self;
}

- (void)dealloc
{
    [_bindings release];
    [_arguments release];
    [super dealloc];
}

@end
