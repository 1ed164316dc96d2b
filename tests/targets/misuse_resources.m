// SPDX-License-Identifier: MIT
// Breaks one rule of the resource side of Metal: misuse_resources RULE. With --list it prints, for each rule,
// its name, the method that must say so, and a part of what it must say, separated by |. Returns 0 if nothing
// stopped it.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <stdio.h>
#include <string.h>

static id<MTLDevice> device;

// ---- things to misuse ----
static id<MTLBuffer> buffer(void)
{
    return [device newBufferWithLength:64 options:MTLResourceStorageModeShared];
}

static MTLHeapDescriptor *heap_descriptor(void)
{
    MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor new] autorelease];
    [descriptor setSize:65536];
    [descriptor setStorageMode:MTLStorageModeShared];
    return descriptor;
}

static id<MTLHeap> heap(MTLHeapType type)
{
    MTLHeapDescriptor *descriptor = heap_descriptor();
    [descriptor setType:type];
    return [device newHeapWithDescriptor:descriptor];
}

static id<MTLCounterSampleBuffer> samples(MTLStorageMode mode)
{
    MTLCounterSampleBufferDescriptor *descriptor = [[MTLCounterSampleBufferDescriptor new] autorelease];
    [descriptor setCounterSet:[[device counterSets] lastObject]];
    [descriptor setSampleCount:4];
    [descriptor setStorageMode:mode];
    return [device newCounterSampleBufferWithDescriptor:descriptor error:NULL];
}

static id<MTLLibrary> library(void)
{
    return [device newLibraryWithSource:@"kernel void k(device float *a [[buffer(0)]]) { a[0] = 1; }"
                                options:nil
                                  error:NULL];
}

static id<MTLFunction> function(void)
{
    return [library() newFunctionWithName:@"k"];
}

static MTLIndirectCommandBufferDescriptor *commands_descriptor(MTLIndirectCommandType types, BOOL inherits)
{
    MTLIndirectCommandBufferDescriptor *descriptor = [[MTLIndirectCommandBufferDescriptor new] autorelease];
    [descriptor setCommandTypes:types];
    [descriptor setInheritBuffers:inherits];
    [descriptor setInheritPipelineState:inherits];
    [descriptor setMaxKernelBufferBindCount:2];
    [descriptor setMaxKernelThreadgroupMemoryBindCount:1];
    return descriptor;
}

static id<MTLIndirectCommandBuffer> commands(MTLIndirectCommandType types, BOOL inherits)
{
    return [device newIndirectCommandBufferWithDescriptor:commands_descriptor(types, inherits)
                                          maxCommandCount:4
                                                  options:0];
}

static id<MTLIndirectComputeCommand> command(BOOL inherits)
{
    return [commands(MTLIndirectCommandTypeConcurrentDispatch, inherits) indirectComputeCommandAtIndex:0];
}

static id<MTLArgumentEncoder> arguments(void)
{
    MTLArgumentDescriptor *number = [MTLArgumentDescriptor argumentDescriptor];
    [number setDataType:MTLDataTypeFloat];
    MTLArgumentDescriptor *pointer = [MTLArgumentDescriptor argumentDescriptor];
    [pointer setDataType:MTLDataTypePointer];
    [pointer setIndex:1];
    return [device newArgumentEncoderWithArguments:[NSArray arrayWithObjects:number, pointer, nil]];
}

static id<MTLArgumentEncoder> arguments_in_buffer(void)
{
    id<MTLArgumentEncoder> encoder = arguments();
    [encoder setArgumentBuffer:buffer() offset:0];
    return encoder;
}

static MTLFunctionConstantValues *values(void)
{
    return [[MTLFunctionConstantValues new] autorelease];
}

static id<MTLBinaryArchive> archive(void)
{
    MTLBinaryArchiveDescriptor *descriptor = [[MTLBinaryArchiveDescriptor new] autorelease];
    return [device newBinaryArchiveWithDescriptor:descriptor error:NULL];
}

// Nothing at all, of any type: what a program passes by mistake, past the compiler's warnings.
static id nothing(void)
{
    return nil;
}

static const MTLSize one = {1, 1, 1};
static const float number = 1;

// ---- the rules ----
static const char *wanted; // the rule to break; NULL: list them
static bool is_known;

