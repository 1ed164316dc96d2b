#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs what the build, the tests and the linters need and is not there yet. Run by `make deps` (and so by
# `make demo` and `make test`). Fast and silent when nothing is missing: one dpkg-query, no network.
# Never asks a question, and never installs anything unless it runs as root.
#
#   deps.sh            install what is missing for build, test and lint
#   deps.sh --bench    the same for what `make bench` measures with and compares with
#   deps.sh --check    install nothing; fail if the compilers are not there
set -eu

# build: compiler, linker, Objective-C runtime and Foundation, JSON, and LLVM for the lowering tool
build="make pkg-config python3 libc6-dev clang-19 lld-19 llvm-19-dev libclang-rt-19-dev
       gobjc libgnustep-base-dev libcjson-dev"
# test: a validator for the report's schema
tests="python3-jsonschema"
lint="clang-format-19 clang-tidy-19 cppcheck shellcheck"
bench="pocl-opencl-icd ocl-icd-opencl-dev opencl-c-headers valgrind lttng-tools liblttng-ust-dev"

say() { printf 'deps: %s\n' "$*" >&2; }

missing_of() {
    # dpkg-query names unknown packages on stderr only, so compare with what is installed
    installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^ii  *//p')
    for package in "$@"; do
        printf '%s\n' "$installed" | grep -qx -- "$package" || printf '%s ' "$package"
    done
}

other_system() {
    say "this is not Debian (no dpkg-query). Needed, under whatever names your system gives them:"
    say "  clang, lld, compiler-rt, LLVM headers and shared library, all of version 19;"
    say "  GCC's libobjc with its headers, GNUstep Base, cJSON;"
    say "  GNU make, pkg-config, Python 3; for lint: clang-format-19, clang-tidy-19, cppcheck, shellcheck;"
    say "  for bench: PoCL, an OpenCL loader and the OpenCL headers; valgrind, LTTng-UST and its tools."
}

tools_missing() {
    for tool in clang-19 llvm-config-19 gnustep-config gcc; do
        command -v "$tool" >/dev/null 2>&1 || printf '%s ' "$tool"
    done
}

mode=${1:-install}
case $mode in
--check)
    tools=$(tools_missing)
    [ -z "$tools" ] && exit 0
    say "not found: $tools"
    say "run: make deps"
    exit 1
    ;;
install) wanted="$build $tests $lint" ;;
--bench) wanted=$bench ;;
*)
    say "unknown argument '$mode' (known: --check, --bench)"
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    [ "$mode" = install ] && [ -z "$(tools_missing)" ] && exit 0
    other_system
    exit 1
fi

# shellcheck disable=SC2086 # lists of package names
missing=$(missing_of $wanted)
[ -z "$missing" ] && exit 0

if [ "$(id -u)" != 0 ]; then
    say "missing packages: $missing"
    say "run: sudo apt-get update && sudo apt-get install -y --no-install-recommends $missing"
    exit 1
fi
say "installing $missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq </dev/null
# shellcheck disable=SC2086 # a list of package names
apt-get install -y -qq --no-install-recommends $missing </dev/null
