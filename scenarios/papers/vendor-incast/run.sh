#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# vendor-incast - rates of a 25G testbed when seven flows hit a long one (HPCC, figure 9d)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"

# An adapter counts bytes without preamble, FCS and gap: 1082 of 1106.
features=$out/features.txt
: >"$features"
for seed in $(seeds 11); do
    simulate "seed$seed" incast.yaml --seed "$seed" >/dev/null
    awk -F, '/long:.*rate_bps/ && $1 > 1000 {
            rate = $3 * 1082 / 1106 / 1e9; ms = $1 / 1e6
            if (last == "") print "plateau", rate
            if (last != "" && rate < last && !ups) {
                cuts++; print "after cut " cuts, rate
                if (cuts == 1) { first = ms; print "first cut at", ms }
                if (cuts == 9) print "nine cuts within", (ms - first) * 1000
            }
            if (last != "" && rate > last) {
                ups++; print "after increase " ups, rate
                if (ups == 1) up = ms
                if (ups == 6) print "time between increases", (ms - up) * 1000 / 5
            }
            last = rate
        }
        /tor0->receiver/ && $1 > 1.327e6 {
            if ($3 > peak) peak = $3
            if ($3 > 2000) empty = $1 / 1e6
        }
        END { print "queue peak", peak / 1000; print "queue empty at", empty }' \
        "$out/seed$seed/series.csv" >>"$features"
done
while IFS=, read -r key _; do
    measure "$key" "$(grep "^$key [0-9.e+-]*$" "$features" | sed 's/.* //' | quantile 0.5)"
done < <(sed 1d "$here/published.csv" | grep -v '^#')

series seed1 "long:" | awk '{ print $1 / 1000, $2 * 1082 / 1106 / 1e9 }' >"$out/long.txt"
series seed1 "tor0->receiver" | awk '{ print $1 / 1000, $2 / 1000 }' >"$out/queue.txt"
draw vendor-incast.svg <<END
set multiplot layout 2,1 title "Seven flows hit a long one, 25 Gb/s (HPCC, fig. 9d)"
set xrange [1.2:3.8]; set lmargin 9; set key bottom right
set ylabel 'rate (Gb/s)'; set yrange [0:27]
\$theirs << EOD
0 24.45
1.382 12.42
1.386 6.41
1.390 3.38
1.394 1.81
1.398 0.97
1.402 0.54
1.406 0.30
1.410 0.16
1.414 0.09
1.828 12.2
2.123 18.3
2.416 21.4
2.719 22.9
3.023 23.7
3.320 24.1
3.624 24.3
3.8 24.3
EOD
plot '$out/long.txt' using 1:2 with lines lw 2 lc rgb '#1f77b4' title 'long flow', \
     \$theirs using 1:2 with steps dt 2 lw 2 lc rgb 'black' title 'long flow, theirs'
set key top right; set ylabel 'queue (KB)'; set yrange [0:*]; set xlabel 'time (ms)'
\$peak << EOD
1.548 562
EOD
plot '$out/queue.txt' using 1:2 with lines lw 2 lc rgb '#1f77b4' title 'queue', \
     \$peak using 1:2 with points pt 6 ps 1.5 lw 2 lc rgb 'black' title 'peak, theirs'
unset multiplot
END
report
