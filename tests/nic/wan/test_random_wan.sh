#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow clang
#
# test_random_wan.sh - lossy long links with whatever a transport may be told: all arrives.
#
# Goal: whatever tests/random-wan draws, the run ends by itself, every transfer completes, and no packet
# is left anywhere: none on a link, none in a NIC's pipeline, none kept for a gap that is repaired.
# Method: scenarios that were drawn (RANDOM_FIRST, RANDOM_COUNT) and those that failed once; summary.json.
# Not pinned: times; contents (test_transport_torture); two threads (test_random_runs).
set -u
. tests/script.sh
start_forks
command -v python3 >/dev/null || { echo "skip: no python3"; exit 77; }
first=${RANDOM_FIRST:-1}
count=${RANDOM_COUNT:-$(few 20 3)}
# A run that ended with packets in a detailed NIC, twice; a queue on the path longer than time-outs; a

# window of one packet that did not ask for an ACK; READs and chunks behind queues longer than a time-out.
found="233 1043 241 3053 2182 2011 3000 3120 3138 3201 2108"
[ -z "${TEST_FEW:-}" ] || found="233 1043"

for number in $found $(seq "$first" $((first + count - 1))); do
    tests/random-wan "$number" >"$work/scenario.yaml"
    status=0
    within 240 rocesim run "$work/scenario.yaml" -o "$work/out" --quiet >"$work/log" 2>"$work/err" ||
        status=$?
    if [ $status -ne 0 ]; then
        fail "random wan $number: status $status: $(head -n 2 "$work/err")"
    else
        left=$(python3 - "$work/out/summary.json" <<'PY'
import json, sys

summary = json.load(open(sys.argv[1]))
flows, in_flight = summary["flows"], summary["packets"]["in_flight"]
if summary["ended"] != "done" or flows["completed"] != flows["count"] or in_flight != 0:
    print(summary["ended"], flows["completed"], "of", flows["count"], "completed,", in_flight, "packets left")
PY
        )
        [ -z "$left" ] || fail "random wan $number: $left"
    fi
    rm -rf "$work/out"
done
[ $failures -eq 0 ]