// Is this the rule to break? Lists it if they are listed.
static bool breaks(const char *name, const char *method, const char *text)
{
    if (!wanted)
        printf("%s|%s|%s\n", name, method, text);
    bool is_wanted = wanted && strcmp(wanted, name) == 0;
    is_known |= is_wanted;
    return is_wanted;
}

static void buffers(void)
{
    if (breaks("zero-length", "-[SoftG1Device newBufferWithLength:options:]",
               "Cannot create buffer of zero length"))
        [device newBufferWithLength:0 options:0];
    if (breaks("memoryless", "-[SoftG1Device newBufferWithLength:options:]",
               "Memoryless storage mode is not for buffers"))
        [device newBufferWithLength:4 options:MTLResourceStorageModeMemoryless];
    if (breaks("bytes-null", "-[SoftG1Device newBufferWithBytes:length:options:]",
               "pointer must not be NULL"))
        [device newBufferWithBytes:nothing() length:4 options:0];
    if (breaks("bytes-zero-length", "-[SoftG1Device newBuffer", "Cannot create buffer of zero length"))
        [device newBufferWithBytes:&number length:0 options:0];
    if (breaks("bytes-private", "-[SoftG1Device newBufferWithBytes:length:options:]", "private storage mode"))
        [device newBufferWithBytes:&number length:4 options:MTLResourceStorageModePrivate];
    if (breaks("no-copy-null", "-[SoftG1Device newBufferWithBytesNoCopy:length:options:deallocator:]",
               "newBufferWithBytesNoCopy:pointer must not be NULL"))
        [device newBufferWithBytesNoCopy:nothing() length:4096 options:0 deallocator:nil];
    if (breaks("no-copy-pointer", "-[SoftG1Device newBufferWithBytesNoCopy:length:options:deallocator:]",
               "newBufferWithBytesNoCopy:pointer 0x1001 is not 4096 byte aligned."))
        [device newBufferWithBytesNoCopy:(void *)4097 length:4096 options:0 deallocator:nil];
    if (breaks("no-copy-length", "-[SoftG1Device newBufferWithBytesNoCopy:length:options:deallocator:]",
               "newBufferWithBytesNoCopy:length 0x1001 is not 4096 byte aligned."))
        [device newBufferWithBytesNoCopy:(void *)4096 length:4097 options:0 deallocator:nil];
    if (breaks("no-copy-zero-length", "-[SoftG1Device newBufferWithBytesNoCopy:length:options:deallocator:]",
               "Cannot create buffer of zero length"))
        [device newBufferWithBytesNoCopy:(void *)4096 length:0 options:0 deallocator:nil];
    if (breaks("no-copy-private", "-[SoftG1Device newBufferWithBytesNoCopy:length:options:deallocator:]",
               "private storage mode"))
        [device newBufferWithBytesNoCopy:(void *)4096
                                  length:4096
                                 options:MTLResourceStorageModePrivate
                             deallocator:nil];
    if (breaks("modify-shared", "-[SoftG1Buffer didModifyRange:]", "managed storage mode"))
        [buffer() didModifyRange:NSMakeRange(0, 4)];
    if (breaks("modify-outside", "-[SoftG1Buffer didModifyRange:]",
               "range.location(60) + range.length(5) must be <= buffer length(64)"))
        [[device newBufferWithLength:64
                             options:MTLResourceStorageModeManaged] didModifyRange:NSMakeRange(60, 5)];
    if (breaks("marker-nil", "-[SoftG1Buffer addDebugMarker:range:]", "marker must not be nil"))
        [buffer() addDebugMarker:nothing() range:NSMakeRange(0, 4)];
    if (breaks("marker-outside", "-[SoftG1Buffer addDebugMarker:range:]",
               "outside of the buffer's length 64"))
        [buffer() addDebugMarker:@"m" range:NSMakeRange(65, 0)];
    if (breaks("alias-without-heap", "-[SoftG1Buffer makeAliasable]", "only for resources of a heap"))
        [buffer() makeAliasable];
}

