// SPDX-License-Identifier: MIT
// Empty: what a source expects here is in the precompiled msl.h.
