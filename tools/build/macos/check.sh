#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles and links everything that runs on a Mac, for both processors, on a machine that is none, and looks at the
# result: the library that is inserted (verify.py says what must hold) and the command line. No SDK: headers come from
# headers.sh, libraries are lists of names (.tbd). cJSON's functions stay open, since a Mac has its own source of it.
# Ends with 77 and a reason if tools or network are missing. Writes to FOLDER only.
#
#   check.sh [FOLDER]      (build/macos)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
out=${1:-$top/build/macos}
llvm=${LLVM:-19}
minimum=12.0
warnings='-Wall -Wextra -Wshadow -Wstrict-prototypes -Wunguarded-availability -Werror'

say() { printf 'macos check: %s\n' "$*" >&2; }

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null 2>&1 && continue
        say "not found: $tool"
        exit 77
    done
}

prepare() {
    need "clang-$llvm" "ld64.lld-$llvm" "llvm-ar-$llvm" "llvm-nm-$llvm" "llvm-objdump-$llvm" "llvm-otool-$llvm" pkg-config python3
    mkdir -p "$out"
    out=$(cd "$out" && pwd)
    "$here/headers.sh" "$out/darwin"
    "$here/../fishhook.sh" "$out/fishhook" || exit 77
    mkdir -p "$out/include"
    ln -sfn "$(pkg-config --variable=includedir libcjson)/cjson" "$out/include/cjson"
}

# What is not for this system is named for it.
sources_in() {
    for folder in "$@"; do
        for file in "$top/$folder"/*.c; do
            case $file in
            *_linux.c | */objc_gnu.c | *'/*.c') ;;
            *) printf '%s\n' "$file" ;;
            esac
        done
    done
}

flags_for() { # PROCESSOR
    printf '%s\n' "-target $1-apple-macos$minimum -std=gnu11 -O2 -g0 -fPIC -fblocks -fvisibility=hidden" \
        "-nostdinc -isystem $("clang-$llvm" -print-resource-dir)/include -isystem $out/darwin/include" \
        "-isystem $out/include -iquote $top/src -iquote $top/interpose -iquote $out/fishhook"
}

# Two at a time; every finding of every file is shown before it ends.
compile_all() { # PROCESSOR FLAGS FILE...
    folder=$out/$1
    mkdir -p "$folder"
    printf '%s\n' "$2" >"$folder/flags"
    shift 2
    # shellcheck disable=SC2016 # expanded by the inner shell
    printf '%s\n' "$@" | xargs -P 2 -n 1 sh -c '
        "clang-$1" @"$2/flags" -c -o "$2/$(printf %s "${4#"$3"/}" | tr / -).o" "$4"' sh "$llvm" "$folder" "$top"
}

objects_of() { # PROCESSOR FILE...
    processor=$1
    shift
    for file in "$@"; do
        printf '%s\n' "$out/$processor/$(printf %s "${file#"$top"/}" | tr / -).o"
    done
}

# Names that may stay open: a function of a framework we do not link with, and cJSON's.
open_names() { # OBJECT...
    "llvm-nm-$llvm" -u -j "$@" 2>/dev/null | grep -E '^_(cJSON_.*|CGDirectDisplayCopyCurrentMetalDevice)$' | sort -u |
        sed 's/^/-U /'
}

link_with() { # PROCESSOR OUTPUT KIND_FLAGS OBJECT...
    processor=$1
    output=$2
    kind=$3
    shift 3
    # shellcheck disable=SC2046,SC2086 # lists of flags
    "ld64.lld-$llvm" $kind -arch "$processor" -platform_version macos $minimum $minimum -adhoc_codesign -fatal_warnings \
        $(open_names "$@") -o "$output" "$@" "$here/Metal.tbd" "$here/libobjc.tbd" "$out/darwin/libSystem.tbd"
}

prepare
shared=$(sources_in src/os src/objc src/spool src/model src/analysis src/views src/options)
library=$(sources_in interpose)
tool=$(sources_in tools/metaltap)
entries=$("clang-$llvm" -E -P -x c '-DENTRY(result,name,...)=name' -DENTRY_ELSEWHERE=ENTRY \
    "$top/interpose/entry_points.def")
status=0
# shellcheck disable=SC2046,SC2086 # lists of files without blanks
for processor in arm64 x86_64; do
    flags=$(flags_for $processor)
    compile_all $processor "$flags $warnings" $shared $library $tool || status=1
    compile_all $processor "$flags -w" "$out/fishhook/fishhook.c" || status=1
    [ $status = 0 ] || continue
    parts=$out/$processor/parts.a
    dylib=$out/$processor/libmetaltap.dylib
    rm -f "$parts" "$dylib" "$out/$processor/metaltap"
    "llvm-ar-$llvm" rcsD "$parts" $(objects_of $processor $shared)
    if link_with $processor "$dylib" '-dylib -install_name @rpath/libmetaltap.dylib' \
        $(objects_of $processor $library "$out/fishhook/fishhook.c") "$parts"; then
        LLVM=$llvm python3 "$here/verify.py" "$dylib" $minimum $entries || status=1
    else
        status=1
    fi
    [ -z "$tool" ] ||
        link_with $processor "$out/$processor/metaltap" -execute $(objects_of $processor $tool) "$parts" || status=1
done
exit $status
