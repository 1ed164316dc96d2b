// SPDX-License-Identifier: MIT
// Makes queues, libraries, functions, pipelines, buffers and heaps in every form that Metal has for them,
// some of which fail, and prints what it made: one line each, in the order in which it received them. Knows
// nothing of where or under what it runs. Arguments: a folder to write a library into.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static NSString *const source =
    @"#include <metal_stdlib>\n"
    @"using namespace metal;\n"
    @"constant bool is_causal [[function_constant(0)]];\n"
    @"constant int mode [[function_constant(1)]];\n"
    @"constant float scale [[function_constant(2)]];\n"
    @"kernel void plain(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]])\n"
    @"{\n"
    @"    threadgroup float shared[64];\n"
    @"    shared[i % 64] = i;\n"
    @"    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"    out[i] = shared[(i + 1) % 64];\n"
    @"}\n"
    @"kernel void special(device float *out [[buffer(0)]], uint i [[thread_position_in_grid]])\n"
    @"{\n"
    @"    out[i] = is_causal ? mode * scale : 0;\n"
    @"}\n";

static NSString *const wrong = @"kernel void broken(device float *out) { out[0] = no_such_thing; }\n";

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int handlers; // that have run
    id<MTLDevice> device;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

// ---- what is printed ----
static void print_library(id<MTLLibrary> library, const char *form, NSString *name, NSUInteger source_bytes)
{
    printf("library %s %s %lu %s\n", form, name ? [name UTF8String] : "-", (unsigned long)source_bytes,
           library ? "made" : "failed");
}

static void print_function(id<MTLFunction> function, const char *name, const char *constants)
{
    printf("function %s [%s] %s\n", name, constants, function ? "made" : "failed");
}

static void print_pipeline(id<MTLComputePipelineState> pipeline, const char *name, const char *constants,
                           const char *flags)
{
    printf("pipeline %s [%s] [%s] %lu %lu %lu %s\n", name, constants, flags,
           (unsigned long)[pipeline maxTotalThreadsPerThreadgroup],
           (unsigned long)[pipeline threadExecutionWidth],
           (unsigned long)[pipeline staticThreadgroupMemoryLength], pipeline ? "made" : "failed");
}

// An owned result has one owner: us.
static void release_only(id object)
{
    if (object && [object retainCount] != 1)
        printf("%s has %lu owners\n", [NSStringFromClass([object class]) UTF8String],
               (unsigned long)[object retainCount]);
    [object release];
}

static void print_buffer(const char *kind, id<MTLResource> resource)
{
    printf("allocate %s %lu\n", kind, (unsigned long)[resource allocatedSize]);
}

static void release_buffer(const char *kind, id<MTLResource> resource)
{
    printf("release %s %lu\n", kind, (unsigned long)[resource allocatedSize]);
    release_only(resource);
}

// ---- handlers ----
static void handler_ran(void)
{
    pthread_mutex_lock(&state.lock);
    state.handlers++;
    pthread_cond_broadcast(&state.changed);
    pthread_mutex_unlock(&state.lock);
}

static void wait_for_handlers(int count)
{
    pthread_mutex_lock(&state.lock);
    while (state.handlers < count)
        pthread_cond_wait(&state.changed, &state.lock);
    pthread_mutex_unlock(&state.lock);
}

// A handler is the program's own code, and what it makes is the program's.
static void use_metal_in_handler(void)
{
    id<MTLBuffer> buffer = [state.device newBufferWithLength:4096 options:0];
    print_buffer("buffer", buffer);
    release_buffer("buffer", buffer);
}

// ---- queues ----
static void make_queues(id<MTLDevice> device)
{
    id<MTLCommandQueue> queue = [device newCommandQueue];
    printf("queue 0 -\n");
    release_only(queue);
    queue = [device newCommandQueueWithMaxCommandBufferCount:7];
    [queue setLabel:@"seven"];
    printf("queue 7 seven\n");
    release_only(queue);
    MTLCommandQueueDescriptor *descriptor = [[MTLCommandQueueDescriptor alloc] init];
    [descriptor setMaxCommandBufferCount:9];
    queue = [device newCommandQueueWithDescriptor:descriptor];
    printf("queue 9 -\n");
    release_only(queue);
    [descriptor release];
    release_only([device newSharedEvent]);
}

