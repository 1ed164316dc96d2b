// SPDX-License-Identifier: MIT
// A library that other libraries link against. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLDYNAMICLIBRARY_H
#define SOFTMETAL_MTLDYNAMICLIBRARY_H

#import <Metal/MTLDefines.h>

@protocol MTLDevice;

typedef NS_ENUM(NSUInteger, MTLDynamicLibraryError) {
    MTLDynamicLibraryErrorNone = 0,
    MTLDynamicLibraryErrorInvalidFile = 1,
    MTLDynamicLibraryErrorCompilationFailure = 2,
    MTLDynamicLibraryErrorUnresolvedInstallName = 3,
    MTLDynamicLibraryErrorDependencyLoadFailure = 4,
    MTLDynamicLibraryErrorUnsupported = 5,
};

MTL_EXTERN NSErrorDomain const MTLDynamicLibraryDomain;

@protocol MTLDynamicLibrary<NSObject>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) NSString *installName;

- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
@end

#endif
