#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# testbed - slowdowns and queues of web search flows on a 25G testbed with DCQCN and HPCC (HPCC, figure 10)
#
# This is a script, since published figures stand beside its runs.
# HORIZON_MS is the time in which flows start (300; 5 with --quick).
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"
columns="0 20 50 60 80 95"
horizon_ms=${HORIZON_MS:-$([ "$quick" = 1 ] && echo 5 || echo 300)}
hpcc="--set nic.congestion-control=hpcc --set nic.base-rtt=9us --set network.int-reserved-hops=5
    --set nic.hpcc.law=window --set nic.hpcc.max-stage=0 --set nic.hpcc.window-ai=14"

for load in 30 50; do
    # A ToR has sixteen ports of 25G. 16 of 31 flows take its link of 100G; the load is that of this
    # link.
    share=$(awk -v load="$load" 'BEGIN { print load / 100 * 100 / (16 * 25 * 16 / 31) }')
    for scheme in DCQCN HPCC; do
        run=$scheme-$load
        # shellcheck disable=SC2046,SC2086 # options
        simulate "$run" testbed.yaml --until "$((horizon_ms + 100))ms" \
            --set "traffic[0].poisson.stop=${horizon_ms}ms" --set "traffic[1].poisson.stop=${horizon_ms}ms" \
            --set "traffic[0].poisson.load=$share" --set "traffic[1].poisson.load=$share" \
            $([ $scheme = HPCC ] && echo $hpcc)
        awk -F, 'NR > 1 && $8 != "" { print $5, $10 }' "$out/$run/flows.csv" |
            sort -n -s -k1,1 >"$out/$run.txt"
        # Twenty bins have equally many flows; each gives the slowdown at 50, 95 and 99 %.
        awk -v n="$(wc -l <"$out/$run.txt")" '{ print int((NR - 1) * 20 / n), $1, $2 }' "$out/$run.txt" |
            sort -k1,1n -k3,3g | awk '
                function at(p) { return value[int(count * p) + 1] }
                function out() { if (count) print bin * 5, at(0.5), at(0.95), at(0.99) }
                $1 != bin { out(); bin = $1; count = 0 }
                { value[++count] = $3 }
                END { out() }' >"$out/$run.bins.txt"
        for column in $columns; do
            read -r p50 p95 p99 < <(awk -v column="$column" '$1 == column { print $2, $3, $4 }' \
                "$out/$run.bins.txt")
            measure "$scheme $load% p50 from $column%" "$p50"
            measure "$scheme $load% p95 from $column%" "$p95"
            measure "$scheme $load% p99 from $column%" "$p99"
        done
        series "$run" queue_bytes |
            awk -v end="$horizon_ms" '$1 <= end * 1000 { print $2 / 1000 }' | sort -g >"$out/$run.queue.txt"
        for p in 90 95 99; do
            measure "$scheme $load% queue p$p" "$(quantile "0.$p" <"$out/$run.queue.txt")"
        done
        measure "$scheme $load% queue max" "$(tail -n 1 "$out/$run.queue.txt")"
        measure "$scheme $load% queue empty" \
            "$(awk '$1 == 0 { n++ } END { print 100 * n / NR }' "$out/$run.queue.txt")"
    done
done

ours() { awk -F, -v key="$1" '$1 == key { print $2 }' "$out/ours.csv"; }
published() { awk -F, -v key="$1" '$1 == key { print $2 }' "$here/published.csv"; }
for load in 30 50; do
    for column in $columns; do
        a=$(published "DCQCN $load% p99 from $column%") b=$(published "HPCC $load% p99 from $column%")
        op=$(awk -v a="$a" -v b="$b" 'BEGIN { print (a > b ? ">" : "<") }')
        expect "$load% p99 from $column%: DCQCN and HPCC as theirs" \
            "$(ours "DCQCN $load% p99 from $column%")" "$op" "$(ours "HPCC $load% p99 from $column%")"
    done
done
expect "50% queue p99: HPCC a tenth of DCQCN (KB)" "$(ours "HPCC 50% queue p99")" "<" \
    "$(awk -v q="$(ours "DCQCN 50% queue p99")" 'BEGIN { print q / 10 }')"

for load in 30 50; do
    {
        echo "set title 'Web search at $load %, 25 Gb/s testbed: p99 slowdown (lines ours, points theirs)'"
        echo "set xlabel 'flow size (percentile of flows)'; set ylabel 'FCT slowdown, p99'; set logscale y"
        i=0
        plots=
        for scheme in DCQCN HPCC; do
            i=$((i + 1))
            echo "\$d$i << EOD"
            for column in $columns; do
                echo "$column $(published "$scheme $load% p99 from $column%")"
            done
            echo EOD
            plots="$plots${plots:+, }'$out/$scheme-$load.bins.txt' using 1:4 with lines lw 2 lc $i \
                title '$scheme', \$d$i using 1:2 with points pt 7 lc $i notitle"
        done
        echo "plot $plots"
    } | draw "testbed-$load.svg"
done
report 75
