#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/cli/run/test_run_in_vain.sh - a run without an answer, without a path or without memory says so.
#
# Goal: what makes the figures of a run meaningless stands in the run, in its summary and in a sweep.
# Method: small scenarios that have one such reason each. Not pinned: the rest of the words.
set -u
. tests/script.sh
start_forks

# run NAME STATUS [OPTION]...: runs $work/NAME.yaml into $work/NAME, and expects the status.
run() {
    local status=0
    rocesim run "$work/$1.yaml" -o "$work/$1" "${@:3}" >"$work/out" 2>"$work/err" || status=$?
    [ $status -eq "$2" ] || fail "$1: status $status, not $2: $(cat "$work/err")"
}

# says NAME KIND TEXT: the summary has a warning of the kind with the text, and the terminal too.
says() {
    grep -A1 "\"kind\": \"$2\"" "$work/$1/summary.json" | grep -q "$3" ||
        fail "$1: summary without $2: $3"
    grep -q "warning .*$3" "$work/out" || fail "$1: terminal without: $3"
}

rails='topology:
  rail-optimised: {servers: 4, gpus-per-server: 2, spines: 2, hosts: gpus, nvlink-rate: 2880Gbps}'
cat >"$work/serving.yaml" <<END
$rails
traffic:
  - serving: {prefill: 1, decode: 1, requests: 4, prompt-tokens: 1000, output-tokens: 3, rate: 1000}
END
run serving 0
says serving no-path 'there is no path between host1->nvswitch0 and host0->leaf0'

cat >"$work/bench.yaml" <<END
$rails
traffic: [{mooncake-bench: {}}]
END
run bench 1
says bench no-path 'there is no path between'
grep -q '"failure": "none of its requests succeeded"' "$work/bench/summary.json" || fail "bench: no failure"

# A sweep names the failure of a program, whether it has just run or was there.
printf 'scenario: bench.yaml\nseeds: [1]\n' >"$work/sweep.yaml"
for time in first second; do
    rocesim sweep "$work/sweep.yaml" -o "$work/sweep" >"$work/out" 2>"$work/err" &&
        fail "sweep, $time time: status 0 although its run failed"
    grep -q 'mooncake-bench) failed: none of its requests' "$work/err" ||
        fail "sweep, $time: $(cat "$work/err")"
    grep -q ' 1 failed' "$work/out" || fail "sweep, $time: $(cat "$work/out")"
    grep -q 'failed: none of its requests' "$work/sweep/runs.csv" ||
        fail "sweep, $time: runs.csv has no failure"
done

# A span that ends before the first answer.
cat >"$work/short.yaml" <<'END'
topology: {star: {hosts: 6, delay: 20us}}
traffic: [{herd: {workers: 2, clients: 10, keys: 1000, warm-up: 10us, measure: 20us}}]
END
run short 0
says short no-answer 'no answer came within its measured span'
sed -i 's/measure: 20us/measure: 200us/' "$work/short.yaml"
run short 0
grep -q no-answer "$work/short/summary.json" && fail "a span with answers has the warning"

# Packets in a deep buffer, above memory-max. The network and the transfers alone are within it.
cat >"$work/memory.yaml" <<'END'
topology: {star: {hosts: 64, rate: 400Gbps}}
nic: {congestion-control: none}
switch: {buffer: 64GB, pfc: {priorities: []}}
memory-max: 100MB
time-max: auto
traffic: [{incast: {to: host0, from: "host[1-63]", bytes: 400MB}}]
END
run memory 1 --quiet
says memory memory-max 'took more than memory-max (100.0 MB)'

# No time may be so short that a timer fires all the time.
cat >"$work/instant.yaml" <<'END'
topology: {star: {hosts: 4}}
traffic: [{incast: {to: host0, from: "host[1-3]", bytes: 200KB}}]
END
for transport in uec-rud mrc go-back-n; do
    run instant 2 --set nic.base-rtt=1ps --set nic.transport=$transport
    run instant 0 --set nic.base-rtt=100ns --set nic.transport=$transport
done
[ $failures -eq 0 ]
