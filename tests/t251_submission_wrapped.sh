# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: queues, command buffers, encoders, handlers, errors, samples behave alike behind wrappers and on other GPUs
# timeout: 600
. "$TESTLIB/sh.sh"

for setting in SOFTMETAL_DEBUG_LAYER=1 SOFTMETAL_DEBUG_LAYER=2 SOFTMETAL_PROFILE=amd SOFTMETAL_PROFILE=none \
    'SOFTMETAL_DEBUG_LAYER=2 SOFTMETAL_PROFILE=amd' SOFTMETAL_VALIDATE=1; do
    for source in "$SRC"/tests/unit/submit_*.m; do
        name=$(basename "$source" .m)
        # shellcheck disable=SC2086 # a setting may be two
        run_ok env $setting "$BUILD/tests/unit/$name"
        assert_matches out '^[1-9][0-9]* checks, 0 failed$'
        assert_eq "messages of $name with $setting" '' "$(cat err)"
    done
done
