#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_warnings.sh - warnings stay with results and are told by whatever shows them.
#
# Goal: what `run` warns of stands in summary.json with its kind, in the words of the terminal; a sweep
# and a comparison tell each kind once, with how many runs have it; without a warning nothing is told.
# Method: TIMELY with increases for slower links, in some points of a sweep; a warning of an application.
# Not pinned: the words of warnings, which the tests of their causes have.
set -u
. tests/script.sh

cat >"$work/base.yaml" <<'END'
topology: {star: {hosts: 4, rate: 100Gbps}}
traffic: [incast: {senders: 3, bytes: 10KB, to: host0}]
END
cat >"$work/sweep.yaml" <<'END'
scenario: base.yaml
points:
  - {nic.congestion-control: dcqcn, nic.retry-count: 5}
  - {nic.congestion-control: timely, nic.retry-count: 5}
  - {nic.congestion-control: timely, nic.retry-count: 6}
seeds: 2
END
"$ROCESIM" sweep "$work/sweep.yaml" -o "$work/s" --quiet >/dev/null 2>"$work/err" ||
    fail "sweep: $(cat "$work/err")"
grep -q '^warning: in 4 of 6 runs, first in p2-s1: nic.timely.ai-rate of host0 is 10' "$work/err" ||
    fail "the sweep tells: $(cat "$work/err")"
[ "$(grep -c "^warning: .*ai-rate" "$work/err")" -eq 1 ] || fail "a kind is told twice: $(cat "$work/err")"

# kinds RUN: kinds and texts of its warnings, a line each.
kinds() {
    python3 -c '
import json, sys
for w in json.load(open(sys.argv[1] + "/summary.json"))["warnings"]:
    print("warning:", w["text"], "|", w["kind"])' "$1"
}
[ -z "$(kinds "$work/s/runs/p1-s1")" ] || fail "a warning without cause"
kinds "$work/s/runs/p2-s1" | grep -q "ai-rate of host0.* | rate-increase$" || fail "summary.json of timely"

# The terminal and summary.json say the same.
"$ROCESIM" run "$work/base.yaml" --set nic.congestion-control=timely --set 'traffic[0].incast.start=1s' \
    --until 1ms -o "$work/r" --quiet >/dev/null 2>"$work/err"
[ "$(grep -c '^warning: ' "$work/err")" -ge 2 ] || fail "run tells: $(cat "$work/err")"
kinds "$work/r" | sed 's/ | [a-z-]*$//' | diff - <(grep '^warning: ' "$work/err") || fail "other words"

"$ROCESIM" compare "$work/s/runs/p1-s1" "$work/s/runs/p2-s1" "$work/s/runs/p3-s1" >"$work/out"
grep -q "^warning: in 2 of 3 runs, first in p2-s1: nic.timely.ai-rate of host0" "$work/out" ||
    fail "compare tells: $(tail -n 2 "$work/out")"
"$ROCESIM" compare "$work/s/runs/p1-s1" "$work/s/runs/p1-s2" | grep warning && fail "compare: without cause"
"$ROCESIM" compare --csv "$work/s/runs/p2-s1" | grep "warning:" && fail "a warning in CSV"
exit $((failures > 0))
