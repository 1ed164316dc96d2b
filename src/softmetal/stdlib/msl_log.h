// SPDX-License-Identifier: MIT
// metal::os_log: the kernel's messages, handed to the executor through sm_args.log. The level is os_log's
// type number (0 default, 1 info, 2 debug, 16 error, 17 fault).
#pragma once
#include "kernel_abi.h"
#include "msl_traits.h"

namespace metal {
template <class T>
inline sm_log_value __sm_log_value(T x)
{
    sm_log_value v = {};
    if constexpr (is_floating_point_v<T>)
        v.kind = 'f', v.as.f = (double)(float)x;
    else if constexpr (is_same_v<T, const char *> || is_same_v<T, char *>)
        v.kind = 's', v.as.s = x;
    else if constexpr (is_pointer_v<T>)
        v.kind = 'p', v.as.p = (const void *)x;
    else if constexpr (is_unsigned_v<T>)
        v.kind = 'u', v.as.u = (sm_u64)x;
    else
        v.kind = 'i', v.as.i = (long)x;
    return v;
}

enum os_log_type {
    os_log_type_default = 0,
    os_log_type_info = 1,
    os_log_type_debug = 2,
    os_log_type_error = 16,
    os_log_type_fault = 17,
};
struct os_log {
    constexpr os_log(const char *, const char *) {}
    template <class... A>
    void log(const char *format, A... a) const
    {
        log_with_type(os_log_type_default, format, a...);
    }
    template <class... A>
    void log_info(const char *format, A... a) const
    {
        log_with_type(os_log_type_info, format, a...);
    }
    template <class... A>
    void log_debug(const char *format, A... a) const
    {
        log_with_type(os_log_type_debug, format, a...);
    }
    template <class... A>
    void log_error(const char *format, A... a) const
    {
        log_with_type(os_log_type_error, format, a...);
    }
    template <class... A>
    void log_fault(const char *format, A... a) const
    {
        log_with_type(os_log_type_fault, format, a...);
    }
    template <class... A>
    void log_with_type(os_log_type type, const char *format, A... a) const
    {
        sm_log_value values[sizeof...(A) + 1] = {__sm_log_value(a)...};
        __sm_args()->log(__sm_args(), type, format, values, sizeof...(A));
    }
};
constexpr os_log os_log_default("", "default");
} // namespace metal
