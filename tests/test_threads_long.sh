#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_threads_long.sh - a long run is the same on any number of threads.
#
# Goal: 331,037 flows through 320 hosts, a thousand million packet-hops, give the same rows of flows and
# ports and the same digest on two and on three threads as on one: what can go wrong once in millions of
# windows shows in no short run.
# Method: scenarios/papers/fat-tree/fat-tree.yaml, whole; UNTIL=2ms shortens it.
# Does not pin: how threads meet; in the ThreadSanitizer build they are held up (kernel/engine/jitter.h).
# labels: study threads
set -u
. tests/script.sh

scenario=scenarios/papers/fat-tree/fat-tree.yaml
for threads in 1 2 3; do
    "$ROCESIM" run "$scenario" -o "$work/$threads" --threads $threads --quiet \
        ${UNTIL:+--set until="$UNTIL"} >"$work/said" 2>&1 ||
        fail "$threads threads: $(tail -n 3 "$work/said")"
    sed -n 's/^ *digest *//p' "$work/said" >"$work/digest-$threads"
    [ -s "$work/digest-$threads" ] || fail "$threads threads: no digest"
    for file in flows.csv ports.csv events.csv; do
        cmp "$work/1/$file" "$work/$threads/$file" || fail "$file differs on $threads threads"
    done
    cmp "$work/digest-1" "$work/digest-$threads" || fail "the digest differs on $threads threads"
done
rows=$(wc -l <"$work/1/flows.csv")
[ "$rows" -gt 1000 ] || fail "$rows rows of flows only"
[ "$failures" -eq 0 ]
