// SPDX-License-Identifier: MIT
// A small Metal program as it is written for macOS: vector add, a tiled matrix product with simdgroup
// matrices, and a softmax over rows. Checks each result against double precision. Run by `make demo` and by
// tests as a target; it must know nothing of where or under what it runs.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// clang-format off
static NSString *const shaders =
    @"#include <metal_stdlib>\n"
    @"using namespace metal;\n"
    @"\n"
    @"kernel void vector_add(device const float *a [[buffer(0)]],\n"
    @"                       device const float *b [[buffer(1)]],\n"
    @"                       device float *sum [[buffer(2)]],\n"
    @"                       uint i [[thread_position_in_grid]])\n"
    @"{\n"
    @"    sum[i] = a[i] + b[i];\n"
    @"}\n"
    @"\n"
    @"// Four simdgroups make a 32x32 tile of c; each of them has a 16x16 quarter as 2x2 matrices of 8x8.\n"
    @"constant constexpr uint TILE = 32;\n"
    @"\n"
    @"kernel void matrix_product(device const float *a [[buffer(0)]],\n"
    @"                           device const float *b [[buffer(1)]],\n"
    @"                           device float *c [[buffer(2)]],\n"
    @"                           constant uint &n [[buffer(3)]],\n"
    @"                           uint2 group [[threadgroup_position_in_grid]],\n"
    @"                           uint thread_index [[thread_index_in_threadgroup]],\n"
    @"                           uint threads [[threads_per_threadgroup]],\n"
    @"                           uint simd [[simdgroup_index_in_threadgroup]])\n"
    @"{\n"
    @"    threadgroup float tile_a[TILE * TILE];\n"
    @"    threadgroup float tile_b[TILE * TILE];\n"
    @"    const uint top = (simd / 2) * 16, left = (simd % 2) * 16;\n"
    @"    simdgroup_float8x8 sum[2][2];\n"
    @"    for (uint i = 0; i < 2; i++)\n"
    @"        for (uint j = 0; j < 2; j++)\n"
    @"            sum[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);\n"
    @"\n"
    @"    for (uint k0 = 0; k0 < n; k0 += TILE) {\n"
    @"        for (uint i = thread_index; i < TILE * TILE; i += threads) {\n"
    @"            const uint row = i / TILE, column = i % TILE;\n"
    @"            tile_a[i] = a[(group.y * TILE + row) * n + k0 + column];\n"
    @"            tile_b[i] = b[(k0 + row) * n + group.x * TILE + column];\n"
    @"        }\n"
    @"        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"        for (uint k = 0; k < TILE; k += 8) {\n"
    @"            simdgroup_float8x8 left_matrix[2], right_matrix[2];\n"
    @"            for (uint i = 0; i < 2; i++) {\n"
    @"                simdgroup_load(left_matrix[i], tile_a + (top + 8 * i) * TILE + k, TILE);\n"
    @"                simdgroup_load(right_matrix[i], tile_b + k * TILE + left + 8 * i, TILE);\n"
    @"            }\n"
    @"            for (uint i = 0; i < 2; i++)\n"
    @"                for (uint j = 0; j < 2; j++)\n"
    @"                    simdgroup_multiply_accumulate(sum[i][j], left_matrix[i], right_matrix[j], sum[i][j]);\n"
    @"        }\n"
    @"        threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"    }\n"
    @"    device float *corner = c + (group.y * TILE + top) * n + group.x * TILE + left;\n"
    @"    for (uint i = 0; i < 2; i++)\n"
    @"        for (uint j = 0; j < 2; j++)\n"
    @"            simdgroup_store(sum[i][j], corner + 8 * i * n + 8 * j, n);\n"
    @"}\n"
    @"\n"
    @"// One threadgroup per row: each simdgroup reduces its part, the first values meet in threadgroup memory.\n"
    @"kernel void softmax(device const float *in [[buffer(0)]],\n"
    @"                    device float *out [[buffer(1)]],\n"
    @"                    constant uint &columns [[buffer(2)]],\n"
    @"                    threadgroup float *partial [[threadgroup(0)]],\n"
    @"                    uint row [[threadgroup_position_in_grid]],\n"
    @"                    uint thread_index [[thread_index_in_threadgroup]],\n"
    @"                    uint threads [[threads_per_threadgroup]],\n"
    @"                    uint lane [[thread_index_in_simdgroup]],\n"
    @"                    uint simd [[simdgroup_index_in_threadgroup]],\n"
    @"                    uint simds [[simdgroups_per_threadgroup]])\n"
    @"{\n"
    @"    device const float *x = in + row * columns;\n"
    @"    device float *y = out + row * columns;\n"
    @"\n"
    @"    float largest = -INFINITY;\n"
    @"    for (uint i = thread_index; i < columns; i += threads)\n"
    @"        largest = max(largest, x[i]);\n"
    @"    largest = simd_max(largest);\n"
    @"    if (lane == 0)\n"
    @"        partial[simd] = largest;\n"
    @"    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"    largest = simd_max(lane < simds ? partial[lane] : -INFINITY);\n"
    @"    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"\n"
    @"    float sum = 0.0f;\n"
    @"    for (uint i = thread_index; i < columns; i += threads) {\n"
    @"        y[i] = exp(x[i] - largest);\n"
    @"        sum += y[i];\n"
    @"    }\n"
    @"    sum = simd_sum(sum);\n"
    @"    if (lane == 0)\n"
    @"        partial[simd] = sum;\n"
    @"    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
    @"    sum = simd_sum(lane < simds ? partial[lane] : 0.0f);\n"
    @"\n"
    @"    for (uint i = thread_index; i < columns; i += threads)\n"
    @"        y[i] /= sum;\n"
    @"}\n";
