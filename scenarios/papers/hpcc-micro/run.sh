#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hpcc-micro - HPCC on a 25G testbed: a short flow, an incast, mice among elephants (HPCC, figure 9)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"

# An adapter counts bytes without preamble, FCS and gap: with telemetry 1124 of 1148.
simulate short short.yaml >/dev/null
awk -F, '/host2->switch0.*tx_bytes/ { if (last != "" && $3 == last && $1 > 3e5 && !end) end = $1; last = $3 }
    END { print end / 1e6 }' "$out/short/series.csv" >"$out/short.end.txt"
end=$(cat "$out/short.end.txt")
# rate FROM_MS TO_MS: prints the rate of the long flow
rate() {
    awk -F, -v from="$1" -v to="$2" '/host1->switch0.*tx_bytes/ { ms = $1 / 1e6
            if (ms <= from) { first = $3; then = ms } if (ms <= to) { last = $3; now = ms } }
        END { print (last - first) * 8 / (now - then) / 1e6 }' "$out/short/series.csv"
}
measure "short flow: long flow before" "$(rate 0.1 0.21)"
measure "short flow: long flow afterwards" "$(rate "$end" "$(awk -v at="$end" 'BEGIN { print at + 0.1 }')")"
measure "short flow: queue peak" \
    "$(series short queue_bytes | awk '$2 > peak { peak = $2 } END { print peak / 1000 }')"

for count in 4 7; do
    simulate "incast$count" incast.yaml --set "traffic[1].incast.from=sender[1-$count]" >/dev/null
    series "incast$count" "tor0->receiver" | awk -v count="$count" '$1 > 1370 {
            if ($2 > peak) { peak = $2; at = $1 }
            if (!gone && at && $1 > at && $2 < 8000) gone = $1 }
        END { print "peak", peak / 1000; print "gone", gone - at }' >"$out/incast$count.txt"
done
peak() { sed -n 's/^peak //p' "$out/incast$1.txt"; }
measure "7 to 1: queue peak with 4 at the port" "$(peak 4)"
measure "7 to 1: queue peak with all at the port" "$(peak 7)"
measure "7 to 1: gone after the peak with 4 at the port" "$(sed -n 's/^gone //p' "$out/incast4.txt")"
expect "7 to 1: peak with 4 at the port below theirs (KB)" "$(peak 4)" "<" 137
expect "7 to 1: peak with all at the port above theirs (KB)" "$(peak 7)" ">" 137

hpcc="--set nic.congestion-control=hpcc --set nic.base-rtt=9us --set network.int-reserved-hops=5
    --set nic.hpcc.law=window --set nic.hpcc.max-stage=0 --set nic.hpcc.window-ai=14"
for scheme in HPCC DCQCN; do
    # shellcheck disable=SC2046,SC2086 # options
    simulate "mice-$scheme" mice.yaml $([ $scheme = HPCC ] && echo $hpcc) >/dev/null
    awk -F, '$12 == "poisson" && $8 != "" { print $8 / 1000 }' "$out/mice-$scheme/flows.csv" |
        sort -g >"$out/mice-$scheme.txt"
    series "mice-$scheme" queue_bytes | awk '{ print $2 / 1000 }' | sort -g >"$out/mice-$scheme.queue.txt"
    for p in 50 95 99; do
        measure "mice under $scheme: latency p$p" "$(quantile "0.$p" <"$out/mice-$scheme.txt")"
        measure "mice under $scheme: queue p$p" "$(quantile "0.$p" <"$out/mice-$scheme.queue.txt")"
    done
done

series short queue_bytes | awk '{ print $1 / 1000, $2 / 1000 }' >"$out/short.queue.txt"
awk -F, '/host[12]->switch0.*tx_bytes/ { if (last[$2] != "") print $2, $1 / 1e6, ($3 - last[$2]) * 8 / 1e4
    last[$2] = $3 }' "$out/short/series.csv" >"$out/short.rate.txt"
for count in 4 7; do
    series "incast$count" "tor0->receiver" |
        awk '{ print $1 / 1000, $2 / 1000 }' >"$out/incast$count.queue.txt"
done
cdf() { awk -v n="$(wc -l <"$1")" '{ print $1, 100 * NR / n }' "$1"; }
cdf "$out/mice-HPCC.txt" >"$out/mice-HPCC.cdf.txt"
cdf "$out/mice-DCQCN.txt" >"$out/mice-DCQCN.cdf.txt"
DRAW_SIZE=720,900 draw hpcc-micro.svg <<END
set multiplot layout 4,1 title "HPCC at 25 Gb/s (HPCC, fig. 9a, c, e); points: theirs"
set lmargin 9; set xrange [0.1:1.4]; set yrange [0:27]; set ylabel 'rate (Gb/s)'; set key bottom right
plot '< grep host1 $out/short.rate.txt' using 2:3 with lines lw 2 title 'long flow', \
     '< grep host2 $out/short.rate.txt' using 2:3 with lines lw 2 title 'short flow'
set yrange [0:*]; set ylabel 'queue (KB)'; set xlabel 'time (ms)'; set key top right
plot '$out/short.queue.txt' using 1:2 with lines lw 2 title 'queue, short flow passing'
set xrange [1.3:1.6]
\$peak << EOD
1.38 137
EOD
plot '$out/incast7.queue.txt' using 1:2 with lines lw 2 title 'queue, all seven at the port', \
     '$out/incast4.queue.txt' using 1:2 with lines lw 2 title 'four of them', \
     \$peak using 1:2 with points pt 7 lc rgb 'black' notitle
\$hpcc << EOD
6.5 50
7.5 95
8.5 99
EOD
\$dcqcn << EOD
41 50
48 95
52 99
EOD
set xrange [0:60]; set xlabel 'latency of 1 KB (us)'; set ylabel 'share (%)'; set yrange [0:105]
set key bottom right
plot '$out/mice-HPCC.cdf.txt' using 1:2 with lines lw 2 lc 1 title 'HPCC', \
     '$out/mice-DCQCN.cdf.txt' using 1:2 with lines lw 2 lc 2 title 'DCQCN', \
     \$hpcc using 1:2 with points pt 7 lc 1 notitle, \$dcqcn using 1:2 with points pt 7 lc 2 notitle
unset multiplot
END
report
