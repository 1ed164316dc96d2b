# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: metaltap run of Metal programs: summary, files, children, and a report although the program was killed
# timeout: 600
. "$TESTLIB/sh.sh"

metaltap=$BUILD/bin/metaltap
[ -f "$BUILD/lib/libmetaltap.so" ] || skip 'build/lib/libmetaltap.so is not built'
# field FILE EXPRESSION: something of a report, by Python
field() {
    python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"
}

# output and exit code as without; summary and files on standard error
mkdir default && cd default
run_ok "$targets/demo"
grep -v GPU out | sed 's/ *[0-9.]* ms//' >plain
run_ok "$metaltap" run -- "$targets/demo"
sed 's/ *[0-9.]* ms//' out | grep -v GPU | cmp - plain || fail 'the output has changed'
report=$(echo metaltap-demo-*.json)
assert_matches err "^metaltap: demo\[[0-9]+\]: report $report, recording ${report%.json}.mtap\$"
assert_file "${report%.json}.mtap"
assert_has err vector_add
assert_eq 'dispatches' 3 "$(field "$report" 'r["summary"]["counts"]["dispatches"]')"
assert_eq 'files' 2 "$(find . -name 'metaltap-*' | wc -l)"
cd ..

# quiet: files, no words; spool alone: no report
run_ok "$metaltap" run --quiet --out quiet.json -- "$targets/demo"
assert_lacks err 'demo['
assert_lacks err vector_add
assert_file quiet.json
run_ok "$metaltap" run --spool alone.mtap -- "$targets/demo"
assert_matches err '^metaltap: demo\[[0-9]+\]: recording alone.mtap$'
assert_no_file alone.json
# the same name again: replaced
run_ok "$metaltap" run --out quiet.json --detail summary -- "$targets/demo"
assert_eq 'detail of the second report' summary "$(field quiet.json 'r["detail"]')"
# killed in the middle: the report comes from the recording
"$metaltap" run --out killed.json -- "$targets/stress" 144000 >out 2>err &
launcher=$!
# while it runs: wait for something to be recorded, by the report of a running program
until "$metaltap" report --json live.json --detail summary killed.mtap 2>live_err &&
    [ "$(field live.json 'r["summary"]["counts"]["dispatches"]')" -gt 100 ]; do
    kill -0 $launcher || { show_files err live_err; fail 'the program has ended'; }
    sleep 0.1
done
# held, so that the rest does not depend on how long it would have run
pid=$(field live.json 'r["process"]["pid"]')
kill -STOP "$pid"
assert_eq 'state while it runs' running "$(field live.json 'r["process"]["state"]')"
run_ok "$metaltap" report killed.mtap
assert_has out stir
assert_no_file killed.json
kill -9 "$pid"
status=0
wait $launcher || status=$?
assert_eq 'exit code' 137 "$status"
assert_has err 'metaltap: signal 9 (Killed) ended the program'
assert_matches err '^metaltap: stress\[[0-9]+\]: report killed.json, recording killed.mtap$'
assert_has err stir
[ "$(field killed.json 'r["summary"]["counts"]["dispatches"]')" -gt 100 ] || fail 'too few dispatches'
! grep -q '"state":"ended"' killed.json || fail 'it was killed, not ended'

# an old report under that name is not taken for this run's
run_ok "$metaltap" run --quiet --out stale.json -- "$targets/demo"
cp stale.json before.json
"$metaltap" run --quiet --out stale.json -- "$targets/stress" 144000 >out 2>err &
launcher=$!
until "$metaltap" report --json live.json --detail summary stale.mtap 2>live_err &&
    grep -q '"stir"' live.json; do
    kill -0 $launcher || { show_files err live_err; fail 'the program has ended'; }
    sleep 0.1
done
kill -9 "$(field live.json 'r["process"]["pid"]')"
wait $launcher || :
! cmp -s stale.json before.json || fail 'the report is that of the run before'
assert_has stale.json '"stir"'

# A library with a sanitizer cannot be loaded into programs without, such as the shell.
case $BUILD in */san-*) exit 0 ;; esac
# through a shell, which leaves no files itself, in another folder
mkdir elsewhere
run_ok "$metaltap" run --out sub%n.json -- sh -c "cd elsewhere && '$targets/demo'"
assert_file subdemo.json
assert_has err vector_add
# two programs of one run: a line each and no table, since neither is the one that was started
run_ok "$metaltap" run --out two-%p.json -- sh -c "'$targets/demo'; '$targets/demo'; true"
assert_eq 'reports' 2 "$(find . -name 'two-*.json' | wc -l)"
assert_eq 'lines' 2 "$(grep -cE '^metaltap: demo\[[0-9]+\]: report two-[0-9]+.json, recording two-[0-9]+.mtap$' err)"
assert_lacks err vector_add
# the same with one name for both: the second has its number in it, and is found under that
run_ok "$metaltap" run --out same.json -- sh -c "'$targets/demo'; '$targets/demo'; true"
assert_matches err '^metaltap: demo\[[0-9]+\]: report same.json, recording same.mtap$'
assert_matches err '^metaltap: demo\[([0-9]+)\]: report same-\1.json, recording same-\1.mtap$'
