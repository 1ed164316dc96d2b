// SPDX-License-Identifier: MIT
// Further functions that a pipeline may call. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLLINKEDFUNCTIONS_H
#define SOFTMETAL_MTLLINKEDFUNCTIONS_H

#import <Metal/MTLDefines.h>

@protocol MTLFunction;

@interface MTLLinkedFunctions : NSObject<NSCopying> {
  @private
    MTL_ARRAY_OF(id<MTLFunction>) * _functions;
    MTL_ARRAY_OF(id<MTLFunction>) * _binaryFunctions;
    MTL_DICTIONARY_OF(NSString *, MTL_ARRAY_OF(id<MTLFunction>) *) * _groups;
    MTL_ARRAY_OF(id<MTLFunction>) * _privateFunctions;
}
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLFunction>) * functions;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLFunction>) * binaryFunctions;
@property (nonatomic, copy) MTL_DICTIONARY_OF(NSString *, MTL_ARRAY_OF(id<MTLFunction>) *) * groups;
@property (nonatomic, copy) MTL_ARRAY_OF(id<MTLFunction>) * privateFunctions;

+ (MTLLinkedFunctions *)linkedFunctions;
@end

#endif
