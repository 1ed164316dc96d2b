# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: resources, programs, events and indirect commands work behind one and two wrappers, and on a discrete GPU
. "$TESTLIB/sh.sh"

for setting in SOFTMETAL_DEBUG_LAYER=1 SOFTMETAL_DEBUG_LAYER=2 SOFTMETAL_PROFILE=amd; do
    for source in "$SRC"/tests/unit/metal_*.m; do
        name=$(basename "$source" .m)
        # The limits in it are those of an Apple GPU.
        [ "$setting $name" = 'SOFTMETAL_PROFILE=amd metal_counters' ] && continue
        mkdir -p "$WORK/$setting/$name" # they write into their working directory
        cd "$WORK/$setting/$name"
        run_ok env "$setting" "$BUILD/tests/unit/$name"
        assert_matches out '^[1-9][0-9]* checks, 0 failed$'
    done
done