static void heaps(void)
{
    if (breaks("heap-nil", "-[SoftG1Device newHeapWithDescriptor:]", "descriptor must not be nil"))
        [device newHeapWithDescriptor:nothing()];
    if (breaks("heap-zero-size", "-[SoftG1Device newHeapWithDescriptor:]",
               "Heap size must be greater than 0")) {
        MTLHeapDescriptor *descriptor = heap_descriptor();
        [descriptor setSize:0];
        [device newHeapWithDescriptor:descriptor];
    }
    if (breaks("heap-managed", "-[SoftG1Device newHeapWithDescriptor:]", "private or shared storage mode")) {
        MTLHeapDescriptor *descriptor = heap_descriptor();
        [descriptor setStorageMode:MTLStorageModeManaged];
        [device newHeapWithDescriptor:descriptor];
    }
    if (breaks("heap-sparse", "-[SoftG1Device newHeapWithDescriptor:]", "Sparse heaps are not supported"))
        heap(MTLHeapTypeSparse);
    if (breaks("heap-zero-length", "-[SoftG1Heap newBufferWithLength:options:]",
               "Cannot create buffer of zero length"))
        [heap(MTLHeapTypeAutomatic) newBufferWithLength:0 options:0];
    if (breaks("heap-storage", "-[SoftG1Heap newBufferWithLength:options:]",
               "not compatible with the heap's storage mode"))
        [heap(MTLHeapTypeAutomatic) newBufferWithLength:16 options:MTLResourceStorageModePrivate];
    if (breaks("heap-cache-mode", "-[SoftG1Heap newBufferWithLength:options:]", "CPU cache mode"))
        [heap(MTLHeapTypeAutomatic) newBufferWithLength:16 options:MTLResourceCPUCacheModeWriteCombined];
    if (breaks("heap-place-automatic", "-[SoftG1Heap newBufferWithLength:options:offset:]",
               "MTLHeapTypePlacement"))
        [heap(MTLHeapTypeAutomatic) newBufferWithLength:16 options:0 offset:0];
    if (breaks("heap-automatic-placement", "-[SoftG1Heap newBufferWithLength:options:]",
               "MTLHeapTypeAutomatic"))
        [heap(MTLHeapTypePlacement) newBufferWithLength:16 options:0];
    if (breaks("heap-offset", "-[SoftG1Heap newBufferWithLength:options:offset:]",
               "offset 100 must be a multiple of 256"))
        [heap(MTLHeapTypePlacement) newBufferWithLength:16 options:0 offset:100];
    if (breaks("heap-outside", "-[SoftG1Heap newBufferWithLength:options:offset:]",
               "must be <= heap size(65536)"))
        [heap(MTLHeapTypePlacement) newBufferWithLength:512 options:0 offset:65280];
    if (breaks("heap-purgeable", "-[SoftG1Buffer setPurgeableState:]", "not for resources of a heap"))
        [[heap(MTLHeapTypeAutomatic) newBufferWithLength:16
                                                 options:0] setPurgeableState:MTLPurgeableStateVolatile];
}

