# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a spool is whole up to the last record after SIGSEGV, abort, _exit, exec and a normal end
. "$TESTLIB/sh.sh"

# A sanitizer shall not take the signal.
export ASAN_OPTIONS+=:handle_segv=0 UBSAN_OPTIONS+=:handle_segv=0 TSAN_OPTIONS+=:handle_segv=0

for round in 1 2 3; do
    for end in segv abort _exit exec normal; do
        for keep in 0 2000000; do
            rm -f s.mtap s.oracle
            run "$targets/recorder" run s.mtap s.oracle $((round + 3)) $end $keep
            case $end in
            segv) assert_eq "exit code" 139 "$status" ;;
            abort) assert_eq "exit code" 134 "$status" ;;
            *) assert_eq "exit code of $end" 0 "$status" ;;
            esac
            run_ok "$targets/recorder" check s.mtap s.oracle
            assert_matches out '^[1-9][0-9]+ records'
        done
    done
done
