#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# test_cli_limits.sh - where numbers end: simulated time, sizes, memory, threads.
#
# Goal: transfers of 10^9 messages and of 1000 TB are planned at once, at rates that are a whole number
# of picoseconds per byte and at others; the ideal time of a long one is that of the frames one by one; a
# network too slow for simulated time ends at the stated limit; peers' flow files for another network, or
# of two formats, are refused; where there is no memory for threads, fewer run it or a message says so;
# a load beyond 1, and losses that time-outs come too late for, are told.
# Method: runs of the program; the time of a run that sends every frame against the closed form.
# Not pinned: how long any of it takes, but that a minute is enough.
set -u
. tests/script.sh
start_forks

# plan RATE LIST MESSAGES: prints the ideal time, in ns
plan() {
    printf 'topology: {star: {hosts: 2, rate: %s}}\nuntil: 1us\n' "$1" >"$work/plan.yaml"
    printf 'traffic: [{flows: {list: [%s], messages: %s}}]\n' "$2" "$3" >>"$work/plan.yaml"
    rm -rf "$work/plan"
    within 120 rocesim run "$work/plan.yaml" -o "$work/plan" --quiet >/dev/null 2>"$work/err" ||
        fail "plan $*: status $?: $(head -n 1 "$work/err")"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "ideal_fct_ns") column = i }
        NR == 2 { print $column }' "$work/plan/flows.csv"
}

for rate in 100Gbps 97Gbps 1234567891bps; do
    one=$(plan $rate 'host0 host1 64 0us' 1)
    many=$(plan $rate 'host0 host1 64 0us' 1000000000)
    # A WRITE of 64 bytes is 138 bytes of frame and gap and preamble: 10^9 of them, but for the way.
    awk -v one="$one" -v many="$many" -v rate="$rate" 'BEGIN {
        bps = rate == "100Gbps" ? 100e9 : rate == "97Gbps" ? 97e9 : 1234567891
        expected = one + 999999999 * 162 * 8 / bps * 1e9
        exit !(many > expected * (1 - 1e-6) && many < expected * (1 + 1e-6)) }' ||
        fail "10^9 messages at $rate: ideal $many ns, of one $one ns"
done
for rate in 100Gbps 97Gbps 999999937bps; do
    ten=$(plan $rate 'host0 host1 10TB 0us' 1)
    awk -v ten="$ten" -v rate="$rate" 'BEGIN {
        bps = rate == "100Gbps" ? 100e9 : rate == "97Gbps" ? 97e9 : 999999937
        expected = 1e13 / 4096 * (4096 + 58 + 24) * 8 / bps * 1e9
        exit !(ten > expected * (1 - 1e-4) && ten < expected * (1 + 1e-4)) }' ||
        fail "10 TB at $rate: ideal $ten ns"
done
[ -z "$(plan 1Gbps 'host0 host1 1000TB 0us' 10)" ] || fail "an ideal time beyond simulated time"

# Every frame sent takes the ideal time, also where frames do not repeat for long.
for rate in 97Gbps 999999937bps; do
    cat >"$work/all.yaml" <<END
topology: {dumbbell: {left: 1, right: 1, host-rate: $rate, bottleneck-rate: 33Gbps}}
nic: {congestion-control: none, mtu: 256, timeout: 20}
switch: {buffer: 1GB}
traffic: [{flows: {list: [host0 host1 1000 0us], messages: 15000, depth: 15000}}]
END
    rocesim run "$work/all.yaml" -o "$work/all" --quiet >/dev/null 2>&1 || fail "run at $rate"
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) { place[$i] = i } }
        NR == 2 { exit !($place["fct_ns"] == $place["ideal_fct_ns"]) }' "$work/all/flows.csv" ||
        fail "60000 frames at $rate: $(tail -n 1 "$work/all/flows.csv")"
    rm -rf "$work/all"
done

