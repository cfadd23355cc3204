#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# tests/pcap-out/test_mrc_capture.sh - captures of MRC are read by tshark with our dissector.
#
# Goal: every frame is taken apart without a complaint, and Wireshark's own dissector finds no fault;
# SACKs, NACKs with their reason, probes and retransmissions are as many as the run counted. Method: an
# incast that is trimmed, on links that lose packets, captured at the receiver. Not pinned: what it looks
# like.
set -u
. tests/script.sh
if ! tshark -v 2>/dev/null | grep -q 'with Lua'; then
    echo "skip: tshark with Lua is not installed"
    exit 77
fi
cat >"$work/mrc.yaml" <<'END'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 1us}}
link: {loss-rate: 0.01}
switch: {mmu: trimming, trim: {queue: 30KB}, ecn: {kmin: 5KB, kmax: 25KB, pmax: 1}, pfc: {enabled: false}}
nic: {transport: mrc, priority: 1, ack-priority: 6, mtu: 4096, mrc: {evs: 4, backups: 0, quiet: 5us}}
traffic: [{incast: {to: host0, from: "host[1-4]", bytes: 200KB}}]
captures: [{ports: "host0->*", file: all.pcap}]
END
within 10 "$ROCESIM" run "$work/mrc.yaml" -o "$work/out" --quiet >/dev/null 2>&1 || fail "the run"
tools/check-captures "$work/out/captures/all.pcap" >"$work/check.txt" || fail "$(head -3 "$work/check.txt")"
tshark -n -X lua_script:pcap-out/wireshark/rocesim.lua -r "$work/out/captures/all.pcap" -T fields \
    -E separator=, -E occurrence=f -e rocesim_mrc.opcode -e rocesim_mrc.nack -e rocesim_mrc.again \
    -e rocesim_mrc.timestamp -e _ws.malformed -e _ws.lua.error -e rocesim.icrc.good \
    >"$work/table" 2>"$work/err"
grep -v 'Running as user' "$work/err" && fail "tshark complains"
python3 - "$work" <<'PY' || fail "the capture is another one than the run counted"
import json, sys
counts = json.load(open(sys.argv[1] + "/out/summary.json"))["transport"]
rows = [line.rstrip("\n").split(",") for line in open(sys.argv[1] + "/table")]
of = lambda opcode: [row for row in rows if row[0] == opcode]
assert all(row[0] for row in rows) and not any(row[4] or row[5] for row in rows), rows[:3]
cut = [row for row in rows if row[6] == ""] # trimmed packets have no ICRC
assert len(cut) == counts["trimmed"] > 0 and {row[6] for row in rows} <= {"1", "True", ""}, "a bad ICRC"
assert len(of("0xdc")) == counts["sacks"] > 0, (len(of("0xdc")), counts)
assert len(of("0xdd")) == counts["nacks"] > 0 and {row[1] for row in of("0xdd")} == {"2"}
assert 0 < len(of("0xde")) <= counts["probes"]
assert len(of("0xd1")) >= 4, "transport ACKs"
data = [row for row in rows if row[0] in ("0xc6", "0xc7", "0xc8")]
again = sum(row[2] in ("1", "True") for row in data)
assert counts["nacks"] - 8 <= again <= counts["retransmitted"], (again, counts)
assert all(row[3] for row in data), "a packet without a time stamp"
PY
# Two planes, of which one loses a link.
cat >"$work/planes.yaml" <<'END'
topology: {multi-plane: {planes: 2, leaves: 2, spines: 2, hosts-per-leaf: 2}}
link: {loss-rate: 0.01}
links: {"plane1-leaf0--plane1-spine0": {down: [{at: 20us}]}}
network: {convergence: 1s}
switch: {mmu: trimming, trim: {queue: 30KB}, ecn: {kmin: 5KB, kmax: 25KB}, pfc: {enabled: false}}
nic: {transport: mrc, planes: least-queue, priority: 1, ack-priority: 6, mrc: {probe-interval: 3us}}
traffic: [{incast: {to: host0, from: "host[1-3]", bytes: 100KB}}]
captures: [{ports: "*", file: all.pcap}]
END
within 10 "$ROCESIM" run "$work/planes.yaml" -o "$work/planes" --quiet >"$work/said" 2>&1 ||
    fail "planes: $(tail -1 "$work/said")"
tools/check-captures "$work/planes/captures/all.pcap" >"$work/check.txt" ||
    fail "planes: $(head -3 "$work/check.txt")"
tshark -n -X lua_script:pcap-out/wireshark/rocesim.lua -r "$work/planes/captures/all.pcap" -T fields \
    -E separator=, -E occurrence=f -e rocesim_mrc.opcode -e _ws.malformed -e _ws.lua.error 2>/dev/null |
    sort | uniq -c >"$work/kinds"
for opcode in 0xc7 0xdc 0xdd 0xde; do # data, SACKs, NACKs, probes
    grep -q " $opcode,,$" "$work/kinds" || fail "planes: no $opcode: $(cat "$work/kinds")"
done
grep -v ' 0x[0-9a-f]*,,$' "$work/kinds" && fail "planes: frames that are not read"
exit $((failures > 0))