// ---- libraries ----
static NSUInteger bytes_of(NSString *text)
{
    return [text lengthOfBytesUsingEncoding:NSUTF8StringEncoding];
}

static void make_libraries_that_fail(id<MTLDevice> device)
{
    NSError *error = nil;
    print_library([device newLibraryWithSource:wrong options:nil error:&error], "source", nil,
                  bytes_of(wrong));
    printf("error %s\n", error && [error localizedDescription] ? "given" : "missing");
    print_library([device newLibraryWithSource:wrong options:nil error:NULL], "source", nil, bytes_of(wrong));
    print_library([device newLibraryWithFile:@"/no/such/file" error:NULL], "file", @"/no/such/file", 0);
    print_library([device newDefaultLibrary], "default", nil, 0);
    int before = state.handlers;
    [device newLibraryWithSource:wrong
                         options:nil
               completionHandler:^(id<MTLLibrary> library, NSError *why) {
                   print_library(library, "source,async", nil, bytes_of(wrong));
                   printf("error %s\n", [why localizedDescription] ? "given" : "missing");
                   handler_ran();
               }];
    wait_for_handlers(before + 1);
}

static void make_libraries_from_files(id<MTLDevice> device, NSString *folder)
{
    NSString *path = [folder stringByAppendingPathComponent:@"text.metallib"];
    [source writeToFile:path atomically:NO encoding:NSUTF8StringEncoding error:NULL];
    id<MTLLibrary> library = [device newLibraryWithFile:path error:NULL];
    print_library(library, "file", path, 0);
    release_only(library);
    library = [device newLibraryWithURL:[NSURL fileURLWithPath:path] error:NULL];
    print_library(library, "url", path, 0);
    release_only(library);
}

static id<MTLLibrary> make_libraries(id<MTLDevice> device, NSString *folder)
{
    // An error that was there before a call that succeeds is left as it was.
    NSError *error = (NSError *)(uintptr_t)16;
    id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
    print_library(library, "source", nil, bytes_of(source));
    int before = state.handlers;
    [device newLibraryWithSource:source
                         options:nil
               completionHandler:^(id<MTLLibrary> made, NSError *why) {
                   (void)why;
                   print_library(made, "source,async", nil, bytes_of(source));
                   use_metal_in_handler();
                   handler_ran();
               }];
    wait_for_handlers(before + 1);
    make_libraries_from_files(device, folder);
    make_libraries_that_fail(device);
    [library setLabel:@"later named"];
    printf("library-label later named\n");
    return library;
}

// ---- functions ----
static MTLFunctionConstantValues *make_constants(void)
{
    MTLFunctionConstantValues *values = [[MTLFunctionConstantValues alloc] init];
    int mode = 3;
    float scale = 0.125F;
    bool is_causal = true;
    [values setConstantValue:&mode type:MTLDataTypeInt withName:@"mode"];
    [values setConstantValue:&scale type:MTLDataTypeFloat atIndex:2];
    [values setConstantValue:&is_causal type:MTLDataTypeBool atIndex:0];
    return values;
}

static id<MTLFunction> make_described_functions(id<MTLLibrary> library, MTLFunctionConstantValues *values)
{
    MTLFunctionDescriptor *descriptor = [MTLFunctionDescriptor functionDescriptor];
    [descriptor setName:@"special"];
    [descriptor setConstantValues:values];
    id<MTLFunction> function = [library newFunctionWithDescriptor:descriptor error:NULL];
    print_function(function, "special", "0=true 2=0.125 mode=-4");
    release_only(function);
    int before = state.handlers;
    [library newFunctionWithDescriptor:descriptor
                     completionHandler:^(id<MTLFunction> made, NSError *why) {
                         (void)why;
                         print_function(made, "special", "0=true 2=0.125 mode=-4");
                         handler_ran();
                     }];
    wait_for_handlers(before + 1);
    [descriptor setSpecializedName:@"very_special"];
    function = [library newFunctionWithDescriptor:descriptor error:NULL];
    print_function(function, "very_special", "0=true 2=0.125 mode=-4");
    return function;
}

