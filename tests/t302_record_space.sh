# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a full disk and a file limit, at every stage, stop the recording with one warning and nothing else
. "$TESTLIB/sh.sh"

recorder=$targets/recorder

# stopped REASON: the program ran on, warned once, and the spool has all that was published.
stopped() {
    [ "$status" = 0 ] || { show_files out err; fail "exit code $status"; }
    assert_count err 'recording stopped' 1
    assert_has err "$1"
    run_ok "$recorder" check "$spool" s.oracle full
}

# A limit of N KiB: below one segment and the header nothing can begin.
for limit in 2 15 16 100 271 272 527 528 783 784 1500 3000; do
    spool=s.mtap
    rm -f s.mtap s.oracle
    run bash -c 'ulimit -f "$1"; shift; exec "$@"' limited "$limit" "$recorder" run s.mtap s.oracle 4 full
    if [ "$limit" -lt 272 ] && grep -q '^start: EFBIG' out; then
        assert_no_file s.mtap
        assert_eq "exit code" 0 "$status"
    else
        stopped 'the limit on file sizes'
        [ "$(stat -c %s s.mtap)" -le $((limit * 1024)) ] || fail "the file is longer than its limit"
    fi
done

# Bounded, a file that cannot grow is used over.
rm -f s.mtap s.oracle
run_ok bash -c 'ulimit -f 3000; exec "$@"' limited "$recorder" run s.mtap s.oracle 2 normal 100000000
assert_lacks err 'recording stopped'
run_ok "$recorder" check s.mtap s.oracle

# A disk of its own, gone with the shell that mounted it.
cat >on_disk.sh <<'END'
mkdir -p disk && mount -t tmpfs -o size="$1" tmpfs disk || exit 9
"$2" run disk/s.mtap s.oracle 4 full >out 2>err
echo $? >status
cp disk/s.mtap copy.mtap 2>cp.err || :
END
unshare -m true 2>/dev/null || skip 'limits pass; a full disk needs the right to mount'
for size in 4k 16k 128k 268k 272k 276k 400k 528k 600k 1m 2m 4m; do
    spool=copy.mtap
    rm -f copy.mtap s.oracle out err status
    unshare -m bash on_disk.sh "$size" "$recorder" || skip 'limits pass; a full disk needs the right to mount'
    status=$(cat status)
    if [ "${size%k}" != "$size" ] && [ "${size%k}" -lt 272 ] && grep -q '^start: ENOSPC' out; then
        assert_no_file copy.mtap
        assert_eq "exit code" 0 "$status"
    else
        stopped 'no space left'
    fi
done
