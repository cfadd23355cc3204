#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: study
# test_wan_studies.sh - every study of scenarios/wan, in short.
#
# Goal: each runs to its end, each of its rows has the numbers of its columns, and it draws its figure;
# without a study the list has them all with their questions; one that does not exist is refused.
# Method: scenarios/wan/run --quick all.
# Does not pin: what the studies find (docs/models/adamap.md has it, from whole runs).
set -eu
. tests/script.sh

scenarios/wan/run --quick -o "$work/out" all >"$work/log" 2>&1 || fail "$(cat "$work/log")"
for script in scenarios/wan/*.sweep.yaml scenarios/wan/*.sh; do
    study=$(basename "${script%.sweep.yaml}" .sh)
    [ "$study" != wan_lib ] || continue
    rows=$work/out/$study/data.csv
    [ -f "$rows" ] || rows=$work/out/$study/points.csv
    [ "$(wc -l <"$rows")" -gt 2 ] || fail "$study has no rows"
    awk -F, 'NR == 1 { n = NF; next } NF != n { bad = 1 } FILENAME ~ /points.csv$/ { next }
        { for (i = 1; i <= n; i++) if ($i == "") bad = 1 }
        END { exit bad }' "$rows" || fail "$study: a row lacks numbers: $(cat "$rows")"
    command -v gnuplot >/dev/null && { [ -s "$work/out/$study/figure.svg" ] || fail "$study has no figure"; }
    scenarios/wan/run | grep -q "^$study  *[A-Za-z].*?" || fail "$study is not listed with its question"
done
if scenarios/wan/run -o "$work/out" nothing 2>/dev/null; then fail "a study that is none is run"; fi

exit $((failures > 0))
