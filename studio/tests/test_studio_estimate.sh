#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# studio/tests/test_studio_estimate.sh - estimates of processor time are right within a factor of 5.
# labels: slow plain
#
# Goal: for every kind of traffic, the estimate of a check is neither 5 times too short nor too long.
# Method: a scenario of each kind, with ALL=1 every shipped one, is checked and run, and both processor times
# are compared; on a slow or loaded machine both grow. Not pinned: scenarios that take longer than 3 s, and
# times below 0.2 s.
set -u
. tests/script.sh

program=$BUILD_DIRECTORY/rocesim-studio
[ -x "$program" ] || { echo "skip: rocesim-studio is not built"; exit 77; }
scenarios=$PWD/scenarios
TIMEFORMAT="%U %S"
kinds="cache/pool collective fabrics/fabric guidelines/drtm-kv guidelines/herd herd/in-network/fabric
    mooncake/flap papers/dcqcn-fixed/fixed perftest pfc-storm quickstart scale-up/nvl72 serving/kv-matrix
    training/deepep uec/uec wan/across"
[ -z "${ALL:-}" ] || kinds=$("$ROCESIM" list --json | jq -r '.[].name' | sort -u)
compared=0
for name in $kinds; do
    file=$scenarios/$name.yaml
    [ -f "$file" ] && ! grep -q "^ *- programs:" "$file" || continue
    { cat "$file"; printf '\0[]'; } >"$work/input"
    "$program" check all "$scenarios" "" "$(dirname "$file")" "" "" <"$work/input" | cat >"$work/answer"
    estimate=$(jq -s '.[-1].estimate.cpu_s' "$work/answer")
    [ "$estimate" != null ] || { fail "$name: no estimate"; continue; }
    [ "$(jq -n "$estimate < 3")" = true ] || continue
    used=$({ time within 100 "$ROCESIM" run "$name" >"$work/run" 2>&1; } 2>&1 | tail -n 1)
    ratio=$(jq -n "(${used/ /+}) as \$used | ([\$used, 0.2] | max) / ([$estimate, 0.2] | max)")
    echo "$name: estimated $estimate s, used $used s, ratio $ratio"
    compared=$((compared + 1))
    [ "$(jq -n "$ratio < 5 and $ratio > 0.2")" = true ] || fail "$name: a factor of $ratio"
done
[ $compared -gt 14 ] || fail "only $compared scenarios were compared"
exit $((failures > 0))
