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
start_forks

. tests/apps/mooncake/prompts.sh

scenario "client-ttl: 100ms"
engine='traffic[0].mooncake-trace.engine'
run() { # FAULTS SETTINGS...
    local settings=() setting faults=$1
    shift
    for setting in "faults=[$faults]" "$@"; do settings+=(--set "$setting"); done
    within 120 rocesim run "$work/one.yaml" -o "$work/out" --quiet "${settings[@]}" >"$work/log" 2>&1 ||
        fail "$faults $*: $(cat "$work/log")"
}
# A line for each prompt: prefill decode admitted ttft
all_prompts() { prompts prefill decode admitted_ms ttft_ms; }
all_served() { # FAULTS SETTINGS...
    run "$@"
    [ "$(value requests) $(value failed) $(value unverified_bytes)" = "60 0 0" ] ||
        fail "$*: $(value requests) served, $(value failed) failed, $(value unverified_bytes) bytes wrong"
    [ "$(value nodes_lost)" = 1 ] || fail "$*: $(value nodes_lost) nodes lost"
    [ "$(value placed_again)" -gt 0 ] || fail "$*: no prompt was placed again"
    grep -q "^warning: nodes were lost 1 time.* placed again $(value placed_again) times\?" "$work/log" ||
        fail "$*: the user is not told: $(cat "$work/log")"
}

# A prefill node that goes for good: nobody asks it for anything after its silence.
all_served '{part: host2, at: 300ms}'
[ "$(value blocks_lost)" -gt 0 ] || fail "the lost node's blocks are still there"
[ "$(all_prompts | awk '$1 == "host2" && $3 > 420' | wc -l)" = 0 ] || fail "the lost node gets prompts"
[ "$(all_prompts | awk '$1 == "host2"' | wc -l)" -gt 5 ] || fail "it was to compute some before"
all_served '{part: host2, at: 300ms}' store=local
[ "$(value blocks_lost)" -gt 0 ] || fail "the blocks of the lost node's own store are still there"
all_served '{part: host2, at: 300ms}' scheduler=random
all_served '{part: host2, at: 300ms}' scheduler=load
# What others fetch from it is given up when it is lost, not when the engine's retries are over.
all_served '{part: host2, at: 300ms}' "$engine.retries=9" "$engine.handshake-timeout=5s"
awk -v s="$(value seconds)" 'BEGIN { exit !(s < 3) }' || fail "prompts waited: all took $(value seconds) s"
# One that comes back.
all_served '{part: host2, at: 300ms, until: 450ms}'
[ "$(all_prompts | awk '$1 == "host2" && $3 > 600' | wc -l)" -gt 0 ] || fail "a node that is back is not used"
# A decode node.
all_served '{part: host4, at: 300ms}'
[ "$(all_prompts | awk '$2 == "host4" && $3 > 420' | wc -l)" = 0 ] || fail "the lost decode node gets prompts"
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
