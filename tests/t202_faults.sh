# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: every SOFTMETAL_FAULT switch does what it says and nothing else, alone and together; unknown ones are told
. "$TESTLIB/sh.sh"

run_ok "$targets/faults"
mv out plain

# changes FAULT LINE...: with the fault exactly these lines are new. What was there instead is gone.
changes() {
    local fault=$1
    shift
    SOFTMETAL_FAULT=$fault run_ok "$targets/faults"
    assert_eq "new lines with $fault" "$(printf '%s\n' "$@")" "$(grep -vxFf plain out || :)"
    assert_eq "messages with $fault" '' "$(cat err)"
}

failed='status 5, error MTLCommandBufferErrorDomain 1'
changes fail-cb:0 "command buffer 0: $failed"
changes fail-cb:2 "command buffer 2: $failed"
changes fail-alloc:0 'allocation 0: nil'
changes fail-alloc:1 'allocation 1: nil'
changes nil-counter-sets 'counter sets: nil' 'sample buffer: MTLCounterErrorDomain 1'
changes zero-samples 'samples: zero'
changes error-samples 'samples: errors'
changes fail-cb:1,fail-alloc:2,error-samples 'allocation 2: nil' "command buffer 1: $failed" 'samples: errors'
changes zero-samples,error-samples 'samples: errors'
changes fail-cb:1000000

# The fourth command buffer is the one with the samples: they never land.
changes fail-cb:3 'samples: zero'

# With any wrapper depth, and on the other devices.
for depth in 1 2; do
    SOFTMETAL_DEBUG_LAYER=$depth SOFTMETAL_FAULT=fail-cb:1,error-samples run_ok "$targets/faults"
    assert_has out "command buffer 1: $failed"
    assert_has out 'samples: errors'
done
SOFTMETAL_PROFILE=amd SOFTMETAL_FAULT=zero-samples run_ok "$targets/faults"
assert_has out 'samples: zero'

for fault in nonsense fail-cb fail-cb: fail-cb:x fail-cb:-1 fail-alloc:1x zero-sample; do
    SOFTMETAL_FAULT=$fault run_ok "$targets/faults"
    cmp out plain
    assert_eq "message for $fault" "softmetal: SOFTMETAL_FAULT=$fault is not known; expected fail-cb:N, \
fail-alloc:N, nil-counter-sets, zero-samples, error-samples, or several with commas" "$(cat err)"
done

# A wrong one does not hide the others.
SOFTMETAL_FAULT=fail-alloc:0,nonsense,fail-cb:0 run_ok "$targets/faults"
assert_count err 'is not known' 1
assert_has out 'allocation 0: nil'
assert_has out "command buffer 0: $failed"
