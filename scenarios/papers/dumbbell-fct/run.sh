#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dumbbell-fct - short flows behind long ones at 10G: DCQCN, TIMELY, patched TIMELY (ECN or Delay)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"
loads="0.1 0.2 0.4 0.6 0.8 1.0"
until=$([ "$quick" = 1 ] && echo 300ms || echo 2s)
list=$(seeds 7)
# The way back of an ACK over three idle links takes 3 us and three times 64 bytes.
back_us=3.154

control_of() {
    case $1 in
    DCQCN) echo dcqcn ;;
    "patched TIMELY") echo timely-patched ;;
    TIMELY) echo timely ;;
    esac
}

# runs_of CONTROL LOAD RUN: runs all seeds. A load of 1 is 8 Gb/s over ten sources of 10 Gb/s each.
runs_of() {
    local control=$1 load=$2 run=$3 seed
    : >"$out/$run.fct.txt"
    for seed in $list; do
        simulate "$run-$seed" dumbbell.yaml --until "$until" --set "seed=$seed" \
            --set "nic.congestion-control=$(control_of "$control")" \
            --set "traffic[0].poisson.load=$(awk -v load="$load" 'BEGIN { print load * 0.08 }')" >/dev/null
        awk -F, -v back="$back_us" 'NR > 1 && $5 < 100000 && $8 != "" { print $8 / 1000 - back }' \
            "$out/$run-$seed/flows.csv" | sort -g >"$out/$run-$seed.fct.txt"
        cat "$out/$run-$seed.fct.txt" >>"$out/$run.fct.txt"
    done
    sort -g -o "$out/$run.fct.txt" "$out/$run.fct.txt"
}

# over_seeds RUN KEY P: measures the median over the seeds, because the published value is one draw.
# The values of all seeds go to ranges.txt.
over_seeds() {
    local run=$1 key=$2 p=$3 seed values
    values=$(for seed in $list; do quantile "$p" <"$out/$run-$seed.fct.txt"; done | sort -g)
    echo "$key:" $values >>"$out/ranges.txt"
    measure "$key" "$(quantile 0.5 <<<"$values")"
}

# distribution CONTROL RUN: measures the distribution and the queue at load 0.8
distribution() {
    local control=$1 run=$2 p
    for p in 25 50 75 90 95 99; do
        over_seeds "$run" "$control CDF at 0.8: p$p" "0.$p"
    done
    measure "$control at 0.8: below 6 ms" \
        "$(awk '$1 < 6000 { n++ } END { print 100 * n / NR }' "$out/$run.fct.txt")"
    for seed in $list; do
        series "$run-$seed" queue_bytes | awk '$2 > 0 { print $2 / 1000 }'
    done >"$out/$run.queue.txt"
    measure "$control queue at 0.8: median" "$(quantile 0.5 <"$out/$run.queue.txt")"
    measure "$control queue at 0.8: p90" "$(quantile 0.9 <"$out/$run.queue.txt")"
    measure "$control queue at 0.8: max" "$(quantile 1 <"$out/$run.queue.txt")"
}

: >"$out/ranges.txt"
for control in DCQCN "patched TIMELY" TIMELY; do
    for load in $loads; do
        run=$(control_of "$control")-$load
        runs_of "$control" "$load" "$run"
        over_seeds "$run" "$control median at $load" 0.5
        over_seeds "$run" "$control p90 at $load" 0.9
    done
    distribution "$control" "$(control_of "$control")-0.8"
done

published() { awk -F, -v key="$1" '$1 == key { print $2 }' "$here/published.csv"; }
ours() { awk -F, -v key="$1" '$1 == key { print $2 }' "$out/ours.csv"; }
for load in 0.8 1.0; do
    for what in median p90; do
        expect "$what at $load: DCQCN below patched TIMELY" "$(ours "DCQCN $what at $load")" "<" \
            "$(ours "patched TIMELY $what at $load")"
        expect "$what at $load: DCQCN below TIMELY" "$(ours "DCQCN $what at $load")" "<" \
            "$(ours "TIMELY $what at $load")"
    done
    expect "median at $load: patched TIMELY below TIMELY" "$(ours "patched TIMELY median at $load")" "<" \
        "$(ours "TIMELY median at $load")"
done

for what in median p90; do
    {
        echo "set title 'Flows below 100 KB over a 10 Gb/s dumbbell: $what (lines ours, points theirs)'"
        echo "set xlabel 'load (1 is 8 Gb/s)'; set ylabel 'completion time (us)'; set logscale y"
        echo "set key top left"
        i=0
        plots=
        for control in DCQCN "patched TIMELY" TIMELY; do
            i=$((i + 1))
            echo "\$d$i << EOD"
            for load in $loads; do
                echo "$load $(ours "$control $what at $load") $(published "$control $what at $load")"
            done
            echo EOD
            plots="$plots${plots:+, }\$d$i using 1:2 with lines lw 2 lc $i title '$control', \
                \$d$i using 1:3 with points pt 7 lc $i notitle"
        done
        echo "plot $plots"
    } | draw "dumbbell-$what.svg"
done
{
    echo "set title 'Flows below 100 KB at load 0.8 (lines ours, points theirs)'"
    echo "set xlabel 'completion time (us)'; set ylabel 'share of flows (%)'; set logscale x"
    echo "set key bottom right; set yrange [0:100]"
    i=0
    plots=
    for control in DCQCN "patched TIMELY" TIMELY; do
        i=$((i + 1))
        echo "\$t$i << EOD"
        for p in 25 50 75 90 95 99; do
            value=$(published "$control CDF at 0.8: p$p")
            [ -z "$value" ] || echo "$value $p"
        done
        value=$(published "$control at 0.8: below 6 ms")
        [ -z "$value" ] || echo "6000 $value"
        echo EOD
        file=$out/$(control_of "$control")-0.8.fct.txt
        lines=$(wc -l <"$file")
        plots="$plots${plots:+, }'$file' using 1:(100.0*(\$0+1)/$lines) with lines lw 2 lc $i \
            title '$control', \$t$i using 1:2 with points pt 7 lc $i notitle"
    done
    echo "plot $plots"
} | draw dumbbell-cdf.svg
report 80
