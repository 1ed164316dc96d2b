// SPDX-License-Identifier: MIT
// MTLLibrary: compiled Metal Shading Language text and the functions in it. Called from any thread; a library
// never changes after it is made. Where text comes from other than a string is in library_files.m.
#import "metal/resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

@implementation SMLibrary

@synthesize type = _type;
@synthesize installName = _installName;

- (instancetype)initWithDevice:(id<MTLDevice>)device
                       library:(sm_library *)compiled
                       options:(MTLCompileOptions *)options
{
    self = [super initWithDevice:device];
    if (!self) {
        sm_library_release(compiled);
        return nil;
    }
    library = compiled;
    _type = [options libraryType];
    _installName = [[options installName] copy];
    _max_threads = [options maxTotalThreadsPerThreadgroup];
    size_t count = sm_library_function_count(library);
    NSMutableArray *names = [NSMutableArray arrayWithCapacity:count];
    for (size_t i = 0; i < count; i++)
        [names addObject:[NSString stringWithUTF8String:sm_library_function(library, i)->name]];
    _names = [names copy];
    const sm_constant *constants = sm_library_constants(library, &count);
    if (count)
        _uses = sm_use_index_new(sm_library_source(library), constants, count);
    return self;
}

- (void)dealloc
{
    sm_use_index_free(_uses);
    sm_library_release(library);
    [_names release];
    [_installName release];
    [super dealloc];
}

- (NSArray *)functionNames
{
    return _names;
}

- (NSUInteger)maxThreads
{
    return _max_threads;
}

- (void)findConstantsUsedBy:(const sm_function *)function used:(bool *)used
{
    if (_uses)
        sm_use_index_find(_uses, function->name, used);
}

- (NSString *)description
{
    return [NSString stringWithFormat:@"<%@: %p>\n    label = %@\n    functionNames: %@", [self class], self,
                                      _label ? _label : @"<none>", [_names componentsJoinedByString:@" "]];
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
{
    sm_assert_metal(name != nil, "functionName must not be nil.");
    const sm_function *found = sm_library_find(library, [name UTF8String]);
    if (!found)
        return nil;
    return [[SoftG1Function alloc] initWithLibrary:self
                                          function:found
                                            values:nil
                                   specializedName:nil
                                           options:MTLFunctionOptionNone];
}

// Both ways of naming a function end here.
- (SMFunction *)newFunctionNamed:(NSString *)name
                          values:(MTLFunctionConstantValues *)values
                 specializedName:(NSString *)specialized
                         options:(MTLFunctionOptions)options
                           error:(NSError **)error
{
    const sm_function *found = sm_library_find(library, [name UTF8String]);
    if (!found) {
        if (error)
            *error = sm_error(MTLLibraryErrorDomain, MTLLibraryErrorFunctionNotFound,
                              [NSString stringWithFormat:@"Function %@ was not found in the library", name]);
        return nil;
    }
    SMFunction *function = [[SoftG1Function alloc] initWithLibrary:self
                                                          function:found
                                                            values:values
                                                   specializedName:specialized
                                                           options:options];
    NSString *fault = values ? [function constantFault] : nil;
    if (!fault)
        return function;
    [function release];
    if (error)
        *error = sm_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileFailure, fault);
    return nil;
}

- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)values
                                 error:(NSError **)error
{
    sm_assert_metal(name != nil, "functionName must not be nil.");
    sm_assert_metal(values != nil, "constantValues must not be nil.");
    if (error)
        *error = nil;
    return [self newFunctionNamed:name values:values specializedName:nil options:0 error:error];
}

- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    sm_assert_metal([descriptor name] != nil, "descriptor.name must not be nil.");
    if (error)
        *error = nil;
    return [self newFunctionNamed:[descriptor name]
                           values:[descriptor constantValues]
                  specializedName:[descriptor specializedName]
                          options:[descriptor options]
                            error:error];
}

typedef struct function_call {
    SMLibrary *library;
    MTLFunctionDescriptor *descriptor;
    void (^handler)(id<MTLFunction>, NSError *);
} function_call;

static void run_function_call(void *context)
{
    function_call *call = context;
    NSError *error = nil;
    id<MTLFunction> function = [call->library newFunctionWithDescriptor:call->descriptor error:&error];
    call->handler(function, error);
    [function release];
    [call->library release];
    [call->descriptor release];
    Block_release(call->handler);
    free(call);
}

- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                completionHandler:(void (^)(id<MTLFunction>, NSError *))handler
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    sm_assert_metal(handler != nil, "completionHandler must not be nil.");
    function_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    call->library = [self retain];
    call->descriptor = [descriptor copy];
    call->handler = Block_copy(handler);
    sm_run_async(run_function_call, call);
}

