# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a report that finds no room or no writable folder leaves nothing behind and an older report as it was
. "$TESTLIB/sh.sh"

make=$BUILD/tests/unit/views_json
unshare -m true 2>err || skip 'needs a mount namespace of its own'
mkdir samples place
run_ok "$make" samples

# inside COMMAND...: with a file system of 64 KiB on place/, which holds a small report; whole.mtap's needs more.
cat >inside.sh <<'SCRIPT'
mount -t tmpfs -o size=64k none place || exit 99
cp samples/empty.full.json place/out.json
[ "$1" = full ] || mount -o remount,ro place || exit 99
status=0
"$2" report samples/whole.mtap "place/$3" || status=$?
cmp samples/empty.full.json place/out.json || exit 98
ls -A place >left
exit "$status"
SCRIPT

for name in out.json new.json; do
    run unshare -m sh inside.sh full "$make" "$name"
    [ "$status" != 99 ] || skip 'cannot mount a tmpfs'
    assert_eq "no room for $name: exit code" 1 "$status"
    assert_matches err "place/$name: could not be written: No space left"
    assert_eq 'what is left' out.json "$(cat left)"

    run unshare -m sh inside.sh read-only "$make" "$name"
    assert_eq "read-only folder, $name: exit code" 1 "$status"
    assert_matches err "place/$name: cannot be written: Read-only file system"
    assert_eq 'what is left' out.json "$(cat left)"
done
