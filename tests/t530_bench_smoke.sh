# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: the tap's benchmark runs to its end and writes all its numbers; none of them is judged
. "$TESTLIB/sh.sh"

case $BUILD in */san-*) skip 'a sanitizer is not what is measured' ;; esac
[ -x "$BUILD/tests/bench/tap/target" ] || skip 'build/tests/bench/tap is not built'

run_ok "$SRC/tests/bench/tap/run" --build "$BUILD" --json tap.json --quick --no-lttng --no-callgrind
assert_has out 'not measured'
assert_has out 'left out: lttng'
python3 - tap.json <<'END'
import json, sys

results = json.load(open(sys.argv[1]))
assert results["dispatch"]["ns"]["tapped"] > 0, results["dispatch"]
assert set(results["command_buffer"]["ns"]["added"]) >= {"create", "commit", "encoder", "end", "wait"}, results
assert set(results["peers"]) == {"none", "tap", "fprintf", "fflush", "tap-buffers"}, results["peers"]
for peer in ("tap", "fprintf", "fflush"):
    assert results["peers"][peer]["bytes"] >= 32, (peer, results["peers"][peer])
for spool in results["report"]["spools"].values():
    for detail in ("full", "cb", "summary"):
        assert spool[detail]["peak_kib"] > 0 and spool[detail]["json_bytes"] > 1000, spool
assert results["report"]["tree"]["peak_kib"] > 0
assert len(results["targets"]) == 16, len(results["targets"])
END
