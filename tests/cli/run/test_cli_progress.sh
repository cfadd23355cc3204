#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_progress.sh - flows that have not ended well: how far they came, when they failed.
#
# Goal: delivered bytes of unfinished flows are what was acknowledged, rates and fairness follow from
# them, and failed flows are counted, dated and named wherever flows are.
# Method: two long flows that share a link, cut off; one whose link goes down for good.
# Not pinned: delivered bytes of failed flows, which nobody knows.
set -u
. tests/script.sh

# column NAME ROW: of flows.csv
column() {
    awk -F, -v name="$1" -v row="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == row + 1 { print $column }' "$work/x/flows.csv"
}
# value PATH: of the summary
value() {
    "$ROCESIM" compare "$work/x" --csv | awk -F, -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
        NR == 2 && column { print $column }'
}
near() {
    awk -v a="$2" -v b="$3" -v s="$4" 'BEGIN { exit !(a >= b * (1 - s) && a <= b * (1 + s)) }' ||
        fail "$1: $2, expected $3"
}

cat >"$work/long.yaml" <<'END'
topology: {star: {hosts: 4, rate: 100Gbps}}
nic: {congestion-control: none}
until: 1ms
traffic:
  - flows: {list: [host0 host2 1GB 0us, host1 host2 1GB 0us, host0 host3 100KB 0us, host3 host0 1GB 2ms]}
END
"$ROCESIM" run "$work/long.yaml" -o "$work/x" --quiet >"$work/out" 2>&1 || fail "$(cat "$work/out")"
# Of 100 Gbps 4096 bytes in 4178 are payload; acknowledged after a round trip.
sum=$(($(column delivered_bytes 1) + $(column delivered_bytes 2)))
near "delivered by the two long flows" "$sum" 12254667 0.01
[ "$(column delivered_bytes 3)" = 100000 ] || fail "a completed flow: $(column delivered_bytes 3)"
[ "$(column delivered_bytes 4)" = 0 ] || fail "a flow that has not begun: $(column delivered_bytes 4)"
near "flows.delivered_bytes" "$(value flows.delivered_bytes)" $((sum + 100000)) 0
near "goodput of the slower long flow" "$(value flows.goodput_gbps.p50)" 49 0.02
awk -v f="$(value flows.fairness)" 'BEGIN { exit !(f > 0.3 && f < 1) }' ||
    fail "fairness $(value flows.fairness)"
grep -q " delivered; .* in the median over flows; fairness 0\." "$work/out" ||
    fail "not said: $(cat "$work/out")"

"$ROCESIM" run "$work/long.yaml" -o "$work/x" --quiet \
    --set 'traffic[0].flows.list=[host0 host2 1GB 0us, host1 host2 1GB 0us]' >/dev/null 2>&1 ||
    fail "two flows"
near "fairness of two alike" "$(value flows.fairness)" 1 0.001

cat >"$work/dead.yaml" <<'END'
topology: {star: {hosts: 3}}
links: {host1--switch0: {down: [{at: 0us}]}}
nic: {timeout: 8, retry-count: 1}
traffic: [{flows: {list: [host0 host1 10KB 1us, host0 host2 10KB 1us]}}]
END
"$ROCESIM" run "$work/dead.yaml" -o "$work/x" --quiet >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q "flows: 1 of 2 transfers done, 1 FAILED" "$work/out" || fail "failure not said: $(cat "$work/out")"
[ "$(column delivered_bytes 1)" = "" ] || fail "a failed flow delivered $(column delivered_bytes 1)"
near "time of the failure" "$(column failed_ns 1)" $((2 * 4096 * 256 + 1000)) 0.6
[ "$(column failed_ns 2)" = "" ] || fail "a good flow failed at $(column failed_ns 2)"
"$ROCESIM" compare "$work/x" "$work/x" 2>/dev/null | grep -q "^  failed  *1  *1" ||
    fail "compare does not tell of failures"

# What --progress keeps of a run that is over, however short, is its end.
"$ROCESIM" run "$work/dead.yaml" -o "$work/x" --quiet --progress "$work/now" >/dev/null 2>&1
head -c 1024 "$work/now" | grep -q '"done": 2, "planned": 2,.*"share": 1.0000, "left_s": 0.0' ||
    fail "the end in --progress: $(head -c 1024 "$work/now")"
# A transfer under way counts as the part that has arrived.
cat >"$work/half.yaml" <<'END'
topology: {star: {hosts: 2}}
faults: [{part: host1, kind: pause-storm, at: 420us}]
traffic: [{flows: {list: [host0 host1 10MB 0us]}}]
END
"$ROCESIM" run "$work/half.yaml" --quiet --progress "$work/half" >/dev/null 2>&1 &&
    fail "a stalled run ends well"
share=$(head -c 1024 "$work/half" | sed -n 's/.*"done": 0,.*"share": \([0-9.]*\),.*/\1/p')
near "share of half a flow" "${share:-0}" 0.512 0.02
name=$(head -1 "$work/x/ports.csv" | tr , '\n' | grep -nx port | cut -d: -f1)
sent=$(head -1 "$work/x/ports.csv" | tr , '\n' | grep -nx tx_bytes | cut -d: -f1)
tail -n +2 "$work/x/ports.csv" | cut -d, -f"$name,$sent" | tr , '\t' | sort >"$work/sent"
grep -- '->' "$work/now" | grep -v sim_ns | cut -f1,3 | sort | cmp - "$work/sent" ||
    fail "ports at the end: $(cat "$work/sent" "$work/now")"

# Small rates have the unit of their name.
printf 'topology: {star: {hosts: 2}}\ntraffic: [flows: {list: [host0 host1 1B 0us, host0 host1 1B 1s]}]\n' \
    >"$work/slow.yaml"
"$ROCESIM" run "$work/slow.yaml" >"$work/out" 2>&1
grep -qE "goodput_gbps 1\.(6|59999)e-08( |$)" "$work/out" || fail "a small rate: $(grep goodput "$work/out")"
exit $((failures > 0))
