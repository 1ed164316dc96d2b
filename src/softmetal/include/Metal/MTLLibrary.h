// SPDX-License-Identifier: MIT
// Libraries of kernels, the functions in them, and how source text is compiled. Own declarations for programs
// on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLLIBRARY_H
#define SOFTMETAL_MTLLIBRARY_H

#import <Metal/MTLArgument.h>
#import <Metal/MTLDataType.h>
#import <Metal/MTLFunctionConstantValues.h>
#import <Metal/MTLFunctionDescriptor.h>
#import <Metal/MTLTypes.h>

@class MTLArgument, MTLFunctionConstant;
@protocol MTLArgumentEncoder;
@protocol MTLDevice;
@protocol MTLDynamicLibrary;

typedef MTLArgument *MTLAutoreleasedArgument;

typedef NS_ENUM(NSUInteger, MTLFunctionType) {
    MTLFunctionTypeVertex = 1,
    MTLFunctionTypeFragment = 2,
    MTLFunctionTypeKernel = 3,
    MTLFunctionTypeVisible = 5,
    MTLFunctionTypeIntersection = 6,
    MTLFunctionTypeMesh = 7,
    MTLFunctionTypeObject = 8,
};

@interface MTLFunctionConstant : NSObject {
  @private
    NSString *_name;
    MTLDataType _type;
    NSUInteger _index;
    BOOL _required;
}
@property (readonly) NSString *name;
@property (readonly) MTLDataType type;
@property (readonly) NSUInteger index;
@property (readonly) BOOL required;
@end

@protocol MTLFunction<NSObject>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTLFunctionType functionType;
@property (readonly) NSString *name;
@property (readonly) MTL_DICTIONARY_OF(NSString *, MTLFunctionConstant *) * functionConstantsDictionary;
@property (readonly) MTLFunctionOptions options;

- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex;
- (id<MTLArgumentEncoder>)newArgumentEncoderWithBufferIndex:(NSUInteger)bufferIndex
                                                 reflection:(MTLAutoreleasedArgument *)reflection;
@end

typedef NS_ENUM(NSUInteger, MTLLanguageVersion) {
    MTLLanguageVersion1_0 = (1 << 16) + 0,
    MTLLanguageVersion1_1 = (1 << 16) + 1,
    MTLLanguageVersion1_2 = (1 << 16) + 2,
    MTLLanguageVersion2_0 = (2 << 16) + 0,
    MTLLanguageVersion2_1 = (2 << 16) + 1,
    MTLLanguageVersion2_2 = (2 << 16) + 2,
    MTLLanguageVersion2_3 = (2 << 16) + 3,
    MTLLanguageVersion2_4 = (2 << 16) + 4,
    MTLLanguageVersion3_0 = (3 << 16) + 0,
    MTLLanguageVersion3_1 = (3 << 16) + 1,
    MTLLanguageVersion3_2 = (3 << 16) + 2,
    MTLLanguageVersion4_0 = (4 << 16) + 0,
};

typedef NS_ENUM(NSInteger, MTLLibraryType) {
    MTLLibraryTypeExecutable = 0,
    MTLLibraryTypeDynamic = 1,
};

typedef NS_ENUM(NSInteger, MTLLibraryOptimizationLevel) {
    MTLLibraryOptimizationLevelDefault = 0,
    MTLLibraryOptimizationLevelSize = 1,
};

typedef NS_ENUM(NSInteger, MTLCompileSymbolVisibility) {
    MTLCompileSymbolVisibilityDefault = 0,
    MTLCompileSymbolVisibilityHidden = 1,
};

typedef NS_ENUM(NSInteger, MTLMathMode) {
    MTLMathModeSafe = 0,
    MTLMathModeRelaxed = 1,
    MTLMathModeFast = 2,
};

typedef NS_ENUM(NSInteger, MTLMathFloatingPointFunctions) {
    MTLMathFloatingPointFunctionsFast = 0,
    MTLMathFloatingPointFunctionsPrecise = 1,
};

@interface MTLCompileOptions : NSObject<NSCopying> {
  @private
    MTL_DICTIONARY_OF(NSString *, NSObject *) * _preprocessorMacros;
    BOOL _fastMathEnabled;
    MTLLanguageVersion _languageVersion;
    MTLLibraryType _libraryType;
    NSString *_installName;
    MTL_ARRAY_OF(id<MTLDynamicLibrary>) * _libraries;
    BOOL _preserveInvariance;
    MTLLibraryOptimizationLevel _optimizationLevel;
    MTLCompileSymbolVisibility _compileSymbolVisibility;
    BOOL _allowReferencingUndefinedSymbols;
    NSUInteger _maxTotalThreadsPerThreadgroup;
    MTLMathMode _mathMode;
    MTLMathFloatingPointFunctions _mathFloatingPointFunctions;
    BOOL _enableLogging;
    MTLSize _requiredThreadsPerThreadgroup;
}
@property (nonatomic, copy) MTL_DICTIONARY_OF(NSString *, NSObject *) * preprocessorMacros;
@property (nonatomic) BOOL fastMathEnabled;
@property (nonatomic) MTLLanguageVersion languageVersion;
@property (nonatomic) MTLLibraryType libraryType;
@property (nonatomic, copy) NSString *installName;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLDynamicLibrary>) * libraries;
@property (nonatomic) BOOL preserveInvariance;
@property (nonatomic) MTLLibraryOptimizationLevel optimizationLevel;
@property (nonatomic) MTLCompileSymbolVisibility compileSymbolVisibility;
@property (nonatomic) BOOL allowReferencingUndefinedSymbols;
@property (nonatomic) NSUInteger maxTotalThreadsPerThreadgroup;
@property (nonatomic) MTLMathMode mathMode;
@property (nonatomic) MTLMathFloatingPointFunctions mathFloatingPointFunctions;
@property (nonatomic) BOOL enableLogging;
@property (nonatomic) MTLSize requiredThreadsPerThreadgroup;
@end

MTL_EXTERN NSErrorDomain const MTLLibraryErrorDomain;

typedef NS_ENUM(NSUInteger, MTLLibraryError) {
    MTLLibraryErrorUnsupported = 1,
    MTLLibraryErrorInternal = 2,
    MTLLibraryErrorCompileFailure = 3,
    MTLLibraryErrorCompileWarning = 4,
    MTLLibraryErrorFunctionNotFound = 5,
    MTLLibraryErrorFileNotFound = 6,
};

@protocol MTLLibrary<NSObject>
@property (copy) NSString *label;
@property (readonly) id<MTLDevice> device;
@property (readonly) MTL_ARRAY_OF(NSString *) * functionNames;
@property (readonly) MTLLibraryType type;
@property (readonly) NSString *installName;

- (id<MTLFunction>)newFunctionWithName:(NSString *)name;
- (id<MTLFunction>)newFunctionWithName:(NSString *)name
                        constantValues:(MTLFunctionConstantValues *)constantValues
                                 error:(NSError **)error;
#if MTL_HAS_BLOCKS
- (void)newFunctionWithName:(NSString *)name
             constantValues:(MTLFunctionConstantValues *)constantValues
          completionHandler:(void (^)(id<MTLFunction>, NSError *))completionHandler;
- (void)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor
                completionHandler:(void (^)(id<MTLFunction>, NSError *))completionHandler;
#endif
- (id<MTLFunction>)newFunctionWithDescriptor:(MTLFunctionDescriptor *)descriptor error:(NSError **)error;
@end

#endif
