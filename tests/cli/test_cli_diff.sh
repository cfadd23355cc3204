#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/cli/test_cli_diff.sh - rocesim diff: parameters, first rows, flows and summaries that differ.
#
# Goal: equal runs differ in nothing; of others the parameter that was changed is named, the flow that
# moved most is first, and the first differing row is the first.
# Method: runs that differ in one thing; rows found by cmp.
# Not pinned: the layout.
set -u
. tests/script.sh

quick=scenarios/quickstart.yaml
"$ROCESIM" run $quick -o "$work/a" --quiet >/dev/null || fail "run"
"$ROCESIM" run $quick -o "$work/b" --quiet --threads 2 >/dev/null || fail "run"
"$ROCESIM" run $quick -o "$work/c" --quiet --set switch.ecn.kmin=50KB >/dev/null || fail "run"
"$ROCESIM" diff "$work/a" "$work/b" >"$work/out" || fail "equal runs: $(cat "$work/out")"
grep -q "^nothing differs$" "$work/out" || fail "equal runs: $(cat "$work/out")"
"$ROCESIM" diff "$work/a" "$work/c" >"$work/out"
[ $? -eq 1 ] || fail "exit status of a difference"
[ "$(sed -n '/^parameters$/,/^[a-z].*:/p' "$work/out" | grep -c '^  ')" -eq 1 ] &&
    grep -Eq '^  switch.ecn.kmin  *[0-9.A-Za-z]*  *50KB$' "$work/out" ||
    fail "parameters: $(cat "$work/out")"
grep -Eq '^  digest  *[0-9a-f]{16}  *[0-9a-f]{16}$' "$work/out" || fail "no digests"
grep -q '  wall_' "$work/out" && fail "wall_ values are told"
line=$(cmp "$work/a/series.csv" "$work/c/series.csv" | sed 's/.*line //')
grep -q "^series.csv: the first row that differs is line $line$" "$work/out" ||
    fail "first row: line $line, $(grep series.csv "$work/out")"
grep -qF "  A  $(sed -n "${line}p" "$work/a/series.csv")" "$work/out" || fail "the row itself"
most=$(paste -d, <(cut -d, -f2,3,8 "$work/a/flows.csv") <(cut -d, -f8 "$work/c/flows.csv") | awk -F, '
    NR > 1 { d = $4 - $3; d = d < 0 ? -d : d; if (d > best) { best = d; name = $1 " -> " $2 } }
    END { print name }')
[ "$(sed -n '/^flows: /{n;s/^  \([^ ]* -> [^ ]*\).*/\1/p}' "$work/out")" = "$most" ] ||
    fail "the flow that moved most is $most: $(grep -A1 '^flows:' "$work/out")"
"$ROCESIM" diff "$work/a" "$work/none" >/dev/null 2>"$work/err"
[ $? -eq 2 ] && grep -q "summary.json: cannot open" "$work/err" || fail "a folder that is not there"
exit $((failures > 0))
