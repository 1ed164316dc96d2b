# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: the runner tells passed, failed, skipped, hanging and missing tests apart, and its closing line is right
# Runs tests/run on small test folders made here.
. "$TESTLIB/sh.sh"

mkdir tests
make_test() { # NAME BODY...
    local name=$1
    shift
    printf '# shows: %s\n' "$name" >"tests/$name.sh"
    printf '%s\n' "$@" >>"tests/$name.sh"
}
runner() { run "$SRC/tests/run" --tests tests --build build "$@"; }
closing_line() { tail -n 1 out; }
# A killed process may stay a zombie for a while, or for ever if nobody collects orphans here.
must_be_gone() { # PID WHAT
    for _ in $(seq 50); do
        kill -0 "$1" 2>/dev/null || return 0
        grep -q '^State:.*Z' "/proc/$1/status" && return 0
        sleep 0.1
    done
    fail "$2 is still there"
}

make_test t001_good 'test "$PWD" = "$WORK" && test -z "$(ls -A)" && touch made-here'
make_test t002_also_good 'exit 0'
runner
assert_eq 'exit code of two good tests' 0 "$status"
assert_eq 'closing line' '2 passed, 0 failed' "$(closing_line)"
assert_no_file build/tests/work/t001_good

runner --keep t001
assert_eq 'closing line of one test by number' '1 passed, 0 failed' "$(closing_line)"
assert_file build/tests/work/t001_good/made-here

make_test t003_bad 'echo this is why' 'exit 3'
runner
assert_eq 'exit code with a failing test' 1 "$status"
assert_eq 'closing line' '2 passed, 1 failed' "$(closing_line)"
assert_has out 'FAIL t003_bad'
assert_has out 'exit code 3'
assert_has out '| this is why'
assert_has out 'failed: t003_bad'

runner 't00[12]*'
assert_eq 'exit code of a glob without the failing test' 0 "$status"
runner t004
assert_eq 'exit code for a name that is not there' 1 "$status"
assert_has err "no test is called 't004'"
rm tests/t003_bad.sh

make_test t005_skip 'echo "skip: no such machine"' 'exit 77'
runner
assert_eq 'exit code with a skipped test' 0 "$status"
assert_eq 'closing line' '2 passed, 0 failed, 1 skipped' "$(closing_line)"
assert_has out 'no such machine'
make_test t005_skip 'exit 77'
runner
assert_eq 'exit code of a skip without a reason' 1 "$status"
rm tests/t005_skip.sh

# A hanging test fails after its time limit, and the process it left behind is gone.
make_test t006_hang '# timeout: 1' 'sleep 1234567 & echo $! >"$SRC_PID_FILE"; wait'
export SRC_PID_FILE=$WORK/pid
runner t006
assert_eq 'exit code of a hanging test' 1 "$status"
assert_has out 'still running after 1 s'
must_be_gone "$(cat pid)" 'the child of the hanging test'
rm tests/t006_hang.sh

# Nor does one survive the runner.
make_test t006_hang 'sleep 1234567 & echo $! >"$SRC_PID_FILE"; wait'
rm pid
"$SRC/tests/run" --tests tests --build build t006 >out 2>err &
for _ in $(seq 100); do
    [ -s pid ] && break
    sleep 0.1
done
kill -TERM $!
wait $! && fail 'an interrupted runner should fail'
assert_has err interrupted
must_be_gone "$(cat pid)" 'the child of the interrupted test'
rm tests/t006_hang.sh

make_test t007_crash 'kill -SEGV $$'
runner t007
assert_has out 'SIGSEGV'
assert_eq 'exit code of a crash' 1 "$status"
rm tests/t007_crash.sh

# Serial tests run alone: neither sees the other's mark.
for i in 1 2; do
    make_test "t01${i}_serial" '# serial' "test ! -e $WORK/mark; touch $WORK/mark; sleep 0.2; rm $WORK/mark" 'exit 0'
    sed -i 's/; touch/ || exit 1; touch/' "tests/t01${i}_serial.sh"
done
runner -j 4
assert_eq 'closing line with serial tests' '4 passed, 0 failed' "$(closing_line)"

echo 'exit 0' >tests/t020_unnamed.sh
runner
assert_eq 'exit code with a test that does not say what it shows' 1 "$status"
assert_has err "t020_unnamed.sh has no line '# shows: ...'"

# The asserts themselves must be able to fail.
echo text >file
for assertion in 'assert_eq x a b' 'assert_has file other' 'assert_lacks file text' 'assert_matches file ^ext' \
    'assert_count file text 2' 'assert_file nothing' 'assert_no_file file' 'run_ok false' 'run_fails true' \
    'run_aborts false' 'fail on purpose'; do
    if bash -c ". '$TESTLIB/sh.sh'; $assertion" >out 2>err; then
        fail "this should not have held: $assertion"
    fi
    assert_has err 'FAIL: '
done
