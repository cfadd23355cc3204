#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_cache_studies.sh - every study of scenarios/cache, in short.
#
# Goal: each runs to its end, each of its rows has the numbers of its columns, and it draws its figure;
# without a study the list has them all with their questions; one that does not exist is refused.
# Method: scenarios/cache/run --quick all.
# Does not pin: what the studies find (docs/models/tiered-cache.md has it, from whole runs).
set -eu
. tests/script.sh

scenarios/cache/run --quick -o "$work/out" all >"$work/log" 2>&1 || fail "$(cat "$work/log")"
for script in scenarios/cache/*.sweep.yaml scenarios/cache/*.sh; do
    study=$(basename "${script%.sweep.yaml}" .sh)
    [ "$study" != cache_lib ] || continue
    rows=$(ls "$work/out/$study"/*.csv 2>/dev/null | head -n 1)
    [ -n "$rows" ] && [ "$(wc -l <"$rows")" -gt 2 ] || fail "$study has no rows"
    # Of a flat cache there are no tiers to tell of: -.
    [ "$script" != "${script%.sh}" ] || rows=$work/out/$study/points.csv
    awk -F, 'NR == 1 { n = NF; next } NF != n { bad = 1 }
        FILENAME ~ /points.csv$/ { if ($(NF - 1) == "") bad = 1; next }
        { for (i = 2; i <= 3; i++) if ($i !~ /^[-0-9.e+]+$/) bad = 1 } END { exit bad }' "$rows" ||
        fail "$study: a row lacks numbers: $(cat "$rows")"
    command -v gnuplot >/dev/null && { [ -s "$work/out/$study/figure.svg" ] || fail "$study has no figure"; }
    scenarios/cache/run | grep -q "^$study  *[A-Za-z].*?" || fail "$study is not listed with its question"
done
if scenarios/cache/run -o "$work/out" nothing 2>/dev/null; then fail "a study that is none is run"; fi

exit $((failures > 0))
