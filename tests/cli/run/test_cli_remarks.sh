#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_remarks.sh - figures that seem to say something else come with a word of warning.
#
# Goal: a degraded port that is full at its lower rate, a tiered cache that takes nothing in, and a rate of
# loss at which no loss is to be expected are told, on the terminal and in summary.json; where they are not
# so, nothing is said. No figure is printed that is not a number.
# Method: small scenarios in which each is so, and one change that makes it otherwise.
# Not pinned: the words.
set -u
. tests/script.sh
start_forks

# told KIND WORDS FILE [OPTION]...: the run says the words, and summary.json has the kind
told() {
    rocesim run "$work/$3.yaml" -o "$work/out" --quiet "${@:4}" >"$work/text" 2>&1 ||
        fail "$3 ${*:4}: $(head -n 2 "$work/text")"
    grep -q "warning.*$2" "$work/text" || fail "$3 ${*:4}: does not say '$2'"
    grep -q "\"kind\": \"$1\"" "$work/out/summary.json" || fail "$3 ${*:4}: no $1 in summary.json"
    rm -rf "$work/out"
}

# untold KIND FILE [OPTION]...
untold() {
    rocesim run "$work/$2.yaml" -o "$work/out" --quiet "${@:3}" >"$work/text" 2>&1 ||
        fail "$2 ${*:3}: $(head -n 2 "$work/text")"
    grep -q "\"kind\": \"$1\"" "$work/out/summary.json" && fail "$2 ${*:3}: $1 in summary.json"
    rm -rf "$work/out"
}

cat >"$work/degraded.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 1, hosts-per-leaf: 2}}
traffic: [{flows: {list: [host0 host2 2MB 0us]}}]
faults: [{part: leaf0--spine0, kind: degraded, rate: 25Gbps}]
END
told degraded-full 'leaf0->spine0 is used 23.7 % of its own 100.0 Gbps.*25.00 Gbps' degraded
untold degraded-full degraded --set 'faults[0].part=leaf1--host3'
# A degraded link that is faster than the link is the link.
untold degraded-full degraded --set 'faults[0].rate=100Tbps'

cat >"$work/cache.yaml" <<'END'
topology: {star: {hosts: 2}}
nic: {model: detailed, cache: {policy: hybrid, promote: {l1: 100000}}}
traffic: [{contexts: {tokens: 300, operations: 3000, warm-up: 0}}]
END
told cache-promotes-nothing 'host0 moved nothing to L1 in [0-9]* accesses: no context had the 100000' cache
untold cache-promotes-nothing cache --set nic.cache.promote.l1=2 --set nic.cache.promote.l2=2
untold cache-promotes-nothing cache --set 'traffic[0].contexts.operations=100'

# Wireshark cannot count picoseconds beyond 18 ms.
cat >"$work/ps.yaml" <<'END'
topology: {star: {hosts: 2}}
traffic: [{flows: {list: [host0 host1 2KB 0us, host0 host1 2KB 20ms]}}]
captures: [{fabric: all.pcapng, times: ps}]
END
told capture-ps 'wrong times in all.pcapng from 18.446 ms on' ps
untold capture-ps ps --set 'captures[0].times=ns'
untold capture-ps ps --set 'traffic[0].flows.list=[host0 host1 2KB 18ms]'

cat >"$work/loss.yaml" <<'END'
topology: {star: {hosts: 3}}
link: {loss-rate: 1e-7}
traffic: [{flows: {list: [host0 host2 2MB 0us]}}]
END
told no-loss 'no loss is to be expected' loss
told no-loss 'no loss is to be expected' loss --set link.loss-rate=0 --set link.bit-error-rate=1e-12
untold no-loss loss --set link.loss-rate=0.001
untold no-loss loss --set link.loss-rate=0
# The paths of messages that a collective sends are chosen as it goes: any of them may have the link.
cat >"$work/uplink.yaml" <<'END'
topology: {leaf-spine: {leaves: 2, spines: 4, hosts-per-leaf: 2}}
links: {"leaf1--spine0": {loss-rate: 1e-3}}
traffic: [{collective: {kind: all-gather, ranks: 4, bytes: 4MiB, algorithm: ring}}]
END
untold no-loss uplink
told no-loss 'no loss is to be expected' uplink --set 'links.leaf1--spine0.loss-rate=1e-7'

cat >"$work/nothing.yaml" <<'END'
topology: {star: {hosts: 4}}
until: 1us
traffic: [{incast: {to: host0, senders: 3, bytes: 10KB}}]
END
rocesim run "$work/nothing.yaml" >"$work/text" 2>&1 || fail "nothing: $(head -n 2 "$work/text")"
grep -q '0 B delivered; 0 bps in the median over flows$' "$work/text" ||
    fail "nothing: $(grep delivered "$work/text")"
grep -Eiw 'nan|inf' "$work/text" && fail "nothing: a figure that is no number"

# What needs too much memory is refused before it is made.
# refused WORDS YAML
refused() {
    printf 'topology: {star: {hosts: 4}}\n%s\n' "$2" >"$work/large.yaml"
    (ulimit -v 4000000 && exec "$ROCESIM" run "$work/large.yaml" --quiet) >"$work/text" 2>&1
    local status=$?
    [ $status -eq 2 ] && grep -q "$1.*memory-max" "$work/text" ||
        fail "$2: status $status, $(head -n 1 "$work/text")"
}
case $BUILD_DIRECTORY in
*asan | *tsan) ;;
*)
    refused 'answers of all clients' 'traffic: [{sequencer: {requests: 100000000}}]'
    refused 'entries of the index' 'traffic: [{herd: {index-buckets: 1073741824}}]
memory-max: 1GB'
    rate='from: "host[1-2]", to: host0, qps-per-thread: 65536'
    refused 'queue pairs with their peers' "traffic: [{verbs-rate: {$rate}}]
memory-max: 1GB"
    caches='nic: {model: detailed, cache: {policy: hybrid'
    contexts='traffic: [{contexts: {tokens: 10, operations: 10, warm-up: 0}}]'
    refused 'inside the NICs of 4 hosts' "$caches, l2: {page-table: 128GiB}}}
$contexts"
    refused 'inside the NICs of 4 hosts' "$caches, l1: {entries: 16777216}}}
$contexts
memory-max: 1GB"
    ;;
esac
[ $failures -eq 0 ]
