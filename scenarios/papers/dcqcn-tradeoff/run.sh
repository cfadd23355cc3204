#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dcqcn-tradeoff - short flows against long ones by DCQCN's timers and thresholds (HPCC, figures 2, 3)
#
# This is a script, since published figures stand beside its runs.
# HORIZON_MS is the time in which flows start (40; 4 with --quick); half of it with incasts.
set -eu
. "$(dirname "$0")/../papers_lib.sh"
begin "$1"
columns="10 30 50 60 70 80 90"
horizon_ms=${HORIZON_MS:-$([ "$quick" = 1 ] && echo 4 || echo 40)}

# pod KEY RUN OPTIONS...: makes a run unless it exists, and measures its columns
pod() {
    local key=$1 run=$2
    shift 2
    if [ ! -f "$out/$run.bins.txt" ]; then
        simulate "$run" pod.yaml --until "$((horizon_ms * 3))ms" \
            --set "traffic[0].poisson.stop=${horizon_ms}ms" "$@"
        awk -F, 'NR > 1 && $8 != "" { print $5, $10 }' "$out/$run/flows.csv" |
            sort -n -s -k1,1 >"$out/$run.txt"
        awk -v n="$(wc -l <"$out/$run.txt")" '{ print int((NR - 1) * 20 / n), $1, $2 }' "$out/$run.txt" |
            sort -k1,1n -k3,3g | awk '
                function out() { if (count) print bin * 5, value[int(count * 0.95) + 1] }
                $1 != bin { out(); bin = $1; count = 0 }
                { value[++count] = $3 }
                END { out() }' >"$out/$run.bins.txt"
    fi
    for column in $columns; do
        measure "$key p95 from $column%" \
            "$(awk -v column="$column" '$1 == column { printf "%.4g", $2 }' "$out/$run.bins.txt")"
    done
}

[ "${STUDY_RESUME:-0}" = 1 ] || rm -f "$out"/*.bins.txt
timers() {
    echo "--set nic.dcqcn.rpg-time-reset=$1us --set nic.dcqcn.rate-reduce-monitor-period=$2us"
}
thresholds() {
    echo "--set switch.ecn.kmin=$(($1 * 4))KB --set switch.ecn.kmax=$(($2 * 4))KB" # of 100 Gbps
}
half="--set traffic[0].poisson.load=0.5"
# shellcheck disable=SC2046,SC2086 # options
{
    pod "30% timers 55/50" t55 $(timers 55 50)
    pod "30% timers 300/4" t300
    pod "30% timers 900/4" t900 $(timers 900 4)
    pod "30% thresholds 400/1600" k400 $(thresholds 400 1600)
    pod "30% thresholds 100/400" t300
    pod "30% thresholds 12/50" k12 $(thresholds 12 50)
    pod "50% thresholds 400/1600" h400 $half $(thresholds 400 1600)
    pod "50% thresholds 100/400" h100 $half
    pod "50% thresholds 12/50" h12 $half $(thresholds 12 50)
}

# Incasts of 60 servers have 500 KB each. If they are 2 % of the traffic that passes between two
# halves of the pod (5.6 Tb/s), one comes every 2.14 ms. "Short" flows are below 10 KB.
incast_ms=$((horizon_ms / 2))
for at in 55/50 300/4 900/4; do
    run=incast-${at%/*}
    # shellcheck disable=SC2046 # options
    simulate "$run" pod.yaml --until "$((incast_ms * 3))ms" $(timers "${at%/*}" "${at#*/}") --set "traffic=[
        {poisson: {sizes: websearch, load: 0.3, stop: ${incast_ms}ms}}, {incast: {from: 'host*', to: 'host*',
        senders: 60, bytes: 500KB, every: 2.14ms, random-target: on, random-gaps: on, stop: ${incast_ms}ms}}]"
    measure "incast $at: p95 latency of short flows" \
        "$(awk -F, '$12 == "poisson" && $8 != "" && $5 < 10000 { print $8 / 1e6 }' "$out/$run/flows.csv" |
            quantile 0.95)"
    # Paused time: both directions of a link added, averaged over links, relative to the time in
    # which flows start.
    measure "incast $at: paused" "$(awk -F, -v ms="$incast_ms" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^paused_prio/) column[i] }
        NR > 1 { ports++; for (i in column) sum += $i }
        END { printf "%.4g", 100 * sum / (ports / 2 * ms * 1e6) }' "$out/$run/ports.csv")"
done
ours() { awk -F, -v key="$1" '$1 == key { print $2 }' "$out/ours.csv"; }
for what in paused "p95 latency of short flows"; do
    a=$(ours "incast 55/50: $what") b=$(ours "incast 300/4: $what") c=$(ours "incast 900/4: $what")
    expect "incast: $what: 55/50 above 300/4" "$a" ">" "$b"
    expect "incast: $what: 300/4 above 900/4" "$b" ">" "$c"
done

# order WHAT COLUMN ROWS...: asks that rows whose published values differ by more than a tenth have
# the same order here
order() {
    local what=$1 column=$2 wrong
    shift 2
    wrong=$(for row in "$@"; do
        key="$what $row p95 from $column%"
        awk -F, -v key="$key" -v row="$row" '$1 == key { print row, $2 }' "$here/published.csv" \
            "$out/ours.csv" | tr '\n' ' '
        echo
    done | awk '{ name[NR] = $1; theirs[NR] = $2; ours[NR] = $4 }
        END { for (i = 1; i <= NR; i++) for (j = 1; j <= NR; j++)
                  if (theirs[i] * 1.1 < theirs[j] && ours[i] >= ours[j]) printf " %s>%s", name[i], name[j] }')
    expect "$what from $column%:${wrong:- as theirs}" "$(echo "$wrong" | wc -w)" "<=" 0
}
for column in $columns; do
    order "30% timers" "$column" 55/50 300/4 900/4
    order "30% thresholds" "$column" 400/1600 100/400 12/50
    order "50% thresholds" "$column" 400/1600 100/400 12/50
done

for figure in timers:t55,t300,t900:55/50,300/4,900/4 thresholds:k400,t300,k12:400/1600,100/400,12/50; do
    IFS=: read -r what runs labels <<<"$figure"
    {
        echo "set title 'Web search, 30 %, 25 Gb/s pod: p95 slowdown by $what (lines ours, points theirs)'"
        echo "set xlabel 'flow size (percentile of flows)'; set ylabel 'FCT slowdown, p95'; set logscale y"
        echo "set key top left"
        plots=
        for i in 1 2 3; do
            label=$(echo "$labels" | cut -d, -f$i)
            echo "\$d$i << EOD"
            for column in $columns; do
                echo "$column $(awk -F, -v key="30% $what $label p95 from $column%" '$1 == key { print $2 }' \
                    "$here/published.csv")"
            done
            echo EOD
            run=$(echo "$runs" | cut -d, -f$i)
            plots="$plots${plots:+, }'$out/$run.bins.txt' using 1:2 with lines lw 2 \
                lc $i title '$label', \$d$i using 1:2 with points pt 7 lc $i notitle"
        done
        echo "plot $plots"
    } | draw "dcqcn-$what.svg"
done
report 60
