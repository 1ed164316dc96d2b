// SPDX-License-Identifier: MIT
// Scalar types of the Metal Shading Language, and the few libc functions that a kernel may import. First of
// the headers that stand for Metal's standard library while softmetal compiles MSL as C++; never includes a
// system header.
#pragma once

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef _Float16 half;
typedef __bf16 bfloat;

extern "C" {
void *memcpy(void *, const void *, unsigned long);
void *memmove(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
}

namespace metal {
using ::bfloat;
using ::half;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::intptr_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
using ::ulong;
using ::ushort;

// Rounds to nearest even with integer operations: LLVM 19 turns the native conversion into a library call on
// x86, which neither vectorises nor exists in every libgcc.
constexpr bfloat __sm_to_bfloat(float f)
{
    uint u = __builtin_bit_cast(uint, f);
    uint rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    uint quiet = (u >> 16) | 0x40u;
    ushort bits = (ushort)(f != f ? quiet : rounded);
    return __builtin_bit_cast(bfloat, bits);
}
constexpr float __sm_from_bfloat(bfloat b)
{
    return __builtin_bit_cast(float, (uint) __builtin_bit_cast(ushort, b) << 16);
}
} // namespace metal

// For the conversions that the user writes: the code generator calls this name.
extern "C" __attribute__((weak, used, visibility("hidden"))) inline bfloat __truncsfbf2(float f)
{
    return metal::__sm_to_bfloat(f);
}
