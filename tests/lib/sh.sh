# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What end-to-end tests share: source it as `. "$TESTLIB/sh.sh"`. Each assert says what was expected and what came,
# and ends the test with 1. The test runs in its own empty folder ($WORK) with BUILD and SRC set by tests/run.
set -eu -o pipefail

# shellcheck disable=SC2034 # for the tests
targets=$BUILD/tests/targets

fail() {
    printf 'FAIL: %s\n' "$*" >&2
    exit 1
}

# Ends the test as skipped; the reason is counted and shown.
skip() {
    printf 'skip: %s\n' "${1:?skip needs a reason}"
    exit 77
}

# run COMMAND...: its output goes to the files out and err, its exit code to $status; never ends the test.
run() {
    status=0
    "$@" >out 2>err || status=$?
}

show_files() {
    local file
    for file in "$@"; do
        printf -- '--- %s\n' "$file" >&2
        tail -n 60 -- "$file" >&2 || :
    done
}

# run_ok COMMAND...: as run, and the exit code must be 0.
run_ok() {
    run "$@"
    [ "$status" = 0 ] && return
    show_files out err
    fail "exit code 0 expected, $status came from: $*"
}

# run_fails COMMAND...: as run, and the exit code must not be 0.
run_fails() {
    run "$@"
    [ "$status" != 0 ] && return
    show_files out err
    fail "a failure expected, exit code 0 came from: $*"
}

# run_aborts COMMAND...: it must end by SIGABRT, as Metal's failed assertions do.
run_aborts() {
    run "$@"
    [ "$status" = 134 ] && return
    show_files out err
    fail "an abort (134) expected, exit code $status came from: $*"
}

# assert_eq WHAT EXPECTED ACTUAL
assert_eq() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# assert_has FILE TEXT: a fixed string somewhere in the file.
assert_has() {
    grep -qF -- "$2" "$1" && return
    show_files "$1"
    fail "$1 should contain: $2"
}

# assert_matches FILE REGEX: a line matches the extended regular expression.
assert_matches() {
    grep -qE -- "$2" "$1" && return
    show_files "$1"
    fail "$1 should have a line matching: $2"
}

# assert_lacks FILE TEXT
assert_lacks() {
    grep -qF -- "$2" "$1" || return 0
    show_files "$1"
    fail "$1 should not contain: $2"
}

# assert_count FILE TEXT N: number of lines that contain the fixed string.
assert_count() {
    local n
    n=$(grep -cF -- "$2" "$1" || :)
    [ "$n" = "$3" ] && return
    show_files "$1"
    fail "$1 should have $3 lines with '$2', has $n"
}

assert_file() {
    [ -f "$1" ] || fail "there should be a file $1"
}

assert_no_file() {
    [ ! -e "$1" ] || fail "there should be no $1"
}

# True if this build has the sanitizer (address, undefined, thread).
has_sanitizer() {
    case $BUILD in */san-"$1") return 0 ;; *) return 1 ;; esac
}
