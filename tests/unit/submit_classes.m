// SPDX-License-Identifier: MIT
// The classes behind the protocols, which a tap has to cope with: which one the program gets at each wrapper
// depth, methods that are inherited, an override that calls super, siblings with one parent, and what is said
// about a selector that nobody has.
#include "unit/submit_support.h"

#include <objc/runtime.h>

static int depth;
static bool is_apple;

// Has the class this method itself, not from a parent?
static bool defines(Class class, SEL selector)
{
    unsigned count = 0;
    bool found = false;
    Method *methods = class_copyMethodList(class, &count);
    for (unsigned i = 0; i < count; i++)
        found |= sel_isEqual(method_getName(methods[i]), selector) != NO;
    free(methods);
    return found;
}

static void check_chain(Class class, const char *chain)
{
    char text[500] = "";
    for (; class && class != [NSObject class]; class = class_getSuperclass(class))
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", text[0] ? " " : "",
                 class_getName(class));
    CHECK_STR(text, chain);
}

static void wrapped_classes(id<MTLCommandBuffer> commands)
{
    check_chain(object_getClass(msl.queue), "SMDebugCommandQueue _SMLayerCommandQueue _SMLayer");
    check_chain(object_getClass(commands), "SMDebugCommandBuffer _SMLayerCommandBuffer _SMLayer");
    id encoder = [commands computeCommandEncoder];
    check_chain(object_getClass(encoder),
                "SMDebugComputeCommandEncoder _SMLayerComputeCommandEncoder _SMLayer");
    [encoder endEncoding];
    encoder = [commands blitCommandEncoder];
    check_chain(object_getClass(encoder), "SMDebugBlitCommandEncoder _SMLayerBlitCommandEncoder _SMLayer");
    [encoder endEncoding];
    Class outer = object_getClass(commands);
    CHECK(defines(outer, @selector(commit)) && defines(class_getSuperclass(outer), @selector(commit)));
    CHECK(!defines(outer, @selector(addCompletedHandler:)));
}

static void driver_classes(id<MTLCommandBuffer> commands)
{
    check_chain(object_getClass(msl.queue),
                is_apple ? "SoftG1FamilyCommandQueue SMGPUCommandQueue _SMCommandQueue _SMDeviceObject "
                           "_SMObjectWithLabel"
                         : "SoftR1CommandQueue SMGPUCommandQueue _SMCommandQueue _SMDeviceObject "
                           "_SMObjectWithLabel");
    check_chain(object_getClass(commands),
                is_apple ? "SoftG1FamilyCommandBuffer SMGPUCommandBuffer _SMCommandBuffer _SMObjectWithLabel"
                         : "SoftR1CommandBuffer SMGPUCommandBuffer _SMCommandBuffer _SMObjectWithLabel");
    id compute = [commands computeCommandEncoder];
    [compute endEncoding];
    id blit = [commands blitCommandEncoder];
    [blit endEncoding];
    check_chain(object_getClass(compute),
                is_apple
                    ? "SoftG1FamilyComputeContext SMGPUComputeEncoder _SMCommandEncoder _SMObjectWithLabel"
                    : "SoftR1ComputeContext SMGPUComputeEncoder _SMCommandEncoder _SMObjectWithLabel");
    check_chain(object_getClass(blit),
                is_apple ? "SoftG1FamilyBlitContext SMGPUBlitEncoder _SMCommandEncoder _SMObjectWithLabel"
                         : "SoftR1BlitContext SMGPUBlitEncoder _SMCommandEncoder _SMObjectWithLabel");
}

// Overrides that call super on the apple family only; everything else is a parent's.
static void overrides(void)
{
    Class buffer = NSClassFromString(is_apple ? @"SoftG1FamilyCommandBuffer" : @"SoftR1CommandBuffer");
    Class compute = NSClassFromString(is_apple ? @"SoftG1FamilyComputeContext" : @"SoftR1ComputeContext");
    Class blit = NSClassFromString(is_apple ? @"SoftG1FamilyBlitContext" : @"SoftR1BlitContext");
    Class middle = class_getSuperclass(buffer), base = class_getSuperclass(middle);
    CHECK_EQ(defines(buffer, @selector(commit)), is_apple);
    CHECK(defines(middle, @selector(commit)) && defines(base, @selector(commit)));
    CHECK(!defines(buffer, @selector(status)) && !defines(middle, @selector(status)));
    CHECK(defines(base, @selector(status)) && [buffer instancesRespondToSelector:@selector(status)]);
    CHECK_EQ(defines(compute, @selector(endEncoding)), is_apple);
    CHECK(!defines(blit, @selector(endEncoding)));
    Class parent = class_getSuperclass(class_getSuperclass(compute));
    CHECK(parent && parent == class_getSuperclass(class_getSuperclass(blit)));
    CHECK(defines(parent, @selector(endEncoding)));
    CHECK(!defines(compute, @selector(setBuffer:offset:atIndex:)));
}

