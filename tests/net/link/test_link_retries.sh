#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_link_retries.sh - link layer retry of Ultra Ethernet (link.llr).
#
# Goal: a retry takes one round trip of the link, to the picosecond; losses cost the link time of the
# frames that are repeated, and no packet; a link with a loss of 1e-6 and 1e-4 keeps its goodput; digests are
# equal on any number of threads, with losses of acknowledgements, pauses or credits, and links that flap.
# Method: stars and a leaf-spine, runs of some milliseconds.
# Does not pin: the number of acknowledgements, the values that are `auto`.
set -u
. tests/script.sh
start_forks
cat >"$work/one.yaml" <<'EOF'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 1us}}
link: {loss-packets: data, llr: {enabled: true}}
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
digest() {
    sed -n 's/^  digest *//p' "$work/log"
}

# A frame of 1082 bytes arrives after 87.52 ns and 1 us, its NACK 0.64 ns and 1 us later.
retries=0
for seed in 1 2 3 4 5 6; do
    run "$work/one.yaml" --set "traffic[0].incast.bytes=1024" --set link.loss-rate=0.3 --seed "$seed"
    again=$(summary "s['retries']['replays']")
    retries=$((retries + again))
    awk -v fct="$(fct_ns)" -v n="$again" 'BEGIN { exit !((fct - 4186.88 - n * 2088.16) ^ 2 < 0.000001) }' ||
        fail "seed $seed: $again retries, $(fct_ns)"
done
[ "$retries" -gt 2 ] || fail "$retries retries of 6 packets"

run "$work/one.yaml"
whole=$(fct_ns)
for rate in 0.000001 0.0001 0.001; do
    run "$work/one.yaml" --set link.loss-rate=$rate --set link.loss-direction=forward
    grep -q "^  drops *0; 0 packets retransmitted" "$work/log" || fail "$rate: $(cat "$work/log")"
    # Each loss costs the frames from the lost one to the NACK: 24 of 88.48 ns.
    awk -v fct="$(fct_ns)" -v whole="$whole" -v frames="$(summary "s['retries']['packets']")" \
        -v replays="$(summary "s['retries']['replays']")" 'BEGIN {
        cost = frames * 88.48
        exit !(frames <= replays * 24 && fct >= whole && fct <= whole + 1.02 * cost + 2000 &&
            fct >= whole + 0.9 * cost - 2000) }' ||
        fail "$rate: $whole $(fct_ns) $(summary "s['retries']")"
done
[ "$(summary "s['retries']['replays'] > 5")" = True ] || fail "no losses"

cat >"$work/fabric.yaml" <<'EOF'
topology: {leaf-spine: {leaves: 4, spines: 2, hosts-per-leaf: 2, host-rate: 100Gbps, fabric-rate: 100Gbps}}
link: {llr: {enabled: true}, loss-rate: 0.003}
nic: {mtu: 1024, congestion-control: none}
traffic:
  - incast: {to: host0, from: "host[1-7]", bytes: 500KB}
  - permutation: {bytes: 500KB}
EOF
for control in pfc cbfc; do
    first=
    for threads in 1 3; do
        run "$work/fabric.yaml" --set link.flow-control=$control --threads $threads
        [ -z "$first" ] && first=$(digest)
        [ "$(digest)" = "$first" ] || fail "$control, $threads threads"
    done
    grep -q "15 of 15 completed" "$work/log" || fail "$control: $(cat "$work/log")"
    [ "$(summary "s['conservation']['ok'] and s['retries']['replays'] > 50")" = True ] || fail "$control"
done
grep -q "^  drops *0; 0 packets retransmitted" "$work/log" || fail "credits and retries: $(cat "$work/log")"

cat >>"$work/fabric.yaml" <<'EOF'
faults: [{part: leaf0--spine1, at: 20us, until: 60us, every: 100us, times: 3}]
EOF
run "$work/fabric.yaml" --set link.flow-control=cbfc
grep -q "15 of 15 completed" "$work/log" && [ "$(summary "s['conservation']['ok']")" = True ] ||
    fail "flaps: $(cat "$work/log")"

# Links of one rate and delay, of which one has link layer retry: only that one repeats frames.
cat >"$work/some.yaml" <<'EOF'
topology: {star: {hosts: 3, rate: 100Gbps}}
link: {loss-rate: 0.01}
links: {"host1--*": {llr: {enabled: true}}}
nic: {mtu: 1024, congestion-control: none}
traffic: [incast: {to: host1, from: "host[2-2]", bytes: 1MB}]
EOF
run "$work/some.yaml"
[ "$(python3 -c "import csv
rows = csv.DictReader(open('$work/out/ports.csv'))
print(*sorted(row['port'] for row in rows if int(row['llr_replays']) > 0))")" = \
    "host1->switch0 switch0->host1" ] || fail "one link with retries: $(cat "$work/out/ports.csv")"

rocesim run "$work/one.yaml" --set link.reorder-rate=0.1 >"$work/log" 2>&1
[ $? -eq 2 ] && grep -q "expected a link that keeps the order" "$work/log" || fail "$(cat "$work/log")"
[ "$failures" -eq 0 ]
