#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: long
# tests/apps/workload/test_loops.sh - fast-forward skips calls of a loop, and changes no result.
#
# Goal: 20 calls of a collective, back to back as nccl-tests makes them, cost as much as 3 on a quiet
# fabric, and loops of chunks and steps of a ring within a long call are skipped, too; all files are those of
# the full run, byte for byte, on 1 and 2 threads, if the run ends within the loop, and if flows.csv is full.
# Method: diffs of results but for wall_*, digest and fast_forward: rings and trees of several protocols,
# hosts of several ranks, and scenarios of tests/random-collectives without computations.
# Not pinned: the time that a run takes.
set -u
. tests/script.sh
start_forks
. tests/fast_forward.sh

# loop KEYS [TOPOLOGY]: writes $work/s.yaml: 20 calls of an all-reduce.
loop() {
    cat >"$work/s.yaml" <<END
seed: 3
ties: rotor
network: {draws: packet}
outputs: {operations-max: 1000}
topology: ${2:-"{star: {hosts: 6, rate: 400Gbps, delay: 500ns}}"}
traffic:
  - collective: {kind: all-reduce, bytes: 300KB, repeat: 20, $1}
END
}

# skips PERCENT: the run in $work/memo skipped at least so much.
skips() {
    [ $((100 * $(number packet_hops_skipped))) -ge $(($1 * $(number packet_hops))) ] ||
        fail "$2: $(number packet_hops_skipped) of $(number packet_hops) are skipped, expected $1 %"
}

loop "algorithm: ring, protocol: plain"
for case in none "dcqcn --threads 2"; do
    # shellcheck disable=SC2086
    same "ring, $case" --set nic.congestion-control=$case
    skips 84 "ring, $case"
done
loop "algorithm: ring, protocol: simple"
same "ring with clear-to-sends"
skips 60 "ring with clear-to-sends"
loop "algorithm: ring, protocol: plain"
same "the end" --set until=300us
same "rows of flows.csv" --set 'traffic[0].collective.flows-max=400'
loop "algorithm: ring, protocol: plain, calc-grid: 1us"
same "a grid"
loop "algorithm: tree, protocol: simple"
same "tree"
# A rank's processor posts its messages one after the other, and is free again at a later time in each call.
loop "algorithm: ring, tuning-latency: on"
same "NCCL's latencies"
skips 60 "NCCL's latencies"
same "NCCL's latencies and computations" --set 'traffic[0].collective.compute=100us'
skips 60 "NCCL's latencies and computations"
same "a slow processor" --set 'traffic[0].collective.compute=100us' \
    --set 'traffic[0].collective.tuning-scale=8'
loop "protocol: simple" "{star: {hosts: 2, nics-per-host: 4, rate: 400Gbps, delay: 500ns}}"
same "hosts of several ranks"
skips 60 "hosts of several ranks"
# Arrivals tie where one port becomes free and another is idle: their order changes the number of events.
loop "protocol: plain, kind: all-to-all" "{star: {hosts: 2, nics-per-host: 8, rate: 400Gbps, delay: 500ns}}"
sed -i 's/kind: all-reduce, bytes: 300KB/bytes: 64KiB/' "$work/s.yaml"
same "ties that change the number of events" --set nic.congestion-control=none

# Long calls: loops of chunks. The last loop has smaller chunks.
for case in "algorithm: ring|hosts: 4" "algorithm: tree|hosts: 2, nics-per-host: 2"; do
    loop "${case%|*}, channels: 1, protocol: simple, chunk: 64KiB, bytes: 9MB, repeat: 1" \
        "{star: {${case#*|}, rate: 400Gbps, delay: 500ns}}"
    sed -i 's/bytes: 300KB, repeat: 20, //' "$work/s.yaml"
    same "$case, chunks"
    skips 50 "$case, chunks"
    same "$case, chunks and rows of flows.csv" --set 'traffic[0].collective.flows-max=200' --threads 2
done

# Long rings: the steps of a loop. Clear-to-sends are ahead of them, and go on into the next loop.
for case in "kind: reduce-scatter, channels: 2, bytes: 9MB|hosts: 20|20" \
    "kind: all-reduce, channels: 1, bytes: 3000017|hosts: 16|40" \
    "kind: all-gather, channels: 2, bytes: 9MB|hosts: 6, nics-per-host: 2|0"; do
    IFS='|' read -r keys hosts least <<<"$case"
    loop "algorithm: ring, protocol: simple, chunk: 128KiB, $keys" \
        "{star: {$hosts, rate: 400Gbps, delay: 500ns}}"
    sed -i 's/kind: all-reduce, bytes: 300KB, repeat: 20, //' "$work/s.yaml"
    same "$keys, steps"
    skips "$least" "$keys, steps"
    same "$keys, steps and rows of flows.csv" --set 'traffic[0].collective.flows-max=300' --threads 2
done

count=$(few 2 1)
[ -z "${TEST_LONG:-}" ] || count=200
for i in $(seq 2001 $((2000 + count))); do
    tests/random-collectives "$i" >"$work/s.yaml"
    same "tests/random-collectives $i" --set 'traffic[0].collective.compute=0s' \
        --set 'traffic[0].collective.repeat=9'
done
[ $failures -eq 0 ]
