#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_ugal_cut_off.sh - load balancers drop packets for which no link is left, and the run goes on.
#
# labels: plain
# Goal: every load balancer survives that all links of a switch towards a leaf are down.
# Method: both parallel links between a leaf and a spine go down under load, and come back.
# Not pinned: which packets are lost.
# Rerun: ctest --test-dir build/release -R '^test_ugal_cut_off$' --output-on-failure
set -u
. tests/script.sh
cat >"$work/cut.yaml" <<'END'
topology:
  leaf-spine: {leaves: 3, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps,
               delay: 600ns, links-per-spine: 2}
links: {"leaf0--spine1": {down: [{at: 10us, until: 30us}]}}
nic: {transport: irn}
traffic:
  - incast: {to: host2, senders: 11, bytes: 60KB}
  - permutation: {bytes: 60KB}
END
for balance in ecmp wecmp random round-robin adaptive drill letflow conga conweave valiant ugal; do
    "$ROCESIM" run "$work/cut.yaml" --set network.load-balancer=$balance --quiet >"$work/said" 2>&1 ||
        fail "$balance: status $?: $(tail -n 1 "$work/said")"
    grep -q '23 of 23 completed' "$work/said" || fail "$balance: $(grep -m 1 flows "$work/said")"
done
[ $failures -eq 0 ]
