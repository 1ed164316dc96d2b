// SPDX-License-Identifier: MIT
// Unit test of src/objc against a class of its own, which answers some of Metal's selectors and remembers
// what arrived: sends of every shape, nil receivers, strings and their truncation, errors, URLs, ownership,
// and blocks that are called, kept and dropped exactly once.
#import <Metal/Metal.h>

#include "objc/sends.h"
#include "unit/test.h"

static struct {
    unsigned long sum;
    int deallocs;
} probe;

@interface MTObjcProbe : NSObject
@end

@implementation MTObjcProbe
- (void)dealloc
{
    probe.deallocs++;
    [super dealloc];
}
- (MTLSize)maxThreadsPerThreadgroup
{
    return MTLSizeMake(1, 22, 333);
}
- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options
{
    return (MTLSizeAndAlign){length + 1, options + 2};
}
- (double)GPUStartTime
{
    return 0.5;
}
- (BOOL)supportsFamily:(MTLGPUFamily)family
{
    return family == MTLGPUFamilyMetal3;
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads
{
    probe.sum = groups.width + 10 * groups.height + 100 * groups.depth + 1000 * threads.width +
                10000 * threads.height + 100000 * threads.depth;
}
- (void)fillBuffer:(id)buffer range:(NSRange)range value:(uint8_t)value
{
    probe.sum = range.location + 10 * range.length + 1000UL * value + (buffer == self ? 1000000 : 0);
}
- (void)sampleCountersInBuffer:(id)buffer atSampleIndex:(NSUInteger)index withBarrier:(BOOL)barrier
{
    probe.sum = index + (barrier ? 100 : 0) + (buffer == self ? 1000 : 0);
}
- (id)newLibraryWithFile:(NSString *)path error:(NSError **)error
{
    NSDictionary *info = [NSDictionary dictionaryWithObject:path forKey:NSLocalizedDescriptionKey];
    *error = [NSError errorWithDomain:@"Probe" code:-7 userInfo:info];
    return nil;
}
- (void)addCompletedHandler:(MTLCommandBufferHandler)handler
{
    MTLCommandBufferHandler kept = Block_copy(handler);
    kept((id)self);
    kept((id)self);
    Block_release(kept);
}
- (void)notifyListener:(id)listener atValue:(uint64_t)value block:(MTLSharedEventNotificationBlock)block
{
    block(listener, value);
}
- (id)newBufferWithBytesNoCopy:(void *)pointer
                        length:(NSUInteger)length
                       options:(MTLResourceOptions)options
                   deallocator:(void (^)(void *, NSUInteger))deallocator
{
    (void)options;
    deallocator(pointer, length);
    return nil;
}
- (void)newLibraryWithSource:(id)source
                     options:(id)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler
{
    (void)options;
    handler(source, nil);
}
@end

static void sends_carry_every_shape(id object)
{
    mtl_size size = mtl_device_maxThreadsPerThreadgroup(object);
    CHECK(size.width == 1 && size.height == 22 && size.depth == 333);
    mtl_size_and_align pair = mtl_device_heapBufferSizeAndAlign(object, 41, 40);
    CHECK(pair.size == 42 && pair.align == 42);
    CHECK(mtl_commandBuffer_GPUStartTime(object) == 0.5);
    CHECK(mtl_device_supportsFamily(object, MTL_FAMILY_METAL3));
    CHECK(!mtl_device_supportsFamily(object, MTL_FAMILY_APPLE7));
    mtl_compute_dispatchThreadgroups(object, mtl_size_make(1, 2, 3), mtl_size_make(4, 5, 6));
    CHECK(probe.sum == 654321);
    mtl_blit_fillBuffer(object, object, (ns_range){7, 3}, 255);
    CHECK(probe.sum == 1255037);
    mtl_encoder_sampleCounters(object, object, 9, true);
    CHECK(probe.sum == 1109);
}

static void nil_gives_zero(void)
{
    mtl_size size = mtl_device_maxThreadsPerThreadgroup(NULL);
    CHECK(size.width == 0 && size.height == 0 && size.depth == 0);
    CHECK(mtl_commandBuffer_GPUStartTime(NULL) == 0.0);
    CHECK(mtl_device_newCommandQueue(NULL) == NULL);
    CHECK(!mtl_device_hasUnifiedMemory(NULL));
    mtl_commandBuffer_commit(NULL);
    mt_objc_release(NULL);
    CHECK(mt_objc_retain(NULL) == NULL);
    CHECK(mt_objc_new("NoSuchClassAnywhere") == NULL);
}

static void strings_keep_their_bytes(void)
{
    id string = mt_objc_string("gr\xc3\xbc\xc3\x9f");
    CHECK_STR(mt_objc_utf8(string), "gr\xc3\xbc\xc3\x9f");
    char buffer[8];
    CHECK(mt_objc_copy_utf8(string, buffer, sizeof buffer) == 6);
    CHECK(mt_objc_copy_utf8(string, buffer, 4) == 6 && strcmp(buffer, "gr") == 0);
    CHECK(mt_objc_copy_utf8(string, buffer, 5) == 6 && strcmp(buffer, "gr\xc3\xbc") == 0);
    CHECK(mt_objc_copy_utf8(string, buffer, 1) == 6 && buffer[0] == '\0');
    CHECK(mt_objc_copy_utf8(NULL, buffer, sizeof buffer) == 0 && buffer[0] == '\0');
    mt_objc_release(string);
    CHECK(mt_objc_string(NULL) == NULL);
    CHECK(mt_objc_string("\xff\xfe broken") == NULL);
    id part = mt_objc_string_bytes("kernel", 3);
    CHECK_STR(mt_objc_utf8(part), "ker");
    mt_objc_release(part);
}

static void errors_have_text(id object)
{
    char text[128];
    id path = mt_objc_string("no such file"), error = NULL;
    CHECK(mtl_device_newLibraryWithFile(object, path, &error) == NULL);
    CHECK(mt_objc_error_text(error, text, sizeof text) == strlen(text));
    CHECK_STR(text, "no such file (Probe, code -7)");
    size_t length = mt_objc_error_text(error, text, 16);
    CHECK(length == 29 && strcmp(text, "no such file (P") == 0);
    CHECK(mt_objc_error_text(error, text, 5) == 29 && strcmp(text, "no s") == 0);
    mt_objc_error_text(NULL, text, sizeof text);
    CHECK_STR(text, "unknown error");
    mt_objc_release(path);
}

static void collections_and_urls(id object)
{
    id array = mt_objc_new("NSMutableArray");
    mtl_array_addObject(array, object);
    CHECK(mtl_array_count(array) == 1 && mtl_array_objectAtIndex(array, 0) == object);
    mt_objc_release(array);
    id url = mt_objc_file_url("/tmp/a b");
    CHECK(url && strcmp(mt_objc_utf8(mtl_url_path(url)), "/tmp/a b") == 0);
    mt_objc_release(url);
    CHECK(mt_objc_responds(object, "GPUStartTime") && !mt_objc_responds(object, "GPUEndTime"));
    CHECK_STR(mt_objc_class_name(object), "MTObjcProbe");
}

typedef struct seen {
    id object;
    uint64_t value;
    int calls, drops;
} seen;

static void on_object(void *context, id object)
{
    seen *s = context;
    s->object = object;
    s->calls++;
}

static void on_value(void *context, id object, uint64_t value)
{
    seen *s = context;
    s->object = object;
    s->value = value;
}

static void on_memory(void *context, void *pointer, NSUInteger length)
{
    seen *s = context;
    s->object = pointer;
    s->value = length;
}

static void on_result(void *context, id object, id error)
{
    seen *s = context;
    s->object = object;
    s->calls += error ? 100 : 1;
}

static void drop(void *context)
{
    ((seen *)context)->drops++;
}

static void blocks_are_called_and_dropped(id object)
{
    seen completed = {0}, unused = {0}, event = {0}, memory = {0}, result = {0};
    void *block = mt_objc_block_object(on_object, &completed, drop);
    mtl_commandBuffer_addCompletedHandler(object, block);
    CHECK(completed.calls == 2 && completed.object == object && completed.drops == 0);
    mt_objc_block_release(block);
    CHECK(completed.drops == 1);

    mt_objc_block_release(mt_objc_block_object(on_object, &unused, drop));
    CHECK(unused.calls == 0 && unused.drops == 1);

    block = mt_objc_block_value(on_value, &event, NULL);
    mtl_sharedEvent_notifyListener(object, object, 1ULL << 40, block);
    CHECK(event.object == object && event.value == 1ULL << 40);
    mt_objc_block_release(block);

    block = mt_objc_block_memory(on_memory, &memory, drop);
    mtl_device_newBufferWithBytesNoCopy(object, &memory, 77, 0, block);
    CHECK((void *)memory.object == &memory && memory.value == 77);
    mt_objc_block_release(block);
    CHECK(memory.drops == 1);

    block = mt_objc_block_result(on_result, &result, drop);
    mtl_device_newLibraryWithSourceAsync(object, object, NULL, block);
    CHECK(result.object == object && result.calls == 1);
    mt_objc_block_release(block);
    mt_objc_block_release(NULL);
}

static void objects_die_when_released(void)
{
    int before = probe.deallocs;
    id object = mt_objc_new("MTObjcProbe");
    void *pool = mt_objc_pool_push();
    mt_objc_autorelease(mt_objc_retain(object));
    mt_objc_release(object);
    CHECK(probe.deallocs == before);
    mt_objc_pool_pop(pool);
    CHECK(probe.deallocs == before + 1);
}

int main(void)
{
    CHECK(mt_objc_available());
    void *pool = mt_objc_pool_push();
    id object = mt_objc_new("MTObjcProbe");
    CHECK(object != NULL);
    sends_carry_every_shape(object);
    nil_gives_zero();
    strings_keep_their_bytes();
    errors_have_text(object);
    collections_and_urls(object);
    blocks_are_called_and_dropped(object);
    mt_objc_release(object);
    objects_die_when_released();
    mt_objc_pool_pop(pool);
    return test_end();
}
