#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# test_training_studies.sh - scenarios/training: the parameters of gpt.yaml, and the studies.
#
# Goal: each topology, model and other value of gpt.yaml goes with `check`; the studies run through,
# and their rows have the order that physics asks for.
# Method: `check` for each value, and scenarios/training/run --quick with a smaller model.
# Does not pin: the long forms of the studies and the values in docs/models/training.md.
set -u
. tests/script.sh
start_forks
scenario=scenarios/training/gpt.yaml
for set in topology={rail-optimised,rails,leaf-spine,fat-tree,star} model=gpt-175b \
    pp=1 dp=2 sequence=4096 mtu={1024,2048,9000} cc=none \
    overlap={none,all} jitter=0.05 algorithm=ring vpp=2; do
    rocesim check $scenario --set layers=8 --set "$set" >"$work/out" 2>&1 ||
        fail "$set: $(cat "$work/out")"
done
rocesim check $scenario --set model=mixtral-8x7b --set tp=1 --set pp=4 --set ep=8 >"$work/out" 2>&1 ||
    fail "experts: $(cat "$work/out")"
grep -q "dp: 16$" "$work/out" || fail "dp does not follow from the other degrees: $(cat "$work/out")"
rocesim check $scenario --set gpus=60 >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q "gpus / (tp \* cp \* pp)" "$work/out" || fail "60 GPUs: $(cat "$work/out")"

small=(--set "traffic[0].training.hidden=1024" --set "traffic[0].training.heads=8"
    --set "traffic[0].training.ffn=4096" --set "traffic[0].training.vocab=1024"
    --set "traffic[0].training.expert-ffn=1024")
models="control exchange failing jobs large mtu nemo overlap skew stragglers topology"
peers="algorithms atlahs deepep echo nccl pairs pxn simai skipping"
# shellcheck disable=SC2086
scenarios/training/run --quick -o "$work/out.d" "${small[@]}" $models >"$work/log" 2>&1 ||
    fail "$(cat "$work/log")"
# shellcheck disable=SC2086
scenarios/training/run --quick -o "$work/out.d" $peers >"$work/log" 2>&1 || fail "$(cat "$work/log")"
# rows STUDY: the rows of a script, or the points of a sweep without their numbers
rows() {
    sed 's/^[a-z0-9]*,//' "$work/out.d/$1/points.csv" 2>/dev/null || cat "$work/out.d/$1/data.csv"
}
for study in $models $peers; do
    scenarios/training/run | grep -q "^$study  *[A-Za-z].*?" || fail "$study is not listed with its question"
    [ "$(rows $study | wc -l)" -ge 2 ] || fail "$study: no rows"
    [ -e "$work/out.d/$study/points.csv" ] && lacks=',-$' || lacks=',,'
    tail -n +2 "$work/out.d/$study/data.csv" | grep -q -e "$lacks" && fail "$study: $(rows $study)"
done
rows skipping | grep -q ',no$' && fail "fast-forward changes an outcome: $(rows skipping)"
# less WHAT STUDY A B COLUMN: the column of the row that begins with A is below that of B
less() {
    rows "$2" | awk -F, -v a="$3," -v b="$4," -v c="$5" '
        index($0, a) == 1 { x = $c } index($0, b) == 1 { y = $c }
        END { exit !(x > 0 && x < y) }' || fail "$1: $(rows "$2")"
}
less "rails have no collisions" topology rails leaf-spine 16
less "hot experts cost time" skew none,0 none,1 15
less "a slow GPU slows all" stragglers even slow 4
less "a flapping link costs time" stragglers even flapping 4
less "longer frames have fewer headers" mtu permanent,9000 permanent,4096 5
less "PXN keeps messages on their rails" pxn rail-optimised-pxn rail-optimised 9
less "more queue pairs use more paths" pairs 8 1 8
rows failing | grep -q "^nic-lost,2,0,stalled,.*,[1-9]" || fail "a lost NIC stalls its job: $(rows failing)"
rows failing | grep -q "^nic-lost,2,1,finished" || fail "a lost NIC stalls the other job: $(rows failing)"
# near STUDY ROW LIMIT: the difference in percent, the last column that is a number, is below the limit
near() {
    rows "$1" | awk -F, -v row="$2" -v most="$3" '
        index($0, row) == 1 { x = $NF ~ /[0-9]/ ? $NF : $(NF - 1); found = x < most && x > -most }
        END { exit !found }' ||
        fail "$1: $2 differs by $3 percent or more: $(rows "$1")"
}
near simai ag_tp_16_16 10
near simai a2a_tp_16_1 0.1
near simai ar_tp_8_16_tutorial 0.2
near atlahs heap,2 10
near atlahs broadcast-ends 5
near nccl B,268435456 20
near nccl A,8 1
near echo between,18000 30
near deepep normal-dispatch,16 15
near deepep low-latency-dispatch,8 6
[ "$failures" -eq 0 ]
