// SPDX-License-Identifier: MIT
// The execution log (SOFTMETAL_LOG): one line of JSON per dispatch that ran and per command buffer, in the
// order of execution, with numbers, names, sizes, states and times that fit the command buffers' own.
#include "unit/submit_support.h"

#include <errno.h>

enum { DISPATCHES = 5, BUFFERS = 4 };
static const char path[] = "submit_log.json";
static id<MTLBuffer> memory;

static NSArray *read_log(void)
{
    NSMutableArray *lines = [NSMutableArray array];
    NSData *data = [NSData dataWithContentsOfFile:[NSString stringWithUTF8String:path]];
    NSString *text = [[[NSString alloc] initWithData:data encoding:NSUTF8StringEncoding] autorelease];
    for (NSString *line in [text componentsSeparatedByString:@"\n"]) {
        if (![line length])
            continue;
        NSData *bytes = [line dataUsingEncoding:NSUTF8StringEncoding];
        id entry = [NSJSONSerialization JSONObjectWithData:bytes options:0 error:NULL];
        if (!CHECK([entry isKindOfClass:[NSDictionary class]]))
            printf("    no JSON: %s\n", [line UTF8String]);
        else
            [lines addObject:entry];
    }
    return lines;
}

static NSArray *events(NSArray *log, NSString *kind)
{
    NSMutableArray *found = [NSMutableArray array];
    for (NSDictionary *entry in log)
        if ([[entry objectForKey:@"event"] isEqual:kind])
            [found addObject:entry];
    return found;
}

static long long number(NSDictionary *entry, NSString *key)
{
    id value = [entry objectForKey:key];
    CHECK([value isKindOfClass:[NSNumber class]]);
    return [value longLongValue];
}

static id<MTLComputeCommandEncoder> begin(id<MTLCommandBuffer> commands, const char *kernel)
{
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:submit_pipeline(kernel)];
    [encoder setBuffer:memory offset:0 atIndex:0];
    return encoder;
}

// Two encoders with two dispatches and one, a blit between them; the last dispatch takes its size from a
// buffer.
static void encode(id<MTLCommandBuffer> commands)
{
    const uint32_t groups[3] = {2, 1, 1};
    id<MTLBuffer> sizes = [[msl.device newBufferWithBytes:groups length:sizeof groups options:0] autorelease];
    id<MTLComputeCommandEncoder> encoder = begin(commands, "increase");
    [encoder dispatchThreads:MTLSizeMake(5, 3, 2) threadsPerThreadgroup:MTLSizeMake(4, 2, 1)];
    [encoder dispatchThreadgroups:MTLSizeMake(3, 1, 1) threadsPerThreadgroup:MTLSizeMake(8, 1, 1)];
    [encoder endEncoding];
    id<MTLBlitCommandEncoder> blit = [commands blitCommandEncoder];
    [blit fillBuffer:memory range:NSMakeRange(0, 4) value:1];
    [blit endEncoding];
    encoder = begin(commands, "increase");
    [encoder dispatchThreadgroupsWithIndirectBuffer:sizes
                               indirectBufferOffset:0
                              threadsPerThreadgroup:MTLSizeMake(16, 1, 1)];
    [encoder endEncoding];
}

static void check_dispatches(NSArray *log)
{
    static const struct {
        const char *kernel, *grid, *group;
        int queue, buffer, encoder, dispatch;
    } expected[DISPATCHES] = {{"increase", "5,3,2", "4,2,1", 0, 0, 0, 0},
                              {"increase", "24,1,1", "8,1,1", 0, 0, 0, 1},
                              {"increase", "32,1,1", "16,1,1", 0, 0, 2, 0},
                              {"mix_in", "1,1,1", "32,1,1", 1, 1, 0, 0},
                              {"mix_in", "1,1,1", "32,1,1", 0, 3, 0, 0}};
    NSArray *found = events(log, @"dispatch");
    if (!CHECK_EQ([found count], DISPATCHES))
        return;
    for (NSUInteger i = 0; i < DISPATCHES; i++) {
        NSDictionary *entry = [found objectAtIndex:i];
        CHECK_STR([[entry objectForKey:@"kernel"] UTF8String], expected[i].kernel);
        CHECK_STR([[[entry objectForKey:@"grid"] componentsJoinedByString:@","] UTF8String],
                  expected[i].grid);
        CHECK_STR([[[entry objectForKey:@"threadgroup"] componentsJoinedByString:@","] UTF8String],
                  expected[i].group);
        CHECK_EQ(number(entry, @"queue"), expected[i].queue);
        CHECK_EQ(number(entry, @"command_buffer"), expected[i].buffer);
        CHECK_EQ(number(entry, @"encoder"), expected[i].encoder);
        CHECK_EQ(number(entry, @"dispatch"), expected[i].dispatch);
        CHECK_INT(number(entry, @"end_ns"), >=, number(entry, @"start_ns"));
    }
}

