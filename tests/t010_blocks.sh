# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: handlers keep what they capture in a program linked as pkg-config says, with and without PIC; other orders are told
. "$TESTLIB/sh.sh"

run_ok "$targets/blocks_handlers"
assert_has out 'all handlers right'
assert_eq 'messages' '' "$(cat err)"

# As if the program had been linked with -lgnustep-base before -lMetal: a captured object is all that is sure then.
gnustep=$(ldd "$targets/blocks_handlers" | sed -n 's/.*libgnustep-base[^ ]* => \([^ ]*\) .*/\1/p')
LD_PRELOAD=$gnustep run_ok "$targets/blocks_handlers" deallocator
assert_has out 'all handlers right'
assert_has err "this program's blocks use $gnustep"
assert_has err 'link -lMetal before it'

case $BUILD in */san-*) exit 0 ;; esac # what follows needs the flags of that build
unset MAKEFLAGS MAKELEVEL MFLAGS
prefix=$WORK/prefix
mkdir "$prefix"
run_ok make -C "$SRC" install PREFIX="$prefix"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

# Without PIC the linker gives the program its own copies of _NSConcreteStackBlock and _NSConcreteGlobalBlock:
# the classes have to be there. The unit test sends messages to blocks of all kinds.
for way in '-fno-pie -no-pie' '-fPIE -pie'; do
    for source in targets/blocks_handlers unit/objc_blocks; do
        # shellcheck disable=SC2046,SC2086 # flags
        run_ok clang-19 $way -O1 -iquote "$SRC/tests" $(pkg-config --cflags softmetal) "$SRC/tests/$source.m" \
            -o program $(pkg-config --libs softmetal) -pthread -Wl,-rpath,"$prefix/lib"
        run_ok ./program
    done
done