static void libraries(void)
{
    if (breaks("source-nil", "-[SoftG1Device newLibraryWithSource:options:error:]", "source must not be nil"))
        [device newLibraryWithSource:nothing() options:nil error:NULL];
    if (breaks("source-nil-async", "-[SoftG1Device newLibraryWithSource:options:completionHandler:]",
               "source must not be nil"))
        [device newLibraryWithSource:nothing()
                             options:nil
                   completionHandler:^(id<MTLLibrary> made, NSError *error) {
                       (void)made;
                       (void)error;
                   }];
    if (breaks("library-handler-nil", "-[SoftG1Device newLibraryWithSource:options:completionHandler:]",
               "completionHandler must not be nil"))
        [device newLibraryWithSource:@"" options:nil completionHandler:nothing()];
    if (breaks("file-nil", "-[SoftG1Device newLibraryWithFile:error:]", "filepath must not be nil"))
        [device newLibraryWithFile:nothing() error:NULL];
    if (breaks("url-nil", "-[SoftG1Device newLibraryWithURL:error:]", "url must not be nil"))
        [device newLibraryWithURL:nothing() error:NULL];
    if (breaks("url-no-file", "-[SoftG1Device newLibraryWithURL:error:]", "url must be a file URL"))
        [device newLibraryWithURL:[NSURL URLWithString:@"http://localhost/x.metallib"] error:NULL];
    if (breaks("data-nil", "-[SoftG1Device newLibraryWithData:error:]", "data must not be nil"))
        [device newLibraryWithData:(dispatch_data_t)nothing() error:NULL];
    if (breaks("bundle-nil", "-[SoftG1Device newDefaultLibraryWithBundle:error:]", "bundle must not be nil"))
        [device newDefaultLibraryWithBundle:nothing() error:NULL];
    if (breaks("function-nil", "-[SoftG1Library newFunctionWithName:]", "functionName must not be nil"))
        [library() newFunctionWithName:nothing()];
    if (breaks("values-nil", "-[SoftG1Library newFunctionWithName:constantValues:error:]",
               "constantValues must not be nil"))
        [library() newFunctionWithName:@"k" constantValues:nothing() error:NULL];
    if (breaks("values-function-nil", "-[SoftG1Library newFunctionWithName:constantValues:error:]",
               "functionName must not be nil"))
        [library() newFunctionWithName:nothing() constantValues:values() error:NULL];
    if (breaks("function-descriptor-nil", "-[SoftG1Library newFunctionWithDescriptor:error:]",
               "descriptor must not be nil"))
        [library() newFunctionWithDescriptor:nothing() error:NULL];
    if (breaks("function-descriptor-name", "-[SoftG1Library newFunctionWithDescriptor:error:]",
               "descriptor.name must not be nil"))
        [library() newFunctionWithDescriptor:[MTLFunctionDescriptor functionDescriptor] error:NULL];
    if (breaks("function-handler-nil", "-[SoftG1Library newFunctionWithDescriptor:completionHandler:]",
               "completionHandler must not be nil"))
        [library() newFunctionWithName:@"k" constantValues:values() completionHandler:nothing()];
    if (breaks("constant-null", "-[MTLFunctionConstantValues setConstantValue", "must not be NULL"))
        [values() setConstantValue:nothing() type:MTLDataTypeFloat atIndex:0];
    if (breaks("constant-type", "-[MTLFunctionConstantValues setConstantValue",
               "is not a valid type of a function constant"))
        [values() setConstantValue:&number type:MTLDataTypePointer atIndex:0];
    if (breaks("constant-name-nil", "-[MTLFunctionConstantValues setConstantValue:type:withName:]",
               "name must not be nil"))
        [values() setConstantValue:&number type:MTLDataTypeFloat withName:nothing()];
    if (breaks("constant-name-type", "-[MTLFunctionConstantValues setConstantValue:type:withName:]",
               "is not a valid type of a function constant"))
        [values() setConstantValue:&number type:MTLDataTypeTexture withName:@"a"];
}

static void pipelines(void)
{
    if (breaks("pipeline-nil", "-[SoftG1Device newComputePipelineStateWithFunction:error:]",
               "computeFunction must not be nil"))
        [device newComputePipelineStateWithFunction:nothing() error:NULL];
    if (breaks("pipeline-reflection-nil",
               "-[SoftG1Device newComputePipelineStateWithFunction:options:reflection:error:]",
               "computeFunction must not be nil"))
        [device newComputePipelineStateWithFunction:nothing() options:0 reflection:NULL error:NULL];
    if (breaks("pipeline-descriptor-nil",
               "-[SoftG1Device newComputePipelineStateWithDescriptor:options:reflection:error:]",
               "descriptor must not be nil"))
        [device newComputePipelineStateWithDescriptor:nothing() options:0 reflection:NULL error:NULL];
    if (breaks("pipeline-descriptor-function",
               "-[SoftG1Device newComputePipelineStateWithDescriptor:options:reflection:error:]",
               "computeFunction must not be nil")) {
        MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor new] autorelease];
        [device newComputePipelineStateWithDescriptor:descriptor options:0 reflection:NULL error:NULL];
    }
    if (breaks("pipeline-handler-nil",
               "-[SoftG1Device newComputePipelineStateWithFunction:completionHandler:]",
               "completionHandler must not be nil"))
        [device newComputePipelineStateWithFunction:function() completionHandler:nothing()];
    if (breaks("pipeline-buffer-index", "-[MTLPipelineBufferDescriptorArray objectAtIndexedSubscript:]",
               "must be < 31"))
        [[[[MTLComputePipelineDescriptor new] autorelease] buffers] objectAtIndexedSubscript:31];
    if (breaks("archive-nil", "-[SoftG1Device newBinaryArchiveWithDescriptor:error:]",
               "descriptor must not be nil"))
        [device newBinaryArchiveWithDescriptor:nothing() error:NULL];
    if (breaks("archive-function", "-[SMBinaryArchive addComputePipelineFunctionsWithDescriptor:error:]",
               "computeFunction must not be nil"))
        [archive() addComputePipelineFunctionsWithDescriptor:[[MTLComputePipelineDescriptor new] autorelease]
                                                       error:NULL];
    if (breaks("archive-url", "-[SMBinaryArchive serializeToURL:error:]", "url must be a file URL"))
        [archive() serializeToURL:[NSURL URLWithString:@"http://localhost/a"] error:NULL];
    if (breaks("log-nil", "-[SoftG1Device newLogStateWithDescriptor:error:]", "descriptor must not be nil"))
        [device newLogStateWithDescriptor:nothing() error:NULL];
    if (breaks("log-handler-nil", "-[SMLogState addLogHandler:]", "block must not be nil")) {
        MTLLogStateDescriptor *descriptor = [[MTLLogStateDescriptor new] autorelease];
        [[device newLogStateWithDescriptor:descriptor error:NULL] addLogHandler:nothing()];
    }
}

