#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timely-fixed - fixed point and convergence of patched TIMELY; the original has none (ECN or Delay, 4)
#
# This is a script, since published figures stand beside its runs.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"

queue_sd() { # RUN: prints the queue's standard deviation over its mean
    series "$1" queue_bytes | awk '{ n++; sum += $2; squares += $2 * $2 }
        END { mean = sum / n; print sqrt(squares / n - mean * mean) / mean }'
}
# shares RUN FLOWS: prints each flow's share relative to the fair share, in ascending order
shares() {
    awk -F, -v flows="$2" '/port\[host[1-9]/ && /tx_bytes/ {
            if ($2 in first) { last[$2] = $3; } else first[$2] = $3 }
        END { for (h in last) sum += last[h] - first[h]
              for (h in last) print (last[h] - first[h]) * flows / sum }' "$out/$1/series.csv" | sort -g
}

for flows in 2 10 20 40 64; do
    run=n$flows
    simulate "$run" fixed.yaml --set "topology.star.hosts=$((flows + 1))" >/dev/null
    measure "patched N=$flows: C x RTT" \
        "$(series "$run" ".rtt" |
            awk '$2 > 0 { n++; sum += $2 } END { print sum / n * 1e-12 * 10e9 / 8 / 1000 }')"
    measure "patched N=$flows: lowest share" "$(shares "$run" "$flows" | head -n 1)"
    measure "patched N=$flows: highest share" "$(shares "$run" "$flows" | tail -n 1)"
done
expect "patched: N=64 swings more than N=20 (sd over mean)" "$(queue_sd n64)" ">" "$(queue_sd n20)"
expect "patched: N=20 is steady (sd over mean)" "$(queue_sd n20)" "<" 0.1

# A third flow joins two at line rate after 100 ms. The rows compare the rates soon after that and
# from 76.7 ms on. The published bound for two flows with the greatest difference is 76.7 ms.
for law in timely-patched timely; do
    simulate "third-$law" fixed.yaml --until 400ms --set "nic.congestion-control=$law" \
        --set "nic.$law.burst=false" --set topology.star.hosts=4 --set 'traffic=[{flows: {list: [host1 host0
        100GB 0us, host2 host0 100GB 0us, host3 host0 100GB 100ms]}}]' \
        --set 'observe=[{series: "port[host*->switch0].tx_bytes", every: 1ms}]' >/dev/null
    awk -F, '/host[123]->switch0/ { if (last[$2] != "") print $2, $1 / 1e6, ($3 - last[$2]) * 8 / 1e6
        last[$2] = $3 }' "$out/third-$law/series.csv" >"$out/third-$law.txt"
done
apart() { # LAW FROM_MS TO_MS: prints the largest rate over the smallest
    awk -v from="$2" -v to="$3" '$2 > from && $2 <= to { sum[$1] += $3 }
        END { for (h in sum) { if (sum[h] > high) high = sum[h]; if (!low || sum[h] < low) low = sum[h] }
              print high / low }' "$out/third-$1.txt"
}
expect "patched: a third flow when it comes (ratio)" "$(apart timely-patched 100 105)" ">" 1.3
expect "patched: a third flow 76.7 ms later" "$(apart timely-patched 176.7 196.7)" "<" 1.1
expect "original: at the end further apart than patched" "$(apart timely 350 400)" ">" \
    "$(awk -v ratio="$(apart timely-patched 350 400)" 'BEGIN { print ratio + 0.1 }')"

for flows in 2 10 20 40 64; do
    series "n$flows" queue_bytes | awk '$1 < 800000 && NR % 5 == 0 { print $1 / 1000, $2 / 1000 }' \
        >"$out/n$flows.queue.txt"
done
DRAW_SIZE=720,720 draw timely-fixed.svg <<END
set multiplot layout 3,1
set lmargin 9; set key outside right
set title "Patched TIMELY, 10 Gb/s: queue by number of flows"
set ylabel 'queue (KB)'; set xlabel 'time (ms)'; set yrange [0:*]
plot for [n in "64 40 20 10 2"] '$out/n'.n.'.queue.txt' using 1:2 with lines title n.' flows'
set title "A third flow joins two, patched"
set ylabel 'rate (Gb/s)'; set yrange [0:10]
plot for [i=1:3] '< grep host'.i.'- $out/third-timely-patched.txt' using 2:3 with lines lw 2 title 'flow '.i
set title "A third flow joins two, original"
plot for [i=1:3] '< grep host'.i.'- $out/third-timely.txt' using 2:3 with lines lw 2 title 'flow '.i
unset multiplot
END
report
