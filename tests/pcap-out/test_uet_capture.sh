#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
#
# tests/pcap-out/test_uet_capture.sh - captures of Ultra Ethernet are read by tshark with our dissector.
#
# Goal: every frame is taken apart without a complaint; its kinds, NACK codes and retransmissions are as many
# as the run counted, and the lengths of IP are those of the frames. Method: an incast that is trimmed, with
# credit, captured at the receiver. Not pinned: what it looks like.
set -u
. tests/script.sh
if ! tshark -v 2>/dev/null | grep -q 'with Lua'; then
    echo "skip: tshark with Lua is not installed"
    exit 77
fi
cat >"$work/uec.yaml" <<'END'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 1us}}
switch: {mmu: trimming, trim: {queue: 30KB}, ecn: {kmin: 5KB, kmax: 25KB, pmax: 1}}
nic: {transport: uec-rud, priority: 1, ack-priority: 6, mtu: 4096, uec: {control: both}}
traffic: [{incast: {to: host0, from: "host[1-4]", bytes: 200KB}}]
captures: [{ports: "host0->*", file: all.pcap}]
END
within 10 "$ROCESIM" run "$work/uec.yaml" -o "$work/out" --quiet >/dev/null 2>&1 || fail "the run"
tshark -n -X lua_script:pcap-out/wireshark/rocesim.lua -r "$work/out/captures/all.pcap" -T fields \
    -E separator=, -E occurrence=f -e rocesim_uet.type -e rocesim_uet.nack -e rocesim_uet.again \
    -e rocesim_uet.control \
    -e _ws.malformed -e _ws.lua.error -e rocesim_uet.opcode >"$work/table" 2>"$work/err"
grep -v 'Running as user' "$work/err" && fail "tshark complains"
python3 - "$work" <<'PY' || fail "the capture is another one than the run counted"
import json, sys
counts = json.load(open(sys.argv[1] + "/out/summary.json"))["transport"]
rows = [line.rstrip("\n").split(",") for line in open(sys.argv[1] + "/table")]
types = [row[0] for row in rows]
assert all(types) and not any(row[4] or row[5] for row in rows), rows[:3]
assert types.count("8") == counts["sacks"], (types.count("8"), counts)
assert types.count("10") == counts["nacks"] > 0 and {row[1] for row in rows if row[0] == "10"} == {"2"}
assert sum(row[0] == "11" and row[3] == "7" for row in rows) == counts["credits"] > 0
again = sum(row[0] == "13" and row[2] in ("1", "True") for row in rows)
assert counts["retransmitted"] - counts["nacks"] <= again <= counts["retransmitted"], (again, counts)
assert {row[6] for row in rows if row[0] == "13"} == {"1"}
PY

# ACK_CCX has the length that nic.uec.ack-header says: PDS, 12 bytes of response, UDP's 8.
within 10 "$ROCESIM" run "$work/uec.yaml" -o "$work/ccx" --quiet --set nic.uec.ack-header=ccx-40 \
    >/dev/null 2>&1 || fail "the run with ccx-40"
tshark -n -X lua_script:pcap-out/wireshark/rocesim.lua -r "$work/ccx/captures/all.pcap" \
    -Y 'rocesim_uet.type == 9' -T fields -e udp.length -e rocesim_uet.sack_offset 2>/dev/null >"$work/lengths"
[ "$(cut -f 1 "$work/lengths" | sort -u)" = 60 ] && grep -q '[0-9]	[0-9]' "$work/lengths" ||
    fail "UDP lengths of ACKs $(sort -u "$work/lengths" | head -c 100)"

# Without trimming, on links that lose packets, probes ask what has arrived.
within 10 "$ROCESIM" run "$work/uec.yaml" -o "$work/lossy" --quiet --set link.loss-rate=0.02 \
    --set switch.trim.enabled=false --set nic.uec.control=nscc >/dev/null 2>&1 || fail "the lossy run"
tshark -n -X lua_script:pcap-out/wireshark/rocesim.lua -r "$work/lossy/captures/all.pcap" -T fields \
    -E separator=, -E occurrence=f -e rocesim_uet.type -e rocesim_uet.control -e _ws.malformed \
    -e _ws.lua.error 2>/dev/null | sort | uniq -c >"$work/kinds"
for kind in 2, 8, 11,6; do # data, ACKs, probes
    grep -q " $kind,,$" "$work/kinds" || fail "lossy: no $kind: $(cat "$work/kinds")"
done
grep -v ' [0-9]*,[0-9]*,,$' "$work/kinds" && fail "lossy: frames that are not read"
exit $((failures > 0))
