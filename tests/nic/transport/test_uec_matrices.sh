#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/nic/transport/test_uec_matrices.sh - collectives of htsim's matrices beside the runs of its program.
#
# Goal: the ends of the last flows, as means over three seeds, are those of the public simulator of Ultra
# Ethernet: rings within 3 %, sprayed or with one path for each flow, with the sender's window or the
# receiver's credit; all-to-alls within 7 %, with one path for each flow within 15 %: a few collisions end
# them, and the program's own seeds lie 10 % around their mean. Method:
# scenarios/uec/uec.yaml with the matrices and the fabric that the program ran. Not pinned: the butterfly,
# whose triggers the program does not fire, and four parallel flows with the receiver's credit, which the
# program ends later (docs/models/uec.md).
set -u
. tests/script.sh
start_forks

data=../shared/data/ai
if [ ! -r "$data/runs/uet-htsim/runs.csv" ]; then
    echo "skip: no $data"
    exit 77
fi
here=$PWD
# last MATRIX CONTROL BALANCE: prints the end of the last flow in us, the mean over the seeds 1 to 3
last() {
    local seed
    for seed in 1 2 3; do
        within 20 rocesim run scenarios/uec/uec.yaml --quiet --seed $seed -o "$work/out" \
            --set "topology=$here/$data/data/topo-own/ls16_400g.topo" \
            --set "matrix=$here/$data/data/cm-generated/$1.cm" --set "cc=$2" --set "balance=$3" \
            >"$work/said" 2>&1 || fail "$1: $(cat "$work/said")"
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
            $at["end_ns"] > last { last = $at["end_ns"] } END { print last / 1000 }' "$work/out/flows.csv"
    done | awk '{ sum += $1 } END { print sum / NR }'
}
rows=0
while IFS=, read -r matrix control paths theirs; do
    balance=oblivious
    [ "$paths" != "one EV per flow" ] || balance=one
    case $matrix,$control in
    ar_ring_*) most=3 ;;
    a2a_*) most=7
        [ $balance = oblivious ] || most=15 ;;
    *) continue ;;
    esac
    ours=$(last "$matrix" "$control" $balance)
    echo "$matrix $control $balance: $ours us, the public simulator $theirs us"
    rows=$((rows + 1))
    awk -v most=$most -v ours="$ours" -v theirs="$theirs" \
        'BEGIN { d = 100 * (ours / theirs - 1); exit !(d < most && d > -most) }' ||
        fail "$matrix, $control, $balance: $ours us, the public simulator has $theirs us"
done < <(awk -F, 'NR > 1 { key = $1 "," $3 "," $4; sum[key] += $8; n[key]++ }
    END { for (key in sum) print key "," sum[key] / n[key] }' "$data/runs/uet-htsim/runs.csv" | sort)
[ $rows = 12 ] || fail "$rows rows are compared instead of 12"
[ "$failures" -eq 0 ]