static id<MTLFunction> make_functions(id<MTLLibrary> library)
{
    id<MTLFunction> function = [library newFunctionWithName:@"plain"];
    print_function(function, "plain", "");
    [function setLabel:@"a label"];
    release_only(function);
    print_function([library newFunctionWithName:@"missing"], "missing", "");

    MTLFunctionConstantValues *values = make_constants();
    function = [library newFunctionWithName:@"special" constantValues:values error:NULL];
    print_function(function, "special", "0=true 2=0.125 mode=3");
    release_only(function);
    int before = state.handlers;
    [library newFunctionWithName:@"special"
                  constantValues:values
               completionHandler:^(id<MTLFunction> made, NSError *error) {
                   (void)error;
                   print_function(made, "special", "0=true 2=0.125 mode=3");
                   handler_ran();
               }];
    wait_for_handlers(before + 1);
    int mode = -4;
    [values setConstantValue:&mode type:MTLDataTypeInt withName:@"mode"];
    function = make_described_functions(library, values);

    [values reset];
    float range[2] = {1.5F, 2.5F};
    [values setConstantValues:range type:MTLDataTypeFloat withRange:NSMakeRange(1, 2)];
    NSError *error = nil; // the wrong type for 1, and 0 is not set
    id<MTLFunction> refused = [library newFunctionWithName:@"special" constantValues:values error:&error];
    print_function(refused, "special", "1=1.5 2=2.5");
    printf("error %s\n", refused || error ? "given" : "missing");
    [refused release];
    [values release];
    return function;
}

// ---- pipelines ----
static void make_pipelines_async(id<MTLDevice> device, id<MTLFunction> function,
                                 MTLComputePipelineDescriptor *descriptor)
{
    int before = state.handlers;
    [device newComputePipelineStateWithFunction:function
                              completionHandler:^(id<MTLComputePipelineState> made, NSError *error) {
                                  (void)error;
                                  print_pipeline(made, "plain", "", "async");
                                  handler_ran();
                              }];
    wait_for_handlers(before + 1);
    [device newComputePipelineStateWithFunction:function
                                        options:MTLPipelineOptionBindingInfo
                              completionHandler:^(id<MTLComputePipelineState> made,
                                                  MTLComputePipelineReflection *reflection, NSError *error) {
                                  print_pipeline(made, "plain", "", "async,reflection");
                                  if (!reflection || error)
                                      printf("arguments of the handler are wrong\n");
                                  handler_ran();
                              }];
    wait_for_handlers(before + 2);
    [device
        newComputePipelineStateWithDescriptor:descriptor
                                      options:MTLPipelineOptionNone
                            completionHandler:^(id<MTLComputePipelineState> made,
                                                MTLComputePipelineReflection *reflection, NSError *error) {
                                (void)reflection;
                                (void)error;
                                print_pipeline(made, "my pipeline", "", "async,descriptor,reflection");
                                use_metal_in_handler();
                                handler_ran();
                            }];
    wait_for_handlers(before + 3);
}

