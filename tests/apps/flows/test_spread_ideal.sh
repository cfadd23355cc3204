#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/apps/flows/test_spread_ideal.sh - the ideal time of flows whose packets spread over paths.
#
# Goal: no flow is faster than its ideal time, whatever moves its packets: balancers, transports, repath;
# and a flow alone that uses all paths evenly is hardly slower. Where all paths are equal, the time is that
# of one path.
# Method: one flow of 10 MB over four links of 100G between hosts of 400G; links that differ; an even fabric.
# Rerun: ctest --test-dir build/release -R '^test_spread_ideal$' --output-on-failure
set -u
. tests/script.sh

# flow TOPOLOGY REST [VERB]: into $ideal and $slow, of the one flow.
flow() {
    cat >"$work/s.yaml" <<END
topology: {leaf-spine: {leaves: 2, spines: 4, hosts-per-leaf: 2, host-rate: 400Gbps, $1}}
traffic: [flows: {list: [host0 host2 10MB 0us], verb: ${3:-write}}]
$2
END
    rm -rf "$work/out"
    rocesim run "$work/s.yaml" -o "$work/out" --quiet >"$work/log" 2>&1 || fail "$2: $(tail -n 1 "$work/log")"
    read -r ideal slow <<<"$(awk -F, 'NR == 2 { print $9, $10 }' "$work/out/flows.csv")"
}
# between LOW HIGH WHAT: checks $slow.
between() {
    awk -v s="$slow" -v low="$1" -v high="$2" 'BEGIN { exit !(s >= low && s <= high) }' ||
        fail "$3: slowdown $slow, expected $1 to $2"
}

for balancer in random round-robin adaptive drill; do
    flow "fabric-rate: 100Gbps" "switch: {load-balancing: $balancer}
nic: {congestion-control: none, ooo: place}"
    between 1 1.1 $balancer
done
flow "fabric-rate: 100Gbps" "switch: {load-balancing: round-robin}
nic: {congestion-control: none, ooo: place}" read
between 1 1.1 "READ, round-robin"
for balancer in letflow conga conweave; do
    flow "fabric-rate: 100Gbps" "switch: {load-balancing: $balancer}
nic: {congestion-control: none}"
    between 1 4.2 $balancer
done
flow "fabric-rate: 100Gbps" "nic: {transport: uec-rud, congestion-control: none}"
between 1 1.2 uec-rud
flow "fabric-rate: 100Gbps" "nic: {transport: mrc, congestion-control: none}"
between 1 1.5 mrc
flow "fabric-rate: 100Gbps" "nic: {repath: reps, ooo: place}"
between 1 1.5 reps

# One path keeps its own ideal time.
flow "fabric-rate: 100Gbps" "nic: {congestion-control: none}"
between 1 1.01 ecmp
one=$ideal
flow "fabric-rate: 100Gbps" "switch: {load-balancing: round-robin}
nic: {congestion-control: none, ooo: place}"
awk -v one="$one" -v all="$ideal" 'BEGIN { exit !(all > one / 4 && all < one / 3.8) }' ||
    fail "four links take $ideal ns, one takes $one"

# Links that differ: the shortest of the parallel ones counts.
flow "fabric-rate: 400Gbps, fabric-delay: 3us" 'links: {"leaf0--spine0": {delay: 700ns}}
switch: {load-balancing: round-robin}
nic: {congestion-control: none, ooo: place}'
between 1 1.1 "a shorter link"
short=$ideal
flow "fabric-rate: 400Gbps, fabric-delay: 3us" "nic: {congestion-control: none}"
one=$ideal
awk -v one="$one" -v short="$short" 'BEGIN { exit !(one - short == 4600) }' ||
    fail "the shorter link saves $one - $short ns, expected 4600, there and back"

# Equal paths: the same to the picosecond.
flow "fabric-rate: 400Gbps, fabric-delay: 3us" "switch: {load-balancing: round-robin}
nic: {congestion-control: none, ooo: place}"
[ "$ideal" = "$one" ] || fail "equal paths take $ideal ns, one of them $one"
[ $failures -eq 0 ]
