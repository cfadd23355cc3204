#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# in-network - how much do bulk flows slow HERD on a leaf-spine, with DCQCN and PFC on and off?
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
# run NAME CC PFC BULK_PRIORITY LOAD: runs fabric.yaml
run() {
    simulate "$1" fabric.yaml --set "cc=$2" --set "pfc=$3" --set "traffic[1].poisson.load=$5" \
        --set "traffic[1].poisson.priority=$4" >/dev/null
}
loads="0.001 0.1 0.2 0.3"
[ "$quick" = 0 ] || loads="0.001 0.3"
for cc in none dcqcn; do
    for pfc in on off; do
        for classes in shared apart; do
            case "$classes" in shared) bulk=3 ;; *) bulk=4 ;; esac
            case $pfc in on) which="[3,4]" ;; *) which="[]" ;; esac
            for load in $loads; do
                name=$cc-$pfc-$classes-$load
                run "$name" $cc "$which" $bulk "$load"
                echo "$load $(latency "$name" p50) $(latency "$name" p99) $(latency "$name" p999)" \
                    "$(field "$name" retried) $(field "$name" lost) $(field "$name" mops)"
            done >"$out/$cc-$pfc-$classes.txt"
            measure "$cc, PFC $pfc, $classes: GET p99 alone" \
                "$(awk 'NR == 1 { print $3 }' "$out/$cc-$pfc-$classes.txt")"
            measure "$cc, PFC $pfc, $classes: GET p99 at load 0.3" \
                "$(awk '$1 == 0.3 { print $3 }' "$out/$cc-$pfc-$classes.txt")"
            measure "$cc, PFC $pfc, $classes: retried at load 0.3" \
                "$(awk '$1 == 0.3 { print $5 }' "$out/$cc-$pfc-$classes.txt")"
        done
    done
done
p99() { awk '$1 == 0.3 { print $3 }' "$out/$1.txt"; }
retried() { awk '$1 == 0.3 { print $5 }' "$out/$1.txt"; }
expect "bulk flows lengthen the tail" "$(p99 none-on-shared)" ">" \
    "$(awk 'NR == 1 { print $3 }' "$out/none-on-shared.txt")"
expect "DCQCN shortens the tail" "$(p99 dcqcn-on-shared)" "<" "$(p99 none-on-shared)"
expect "a class of its own shortens the tail" "$(p99 none-on-apart)" "<" "$(p99 none-on-shared)"
expect "without PFC HERD repeats requests" "$(retried none-off-shared)" ">=" \
    "$(retried none-on-shared)"
draw in-network.svg <<P
set xlabel 'load of the bulk flows'; set ylabel 'GET latency, p99 (us)'; set logscale y; set key left top
plot for [f in "none-on-shared none-on-apart none-off-shared none-off-apart dcqcn-on-shared \
    dcqcn-on-apart dcqcn-off-shared dcqcn-off-apart"] '$out/'.f.'.txt' using 1:3 with linespoints title f
P
report
