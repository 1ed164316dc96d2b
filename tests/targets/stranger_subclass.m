// SPDX-License-Identifier: MIT
// Puts classes of its own below the driver's, as key-value observing and some debuggers do: command buffers
// and encoders are by turns the driver's own, of a subclass, and of a subclass of that. Their methods call
// super, and one calls another method of the same object. Prints each command buffer as a line of JSON, and
// how often its own methods ran. Argument: the name of the driver's class for command queues.
#include "targets/stranger_work.h"

#include <objc/runtime.h>

enum { LEVELS = 2, ROUNDS = 9 };

static NSString *const source =
    @"kernel void one(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += 1; }\n";

typedef void (*method)(void); // to be cast to what it is

struct line { // a driver's class and ours below it
    Class classes[LEVELS + 1];
};

static struct {
    struct line buffers, encoders;
    IMP make_buffer; // the driver's
    int made, level; // of the buffer that is being made
    int commits, waits, labels, dispatches, ends;
} app;

// ---- methods of our classes: super is that of the class the method was added to ----
static method super_of(const struct line *line, int level, SEL op)
{
    return (method)class_getMethodImplementation(line->classes[level - 1], op);
}

// Levels have methods of their own, so that each knows where it stands.
#define AT_LEVEL(name, level, result, parameters, arguments)                                                 \
    static result name##_##level parameters                                                                  \
    {                                                                                                        \
        return name arguments;                                                                               \
    }

static void commit_at(id self, SEL op, int level)
{
    app.commits++;
    ((void (*)(id, SEL))super_of(&app.buffers, level, op))(self, op);
}
AT_LEVEL(commit_at, 1, void, (id self, SEL op), (self, op, 1))
AT_LEVEL(commit_at, 2, void, (id self, SEL op), (self, op, 2))

static void wait_at(id self, SEL op, int level)
{
    app.waits++;
    ((void (*)(id, SEL))super_of(&app.buffers, level, op))(self, op);
}
AT_LEVEL(wait_at, 1, void, (id self, SEL op), (self, op, 1))
AT_LEVEL(wait_at, 2, void, (id self, SEL op), (self, op, 2))

static void label_at(id self, SEL op, id label, int level)
{
    app.labels++;
    ((void (*)(id, SEL, id))super_of(&app.buffers, level, op))(self, op, label);
}
AT_LEVEL(label_at, 1, void, (id self, SEL op, id label), (self, op, label, 1))
AT_LEVEL(label_at, 2, void, (id self, SEL op, id label), (self, op, label, 2))

static void end_at(id self, SEL op, int level)
{
    app.ends++;
    ((void (*)(id, SEL))super_of(&app.encoders, level, op))(self, op);
}
AT_LEVEL(end_at, 1, void, (id self, SEL op), (self, op, 1))
AT_LEVEL(end_at, 2, void, (id self, SEL op), (self, op, 2))

static void groups_at(id self, SEL op, MTLSize groups, MTLSize threads, int level)
{
    app.dispatches++;
    ((void (*)(id, SEL, MTLSize, MTLSize))super_of(&app.encoders, level, op))(self, op, groups, threads);
}
AT_LEVEL(groups_at, 1, void, (id self, SEL op, MTLSize groups, MTLSize threads),
         (self, op, groups, threads, 1))
AT_LEVEL(groups_at, 2, void, (id self, SEL op, MTLSize groups, MTLSize threads),
         (self, op, groups, threads, 2))

// A grid of threads made of threadgroups, by a message to itself.
static void threads_as_groups(id self, SEL op, MTLSize grid, MTLSize threads)
{
    (void)op;
    MTLSize groups = {(grid.width + threads.width - 1) / threads.width, grid.height, grid.depth};
    [(id<MTLComputeCommandEncoder>)self dispatchThreadgroups:groups threadsPerThreadgroup:threads];
}

// ---- classes ----
static void add(Class cls, SEL selector, method imp, Class from)
{
    class_addMethod(cls, selector, (IMP)imp, method_getTypeEncoding(class_getInstanceMethod(from, selector)));
}

static Class subclass(Class parent, const char *name)
{
    Class made = objc_allocateClassPair(parent, name, 0);
    objc_registerClassPair(made);
    return made;
}

static id compute_encoder(id self, SEL op);

static void make_buffer_classes(Class driver)
{
    struct line *line = &app.buffers;
    line->classes[0] = driver;
    line->classes[1] = subclass(driver, "ObservedCommandBuffer");
    line->classes[2] = subclass(line->classes[1], "ObservedTwiceCommandBuffer");
    add(line->classes[1], @selector(commit), (method)commit_at_1, driver);
    add(line->classes[2], @selector(commit), (method)commit_at_2, driver);
    add(line->classes[1], @selector(waitUntilCompleted), (method)wait_at_1, driver);
    add(line->classes[2], @selector(waitUntilCompleted), (method)wait_at_2, driver);
    add(line->classes[1], @selector(setLabel:), (method)label_at_1, driver);
    add(line->classes[2], @selector(setLabel:), (method)label_at_2, driver);
    add(line->classes[1], @selector(computeCommandEncoder), (method)compute_encoder, driver);
}

