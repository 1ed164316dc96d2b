# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: two queues, eight threads encoding, 10,000 command buffers: exact results, each executed once; any wrapper depth
# timeout: 900
# serial
. "$TESTLIB/sh.sh"

# What the program says it submitted is what the execution log says was run.
run_logged() {
    rm -f log
    SOFTMETAL_LOG=log run_ok "$@"
    assert_has out 'wrong: 0'
    assert_eq "sanitizer and other messages of $*" '' "$(cat err)"
    assert_eq 'command buffers in the log' "$(sed -n 's/^command buffers: \([0-9]*\),.*/\1/p' out)" \
        "$(grep -c '"event":"command_buffer"' log)"
    assert_eq 'dispatches in the log' "$(sed -n 's/.*dispatches: \([0-9]*\),.*/\1/p' out)" \
        "$(grep -c '"event":"dispatch"' log)"
    assert_count log '"status":4' "$(sed -n 's/^command buffers: \([0-9]*\),.*/\1/p' out)"
}

run_logged "$targets/stress"
assert_has out 'command buffers: 10002,' # and one more on each queue, at the end
for depth in 1 2; do
    SOFTMETAL_DEBUG_LAYER=$depth run_logged "$targets/stress" 1600
done
