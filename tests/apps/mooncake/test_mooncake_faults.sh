#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_mooncake_faults.sh - misfortunes on top of each other end every transfer, one way or the
# other.
#
# Goal: with NICs that go down, flap or are slow, a metadata node that is away, a target that crashes or
# unregisters its memory under transfers, in any combination: runs end, every entry of every batch has a
# status,
# what completed is right, how long nothing arrived is told; what can be recovered is, without a failed
# request.
# And blocks of any length, which share pages and end anywhere, are verified to the byte.
# Method: scenarios/mooncake/bench.yaml with four NICs.
# Not pinned: rates. What completed just before a crash can no longer be looked at: those may be unverified.
set -u
. tests/script.sh
start_forks
b='traffic[0].mooncake-bench'
value() {
    sed -n 's/^ *"'"$1"'": \([0-9.]*\),*$/\1/p' "$work/apps" | head -n 1
}
go() { # SETTINGS...
    local settings=() setting
    for setting in "$@"; do settings+=(--set "$setting"); done
    within 120 rocesim run scenarios/mooncake/bench.yaml -o "$work/out" --quiet --set threads=4 \
        --set batch=16 --set "$b.engine.ack-timeout=6" --set "$b.engine.ack-retries=2" \
        --set "$b.engine.metadata-timeout=2ms" --set "$b.engine.handshake-timeout=2ms" "${settings[@]}" \
        >"$work/printed" 2>"$work/log"
    local status=$? said=''
    sed -n '/"apps"/,$p' "$work/out/summary.json" >"$work/apps"
    if [ "$(value requests)" = 0 ] && [ "$(value failed)" -gt 0 ]; then # all requests failed
        said='rocesim: traffic[0] (mooncake-bench) failed: none of its requests succeeded'
        status=$((1 - status))
    fi
    [ $status -eq 0 ] && [ "$(cat "$work/log")" = "$said" ] || fail "$*: status $status, $(cat "$work/log")"
}
recovers() {
    go "$b.duration=6ms" "$@"
    [ "$(value failed) $(value unverified_bytes)" = "0 0" ] ||
        fail "$*: $(value failed) failed, $(value unverified_bytes) bytes wrong"
    [ "$(value retried)" -gt 0 ] || fail "$*: nothing was retried"
    awk -v ms="$(value recovery_ms)" 'BEGIN { exit !(ms > 0.2 && ms < 20) }' ||
        fail "$*: nothing arrived for $(value recovery_ms) ms"
}
fails() { # UNVERIFIED-IS-FINE SETTINGS...
    local crash=$1
    shift
    go "$b.duration=6ms" "$@"
    [ "$(value failed)" -gt 0 ] || fail "$*: nothing failed"
    [ "$(value failed)" -le 64 ] || fail "$*: $(value failed) failed of at most 64 at a time"
    [ "$crash" = crash ] || [ "$(value unverified_bytes)" = 0 ] ||
        fail "$*: $(value unverified_bytes) bytes wrong"
}
one='{part: host0/nic1, at: 2ms, until: 4ms}'
slow='{part: host0/nic2, kind: degraded, rate: 1Gbps, at: 2ms}'
for seed in $(few "17 4711" 17); do
    recovers seed=$seed operation=write "faults=[$one]"
    recovers seed=$seed operation=read selection=random \
        "faults=[$one, {part: host1/nic2, at: 3ms, until: 5ms}, $slow]"
    recovers seed=$seed operation=write selection=least-loaded "$b.engine.rail-pause=100us" \
        "faults=[{part: host1/nic0, at: 2ms, until: 2300us}, $one,
            {part: host1/nic0, at: 3ms, until: 3300us}]"
    fails - seed=$seed operation=read "$b.unregister-at=3ms" "faults=[$one]"
    fails - seed=$seed operation=write "$b.unregister-at=3ms" "$b.metadata.down-from=2ms" nic.host.gpus=1 \
        source_location=cuda:0 target_location=cuda:0
    fails crash seed=$seed operation=write "$b.crash-at=3ms" "$b.metadata.down-from=2ms" \
        "faults=[$one, $slow]"
