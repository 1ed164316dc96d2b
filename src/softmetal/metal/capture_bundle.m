// SPDX-License-Identifier: MIT
// Writes a capture as a folder: a manifest, the source of every pipeline that was used, and a note that this
// is softmetal's own format. Runs on the thread that stops the capture. Never writes over anything.
#import "metal/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static NSString *const note =
    @"This folder was written by softmetal, which runs Metal compute programs on the CPU.\n"
    @"It is not a GPU trace of Apple's: Xcode cannot open it.\n\n"
    @"softmetal-capture.json  the command buffers, encoders and dispatches that were captured\n"
    @"sources/                the Metal Shading Language source of every pipeline that was used\n";

@implementation SMCaptureRecord

- (void)dealloc
{
    [object release];
    [path release];
    [descriptions release];
    [pipelines release];
    [super dealloc];
}

@end

static NSDictionary *describe_object(id object)
{
    sm_capture_kind kind = sm_capture_kind_of(object);
    NSString *type = kind == SM_CAPTURE_DEVICE ? @"device" : kind == SM_CAPTURE_QUEUE ? @"queue" : @"scope";
    NSString *name =
        kind == SM_CAPTURE_DEVICE ? [(id<MTLDevice>)object name] : [(id<MTLCommandQueue>)object label];
    return [NSDictionary dictionaryWithObjectsAndKeys:type, @"type", name ? name : @"", @"name", nil];
}

// A function's name as the name of a file: nothing that leads out of the folder.
static NSString *file_stem(NSString *function)
{
    char stem[120];
    snprintf(stem, sizeof stem, "%s", [function UTF8String]);
    for (char *p = stem; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *p))
            *p = '_';
    return [NSString stringWithUTF8String:stem[0] ? stem : "_"];
}

static NSComparisonResult compare_names(id a, id b, void *context)
{
    (void)context;
    return [sm_pipeline_state_function_name(a) compare:sm_pipeline_state_function_name(b)];
}

// Pipelines of one name may come from different sources: the second one is NAME-2.metal. Returns a list of
// {kernel, source} for the manifest; nil if a file cannot be written.
static NSArray *write_sources(SMCaptureRecord *record, NSString *folder)
{
    NSMutableDictionary *written = [NSMutableDictionary dictionary]; // file name -> text
    NSMutableArray *list = [NSMutableArray array];
    NSArray *states = [[record->pipelines allObjects] sortedArrayUsingFunction:compare_names context:NULL];
    for (id<MTLComputePipelineState> state in states) {
        NSString *name = sm_pipeline_state_function_name(state), *text = sm_pipeline_state_source(state);
        NSString *stem = file_stem(name);
        NSString *file = [stem stringByAppendingString:@".metal"];
        for (unsigned n = 2; [written objectForKey:file] && ![[written objectForKey:file] isEqual:text]; n++)
            file = [NSString stringWithFormat:@"%@-%u.metal", stem, n];
        if (![written objectForKey:file]) {
            [written setObject:text forKey:file];
            if (![text writeToFile:[folder stringByAppendingPathComponent:file]
                        atomically:NO
                          encoding:NSUTF8StringEncoding
                             error:NULL])
                return nil;
            NSString *relative = [@"sources/" stringByAppendingString:file];
            [list addObject:[NSDictionary
                                dictionaryWithObjectsAndKeys:name, @"kernel", relative, @"source", nil]];
        }
    }
    return list;
}

static NSDictionary *manifest(SMCaptureRecord *record, NSArray *sources)
{
    return [NSDictionary
        dictionaryWithObjectsAndKeys:@"softmetal", @"producer", [NSNumber numberWithInt:1], @"version",
                                     describe_object(record->object), @"capture_object",
                                     [NSNumber numberWithUnsignedLongLong:record->start_ns], @"start_ns",
                                     [NSNumber numberWithUnsignedLongLong:record->stop_ns], @"stop_ns",
                                     record->descriptions, @"command_buffers", sources, @"pipelines", nil];
}

static BOOL write_files(SMCaptureRecord *record, NSString *folder)
{
    NSString *sources_folder = [folder stringByAppendingPathComponent:@"sources"];
    if (![[NSFileManager defaultManager] createDirectoryAtPath:sources_folder
                                   withIntermediateDirectories:YES
                                                    attributes:nil
                                                         error:NULL])
        return NO;
    NSArray *sources = write_sources(record, sources_folder);
    if (!sources)
        return NO;
    NSData *json = [NSJSONSerialization dataWithJSONObject:manifest(record, sources)
                                                   options:NSJSONWritingPrettyPrinted
                                                     error:NULL];
    return json &&
           [json writeToFile:[folder stringByAppendingPathComponent:@"softmetal-capture.json"]
                  atomically:NO] &&
           [[note dataUsingEncoding:NSUTF8StringEncoding]
               writeToFile:[folder stringByAppendingPathComponent:@"README-softmetal.txt"]
                atomically:NO];
}

BOOL sm_capture_write_bundle(SMCaptureRecord *record, NSString **why)
{
    NSString *partial = [NSString stringWithFormat:@"%@.partial-%d", record->path, (int)getpid()];
    BOOL is_written = write_files(record, partial);
    int failure = is_written ? 0 : errno;
    // rename replaces an empty folder, so what has appeared since the start is looked for.
    if (is_written && access([record->path fileSystemRepresentation], F_OK) == 0)
        failure = EEXIST;
    else if (is_written &&
             rename([partial fileSystemRepresentation], [record->path fileSystemRepresentation]) != 0)
        failure = errno;
    else if (is_written)
        return YES;
    [[NSFileManager defaultManager] removeFileAtPath:partial handler:nil];
    *why = [NSString stringWithFormat:@"cannot write %@: %s", record->path, strerror(failure)];
    return NO;
}
