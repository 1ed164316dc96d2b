// SPDX-License-Identifier: MIT
// What a source expects here is in the precompiled msl.h.
#pragma once
#include <metal_tensor>