done
# All four are down for a while; then there is nothing to choose from for longer than a rail pauses.
recovers seed=5 operation=write "$b.engine.rail-pause=1ms" "faults=[{part: host0/nic0, at: 2ms},
    {part: host0/nic1, at: 2ms}, {part: host0/nic2, at: 2ms}, {part: host0/nic3, at: 2ms, until: 4ms}]"
# A metadata node that is never there: nobody knows the target.
fails - "$b.metadata.down-from=0us"
# No retries, and slices that may not take long.
fails - operation=write "$b.engine.retries=0" "faults=[$one]"
fails - operation=write "$b.engine.slice-timeout=100us" "faults=[$slow]"
[ "$(value timed_out)" -gt 0 ] || fail "no slice took too long"
# A storage node whose slices take too long ends operations while it looks for others that do.
fails - operation=write threads=12 batch=1 "$b.file=4194304" "$b.engine.slice=1MiB" "$b.engine.retries=0" \
    "$b.engine.slice-timeout=200us" topology.star.rate=25Gbps \
    topology.star.nics-per-host=1
[ "$(value requests)" -gt 0 ] || fail "all operations took too long"
# The run ends under operations of a drive: nothing of them is left behind (seen by leak checkers).
for until in 1300us 2ms; do
    go operation=write "$b.duration=6ms" "$b.file=64MiB" until=$until
    grep -q 'ended  *the time limit' "$work/printed" || fail "operations were to be under way at $until"
done

# Fewer endpoints than a NIC has peers: however many slices wait for a peer that is away, an endpoint is made
# for a turn of slices and not for each of them, and each handshake gets something through: what fails has
# used up its retries. The user is told.
few="$b.engine.max-endpoints=1"
fails crash operation=write batch=4 block_bytes=1000001 slice_bytes=4096 "$few" "$b.engine.max-wr=4" \
    "$b.crash-at=3ms" 'faults=[{part: host1, at: 2ms, until: 4ms}]'
[ "$(value endpoints_evicted)" -lt 1000 ] || fail "$(value endpoints_evicted) endpoints evicted"
grep -q '^warning: slices were retried [0-9]* times (engine.retries: 9 each), and' "$work/printed" ||
    fail "slices retried: $(cat "$work/printed")"
for store in sieve fifo; do
    go "$b.duration=6ms" operation=write selection=random "$few" "$b.engine.endpoint-store=$store"
    [ "$(value requests)" -gt 100 ] || fail "$store: $(value requests) requests done"
    [ "$(value endpoints_evicted)" -gt 10 ] || fail "$store: $(value endpoints_evicted) evicted"
    grep -q '^warning: [0-9]* endpoints were evicted, .* expected engine.max-endpoints of at least 4, ' \
        "$work/printed" || fail "$store: $(cat "$work/printed")"
    go "$b.duration=6ms" operation=write selection=random "$b.engine.max-endpoints=4"
    [ "$(value endpoints_evicted) $(value retried)" = "0 0" ] || fail "$store: evicted with room for all"
    ! grep warning "$work/printed" || fail "$store: a warning with room for all"
done

for operation in read write; do
    for sizes in "64 64" "100 65536" "1000 64" "4100 65536" "12345 5000" "1000001 1048576"; do
        block=${sizes% *}
        go operation=$operation total=$((block * 90 + 1)) block_bytes="$block" slice_bytes="${sizes#* }"
        [ "$(value verified_bytes) $(value unverified_bytes)" = "$((block * 90 + 1)) 0" ] ||
            fail "$operation, $block: $(value verified_bytes) right, $(value unverified_bytes) wrong"
    done
done
echo "$failures failures"
[ "$failures" -eq 0 ]
