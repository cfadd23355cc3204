#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# test_transport_sdr_times.sh - how long messages take with the transport sdr, one by one.
#
# Goal: mean and 99.9th percentile over thousands of messages are those of SDR-RDMA's formula, within
# 5 %, where a message is shorter than the time-out; of longer ones no mean is below the formula's
# bound, and mean and 90th percentile are within 5 % of a Monte Carlo of the protocol, written again
# in sdr_times.py. Where parity suffices a message takes (M + M m / k) T and a round trip.
# Method: one message after another, each on a queue pair of its own, on a link that loses data packets
# alone; flows.csv has their times. docs/models/sdr.md
# Not pinned: what codes do where they do not suffice; points at random (test_transport_sdr_random).
. tests/script.sh
start_forks

command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
check() {
    python3 tests/nic/wan/sdr_times.py "$ROCESIM" "$work" point "$@" || fail "off: $*"
}
#     chunks packets loss RTO rate RTT messages
check 500 1 0.001 3 400e9 1e-4 1500
check 500 1 0.01 1 400e9 1e-4 1500
check 60 16 0.001 3 100e9 5e-3 600
check 1000 4 0.0003 2 200e9 4e-4 150
check 10000 1 0.001 3 400e9 1e-4 40
check 10000 1 0.01 1 400e9 1e-4 40

# With parity behind each 32 chunks, where it suffices.
coded() {
    rocesim run "$work/messages.yaml" --quiet -o "$work/out" --set "loss=$2" --set bytes=40960000 \
        --set "nic.sdr.code=$1" --set every=6000us --set stop=240000us > "$work/log" || fail "the run: $*"
    awk -F, -v what="$*" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        NR > 1 { sum += $at["fct_ns"]; n++ }
        END { told = sum / n / 1e3; want = 10000 * 1.25 * 4194 * 8 / 400e3 + 100 + 0.2
              printf "%s: mean %.1f us of %.1f\n", what, told, want
              exit n != 40 || told / want > 1.01 || told / want < 0.99 }' "$work/out/flows.csv" ||
        fail "off: $*"
}
coded mds 0.01
coded mds 0.0001
coded xor 0.0001
((failures == 0))
