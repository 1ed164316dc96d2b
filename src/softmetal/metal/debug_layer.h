// SPDX-License-Identifier: MIT
// Wrapper objects around queues, command buffers and encoders (SOFTMETAL_DEBUG_LAYER), as Metal's validation
// layers are: the application holds the outermost, each call goes through all of them. Every method is real,
// so that the runtime's class_getInstanceMethod finds it. The macros below write those that only pass on.
#ifndef SOFTMETAL_METAL_DEBUG_LAYER_H
#define SOFTMETAL_METAL_DEBUG_LAYER_H

#import "metal/submission.h"

#define SM_PASS0(type, a)                                                                                    \
    -(type)a                                                                                                 \
    {                                                                                                        \
        return [_inner a];                                                                                   \
    }
#define SM_PASS1(type, a, A)                                                                                 \
    -(type)a : (A)x                                                                                          \
    {                                                                                                        \
        return [_inner a:x];                                                                                 \
    }
#define SM_PASS2(type, a, A, b, B)                                                                           \
    -(type)a : (A)x b : (B)y                                                                                 \
    {                                                                                                        \
        return [_inner a:x b:y];                                                                             \
    }
#define SM_PASS3(type, a, A, b, B, c, C)                                                                     \
    -(type)a : (A)x b : (B)y c : (C)z                                                                        \
    {                                                                                                        \
        return [_inner a:x b:y c:z];                                                                         \
    }
#define SM_PASS4(type, a, A, b, B, c, C, d, D)                                                               \
    -(type)a : (A)x b : (B)y c : (C)z d : (D)w                                                               \
    {                                                                                                        \
        return [_inner a:x b:y c:z d:w];                                                                     \
    }
#define SM_PASS5(type, a, A, b, B, c, C, d, D, e, E)                                                         \
    -(type)a : (A)x b : (B)y c : (C)z d : (D)w e : (E)v                                                      \
    {                                                                                                        \
        return [_inner a:x b:y c:z d:w e:v];                                                                 \
    }

@class _SMLayerCommandQueue;

@interface _SMLayer : NSObject {
  @public
    id inner; // retained
}
- (instancetype)initWithInner:(id)object;
@end

@interface _SMLayerCommandBuffer : _SMLayer<MTLCommandBuffer> {
  @protected
    id<MTLCommandBuffer> _inner;  // _SMLayer's, with its type
    _SMLayerCommandQueue *_queue; // retained
}
- (instancetype)initWithInner:(id)object queue:(_SMLayerCommandQueue *)queue;
@end

// Encoders keep the wrapper of their command buffer alive.
@interface _SMLayerComputeCommandEncoder : _SMLayer<MTLComputeCommandEncoder> {
  @protected
    id<MTLComputeCommandEncoder> _inner;
    _SMLayerCommandBuffer *_buffer; // retained
}
- (instancetype)initWithInner:(id)object buffer:(_SMLayerCommandBuffer *)buffer;
@end

@interface _SMLayerBlitCommandEncoder : _SMLayer<MTLBlitCommandEncoder> {
  @protected
    id<MTLBlitCommandEncoder> _inner;
    _SMLayerCommandBuffer *_buffer; // retained
}
- (instancetype)initWithInner:(id)object buffer:(_SMLayerCommandBuffer *)buffer;
@end

// The classes of one layer.
@interface SMDebugComputeCommandEncoder : _SMLayerComputeCommandEncoder
@end
@interface SMDebugBlitCommandEncoder : _SMLayerBlitCommandEncoder
@end
@interface SMGPUDebugComputeCommandEncoder : _SMLayerComputeCommandEncoder
@end
@interface SMGPUDebugBlitCommandEncoder : _SMLayerBlitCommandEncoder
@end

#endif
