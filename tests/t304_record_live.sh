# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a spool can be read while threads write to it, and every look finds all that was published before
. "$TESTLIB/sh.sh"

"$targets/recorder" run s.mtap s.oracle 4 slowly >run.out 2>&1 &
recorder=$!
trap 'kill -9 $recorder 2>/dev/null || :' EXIT
for _ in $(seq 200); do
    [ -s s.oracle ] && [ -s s.mtap ] && break
    sleep 0.05
done
before=0
for _ in 1 2 3 4 5 6 7 8; do
    run_ok "$targets/recorder" check s.mtap s.oracle live
    records=$(sed -n 's/^\([0-9]*\) records.*/\1/p' out)
    [ "$records" -ge "$before" ] || fail "$records records now, $before before"
    before=$records
    sleep 0.05
done
[ "$before" -gt 1000 ] || fail "only $before records were ever seen"
kill -9 $recorder
wait $recorder || :
run_ok "$targets/recorder" check s.mtap s.oracle