cat >"$work/slow.yaml" <<'END'
topology: {star: {hosts: 2, rate: 1bps}}
nic: {timeout: 31, congestion-control: none}
traffic: [{flows: {list: [host0 host1 100MB 0us]}}]
END
within 120 rocesim run "$work/slow.yaml" >"$work/out" 2>"$work/err" || fail "1 bps: status $?"
grep -q 'ended *the time limit' "$work/out" || fail "1 bps: $(grep ended "$work/out")"
"$ROCESIM" check "$work/slow.yaml" 2>/dev/null | grep -q 'takes longer than 106 days' ||
    fail "check of 1 bps does not say that it cannot end"

# refused FILE WORDS
refused() {
    printf 'topology: {star: {hosts: 4}}\ntraffic: [{flows: {file: %s}}]\n' "$1" >"$work/file.yaml"
    rocesim check "$work/file.yaml" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "$1 is accepted"
    grep -q "$2" "$work/err" || fail "$1: $(cat "$work/err")"
}
printf '2\n0 1 3 100 1000 2.0\n1 2 3 1000 2.0\n' >"$work/mixed.txt"
refused mixed.txt 'mixed.txt:3:1: a flow of 5 words after flows of 6 words, expected'
printf '2\n0 1 3 1000 2.0\n1 2 3 100 1000 2.0\n' >"$work/mixed.txt"
refused mixed.txt 'mixed.txt:3:1: a flow of 6 words after flows of 5 words, expected'
printf 'Nodes 8\nConnections 1\n0->1 start 0 size 1000\n' >"$work/nodes.cm"
refused nodes.cm 'nodes.cm:1:7: the file has 8 nodes and the network 4 hosts with 4 NICs, expected'

# Memory for a few threads only. (A sanitizer's runtime needs more than any such limit.)
case $BUILD_DIRECTORY in
*asan | *tsan) ;;
*)
    printf 'topology: {star: {hosts: 70}}\ntraffic: [{permutation: {bytes: 100KB}}]\n' >"$work/few.yaml"
    alone=$("$ROCESIM" run "$work/few.yaml" --quiet | grep digest)
    start=$(start_kb)
    for more in 20000 40000 50000 60000 80000 180000; do
        limit=$((start + more))
        (
            ulimit -v $limit
            "$ROCESIM" run "$work/few.yaml" --threads 64 --quiet >"$work/out" 2>"$work/err"
            echo $? >"$work/status"
        )
        case $(cat "$work/status") in
        0) [ "$(grep digest "$work/out")" = "$alone" ] || fail "$limit KB: other results" ;;
        1) grep -q '^rocesim: out of memory' "$work/err" || fail "$limit KB: $(head -n 1 "$work/err")" ;;
        *) fail "$limit KB: status $(cat "$work/status"): $(head -n 1 "$work/err")" ;;
        esac
    done
    ;;
esac
# -- what is probably not meant

printf 'topology: {star: {hosts: 4}}\nuntil: 10us\ntraffic: [{poisson: {sizes: websearch, load: 0.8}}]\n' \
    >"$work/n.yaml"
told() {
    rocesim check "$work/n.yaml" "${@:2}" >"$work/out" 2>"$work/err" ||
        fail "check: $(cat "$work/err")"
    grep -q "^note: traffic 0, $1" "$work/out" "$work/err"
}
told poisson && fail "a load of 0.8 is told"
told "poisson: a load of 80 is more" --set 'traffic[0].poisson.load=80' || fail "a load of 80 is not told"
printf 'topology: {star: {hosts: 4}}\nlink: {loss-rate: 0.01}\n' >"$work/n.yaml"
printf 'traffic: [{herd: {timeout: 1ms, measure: 1ms}}]\n' >>"$work/n.yaml"
told "herd: links lose frames.*(1000 us), which is longer than" ||
    fail "losses that no time-out repairs are not told"
told herd --set 'traffic[0].herd.measure=2ms' && fail "losses that time-outs repair are told"
told herd --set link.loss-rate=0 && fail "losses of links without any are told"
told "herd: a round trip takes .* longer than .timeout. (1 us)" --set link.loss-rate=0 \
    --set 'traffic[0].herd.timeout=1us' || fail "a time-out below the round trip is not told"

[ $failures -eq 0 ]
