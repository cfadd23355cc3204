#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dcqcn-fixed - DCQCN's fixed point and its stability with delay (ECN or Delay, section 3)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"

# settle RUN FLOWS OPTIONS...: runs FLOWS long flows at 40 Gb/s for 300 ms (120 with --quick)
settle() {
    local run=$1 flows=$2
    shift 2
    [ "$quick" = 0 ] || set -- "$@" --until 120ms
    simulate "$run" fixed.yaml --set "topology.star.hosts=$((flows + 1))" "$@" >/dev/null
    awk -F, '$1 > 1e8 && /queue_bytes/ { n++; sum += $3; squares += $3 * $3 }
        END { mean = sum / n; print mean / 1000, sqrt(squares / n - mean * mean) / 1000 }' \
        "$out/$run/series.csv" >"$out/$run.txt"
}

queue_mean() { cut -d' ' -f1 "$out/$1.txt"; }
queue_sd() { cut -d' ' -f2 "$out/$1.txt"; }

# marked RUN: prints the share of packets marked from 100 ms on
marked() {
    awk -F, '/ecn_marked/ { if ($1 == 1e8) m0 = $3; m = $3 } /tx_packets/ { if ($1 == 1e8) p0 = $3; p = $3 }
        END { if (p > p0) print (m - m0) / (p - p0) }' "$out/$1/series.csv"
}

# shares RUN FLOWS: prints the bytes of each flow from 100 ms on relative to the fair share, in
# ascending order
shares() {
    awk -F, -v flows="$2" '/port\[host[1-9]/ && /tx_bytes/ {
            if ($1 == 1e8) first[$2] = $3; else { sum += $3 - last[$2] }
            last[$2] = $3 }
        END { for (host in last) print (last[host] - first[host]) * flows / sum }' \
        "$out/$1/series.csv" | sort -g
}

# A period of tau ends with a cut if a mark came in it, as the fluid model assumes.
periods="--set nic.cnp-interval=0us --set nic.dcqcn.rate-reduce-monitor-period=50us"
for at in 2:1 4:1 8:1 2:10 8:10 16:10 32:10; do
    flows=${at%:*} pmax=${at#*:}
    # shellcheck disable=SC2086 # options
    settle "n$flows-$pmax" "$flows" --set "switch.ecn.pmax=$pmax%" $periods
    measure "N=$flows Pmax $pmax%: p" "$(marked "n$flows-$pmax")"
    measure "N=$flows Pmax $pmax%: queue" "$(queue_mean "n$flows-$pmax")"
done
for at in 2:1 4:1 8:1 8:10; do
    flows=${at%:*} pmax=${at#*:}
    settle "once$flows-$pmax" "$flows" --set "switch.ecn.pmax=$pmax%"
    measure "CNPs at once N=$flows Pmax $pmax%: queue" "$(queue_mean "once$flows-$pmax")"
done
if [ "$quick" = 0 ]; then
    measure "2 flows: lower share" "$(shares once2-1 2 | head -n 1)"
    measure "2 flows: higher share" "$(shares once2-1 2 | tail -n 1)"
    measure "8 flows: lower share" "$(shares once8-1 8 | head -n 1)"
    measure "8 flows: higher share" "$(shares once8-1 8 | tail -n 1)"
fi

# A third flow joins two at 0.1 s. The rows give the rates at 0.2 s, over 20 ms.
simulate third fixed.yaml --until 210ms --set topology.star.hosts=4 --set 'traffic=[{flows: {list: [host1
    host0 10GB 0us, host2 host0 10GB 0us, host3 host0 10GB 100ms]}}]' \
    --set 'observe=[{series: "port[host*->switch0].tx_bytes", every: 5ms}]' >/dev/null
awk -F, '/port\[host[1-3]/ { if (last[$2] != "") print $1 / 1e6, $2, ($3 - last[$2]) * 8 * 1106 / 1082 / 5e6
    last[$2] = $3 }' "$out/third/series.csv" >"$out/third.txt"
