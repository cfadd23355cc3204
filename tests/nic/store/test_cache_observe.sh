#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cache_observe.sh - the tiered cache in series.csv and events.csv.
#
# Goal: nic[HOST].cache.* are series, sampled and on change, whose last values are those of summary.json;
# with outputs.cache-events each miss and move of a token is a row of events.csv, without it none is; the
# files are the same on any number of threads; a metric that does not exist is refused with the nearest.
# Does not pin: what is told at all (tests/nic/store/test_cache_told.c).
# labels: threads
set -eu
. tests/script.sh
start_forks

cat >"$work/one.yaml" <<'END'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 300ns}}
nic: {congestion-control: none}
nodes:
  host0: {nic: {model: detailed, cache: {policy: lru, l1: {entries: 10}, l2: {bytes: 300}}}}
traffic:
  - contexts: {host: host0, peer: host1, tokens: 60, transport: uc, warm-up: 0, operations: 1500,
               outstanding: 4}
outputs: {cache-events: true}
observe:
  - {series: "nic[host0].cache.l1_hits", on: change}
  - {series: "nic[host0].cache.to_l3", on: change}
  - {series: "nic[host*].cache.l2_hits", every: 5us}
END
run() { rocesim run "$work/$1.yaml" -o "$work/$2" --quiet "${@:3}" >/dev/null || fail "$2 does not run"; }
told() { sed -n 's/^ *"'"$1"'": \([0-9]*\),\{0,1\}$/\1/p' "$work/one/summary.json" | head -n 1; }
rows() { grep -c ",$1,host0:" "$work/one/events.csv" || true; }
last() { grep -F ",$1," "$work/one/series.csv" | tail -n 1 | sed 's/.*,//'; }
equal() { [ -n "$2" ] && [ "$2" = "$3" ] || fail "$1: $2, expected $3"; }

run one one
# Every expand and hit of L2 has a row, of operations under way too; here those are never missed.
equal "expands" "$(rows expand)" "$(told urgent)"
equal "hits of L2" "$(rows l2_hit)" "$(told l2_hits)"
for tier in l1 l2 l3; do
    equal "moves to $tier" "$(rows to_$tier)" "$(told to_$tier)"
done
equal "write-backs" "$(rows write_back)" "$(told write_backs)"
[ "$(rows to_l3)" -gt 100 ] || fail "too few moves for this to mean anything"
equal "series of L1's hits" "$(last 'nic[host0].cache.l1_hits')" "$(told l1_hits)"
equal "series of moves" "$(last 'nic[host0].cache.to_l3')" "$(told to_l3)"
grep -q 'nic\[host1\].cache.l2_hits,0$' "$work/one/series.csv" || fail "a NIC without tiers has no zeros"
run one two --threads 2
for file in events.csv series.csv flows.csv; do
    cmp "$work/one/$file" "$work/two/$file" || fail "$file on two threads"
done
sed 's/cache-events: true/cache-events: false/' "$work/one.yaml" >"$work/off.yaml"
run off off
[ "$(wc -l <"$work/off/events.csv")" = 1 ] || fail "rows although nobody asked for them"
sed 's/cache.to_l3/cache.to_l4/' "$work/one.yaml" >"$work/bad.yaml"
if rocesim check "$work/bad.yaml" 2>"$work/said"; then fail "an unknown metric is accepted"; fi
grep -q 'cache.to_l' "$work/said" || fail "nothing near is named: $(cat "$work/said")"

# Files to replay: lines end as they like; what is no queue pair is said with its place.
cat >"$work/replay.yaml" <<'END'
topology: {star: {hosts: 2, rate: 100Gbps, delay: 300ns}}
nodes: {host0: {nic: {model: detailed, detailed: {key: {entries: 50, ways: 50}}}}}
traffic:
  - contexts: {tokens: 60, pattern: replay, replay-file: order.txt, warm-up: 2, regions: 100}
END
replays() { # TEXT STATUS WORDS
    printf "$1" >"$work/order.txt"
    status=0
    rocesim run "$work/replay.yaml" -o "$work/replayed" --quiet >"$work/said" 2>&1 || status=$?
    [ "$status" = "$2" ] && grep -q "$3" "$work/said" ||
        fail "replay of $1: $status, $(head -n 1 "$work/said")"
}
replays '1\n2\n5\n' 0 'operations 1,'
replays '1\r\n2\r\n\n5\r\n59' 0 'operations 2,'
replays '1\n 60\n' 2 "^[^ ]*order.txt:2:2: '60' .* expected a whole number from 0 to 59$"
replays '1\n2 x\n' 2 '^[^ ]*order.txt:2:3: a second number in a line, expected one'
replays '\n' 2 '^[^ ]*order.txt:1:1: the file has no number, expected'

# Regions at random, 50 of 100 keys on the NIC: one of two lookups, and each miss is a PCIe read.
counter() {
    sed -n '/"nics": \[/,$s/^ *"'"$1"'": \([0-9]*\),\{0,1\}$/\1/p' "$work/keys/summary.json" | head -n 1
}
run replay keys --set 'traffic[0].contexts.pattern=uniform' --set 'traffic[0].contexts.operations=10000'
hits=$(counter key_hits)
misses=$(counter key_misses)
[ $((hits + misses)) = 10002 ] && [ "$hits" -gt 4700 ] && [ "$hits" -lt 5300 ] ||
    fail "$hits hits and $misses misses of 10002 keys"

exit $((failures > 0))
