// SPDX-License-Identifier: MIT
// MTLDataType by name and size. Plain C.
#ifndef SOFTMETAL_METAL_DATA_TYPE_H
#define SOFTMETAL_METAL_DATA_TYPE_H

#include <stddef.h>
#include <stdint.h>

uint32_t sm_data_type_named(const char *type); // MTLDataTypeStruct for a name that is not a scalar or vector
size_t sm_data_type_size(uint32_t type); // bytes of one value; 0 if it is not a scalar, vector or pointer
void sm_data_type_text(uint32_t type, char *text, size_t room); // "float4"

#endif
