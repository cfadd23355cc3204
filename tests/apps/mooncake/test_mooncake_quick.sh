#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_quick.sh - the studies of scenarios/mooncake run, in their quick forms.
#
# Goal: each prints its question and a table with numbers in it, writes data.csv, and fails when a run does;
# names that are no study are refused; the program's threads do not show in results.
# Method: scenarios/mooncake/run --quick of the short ones.
# Not pinned: their numbers (labels: study, test_mooncake_studies.sh).
set -u
. tests/script.sh
scenarios/mooncake/run >"$work/list" || fail "the list"
[ "$(wc -l <"$work/list")" -eq 10 ] || fail "$(wc -l <"$work/list") studies, expected 10"
grep -q ' .*?$' "$work/list" || fail "studies have no questions"
studies=$(few "slices flap decoders nics" slices)
# shellcheck disable=SC2086 # a list of words
scenarios/mooncake/run --quick -o "$work/out" $studies >"$work/log" 2>&1 || fail "quick: $(cat "$work/log")"
for study in $studies; do
    [ "$(wc -l <"$work/out/$study/data.csv")" -ge 4 ] || fail "$study: no data"
    grep -q '^== .*?$' "$work/out/$study/table.txt" || fail "$study: no question"
    grep -q ',,\|,$\|nan' "$work/out/$study/data.csv" && fail "$study: an empty field"
    if command -v gnuplot >/dev/null; then
        grep -q '</svg>' "$work/out/$study/figure.svg" || fail "$study: no figure"
    fi
done
# The benchmark has threads of its own, which --set threads means; --threads is the program's.
for threads in 1 3; do
    "$ROCESIM" run scenarios/mooncake/bench.yaml --quiet -o "$work/by$threads" --threads $threads \
        --set selection=random --set "traffic[0].mooncake-bench.duration=500us" >/dev/null ||
        fail "$threads threads"
    "$ROCESIM" run scenarios/mooncake/trace.yaml --quiet -o "$work/of$threads" --threads $threads \
        --set requests=40 >/dev/null || fail "$threads threads"
done
cmp "$work/by1/ports.csv" "$work/by3/ports.csv" && cmp "$work/of1/ports.csv" "$work/of3/ports.csv" ||
    fail "results depend on the program's threads"
for of in by of; do
    [ "$(grep '"digest"' "$work/${of}1/summary.json")" = "$(grep '"digest"' "$work/${of}3/summary.json")" ] ||
        fail "digests depend on the program's threads"
done
scenarios/mooncake/run nonsense >"$work/log" 2>&1
[ $? -eq 2 ] || fail "a study that does not exist"
ROCESIM=/bin/false scenarios/mooncake/run --quick -o "$work/out" slices >"$work/log" 2>&1
[ $? -eq 1 ] || fail "a run that fails"
echo "$failures failures"
[ "$failures" -eq 0 ]
