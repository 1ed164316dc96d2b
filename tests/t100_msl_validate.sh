# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# serial
# shows: the kernels of the language tests run in guarded memory, none reaches outside, and results stay the same
. "$TESTLIB/sh.sh"

export SOFTMETAL_VALIDATE=1
for name in barrier atomic grid tiles llama_style mlx_style generated_style; do
    run_ok "$BUILD/tests/unit/msl_$name"
    assert_has out ' 0 failed'
done
