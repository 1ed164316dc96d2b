// SPDX-License-Identifier: MIT
// Descriptor classes of programs: compile options, functions, compute pipelines, argument layouts. Plain
// values with Metal's defaults; like Metal's, a descriptor is not to be shared between threads.
#import "metal/resource.h"

@implementation MTLCompileOptions

@synthesize preprocessorMacros = _preprocessorMacros;
@synthesize fastMathEnabled = _fastMathEnabled;
@synthesize languageVersion = _languageVersion;
@synthesize libraryType = _libraryType;
@synthesize installName = _installName;
@synthesize libraries = _libraries;
@synthesize preserveInvariance = _preserveInvariance;
@synthesize optimizationLevel = _optimizationLevel;
@synthesize compileSymbolVisibility = _compileSymbolVisibility;
@synthesize allowReferencingUndefinedSymbols = _allowReferencingUndefinedSymbols;
@synthesize maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;
@synthesize mathMode = _mathMode;
@synthesize mathFloatingPointFunctions = _mathFloatingPointFunctions;
@synthesize enableLogging = _enableLogging;
@synthesize requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup;

- (instancetype)init
{
    self = [super init];
    if (!self)
        return nil;
    // The newest language without tensors, which softmetal does not have.
    _languageVersion = MTLLanguageVersion3_2;
    [self setFastMathEnabled:YES];
    return self;
}

- (void)dealloc
{
    [_preprocessorMacros release];
    [_installName release];
    [_libraries release];
    [super dealloc];
}

// The older switch and the newer mode say the same thing; each setter keeps the other in step.
- (void)setFastMathEnabled:(BOOL)enabled
{
    _fastMathEnabled = enabled;
    _mathMode = enabled ? MTLMathModeFast : MTLMathModeSafe;
    _mathFloatingPointFunctions =
        enabled ? MTLMathFloatingPointFunctionsFast : MTLMathFloatingPointFunctionsPrecise;
}

- (void)setMathMode:(MTLMathMode)mode
{
    _mathMode = mode;
    _fastMathEnabled = mode == MTLMathModeFast;
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLCompileOptions *copy = [[[self class] allocWithZone:zone] init];
    [copy setPreprocessorMacros:_preprocessorMacros];
    [copy setMathMode:_mathMode];
    [copy setMathFloatingPointFunctions:_mathFloatingPointFunctions];
    [copy setLanguageVersion:_languageVersion];
    [copy setLibraryType:_libraryType];
    [copy setInstallName:_installName];
    [copy setLibraries:_libraries];
    [copy setPreserveInvariance:_preserveInvariance];
    [copy setOptimizationLevel:_optimizationLevel];
    [copy setCompileSymbolVisibility:_compileSymbolVisibility];
    [copy setAllowReferencingUndefinedSymbols:_allowReferencingUndefinedSymbols];
    [copy setMaxTotalThreadsPerThreadgroup:_maxTotalThreadsPerThreadgroup];
    [copy setEnableLogging:_enableLogging];
    [copy setRequiredThreadsPerThreadgroup:_requiredThreadsPerThreadgroup];
    return copy;
}

@end

@implementation MTLFunctionDescriptor

@synthesize name = _name;
@synthesize specializedName = _specializedName;
@synthesize constantValues = _constantValues;
@synthesize options = _options;
@synthesize binaryArchives = _binaryArchives;

+ (MTLFunctionDescriptor *)functionDescriptor
{
    return [[[self alloc] init] autorelease];
}

- (void)dealloc
{
    [_name release];
    [_specializedName release];
    [_constantValues release];
    [_binaryArchives release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLFunctionDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setName:_name];
    [copy setSpecializedName:_specializedName];
    [copy setConstantValues:_constantValues];
    [copy setOptions:_options];
    [copy setBinaryArchives:_binaryArchives];
    return copy;
}

@end

@implementation MTLLinkedFunctions

@synthesize functions = _functions;
@synthesize binaryFunctions = _binaryFunctions;
@synthesize groups = _groups;
@synthesize privateFunctions = _privateFunctions;

+ (MTLLinkedFunctions *)linkedFunctions
{
    return [[[self alloc] init] autorelease];
}

- (void)dealloc
{
    [_functions release];
    [_binaryFunctions release];
    [_groups release];
    [_privateFunctions release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLLinkedFunctions *copy = [[[self class] allocWithZone:zone] init];
    [copy setFunctions:_functions];
    [copy setBinaryFunctions:_binaryFunctions];
    [copy setGroups:_groups];
    [copy setPrivateFunctions:_privateFunctions];
    return copy;
}

@end

@implementation MTLStageInputOutputDescriptor

@synthesize indexType = _indexType;
@synthesize indexBufferIndex = _indexBufferIndex;

+ (MTLStageInputOutputDescriptor *)stageInputOutputDescriptor
{
    return [[[self alloc] init] autorelease];
}

- (void)reset
{
    _indexType = MTLIndexTypeUInt16;
    _indexBufferIndex = 0;
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLStageInputOutputDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setIndexType:_indexType];
    [copy setIndexBufferIndex:_indexBufferIndex];
    return copy;
}

@end

@implementation MTLPipelineBufferDescriptor

@synthesize mutability = _mutability;

- (id)copyWithZone:(NSZone *)zone
{
    MTLPipelineBufferDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setMutability:_mutability];
    return copy;
}

@end

@implementation MTLPipelineBufferDescriptorArray

- (instancetype)init
{
    self = [super init];
    if (self)
        _descriptors = [[NSMutableDictionary alloc] init];
    return self;
}

