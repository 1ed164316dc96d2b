# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: after make install a program is built with pkg-config alone and runs from the installed files; uninstall removes all
. "$TESTLIB/sh.sh"

case $BUILD in */san-*) skip 'a program with a sanitizer needs the flags of that build' ;; esac
unset MAKEFLAGS MAKELEVEL MFLAGS

prefix=$WORK/prefix
mkdir "$prefix"
run_ok make -C "$SRC" install PREFIX="$prefix"
assert_file "$prefix/lib/libMetal.so.1"
assert_file "$prefix/include/Metal/Metal.h"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
# shellcheck disable=SC2046 # flags
run_ok clang-19 $(pkg-config --cflags softmetal) "$SRC/tests/targets/demo.m" -o demo \
    $(pkg-config --libs softmetal) -Wl,-rpath,"$prefix/lib"
run_ok ldd demo
assert_has out "$prefix/lib/libMetal.so.1"
# A cache of its own: the installed compiler must do all the work.
SOFTMETAL_CACHE=$WORK/cache run_ok ./demo
assert_has out 'all results right'

run_ok make -C "$SRC" uninstall PREFIX="$prefix"
assert_eq 'files left after uninstall' '' "$(find "$prefix" ! -type d)"
