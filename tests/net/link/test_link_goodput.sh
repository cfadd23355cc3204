#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_link_goodput.sh - Ultra Ethernet's link layer with a loss of 1e-6, with ECN and with trimming.
#
# Goal: a link that loses one frame in a million keeps its goodput with LLR, shown by a run in which a
# frame is lost: hosts send nothing again, which they do without LLR; switches mark by ECN where credits
# stop senders, and drop nothing with trimming either; the terminal calls credits by their name.
# Method: 400 MB between two hosts, with seeds that lose a frame; an incast.
# Does not pin: closed forms of a retry (test_link_retries.sh) and of credits (test_link_credits.sh).
set -u
. tests/script.sh
start_forks
cat >"$work/million.yaml" <<'YAML'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 1us}}
link: {flow-control: cbfc, llr: {enabled: true}, loss-rate: 0.000001}
nic: {mtu: 4096, congestion-control: none}
traffic: [bulk: {from: host0, to: host1, bytes: 400MB}]
YAML
run() {
    rocesim run "$@" -o "$work/out" >"$work/log" 2>&1 || fail "$* $(cat "$work/log")"
}
summary() {
    python3 -c "import json, sys
print(eval(sys.argv[1], {'s': json.load(open('$work/out/summary.json'))}))" "$1"
}
# A link that could lose frames and loses none: its control ordered sets are repeated, too.
run "$work/million.yaml" --set link.loss-rate=0.000000000001
ideal_ps=$(summary "s['sim_time_ps']")
seed=1 # loses a frame
run "$work/million.yaml" --seed $seed
again=$(summary "s['retries']['packets']")
[ "$again" -gt 0 ] || fail "seed $seed loses no frame: try others"
[ "$(summary "s['retransmitted_packets']")" = 0 ] || fail "seed $seed: hosts sent packets again"
awk -v a="$(summary "s['sim_time_ps']")" -v b="$ideal_ps" 'BEGIN { exit !(a >= b && a < b * 1.0002) }' ||
    fail "seed $seed: $(summary "s['sim_time_ps']") ps with $again retries, $ideal_ps without loss"
run "$work/million.yaml" --seed 3 --set link.llr.enabled=false
again=$(summary "s['retransmitted_packets']")
[ "$again" -gt 0 ] || fail "without LLR no host sends packets again"

# -- credits and ECN
cat >"$work/incast.yaml" <<'YAML'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 1us}}
link: {flow-control: cbfc}
switch: {ecn: {kmin: 20KB, kmax: 80KB}}
traffic: [incast: {to: host0, from: "host[1-4]", bytes: 2MB}]
YAML
run "$work/incast.yaml"
[ "$(summary "s['ecn_marked'] > 0 and s['packets']['dropped'] == 0")" = True ] ||
    fail "credits with ECN: $(cat "$work/log")"
grep -q '^  CBFC .* stopped' "$work/log" || fail "stops for want of credits: $(cat "$work/log")"
grep -q '^  PFC' "$work/log" && fail "stops for want of credits are called PFC: $(cat "$work/log")"
marked=$(summary "s['ecn_marked']")
run "$work/incast.yaml" --set switch.ecn.enabled=false
[ "$(summary "s['ecn_marked'] == 0 and s['pfc']['paused_ps'] > 0")" = True ] ||
    fail "credits without ECN: $marked marks with it"
run "$work/incast.yaml" --set switch.mmu=trimming
[ "$(summary "s['packets']['dropped']")" = 0 ] || fail "credits with trimming: $(cat "$work/log")"
[ "$failures" -eq 0 ]
