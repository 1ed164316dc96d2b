# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: metaltap report gives the same from a recording and a report, and says what is wrong with other files
. "$TESTLIB/sh.sh"

metaltap=$BUILD/bin/metaltap
[ -f "$BUILD/lib/libmetaltap.so" ] || skip 'build/lib/libmetaltap.so is not built'
run_ok "$metaltap" run --quiet --out run.json -- "$targets/demo"
assert_file run.mtap

# the same summary from both, and the same JSON as the library wrote
run_ok "$metaltap" report run.mtap
sed 's/run\.mtap/FILE/' out >from_spool
run_ok "$metaltap" report run.json
sed 's/run\.json/FILE/' out | cmp from_spool || fail 'the summaries of recording and report differ'
for kernel in vector_add matrix_product softmax; do
    assert_has out "$kernel"
done
run_ok "$metaltap" report --json again.json run.mtap
cmp again.json run.json || fail 'the report made from the recording differs from the one of the library'
run_ok "$metaltap" report run.mtap --json=-
cmp out run.json || fail 'the report on standard output differs'
for level in summary cb full; do
    run_ok "$metaltap" report run.mtap --json - --detail $level
    python3 -c 'import json, sys; r = json.load(open("out")); assert r["detail"] == sys.argv[1], r["detail"]' $level
done
# a report is replaced, anything else is not
run_ok "$metaltap" report run.mtap --json again.json
echo precious >precious
run "$metaltap" report run.mtap --json precious
assert_eq 'exit code' 1 "$status"
assert_has err 'metaltap: precious'
assert_eq 'what was there' precious "$(cat precious)"
run "$metaltap" report run.mtap --json no/x.json
assert_eq 'exit code' 1 "$status"
assert_has err 'no/x.json'

# not_ours TEXT ARGUMENTS...: exit code 1, one line, nothing on standard output
not_ours() {
    local text=$1
    shift
    run "$metaltap" report "$@"
    assert_eq "exit code of report $*" 1 "$status"
    assert_eq "lines of report $*" 1 "$(wc -l <err)"
    assert_has err "$text"
    assert_eq "output of report $*" '' "$(cat out)"
}
: >empty
mkdir folder
head -c 100 run.mtap >short
echo '{"schema":"other/1"}' >other.json
echo '{"schema":"metaltap-report/99", "summary": {}}' >later.json
head -c 300 run.json >cut.json
printf 'metaltap' >magic
not_ours nowhere nowhere
not_ours folder folder
not_ours empty empty
not_ours precious precious
not_ours other.json other.json
not_ours later.json later.json
not_ours cut.json cut.json
not_ours short short
not_ours magic magic
not_ours /bin/sh /bin/sh
not_ours 'run.json: is a report in JSON already' run.json --json x.json
not_ours precious precious --json -
assert_no_file x.json

# damaged: what could be read is shown, how much that is is said, and the exit code is 1
python3 - <<'PY'
import struct
spool = bytearray(open("run.mtap", "rb").read())
header_bytes, segment_bytes = struct.unpack_from("<II", spool, 16)
kinds = {at: struct.unpack_from("<H", spool, at + 4)[0] for at in range(header_bytes, len(spool), segment_bytes)}
last = max(at for at, kind in kinds.items() if kind == 1)  # of events
spool[last:last + 8] = b"garbage!"
open("hurt.mtap", "wb").write(spool)
PY
for how in '' '--json -' '--json hurt.json'; do
    # shellcheck disable=SC2086 # words
    run "$metaltap" report hurt.mtap $how
    assert_eq "exit code for a damaged file ($how)" 1 "$status"
    assert_matches err 'hurt.mtap: damaged: [0-9]+ records were read; of [0-9]+ segments 1 cannot be read'
done

# usage
wrong() {
    local text=$1
    shift
    run "$metaltap" report "$@"
    assert_eq "exit code of report $*" 2 "$status"
    assert_has err "metaltap: $text"
    assert_eq "output of report $*" '' "$(cat out)"
}
wrong 'a file is missing'
wrong "one file at a time: 'run.mtap' and 'run.json' were given" run.mtap run.json
wrong 'unknown option --jsno: did you mean --json?' run.mtap --jsno x
wrong '--json needs a value: --json FILE' run.mtap --json
wrong '--detail=ful: use summary, cb or full (did you mean full?)' run.mtap --json - --detail ful
wrong '--detail is about JSON' run.mtap --detail cb
run_ok "$metaltap" report --help
assert_has out 'metaltap report FILE'
# a full disk on the other side is a failure
! "$metaltap" report run.mtap >/dev/full 2>err || fail 'a full disk should be a failure'
! "$metaltap" report run.mtap --json - >/dev/full 2>err || fail 'a full disk should be a failure'
