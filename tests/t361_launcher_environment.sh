# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: metaltap run sets one variable per option and loses nothing that was set
. "$TESTLIB/sh.sh"

metaltap=$BUILD/bin/metaltap
echo 'int dummy;' >dummy.c
clang-19 -shared -fPIC -o dummy.so dummy.c
cp dummy.so other.so
lib=$WORK/dummy.so
# Prints the environment without help of a shell, which would change it.
show() {
    env -i PATH="$PATH" "$@" >out 2>err || { show_files err; fail "failed: $*"; }
}

# nothing else changes: all of the rest is the same, in the same order
env -i PATH="$PATH" A=1 B='x y' C= METALTAP_LOG=info D=$'two\nlines' env -0 >plain
env -i PATH="$PATH" A=1 B='x y' C= METALTAP_LOG=info D=$'two\nlines' "$metaltap" run --library dummy.so -- env -0 >tapped
head -c "$(stat -c %s plain)" tapped | cmp - plain || fail 'variables have changed'
tail -c +$(($(stat -c %s plain) + 1)) tapped | tr '\0' '\n' | sed 's/=.*//' | sort >added
assert_eq 'added variables' 'LD_PRELOAD METALTAP_OUT METALTAP_RUN' "$(tr '\n' ' ' <added | sed 's/ $//')"

show "$metaltap" run --library dummy.so -- env
assert_has out "LD_PRELOAD=$lib"
assert_has out "METALTAP_OUT=$WORK/metaltap-%n-%p.json"
assert_matches out '^METALTAP_RUN=[0-9a-f]{16}$'
assert_lacks out CAPTURE_ENABLED

# what was preloaded stays, behind ours, and ours is not there twice
show LD_PRELOAD="$WORK/other.so" "$metaltap" run --library dummy.so -- env
assert_matches out "^LD_PRELOAD=$lib:$WORK/other.so\$"
show LD_PRELOAD="$WORK/other.so $lib" METALTAP_LIBRARY="$lib" "$metaltap" run -- env
assert_matches out "^LD_PRELOAD=$WORK/other.so $lib\$"
show LD_PRELOAD= METALTAP_LIBRARY="$lib" "$metaltap" run -- env
assert_matches out "^LD_PRELOAD=$lib\$"
# --library wins over the variable, which stays as it was
show METALTAP_LIBRARY="$lib" "$metaltap" run --library other.so -- env
assert_matches out "^LD_PRELOAD=$WORK/other.so\$"
assert_matches out "^METALTAP_LIBRARY=$lib\$"

# each flag is its variable, in both spellings
show "$metaltap" run --library=dummy.so --out=a%p.json --spool b%n.mtap --detail cb --keep=64M --capture=c.gputrace \
    --window cb:3+2 --only '*' --follow=fork --log quiet -- env
for line in "OUT=$WORK/a%p.json" "SPOOL=$WORK/b%n.mtap" DETAIL=cb KEEP=64M "CAPTURE=$WORK/c.gputrace" WINDOW=cb:3+2 \
    'ONLY=*' FOLLOW=fork LOG=quiet; do
    assert_count out "METALTAP_$line" 1
done
rows=$(grep -c '^OPTION(' "$SRC/src/options/options.def")
assert_eq 'options seen here' "$rows" "$(grep -cE '^METALTAP_[A-Z]+=' out | awk '{print $1 - 1}')"
assert_matches out '^METAL_CAPTURE_ENABLED=1$'
assert_matches out '^MTL_CAPTURE_ENABLED=1$'

# the user's variables hold as they are; a flag wins over its own
show METALTAP_OUT=rel.json METALTAP_DETAIL=summary METALTAP_KEEP=1K "$metaltap" run --library dummy.so --detail=cb -- env
assert_matches out '^METALTAP_OUT=rel.json$'
assert_matches out '^METALTAP_DETAIL=cb$'
assert_matches out '^METALTAP_KEEP=1K$'
show METALTAP_SPOOL=x.mtap "$metaltap" run --library dummy.so -- env
assert_lacks out METALTAP_OUT
show METALTAP_CAPTURE=x.gputrace "$metaltap" run --library dummy.so -- env
assert_matches out '^METAL_CAPTURE_ENABLED=1$'

# one number per run, for all of its processes; another for the next run
show "$metaltap" run --library dummy.so -- sh -c 'env; env'
grep METALTAP_RUN out | sort -u >first
assert_eq 'numbers in one run' 1 "$(wc -l <first)"
show "$metaltap" run --library dummy.so -- env
grep METALTAP_RUN out >second
! cmp -s first second || fail 'two runs have the same number'

# percent signs of the folder itself are none of the pattern
mkdir 'a%p'
cd 'a%p'
show "$metaltap" run --library ../dummy.so --out r%p.json -- env
assert_matches out "^METALTAP_OUT=$WORK/a%%p/r%p.json\$"
# a name that is set twice is set once afterwards
cat >twice.c <<'C'
#include <unistd.h>
int main(int count, char **arguments)
{
    char *environment[] = {"PATH=/usr/bin:/bin", "METALTAP_KEEP=1K", "METALTAP_KEEP=2K", 0};
    return count > 1 ? execve(arguments[1], arguments + 1, environment) : 1;
}
C
clang-19 -o twice twice.c
run_ok ./twice "$metaltap" run --library ../dummy.so --keep 3K -- env
assert_count out METALTAP_KEEP= 1
assert_has out METALTAP_KEEP=3K
