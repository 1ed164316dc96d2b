# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: SOFTMETAL_PROFILE=apple|amd|none gives devices that differ in name, classes, families, memory and counters
. "$TESTLIB/sh.sh"

# What a device prints, as: fact, apple, amd, none.
facts='
name|Softmetal G1|Softmetal R1|Softmetal R1
architecture|softgpu_g13s|softgpu_r13d|softgpu_r13d
device class|SoftG1Device|SoftR1Device|SoftR1Device
queue class|SoftG1FamilyCommandQueue|SoftR1CommandQueue|SoftR1CommandQueue
command buffer class|SoftG1FamilyCommandBuffer|SoftR1CommandBuffer|SoftR1CommandBuffer
allocation 0|SoftG1Buffer|SoftR1Buffer|SoftR1Buffer
unified memory|yes|no|no
built in|yes|no|no
apple1|yes|no|no
apple7|yes|no|no
apple9|no|no|no
mac2|yes|yes|yes
common3|yes|yes|yes
metal3|yes|yes|yes
at stage boundary|yes|no|no
at dispatch boundary|no|yes|no
at blit boundary|no|yes|no
at draw boundary|no|no|no
counter sets|timestamp|timestamp|nil
samples|in order|in order|
sample buffer|||MTLCounterErrorDomain 1
command buffer 2|status 4, error none 0|status 4, error none 0|status 4, error none 0
'

column=2
for profile in apple amd none; do
    SOFTMETAL_PROFILE=$profile run_ok "$targets/faults"
    assert_eq "messages with $profile" '' "$(cat err)"
    printf '%s\n' "$facts" | grep . | while IFS= read -r line; do
        fact=$(printf '%s' "$line" | cut -d'|' -f1)
        expected=$(printf '%s' "$line" | cut -d'|' -f$column)
        assert_eq "$profile, $fact" "$expected" "$(sed -n "s/^$fact: //p" out)"
    done
    mv out "$profile"
    column=$((column + 1))
done

# Nothing said is apple; what is not known is told in one line and counts as nothing said.
run_ok "$targets/faults"
cmp out apple
SOFTMETAL_PROFILE=intel run_ok "$targets/faults"
cmp out apple
assert_eq 'message' 'softmetal: SOFTMETAL_PROFILE=intel is not known; expected apple, amd or none' "$(cat err)"

# Rules differ with the sampling points: what one device does, the other refuses.
for profile in apple amd none; do
    SOFTMETAL_PROFILE=$profile run "$targets/misuse_resources" heap-purgeable
    expected=$([ "$profile" = apple ] && echo 134 || echo 0)
    assert_eq "purgeable state of a heap's buffer on $profile" "$expected" "$status"
done
