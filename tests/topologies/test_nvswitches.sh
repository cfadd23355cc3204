#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/topologies/test_nvswitches.sh - which switches of a network are NVSwitches, and that all are used.
#
# Goal: a collective of eight GPUs takes about as long over four NVSwitches as over one of their rate
# together; SimAI's header says which nodes are NVSwitches, whatever their rate; on rails without NVSwitches,
# a NIC of another rate makes no leaf one. Not pinned: the order in which messages take NVSwitches.
set -u
. tests/script.sh
start_forks

# server NVSWITCHES RATE...: a topology of SimAI: eight GPUs, their NVSwitches, a leaf.
server() {
    local count=$1 gpu i
    shift
    echo "$((9 + count)) 8 $count 1 $((8 * (count + 1))) H100"
    seq -s ' ' 8 $((8 + count))
    for gpu in 0 1 2 3 4 5 6 7; do
        i=8
        for rate in "$@"; do
            echo "$gpu $i ${rate}Gbps 0.000025ms 0"
            i=$((i + 1))
        done
        echo "$gpu $i 400Gbps 0.0005ms 0"
    done
}
{
    echo "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8" \
        "checkpoints: 0 checkpoint_initiates: 0"
    echo 1
    echo "l -1 1 ALLREDUCE 16777216 1 NONE 0 1 NONE 0 1"
} >"$work/layer.txt"
server 4 1000 800 800 1000 >"$work/four.topo"
server 2 400 3200 >"$work/two.topo"
server 1 3600 >"$work/one.topo"
server 1 400 >"$work/slow.topo"
for name in four two one slow; do
    printf 'topology: {file: %s.topo}\ntraffic: [{workload: {file: layer.txt}}]\n' $name >"$work/$name.yaml"
    rocesim run "$work/$name.yaml" -o "$work/$name" --quiet >"$work/said" 2>&1 ||
        fail "$name: $(cat "$work/said")"
done
last_ps() { sed -n 's/.*"sim_time_ps": \([0-9]*\).*/\1/p' "$work/$1/summary.json"; }
for name in four two; do
    [ $(($(last_ps $name) * 100)) -lt $(($(last_ps one) * 115)) ] ||
        fail "$name NVSwitches of 3600 Gbps together take $(last_ps $name) ps, one takes $(last_ps one) ps"
done
awk -F'[,-]' '$1 ~ /^host[0-7]$/ && $5 > 1000000 && !seen[$1]++ { n++ } END { exit n != 8 }' \
    "$work/slow/ports.csv" ||
    fail "with an NVSwitch as fast as the NICs, not every GPU is a rank"

cat >"$work/rails.yaml" <<'YAML'
topology: {rail-optimised: {servers: 4, gpus-per-server: 4, spines: 0, host-rate: 400Gbps, delay: 500ns}}
links: {"host2/nic1--*": {rate: 100Gbps}}
traffic: [{collective: {kind: all-reduce, bytes: 1MiB, pxn: on}}]
YAML
rocesim run "$work/rails.yaml" -o "$work/rails" --quiet >"$work/said" 2>&1 ||
    fail "a NIC of another rate: $(tail -n 1 "$work/said")"
[ "$failures" -eq 0 ]
