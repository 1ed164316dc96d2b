# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: heaps, events, residency sets, captures and compilation are safe with many threads
# timeout: 600
# serial
. "$TESTLIB/sh.sh"

METAL_CAPTURE_ENABLED=1 run_ok "$targets/stress_resources"
assert_has out 'notified: 1000, compiled: 60, captured: some, wrong: 0'
assert_eq 'sanitizer and other messages' '' "$(cat err)"
