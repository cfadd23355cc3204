#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# vendor-short - rates and queue of a 25G testbed when a 1 MB flow passes by (HPCC, figure 9b)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"

# An adapter counts bytes without preamble, FCS and gap: 1082 of 1106.
features=$out/features.txt
: >"$features"
for seed in $(seeds 40); do
    simulate "seed$seed" short.yaml --seed "$seed" >/dev/null
    awk -F, -v scale=$(echo "1082 1106" | awk '{ print $1 / $2 / 1e9 }') '
        /host1:.*rate_bps/ && $1 > 1000 {
            rate = $3 * scale; ms = $1 / 1e6
            if (last != "" && rate < last) {
                cuts++; if (cuts == 1) { print "first cut after", (ms - 0.217) * 1000
                                         print "rate after the first cut", rate }
                if (ups == 1) cut_between = 1
                if (ups && !later++) print "first later cut", 100 * (1 - rate / last)
            }
            if (last != "" && rate > last) {
                ups++
                if (ups == 1) print "rate after the first increase", rate
                if (ups == 2 && !cut_between) {
                    print "rate after the second increase", rate
                    print "time between increases", (ms - up_ms) * 1000
                }
                up_ms = ms
            }
            if (last == "") print "plateau", rate
            last = rate
        }
        /queue_bytes/ {
            if ($1 < 600e3) { if ($3 > one) one = $3 }
            else if ($3 > two) { two = $3; two_ms = $1 / 1e6 }
        }
        END { print "first queue peak", one / 1000; print "second queue peak", two / 1000
              print "second queue peak at", two_ms }' "$out/seed$seed/series.csv" >>"$features"
    awk -F, '/,host2,/ { print "short flow lasts", $8 / 1000 }' "$out/seed$seed/flows.csv" >>"$features"
done
: >"$out/ranges.txt"
while IFS=, read -r key _; do
    grep "^$key [0-9.e+-]*$" "$features" | sed 's/.* //' >"$out/values.txt"
    [ -s "$out/values.txt" ] || continue
    measure "$key" "$(mean <"$out/values.txt")"
    echo "$key: $(quantile 0 <"$out/values.txt") to $(quantile 1 <"$out/values.txt")," \
        "$(wc -l <"$out/values.txt") values" >>"$out/ranges.txt"
done < <(sed 1d "$here/published.csv")

# The figure shows the draw that is nearest to the published one.
near=$([ -d "$out/seed2" ] && echo seed2 || echo seed1)
series "$near" "host1:" | awk '{ print $1 / 1000, $2 * 1082 / 1106 / 1e9 }' >"$out/long.txt"
series "$near" "host2:" | awk '{ print $1 / 1000, $2 * 1082 / 1106 / 1e9 }' >"$out/short.txt"
series "$near" "queue_bytes" | awk '{ print $1 / 1000, $2 / 1000 }' >"$out/queue.txt"
draw vendor-short.svg <<END
set multiplot layout 2,1 title "A 1 MB flow passes by, 25 Gb/s (HPCC, fig. 9b); ours: $near"
set xrange [0:3.1]; set lmargin 9; set key bottom right
set ylabel 'rate (Gb/s)'; set yrange [0:27]
\$theirs << EOD
0 24.45
0.287 12.4
0.293 6.5
0.309 3.6
0.331 2.2
0.630 13.3
0.934 18.9
0.956 18.5
1.124 15.0
1.423 16.9
1.727 17.9
2.03 18.4
2.33 18.7
2.61 18.8
2.92 18.9
3.1 18.9
EOD
plot '$out/long.txt' using 1:2 with lines lw 2 lc rgb '#1f77b4' title 'long flow', \
     '$out/short.txt' using 1:2 with lines lw 2 lc rgb '#ff7f0e' title 'short flow', \
     \$theirs using 1:2 with steps dt 2 lw 2 lc rgb 'black' title 'long flow, theirs'
set key top right; set ylabel 'queue (KB)'; set yrange [0:300]; set xlabel 'time (ms)'
\$peaks << EOD
0.37 196
1.08 227
EOD
plot '$out/queue.txt' using 1:2 with lines lw 2 lc rgb '#1f77b4' title 'queue', \
     \$peaks using 1:2 with points pt 6 ps 1.5 lw 2 lc rgb 'black' title 'peaks, theirs'
unset multiplot
END
report
