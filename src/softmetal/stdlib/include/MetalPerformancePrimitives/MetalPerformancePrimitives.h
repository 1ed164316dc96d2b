// SPDX-License-Identifier: MIT
// namespace mpp is in the precompiled msl.h.
#pragma once
#include <metal_tensor>
