#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_lost.sh - the conductor learns of nodes that are lost, and places their prompts elsewhere.
#
# Goal: after client-ttl of silence a node gets no more prompts, the blocks of which it had the only copy
# leave the store, and prompts that it had are served by others, none of them failed; a node that comes back
# is used again; with nobody left, prompts fail and the run ends. With client-ttl: never that is missing.
# Method: 60 prompts of three conversations over two prefill and two decode nodes; links that go down.
# Not pinned: how long a prompt waits that was placed again.
set -u
. tests/script.sh

awk 'BEGIN {
    for (i = 0; i < 60; i++) {
        blocks = 2 + int(i / 10)
        list = ""
        for (b = 0; b < blocks; b++) list = list (b ? ", " : "") (i % 3) * 1000 + b
        printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": 3, \"hash_ids\": [%s, %d]}\n",
            i * 12, blocks * 512 + 100, list, 5000 + i
    }
}' >"$work/trace.jsonl"
cat >"$work/one.yaml" <<'END'
topology: {star: {hosts: 5, rate: 100Gbps, delay: 500ns}}
nic: {mtu: 4096, congestion-control: none}
parameters: {store: "traffic[0].mooncake-trace.store", scheduler: "traffic[0].mooncake-trace.scheduler",
             ttl: "traffic[0].mooncake-trace.client-ttl"}
traffic:
  - mooncake-trace:
      trace: trace.jsonl
      prefill: 2
      decode: 2
      kv-bytes-per-token: 1024
      prefill-fixed: 20ms
      prefill-token: 10us
      log: on
      client-ttl: 100ms
      engine: {ack-timeout: 8, ack-retries: 1, retries: 1, rail-pause: 1ms, handshake-timeout: 20ms,
               metadata-timeout: 20ms}
END
engine='traffic[0].mooncake-trace.engine'
run() { # FAULTS SETTINGS...
    local settings=() setting faults=$1
    shift
    for setting in "faults=[$faults]" "$@"; do settings+=(--set "$setting"); done
    within 120 "$ROCESIM" run "$work/one.yaml" -o "$work/out" --quiet "${settings[@]}" >"$work/log" 2>&1 ||
        fail "$faults $*: $(cat "$work/log")"
}
value() { awk -F, -v field="$1" '$3 == "" && $5 == field { print $6 }' "$work/out/apps.csv"; }
# A line for each prompt: prefill decode admitted ttft; "-": null
prompts() {
    awk -F, '$3 == "prompts" { v[$4, $5] = $6 == "" ? "-" : $6; n = $4 >= n ? $4 + 1 : n }
        END { for (i = 0; i < n; i++) print v[i, "prefill"], v[i, "decode"], v[i, "admitted_ms"],
            v[i, "ttft_ms"] }' "$work/out/apps.csv"
}
all_served() { # FAULTS SETTINGS...
    run "$@"
    [ "$(value requests) $(value failed) $(value unverified_bytes)" = "60 0 0" ] ||
        fail "$*: $(value requests) served, $(value failed) failed, $(value unverified_bytes) bytes wrong"
    [ "$(value nodes_lost)" = 1 ] || fail "$*: $(value nodes_lost) nodes lost"
    [ "$(value placed_again)" -gt 0 ] || fail "$*: no prompt was placed again"
    grep -q "^warning: nodes were lost 1 times.* placed again $(value placed_again) times" "$work/log" ||
        fail "$*: the user is not told: $(cat "$work/log")"
}

# A prefill node that goes for good: nobody asks it for anything after its silence.
all_served '{part: host2, at: 300ms}'
[ "$(value blocks_lost)" -gt 0 ] || fail "the lost node's blocks are still there"
[ "$(prompts | awk '$1 == "host2" && $3 > 420' | wc -l)" = 0 ] || fail "the lost node gets prompts"
[ "$(prompts | awk '$1 == "host2"' | wc -l)" -gt 5 ] || fail "it was to compute some before"
all_served '{part: host2, at: 300ms}' store=local
[ "$(value blocks_lost)" -gt 0 ] || fail "the blocks of the lost node's own store are still there"
all_served '{part: host2, at: 300ms}' scheduler=random
all_served '{part: host2, at: 300ms}' scheduler=load
# What others fetch from it is given up when it is lost, not when the engine's retries are over.
all_served '{part: host2, at: 300ms}' "$engine.retries=9" "$engine.handshake-timeout=5s"
awk -v s="$(value seconds)" 'BEGIN { exit !(s < 3) }' || fail "prompts waited: all took $(value seconds) s"
# One that comes back.
all_served '{part: host2, at: 300ms, until: 450ms}'
[ "$(prompts | awk '$1 == "host2" && $3 > 600' | wc -l)" -gt 0 ] || fail "a node that is back is not used"
# A decode node.
all_served '{part: host4, at: 300ms}'
[ "$(prompts | awk '$2 == "host4" && $3 > 420' | wc -l)" = 0 ] || fail "the lost decode node gets prompts"
all_served '{part: host4, at: 300ms}' scheduler=random

# Nobody is left, or the conductor is alone: what cannot be served fails, and the run ends.
for faults in '{part: host1, at: 300ms}, {part: host2, at: 320ms}' '{part: "host[3-4]", at: 300ms}' \
    '{part: host0, at: 300ms}' '{part: host0, at: 300ms, until: 500ms}'; do
    run "$faults"
    [ "$(value failed)" -gt 0 ] && [ $(($(value requests) + $(value failed))) = 60 ] ||
        fail "$faults: $(value requests) served, $(value failed) failed"
    grep -q 'ended  *everything is done' "$work/log" || fail "$faults: $(cat "$work/log")"
done

# Without faults nothing is lost, and a run without pings has the same times.
run ''
[ "$(value nodes_lost) $(value placed_again) $(value failed)" = "0 0 0" ] || fail "a node was lost"
ttft=$(value ttft_ms.mean)
run '' ttl=never
awk -v a="$ttft" -v b="$(value ttft_ms.mean)" 'BEGIN { exit !(a - b < 0.01 && b - a < 0.01) }' ||
    fail "pings change first tokens from $(value ttft_ms.mean) to $ttft ms"
run '{part: host2, at: 300ms}' ttl=never
[ "$(value failed)" -gt 5 ] && [ "$(value placed_again)" = 0 ] || fail "client-ttl: never places again"
echo "$failures failures"
[ "$failures" -eq 0 ]
