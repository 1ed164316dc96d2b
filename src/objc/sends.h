// SPDX-License-Identifier: MIT
// One C function per row of sends.def: mtl_<name>(id self, ...) sends that message. A nil receiver is allowed
// and gives zero, on both runtimes. Any thread may call them, as far as Metal itself allows it for the
// object.
#ifndef MT_OBJC_SENDS_H
#define MT_OBJC_SENDS_H

#include "objc/metal_c.h"
#include "objc/objc.h"

#define MTL_SEND_ALSO(...) , ##__VA_ARGS__
#define SEND(result, name, selector, parameters, arguments)                                                  \
    result mtl_##name(id self MTL_SEND_ALSO parameters);
#define SEND_VOID(name, selector, parameters, arguments) void mtl_##name(id self MTL_SEND_ALSO parameters);
#include "objc/sends.def"
#undef SEND
#undef SEND_VOID

#endif
