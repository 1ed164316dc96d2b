// SPDX-License-Identifier: MIT
// Metal's standard library for softmetal: put before every rewritten MSL source, as a precompiled header. The
// source itself sees only macros.h while it is preprocessed. Nothing here includes a system header.
#pragma once
#define SM_IN_KERNEL
#include "kernel_abi.h"

#include "msl_array.h"
#include "msl_atomic.h"
#include "msl_compat.h"
#include "msl_cooperative_tensor.h"
#include "msl_entry.h"
#include "msl_integer.h"
#include "msl_limits.h"
#include "msl_log.h"
#include "msl_long_vector.h"
#include "msl_math.h"
#include "msl_matmul.h"
#include "msl_matrix.h"
#include "msl_pack.h"
#include "msl_packed.h"
#include "msl_quad.h"
#include "msl_simd.h"
#include "msl_simdgroup_matrix.h"
#include "msl_tensor.h"
#include "msl_texture.h"
#include "msl_traits.h"
#include "msl_types.h"
#include "msl_vector.h"
