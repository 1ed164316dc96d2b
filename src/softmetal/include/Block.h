// SPDX-License-Identifier: MIT
// Block_copy and Block_release, which on macOS are part of the system. Their code is in libMetal, which has
// to be linked before GNUstep Base (-lMetal ... -lgnustep-base): that brings functions of the same names
// which leave clang's blocks on the stack.
#ifndef SOFTMETAL_BLOCK_H
#define SOFTMETAL_BLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

// A reference to the block on the heap, owned by the caller; a block on the stack is copied there first, with
// all that it captured. NULL if memory is short.
void *_Block_copy(const void *block);
void _Block_release(const void *block);

#ifdef __cplusplus
}
#endif

#define Block_copy(...) ((__typeof__(__VA_ARGS__))_Block_copy((const void *)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void *)(__VA_ARGS__))

#endif
