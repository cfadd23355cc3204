#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_virtual_channels.sh - switch.mmu: virtual-channels, and the deadlock that it prevents.
#
# Goal: a ring that deadlocks under PFC completes with a class more at each switch, without a drop and
# in the time that its busiest link needs; each class is paused for itself; with too few channels packets
# are dropped, and `check` and `run` say so; the linter names the circle only where there is one.
# Method: a torus of one ring of five, in which each host sends to the second switch on.
# Does not pin: the number of pauses.
set -u
. tests/script.sh
start_forks
cat >"$work/ring.yaml" <<'EOF'
seed: 1
stall-after: 1ms
topology: {torus: {x: 5, y: 1, hosts-per-switch: 2, delay: 1us}}
switch: {pfc: {priorities: [0, 1, 2, 3, 4]}, buffer: 2MB, ecn: {enabled: false}}
nic: {priority: 0, congestion-control: none, timeout: 0}
traffic: [permutation: {bytes: 5MB, stride: 4}]
EOF
run() {
    rocesim run "$work/ring.yaml" --quiet -o "$work/out" "$@" >"$work/log" 2>&1 ||
        fail "$(cat "$work/log")"
}
rocesim run "$work/ring.yaml" --quiet >"$work/log" 2>&1
grep -q "STALLED" "$work/log" && grep -q "PFC deadlock, .*: switch0->switch1" "$work/log" ||
    fail "no deadlock: $(cat "$work/log")"
rocesim check "$work/ring.yaml" 2>&1 |
    grep -q "PFC can deadlock: .* switch0, switch1, switch2, switch3, switch4, switch0;" || fail "no circle"

vc=(--set switch.mmu=virtual-channels --set switch.virtual-channels=3)
run "${vc[@]}"
digest=$(sed -n 's/^  digest *//p' "$work/log")
# Four flows of 5 MB share each link of the ring: 1.635 ms at 100 Gbps with 78 and 82 bytes of headers.
awk '/flows  *10 of 10 completed/ { all = 1 } /^  ended/ { ms = $(NF - 1) } /^  drops  *0;/ { none = 1 }
    END { exit !(all && none && ms > 1.63 && ms < 1.66) }' "$work/log" || fail "$(cat "$work/log")"
# The first switch of a path sends in class 1, the second in class 2, the third, to a host, in class 3.
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $1 ~ /^switch.*->switch/ { for (c = 0; c < 8; c++) ring[c] += $at["tx_prio" c "_packets"] }
    $1 ~ /^switch.*->host/ { for (c = 0; c < 8; c++) last[c] += $at["tx_prio" c "_packets"] }
    END { exit !(ring[1] > 12200 && ring[2] > 12200 && ring[0] + ring[3] + ring[4] == 0 &&
        last[3] > 12200 && last[0] + last[1] + last[2] + last[4] == 0) }' "$work/out/ports.csv" ||
    fail "classes of ports.csv"
run "${vc[@]}" --threads 4
[ "$(sed -n 's/^  digest *//p' "$work/log")" = "$digest" ] || fail "threads"
rocesim check "$work/ring.yaml" "${vc[@]}" 2>&1 | grep -q "deadlock" && fail "a circle"

run "${vc[@]}" --set switch.virtual-channels=2 --set nic.timeout=2 --set nic.retry-count=1
grep -q "no-route" "$work/log" || fail "too few channels: $(cat "$work/log")"
grep -q "^warning: paths have up to 3 switches, .* after 2: expected" "$work/log" ||
    fail "the run does not warn: $(cat "$work/log")"
grep -q '"virtual-channels"' "$work/out/summary.json" || fail "the summary keeps no warning"
rocesim check "$work/ring.yaml" "${vc[@]}" --set switch.virtual-channels=2 2>&1 |
    grep -q "paths have up to 3 switches, .* after 2: expected switch.virtual-channels of at least 3" ||
    fail "check says nothing"
rocesim check scenarios/fabrics/fabric.yaml --set topology=dragonfly-plus --set balance=valiant \
    --set hosts=24 --set switch.mmu=virtual-channels --set nic.priority=0 2>&1 |
    grep -q "network with shorter paths; switch.virtual-channels is at most 6" ||
    fail "check advises more channels than there are"
rocesim check "$work/ring.yaml" "${vc[@]}" --set nic.priority=3 >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q "nic.priority: 3 with switch.mmu virtual-channels, expected 0" "$work/log" ||
    fail "priority: $(cat "$work/log")"
[ "$failures" -eq 0 ]