static void argument_encoders(void)
{
    if (breaks("arguments-empty", "-[SoftG1Device newArgumentEncoderWithArguments:]",
               "arguments must not be empty"))
        [device newArgumentEncoderWithArguments:[NSArray array]];
    if (breaks("arguments-type", "-[SoftG1Device newArgumentEncoderWithArguments:]",
               "is not supported in an argument buffer")) {
        MTLArgumentDescriptor *texture = [MTLArgumentDescriptor argumentDescriptor];
        [texture setDataType:MTLDataTypeNone];
        [device newArgumentEncoderWithArguments:[NSArray arrayWithObject:texture]];
    }
    if (breaks("arguments-no-buffer", "-[SMArgumentEncoder setBuffer:offset:atIndex:]",
               "no argument buffer is set"))
        [arguments() setBuffer:buffer() offset:0 atIndex:1];
    if (breaks("arguments-offset", "-[SMArgumentEncoder setArgumentBuffer:offset:]",
               "must be a multiple of the alignment 8"))
        [arguments() setArgumentBuffer:buffer() offset:4];
    if (breaks("arguments-room", "-[SMArgumentEncoder setArgumentBuffer:offset:]",
               "offset(56) + encodedLength(16) must be <= [argumentBuffer length](64)"))
        [arguments() setArgumentBuffer:buffer() offset:56];
    if (breaks("arguments-kind", "-[SMArgumentEncoder setBuffer:offset:atIndex:]",
               "the argument at index 0 is not a buffer"))
        [arguments_in_buffer() setBuffer:buffer() offset:0 atIndex:0];
    if (breaks("arguments-index", "-[SMArgumentEncoder constantDataAtIndex:]",
               "index(7) is not an argument of this encoder"))
        [arguments_in_buffer() constantDataAtIndex:7];
    if (breaks("arguments-nested", "-[SMArgumentEncoder newArgumentEncoderForBufferAtIndex:]",
               "no nested argument buffer"))
        [arguments_in_buffer() newArgumentEncoderForBufferAtIndex:1];
    if (breaks("arguments-function", "-[SoftG1Function newArgumentEncoderWithBufferIndex:]",
               "no argument buffer at index 5"))
        [function() newArgumentEncoderWithBufferIndex:5];
}