// clang-format on

static id<MTLDevice> device;
static id<MTLCommandQueue> queue;
static id<MTLLibrary> library;
static int wrong_results;

static void give_up(const char *what, NSError *error)
{
    fprintf(stderr, "demo: %s: %s\n", what, error ? [[error localizedDescription] UTF8String] : "failed");
    exit(1);
}

static id<MTLComputePipelineState> make_pipeline(NSString *name)
{
    NSError *error = nil;
    id<MTLFunction> function = [library newFunctionWithName:name];
    if (function == nil)
        give_up([name UTF8String], nil);
    id<MTLComputePipelineState> pipeline = [device newComputePipelineStateWithFunction:function error:&error];
    if (pipeline == nil)
        give_up([name UTF8String], error);
    [function release];
    return pipeline;
}

static float random_float(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1u << 23) - 1.0f;
}

static id<MTLBuffer> make_buffer(NSUInteger count, float scale)
{
    id<MTLBuffer> buffer = [device newBufferWithLength:count * sizeof(float)
                                               options:MTLResourceStorageModeShared];
    if (buffer == nil)
        give_up("buffer", nil);
    float *values = [buffer contents];
    for (NSUInteger i = 0; i < count; i++)
        values[i] = scale * random_float();
    return buffer;
}

// Encodes one kernel, runs it to its end and gives its GPU time in seconds.
static double run(id<MTLComputePipelineState> pipeline, void (^encode)(id<MTLComputeCommandEncoder> encoder))
{
    id<MTLCommandBuffer> commands = [queue commandBuffer];
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipeline];
    encode(encoder);
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands status] != MTLCommandBufferStatusCompleted)
        give_up("command buffer", [commands error]);
    return [commands GPUEndTime] - [commands GPUStartTime];
}

static void report(const char *kernel, const char *size, double seconds, double error, double allowed)
{
    // Not "error > allowed": a NaN is wrong too.
    BOOL right = error <= allowed && seconds > 0;
    printf("%-16s %-14s %9.3f ms   %.1e%s\n", kernel, size, seconds * 1e3, error, right ? "" : "   WRONG");
    if (!right)
        wrong_results++;
}

static double larger(double a, double b)
{
    return b > a || isnan(b) ? b : a;
}

static void vector_add(void)
{
    const NSUInteger count = 1000003; // the last threadgroup is not full
    id<MTLComputePipelineState> pipeline = make_pipeline(@"vector_add");
    id<MTLBuffer> a = make_buffer(count, 10), b = make_buffer(count, 10), sum = make_buffer(count, 0);
    double seconds = run(pipeline, ^(id<MTLComputeCommandEncoder> encoder) {
        [encoder setBuffer:a offset:0 atIndex:0];
        [encoder setBuffer:b offset:0 atIndex:1];
        [encoder setBuffer:sum offset:0 atIndex:2];
        [encoder dispatchThreads:MTLSizeMake(count, 1, 1) threadsPerThreadgroup:MTLSizeMake(256, 1, 1)];
    });

    const float *pa = [a contents], *pb = [b contents], *ps = [sum contents];
    double error = 0;
    for (NSUInteger i = 0; i < count; i++)
        error = larger(error, fabs(ps[i] - ((double)pa[i] + (double)pb[i])));
    report("vector_add", "1000003", seconds, error, 2e-6);
    [a release];
    [b release];
    [sum release];
    [pipeline release];
}

