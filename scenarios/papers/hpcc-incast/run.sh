#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# hpcc-incast - queue and rates of a 16-to-1 incast by per-ACK, per-RTT, HPCC; W_AI (HPCC, figure 13)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"

for variant in per-ACK:per-ack per-RTT:per-rtt HPCC:reference; do
    name=${variant%:*}
    simulate "$name" incast16.yaml --set "nic.hpcc.reaction=${variant#*:}" >/dev/null
    series "$name" queue_bytes | awk '{ print $1, $2 / 1000 }' >"$out/$name.queue.txt"
    series "$name" "[switch0->host0].tx_bytes" |
        awk 'NR > 1 { print $1, ($2 - last) * 8 / ($1 - then) / 1000 } { last = $2; then = $1 }' \
            >"$out/$name.rate.txt"
    # The queue counts as gone when it first falls below 20 KB after 10 us.
    awk -v name="$name" '$2 > peak { peak = $2; at = $1 } $1 > 10 && $2 < 20 && !gone { gone = $1 }
        END { print name ": queue peak," peak; print name ": peak at," at
              print name ": queue below 20 KB after," gone }' "$out/$name.queue.txt" >>"$out/ours.csv"
    awk -v name="$name" '$1 > 20 && $1 < 200 && (low == "" || $2 < low) { low = $2 }
        $1 > 200 && $1 <= 10000 { sum += $2; n++ }
        END { print name ": lowest throughput," low; print name ": throughput afterwards," sum / n }' \
        "$out/$name.rate.txt" >>"$out/ours.csv"
done

for ai in 5 25 150 300; do
    for seed in $(seeds 10); do
        run=w$ai-$seed
        simulate "$run" incast16.yaml --set "nic.hpcc.window-ai=$ai" --seed "$seed" >/dev/null
        awk -F, '/host[1-9][0-9]*->switch0.*tx_bytes/ && $1 == 1e7 {
                rate = $3 * 8 / 1e7; sum += rate; squares += rate * rate; n++
                if (rate > high) high = rate; if (low == "" || rate < low) low = rate }
            END { print sum, sum * sum / n / squares, low, high }' "$out/$run/series.csv"
    done >"$out/w$ai.rates.txt"
    measure "W_AI $ai B: sum of rates" "$(cut -d' ' -f1 "$out/w$ai.rates.txt" | mean)"
    measure "W_AI $ai B: Jain index" "$(cut -d' ' -f2 "$out/w$ai.rates.txt" | mean)"
    measure "W_AI $ai B: lowest rate" "$(cut -d' ' -f3 "$out/w$ai.rates.txt" | mean)"
    measure "W_AI $ai B: highest rate" "$(cut -d' ' -f4 "$out/w$ai.rates.txt" | mean)"
    for seed in $(seeds 10); do
        series "w$ai-$seed" queue_bytes | awk '$1 > 300 { print $2 / 1000 }'
    done | sort -g >"$out/w$ai.queue.txt"
    awk -v n="$(wc -l <"$out/w$ai.queue.txt")" 'NR % 20 == 0 { print $1, NR / n }' "$out/w$ai.queue.txt" \
        >"$out/w$ai.cdf.txt"
    measure "W_AI $ai B: queue median" "$(quantile 0.5 <"$out/w$ai.queue.txt")"
    measure "W_AI $ai B: queue p95" "$(quantile 0.95 <"$out/w$ai.queue.txt")"
    measure "W_AI $ai B: queue p99" "$(quantile 0.99 <"$out/w$ai.queue.txt")"
done

draw hpcc-incast.svg <<END
set multiplot layout 2,1 title "16-to-1 incast, 100 Gb/s (HPCC, fig. 13a, b); circles: theirs"
set xrange [0:300]; set lmargin 9
set ylabel 'queue (KB)'; set yrange [0:950]
\$peak << EOD
6 853
EOD
\$gone << EOD
74 20
95.5 20
144 20
EOD
plot '$out/per-ACK.queue.txt' using 1:2 with lines lw 2 title 'per-ACK', \
     '$out/per-RTT.queue.txt' using 1:2 with lines lw 2 title 'per-RTT', \
     '$out/HPCC.queue.txt' using 1:2 with lines lw 2 title 'HPCC', \
     \$peak using 1:2 with points pt 6 ps 1.3 lw 2 lc rgb 'black' notitle, \
     \$gone using 1:2 with points pt 6 ps 1.3 lw 2 lc rgb 'black' notitle
set ylabel 'throughput (Gb/s)'; set yrange [0:110]; set xlabel 'time (us)'; unset key
plot '$out/per-ACK.rate.txt' using 1:2 with lines lw 2 title 'per-ACK', \
     '$out/per-RTT.rate.txt' using 1:2 with lines lw 2 title 'per-RTT', \
     '$out/HPCC.rate.txt' using 1:2 with lines lw 2 title 'HPCC'
unset multiplot
END
draw hpcc-ai.svg <<END
set title '16-to-1 incast under HPCC: queue by W\\_AI (HPCC, fig. 13d); crosses: their median, p95, p99'
set xlabel 'queue (KB)'; set ylabel 'share of samples'; set xrange [0:25]; set yrange [0:1.02]
set key bottom right
\$q << EOD
5 1.1 3.3 5.5
25 1.1 3.3 5.5
150 1.1 4.4 6.6
300 4.4 13.1 14.2
EOD
cdf(n) = '$out/w'.n.'.cdf.txt'
plot for [i=1:4] cdf(word('5 25 150 300', i)) using 1:2 with lines lw 2 lc i \
         title word('5 25 150 300', i).' B', \
     for [i=1:4] \$q every ::i-1::i-1 using 2:(0.5) with points pt 2 lw 2 lc i notitle, \
     for [i=1:4] \$q every ::i-1::i-1 using 3:(0.95) with points pt 2 lw 2 lc i notitle, \
     for [i=1:4] \$q every ::i-1::i-1 using 4:(0.99) with points pt 2 lw 2 lc i notitle
END
report
