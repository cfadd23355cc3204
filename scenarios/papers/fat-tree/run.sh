#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fat-tree - slowdown by flow size on 320 hosts, six congestion controls (HPCC, figure 11)
#
# This is a script, since published figures stand beside its runs.
# SCHEMES and LOADS choose some of the runs, for example SCHEMES="HPCC DCTCP" LOADS=50%. HORIZON_MS
# is the time in which flows start (20; 2 with --quick), INCAST_EVERY the time between two incasts
# (375us). --resume keeps complete runs. A run takes 3e8 to 5e8 packet-hops. There are two seeds
# with incasts and one without, or --seeds N. Numbers are means over the seeds; ranges.txt has the
# lowest and highest value of each. matrix.md has the tables of docs/models/papers.md.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"
schemes=${SCHEMES:-"DCQCN TIMELY DCQCN+win TIMELY+win DCTCP HPCC"}
loads=${LOADS:-"50% 30%+incast"}
columns="0 30 60 70 80 90 95"
horizon_ms=${HORIZON_MS:-$([ "$quick" = 1 ] && echo 2 || echo 20)}

# The options of a scheme are those of the authors' run.py; the scenario itself is DCQCN. ACKs are
# sent and queued before data where run.py asks for that: without windows, and with TIMELY+win.
# Windows hold the round trip that the authors' simulator computes, in proportion to the rate.
# HPCC's 50 Mbps are the paper's W_AI of 80 bytes in 13 us.
prior="--set nic.ack-priority=6 --set nic.scan.ack-pause-class=0"
shared="--set nic.scan.ack-pause-class=3"
window="--set nic.bdp-window=scaled --set nic.base-rtt=12240ns"
timely="--set nic.congestion-control=timely --set nic.timely.update=rtt --set nic.timely.burst=false
    --set nic.timely.start=line --set nic.timely.exclude-serialisation=false --set nic.bare.header=56
    --set nic.timely.ai-rate=100Mbps --set nic.timely.hai-rate=500Mbps --set nic.timely.min-rate=1Gbps"
dctcp="--set nic.congestion-control=dctcp --set nic.dctcp.min-rate=1Gbps
    --set switch.ecn.kmin=300KB --set switch.ecn.kmax=300KB --set switch.ecn.pmax=1"
hpcc="--set nic.congestion-control=hpcc --set nic.hpcc.law=rate --set nic.hpcc.rate-ai=50Mbps
    --set nic.hpcc.min-rate=1Gbps --set nic.base-rtt=12240ns --set nic.scan.rate-change=last-packet
    --set nic.bare.ack=46 --set network.int-reserved-hops=5 --set network.int-multiplier=4"
options_of() {
    case $1 in
    DCQCN) echo "$prior" ;;
    DCQCN+win) echo "$shared" "$window" ;;
    TIMELY) echo $timely "$prior" ;;
    TIMELY+win) echo $timely "$prior" "$window" ;;
    DCTCP) echo $dctcp "$shared" "$window" ;;
    HPCC) echo $hpcc "$shared" ;;
    *)
        echo "no scheme '$1'" >&2
        return 1
        ;;
    esac
}

# run_of LOAD SCHEME SEED: prints the name of the run's folder
run_of() {
    echo "$2-$1$([ "$3" = 1 ] || echo "-seed$3")" | tr -d '%'
}

# bins FLOWS: prints a line per twentieth of the flows by size: percent, largest size, p95 of
# slowdown
bins() {
    sort -n -s -k1,1 "$1" | awk -v n="$(wc -l <"$1")" '{ print int((NR - 1) * 20 / n), $1, $2 }' |
        sort -k1,1n -k3,3g | awk '
            function out() { if (count) print bin * 5, largest, value[int(count * 0.95) + 1] }
            $1 != bin { out(); bin = $1; count = largest = 0 }
            { value[++count] = $3; if ($2 > largest) largest = $2 }
            END { out() }'
}

# analyse LOAD SCHEME SEED: writes the numbers of a result folder to RUN.numbers.csv as "key,value"
analyse() {
    local key="$1 $2" run
    run=$(run_of "$1" "$2" "$3")
    awk -f "$here/slowdown.awk" "$out/$run/flows.csv" >"$out/$run.flows.txt"
    bins "$out/$run.flows.txt" >"$out/$run.bins.txt"
    {
        for column in $columns; do
            awk -v column="$column" -v key="$key" \
                '$1 == column { printf "%s p95 from %s%%,%.4g\n", key, column, $3 }' "$out/$run.bins.txt"
        done
        echo "$key p95 latency,$(awk '$1 <= 3000 { print $3 }' "$out/$run.flows.txt" | quantile 0.95)"
        # Paused time: both directions of a link added, averaged over links, relative to the time in
        # which flows start.
        awk -F, -v ms="$horizon_ms" -v key="$key" '
            NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^paused_prio/) column[i] }
            NR > 1 { ports++; for (i in column) sum += $i }
            END { printf "%s paused,%.2f\n", key, 100 * sum / (ports / 2 * ms * 1e6) }' "$out/$run/ports.csv"
    } >"$out/$run.numbers.csv"
}

