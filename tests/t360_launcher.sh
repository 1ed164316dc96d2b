# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: metaltap run passes arguments, input, output and the exit code of any program through unchanged
. "$TESTLIB/sh.sh"

metaltap=$BUILD/bin/metaltap
echo 'int dummy;' >dummy.c
clang-19 -shared -fPIC -o dummy.so dummy.c
export METALTAP_LIBRARY=$WORK/dummy.so

# exit codes
for code in 0 1 2 3 125 126 127 200 255; do
    run "$metaltap" run -- sh -c "exit $code"
    assert_eq 'exit code' "$code" "$status"
done
for number in 1 2 3 6 9 11 13 14 15; do
    run "$metaltap" run -- sh -c "ulimit -c 0; kill -$number \$\$"
    assert_eq "exit code after signal $number" $((128 + number)) "$status"
    assert_has err "signal $number ("
done

# arguments, with and without the dashes
printf '%s\n' '#!/bin/sh' 'printf "[%s]" "$0" "$@"' >show
chmod +x show
run_ok "$metaltap" run -- ./show '' 'a b' "it's" '--out' '-x' '*' $'new\nline' --
printf '%s' "[./show][][a b][it's][--out][-x][*][new
line][--]" >expected
cmp expected out || fail 'arguments have changed'
run_ok "$metaltap" run ./show --help
assert_eq 'arguments without --' '[./show][--help]' "$(cat out)"

# output: byte for byte, nothing of ours in it; input too
head -c 300000 /dev/urandom >bytes
run_ok "$metaltap" run -- cat <bytes
cmp bytes out || fail 'input or output has changed'
run_ok "$metaltap" run -- sh -c 'echo out; echo err >&2'
assert_eq 'standard output' out "$(cat out)"
assert_eq 'first line of standard error' err "$(head -n 1 err)"

# how a program is found: as execvp does
mkdir -p one two/show
printf 'echo plain "$@"\n' >one/plain
chmod +x one/plain
cp show one/show
PATH=$WORK/none:$WORK/two:$WORK/one:$PATH run_ok "$metaltap" run -- show x
assert_eq 'found behind a folder of that name' "[$WORK/one/show][x]" "$(cat out)"
PATH=$WORK/one:$PATH run_ok "$metaltap" run -- plain a b
assert_eq 'a text without a first line is run by the shell' 'plain a b' "$(cat out)"
(
    cd one
    PATH=:$PATH run_ok "$metaltap" run -- plain
    assert_eq 'an empty part of PATH is this folder' 'plain' "$(cat out)"
)
cp "$(type -P true)" noread
if [ "$(id -u)" != 0 ]; then chmod 111 noread; fi
run_ok "$metaltap" run -- ./noread

# descriptors and the working folder are the program's own
run_ok "$metaltap" run -- sh -c 'pwd; read -r line <&7; echo "$line"' 7<<<'seven'
assert_eq 'folder and descriptor 7' "$WORK
seven" "$(cat out)"
if [ -d /proc/self/fd ]; then
    ls /proc/self/fd >plain_fds
    run_ok "$metaltap" run -- ls /proc/self/fd
    assert_eq 'open descriptors' "$(wc -l <plain_fds)" "$(wc -l <out)"
fi

# a program without Metal: said in one line, no file left; with --quiet not even that
run_ok "$metaltap" run -- true
assert_eq 'what is said' 'metaltap: nothing was recorded: the program did not use Metal' "$(cat err)"
run_ok "$metaltap" run --only 'llama*' -- true
assert_has err "or is none of 'llama*' (METALTAP_ONLY)"
run_ok "$metaltap" run --quiet -- true
assert_eq 'what is said with --quiet' '' "$(cat err)"
[ -z "$(find . -name 'metaltap-*')" ] || fail 'there should be no files'

# standard error closed or broken: the exit code is still the program's
status=0
"$metaltap" run -- sh -c 'exit 7' 2>&- || status=$?
assert_eq 'exit code without standard error' 7 "$status"
status=0
{ "$metaltap" run -- sh -c 'sleep 0.3; exit 7' || echo $? >code; } 2>&1 | true
assert_eq 'exit code with a broken pipe' 7 "$(cat code)"
