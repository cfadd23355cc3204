#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/workload/test_estimates.sh - what check says of collectives and training before a run.
#
# Goal: check counts the messages and packet-hops of collectives as a run does, its bound is no more than the
# time of the run, and its estimate is near it; so for files. Method: check beside run, and closed forms of
# rings for a workload text. Not pinned: the memory, which need only be there.
set -u
. tests/script.sh
start_forks

# number PATTERN FILE: the first number behind a text
number() { sed -n "s/.*$1 *\([0-9.e+]*\).*/\1/p" "$2" | head -n 1; }
finish() { sed -n '/"finish_us": {$/,/}/s/^ *"max": \([0-9.e-]*\),*$/\1/p' "$work/out/summary.json"; }
# compare WHAT LOW HIGH SCENARIO [OPTION...]: the time of the run over the estimate lies in between
compare() {
    local what=$1 low=$2 high=$3
    shift 3
    rocesim check "$@" >"$work/check" 2>"$work/err" || fail "$what: $(cat "$work/err")"
    rm -rf "$work/out"
    rocesim run "$@" -o "$work/out" >"$work/run" 2>"$work/err" || fail "$what: $(cat "$work/err")"
    awk -v what="$what" -v low="$low" -v high="$high" \
        -v check="$(number 'messages:' "$work/check")" \
        -v run="$(number '"messages":' "$work/out/summary.json")" \
        -v estimate="$(number 'packets;' "$work/check")" \
        -v hops="$(number 'packet_hops":' "$work/out/summary.json")" \
        -v bound="$(number 'takes at least' "$work/check")" \
        -v about="$(number 'takes about' "$work/check")" \
        -v memory="$(number 'connections:' "$work/check")" \
        -v time="$(finish)" '
        BEGIN {
            bad = check != run ? "messages " check ", run " run : ""
            if (hops > 0 && (estimate > 1.1 * hops || estimate < 0.9 * hops))
                bad = bad " packet-hops " estimate ", run " hops
            if (bound <= 0 || bound > time * 1.0001) bad = bad " bound " bound ", run " time
            if (about < bound || about < low * time || about > high * time)
                bad = bad " estimate " about ", run " time
            if (memory <= 0) bad = bad " no memory"
            if (bad != "") { print what ": " bad; exit 1 }
        }' || fail "$what"
}
collective() { compare "$*" 0.6 1.6 scenarios/training/collective.yaml --set bytes=4MiB "$@"; }
collective --set algorithm=ring
collective --set kind=all-to-all
collective --set kind=all-gather --set protocol=plain --set per_node=1
collective --set ranks=12 --set per_node=3 --set algorithm=hierarchical
collective --set algorithm=tree --set bytes=1KB
collective --set ranks=8 --set kind=reduce-scatter
compare training 0.9 1.1 scenarios/training/gpt.yaml --set gpus=16 --set layers=2 --set sequence=256 \
    --set microbatches=2 --set 'traffic[0].training.hidden=1024' --set overlap=none
compare file 0.8 1.1 scenarios/training/workload.yaml --set file=two_layers.txt --set topology=star

# Messages within a node, and of a rank to itself, take NVLink and no NIC.
cat >"$work/near.goal" <<'TEXT'
num_ranks 4
rank 0 {
send 100000000b to 1
send 100000000b to 0 tag 1
recv 100000000b from 0 tag 1
}
rank 1 {
recv 100000000b from 0
recv 1000b from 2 tag 2
}
rank 2 {
send 1000b to 1 tag 2
}
rank 3 {
calc 5
}
TEXT
cat >"$work/near.yaml" <<TEXT
topology: {star: {hosts: 2, nics-per-host: 2}}
traffic: [{workload: {file: $work/near.goal}}]
TEXT
compare "messages within a node" 0.4 1.1 "$work/near.yaml"
grep -q "messages: 3 of 200 MB, 2 of them within nodes" "$work/check" ||
    fail "$(grep messages: "$work/check")"

# A text of one all-reduce of 4 ranks: 1 us and 1 ns of computation before it, and 3 ns behind it.
cat >"$work/one.txt" <<'TEXT'
HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4
1
a -1 1000 ALLREDUCE 4000000 1 NONE 0 2 NONE 0 1
TEXT
rocesim check "$work/one.txt" --json >"$work/json" 2>"$work/err" || fail "$(cat "$work/err")"
# bound: 2 x 3/4 x 4 MB at 40 ps a byte; estimate: also 6 messages of L + 2 o = 4100 ns
for want in '"collective_messages": 24' '"bound_path_ns": 2410[0-9.]*' '"bound_nic_tx_ns": 240000.0' \
    '"estimate_ns": 2656[0-9.]*' '"collective_bytes": 24000000.0'; do
    grep -qE "$want" "$work/json" || fail "no $want in $(cat "$work/json")"
done
[ "$failures" = 0 ]