static void indirect_commands(void)
{
    if (breaks("icb-nil", "-[SoftG1Device newIndirectCommandBufferWithDescriptor:maxCommandCount:options:]",
               "descriptor must not be nil"))
        [device newIndirectCommandBufferWithDescriptor:nothing() maxCommandCount:1 options:0];
    if (breaks("icb-no-types",
               "-[SoftG1Device newIndirectCommandBufferWithDescriptor:maxCommandCount:options:]",
               "commandTypes must not be 0"))
        [device newIndirectCommandBufferWithDescriptor:[[MTLIndirectCommandBufferDescriptor new] autorelease]
                                       maxCommandCount:1
                                               options:0];
    if (breaks("icb-draw", "-[SoftG1Device newIndirectCommandBufferWithDescriptor:maxCommandCount:options:]",
               "compute commands only"))
        commands(MTLIndirectCommandTypeDraw, NO);
    if (breaks("icb-count", "-[SoftG1Device newIndirectCommandBufferWithDescriptor:maxCommandCount:options:]",
               "maxCount(16385) must be in 1 -> 16384"))
        [device newIndirectCommandBufferWithDescriptor:commands_descriptor(
                                                           MTLIndirectCommandTypeConcurrentDispatch, NO)
                                       maxCommandCount:16385
                                               options:0];
    if (breaks("icb-bindings",
               "-[SoftG1Device newIndirectCommandBufferWithDescriptor:maxCommandCount:options:]",
               "maxKernelBufferBindCount(32) must be <= 31")) {
        MTLIndirectCommandBufferDescriptor *descriptor =
            commands_descriptor(MTLIndirectCommandTypeConcurrentDispatch, NO);
        [descriptor setMaxKernelBufferBindCount:32];
        [device newIndirectCommandBufferWithDescriptor:descriptor maxCommandCount:1 options:0];
    }
    if (breaks("icb-index", "-[SMIndirectCommandBuffer indirectComputeCommandAtIndex:]",
               "commandIndex(4) must be < size(4)"))
        [commands(MTLIndirectCommandTypeConcurrentDispatch, NO) indirectComputeCommandAtIndex:4];
    if (breaks("icb-reset", "-[SMIndirectCommandBuffer resetWithRange:]", "outside of the 4 commands"))
        [commands(MTLIndirectCommandTypeConcurrentDispatch, NO) resetWithRange:NSMakeRange(1, 4)];
    if (breaks("icb-inherits-pipeline", "-[SMIndirectComputeCommand setComputePipelineState:]",
               "inherits its pipeline state"))
        [command(YES) setComputePipelineState:nothing()];
    if (breaks("icb-pipeline-nil", "-[SMIndirectComputeCommand setComputePipelineState:]",
               "pipelineState must not be nil"))
        [command(NO) setComputePipelineState:nothing()];
    if (breaks("icb-pipeline-support", "-[SMIndirectComputeCommand setComputePipelineState:]",
               "supportIndirectCommandBuffers set to YES")) {
        id<MTLComputePipelineState> state = [device newComputePipelineStateWithFunction:function()
                                                                                  error:NULL];
        [command(NO) setComputePipelineState:state];
    }
    if (breaks("icb-inherits-buffers", "-[SMIndirectComputeCommand setKernelBuffer:offset:atIndex:]",
               "inherits its buffers"))
        [command(YES) setKernelBuffer:buffer() offset:0 atIndex:0];
    if (breaks("icb-buffer-index", "-[SMIndirectComputeCommand setKernelBuffer:offset:atIndex:]",
               "buffer index 2 must be < maxKernelBufferBindCount (2)"))
        [command(NO) setKernelBuffer:buffer() offset:0 atIndex:2];
    if (breaks("icb-buffer-offset", "-[SMIndirectComputeCommand setKernelBuffer:offset:atIndex:]",
               "offset(64) must be < [buffer length](64)"))
        [command(NO) setKernelBuffer:buffer() offset:64 atIndex:0];
    if (breaks("icb-memory-index", "-[SMIndirectComputeCommand setThreadgroupMemoryLength:atIndex:]",
               "index 1 must be < maxKernelThreadgroupMemoryBindCount (1)"))
        [command(NO) setThreadgroupMemoryLength:16 atIndex:1];
    if (breaks("icb-memory-unit", "-[SMIndirectComputeCommand setThreadgroupMemoryLength:atIndex:]",
               "multiple of 16 bytes"))
        [command(NO) setThreadgroupMemoryLength:8 atIndex:0];
    if (breaks("icb-memory-size", "-[SMIndirectComputeCommand setThreadgroupMemoryLength:atIndex:]",
               "must be <= 32768"))
        [command(NO) setThreadgroupMemoryLength:32784 atIndex:0];
    if (breaks("icb-threads-form",
               "-[SMIndirectComputeCommand concurrentDispatchThreads:threadsPerThreadgroup:]",
               "MTLIndirectCommandTypeConcurrentDispatchThreads"))
        [command(NO) concurrentDispatchThreads:one threadsPerThreadgroup:one];
    if (breaks("icb-groups-form",
               "-[SMIndirectComputeCommand concurrentDispatchThreadgroups:threadsPerThreadgroup:]",
               "must have MTLIndirectCommandTypeConcurrentDispatch."))
        [[commands(MTLIndirectCommandTypeConcurrentDispatchThreads, NO) indirectComputeCommandAtIndex:0]
            concurrentDispatchThreadgroups:one
                     threadsPerThreadgroup:one];
}

