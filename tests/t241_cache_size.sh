# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: the cache keeps to its size by removing what was not used for longest, and never what is not its own
. "$TESTLIB/sh.sh"

export SOFTMETAL_CACHE=$WORK/cache
compile() {
    printf 'kernel void k(device int *a) { a[0] = %s; }\n' "$1" >k.metal
    run_ok "$BUILD/bin/softmetal-mslc" --kernel k --stats k.metal
}
age() {
    find cache -type f -exec touch -d "$1" {} +
}

compile 1
echo mine >cache/notes.txt
mkdir cache/folder
ls cache >before
age '2 hours ago'

# Room for all: nothing goes.
SOFTMETAL_CACHE_SIZE=1G compile 2
for file in $(cat before); do
    [ -e "cache/$file" ] || fail "$file was removed although there is room"
done

# No room: what is old goes. What was used a moment ago stays, since somebody may be at it.
age '2 hours ago'
SOFTMETAL_CACHE_SIZE=1k compile 3
for file in $(cat before); do
    case $file in
    notes.txt | folder) [ -e "cache/$file" ] || fail "$file is not a cache file, and was removed" ;;
    esac
done
removed=0
for file in $(cat before); do
    [ -e "cache/$file" ] || removed=$((removed + 1))
done
[ "$removed" -ge 3 ] || fail "only $removed old files were removed from a cache of 1 KiB"
run_ok "$BUILD/bin/softmetal-mslc" --kernel k --stats k.metal
assert_has out 'libraries: 0 built, 1 cached; pipelines: 0 built, 1 cached'

# What a killed process left behind goes, at any size.
touch -d '2 hours ago' cache/tmp-1-2-3.o
compile 4
assert_no_file cache/tmp-1-2-3.o
