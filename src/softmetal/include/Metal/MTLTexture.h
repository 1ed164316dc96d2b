// SPDX-License-Identifier: MIT
// The names of texture types that compute selectors mention. Softmetal has no textures. Own declarations for
// programs on Linux; names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLTEXTURE_H
#define SOFTMETAL_MTLTEXTURE_H

#import <Metal/MTLDefines.h>

@protocol MTLTexture;
@protocol MTLSamplerState;
@class MTLTextureDescriptor, MTLSamplerDescriptor;

#endif
