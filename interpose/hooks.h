// SPDX-License-Identifier: MIT
// The handlers of selectors.def: mt_hook_<ROLE>_<name>, each in the place of the method it is named after,
// with that method's signature. They run on the program's threads.
#ifndef MT_HOOKS_H
#define MT_HOOKS_H

#include "objc/metal_c.h"

#define MT_HOOK_ALSO(...) , ##__VA_ARGS__
#define HOOK(role, name, selector, encoding, result, parameters)                                             \
    result mt_hook_##role##_##name(id self, SEL op MT_HOOK_ALSO parameters);
#include "selectors.def"
#undef HOOK

// The original of a call, with the signature of the handler it is used in.
#define MT_FORWARD(call, result, ...) ((result(*)(id, SEL, ##__VA_ARGS__))(call).original)

#endif
