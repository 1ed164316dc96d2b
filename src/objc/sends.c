// SPDX-License-Identifier: MIT
// The bodies of the functions of sends.h, made from sends.def, and the table of their selectors.
// A selector is registered when its message is first sent. Two threads may do that at once: both get the same
// one.
#include "objc/sends.h"

#include <stdatomic.h>

enum selector_index {
#define SEND(result, name, selector, parameters, arguments) SELECTOR_##name,
#define SEND_VOID(name, selector, parameters, arguments) SELECTOR_##name,
#include "objc/sends.def"
#undef SEND
#undef SEND_VOID
    SELECTOR_COUNT
};

static const char *const selector_names[SELECTOR_COUNT] = {
#define SEND(result, name, selector, parameters, arguments) selector,
#define SEND_VOID(name, selector, parameters, arguments) selector,
#include "objc/sends.def"
#undef SEND
#undef SEND_VOID
};

static _Atomic(SEL) selectors[SELECTOR_COUNT];

static SEL selector_at(enum selector_index index)
{
    SEL selector = atomic_load_explicit(&selectors[index], memory_order_acquire);
    if (!selector) {
        selector = mt_objc_selector(selector_names[index]);
        atomic_store_explicit(&selectors[index], selector, memory_order_release);
    }
    return selector;
}

// The platforms' limit for results in registers. Larger ones come back through memory, with a messenger of
// its own on x86_64 macOS.
enum { RESULT_IN_REGISTERS_BYTES = 16 };

static mt_objc_imp lookup(id self, SEL selector, size_t result_bytes)
{
    return result_bytes > RESULT_IN_REGISTERS_BYTES ? mt_objc_lookup_struct(self, selector)
                                                    : mt_objc_lookup(self, selector);
}

#define SEND(result, name, selector, parameters, arguments)                                                  \
    result mtl_##name(id self MTL_SEND_ALSO parameters)                                                      \
    {                                                                                                        \
        if (!self)                                                                                           \
            return (result){0};                                                                              \
        SEL op = selector_at(SELECTOR_##name);                                                               \
        return ((result(*)(id, SEL MTL_SEND_ALSO parameters))lookup(self, op, sizeof(result)))(              \
            self, op MTL_SEND_ALSO arguments);                                                               \
    }
#define SEND_VOID(name, selector, parameters, arguments)                                                     \
    void mtl_##name(id self MTL_SEND_ALSO parameters)                                                        \
    {                                                                                                        \
        if (!self)                                                                                           \
            return;                                                                                          \
        SEL op = selector_at(SELECTOR_##name);                                                               \
        ((void (*)(id, SEL MTL_SEND_ALSO parameters))mt_objc_lookup(self, op))(self,                         \
                                                                               op MTL_SEND_ALSO arguments);  \
    }
#include "objc/sends.def"
