# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What scripts that bring files from elsewhere share: source it. Nothing that arrives is used before its SHA-256 sum
# is seen to be right. Never writes anywhere but where the caller says.

# sha256_of FILE: the sum in hex, by whichever tool the system has.
sha256_of() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum <"$1" | cut -d ' ' -f 1
    else
        shasum -a 256 <"$1" | cut -d ' ' -f 1
    fi
}

# has_sum FILE SUM: true if the file is there and is the one that is meant.
has_sum() {
    [ -f "$1" ] && [ "$(sha256_of "$1")" = "$2" ]
}

# npm_archive PACKAGE@VERSION FOLDER: downloads it there; prints the archive's path. npm knows where packages are.
npm_archive() {
    command -v npm >/dev/null 2>&1 || return 1
    archive=$(cd "$2" && npm pack --silent "$1" 2>npm.log </dev/null | tail -n 1)
    [ -n "$archive" ] && [ -f "$2/$archive" ] && printf '%s\n' "$2/$archive"
}
