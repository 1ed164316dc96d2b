# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: what is wrong with a command line, a program, the library or the output is told once, before anything starts
. "$TESTLIB/sh.sh"

metaltap=$BUILD/bin/metaltap
echo 'int dummy;' >dummy.c
clang-19 -shared -fPIC -o dummy.so dummy.c
export METALTAP_LIBRARY=$WORK/dummy.so

# refused CODE TEXT COMMAND...: the code, the text in one line of ours, nothing on standard output, nothing started
refused() {
    local code=$1 text=$2
    shift 2
    run "$@"
    assert_eq "exit code of $*" "$code" "$status"
    assert_count err "metaltap: $text" 1
    assert_eq "standard output of $*" '' "$(cat out)"
    assert_no_file started
}
start=(sh -c ': >started')

# verbs and usage
refused 2 'a command is missing' "$metaltap"
refused 2 "unknown command 'rnu': did you mean 'run'?" "$metaltap" rnu
refused 2 "unknown command 'reprot': did you mean 'report'?" "$metaltap" reprot
refused 2 "unknown command 'zebra': use run, report" "$metaltap" zebra
refused 2 "unknown command 'rn': did you mean 'run'?" "$metaltap" help rn
refused 2 'a program is missing' "$metaltap" run
refused 2 'a program is missing' "$metaltap" run --detail full --
refused 2 'unknown option --otu: did you mean --out?' "$metaltap" run --otu x -- "${start[@]}"
refused 2 'unknown option --zebra' "$metaltap" run --zebra -- "${start[@]}"
refused 2 'unknown option --libary: did you mean --library?' "$metaltap" run --libary=x -- "${start[@]}"
refused 2 'unknown option -o: options begin with two dashes' "$metaltap" run -o x -- "${start[@]}"
refused 2 '--out needs a value: --out FILE' "$metaltap" run --out
refused 2 '--out needs a value: --out FILE' "$metaltap" run --out -- "${start[@]}"
refused 2 '--quiet takes no value' "$metaltap" run --quiet=yes -- "${start[@]}"
refused 2 '--detail=ful: use summary, cb or full (did you mean full?)' "$metaltap" run --detail=ful -- "${start[@]}"
refused 2 '--keep=64X: use a number of bytes with K, M or G' "$metaltap" run --keep 64X -- "${start[@]}"
refused 2 '--window=cb: use cb:N' "$metaltap" run --window cb -- "${start[@]}"
refused 2 "--out=$WORK/%q.json: a % stands before p" "$metaltap" run --out %q.json -- "${start[@]}"
refused 2 "--out=$WORK/xxxxx" "$metaltap" run --out "$(printf 'x%.0s' {1..1100})" -- "${start[@]}"
# the same from variables
refused 2 'unknown option METALTAP_DETIAL: did you mean METALTAP_DETAIL?' \
    env METALTAP_DETIAL=full "$metaltap" run -- "${start[@]}"
refused 2 'METALTAP_FOLLOW=frok: use exec or fork (did you mean fork?)' \
    env METALTAP_FOLLOW=frok "$metaltap" run -- "${start[@]}"
# unprintable bytes do not reach the terminal
refused 2 'unknown option --a?[1mb' "$metaltap" run $'--a\033[1mb' -- "${start[@]}"

# programs
touch plain
mkdir folder
printf '#!%s/nowhere -x\n' "$WORK" >lost
printf '#!%s/folder\n' "$WORK" >into_folder
printf '#!/bin/sh\r\necho\r\n' >windows
chmod +x lost into_folder windows
mkdir bin && cp plain bin/plain_in_path
refused 127 'nosuch: program not found (not in any folder of PATH)' "$metaltap" run -- nosuch
refused 127 './nosuch: program not found' "$metaltap" run -- ./nosuch
refused 127 'plain/x: program not found' "$metaltap" run -- plain/x
refused 127 ': program not found' "$metaltap" run -- ''
refused 126 './plain: not executable' "$metaltap" run -- ./plain
refused 126 "$WORK/bin/plain_in_path: not executable" env PATH="$WORK/bin:$PATH" "$metaltap" run -- plain_in_path
refused 126 './folder: is a folder, not a program' "$metaltap" run -- ./folder
refused 126 "./lost: its first line names '$WORK/nowhere', which does not exist" "$metaltap" run -- ./lost
refused 126 "./into_folder: its first line names '$WORK/folder', which cannot be executed" "$metaltap" run -- ./into_folder
refused 126 "./windows: its first line names '/bin/sh?', which does not exist" "$metaltap" run -- ./windows
head -c 4096 "$(type -P true)" >shortened && chmod +x shortened
run "$metaltap" run -- ./shortened
[ "$status" != 0 ] || fail 'a program cut short has run'

