// SPDX-License-Identifier: MIT
// The text of a kernel's log call. Plain C.
#ifndef SOFTMETAL_METAL_LOG_FORMAT_H
#define SOFTMETAL_METAL_LOG_FORMAT_H

#include "kernel_abi.h"

#include <stdint.h>

// printf over the values that the kernel passed; "%v4f" takes four. The caller frees it; NULL without memory.
char *sm_log_format(const char *format, const sm_log_value *values, uint32_t count);

#endif
