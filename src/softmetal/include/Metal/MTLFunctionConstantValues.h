// SPDX-License-Identifier: MIT
// Values for the function constants of a specialised kernel. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLFUNCTIONCONSTANTVALUES_H
#define SOFTMETAL_MTLFUNCTIONCONSTANTVALUES_H

#import <Metal/MTLDataType.h>

@interface MTLFunctionConstantValues : NSObject<NSCopying> {
  @private
    NSMutableDictionary *_byIndex;
    NSMutableDictionary *_byName;
}
- (void)setConstantValue:(const void *)value type:(MTLDataType)type atIndex:(NSUInteger)index;
- (void)setConstantValues:(const void *)values type:(MTLDataType)type withRange:(NSRange)range;
- (void)setConstantValue:(const void *)value type:(MTLDataType)type withName:(NSString *)name;
- (void)reset;
@end

#endif