# programs into which nothing can be inserted run all the same, with a warning
echo 'int main(void) { return 5; }' >static.c
for how in '-static' '-static-pie -fPIE'; do
    # shellcheck disable=SC2086 # two flags
    clang-19 $how -o static static.c || skip 'no static libc to link with'
    run "$metaltap" run -- ./static
    assert_eq "exit code ($how)" 5 "$status"
    assert_count err './static: is linked statically, so LD_PRELOAD has no effect' 1
    printf '#!%s/static\n' "$WORK" >by_static
    chmod +x by_static
    run "$metaltap" run -- ./by_static
    assert_eq 'exit code of its script' 5 "$status"
    assert_count err 'static: is linked statically' 1
done
clang-19 -o dynamic static.c
run "$metaltap" run -- ./dynamic
assert_eq 'exit code' 5 "$status"
assert_lacks err warning
if [ "$(id -u)" = 0 ]; then
    cp dynamic other_user
    chown 65534 other_user
    chmod u+s other_user
    run "$metaltap" run -- ./other_user
    assert_eq 'exit code' 5 "$status"
    assert_count err './other_user: runs with rights of another user' 1
fi

# the library
refused 125 'nix.so: library not found: No such file' "$metaltap" run --library nix.so -- "${start[@]}"
refused 125 'nix.so: library not found: No such file' env METALTAP_LIBRARY=nix.so "$metaltap" run -- "${start[@]}"
refused 125 "$WORK/folder: is no library" "$metaltap" run --library folder -- "${start[@]}"
mkdir 'a b' a:b
cp dummy.so 'a b'
cp dummy.so a:b
refused 125 "$WORK/a b/dummy.so: a path with a colon or blank" "$metaltap" run --library 'a b/dummy.so' -- "${start[@]}"
refused 125 "$WORK/a:b/dummy.so: a path with a colon or blank" "$metaltap" run --library a:b/dummy.so -- "${start[@]}"
mkdir -p moved/bin
cp "$metaltap" moved/bin/
refused 125 "$WORK/moved/bin/../lib/libmetaltap.so: library not found" \
    env -u METALTAP_LIBRARY moved/bin/metaltap run -- "${start[@]}"
mkdir moved/lib
cp dummy.so moved/lib/libmetaltap.so
run_ok env -u METALTAP_LIBRARY moved/bin/metaltap run -- env
assert_has out "LD_PRELOAD=$WORK/moved/lib/libmetaltap.so"

# the output
echo precious >precious
refused 125 "output not writable: the folder $WORK/no: No such file" "$metaltap" run --out no/r.json -- "${start[@]}"
refused 125 "output not writable: $WORK/plain is no folder" "$metaltap" run --out plain/r.json -- "${start[@]}"
refused 125 "output not writable: the folder $WORK/no: No such file" "$metaltap" run --spool no/r%p.mtap -- "${start[@]}"
refused 125 "output not writable: the folder $WORK/no: No such file" "$metaltap" run --capture no/r -- "${start[@]}"
refused 125 'output not writable: the folder no: No such file' env METALTAP_OUT=no/r.json "$metaltap" run -- "${start[@]}"
refused 125 "output not writable: $WORK/folder is a folder" "$metaltap" run --out folder -- "${start[@]}"
refused 125 "output not writable: $WORK/precious exists and is no report" "$metaltap" run --out precious -- "${start[@]}"
refused 125 "output not writable: $WORK/precious exists and is no recording" \
    "$metaltap" run --spool precious -- "${start[@]}"
assert_eq 'what was there' precious "$(cat precious)"
if [ "$(id -u)" != 0 ]; then
    mkdir -m 555 locked
    refused 125 "output not writable: the folder $WORK/locked: Permission denied" \
        "$metaltap" run --out locked/r.json -- "${start[@]}"
elif [ -d /proc/self ]; then
    # For root every folder looks writable, also one in which nothing can be made.
    refused 125 'output not writable: the folder /proc' "$metaltap" run --out /proc/r.json -- "${start[@]}"
fi
# folders that depend on the process are not known yet
run_ok "$metaltap" run --out 'no%p/r.json' -- true