echo "key,mean,lowest,highest" >"$out/ranges.txt"
for load in $loads; do
    for scheme in $schemes; do
        options_of "$scheme" >/dev/null || exit 2
        read -r -a options <<<"$(options_of "$scheme" | tr '\n' ' ')"
        options+=(--until "$((horizon_ms + 20))ms" --set "traffic[0].poisson.stop=${horizon_ms}ms")
        default_seeds=1
        if [ "$load" != 50% ]; then
            default_seeds=2 # chance decides which incasts meet
            options+=(--set "traffic[0].poisson.load=0.3" --set "traffic[1].incast.stop=${horizon_ms}ms"
                --set "traffic[1].incast.every=${INCAST_EVERY:-375us}")
        fi
        numbers=()
        for seed in $(seeds "$default_seeds"); do
            simulate "$(run_of "$load" "$scheme" "$seed")" fat-tree.yaml --seed "$seed" "${options[@]}"
            analyse "$load" "$scheme" "$seed"
            numbers+=("$out/$(run_of "$load" "$scheme" "$seed").numbers.csv")
        done
        # Means over the seeds, in the order of the keys.
        cat "${numbers[@]}" | awk -F, -v ranges="$out/ranges.txt" '
            !($1 in count) { key[++n] = $1; low[$1] = high[$1] = $2 }
            { count[$1]++; sum[$1] += $2 }
            $2 < low[$1] { low[$1] = $2 }
            $2 > high[$1] { high[$1] = $2 }
            END { for (i = 1; i <= n; i++) { k = key[i]
                      printf "%s,%.4g\n", k, sum[k] / count[k]
                      printf "%s,%.4g,%s,%s\n", k, sum[k] / count[k], low[k], high[k] >>ranges } }' \
            >>"$out/ours.csv"
    done
done

# published KEY, ours KEY
published() { awk -F, -v key="$1" '$1 == key { print $2 }' "$here/published.csv"; }
ours() { awk -F, -v key="$1" '$1 == key { print $2 }' "$out/ours.csv"; }

# In each column, two schemes whose published values differ by more than 1 % must have the same
# order here.
for load in $loads; do
    for column in $columns; do
        wrong=$(for scheme in $schemes; do
            key="$load $scheme p95 from $column%"
            [ -z "$(published "$key")" ] || echo "$scheme $(published "$key") $(ours "$key")"
        done | awk '{ name[NR] = $1; theirs[NR] = $2; ours[NR] = $3 }
            END { for (i = 1; i <= NR; i++) for (j = 1; j <= NR; j++)
                      if (theirs[i] * 1.01 < theirs[j] && ours[i] >= ours[j])
                          printf " %s>%s", name[i], name[j] }')
        expect "$load order of schemes from $column%:${wrong:- as theirs}" "$(echo "$wrong" | wc -w)" "<=" 0
    done
done

colors=("#d62728" "#ff7f0e" "#1f77b4" "#17becf" "#2ca02c" "#9467bd")
for load in $loads; do
    name=$(echo "fat-tree-$load" | tr -d '%')
    {
        echo "set title 'FB\\_Hadoop on 320 hosts, $load: p95 slowdown (lines ours, points HPCC fig. 11)'"
        echo "set xlabel 'flow size (percentile of flows)'; set ylabel 'FCT slowdown, p95'"
        echo "set logscale y; set xrange [-2:102]; set key outside right top; set size ratio 0.7"
        i=0
        plots=
        for scheme in $schemes; do
            color="rgb '${colors[$((i % 6))]}'"
            i=$((i + 1))
            echo "\$theirs$i << EOD"
            for column in $columns; do
                echo "$column $(published "$load $scheme p95 from $column%")"
            done
            echo EOD
            plots="$plots${plots:+, }'$out/$(run_of "$load" "$scheme" 1).bins.txt' using 1:3 with lines lw 2 \
                lc $color title '$scheme', \$theirs$i using 1:2 with points pt 7 ps 0.7 lc $color notitle"
        done
        echo "plot $plots"
    } | draw "$name.svg"
done
# asked.csv has the published rows of the runs that were made.
awk -F, -v schemes="$schemes" -v loads="$loads" '
    BEGIN { n = split(schemes, scheme, " "); m = split(loads, load, " ")
            for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) 
                made[load[j] " " scheme[i]] = 1 }
    NR == 1 || /^#/ { print; next }
    { split($1, word, " "); if ((word[1] " " word[2]) in made) print }' \
    "$here/published.csv" >"$out/asked.csv"
awk -v loads="$loads" -v schemes="$schemes" -v columns="$columns" -f "$here/matrix.awk" \
    "$out/ours.csv" "$here/published.csv" >"$out/matrix.md"
report 80 "$out/asked.csv"
