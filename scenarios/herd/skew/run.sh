#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# skew - the rates of all and of each worker with keys drawn by Zipf's law, one worker per key (Apt)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../herd_lib.sh"
herd_begin "$1"
# workers RUN: prints the rate of each worker, one per line
workers() {
    sed -n '/"workers": \[/,/\]/p' "$out/$1/summary.json" | sed -n 's/^ *"mops": \([0-9.e+-]*\),*$/\1/p'
}
for skew in 0 0.5 0.8 0.9 0.99 1.1; do
    herd "skew-$skew" "skew=$skew" worker_by_key=on
    workers "skew-$skew" | sort -g >"$out/skew-$skew.txt"
    echo "$skew $(mops "skew-$skew") $(head -n 1 "$out/skew-$skew.txt") $(tail -n 1 "$out/skew-$skew.txt")"
done >"$out/skew.txt"
measure "uniform: rate" "$(mops skew-0)"
expect "skew makes the workers' rates differ" "$(awk '$1 == 0.99 { print $4 / $3 }' "$out/skew.txt")" ">" \
    "$(awk '$1 == 0 { print $4 / $3 }' "$out/skew.txt")"
expect "skew costs less than a fifth of the rate" "$(mops skew-0.99)" ">" \
    "$(awk -v a="$(mops skew-0)" 'BEGIN { print 0.8 * a }')"
draw skew.svg <<P
set xlabel 'exponent of Zipf'; set ylabel 'operations (M/s)'; set yrange [0:30]
plot '$out/skew.txt' using 1:2 with linespoints title 'all', \
    '' using 1:(6*\$4) with linespoints title '6 x the busiest worker', \
    '' using 1:(6*\$3) with linespoints title '6 x the idlest'
P
awk '{ printf "   Zipf %-4s %6.2f M/s, workers %.2f to %.2f\n", $1, $2, $3, $4 }' "$out/skew.txt"
report
