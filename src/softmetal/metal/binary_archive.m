// SPDX-License-Identifier: MIT
// MTLBinaryArchive: a file of compiled pipelines. softmetal's own cache on disk already keeps every kernel by
// its content, so an archive holds names only: adding compiles into the cache, the file says what was added.
#import "metal/resource.h"

#include <string.h>

static NSString *const archive_magic = @"softmetal binary archive 1\n";

@interface SMBinaryArchive : _SMDeviceObject<MTLBinaryArchive> {
    pthread_mutex_t _lock;
    NSMutableArray *_names;
}
@end

static BOOL fail(NSError **error, NSInteger code, NSString *text)
{
    if (error)
        *error = sm_error(MTLBinaryArchiveDomain, code, text);
    return NO;
}

@implementation SMBinaryArchive

- (instancetype)initWithDevice:(id<MTLDevice>)device
{
    self = [super initWithDevice:device];
    if (!self)
        return nil;
    pthread_mutex_init(&_lock, NULL);
    _names = [[NSMutableArray alloc] init];
    return self;
}

- (void)dealloc
{
    [_names release];
    pthread_mutex_destroy(&_lock);
    [super dealloc];
}

- (BOOL)readFile:(NSString *)path error:(NSError **)error
{
    NSString *text = [NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:NULL];
    if (![text hasPrefix:archive_magic])
        return fail(error, MTLBinaryArchiveErrorInvalidFile,
                    [NSString stringWithFormat:@"%@ is not an archive that softmetal wrote", path]);
    for (NSString *line in
         [[text substringFromIndex:[archive_magic length]] componentsSeparatedByString:@"\n"])
        if ([line length])
            [_names addObject:line];
    return YES;
}

- (void)addName:(NSString *)name
{
    pthread_mutex_lock(&_lock);
    if (![_names containsObject:name])
        [_names addObject:name];
    pthread_mutex_unlock(&_lock);
}

- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                            error:(NSError **)error
{
    sm_assert_metal([descriptor computeFunction] != nil, "computeFunction must not be nil.");
    if (error)
        *error = nil;
    NSError *why = nil;
    id<MTLComputePipelineState> state = [_device newComputePipelineStateWithDescriptor:descriptor
                                                                               options:MTLPipelineOptionNone
                                                                            reflection:NULL
                                                                                 error:&why];
    BOOL is_compiled = state && sm_wait_for_kernel(sm_pipeline_state_pipeline(state), &why) != NULL;
    [state release];
    if (!is_compiled)
        return fail(error, MTLBinaryArchiveErrorCompilationFailure, [why localizedDescription]);
    [self addName:[[descriptor computeFunction] name]];
    return YES;
}

- (BOOL)addFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                          library:(id<MTLLibrary>)library
                            error:(NSError **)error
{
    sm_assert_metal(library != nil, "library must not be nil.");
    NSError *why = nil;
    id<MTLFunction> function = [library newFunctionWithDescriptor:descriptor error:&why];
    if (!function)
        return fail(error, MTLBinaryArchiveErrorCompilationFailure, [why localizedDescription]);
    if (error)
        *error = nil;
    [self addName:[function name]];
    [function release];
    return YES;
}

- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error
{
    sm_assert_metal([url isFileURL], "url must be a file URL.");
    if (error)
        *error = nil;
    pthread_mutex_lock(&_lock);
    NSString *text = [archive_magic stringByAppendingString:[_names componentsJoinedByString:@"\n"]];
    pthread_mutex_unlock(&_lock);
    NSData *bytes = [text dataUsingEncoding:NSUTF8StringEncoding];
    if ([bytes writeToFile:[url path] atomically:YES])
        return YES;
    return fail(error, MTLBinaryArchiveErrorInternalError,
                [NSString stringWithFormat:@"cannot write %@", [url path]]);
}

@end

@implementation SMDevice (BinaryArchives)

- (id<MTLBinaryArchive>)newBinaryArchiveWithDescriptor:(MTLBinaryArchiveDescriptor *)descriptor
                                                 error:(NSError **)error
{
    sm_assert_metal(descriptor != nil, "descriptor must not be nil.");
    if (error)
        *error = nil;
    SMBinaryArchive *archive = [[SMBinaryArchive alloc] initWithDevice:self];
    if ([descriptor url] && ![archive readFile:[[descriptor url] path] error:error]) {
        [archive release];
        return nil;
    }
    return archive;
}

@end
