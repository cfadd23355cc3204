#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain long
# test_fabric_studies.sh - scenarios/fabrics: every value of the parameters of its scenario, and its studies.
#
# Goal: each topology, pattern and failure of fabric.yaml goes with `check`; planes are refused where
# there are none; the studies print their rows beside published figures; the order of balancers is that
# of the published figures, and a failure costs what it should.
# Method: `check` for each value, and scenarios/fabrics/run --quick.
# Does not pin: the long forms of the studies; only the long form of this test runs `modes`.
set -u
. tests/script.sh
start_forks
scenario=scenarios/fabrics/fabric.yaml
for set in topology={leaf-spine,fat-tree,rail-optimised,dual-tor,multi-plane} \
    topology={dragonfly,dragonfly-plus,torus,hyperx,slim-fly} \
    pattern={permutation,shift,alltoall,incast,websearch} fail={none,spine,link,corrupting,flapping} \
    balance={ecmp,wecmp,random,round-robin,adaptive,drill,letflow,conga,conweave,valiant,ugal,structured} \
    transport={go-back-n,irn,adamap,sdr,uec-rud,uec-rod,mrc} cc={dcqcn,none} repath={plb,reps,flowbender} \
    ooo=off qps=4 loss=0.001 rate=400Gbps bytes=1MB; do
    rocesim check $scenario --set "$set" >"$work/out" 2>&1 || fail "$set: $(cat "$work/out")"
done
rocesim check $scenario --set topology=multi-plane --set fail=plane >"$work/out" 2>&1 ||
    fail "a plane: $(cat "$work/out")"
rocesim check $scenario --set fail=plane >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q "'plane0-\*' matches no link" "$work/out" || fail "no plane: $(cat "$work/out")"

# Each run tells of reordering and of paths, whatever the fabric and what fails.
for set in "topology=multi-plane fail=plane balance=conweave" "topology=torus balance=random transport=sdr" \
    "topology=dragonfly-plus balance=ugal transport=go-back-n fail=flapping"; do
    # shellcheck disable=SC2086 # several settings
    rocesim run $scenario -o "$work/run" --quiet --set hosts=16 --set per_leaf=4 --set bytes=64KB \
        --set fail_at=2us --set fail_until=100us $(printf -- '--set %s ' $set) >"$work/out" 2>&1 ||
        fail "$set: $(cat "$work/out")"
    for key in extent_max paths_used link_imbalance; do
        grep -q "\"$key\": [0-9]" "$work/run/summary.json" || fail "$set: no $key"
    done
done

studies=(ai failures shift)
[ -z "${TEST_LONG:-}" ] || studies+=(modes)
scenarios/fabrics/run --quick -o "$work/out.d" "${studies[@]}" >"$work/log" 2>&1 || fail "$(cat "$work/log")"
for study in "${studies[@]}"; do
    scenarios/fabrics/run | grep -q "^$study  *[A-Za-z].*?" || fail "$study is not listed with its question"
    [ -s "$work/out.d/$study/data.csv" ] || fail "$study: no rows"
done
# ecmp,random: spraying is better than ECMP in the mean and far better at the worst.
awk -F, '$2 == "ecmp" { mean = $4; worst = $7 } $2 == "random" && $4 < mean && $7 < worst / 1.5 { good = 1 }
    END { exit !good }' "$work/out.d/shift/data.csv" || fail "shift: $(cat "$work/out.d/shift/data.csv")"
awk -F, '$2 == "ecmp" { worst = $4 } $2 == "random" && $4 < worst / 2 { good = 1 }
    END { exit !good }' "$work/out.d/ai/data.csv" || fail "ai: $(cat "$work/out.d/ai/data.csv")"
awk -F, 'NR > 1 && ($3 < 1000 || $4 < 0.75 * $3 || $4 >= $3) { bad = 1 } END { exit bad || NR != 3 }' \
    "$work/out.d/failures/recovery.csv" || fail "failures: $(cat "$work/out.d/failures/recovery.csv")"
[ "$failures" -eq 0 ]
