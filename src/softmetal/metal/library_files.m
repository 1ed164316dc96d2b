// SPDX-License-Identifier: MIT
// Libraries from files, bundles and data. Where a Mac has a compiled .metallib, softmetal reads the Metal
// Shading Language text that stands in its place; Apple's binary format is refused with an error that says
// so.
#import "metal/resource.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

static NSError *binary_error(NSString *where)
{
    return sm_error(
        MTLLibraryErrorDomain, MTLLibraryErrorUnsupported,
        [NSString stringWithFormat:@"Invalid library: %@ is a binary metallib; softmetal reads only "
                                   @"Metal Shading Language text. Put the .metal source in its place.",
                                   where]);
}

// The bytes of a libdispatch object; nil if there is no libdispatch to ask.
static NSData *map_dispatch_data(dispatch_data_t data)
{
    typedef dispatch_data_t (*map_function)(dispatch_data_t data, const void **bytes, size_t *length);
    map_function map = (map_function)dlsym(RTLD_DEFAULT, "dispatch_data_create_map");
    void (*release)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "dispatch_release");
    const void *bytes;
    size_t length;
    dispatch_data_t mapped = map ? map(data, &bytes, &length) : NULL;
    if (!mapped)
        return nil;
    NSData *copy = [NSData dataWithBytes:bytes length:length];
    if (release)
        release(mapped);
    return copy;
}

static NSString *executable_folder(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return nil;
    path[length] = '\0';
    return [[NSString stringWithUTF8String:path] stringByDeletingLastPathComponent];
}

@implementation SMDevice (LibraryFiles)

- (id<MTLLibrary>)newLibraryWithBytes:(NSData *)bytes from:(NSString *)where error:(NSError **)error
{
    if ([bytes length] >= 4 && memcmp([bytes bytes], "MTLB", 4) == 0) {
        if (error)
            *error = binary_error(where);
        return nil;
    }
    // The compiler wants an end: a copy has it, whatever the file ends with.
    NSMutableData *text = [NSMutableData dataWithData:bytes];
    [text appendBytes:"" length:1];
    return [self newLibraryWithText:[text bytes] length:[bytes length] options:nil error:error];
}

- (id<MTLLibrary>)newLibraryWithFile:(NSString *)path error:(NSError **)error
{
    sm_assert_metal(path != nil, "filepath must not be nil.");
    if (error)
        *error = nil;
    NSData *bytes = [NSData dataWithContentsOfFile:path];
    if (!bytes) {
        if (error)
            *error = sm_error(MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                              [NSString stringWithFormat:@"library not found: %@", path]);
        return nil;
    }
    return [self newLibraryWithBytes:bytes from:path error:error];
}

- (id<MTLLibrary>)newLibraryWithURL:(NSURL *)url error:(NSError **)error
{
    sm_assert_metal(url != nil, "url must not be nil.");
    sm_assert_metal([url isFileURL], "url must be a file URL.");
    return [self newLibraryWithFile:[url path] error:error];
}

- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError **)error
{
    sm_assert_metal(data != NULL, "data must not be nil.");
    if (error)
        *error = nil;
    // Programs on Linux may hand over an NSData, which Apple's dispatch_data_t also is. The answer of
    // libdispatch comes first: its objects must not be sent messages here.
    NSData *bytes = map_dispatch_data(data);
    if (!bytes && !dlsym(RTLD_DEFAULT, "dispatch_data_create_map"))
        bytes = (NSData *)data;
    if (!bytes) {
        if (error)
            *error = sm_error(MTLLibraryErrorDomain, MTLLibraryErrorInternal, @"Invalid library data");
        return nil;
    }
    return [self newLibraryWithBytes:bytes from:@"the data" error:error];
}

// Tries default.metallib, then default.metal, in each folder. Sets *found to the file that is there.
- (id<MTLLibrary>)newDefaultLibraryInFolders:(NSArray *)folders
                                       found:(NSString **)found
                                       error:(NSError **)error
{
    NSFileManager *files = [NSFileManager defaultManager];
    for (NSString *folder in folders) {
        for (NSString *name in [NSArray arrayWithObjects:@"default.metallib", @"default.metal", nil]) {
            NSString *path = [folder stringByAppendingPathComponent:name];
            if (![files fileExistsAtPath:path])
                continue;
            *found = path;
            return [self newLibraryWithFile:path error:error];
        }
    }
    return nil;
}

- (id<MTLLibrary>)newDefaultLibrary
{
    NSMutableArray *folders = [NSMutableArray array];
    NSString *beside = executable_folder();
    NSString *resources = [[NSBundle mainBundle] resourcePath];
    if (resources)
        [folders addObject:resources];
    if (beside) {
        [folders addObject:beside];
        [folders addObject:[beside stringByAppendingPathComponent:@"Resources"]];
    }
    NSString *found = nil;
    NSError *error = nil;
    id<MTLLibrary> library = [self newDefaultLibraryInFolders:folders found:&found error:&error];
    // Metal gives no reason here either; a broken file beside the program deserves a line.
    if (!library && found)
        fprintf(stderr, "softmetal: %s: %s\n", [found UTF8String], [[error localizedDescription] UTF8String]);
    return library;
}

- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle *)bundle error:(NSError **)error
{
    sm_assert_metal(bundle != nil, "bundle must not be nil.");
    if (error)
        *error = nil;
    NSMutableArray *folders = [NSMutableArray array];
    if ([bundle resourcePath])
        [folders addObject:[bundle resourcePath]];
    if ([bundle bundlePath])
        [folders addObject:[bundle bundlePath]];
    NSString *found = nil;
    id<MTLLibrary> library = [self newDefaultLibraryInFolders:folders found:&found error:error];
    if (!found && error)
        *error =
            sm_error(MTLLibraryErrorDomain, MTLLibraryErrorFileNotFound,
                     [NSString stringWithFormat:@"no default library was found in %@", [bundle bundlePath]]);
    return library;
}

@end
