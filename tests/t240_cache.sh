# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a second run starts no compiler; damaged, shared, bounded, refused and switched-off caches give right results
# timeout: 900
. "$TESTLIB/sh.sh"

# Tools that note each call, and fail while there is a file named broken. They are the same files all the time, since
# what is cached belongs to the tools that made it.
mkdir -p home/libexec/softmetal tools cache
ln -s "$BUILD/share" home/share
wrap() {
    cat >"$1" <<END
#!/bin/sh
echo "$2" >>"$WORK/calls"
[ ! -e "$WORK/broken" ] || exit 1
exec "$2" "\$@"
END
    chmod +x "$1"
}
wrap tools/clang "$(command -v clang-19)"
wrap tools/lld "$(command -v ld.lld-19)"
wrap home/libexec/softmetal/softmetal-lower "$BUILD/libexec/softmetal/softmetal-lower"
export SOFTMETAL_HOME=$WORK/home SOFTMETAL_CLANG=$WORK/tools/clang SOFTMETAL_LLD=$WORK/tools/lld
export SOFTMETAL_CACHE=$WORK/cache

cat >kernels.metal <<'END'
#include <metal_stdlib>
using namespace metal;
kernel void square(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = i * i; }
kernel void twice(device uint *out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = simd_sum(i) + i; }
END
printf 'square 0 1 4 9\ntwice 6 7 8 9\n' >expected

run_program() {
    rm -f calls
    touch calls
    run_ok "$targets/run_kernel" kernels.metal 1 4 4 square twice
    cmp out expected
}
calls() {
    wc -l <calls
}
# The next run must not need a compiler: there is none that works.
assert_all_cached() {
    touch broken
    run_program
    rm broken
    assert_eq "tools started by a run after $1" 0 "$(calls)"
}

run_program
[ "$(calls)" -ge 4 ] || fail "a cold run should start clang, lld and the lowering; it started $(calls) tools"
assert_all_cached 'the first run'

# The stand-ins for broken tools do break things: this test can fail.
touch broken
run_fails "$BUILD/bin/softmetal-mslc" --kernel square -D OTHER=1 kernels.metal
rm broken

# What a process compiled, another takes from the cache, and says so.
"$BUILD/bin/softmetal-mslc" --all --stats kernels.metal >/dev/null
run_ok "$BUILD/bin/softmetal-mslc" --all --stats kernels.metal
assert_has out 'libraries: 0 built, 1 cached; pipelines: 0 built, 2 cached'

# Every file in turn cut, changed, emptied or gone: right results, and after that the cache is whole again.
damage() {
    case $1 in
    cut) truncate -s "$(($(stat -c %s "$2") / 2))" "$2" ;;
    change) printf 'XXXX' | dd of="$2" bs=1 seek="$(($(stat -c %s "$2") / 2))" conv=notrunc status=none ;;
    empty) : >"$2" ;;
    remove) rm "$2" ;;
    esac
}
for way in cut change empty remove; do
    for file in cache/*; do
        damage "$way" "$file"
    done
    run_program
    [ "$(calls)" -ge 1 ] || fail "with all files damaged ($way) something should have been compiled"
    assert_all_cached "all files were damaged ($way)"
done
assert_eq 'temporary files left' '' "$(find cache -name 'tmp-*')"

# Several processes at once on a cold cache.
rm -rf cache
pids=
for n in 1 2 3; do
    "$targets/run_kernel" kernels.metal 1 4 4 square twice >"out$n" 2>"err$n" &
    pids="$pids $!"
done
for pid in $pids; do
    wait "$pid" || fail 'one of several processes failed'
done
for n in 1 2 3; do
    cmp "out$n" expected
    assert_eq "messages of process $n" '' "$(cat "err$n")"
done
assert_all_cached 'several processes at once'

# Off: nothing is kept and nothing is left.
mkdir private
for n in 1 2; do
    TMPDIR=$WORK/private SOFTMETAL_CACHE=off run_program
    [ "$(calls)" -ge 4 ] || fail "without a cache run $n should compile"
    assert_eq 'files left without a cache' '' "$(ls private)"
done

# A folder that others may write to is not trusted; a file is none. Both are told, and the program runs.
mkdir open
chmod 777 open
touch file
for bad in open file; do
    SOFTMETAL_CACHE=$WORK/$bad run_program
    assert_matches err "softmetal: cache .*/$bad cannot be used \(.*\); using a temporary one"
done
assert_eq 'files in the folder of others' '' "$(ls open)"
