#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# atlahs - does the order of ATLAHS's sends explain the times of its all-to-all and its broadcast?
#
# This is a script, since it writes schedules in the order that another run gives.
# 16 ranks send 64 KiB to each other, over 4 leaves and 4 spines with links of 200 Gbps and 1 ns, as
# ATLAHS's hosts do: packets sprayed over 128 paths, switches that trim. ATLAHS takes events of one
# instant from a heap that does not break ties, so that ranks send in orders of their own and two or
# more send to one rank at once. The ideal network has the same heap and gives the order. A send leaves
# when the packets of the one before, and one packet more, have had their time. The broadcast has 64 ranks,
# 8 leaves and links of 500 ns, and 256 KiB go down a binomial tree. In the order `ends` a rank serves its
# first child, its last one, the second, the last but one, and so on: the starts in ATLAHS's list of flows
# are those of this order. Times are in us, means over the seeds. ATLAHS's are those of spcl/atlahs 8837294.
set -eu
. "$(dirname "$0")/training_lib.sh"
begin "$1" row,nr,trimmed,ours_us,theirs_us,difference_percent
ranks=16
# spacing BYTES: prints the time between two sends in ns, 0.04 for each byte of its packets, and of one more
spacing() { echo $((($1 / 4096 + 1) * 4160 * 4 / 100)); }
# schedule SPACED [ORDER]: writes an all-to-all as GOAL. ORDER is a file with "rank peer" in the order of
# the sends; without it, a rank sends to the next one first.
schedule() {
    awk -v n=$ranks -v spaced="$1" -v gap="$(spacing 65536)" '
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
# broadcast ORDER: writes a binomial broadcast as GOAL; a rank serves its children as in the file, or by ends
broadcast() {
    awk -v n=64 -v order="$1" -v gap="$(spacing 262144)" 'BEGIN {
        print "num_ranks", n
        for (r = 0; r < n; r++) {
            print "rank", r, "{"
            for (bit = 1; bit <= r; bit *= 2) parent = r - bit
            if (r > 0) print "r: recv 262144b from", parent
            for (count = 0; r + bit < n; bit *= 2) child[count++] = r + bit
            for (i = 0; i < count; i++) {
                at = order == "file" ? i : i % 2 ? count - (i + 1) / 2 : i / 2
                print "s" i ": send 262144b to", child[at]
                if (i > 0) print "c" i ": calc", gap "\ns" i, "requires c" i
                if (i > 1) print "c" i, "requires c" (i - 1)
                else if (r > 0) print (i ? "c1" : "s0"), "requires r"
            }
            print "}"
        } }'
}
# measure ROW CONTROL THEIRS NAME=VALUE...: simulates $out/schedule.goal, puts the row
measure() {
    local row=$1 control=$2 theirs=$3 times=() trimmed=0 seed
    shift 3
    for seed in $(pick seeds "1" "1 2 3"); do
        simulate_file workload.yaml file="$(realpath "$out/schedule.goal")" topology=leaf-spine \
            rate=200Gbps transport=uec-rud arrival=acknowledged seed="$seed" \
            nic.uec.spray=oblivious nic.uec.paths=128 nic.uec.ack-bytes=1 nic.uec.control="$control" \
            nic.priority=1 nic.ack-priority=6 switch.mmu=trimming switch.trim.victim=either \
            switch.trim.scale=false switch.trim.queue=216500 "$@"
        times+=("$(value "apps[0].finish_us.max")")
        trimmed=$((trimmed + $(value trimmed)))
    done
    nr=$((nr + 1))
    put "$row" $nr $((trimmed / ${#times[@]})) "$(against "$(printf '%s\n' "${times[@]}" |
        awk '{ sum += $1 } END { printf "%.6g", sum / NR }')" "$theirs")"
}
heap_order >"$out/order.txt"
nr=0
for row in $(pick rows "file heap broadcast-ends" \
    "file heap heap-no-control broadcast-file broadcast-ends"); do
    case $row in
    broadcast-*)
        broadcast "${row#*-}" >"$out/schedule.goal"
        measure "$row" nscc 107.972 per_leaf=8 delay=500ns
        ;;
    *)
        order=/dev/null
        [ "$row" = file ] || order=$out/order.txt
        schedule 1 "$order" >"$out/schedule.goal"
        control=nscc
        [ "$row" != heap-no-control ] || control=none
        measure "$row" $control 53.438 per_leaf=4 delay=1ns
        ;;
    esac
done
labels=1 draw row ours_us theirs_us
