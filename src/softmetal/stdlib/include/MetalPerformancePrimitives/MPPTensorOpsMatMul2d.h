// SPDX-License-Identifier: MIT
#pragma once
#include <metal_tensor>
