#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_link_credits.sh - credits of Ultra Ethernet's link layer (link.flow-control: cbfc).
#
# Goal: the closed form of N frames a round trip; no drop and no pause frame in an incast, with equal
# digests on any number of threads; credits of lost frames come back; slow receivers and circles stop the
# ports that PFC stops; CC_Updates are in captures, with a comment where one is lost; settings that cannot
# work are refused.
# Method: stars and a leaf-spine, runs of some milliseconds.
# Does not pin: the number of CF_Updates, the values of `credits: auto`.
set -u
. tests/script.sh
start_forks
cat >"$work/send.yaml" <<'EOF'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 1us}}
link: {flow-control: cbfc, cbfc: {update-spacing: 800}}
nic: {mtu: 1024, congestion-control: none}
traffic: [incast: {to: host0, from: "host[1-1]", bytes: 16MB, verb: send}]
EOF
run() {
    rocesim run "$@" -o "$work/out" >"$work/log" 2>&1 || fail "$* $(cat "$work/log")"
}
summary() {
    python3 -c "import json, sys
print(eval(sys.argv[1], {'s': json.load(open('$work/out/summary.json'))}))" "$1"
}
fct_ns() {
    sed -n 2p "$work/out/flows.csv" | cut -d, -f8
}

# A frame has 1082 bytes and 24 around it, of which 12 are the gap: 88.48 ns; it arrives after 87.52 ns
# and 1 us, and its CF_Update 0.64 ns and 1 us later. A CF_Update for ACKs lengthens one frame a round.
# Nine credits a frame.
run "$work/send.yaml" --set "traffic[0].incast.bytes=1024"
one=$(fct_ns)
for frames in 4 5 6 10 20; do
    run "$work/send.yaml" --set "link.cbfc.credits=$((9 * frames))"
    awk -v n="$frames" -v one="$one" -v fct="$(fct_ns)" 'BEGIN {
        last = 15624; rounds = int(last / n)
        least = rounds * 2088.16 + last % n * 88.48 + one
        exact = least + rounds * 0.64
        exit !(n == 4 ? (fct - exact) ^ 2 < 0.000001 : fct >= least && fct < least * 1.0005) }' ||
        fail "$frames frames a round: $(fct_ns)"
done
run "$work/send.yaml"
awk -v fct="$(fct_ns)" 'BEGIN { exit !(fct < 1.01 * 15625 * 88.48 + 4200) }' || fail "auto: $(fct_ns)"

cat >"$work/incast.yaml" <<'EOF'
topology: {leaf-spine: {leaves: 4, spines: 2, hosts-per-leaf: 4, host-rate: 100Gbps, fabric-rate: 100Gbps}}
link: {flow-control: cbfc}
nic: {mtu: 1024, congestion-control: none}
traffic:
  - incast: {to: host0, from: "host[1-15]", bytes: 1MB}
  - permutation: {bytes: 1MB}
captures: [{ports: host1->leaf0, file: host.pcap}]
EOF
digest=
for threads in 1 2 4; do
    run "$work/incast.yaml" --threads "$threads"
    [ -z "$digest" ] && digest=$(sed -n 's/^  digest *//p' "$work/log")
    [ "$(sed -n 's/^  digest *//p' "$work/log")" = "$digest" ] || fail "$threads threads"
done
grep -q "31 of 31 completed" "$work/log" && grep -q "^  drops *0;" "$work/log" || fail "$(cat "$work/log")"
[ "$(summary "s['pfc']['pause_frames'], s['pfc']['paused_ps'] > 0")" = "(0, True)" ] || fail "pauses"
[ "$(summary "s['credits']['cf_updates'] > 1000 < s['credits']['wait_ps']")" = True ] ||
    fail "CF_Updates"
# The counters of each sender rise.
python3 - "$work/out/captures/host.pcap" <<'EOF' || fail "CC_Updates in the capture"
import struct, sys
data, at, found = open(sys.argv[1], "rb").read(), 24, {}
while at < len(data):
    size = struct.unpack_from("<I", data, at + 8)[0]
    frame = data[at + 16:at + 16 + size]
    if frame[12:20] == bytes.fromhex("8808fffefa7acb01"):
        counts = found.setdefault(frame[6:12], [])
        counts.append(int.from_bytes(frame[25:30], "big") & 0xfffff)  # virtual channel 3
    at += 16 + size
rises = [len(c) > 1 and c == sorted(c) and c[0] > 0 for c in found.values()]
sys.exit(rises != [True, True])
EOF

run "$work/send.yaml" --set link.loss-rate=0.001 \
    --set link.loss-direction=backward --set link.loss-packets=data
# Backward: what the switch sends to the hosts. Nine credits a frame; the last may still be missing.
[ "$(summary "s['drops']['link-loss'] > 10 and \
    0 <= s['drops']['link-loss'] * 9 - s['credits']['recovered'] < 100")" = True ] ||
    fail "lost credits: $(summary "s['credits'], s['drops']")"

# Frames that are lost have comments in a capture of the fabric, CC_Updates too.
run "$work/send.yaml" --set link.loss-rate=0.2 --set link.cbfc.sync-interval=1us --set until=300us \
    --set 'captures=[{fabric: all.pcapng}]'
grep -ao 'dropped: lost on the link, [^@]* at [a-z0-9]*->[a-z0-9]*' \
    "$work/out/captures/all.pcapng" >"$work/lost"
[ "$(wc -l <"$work/lost")" = "$(summary "s['drops']['link-loss']")" ] &&
    grep -q "queue [0-9]* bytes, CC_Update of the link's credits, at host1->switch0" "$work/lost" ||
    fail "comments on lost frames: $(sed 's/[0-9][0-9]*/N/g' "$work/lost" | sort | uniq -c)"

run slow-receiver --set link.flow-control=cbfc
[ "$(summary "s['pfc']['roots'][0]['port']")" = host6 ] && grep -q "5 of 5 completed" "$work/log" ||
    fail "slow receiver: $(cat "$work/log")"
rocesim run pfc-deadlock --set link.flow-control=cbfc >"$work/log" 2>&1
grep -q "deadlock, each waits for the next: s0->s1, s1->s2" "$work/log" || fail "circle: $(cat "$work/log")"

refused() {
    local text=$1
    shift
    rocesim run "$work/send.yaml" "$@" >"$work/log" 2>&1
    [ $? -eq 2 ] && grep -qF -- "$text" "$work/log" || fail "refused: $text: $(cat "$work/log")"
}
refused "credits: 10 credits of 128 bytes, expected enough for a frame" --set link.cbfc.credits=10
refused "credit-size: 100 bytes, expected a power of two" --set link.cbfc.credit-size=100
refused "set a larger link.cbfc.credit-size" --set topology.star.delay=200us
refused "knows no credits" --set switch.mmu=virtual-channels --set nic.priority=0
[ "$failures" -eq 0 ]
