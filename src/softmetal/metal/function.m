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
    is_specialized = constants != nil;
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

static bool find_fault(SMFunction *self, const sm_constant *constant, void *context)
{
    NSString **fault = context;
    const sm_constant_value *value = value_of(self, constant);
    uint32_t type = sm_data_type_named(constant->type);
    if (!value && constant->required)
        *fault =
            [NSString stringWithFormat:@"Function constant '%s' at index %u of function '%s' was not set",
                                       constant->name, constant->index, self->function->name];
    else if (value && value->type != type && type != MTLDataTypeStruct) {
        char wanted[32], given[32];
        sm_data_type_text(type, wanted, sizeof wanted);
        sm_data_type_text(value->type, given, sizeof given);
        *fault =
            [NSString stringWithFormat:@"Function constant '%s' at index %u is of type %s; the value is of "
                                       @"type %s",
                                       constant->name, constant->index, wanted, given];
    }
    return *fault != nil;
}

- (NSString *)constantFault
{
    NSString *fault = nil;
    [self visitConstants:find_fault context:&fault];
    return fault;
}

// The bytes of the struct that an argument points to are known to the compiled kernel only.
- (NSUInteger)structSizeOfBuffer:(NSUInteger)index selector:(SEL)selector
{
    sm_pipeline *pipeline = NULL;
    char *log = NULL;
    int rc = sm_pipeline_create(owner->library, function, values, value_count, &pipeline, &log);
    free(log);
    const sm_kernel *kernel = rc == 0 ? sm_wait_for_kernel(pipeline, NULL) : NULL;
    NSUInteger size = 0;
    size_t layout = 0;
    for (size_t i = 0; kernel && i < function->argument_count; i++) {
        const sm_argument *argument = &function->arguments[i];
        if (argument->kind == SM_ARGUMENT_BUILTIN || layout >= kernel->arg_layouts_count)
            continue;
        if (argument->kind == SM_ARGUMENT_BUFFER && argument->index == index)
            size = kernel->arg_layouts[layout].size;
        layout++;
    }
    if (pipeline)
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
