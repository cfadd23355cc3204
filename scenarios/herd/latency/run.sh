#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# latency - mean latency against throughput with a growing number of clients (figure 11, Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
for system in herd pilaf farm farm-var; do
    for clients in 1 2 4 8 16 24 36 51; do
        window=$([ "$clients" -le 2 ] && echo 1 || echo 4)
        herd "$system-$clients" "system=$system" "clients=$clients" "window=$window"
        echo "$(mops "$system-$clients") $(latency "$system-$clients" mean)"
    done >"$out/$system.txt"
    measure "$system lowest" "$(head -n 1 "$out/$system.txt" | cut -d ' ' -f 2)"
done
at() {
    awk -v rate="$2" '
        $1 >= rate && last != "" { print then + ($2 - then) * (rate - last) / ($1 - last); exit }
        { last = $1; then = $2 }' "$out/$1.txt"
}
measure "herd at 4.7 M/s" "$(at herd 4.7)"
measure "herd at 18 M/s" "$(at herd 18.0)"
measure "pilaf at 6.1 M/s" "$(at pilaf 6.1)"
measure "farm at 11.5 M/s" "$(at farm 11.5)"
measure "farm-var at 5.6 M/s" "$(at farm-var 5.6)"
draw latency.svg <<P
set xlabel 'operations (M/s)'; set ylabel 'mean latency (us)'; set yrange [0:15]
plot '$out/herd.txt' with linespoints title 'HERD', '$out/pilaf.txt' with linespoints title 'Pilaf', \
    '$out/farm.txt' with linespoints title 'FaRM', '$out/farm-var.txt' with linespoints title 'FaRM-VAR'
P
report
