# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a spool is whole up to the last record after SIGSEGV, abort, _exit, exec and a normal end
. "$TESTLIB/sh.sh"

for round in 1 2 3; do
    for end in segv abort _exit exec normal; do
        for keep in 0 2000000; do
            rm -f s.mtap s.oracle
            run "$targets/recorder" run s.mtap s.oracle $((round + 3)) $end $keep
            case $end in
            segv) has_sanitizer address || has_sanitizer thread || has_sanitizer undefined || assert_eq "exit code" 139 "$status" ;;
            abort) assert_eq "exit code" 134 "$status" ;;
            *) assert_eq "exit code of $end" 0 "$status" ;;
            esac
            run_ok "$targets/recorder" check s.mtap s.oracle
            assert_matches out '^[1-9][0-9]+ records'
        done
    done
done
