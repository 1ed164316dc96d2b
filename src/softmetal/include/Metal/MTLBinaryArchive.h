// SPDX-License-Identifier: MIT
// Compiled pipelines kept in a file. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLBINARYARCHIVE_H
#define SOFTMETAL_MTLBINARYARCHIVE_H

#import <Metal/MTLDefines.h>

@class MTLComputePipelineDescriptor, MTLFunctionDescriptor;
@protocol MTLDevice;
@protocol MTLLibrary;

MTL_EXTERN NSErrorDomain const MTLBinaryArchiveDomain;

typedef NS_ENUM(NSUInteger, MTLBinaryArchiveError) {
    MTLBinaryArchiveErrorNone = 0,
    MTLBinaryArchiveErrorInvalidFile = 1,
    MTLBinaryArchiveErrorUnexpectedElement = 2,
    MTLBinaryArchiveErrorCompilationFailure = 3,
    MTLBinaryArchiveErrorInternalError = 4,
};

@interface MTLBinaryArchiveDescriptor : NSObject<NSCopying> {
  @private
    NSURL *_url;
}
@property (nonatomic, copy) NSURL *url;
@end

@protocol MTLBinaryArchive<NSObject>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;

- (BOOL)addComputePipelineFunctionsWithDescriptor:(MTLComputePipelineDescriptor *)descriptor
                                            error:(NSError **)error;
- (BOOL)serializeToURL:(NSURL *)url error:(NSError **)error;
- (BOOL)addFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                          library:(id<MTLLibrary>)library
                            error:(NSError **)error;
@end

#endif