static void make_encoder_classes(Class driver)
{
    struct line *line = &app.encoders;
    line->classes[0] = driver;
    line->classes[1] = subclass(driver, "ObservedEncoder");
    line->classes[2] = subclass(line->classes[1], "ObservedTwiceEncoder");
    SEL groups = @selector(dispatchThreadgroups:threadsPerThreadgroup:);
    SEL threads = @selector(dispatchThreads:threadsPerThreadgroup:);
    add(line->classes[1], @selector(endEncoding), (method)end_at_1, driver);
    add(line->classes[2], @selector(endEncoding), (method)end_at_2, driver);
    add(line->classes[1], groups, (method)groups_at_1, driver);
    add(line->classes[2], groups, (method)groups_at_2, driver);
    add(line->classes[1], threads, (method)threads_as_groups, driver);
}

// The encoder of an observed buffer is observed as often.
static id compute_encoder(id self, SEL op)
{
    id encoder = ((id(*)(id, SEL))super_of(&app.buffers, 1, op))(self, op);
    if (!app.encoders.classes[0])
        make_encoder_classes(object_getClass(encoder));
    int level = object_getClass(self) == app.buffers.classes[2] ? 2 : 1;
    object_setClass(encoder, app.encoders.classes[level]);
    return encoder;
}

// In place of the queue's own method.
static id command_buffer(id self, SEL op)
{
    id buffer = ((id(*)(id, SEL))(method)app.make_buffer)(self, op);
    if (!app.buffers.classes[0])
        make_buffer_classes(object_getClass(buffer));
    app.level = app.made++ % (LEVELS + 1);
    object_setClass(buffer, app.buffers.classes[app.level]);
    return buffer;
}

static void replace_queue_method(const char *name)
{
    Class queue = objc_getClass(name);
    SEL selector = @selector(commandBuffer);
    if (!queue)
        exit(3);
    app.make_buffer = class_getMethodImplementation(queue, selector);
    // libobjc's class_replaceMethod replaces the ancestor's where a class has none itself.
    Method method_found = class_getInstanceMethod(queue, selector);
    if (!class_addMethod(queue, selector, (IMP)(method)command_buffer, method_getTypeEncoding(method_found)))
        method_setImplementation(method_found, (IMP)(method)command_buffer);
}

// ---- work ----
static void run(id<MTLCommandQueue> queue, const struct kernel *kernel, id<MTLBuffer> data, unsigned number)
{
    struct work work = work_on([queue commandBuffer], 0, number);
    work_label(&work, [NSString stringWithFormat:@"buffer %u at level %d", number, app.level]);
    if (number % 2)
        work_enqueue(&work);
    work_compute(&work);
    work_pipeline(&work, kernel);
    [work.compute setBuffer:data offset:0 atIndex:0];
    work_threadgroups(&work, MTLSizeMake(1 + number, 1, 1), MTLSizeMake(8, 1, 1));
    work_push(&work, @"group");
    work_threads(&work, MTLSizeMake(10 + number, 1, 1), MTLSizeMake(8, 1, 1));
    work_pop(&work);
    work_threadgroups(&work, MTLSizeMake(2 + number, 1, 1), MTLSizeMake(8, 1, 1));
    work_end_encoder(&work);
    work_blit(&work, false);
    [work.blit fillBuffer:data range:NSMakeRange(0, 16) value:0];
    work.blits = 1;
    work.blit_bytes = 16;
    work_end_encoder(&work);
    work_commit(&work);
    work_wait(&work);
    work_print(&work);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    @autoreleasepool {
        NSError *error = nil;
        replace_queue_method(argv[1]);
        id<MTLDevice> device = MTLCreateSystemDefaultDevice();
        id<MTLCommandQueue> queue = [device newCommandQueue];
        id<MTLBuffer> data = [device newBufferWithLength:4096 options:0];
        id<MTLLibrary> library = [device newLibraryWithSource:source options:nil error:&error];
        id<MTLFunction> function = [library newFunctionWithName:@"one"];
        struct kernel kernel = {[device newComputePipelineStateWithFunction:function error:&error], "one"};
        for (unsigned i = 0; i < ROUNDS; i++)
            run(queue, &kernel, data, i);
        printf("commits %d, waits %d, labels %d, dispatches %d, ends %d\n", app.commits, app.waits,
               app.labels, app.dispatches, app.ends);
        const id owned[] = {kernel.state, function, library, data, queue, device};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
            [owned[i] release];
    }
    return 0;
}