- (void)dealloc
{
    [_descriptors release];
    [super dealloc];
}

- (MTLPipelineBufferDescriptor *)objectAtIndexedSubscript:(NSUInteger)index
{
    sm_assert_metal(index < SM_MAX_BUFFERS, "index (%lu) must be < %d.", (unsigned long)index,
                    SM_MAX_BUFFERS);
    NSNumber *key = [NSNumber numberWithUnsignedLong:index];
    MTLPipelineBufferDescriptor *found = [_descriptors objectForKey:key];
    if (!found) {
        found = [[[MTLPipelineBufferDescriptor alloc] init] autorelease];
        [_descriptors setObject:found forKey:key];
    }
    return found;
}

- (void)setObject:(MTLPipelineBufferDescriptor *)descriptor atIndexedSubscript:(NSUInteger)index
{
    sm_assert_metal(index < SM_MAX_BUFFERS, "index (%lu) must be < %d.", (unsigned long)index,
                    SM_MAX_BUFFERS);
    NSNumber *key = [NSNumber numberWithUnsignedLong:index];
    if (descriptor)
        [_descriptors setObject:[[descriptor copy] autorelease] forKey:key];
    else
        [_descriptors removeObjectForKey:key];
}

@end

@implementation MTLComputePipelineDescriptor

@synthesize label = _label;
@synthesize computeFunction = _computeFunction;
@synthesize threadGroupSizeIsMultipleOfThreadExecutionWidth =
    _threadGroupSizeIsMultipleOfThreadExecutionWidth;
@synthesize maxTotalThreadsPerThreadgroup = _maxTotalThreadsPerThreadgroup;
@synthesize stageInputDescriptor = _stageInputDescriptor;
@synthesize buffers = _buffers;
@synthesize supportIndirectCommandBuffers = _supportIndirectCommandBuffers;
@synthesize insertLibraries = _insertLibraries;
@synthesize preloadedLibraries = _preloadedLibraries;
@synthesize binaryArchives = _binaryArchives;
@synthesize linkedFunctions = _linkedFunctions;
@synthesize supportAddingBinaryFunctions = _supportAddingBinaryFunctions;
@synthesize maxCallStackDepth = _maxCallStackDepth;
@synthesize shaderValidation = _shaderValidation;
@synthesize requiredThreadsPerThreadgroup = _requiredThreadsPerThreadgroup;

- (instancetype)init
{
    self = [super init];
    if (!self)
        return nil;
    _buffers = [[MTLPipelineBufferDescriptorArray alloc] init];
    _maxCallStackDepth = 1;
    return self;
}

- (void)dealloc
{
    [self reset];
    [_buffers release];
    [super dealloc];
}

- (void)reset
{
    [self setLabel:nil];
    [self setComputeFunction:nil];
    [self setStageInputDescriptor:nil];
    [self setInsertLibraries:nil];
    [self setPreloadedLibraries:nil];
    [self setBinaryArchives:nil];
    [self setLinkedFunctions:nil];
    for (NSUInteger i = 0; i < SM_MAX_BUFFERS; i++)
        [_buffers setObject:nil atIndexedSubscript:i];
    _threadGroupSizeIsMultipleOfThreadExecutionWidth = NO;
    _maxTotalThreadsPerThreadgroup = 0;
    _supportIndirectCommandBuffers = NO;
    _supportAddingBinaryFunctions = NO;
    _maxCallStackDepth = 1;
    _shaderValidation = MTLShaderValidationDefault;
    _requiredThreadsPerThreadgroup = MTLSizeMake(0, 0, 0);
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLComputePipelineDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setLabel:_label];
    [copy setComputeFunction:_computeFunction];
    [copy
        setThreadGroupSizeIsMultipleOfThreadExecutionWidth:_threadGroupSizeIsMultipleOfThreadExecutionWidth];
    [copy setMaxTotalThreadsPerThreadgroup:_maxTotalThreadsPerThreadgroup];
    [copy setStageInputDescriptor:_stageInputDescriptor];
    for (NSUInteger i = 0; i < SM_MAX_BUFFERS; i++)
        [[copy buffers] setObject:[_buffers objectAtIndexedSubscript:i] atIndexedSubscript:i];
    [copy setSupportIndirectCommandBuffers:_supportIndirectCommandBuffers];
    [copy setInsertLibraries:_insertLibraries];
    [copy setPreloadedLibraries:_preloadedLibraries];
    [copy setBinaryArchives:_binaryArchives];
    [copy setLinkedFunctions:_linkedFunctions];
    [copy setSupportAddingBinaryFunctions:_supportAddingBinaryFunctions];
    [copy setMaxCallStackDepth:_maxCallStackDepth];
    [copy setShaderValidation:_shaderValidation];
    [copy setRequiredThreadsPerThreadgroup:_requiredThreadsPerThreadgroup];
    return copy;
}

@end

@implementation MTLArgumentDescriptor

@synthesize dataType = _dataType;
@synthesize index = _index;
@synthesize arrayLength = _arrayLength;
@synthesize access = _access;
@synthesize constantBlockAlignment = _constantBlockAlignment;

+ (MTLArgumentDescriptor *)argumentDescriptor
{
    return [[[self alloc] init] autorelease];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLArgumentDescriptor *copy = [[[self class] allocWithZone:zone] init];
    [copy setDataType:_dataType];
    [copy setIndex:_index];
    [copy setArrayLength:_arrayLength];
    [copy setAccess:_access];
    [copy setConstantBlockAlignment:_constantBlockAlignment];
    return copy;
}

@end
