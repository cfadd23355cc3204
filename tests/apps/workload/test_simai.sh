#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_simai.sh - workload texts beside the runs of SimAI.
#
# Goal: with SimAI's rules (a queue pair a message, its latency, its meanings), collectives end within
# 10 % of SimAI's time, one that no hash of paths decides within 2 %, and an iteration and the times for
# which its ranks wait within 3 %. Method: scenarios/training/workload.yaml with published workloads on
# SimAI's own topology. Not pinned: the rows that take seconds; docs/models/aicb.md has them all.
set -u
. tests/script.sh

data=../shared/data/ai
if [ ! -r "$data/runs/simai/runs.csv" ]; then
    echo "skip: no $data"
    exit 77
fi
here=$PWD
# value KEY: the first value of KEY in the summary
value() { sed -n "s/^ *\"$1\": \([0-9.e-]*\),*\$/\1/p" "$work/out/summary.json" | head -n 1; }
finish() { sed -n '/"finish_us": {$/,/}/s/^ *"max": \([0-9.e-]*\),*$/\1/p' "$work/out/summary.json"; }
# within PER_CENT WANTED GOT WHAT
within() {
    awk -v most="$1" -v wanted="$2" -v got="$3" \
        'BEGIN { d = got / wanted - 1; exit !(d < most / 100 && d > -most / 100) }' ||
        fail "$4: $3 us, SimAI has $2 us"
}
# run WORKLOAD PAYLOAD
run() {
    rm -rf "$work/out"
    "$ROCESIM" run scenarios/training/workload.yaml --quiet --set topology=file --set frames=bare \
        --set "file=$here/$data/data/simai-own/workload/$1.txt" --set "payload=$2" \
        --set "topology_file=$here/$data/data/simai-own/topo/Spectrum-X_16g_8gps_400Gbps_H100" \
        --set scheduler=scan --set queue_pairs=per-message --set protocol=plain \
        --set arrival=acknowledged --set aicb_semantics=simai --set send_latency=3us \
        -o "$work/out" >"$work/said" 2>&1 || fail "$1: $(cat "$work/said")"
}
while IFS=, read -r workload _ payload latency _ total tp dp _ _ _ _ _ last _; do
    limit=10
    case $workload in
    ar_tp16_1M | ag_tp16_16M) ;;
    a2a_tp16_1M) # the end of the last flow: SimAI's total is that of rank 0, in whole us
        limit=0.2
        total=$last
        ;;
    ar_dp2_tp8_16g_16M) limit=2 ;;
    gpt_2layers_tp8_dp2_16g) limit=3 ;;
    *) continue ;;
    esac
    [ "$latency" = 3 ] || continue
    run "$workload" "$payload"
    within "$limit" "$total" "$(finish)" "$workload, payload $payload"
    if [ "$workload" = gpt_2layers_tp8_dp2_16g ]; then
        within 3 "$tp" "$(awk "BEGIN { print 1000 * $(value tp) }")" "waiting for tp"
        within 3 "$dp" "$(awk "BEGIN { print 1000 * $(value dp) }")" "waiting for dp"
    fi
    echo "$workload $payload: $(finish) us, SimAI $total us"
done <"$data/runs/simai/runs.csv"
[ "${failures:-0}" = 0 ]
