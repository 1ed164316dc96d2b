// SPDX-License-Identifier: MIT
// MTLFunction: one kernel of a library, with or without values for its function constants. Called from any
// thread; never changes after it is made, but for its label.
#import "metal/resource.h"

#include <stdlib.h>
#include <string.h>

@implementation SMFunction

- (instancetype)initWithLibrary:(SMLibrary *)library
                       function:(const sm_function *)compiled
                         values:(MTLFunctionConstantValues *)constants
                specializedName:(NSString *)specialized
                        options:(MTLFunctionOptions)options
{
    self = [super initWithDevice:[library device]];
    if (!self)
        return nil;
    owner = [library retain];
    function = compiled;
    _options = options;
    _name = specialized ? [specialized copy] : [[NSString alloc] initWithUTF8String:compiled->name];
    if (constants)
        values = [constants softmetalCopyValues:&value_count];
    return self;
}

- (void)dealloc
{
    sm_constant_values_free(values, value_count);
    [_name release];
    [owner release];
    [super dealloc];
}

- (NSString *)name
{
    return _name;
}

- (MTLFunctionType)functionType
{
    return MTLFunctionTypeKernel;
}

- (MTLFunctionOptions)options
{
    return _options;
}

- (NSArray *)stageInputAttributes
{
    return nil;
}

- (NSArray *)vertexAttributes
{
    return nil;
}

- (NSString *)description
{
    return [NSString stringWithFormat:@"<%@: %p>\n    label = %@\n    functionType = MTLFunctionTypeKernel\n"
                                      @"    name = %@",
                                      [self class], self, _label ? _label : @"<none>", _name];
}

// Calls visit for each constant that the function needs, until it returns true.
- (void)visitConstants:(bool (*)(SMFunction *self, const sm_constant *constant, void *context))visit
               context:(void *)context
{
    size_t count;
    const sm_constant *constants = sm_library_constants(owner->library, &count);
    bool *used = count ? calloc(count, sizeof *used) : NULL;
    if (!used)
        return;
    [owner findConstantsUsedBy:function used:used];
    for (size_t i = 0; i < count; i++)
        if (used[i] && visit(self, &constants[i], context))
            break;
    free(used);
}

static bool collect(SMFunction *self, const sm_constant *constant, void *context)
{
    (void)self;
    MTLFunctionConstant *object = [[MTLFunctionConstant alloc] initWithConstant:constant];
    [(NSMutableDictionary *)context setObject:object forKey:[object name]];
    [object release];
    return false;
}

- (NSDictionary *)functionConstantsDictionary
{
    NSMutableDictionary *found = [NSMutableDictionary dictionary];
    [self visitConstants:collect context:found];
    return found;
}

static const sm_constant_value *value_of(SMFunction *self, const sm_constant *constant)
{
    for (size_t i = 0; i < self->value_count; i++) {
        const sm_constant_value *value = &self->values[i];
        if (value->name ? strcmp(value->name, constant->name) == 0 : value->index == constant->index)
            return value;
    }
    return NULL;
}

// What the walk over a function's constants has found.
typedef struct constant_check {
    const sm_constant *missing; // the first required one without a value
    bool has_values;            // for any of them
    NSString *mismatch;
} constant_check;

static NSString *mismatch_of(const sm_constant *constant, const sm_constant_value *value)
{
    uint32_t type = sm_data_type_named(constant->type);
    if (value->type == type || type == MTLDataTypeStruct)
        return nil;
    char wanted[32], given[32];
    sm_data_type_text(type, wanted, sizeof wanted);
    sm_data_type_text(value->type, given, sizeof given);
    return [NSString
        stringWithFormat:@"Function constant '%s' at index %u is of type %s; the value is of type %s",
                         constant->name, constant->index, wanted, given];
}

static bool check_constant(SMFunction *self, const sm_constant *constant, void *context)
{
    constant_check *check = context;
    const sm_constant_value *value = value_of(self, constant);
    if (value) {
        check->has_values = true;
        check->mismatch = mismatch_of(constant, value);
    } else if (constant->required && !check->missing) {
        check->missing = constant;
    }
    return check->mismatch != nil;
}

- (NSString *)constantFault
{
    constant_check check = {0};
    [self visitConstants:check_constant context:&check];
    if (check.mismatch)
        return check.mismatch;
    // Who sets some of a function's constants may leave others out, which are zero then: llama.cpp does so
    // (for GGML_OP_ACC) and runs on Macs. A function of which nothing is set was not meant to be used like
    // this.
    if (!check.missing || check.has_values)
        return nil;
    return [NSString stringWithFormat:@"Function constant '%s' at index %u of function '%s' was not set",
                                      check.missing->name, check.missing->index, function->name];
}

// Bytes of what the buffer argument at an index points to; 0 if there is no such argument.
static NSUInteger pointee_size(const sm_function *function, const sm_kernel *kernel, NSUInteger index)
{
    size_t layout = 0; // layouts are given for buffers and threadgroup memory only
    for (size_t i = 0; i < function->argument_count && layout < kernel->arg_layouts_count; i++) {
        const sm_argument *argument = &function->arguments[i];
        if (argument->kind == SM_ARGUMENT_BUFFER && argument->index == index)
            return kernel->arg_layouts[layout].size;
        layout += argument->kind != SM_ARGUMENT_BUILTIN;
    }
    return 0;
}

// The size of a struct is known to the compiled kernel only.
- (NSUInteger)structSizeOfBuffer:(NSUInteger)index selector:(SEL)selector
{
    sm_pipeline *pipeline = NULL;
    char *log = NULL;
    int rc = sm_pipeline_create(owner->library, function, values, value_count, &pipeline, &log);
    free(log);
    const sm_kernel *kernel = rc == 0 ? sm_wait_for_kernel(pipeline, NULL) : NULL;
    if (!kernel)
        sm_fail_metal(object_getClassName(self), selector, __LINE__, "function %s cannot be compiled",
                      function->name);
    NSUInteger size = pointee_size(function, kernel, index);
    sm_pipeline_release(pipeline);
    if (size == 0)
        sm_fail_metal(object_getClassName(self), selector, __LINE__,
                      "no argument buffer at index %lu of function %s", (unsigned long)index, function->name);
    return size;
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index
{
    NSUInteger size = [self structSizeOfBuffer:index selector:_cmd];
    return sm_new_slot_encoder(_device, sm_round_up(size, 8) / 8);
}

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)index
                                                 reflection:(MTLAutoreleasedArgument *)reflection
{
    if (reflection)
        *reflection = nil;
    return [self newArgumentEncoderWithBufferIndex:index];
}

@end

@implementation SoftG1Function
@end
