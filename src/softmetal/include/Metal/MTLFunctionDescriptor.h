// SPDX-License-Identifier: MIT
// How a function is taken out of a library. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLFUNCTIONDESCRIPTOR_H
#define SOFTMETAL_MTLFUNCTIONDESCRIPTOR_H

#import <Metal/MTLDefines.h>

@class MTLFunctionConstantValues;
@protocol MTLBinaryArchive;

typedef NS_OPTIONS(NSUInteger, MTLFunctionOptions) {
    MTLFunctionOptionNone = 0,
    MTLFunctionOptionCompileToBinary = 1,
    MTLFunctionOptionStoreFunctionInMetalScript = 2,
    MTLFunctionOptionStoreFunctionInMetalPipelinesScript = 2,
    MTLFunctionOptionFailOnBinaryArchiveMiss = 4,
    MTLFunctionOptionPipelineIndependent = 8,
};

@interface MTLFunctionDescriptor : NSObject<NSCopying> {
  @private
    NSString *_name;
    NSString *_specializedName;
    MTLFunctionConstantValues *_constantValues;
    MTLFunctionOptions _options;
    MTL_ARRAY_OF(id<MTLBinaryArchive>) * _binaryArchives;
}
@property (nonatomic, copy) NSString *name;
@property (nonatomic, copy) NSString *specializedName;
@property (nonatomic, copy) MTLFunctionConstantValues *constantValues;
@property (nonatomic) MTLFunctionOptions options;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLBinaryArchive>) * binaryArchives;

+ (MTLFunctionDescriptor *)functionDescriptor;
@end

#endif
