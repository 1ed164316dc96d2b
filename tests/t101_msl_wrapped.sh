# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# serial
# shows: kernels give the same results through two debug layers, and on the device without Apple's features
. "$TESTLIB/sh.sh"

for name in barrier constants language llama_style; do
    SOFTMETAL_DEBUG_LAYER=2 run_ok "$BUILD/tests/unit/msl_$name"
    SOFTMETAL_PROFILE=amd run_ok "$BUILD/tests/unit/msl_$name"
done