third() {
    awk '$1 > 190 { sum[$2] += $3; n[$2]++ } END { for (port in sum) print sum[port] / n[port] }' \
        "$out/third.txt" | sort -g
}
measure "third flow joins: lowest rate" "$(third | head -n 1)"
measure "third flow joins: highest rate" "$(third | tail -n 1)"

# Stability with feedback in 4 us and in 85 us (three links from the mark to the sender). The
# marking curve continues with the same slope beyond 1 %, as in the analysis.
curve="--set switch.ecn.pmax=10% --set switch.ecn.kmax=1955KB"
for flows in 2 10; do
    # shellcheck disable=SC2086 # options
    {
        settle "n$flows-4us" $flows $curve --set topology.star.delay=1.3us
        settle "n$flows-85us" $flows $curve --set topology.star.delay=28.3us
    }
done
# shellcheck disable=SC2086
settle n10-slow 10 $curve --set topology.star.delay=33.3us --set nic.dcqcn.rpg-ai-rate=10Mbps
# shellcheck disable=SC2086
settle n10-fast 10 $curve --set topology.star.delay=33.3us
expect "N=10 oscillates at 85 us: sd against 4 us" "$(queue_sd n10-85us)" ">" "$(queue_sd n10-4us)"
expect "R_AI 10 Mb/s steadies N=10 at 100 us: sd" "$(queue_sd n10-slow)" "<" "$(queue_sd n10-fast)"
expect "85 us unsettles N=10 more than N=2: sd ratios" \
    "$(awk -v a="$(queue_sd n10-85us)" -v b="$(queue_sd n10-4us)" 'BEGIN { print a / b }')" ">" \
    "$(awk -v a="$(queue_sd n2-85us)" -v b="$(queue_sd n2-4us)" 'BEGIN { print a / b }')"

# A mark at enqueue reports the queue one queueing delay later than a mark at dequeue. The rows
# compare two flows at 85 us with the published curve of the fluid, then more flows with feedback in
# 4 us, where that delay is the larger part of the loop.
queues_over_seeds() {
    local run=$1 seed
    shift
    for seed in $(seeds 3); do
        settle "$run-$seed" "$@" --set "seed=$seed"
        queue_mean "$run-$seed"
    done | mean
}
for at in dequeue enqueue; do
    mark="--set switch.ecn.mark-at=$at"
    # shellcheck disable=SC2086
    measure "2 flows 85 us marks at $at: queue" "$(queues_over_seeds "two-$at" 2 $periods $mark --until 1s \
        --set topology.star.delay=28.3us)"
    for flows in 32 64; do
        # shellcheck disable=SC2086
        settle "n$flows-$at" $flows $curve $mark --set topology.star.delay=1.3us
    done
done
for flows in 32 64; do
    expect "N=$flows: marks at enqueue make the queue swing (sd in KB)" "$(queue_sd "n$flows-enqueue")" ">" \
        "$(queue_sd "n$flows-dequeue")"
done

