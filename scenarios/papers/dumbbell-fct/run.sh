#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dumbbell-fct - short flows behind long ones at 10G: DCQCN, TIMELY, patched TIMELY (ECN or Delay)
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"
loads="0.1 0.2 0.4 0.6 0.8 1.0"
until=$([ "$quick" = 1 ] && echo 1s || echo 4s)

# A load factor of 1 is 8 Gb/s over ten sources of 10 Gb/s each.
control_of() {
    case $1 in
    DCQCN) echo dcqcn ;;
    "patched TIMELY") echo timely-patched ;;
    TIMELY) echo timely ;;
    esac
}

for control in DCQCN "patched TIMELY" TIMELY; do
    for load in $loads; do
        run=$(control_of "$control")-$load
        # The patched one paces segments of 16 KB; the original's are 64 KB.
        simulate "$run" dumbbell.yaml --set nic.timely.segment=64KB --until "$until" \
            --set "nic.congestion-control=$(control_of "$control")" \
            --set "traffic[0].poisson.load=$(awk -v load="$load" 'BEGIN { print load * 0.08 }')" >/dev/null
        awk -F, '$5 < 100000 && $8 != "" && NR > 1 { print $8 / 1000 }' "$out/$run/flows.csv" |
            sort -g >"$out/$run.fct.txt"
        measure "$control median at $load" "$(quantile 0.5 <"$out/$run.fct.txt")"
        measure "$control p90 at $load" "$(quantile 0.9 <"$out/$run.fct.txt")"
    done
done

published() { awk -F, -v key="$1" '$1 == key { print $2 }' "$here/published.csv"; }
ours() { awk -F, -v key="$1" '$1 == key { print $2 }' "$out/ours.csv"; }
for load in 0.8 1.0; do
    for what in median p90; do
        expect "$what at $load: DCQCN below patched TIMELY" "$(ours "DCQCN $what at $load")" "<" \
            "$(ours "patched TIMELY $what at $load")"
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
report 60
