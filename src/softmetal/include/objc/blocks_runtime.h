// SPDX-License-Identifier: MIT
// GNUstep's headers ask for this file when the compiler has blocks; GCC's libobjc does not bring it. The
// block functions themselves come from libMetal. On the include path of every Metal program on Linux.
#ifndef SOFTMETAL_OBJC_BLOCKS_RUNTIME_H
#define SOFTMETAL_OBJC_BLOCKS_RUNTIME_H

#include <Block.h>

#endif
