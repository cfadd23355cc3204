#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_cli_digest.sh - the digest differs where results differ, with and without packets.
#
# Goal: copies within a host (Mooncake), messages within a host, computations and ideal networks, whose
# times change results without any packet, change the digest; it is the same on two threads.
# Method: two values of one attribute per case. Not pinned: the digests.
set -u
. tests/script.sh

printf '%s\n' 'num_ranks 2' 'rank 0 {' 'l1: send 4096b to 1 tag 5' '}' 'rank 1 {' \
    'l1: recv 4096b from 0 tag 5' 'l2: calc 9000' 'l2 requires l1' '}' >"$work/w.goal"

# digest VALUE: of a run of the scenario with the attribute $path at that value.
digest() {
    "$ROCESIM" run "$work/s.yaml" --set "traffic[0].$path=$1" -o "$work/r" --quiet "${@:2}" >/dev/null 2>&1
    sed -n 's/^ *"digest": "\(.*\)",*$/\1/p' "$work/r/summary.json"
}

# differ TRAFFIC PATH A B: the digests with A and with B differ, and each stays.
differ() {
    path=$2
    printf 'topology: {star: {hosts: 3}}\ntraffic: [%s]\n' "$1" >"$work/s.yaml"
    local a b
    a=$(digest "$3") b=$(digest "$4")
    [ -n "$a" ] && [ "$a" != "$b" ] || fail "$2: $3 and $4 have the digests $a and $b"
    [ "$a" = "$(digest "$3" --threads 2)" ] || fail "$2: another digest on two threads"
}

differ "mooncake-bench: {duration: 1ms, to: host0}" mooncake-bench.engine.copy-rate 40Gbps 80Gbps
differ "collective: {hosts: host0, ranks: 4, per-node: 4}" collective.local-rate 1000Gbps 2000Gbps
differ "collective: {hosts: host0, ranks: 4, per-node: 4, repeat: 2}" collective.compute 1us 2us
differ "workload: {file: w.goal}" workload.calc-scale 1 2
differ "workload: {file: w.goal, network-model: ideal}" workload.latency 1us 2us
exit $((failures > 0))
