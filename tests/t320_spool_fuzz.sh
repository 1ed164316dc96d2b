# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shows: a few seconds of fuzzing find nothing in reader and model; `make fuzz` does it for longer
. "$TESTLIB/sh.sh"

fuzz=$BUILD/tests/fuzz/fuzz_spool
[ -x "$fuzz" ] || skip 'the fuzzer is not built in this variant'
run_ok "$BUILD/tests/fuzz/make_seeds" seeds
mkdir corpus
run_ok "$fuzz" -max_total_time="${FUZZ_SECONDS:-5}" -max_len=24576 -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
    corpus seeds
assert_matches err 'stat::number_of_executed_units: *[1-9][0-9]'
# The seeds are sound: most of reader and model is reached from them, so that the fuzzer does not start from nothing.
[ "$(ls corpus | wc -l)" -ge 20 ] || fail "only $(ls corpus | wc -l) inputs were found worth keeping"