- (void)newFunctionWithName:(NSString *)name
             constantValues:(MTLFunctionConstantValues *)values
          completionHandler:(void (^)(id<MTLFunction>, NSError *))handler
{
    sm_assert_metal(name != nil, "functionName must not be nil.");
    sm_assert_metal(values != nil, "constantValues must not be nil.");
    MTLFunctionDescriptor *descriptor = [MTLFunctionDescriptor functionDescriptor];
    [descriptor setName:name];
    [descriptor setConstantValues:values];
    [self newFunctionWithDescriptor:descriptor completionHandler:handler];
}

@end

@implementation SoftG1Library
@end

// A macro's value as text: a string as it is, a number as C writes it.
static const char *macro_value(id value)
{
    if ([value isKindOfClass:[NSString class]])
        return [value UTF8String];
    if ([value isKindOfClass:[NSNumber class]])
        return [[value stringValue] UTF8String];
    return [[value description] UTF8String];
}

// The names and values belong to the options and the autorelease pool; the array is malloc'd.
static sm_macro *copy_macros(NSDictionary *macros, size_t *count)
{
    *count = 0;
    sm_macro *list = calloc([macros count] + 1, sizeof *list);
    if (!list)
        return NULL;
    for (NSString *name in macros)
        list[(*count)++] = (sm_macro){[name UTF8String], macro_value([macros objectForKey:name])};
    return list;
}

static NSString *take_log(char *log)
{
    NSString *text = log ? [NSString stringWithUTF8String:log] : nil;
    free(log);
    return text;
}

static NSError *library_error(int rc, NSString *log)
{
    NSInteger code = rc == -EINVAL ? MTLLibraryErrorCompileFailure : MTLLibraryErrorInternal;
    if (![log length])
        log = [NSString stringWithFormat:@"the compiler failed: %s", strerror(-rc)];
    return sm_error(MTLLibraryErrorDomain, code, log);
}

@implementation SMDevice (Libraries)

- (id<MTLLibrary>)newLibraryWithText:(const char *)text
                              length:(size_t)length
                             options:(MTLCompileOptions *)given
                               error:(NSError **)error
{
    MTLCompileOptions *options = given ? given : [[[MTLCompileOptions alloc] init] autorelease];
    size_t macro_count;
    sm_macro *macros = copy_macros([options preprocessorMacros], &macro_count);
    sm_compile_options how = {.macros = macros,
                              .macro_count = macro_count,
                              .language_version = (uint32_t)[options languageVersion],
                              .fast_math = [options mathMode] == MTLMathModeFast};
    sm_library *compiled = NULL;
    char *log = NULL;
    int rc = sm_library_create(text, length, &how, &compiled, &log);
    free(macros);
    NSString *messages = take_log(log);
    if (rc < 0) {
        if (error)
            *error = library_error(rc, messages);
        return nil;
    }
    // As Metal does: a library with warnings comes together with an error object that has them.
    if (error)
        *error = [messages length] ? sm_error(MTLLibraryErrorDomain, MTLLibraryErrorCompileWarning, messages)
                                   : nil;
    return [[SoftG1Library alloc] initWithDevice:self library:compiled options:options];
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                               options:(MTLCompileOptions *)options
                                 error:(NSError **)error
{
    sm_assert_metal(source != nil, "source must not be nil.");
    const char *text = [source UTF8String];
    return [self newLibraryWithText:text length:strlen(text) options:options error:error];
}

typedef struct library_call {
    SMDevice *device;
    NSString *source;
    MTLCompileOptions *options;
    MTLNewLibraryCompletionHandler handler;
} library_call;

static void run_library_call(void *context)
{
    library_call *call = context;
    NSError *error = nil;
    id<MTLLibrary> made = [call->device newLibraryWithSource:call->source options:call->options error:&error];
    call->handler(made, error);
    [made release];
    [call->device release];
    [call->source release];
    [call->options release];
    Block_release(call->handler);
    free(call);
}

- (void)newLibraryWithSource:(NSString *)source
                     options:(MTLCompileOptions *)options
           completionHandler:(MTLNewLibraryCompletionHandler)handler
{
    sm_assert_metal(source != nil, "source must not be nil.");
    sm_assert_metal(handler != nil, "completionHandler must not be nil.");
    library_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    call->device = [self retain];
    call->source = [source copy];
    call->options = [options copy];
    call->handler = Block_copy(handler);
    sm_run_async(run_library_call, call);
}

@end