static void check_buffers(NSArray *log, id<MTLCommandBuffer> *buffers)
{
    static const char *const labels[BUFFERS] = {"say \"hi\"\n\\ \xc3\xa4", "", "fails", "last"};
    static const int queues[BUFFERS] = {0, 1, 0, 0};
    NSArray *found = events(log, @"command_buffer");
    if (!CHECK_EQ([found count], BUFFERS))
        return;
    for (NSUInteger i = 0; i < BUFFERS; i++) {
        NSDictionary *entry = [found objectAtIndex:i];
        CHECK_EQ(number(entry, @"command_buffer"), i);
        CHECK_EQ(number(entry, @"queue"), queues[i]);
        CHECK_EQ(number(entry, @"status"), [buffers[i] status]);
        CHECK_STR([[entry objectForKey:@"label"] UTF8String], labels[i]);
        CHECK_NEAR((double)number(entry, @"start_ns") * 1e-9, [buffers[i] GPUStartTime], 1e-6);
        CHECK_NEAR((double)number(entry, @"end_ns") * 1e-9, [buffers[i] GPUEndTime], 1e-6);
    }
    CHECK_EQ([buffers[2] status], MTLCommandBufferStatusError);
}

// A dispatch lies in the time of its command buffer, whose line comes behind it.
static void check_nesting(NSArray *log)
{
    NSMutableArray *open = [NSMutableArray array];
    for (NSDictionary *entry in log) {
        if ([[entry objectForKey:@"event"] isEqual:@"dispatch"]) {
            [open addObject:entry];
            continue;
        }
        for (NSDictionary *dispatch in open) {
            CHECK_EQ(number(dispatch, @"command_buffer"), number(entry, @"command_buffer"));
            CHECK_INT(number(dispatch, @"start_ns"), >=, number(entry, @"start_ns"));
            CHECK_INT(number(dispatch, @"end_ns"), <=, number(entry, @"end_ns"));
        }
        [open removeAllObjects];
    }
    CHECK_EQ([open count], 0);
}

int main(void)
{
    CHECK(remove(path) == 0 || errno == ENOENT);
    setenv("SOFTMETAL_LOG", path, 1);
    setenv("SOFTMETAL_FAULT", "fail-cb:2", 1);
    submit_start();
    memory = [msl.device newBufferWithLength:1024 options:0];
    id<MTLCommandQueue> other = [msl.device newCommandQueue];
    id<MTLCommandBuffer> buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        buffers[i] = [i == 1 ? other : msl.queue commandBuffer];
        if (i == 0)
            encode(buffers[i]);
        else
            submit_mix(buffers[i], memory, 1); // of the one that fails nothing runs
    }
    [buffers[0] setLabel:[NSString stringWithUTF8String:"say \"hi\"\n\\ \xc3\xa4"]];
    [buffers[2] setLabel:@"fails"];
    [buffers[3] setLabel:@"last"];
    for (int i = 0; i < BUFFERS; i++) {
        [buffers[i] commit];
        [buffers[i] waitUntilCompleted];
    }
    NSArray *log = read_log();
    CHECK_EQ([log count], DISPATCHES + BUFFERS);
    check_dispatches(log);
    check_buffers(log, buffers);
    check_nesting(log);
    [other release];
    [memory release];
    return msl_end();
}
