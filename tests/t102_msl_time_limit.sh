# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a time limit that is no number is told, and the usual one is used instead
. "$TESTLIB/sh.sh"

SOFTMETAL_TIME_LIMIT=soon run_ok "$BUILD/tests/unit/msl_grid"
assert_has err 'SOFTMETAL_TIME_LIMIT=soon is not a number of seconds'
# Without a limit ("0") kernels run as they do with one.
SOFTMETAL_TIME_LIMIT=0 run_ok "$BUILD/tests/unit/msl_grid"
assert_lacks err 'SOFTMETAL_TIME_LIMIT'