static void others(void)
{
    if (breaks("samples-nil", "-[SoftG1Device newCounterSampleBufferWithDescriptor:error:]",
               "descriptor must not be nil"))
        [device newCounterSampleBufferWithDescriptor:nothing() error:NULL];
    if (breaks("samples-outside", "-[SMCounterSampleBuffer resolveCounterRange:]",
               "outside of the sample buffer's 4 samples"))
        [samples(MTLStorageModeShared) resolveCounterRange:NSMakeRange(2, 3)];
    if (breaks("samples-private", "-[SMCounterSampleBuffer resolveCounterRange:]", "shared storage mode"))
        [samples(MTLStorageModePrivate) resolveCounterRange:NSMakeRange(0, 4)];
    if (breaks("event-handle-nil", "-[SoftG1Device newSharedEventWithHandle:]",
               "sharedEventHandle must not be nil"))
        [device newSharedEventWithHandle:nothing()];
    if (breaks("event-listener-nil", "-[SMSharedEvent notifyListener:atValue:block:]",
               "listener must not be nil"))
        [[device newSharedEvent] notifyListener:nothing()
                                        atValue:1
                                          block:^(id<MTLSharedEvent> event, uint64_t value) {
                                              (void)event;
                                              (void)value;
                                          }];
    if (breaks("event-block-nil", "-[SMSharedEvent notifyListener:atValue:block:]",
               "block must not be nil")) {
        MTLSharedEventListener *listener = [[[MTLSharedEventListener alloc] init] autorelease];
        [[device newSharedEvent] notifyListener:listener atValue:1 block:nothing()];
    }
    if (breaks("residency-nil", "-[SoftG1Device newResidencySetWithDescriptor:error:]",
               "descriptor must not be nil"))
        [device newResidencySetWithDescriptor:nothing() error:NULL];
    if (breaks("residency-add-nil", "-[SMResidencySet addAllocation:]", "allocation must not be nil")) {
        MTLResidencySetDescriptor *descriptor = [[MTLResidencySetDescriptor new] autorelease];
        [[device newResidencySetWithDescriptor:descriptor error:NULL] addAllocation:nothing()];
    }
    if (breaks("residency-remove-nil", "-[SMResidencySet removeAllocation:]", "allocation must not be nil")) {
        MTLResidencySetDescriptor *descriptor = [[MTLResidencySetDescriptor new] autorelease];
        [[device newResidencySetWithDescriptor:descriptor error:NULL] removeAllocation:nothing()];
    }
    if (breaks("capture-nil", "-[MTLCaptureManager startCaptureWithDescriptor:error:]",
               "descriptor must not be nil"))
        [[MTLCaptureManager sharedCaptureManager] startCaptureWithDescriptor:nothing() error:NULL];
    if (breaks("capture-scope-device", "-[MTLCaptureManager newCaptureScopeWithDevice:]",
               "device must not be nil"))
        [[MTLCaptureManager sharedCaptureManager] newCaptureScopeWithDevice:nothing()];
    if (breaks("capture-scope-queue", "-[MTLCaptureManager newCaptureScopeWithCommandQueue:]",
               "commandQueue must not be nil"))
        [[MTLCaptureManager sharedCaptureManager] newCaptureScopeWithCommandQueue:nothing()];
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: misuse_resources RULE|--list\n");
        return 2;
    }
    wanted = strcmp(argv[1], "--list") == 0 ? NULL : argv[1];
    @autoreleasepool {
        device = MTLCreateSystemDefaultDevice();
        buffers();
        heaps();
        libraries();
        pipelines();
        argument_encoders();
        indirect_commands();
        others();
    }
    return wanted && !is_known ? 2 : 0;
}
