# SPDX-License-Identifier: Apache-2.0
# tests/nic/transport/test_uud.sh - the unreliable datagrams of Ultra Ethernet.
#
# Goal: datagrams of UD queue pairs are sprayed over all paths, have the length of their headers, are not
# acknowledged, and arrive in any order; what switches trim is lost and nothing else is; queue pairs of
# the two services of one NIC do not take each other's packets. Threads and the detailed NIC change nothing.
# Method: a small leaf-spine; frames are counted in a capture.
# Not pinned: fields of the headers (tests/net/test_uet_frame.c, docs/formats/frames.md).
. tests/script.sh
cat >"$work/uud.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 4, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps}}
switch: {mmu: trimming, trim: {queue: 100KB}, buffer: 10MB}
nic: {transport: uec-rud, priority: 1, ack-priority: 6, mtu: 1024}
parameters:
  pattern:
    default: permutation
    path: traffic
    choose:
      permutation: [permutation: {bytes: 40KB, verb: send, service: ud, stride: 4}]
      incast: [incast: {to: host0, bytes: 40KB, verb: send, service: ud}]
      both:
        - permutation: {bytes: 40KB, verb: send, service: ud, stride: 4}
        - permutation: {bytes: 40KB, stride: 4}
captures: [{ports: "host0->*", file: all.pcap}]
END
# run NAME OPTIONS...: prints the summary's number of trimmed packets, ACKs and delivered bytes.
run() {
    within 10 "$ROCESIM" run "$work/uud.yaml" -o "$work/$1" --quiet "${@:2}" >"$work/$1.txt" 2>&1 ||
        fail "$1: $(tail -1 "$work/$1.txt")"
    python3 - "$work/$1" <<'PY'
import json, struct, sys
summary = json.load(open(sys.argv[1] + "/summary.json"))
ports, sizes = set(), {}
data = open(sys.argv[1] + "/captures/all.pcap", "rb").read()
at = 24
while at < len(data):
    size = struct.unpack("<I", data[at + 8:at + 12])[0]
    frame = data[at + 16:at + 16 + size]
    if frame[42] >> 3 == 6 and frame[26:30] == bytes([10, 0, 0, 1]): # UUD that host0 sends
        ports.add(frame[34:36])
        sizes[size] = sizes.get(size, 0) + 1
    at += 16 + size
print("trimmed", summary["trimmed"], "acks", summary.get("transport", {}).get("sacks", 0), "bytes",
      summary["flows"]["delivered_bytes"], "ports", len(ports), "sizes", sizes)
PY
}
# 40 datagrams of 14 + 20 + 8 + 4 + 44 + 1024 bytes, but the last one of 64 bytes of payload.
expected="trimmed 0 acks 0 bytes 320000 ports 40 sizes {1114: 39, 154: 1}"
for options in "" "--threads 2" "--set nic.model=detailed"; do
    facts=$(run plain $options)
    [ "$facts" = "$expected" ] || fail "with '$options': $facts, expected $expected"
done
facts=$(run one --set nic.uec.spray=one)
case $facts in *" ports 1 "*) ;; *) fail "one value of entropy: $facts" ;; esac
facts=$(run incast --set pattern=incast)
python3 - "$facts" <<'PY' || fail "of 280000 bytes, those of trimmed datagrams are lost: $facts"
import sys
words = sys.argv[1].split()
trimmed, delivered = int(words[1]), int(words[5])
assert trimmed > 0 and 1024 * trimmed >= 280000 - delivered >= 1024 * trimmed - 7 * 960, (trimmed, delivered)
PY
facts=$(run both --set pattern=both)
case $facts in "trimmed 0 acks "[1-9]*" bytes 640000 ports 40 "*) ;; *) fail "beside RUD: $facts" ;; esac
exit $((failures > 0))
