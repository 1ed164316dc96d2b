// SPDX-License-Identifier: MIT
// Sizes, origins, regions and small value types that many calls take. Own declarations for programs on Linux;
// names, selectors and values are those of Metal. Declares only what softmetal has.
#ifndef SOFTMETAL_MTLTYPES_H
#define SOFTMETAL_MTLTYPES_H

#import <Metal/MTLDefines.h>

typedef struct {
    NSUInteger x;
    NSUInteger y;
    NSUInteger z;
} MTLOrigin;

static inline MTLOrigin MTLOriginMake(NSUInteger x, NSUInteger y, NSUInteger z)
{
    MTLOrigin origin = {x, y, z};
    return origin;
}

typedef struct {
    NSUInteger width;
    NSUInteger height;
    NSUInteger depth;
} MTLSize;

static inline MTLSize MTLSizeMake(NSUInteger width, NSUInteger height, NSUInteger depth)
{
    MTLSize size = {width, height, depth};
    return size;
}

typedef struct {
    MTLOrigin origin;
    MTLSize size;
} MTLRegion;

static inline MTLRegion MTLRegionMake1D(NSUInteger x, NSUInteger width)
{
    MTLRegion region = {{x, 0, 0}, {width, 1, 1}};
    return region;
}

static inline MTLRegion MTLRegionMake2D(NSUInteger x, NSUInteger y, NSUInteger width, NSUInteger height)
{
    MTLRegion region = {{x, y, 0}, {width, height, 1}};
    return region;
}

static inline MTLRegion MTLRegionMake3D(NSUInteger x, NSUInteger y, NSUInteger z, NSUInteger width,
                                        NSUInteger height, NSUInteger depth)
{
    MTLRegion region = {{x, y, z}, {width, height, depth}};
    return region;
}

typedef struct MTLResourceID {
    uint64_t _impl;
} MTLResourceID;

typedef uint64_t MTLGPUAddress;

typedef struct {
    NSUInteger size;
    NSUInteger align;
} MTLSizeAndAlign;

#endif
