#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# atlahs - does the order of ATLAHS's sends explain the time of its all-to-all?
#
# 16 ranks send 64 KiB to each other, over 4 leaves and 4 spines with links of 200 Gbps and 1 ns, as
# ATLAHS's hosts do: packets sprayed over 128 paths, switches that trim. ATLAHS takes events of one
# instant from a heap that does not break ties, so that ranks send in orders of their own and two or
# more send to one rank at once. The ideal network has the same heap and gives the order. A send leaves
# when the packets of the one before, and one packet more, have had their time. Times are in us, means
# over the seeds. ATLAHS's is that of spcl/atlahs 8837294.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" row,nr,trimmed,ours_us,theirs_us,difference_percent
ranks=16
gap=$(((16 + 1) * 4160 * 4 / 100)) # ns: 0.04 for each byte of 64 KiB in packets, and of one more
# schedule SPACED [ORDER]: writes an all-to-all as GOAL. ORDER is a file with "rank peer" in the order of
# the sends; without it, a rank sends to the next one first.
schedule() {
    awk -v n=$ranks -v spaced="$1" -v gap=$gap '
        { order[$1, count[$1]++] = $2 }
        END {
            print "num_ranks", n
            for (r = 0; r < n; r++) {
                print "rank", r, "{"
                for (i = 1; i < n; i++) {
                    peer = (r in count) ? order[r, i - 1] : (r + i) % n
                    print "s" i ": send 65536b to", peer
                    print "r" i ": recv 65536b from", (r + n - i) % n
                }
                for (i = 2; i < n && spaced; i++) {
                    print "c" i ": calc", gap
                    if (i > 2) print "c" i " requires c" (i - 1)
                    print "s" i " requires c" i
                }
                print "}"
            }
        }' "${2:-/dev/null}"
}
# heap_order: prints the order in which the ideal network with the heap starts the sends
heap_order() {
    schedule 0 >"$out/plain.goal"
    {
        echo "topology: {star: {hosts: $ranks, rate: 200Gbps}}"
        echo "outputs: {operations-max: 10000}"
        echo "traffic: [{workload: {file: $(realpath "$out/plain.goal"), network-model: ideal,"
        echo "    semantics: atlahs, ties: heap, latency: 400ns, gap: 208ns, byte-gap: 40ps, eager-max: 1}}]"
    } >"$out/ideal.yaml"
    "$program" run "$out/ideal.yaml" -o "$out/ideal" --quiet --yes >"$out/run.log" 2>&1
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["kind"] == "send" { print $at["rank"], $at["start_ns"], $at["peer"] }' \
        "$out/ideal/operations.csv" | sort -k1,1n -k2,2n | awk '{ print $1, $3 }'
}
heap_order >"$out/order.txt"
nr=0
for row in $(pick rows "file heap" "file heap heap-no-control"); do
    order=/dev/null
    [ "$row" = file ] || order=$out/order.txt
    schedule 1 "$order" >"$out/all-to-all.goal"
    control=nscc
    [ "$row" != heap-no-control ] || control=none
    times=()
    trimmed=0
    for seed in $(pick seeds "1" "1 2 3"); do
        simulate_file workload.yaml file="$(realpath "$out/all-to-all.goal")" topology=leaf-spine \
            per_leaf=4 rate=200Gbps delay=1ns transport=uec-rud arrival=acknowledged seed="$seed" \
            nic.uec.spray=oblivious nic.uec.paths=128 nic.uec.ack-bytes=1 nic.uec.control=$control \
            nic.priority=1 nic.ack-priority=6 switch.mmu=trimming switch.trim.victim=either \
            switch.trim.scale=false switch.trim.queue=216500
        times+=("$(value "apps[0].finish_us.max")")
        trimmed=$((trimmed + $(value trimmed)))
    done
    nr=$((nr + 1))
    ours=$(printf '%s\n' "${times[@]}" | awk '{ sum += $1 } END { printf "%.6g", sum / NR }')
    put "$row" $nr $((trimmed / ${#times[@]})) "$(against "$ours" 53.438)"
done
labels=1 draw row ours_us theirs_us