# joins NAME FLOWS UNTIL_MS OPTIONS...: measures the time until the last flow has 90 % of its share
# over 5 ms, in the mean of the seeds. Its first 2 ms do not count, because it starts at line rate.
# The published value is a bound for the fluid, from the greatest possible difference down to a
# tenth of the share.
joins() {
    local name=$1 flows=$2 until=$3 seed run
    run=join-${name// /-}
    shift 3
    for seed in $(seeds 5); do
        simulate "$run-$seed" fixed.yaml --until "${until}ms" --set "seed=$seed" \
            --set "topology.star.hosts=$((flows + 1))" --set "observe=[{series:
            'port[host$flows->switch0].tx_bytes', every: 1ms}]" --set "traffic=[{incast: {to: host0,
            from: 'host[1-$((flows - 1))]', bytes: 100GB, messages: 1}}, {flows: {list: [host$flows host0
            100GB 100ms]}}]" "$@" >/dev/null
        awk -F, -v flows="$flows" 'NR > 1 && $1 >= 1e8 {
            if (n++) print $1 / 1e6 - 100, ($3 - last) * 8 / 1e6 / (40 / flows) * 1106 / 1082
            last = $3 }' "$out/$run-$seed/series.csv"
    done | sort -n | awk '{ if ($1 != at) { if (n) print at, sum / n; at = $1; sum = n = 0 } sum += $2; n++ }
        END { print at, sum / n }' >"$out/$run.txt"
    measure "joins $name" "$(awk '{ share[NR] = $2 } NR >= 7 { sum = 0
        for (i = NR - 4; i <= NR; i++) sum += share[i]
        if (sum / 5 >= 0.9) { print $1; exit } }' "$out/$run.txt")"
}
joins "2 flows" 2 150
joins "8 flows" 8 200
joins "20 flows" 20 200
joins "44 flows" 44 200
joins "98 flows" 98 200
joins "8 flows R_AI 10" 8 300 --set nic.dcqcn.rpg-ai-rate=10Mbps
joins "8 flows Kmax 1000" 8 200 --set switch.ecn.kmax=1000KB
joins "20 flows Kmax 1000" 20 200 --set switch.ecn.kmax=1000KB
ours() { awk -F, -v key="$1" 'substr($0, 1, length(key) + 1) == key "," { print $NF }' "$out/ours.csv"; }
for at in "2 flows:97" "8 flows:41" "8 flows R_AI 10:142" "8 flows Kmax 1000:45.7"; do
    expect "joins ${at%:*}: within the bound (ms)" "$(ours "joins ${at%:*}")" "<=" "${at#*:}"
done
expect "joins 8 flows: slower with R_AI 10 Mb/s (ms)" "$(ours "joins 8 flows R_AI 10")" ">" \
    "$(ours "joins 8 flows")"
expect "joins 8 flows: slower with Kmax 1000 KB (ms)" "$(ours "joins 8 flows Kmax 1000")" ">" \
    "$(ours "joins 8 flows")"

series n10-4us queue_bytes | awk 'NR % 20 == 0 { print $1 / 1000, $2 / 1000 }' >"$out/steady.txt"
series n10-85us queue_bytes | awk 'NR % 20 == 0 { print $1 / 1000, $2 / 1000 }' >"$out/swinging.txt"
series n32-dequeue queue_bytes | awk 'NR % 20 == 0 { print $1 / 1000, $2 / 1000 }' >"$out/late.txt"
series n32-enqueue queue_bytes | awk 'NR % 20 == 0 { print $1 / 1000, $2 / 1000 }' >"$out/early.txt"
DRAW_SIZE=720,720 draw dcqcn-fixed.svg <<END
set multiplot layout 3,1
set title "Ten DCQCN flows, 40 Gb/s: queue with feedback in 4 us and in 85 us"
set ylabel 'queue (KB)'; set yrange [0:900]; set xlabel 'time (ms)'; set lmargin 9; set key horizontal
plot '$out/swinging.txt' using 1:2 with lines lc rgb '#ff7f0e' title '85 us', \
     '$out/steady.txt' using 1:2 with lines lw 2 lc rgb '#1f77b4' title '4 us'
set title "A third flow joins two"
set ylabel 'rate (Gb/s)'; set yrange [0:30]; set xrange [0:210]; set key top left
set arrow from 0,13.3 to 210,13.3 nohead dt 2
plot for [i=1:3] '< grep host'.i.'- $out/third.txt' using 1:3 with lines lw 2 title 'flow '.i
unset arrow
set title "Thirty-two flows, feedback in 4 us: where marks are decided"
set ylabel 'queue (KB)'; set yrange [0:2900]; set xrange [100:300]; set xlabel 'time (ms)'; set key top right
plot '$out/early.txt' using 1:2 with lines lc rgb '#ff7f0e' title 'at enqueue', \
     '$out/late.txt' using 1:2 with lines lw 2 lc rgb '#1f77b4' title 'at dequeue'
unset multiplot
END
report
