# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a spool that cannot be created leaves the program alone and what was there before untouched
. "$TESTLIB/sh.sh"

# refused ERROR PATH
refused() {
    rm -f s.oracle
    run_ok "$targets/recorder" run "$2" s.oracle 2 normal
    assert_has out "start: $1"
    assert_eq stderr '' "$(cat err)"
}

echo precious >taken.mtap
refused EEXIST taken.mtap
assert_eq 'the file that was there' precious "$(cat taken.mtap)"

ln -s elsewhere.mtap link.mtap
refused EEXIST link.mtap
assert_no_file elsewhere.mtap

refused ENOENT missing/s.mtap
refused ENOTDIR taken.mtap/s.mtap
refused ENAMETOOLONG "$(printf 'x%.0s' {1..2000})"

mkdir closed && chmod 500 closed
if [ "$(id -u)" != 0 ]; then
    refused EACCES closed/s.mtap
elif unshare -m mount -t tmpfs -o ro tmpfs closed 2>/dev/null; then
    rm -f s.oracle
    # shellcheck disable=SC2016 # for the inner shell
    run_ok unshare -m bash -c 'mount -t tmpfs -o ro tmpfs closed && exec "$@"' ro "$targets/recorder" run closed/s.mtap \
        s.oracle 2 normal
    assert_has out 'start: EROFS'
fi
