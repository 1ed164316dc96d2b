// SPDX-License-Identifier: MIT
// Starts and stops captures. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLCAPTUREMANAGER_H
#define SOFTMETAL_MTLCAPTUREMANAGER_H

#import <Metal/MTLDefines.h>

@protocol MTLCaptureScope;
@protocol MTLCommandQueue;
@protocol MTLDevice;

MTL_EXTERN NSErrorDomain const MTLCaptureErrorDomain;

typedef NS_ENUM(NSInteger, MTLCaptureError) {
    MTLCaptureErrorNotSupported = 1,
    MTLCaptureErrorAlreadyCapturing = 2,
    MTLCaptureErrorInvalidDescriptor = 3,
};

typedef NS_ENUM(NSInteger, MTLCaptureDestination) {
    MTLCaptureDestinationDeveloperTools = 1,
    MTLCaptureDestinationGPUTraceDocument = 2,
};

@interface MTLCaptureDescriptor : NSObject<NSCopying> {
  @private
    id _captureObject;
    MTLCaptureDestination _destination;
    NSURL *_outputURL;
}
@property (nonatomic, retain) id captureObject;
@property (nonatomic) MTLCaptureDestination destination;
@property (nonatomic, copy) NSURL *outputURL;
@end

@interface MTLCaptureManager : NSObject {
  @private
    id<MTLCaptureScope> _defaultCaptureScope;
    BOOL _isCapturing;
}
@property (retain) id<MTLCaptureScope> defaultCaptureScope;
@property (readonly) BOOL isCapturing;

+ (MTLCaptureManager *)sharedCaptureManager;
- (id<MTLCaptureScope>)newCaptureScopeWithDevice:(id<MTLDevice>)device;
- (id<MTLCaptureScope>)newCaptureScopeWithCommandQueue:(id<MTLCommandQueue>)commandQueue;
- (BOOL)supportsDestination:(MTLCaptureDestination)destination;
- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor *)descriptor error:(NSError **)error;
- (void)startCaptureWithDevice:(id<MTLDevice>)device;
- (void)startCaptureWithCommandQueue:(id<MTLCommandQueue>)commandQueue;
- (void)startCaptureWithScope:(id<MTLCaptureScope>)scope;
- (void)stopCapture;
@end

#endif
