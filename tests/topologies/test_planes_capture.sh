#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_planes_capture.sh - packets of a NIC with planes in a capture, read back by tshark.
#
# Goal: each packet has the addresses of the plane in which it left, answers return in the plane of their
# requests, the packets of a queue pair take the planes in turn, and no frame is malformed; checksums and
# ICRCs are right. A fabric with detours is read back cleanly, too.
# Method: two hosts on four planes; a dragonfly with ugal.
set -u
. tests/script.sh
command -v tshark >/dev/null || { echo "skip: no tshark" && exit 77; }
cat >"$work/planes.yaml" <<'EOF'
seed: 1
topology: {multi-plane: {planes: 4, leaves: 1, spines: 0, hosts-per-leaf: 2}}
nic: {planes: round-robin, transport: irn, congestion-control: none}
traffic: [incast: {to: host1, from: host0, bytes: 32KB}]
captures: [{ports: "host0->*", file: c.pcap}]
EOF
"$ROCESIM" run "$work/planes.yaml" -o "$work/out" --quiet >"$work/log" 2>&1 || fail "$(cat "$work/log")"
options=(-n -o eth.fcs:Never -o ip.check_checksum:TRUE -r "$work/out/captures/c.pcap")
tshark "${options[@]}" -Y '_ws.malformed || ip.checksum.status == 0' >"$work/bad" 2>/dev/null
[ ! -s "$work/bad" ] || fail "$(head -n 1 "$work/bad")"
# Interfaces 0 and 1 are the hosts' in plane 0; 2, 3, 4 host0's in planes 1 to 3, and 5, 6, 7 host1's.
tshark "${options[@]}" -T fields -e ip.src -e ip.dst -e infiniband.bth.psn 2>/dev/null >"$work/packets"
awk 'BEGIN { to["10.0.0.1"] = "10.0.0.2"; to["10.0.0.3"] = "10.0.0.6"; to["10.0.0.4"] = "10.0.0.7"
        to["10.0.0.5"] = "10.0.0.8" }
    to[$1] == $2 { data++; seen[$1]++; next } to[$2] == $1 { answers++; next } { bad = 1 }
    END { for (s in seen) planes++
        exit !(data >= 8 && answers >= 8 && planes == 4 && !bad) }' "$work/packets" ||
    fail "$(cat "$work/packets")"
# Reordering is counted over planes: the first packet is 16 bytes longer than the next three, and the last
# one is shorter than the three before it.
grep -A1 '"reordering"' "$work/out/summary.json" | grep -q '"packets": 4,' ||
    fail "reordering: $(grep -A4 '"reordering"' "$work/out/summary.json")"
cat >"$work/detours.yaml" <<'EOF'
seed: 1
topology: {dragonfly: {groups: 5, global-links: 1}}
network: {load-balancer: ugal}
nic: {congestion-control: none, transport: irn}
traffic: [permutation: {bytes: 32KB, stride: 8}]
captures: [{ports: "switch0->*", file: c.pcap}]
EOF
"$ROCESIM" run "$work/detours.yaml" -o "$work/out" --quiet >"$work/log" 2>&1 || fail "$(cat "$work/log")"
tshark "${options[@]}" -Y '_ws.malformed || ip.checksum.status == 0' >"$work/bad" 2>/dev/null
[ ! -s "$work/bad" ] || fail "detours: $(head -n 1 "$work/bad")"
[ "$failures" -eq 0 ]
