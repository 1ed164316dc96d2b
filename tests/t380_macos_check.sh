# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: what runs on a Mac compiles without warnings and links for arm64 and x86_64, and the library replaces exactly the device functions
# timeout: 900
. "$TESTLIB/sh.sh"

case $BUILD in */san-*) skip 'nothing here is compiled with a sanitizer' ;; esac
check=$SRC/tools/build/macos

run "$check/check.sh" "$BUILD/macos"
[ "$status" != 77 ] || skip "$(tail -n 1 err)"
if [ "$status" != 0 ]; then
    show_files out err
    fail "the check for macOS ended with $status"
fi

mv out built
entries='CGDirectDisplayCopyCurrentMetalDevice MTLCopyAllDevices MTLCopyAllDevicesWithObserver MTLCreateSystemDefaultDevice'
for processor in arm64 x86_64; do
    dylib=$BUILD/macos/$processor/libmetaltap.dylib
    assert_file "$dylib"
    assert_has built "$processor/libmetaltap.dylib: replaces $entries;"

    # The check itself finds what is amiss: a function too many or too few, another minimum.
    # shellcheck disable=SC2086 # a list
    run_ok python3 "$check/verify.py" "$dylib" 12.0 $entries
    # shellcheck disable=SC2086
    run_fails python3 "$check/verify.py" "$dylib" 12.0 $entries MTLAnother
    assert_has err '__interpose has 4 pairs and 4 replacements, expected 5'
    run_fails python3 "$check/verify.py" "$dylib" 12.0 MTLCopyAllDevices
    assert_has err '__interpose replaces'
    # shellcheck disable=SC2086
    run_fails python3 "$check/verify.py" "$dylib" 11.0 $entries
    assert_has err 'minimum system is not 11.0'
done
