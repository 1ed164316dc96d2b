// SPDX-License-Identifier: MIT
// The base classes above every Metal class of softmetal, and how Metal's own validation fails: a message that
// names class, selector and rule, then abort. Runs on whatever thread the application calls from.
#import "metal/internal.h"

#include <objc/runtime.h>
#include <stdarg.h>
#include <stdlib.h>

void sm_fail_metal(const char *class_name, SEL selector, int line, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "-[%s %s]:%d: failed assertion `%s'\n", class_name, sel_getName(selector), line, text);
    fflush(stderr);
    abort();
}

NSError *sm_error(NSString *domain, NSInteger code, NSString *text)
{
    NSDictionary *info = [NSDictionary dictionaryWithObject:text ? text : @""
                                                     forKey:NSLocalizedDescriptionKey];
    return [NSError errorWithDomain:domain code:code userInfo:info];
}

@implementation _SMObjectWithLabel

@synthesize label = _label;

- (void)dealloc
{
    [_label release];
    [super dealloc];
}

@end

@implementation _SMDeviceObject

@synthesize device = _device;

- (instancetype)initWithDevice:(id<MTLDevice>)device
{
    self = [super init];
    if (self)
        _device = [device retain];
    return self;
}

- (void)dealloc
{
    [_device release];
    [super dealloc];
}

@end
