// SPDX-License-Identifier: MIT
// Libraries from text, files, URLs, data and bundles: options, errors with the user's lines, names, and what
// a binary metallib is told. Writes into its work folder.
#include "msl/harness.h"

#include <stdatomic.h>
#include <unistd.h>

static NSString *here(NSString *name)
{
    return [[[NSFileManager defaultManager] currentDirectoryPath] stringByAppendingPathComponent:name];
}

static void write_text(NSString *path, NSString *text)
{
    CHECK([text writeToFile:path atomically:NO encoding:NSUTF8StringEncoding error:NULL]);
}

static void check_error(id<MTLLibrary> library, NSError *error, NSInteger code, const char *text)
{
    CHECK(library == nil);
    CHECK_STR([[error domain] UTF8String], [MTLLibraryErrorDomain UTF8String]);
    CHECK_EQ([error code], code);
    CHECK_HAS([[error localizedDescription] UTF8String], text);
}

static void errors(void)
{
    static const struct {
        const char *source, *text;
    } cases[] = {
        {"#error no way", "program_source:1:2: error: no way"},
        {"kernel void k(device float *a) {\n\n  a[0] = nope;\n}\n", "program_source:3:10: error:"},
        {"\n\nkernel void k(device float *a) { a[0] = 1 }\n", "program_source:3:"},
        {"#include \"missing.h\"\n", "'missing.h' file not found"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        NSError *error = nil;
        id<MTLLibrary> library =
            [msl.device newLibraryWithSource:[NSString stringWithUTF8String:cases[i].source]
                                     options:nil
                                       error:&error];
        check_error(library, error, MTLLibraryErrorCompileFailure, cases[i].text);
        CHECK([msl.device newLibraryWithSource:[NSString stringWithUTF8String:cases[i].source]
                                       options:nil
                                         error:NULL] == nil);
    }
}

static void names(void)
{
    NSError *error = nil;
    MTLCompileOptions *options = [[MTLCompileOptions new] autorelease];
    CHECK([options fastMathEnabled] && [options mathMode] == MTLMathModeFast);
    id macros = [NSDictionary
        dictionaryWithObjectsAndKeys:@"first", @"NAME", [NSNumber numberWithInt:1], @"MORE", nil];
    [options setPreprocessorMacros:macros];
    NSString *text = @"kernel void NAME(device int *a) { a[0] = MORE; }\n"
                     @"#if MORE\nkernel void second(device int *a) { a[0] = 2; }\n#endif\nvoid helper() {}\n";
    id<MTLLibrary> library = [msl.device newLibraryWithSource:text options:options error:&error];
    CHECK(library && !error && [library device] == msl.device);
    NSArray *sorted = [[library functionNames] sortedArrayUsingSelector:@selector(compare:)];
    CHECK([sorted isEqual:([NSArray arrayWithObjects:@"first", @"second", nil])]);
    [library setLabel:@"kernels"];
    CHECK_STR([[library label] UTF8String], "kernels");
    CHECK([library newFunctionWithName:@"third"] == nil);
    CHECK([library newFunctionWithName:@"helper"] == nil);
    CHECK_EQ([library retainCount], 1);
    [library release];
}

static void files(void)
{
    NSError *error = nil;
    NSString *text = here(@"text.metallib"), *binary = here(@"binary.metallib");
    write_text(text, @"kernel void from_file(){}");
    [[NSData dataWithBytes:"MTLB\1\2" length:6] writeToFile:binary atomically:NO];

    id<MTLLibrary> library = [msl.device newLibraryWithFile:text error:&error];
    CHECK(!error && [[[library functionNames] lastObject] isEqual:@"from_file"]);
    [library release];
    library = [msl.device newLibraryWithURL:[NSURL fileURLWithPath:text] error:&error];
    CHECK(!error && [[library functionNames] count] == 1);
    [library release];

    library = [msl.device newLibraryWithURL:[NSURL fileURLWithPath:binary] error:&error];
    check_error(library, error, MTLLibraryErrorUnsupported,
                "is a binary metallib; softmetal reads only Metal Shading");
    library = [msl.device newLibraryWithFile:here(@"nowhere.metallib") error:&error];
    check_error(library, error, MTLLibraryErrorFileNotFound, "nowhere.metallib");

    NSData *data = [NSData dataWithBytes:"kernel void from_data(){}xx" length:25];
    library = [msl.device newLibraryWithData:(dispatch_data_t)data error:&error];
    CHECK(!error && [[[library functionNames] lastObject] isEqual:@"from_data"]);
    [library release];
}

static void bundles(void)
{
    NSError *error = nil;
    [[NSFileManager defaultManager] createDirectoryAtPath:here(@"bundle") attributes:nil];
    NSBundle *bundle = [NSBundle bundleWithPath:here(@"bundle")];
    id<MTLLibrary> library = [msl.device newDefaultLibraryWithBundle:bundle error:&error];
    check_error(library, error, MTLLibraryErrorFileNotFound, "bundle");
    write_text(here(@"bundle/default.metallib"), @"kernel void of_bundle(){}");
    library = [msl.device newDefaultLibraryWithBundle:bundle error:&error];
    CHECK(!error && [[[library functionNames] lastObject] isEqual:@"of_bundle"]);
    [library release];
}

static void in_background(void)
{
    static _Atomic int calls;
    [msl.device newLibraryWithSource:@"kernel void a(){}\nkernel void b(){}"
                             options:nil
                   completionHandler:^(id<MTLLibrary> library, NSError *error) {
                       CHECK(!error && [[library functionNames] count] == 2);
                       calls++;
                   }];
    while (calls < 1)
        usleep(1000);
    [msl.device
        newLibraryWithSource:@"#error no\n"
                     options:nil
           completionHandler:^(id<MTLLibrary> library, NSError *error) {
               check_error(library, error, MTLLibraryErrorCompileFailure, "program_source:1:2: error: no");
               calls++;
           }];
    while (calls < 2)
        usleep(1000);
}

int main(void)
{
    msl_start();
    errors();
    names();
    files();
    bundles();
    in_background();
    return msl_end();
}
