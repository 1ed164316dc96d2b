# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: every rule about buffers, heaps, programs, arguments, indirect commands, counters, events ends in Metal's abort
. "$TESTLIB/sh.sh"

run_ok "$targets/misuse_resources" --list
mv out rules
[ "$(wc -l <rules)" -ge 95 ] || fail "the list of rules is short: $(wc -l <rules)"

wrong=0
while IFS='|' read -r name method text; do
    { run "$targets/misuse_resources" "$name"; } 2>/dev/null # bash tells of every abort
    if [ "$status" = 134 ] && grep -qF -- "$method" err && grep -qF 'failed assertion `' err &&
        grep -qF -- "$text" err; then
        continue
    fi
    printf '%s: exit code %s instead of 134, or another message than %s ... %s:\n' "$name" "$status" "$method" "$text"
    tail -n 5 err
    wrong=$((wrong + 1))
done <rules
assert_eq 'rules that are not kept as they should' 0 "$wrong"
