#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: long
# tests/apps/test_periods.sh - fast-forward skips what repeats within messages, and changes no result.
#
# Goal: the data-parallel exchange of GPT-13B takes its known time though 99 % of its packet-hops are skipped;
# with messages of all kinds, all files are those of the full run, byte for byte, on 1 and 2 threads.
# Method: one exchange against time and outcome digest of the full run; diffs of results but for wall_*,
# digest and fast_forward: a ring on a rail, scenarios drawn by tests/random-periods (300 in the long form).
# Not pinned: the time that a run takes.
set -u
. tests/script.sh
start_forks
. tests/fast_forward.sh

# exchange: GPT-13B, TP 8, DP 16, on rails: 1.14 G packet-hops.
exchange() {
    within 20 rocesim run scenarios/training/gpt.yaml -o "$work/memo" --quiet --yes --set model=gpt-13b \
        --set layers=auto --set topology=rails --set gpus=128 --set tp=8 --set pp=1 \
        --set microbatches=1 --set cc=none \
        --set overlap=none --set bucket=0 --set protocol=plain --set channels=1 --set algorithm=ring \
        --set fast_forward=exact >"$work/log" 2>&1 || fail "GPT-13B: $(tail -n 1 "$work/log")"
    cp "$work/memo/summary.json" "$work/summary"
    grep -q '"dp": 190263.65736' "$work/summary" || grep -q '"dp": 190.26365736' "$work/summary" ||
        fail "GPT-13B: $(grep '"dp"' "$work/summary" | head -n 1), expected 190.26365736 ms"
    [ "$(number outcome_digest)" = 39bd739132a1aafb ] ||
        fail "GPT-13B: outcome digest $(number outcome_digest)"
    local hops
    hops=$(number packet_hops)
    [ $((100 * $(number packet_hops_skipped))) -ge $((99 * hops)) ] ||
        fail "GPT-13B: $(number packet_hops_skipped) of $hops packet-hops are skipped, expected 99 %"
}
[ -n "${TEST_FEW:-}" ] || exchange # too much for the sanitizer builds

# ring KEYS: writes $work/s.yaml: a ring of 6 hosts on a rail.
ring() {
    cat >"$work/s.yaml" <<END
seed: 3
ties: rotor
network: {draws: packet}
outputs: {operations-max: 1000}
topology: {star: {hosts: 6, rate: 400Gbps, delay: 500ns}}
traffic:
  - collective: {kind: all-reduce, bytes: 24MiB, algorithm: ring, protocol: plain, channels: 1$1}
END
}
for case in none dcqcn "dcqcn --threads 2"; do
    ring ""
    # shellcheck disable=SC2086
    same "ring, $case" --set nic.congestion-control=$case
    [ "$(number jumps)" = 10 ] || fail "ring, $case: $(number jumps) jumps, expected one for each step"
done

# A computation that ends in a message, and the end of the run.
ring ", repeat: 2, compute: 33us"
same "computations"
same "the end" --set until=555us
[ "$(number jumps)" -ge 1 ] || fail "the end: no jumps"

ring ""
refuses ties --set ties=hash
refuses losses --set link.loss-rate=0.00001
refuses nic.transport --set nic.transport=irn
refuses congestion-control --set nic.congestion-control=timely

count=$(few 6 3)
[ -z "${TEST_LONG:-}" ] || count=300
jumps=0
for i in $(seq 1001 $((1000 + count))) 1057; do # 1057 has jumps
    tests/random-periods "$i" >"$work/s.yaml"
    same "tests/random-periods $i" && [ "$(number jumps)" != 0 ] && jumps=$((jumps + 1))
done
[ "$jumps" -gt 0 ] || fail "no random scenario has jumps"
[ $failures -eq 0 ]