static double product_error(const float *a, const float *b, const float *c, NSUInteger n)
{
    double error = 0;
    for (NSUInteger i = 0; i < n; i++) {
        for (NSUInteger j = 0; j < n; j++) {
            double sum = 0;
            for (NSUInteger k = 0; k < n; k++)
                sum += (double)a[i * n + k] * (double)b[k * n + j];
            error = larger(error, fabs(c[i * n + j] - sum));
        }
    }
    return error;
}

static void matrix_product(void)
{
    const uint32_t n = 128, tile = 32;
    id<MTLComputePipelineState> pipeline = make_pipeline(@"matrix_product");
    id<MTLBuffer> a = make_buffer(n * n, 1), b = make_buffer(n * n, 1), c = make_buffer(n * n, 0);
    double seconds = run(pipeline, ^(id<MTLComputeCommandEncoder> encoder) {
        [encoder setBuffer:a offset:0 atIndex:0];
        [encoder setBuffer:b offset:0 atIndex:1];
        [encoder setBuffer:c offset:0 atIndex:2];
        [encoder setBytes:&n length:sizeof(n) atIndex:3];
        [encoder dispatchThreadgroups:MTLSizeMake(n / tile, n / tile, 1)
                threadsPerThreadgroup:MTLSizeMake(4 * [pipeline threadExecutionWidth], 1, 1)];
    });
    report("matrix_product", "128x128x128", seconds,
           product_error([a contents], [b contents], [c contents], n), 1e-4);
    [a release];
    [b release];
    [c release];
    [pipeline release];
}

static double softmax_error(const float *in, const float *out, NSUInteger rows, NSUInteger columns)
{
    double error = 0;
    for (NSUInteger row = 0; row < rows; row++, in += columns, out += columns) {
        double largest = -INFINITY, sum = 0;
        for (NSUInteger i = 0; i < columns; i++)
            largest = fmax(largest, in[i]);
        for (NSUInteger i = 0; i < columns; i++)
            sum += exp(in[i] - largest);
        for (NSUInteger i = 0; i < columns; i++)
            error = larger(error, fabs(out[i] - exp(in[i] - largest) / sum));
    }
    return error;
}

static void softmax(void)
{
    const uint32_t rows = 64, columns = 1000;
    id<MTLComputePipelineState> pipeline = make_pipeline(@"softmax");
    id<MTLBuffer> in = make_buffer(rows * columns, 8), out = make_buffer(rows * columns, 0);
    double seconds = run(pipeline, ^(id<MTLComputeCommandEncoder> encoder) {
        [encoder setBuffer:in offset:0 atIndex:0];
        [encoder setBuffer:out offset:0 atIndex:1];
        [encoder setBytes:&columns length:sizeof(columns) atIndex:2];
        [encoder setThreadgroupMemoryLength:32 * sizeof(float) atIndex:0];
        [encoder dispatchThreadgroups:MTLSizeMake(rows, 1, 1) threadsPerThreadgroup:MTLSizeMake(256, 1, 1)];
    });
    report("softmax", "64 x 1000", seconds, softmax_error([in contents], [out contents], rows, columns),
           1e-6);
    [in release];
    [out release];
    [pipeline release];
}

int main(void)
{
    @autoreleasepool {
        NSError *error = nil;
        device = MTLCreateSystemDefaultDevice();
        if (device == nil)
            give_up("no Metal device", nil);
        queue = [device newCommandQueue];
        library = [device newLibraryWithSource:shaders options:nil error:&error];
        if (library == nil)
            give_up("library", error);

        printf("device: %s\n\n", [[device name] UTF8String]);
        printf("%-16s %-14s %12s   %s\n", "kernel", "size", "GPU time", "max error");
        vector_add();
        matrix_product();
        softmax();
        printf("\n%s\n", wrong_results ? "some results are WRONG" : "all results right");

        [library release];
        [queue release];
        [device release];
    }
    return wrong_results ? 1 : 0;
}