static void make_pipelines(id<MTLDevice> device, id<MTLLibrary> library, id<MTLFunction> special)
{
    id<MTLFunction> function = [library newFunctionWithName:@"plain"];
    print_function(function, "plain", "");
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:NULL];
    print_pipeline(pipeline, "plain", "", "");
    release_only(pipeline);
    pipeline = [device newComputePipelineStateWithFunction:special error:NULL];
    print_pipeline(pipeline, "very_special", "0=true 2=0.125 mode=-4", "");
    release_only(pipeline);
    MTLComputePipelineReflection *reflection = nil;
    pipeline = [device newComputePipelineStateWithFunction:function
                                                   options:MTLPipelineOptionBindingInfo
                                                reflection:&reflection
                                                     error:NULL];
    print_pipeline(pipeline, "plain", "", "reflection");
    release_only(pipeline);
    MTLComputePipelineDescriptor *descriptor = [[MTLComputePipelineDescriptor alloc] init];
    [descriptor setComputeFunction:function];
    pipeline = [device newComputePipelineStateWithDescriptor:descriptor options:0 reflection:NULL error:NULL];
    print_pipeline(pipeline, "plain", "", "descriptor");
    release_only(pipeline);
    [descriptor setLabel:@"my pipeline"];
    pipeline = [device newComputePipelineStateWithDescriptor:descriptor options:0 reflection:NULL error:NULL];
    print_pipeline(pipeline, "my pipeline", "", "descriptor");
    release_only(pipeline);
    make_pipelines_async(device, function, descriptor);
    [descriptor setMaxTotalThreadsPerThreadgroup:100000];
    NSError *error = nil;
    pipeline = [device newComputePipelineStateWithDescriptor:descriptor
                                                     options:0
                                                  reflection:NULL
                                                       error:&error];
    print_pipeline(pipeline, "my pipeline", "", "descriptor");
    printf("error %s\n", error ? "given" : "missing");
    [descriptor release];
    [function release];
}

// ---- memory ----
static void make_heap_buffers(id<MTLDevice> device)
{
    MTLHeapDescriptor *descriptor = [[MTLHeapDescriptor alloc] init];
    [descriptor setSize:1 << 20];
    [descriptor setStorageMode:MTLStorageModeShared];
    id<MTLHeap> heap = [device newHeapWithDescriptor:descriptor];
    printf("allocate heap %lu\n", (unsigned long)[heap currentAllocatedSize]);
    id<MTLBuffer> inside = [heap newBufferWithLength:1000 options:0];
    print_buffer("heap_buffer", inside);
    NSUInteger heap_bytes = [heap currentAllocatedSize];
    release_buffer("heap_buffer", inside);
    printf("release heap %lu\n", (unsigned long)heap_bytes);
    release_only(heap);
    [descriptor setType:MTLHeapTypePlacement];
    heap = [device newHeapWithDescriptor:descriptor];
    printf("allocate heap %lu\n", (unsigned long)heap_bytes);
    inside = [heap newBufferWithLength:1000 options:0 offset:65536];
    print_buffer("heap_buffer", inside);
    release_buffer("heap_buffer", inside);
    printf("release heap %lu\n", (unsigned long)heap_bytes);
    release_only(heap);
    [descriptor release];
}

static void make_memory(id<MTLDevice> device)
{
    id<MTLBuffer> first = [device newBufferWithLength:5000 options:MTLResourceStorageModeShared];
    print_buffer("buffer", first);
    id<MTLBuffer> second = [device newBufferWithBytes:"12345678" length:8 options:0];
    print_buffer("buffer", second);
    release_buffer("buffer", first);
    size_t length = 16384;
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    id<MTLBuffer> borrowed = [device newBufferWithBytesNoCopy:memory
                                                       length:length
                                                      options:0
                                                  deallocator:^(void *pointer, NSUInteger bytes) {
                                                      if (pointer != memory || bytes != length)
                                                          printf("arguments of the deallocator are wrong\n");
                                                      use_metal_in_handler();
                                                      munmap(pointer, bytes);
                                                  }];
    print_buffer("no_copy", borrowed);
    release_buffer("no_copy", borrowed);
    make_heap_buffers(device);
    // Released inside another call of Metal's, or by the pool: seen all the same.
    release_buffer("buffer", second);
}

int main(int argc, char **argv)
{
    (void)argc;
    setvbuf(stdout, NULL, _IOLBF, 0);
    @autoreleasepool {
        NSString *folder = [NSString stringWithUTF8String:argv[1] ? argv[1] : "."];
        state.device = MTLCreateSystemDefaultDevice();
        printf("device %s\n", [[state.device name] UTF8String]);
        make_queues(state.device);
        id<MTLLibrary> library = make_libraries(state.device, folder);
        id<MTLFunction> special = make_functions(library);
        make_pipelines(state.device, library, special);
        make_memory(state.device);
        [special release];
        [library release];
    }
    return 0;
}
