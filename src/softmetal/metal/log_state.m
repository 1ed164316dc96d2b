// SPDX-License-Identifier: MIT
// MTLLogState: where the text of a kernel's log calls goes. Kernels call in from the executor's threads,
// several at once; handlers are the application's. Without a log state, or without a handler, a line goes to
// stderr.
#import "metal/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (^log_handler)(NSString *subsystem, NSString *category, MTLLogLevel level, NSString *message);

// Handlers are only ever added, at the head, so a reader needs no lock.
typedef struct handler_entry {
    struct handler_entry *next;
    log_handler block;
} handler_entry;

@interface SMLogState : _SMDeviceObject<MTLLogState> {
    MTLLogLevel _level;
    handler_entry *_Atomic _handlers;
}
@end

// A kernel gives the type number of os_log, of which Metal makes its own scale.
static MTLLogLevel level_of(uint32_t os_log_type)
{
    switch (os_log_type) {
    case 1:
        return MTLLogLevelInfo;
    case 2:
        return MTLLogLevelDebug;
    case 16:
        return MTLLogLevelError;
    case 17:
        return MTLLogLevelFault;
    default:
        return MTLLogLevelNotice;
    }
}

static void print_line(MTLLogLevel level, const char *text)
{
    static const char *const names[] = {"undefined", "debug", "info", "notice", "error", "fault"};
    const char *name = names[level];
    size_t length = strlen(text);
    fprintf(stderr, "softmetal kernel log (%s): %s%s", name, text,
            length && text[length - 1] == '\n' ? "" : "\n");
}

@implementation SMLogState

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MTLLogStateDescriptor *)descriptor
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    _level = [descriptor level];
    atomic_init(&_handlers, NULL);
    return self;
}

- (void)dealloc
{
    for (handler_entry *entry = atomic_load(&_handlers); entry;) {
        handler_entry *next = entry->next;
        Block_release(entry->block);
        free(entry);
        entry = next;
    }
    [super dealloc];
}

- (void)addLogHandler:(log_handler)handler
{
    sm_assert_metal(handler != nil, "block must not be nil.");
    handler_entry *entry = calloc(1, sizeof *entry);
    if (!entry)
        return;
    entry->block = Block_copy(handler);
    entry->next = atomic_load(&_handlers);
    while (!atomic_compare_exchange_weak(&_handlers, &entry->next, entry))
        ;
}

- (BOOL)wantsLevel:(MTLLogLevel)level
{
    return level >= _level;
}

- (void)log:(const char *)text level:(MTLLogLevel)level
{
    handler_entry *entry = atomic_load(&_handlers);
    if (!entry)
        print_line(level, text);
    NSString *message = [NSString stringWithUTF8String:text];
    // Bytes that are no UTF-8 are shown one by one rather than lost.
    if (!message)
        message = [[[NSString alloc] initWithBytes:text
                                            length:strlen(text)
                                          encoding:NSISOLatin1StringEncoding] autorelease];
    for (; entry; entry = entry->next)
        entry->block(nil, nil, level, message);
}

@end

static void log_from_kernel(const sm_args *args, sm_u32 type, const char *format, const sm_log_value *values,
                            sm_u32 count)
{
    SMLogState *state = args->log_context;
    MTLLogLevel level = level_of(type);
    if (state && ![state wantsLevel:level])
        return;
    char *text = sm_log_format(format, values, count);
    if (!text)
        return;
    if (state) {
        NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
        [state log:text level:level];
        [pool drain];
    } else {
        print_line(level, text);
    }
    free(text);
}

sm_log_fn sm_log_function(void)
{
    return log_from_kernel;
}

@implementation SMDevice (Logs)

- (id<MTLLogState>)newLogStateWithDescriptor:(MTLLogStateDescriptor *)descriptor error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    // Metal's smallest log buffer is 1 KiB, its largest 1 GiB.
    if ([descriptor bufferSize] < 1024 || [descriptor bufferSize] > 1024 * 1024 * 1024) {
        if (error)
            *error = sm_error(MTLLogStateErrorDomain, MTLLogStateErrorInvalidSize,
                              [NSString stringWithFormat:@"Invalid log buffer size: %ld B. Expected range: "
                                                         @"1024 -> 1073741824",
                                                         (long)[descriptor bufferSize]]);
        return nil;
    }
    if (error)
        *error = nil;
    return [[SMLogState alloc] initWithDevice:self descriptor:descriptor];
}

@end
