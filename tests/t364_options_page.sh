# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: docs/OPTIONS.md is what the tool prints, and help names every option of the table
. "$TESTLIB/sh.sh"

metaltap=$BUILD/bin/metaltap
run_ok "$metaltap" options --markdown
cmp out "$SRC/docs/OPTIONS.md" || fail 'docs/OPTIONS.md is not up to date: metaltap options --markdown >docs/OPTIONS.md'

"$metaltap" options >plain
"$metaltap" help run >help
"$metaltap" run --help >help_flag
cmp help help_flag || fail 'help run and run --help differ'
rows=0
while IFS=, read -r field variable flag _; do
    rows=$((rows + 1))
    name=$(tr -d ' "' <<<"$variable") dashes=--$(tr -d ' "' <<<"$flag")
    for page in plain help "$SRC/docs/OPTIONS.md"; do
        assert_has "$page" "$name"
        assert_has "$page" "$dashes "
    done
    [ -n "$field" ]
done < <(sed -n 's/^OPTION(//p' "$SRC/src/options/options.def")
[ "$rows" -ge 9 ] || fail "only $rows rows were found in options.def"
for flag in --library --quiet --help --version; do
    assert_has help "$flag"
done

for verb in run report options help version; do
    "$metaltap" help "$verb" >page
    assert_has page metaltap
    "$metaltap" help | grep -q "metaltap $verb" || fail "help does not name $verb"
done
run_ok "$metaltap" --help
assert_has out 'metaltap run'
version=$(sed -n 's/#define MT_VERSION "\(.*\)"/\1/p' "$SRC/src/version.h")
for words in version --version 'run --version'; do
    # shellcheck disable=SC2086 # two words
    run_ok "$metaltap" $words
    assert_eq "$words" "metaltap $version" "$(cat out)"
done
run "$metaltap" version >/dev/full
! "$metaltap" help >/dev/full 2>err || fail 'a full disk should be a failure'
assert_has err 'standard output cannot be written'
awk 'length > 120 && !/^\|/ {print FILENAME ": " $0; bad = 1} END {exit bad}' help "$SRC/docs/OPTIONS.md"
