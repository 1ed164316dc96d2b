// SPDX-License-Identifier: MIT
// Where the text goes that kernels log. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLLOGSTATE_H
#define SOFTMETAL_MTLLOGSTATE_H

#import <Metal/MTLDefines.h>

typedef NS_ENUM(NSInteger, MTLLogLevel) {
    MTLLogLevelUndefined = 0,
    MTLLogLevelDebug = 1,
    MTLLogLevelInfo = 2,
    MTLLogLevelNotice = 3,
    MTLLogLevelError = 4,
    MTLLogLevelFault = 5,
};

@protocol MTLLogState<NSObject>
#if MTL_HAS_BLOCKS
- (void)addLogHandler:(void (^)(NSString *subSystem, NSString *category, MTLLogLevel logLevel,
                                NSString *message))handler;
#endif
@end

@interface MTLLogStateDescriptor : NSObject<NSCopying> {
  @private
    MTLLogLevel _level;
    NSInteger _bufferSize;
}
@property (nonatomic) MTLLogLevel level;
@property (nonatomic) NSInteger bufferSize;
@end

MTL_EXTERN NSErrorDomain const MTLLogStateErrorDomain;

typedef NS_ENUM(NSUInteger, MTLLogStateError) {
    MTLLogStateErrorInvalidSize = 1,
    MTLLogStateErrorInvalid = 2,
};

#endif
