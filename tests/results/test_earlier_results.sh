#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/results/test_earlier_results.sh - a result folder of an earlier release is read.
#
# Goal: compare, plot, diff and the Python package read a folder that release 0.2.0 wrote, and its
# scenario.yaml runs again.
# Method: the folder is kept as an archive beside this test. docs/compatibility.md promises what is tested.
set -u
. tests/script.sh
tar -xzf tests/results/release-0.2.0.tar.gz -C "$work" || exit 1
old=$work/release-0.2.0

"$ROCESIM" run "$old/scenario.yaml" -o "$work/new" --quiet >/dev/null 2>"$work/said" ||
    fail "scenario.yaml: $(cat "$work/said")"
"$ROCESIM" compare "$old" "$work/new" --csv >"$work/table" || fail "compare"
[ "$(wc -l <"$work/table")" = 3 ] || fail "compare: $(cat "$work/table")"
[ "$(sed -n 2p "$work/table" | tr , '\n' | grep -c .)" -gt 40 ] || fail "compare has few values"
"$ROCESIM" plot "$old" --json >"$work/figures" || fail "plot"
for kind in slowdown queue load; do
    grep -q "\"kind\":\"$kind\"" "$work/figures" || fail "no figure $kind"
done
"$ROCESIM" diff "$old" "$old" >/dev/null || fail "diff of a folder with itself"
"$ROCESIM" diff "$old" "$work/new" >"$work/said" 2>&1
[ $? -le 1 ] || fail "diff: $(cat "$work/said")"
flows=$(wc -l <"$old/flows.csv")
if command -v python3 >/dev/null; then
    PYTHONPATH=python PYTHONDONTWRITEBYTECODE=1 python3 -c "
import sys, rocesim
result = rocesim.load(sys.argv[1])
assert len(list(result.flows.rows())) == int(sys.argv[2]) - 1
assert result.flows.units['fct_ns'] == 'ns' and result.value('flows.slowdown.p99') >= 1
" "$old" "$flows" || fail "the Python package"
fi
exit $((failures > 0))