// ---- hooks ----
typedef void (*plain_method)(id, SEL); // an IMP as what it is here
static plain_method original_commit, original_end;
static _Atomic int commits, ends;

static void hooked_commit(id self, SEL selector)
{
    commits++;
    original_commit(self, selector);
}

static void hooked_end(id self, SEL selector)
{
    ends++;
    original_end(self, selector);
}

// Gives the class a method of its own in place of what it has or inherits. GCC's class_replaceMethod would
// change the parent's, which children that were used before do not notice.
static plain_method hook(Class class, SEL selector, plain_method replacement)
{
    Method method = class_getInstanceMethod(class, selector);
    IMP before = method_getImplementation(method), after = (IMP)(void (*)(void))replacement;
    if (!class_addMethod(class, selector, after, method_getTypeEncoding(method)))
        method_setImplementation(method, after);
    return (plain_method)(void (*)(void))before;
}

// Met once per call whatever the overrides and wrappers, and not by the sibling that shares the parent.
static void hooks(void)
{
    Class buffer = NSClassFromString(is_apple ? @"SoftG1FamilyCommandBuffer" : @"SoftR1CommandBuffer");
    Class compute = NSClassFromString(is_apple ? @"SoftG1FamilyComputeContext" : @"SoftR1ComputeContext");
    original_commit = hook(buffer, @selector(commit), hooked_commit);
    original_end = hook(compute, @selector(endEncoding), hooked_end);
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    [[commands computeCommandEncoder] endEncoding];
    [[commands blitCommandEncoder] endEncoding];
    submit_finish(commands);
    CHECK_EQ(commits, 1);
    CHECK_EQ(ends, 1);
    hook(buffer, @selector(commit), original_commit);
    hook(compute, @selector(endEncoding), original_end);
    submit_finish([msl.queue commandBuffer]);
    CHECK_EQ(commits, 1);
}

// ---- selectors that nobody has ----
static void unknown_selector(id object, SEL selector)
{
    NSString *name = nil, *reason = nil;
    CHECK(![object respondsToSelector:selector]);
    @try {
        [object performSelector:selector];
    } @catch (NSException *exception) {
        name = [[[exception name] retain] autorelease];
        reason = [[[exception reason] retain] autorelease];
    }
    CHECK_STR([name UTF8String], [NSInvalidArgumentException UTF8String]);
    CHECK_HAS([reason UTF8String], object_getClassName(object));
    CHECK_HAS([reason UTF8String], sel_getName(selector));
}

static void unknown_selectors(id<MTLCommandBuffer> commands)
{
    unknown_selector(msl.device, NSSelectorFromString(@"newSandwich"));
    unknown_selector(msl.queue, NSSelectorFromString(@"presentDrawable:"));
    unknown_selector(commands, NSSelectorFromString(@"renderCommandEncoderWithDescriptor:"));
    id encoder = [commands computeCommandEncoder];
    unknown_selector(encoder, NSSelectorFromString(@"drawPrimitives:vertexStart:vertexCount:"));
    [encoder endEncoding];
}

int main(void)
{
    const char *layers = getenv("SOFTMETAL_DEBUG_LAYER");
    depth = layers ? atoi(layers) : 0;
    submit_start();
    is_apple = [msl.device hasUnifiedMemory];
    check_chain(object_getClass(msl.device),
                is_apple ? "SoftG1Device SMGPUDevice SMDevice" : "SoftR1Device SMGPUDevice SMDevice");
    id<MTLCommandBuffer> commands = [msl.queue commandBuffer];
    if (depth)
        wrapped_classes(commands);
    else
        driver_classes(commands);
    overrides();
    hooks();
    unknown_selectors([msl.queue commandBuffer]);
    return msl_end();
}
