# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: newDefaultLibrary takes the text in default.metallib or default.metal beside the program, and nothing else
. "$TESTLIB/sh.sh"

mkdir app
cp "$targets/default_library" app/program
export LD_LIBRARY_PATH=$BUILD/lib

expect() {
    run_ok app/program
    assert_eq "$1" "$2" "$(cat out)"
}

expect 'nothing there' none
echo 'kernel void in_the_wrong_folder() {}' >default.metal
expect 'only in the current folder' none
echo 'kernel void from_text() {}' >app/default.metal
expect 'default.metal' from_text
echo 'kernel void from_metallib() {}' >app/default.metallib
expect 'default.metallib comes first' from_metallib
printf 'MTLB\001\002' >app/default.metallib
expect 'a binary is refused' none
