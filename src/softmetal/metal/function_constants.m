// SPDX-License-Identifier: MIT
// Function constants: what a function has (MTLFunctionConstant) and the values that specialise it
// (MTLFunctionConstantValues). Values are copied when they are set.
#import "metal/resource.h"

#include <stdlib.h>
#include <string.h>

@implementation MTLFunctionConstant

@synthesize name = _name;
@synthesize type = _type;
@synthesize index = _index;
@synthesize required = _required;

- (instancetype)initWithConstant:(const sm_constant *)constant
{
    self = [super init];
    if (!self)
        return nil;
    _name = [[NSString alloc] initWithUTF8String:constant->name];
    _type = sm_data_type_named(constant->type);
    _index = constant->index;
    _required = constant->required;
    return self;
}

- (void)dealloc
{
    [_name release];
    [super dealloc];
}

@end

// In the dictionaries a value is an NSData with the whole struct, its name pointer unset.
static NSData *box_value(const void *bytes, MTLDataType type, size_t size)
{
    sm_constant_value value = {.type = (uint32_t)type};
    memcpy(value.bytes, bytes, size < sizeof value.bytes ? size : sizeof value.bytes);
    return [NSData dataWithBytes:&value length:sizeof value];
}

@implementation MTLFunctionConstantValues

- (instancetype)init
{
    self = [super init];
    if (!self)
        return nil;
    _byIndex = [[NSMutableDictionary alloc] init];
    _byName = [[NSMutableDictionary alloc] init];
    return self;
}

- (void)dealloc
{
    [_byIndex release];
    [_byName release];
    [super dealloc];
}

- (id)copyWithZone:(NSZone *)zone
{
    MTLFunctionConstantValues *copy = [[[self class] allocWithZone:zone] init];
    [copy->_byIndex setDictionary:_byIndex];
    [copy->_byName setDictionary:_byName];
    return copy;
}

- (void)setConstantValues:(const void *)values type:(MTLDataType)type withRange:(NSRange)range
{
    size_t size = sm_data_type_size((uint32_t)type);
    sm_assert_metal(values != NULL, "values must not be NULL.");
    sm_assert_metal(size > 0 && type != MTLDataTypePointer,
                    "type %lu is not a valid type of a function constant.", (unsigned long)type);
    for (NSUInteger i = 0; i < range.length; i++)
        [_byIndex setObject:box_value((const char *)values + i * size, type, size)
                     forKey:[NSNumber numberWithUnsignedLong:range.location + i]];
}

- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index
{
    [self setConstantValues:value type:type withRange:NSMakeRange(index, 1)];
}

- (void)setConstantValue:(const void *)value type:(MTLDataType)type withName:(NSString *)name
{
    size_t size = sm_data_type_size((uint32_t)type);
    sm_assert_metal(value != NULL, "value must not be NULL.");
    sm_assert_metal(name != nil, "name must not be nil.");
    sm_assert_metal(size > 0 && type != MTLDataTypePointer,
                    "type %lu is not a valid type of a function constant.", (unsigned long)type);
    [_byName setObject:box_value(value, type, size) forKey:name];
}

- (void)reset
{
    [_byIndex removeAllObjects];
    [_byName removeAllObjects];
}

- (sm_constant_value *)softmetalCopyValues:(size_t *)count
{
    *count = 0;
    sm_constant_value *values = calloc([_byIndex count] + [_byName count] + 1, sizeof *values);
    if (!values)
        return NULL;
    for (NSNumber *key in _byIndex) {
        sm_constant_value *value = &values[(*count)++];
        [[_byIndex objectForKey:key] getBytes:value length:sizeof *value];
        value->index = (uint32_t)[key unsignedLongValue];
    }
    for (NSString *key in _byName) {
        sm_constant_value *value = &values[(*count)++];
        [[_byName objectForKey:key] getBytes:value length:sizeof *value];
        value->name = strdup([key UTF8String]);
    }
    return values;
}

@end

void sm_constant_values_free(sm_constant_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)values[i].name);
    free(values);
}
