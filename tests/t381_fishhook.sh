# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: fishhook is taken from FISHHOOK_DIR, upstream or npm; a file with another checksum is never used
. "$TESTLIB/sh.sh"

script=$SRC/tools/build/fishhook.sh
unset FISHHOOK_DIR
mkdir fake
export PATH=$WORK/fake:$PATH

# A command in place of the real one; it counts its calls.
fake() { # NAME SCRIPT
    printf '#!/bin/sh\necho call >>"%s/calls"\n%s\n' "$WORK" "$2" >"fake/$1"
    chmod +x "fake/$1"
}
offline='exit 7'
# curl -o FILE ... URL, npm pack: what comes looks right and is not.
wrong_curl='while [ $# -gt 1 ]; do [ "$1" = -o ] && to=$2; shift; done; echo "not it" >"$to"'
wrong_npm='mkdir -p package/Libraries/fishhook && for f in fishhook.c fishhook.h LICENSE; do
    echo "not it" >package/Libraries/fishhook/$f; done; tar -czf wrong.tgz package && echo wrong.tgz'

# A folder of the user's is taken as it is, and no other place is asked.
fake curl "$offline"
fake npm "$offline"
mkdir mine
echo '// mine' | tee mine/fishhook.c >mine/fishhook.h
FISHHOOK_DIR=$WORK/mine run_ok "$script" out1
assert_has out1/fishhook.c '// mine'
assert_no_file calls
rm mine/fishhook.h
FISHHOOK_DIR=$WORK/mine run_fails "$script" out2
assert_has err "FISHHOOK_DIR=$WORK/mine has no fishhook.c and fishhook.h"
assert_no_file out2

# Nothing can be had: it says what was tried and what helps.
run_fails "$script" out3
assert_has err 'set FISHHOOK_DIR'
assert_no_file out3

# Both deliver something else.
fake curl "$wrong_curl"
fake npm "$wrong_npm"
run_fails "$script" out4
assert_has err 'fishhook.c from upstream has another checksum than expected'
assert_has err 'fishhook.c from npm react-native@0.59.10 has another checksum than expected'
assert_no_file out4

# The real npm package, while upstream cannot be reached. A second run finds it and asks nobody.
rm fake/npm
command -v npm >/dev/null || skip 'no npm for the last part (the rest passed)'
fake curl "$offline"
run "$script" out5
[ "$status" = 0 ] || skip "npm did not deliver for the last part (the rest passed): $(tail -n 2 err | head -n 1)"
assert_has out5/fishhook.c 'rebind_symbols_image'
assert_has out5/LICENSE 'Redistributions of source code'
fake npm "$offline"
rm calls
run_ok "$script" out5
assert_no_file calls
# A file that was changed there is not trusted any more.
echo >>out5/fishhook.c
run_fails "$script" out5
