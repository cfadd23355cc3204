#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# modes - how much slower are flows with PFC, with go-back-N on a lossy network, and with IRN?
#
# This is a script, since published figures stand beside its runs.
# This is figure 12 of HPCC (SIGCOMM 2019): the fat-tree of 320 hosts of scenarios/papers/fat-tree,
# FB_Hadoop flows at 30 % load with incasts of 60 hosts, and DCQCN. data.csv has the 95th percentile
# of the slowdown of flows from each twentieth of sizes on, beside the figure. Assumed here: a
# time-out of 0.52 ms for go-back-N, since the figure's slow flows take 0.5 ms a packet, and IRN with
# its own settings. Rows with PFC are draws: `--set seed=2` gives others (docs/models/topologies.md).
# Flows start for `horizon` ms (10). With go-back-N the network is not stable: the longer it runs, the
# more packets are lost. The figure's run was longer, so only flows count that
# start in the last quarter. The run ends 100 ms later; unfinished flows do not count.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
begin "$1" mode,from_percent,p95,theirs,difference_percent
scenario=$here/../papers/fat-tree/fat-tree.yaml
horizon=$(pick horizon "1" "10")

published() {
    case $1 in
    pfc) echo "0:65.4 60:65.6 65:63.4 70:53.8 80:46.6 90:29.9 95:11.3" ;;
    go-back-n) echo "0:63.2 60:77 65:103 70:1197 80:2078 90:3038 95:311" ;;
    irn) echo "0:2.80 60:2.88 65:2.90 70:2.82 80:2.89 90:3.44 95:4.56" ;;
    esac
}

for mode in $(pick modes "pfc irn" "pfc go-back-n irn"); do
    options=(--set nic.ack-priority=6 --set nic.scan.ack-pause-class=0)
    case $mode in
    go-back-n) options+=(--set switch.pfc.enabled=false --set nic.timeout=7) ;;
    irn) options+=(--set switch.pfc.enabled=false --set nic.transport=irn) ;;
    esac
    if ! "$program" run "$scenario" -o "$out/run" --quiet --until "$((horizon + 100))ms" "${options[@]}" \
        --set "traffic[0].poisson.stop=${horizon}ms" --set "traffic[0].poisson.load=0.3" \
        --set "traffic[1].incast.stop=${horizon}ms" "${more[@]}" >"$out/run.log" 2>&1; then
        cat "$out/run.log" >&2
        exit 1
    fi
    # Slowdowns by size: the flows in the order of their sizes, cut into twentieths.
    awk -F, -v from="$(calc "$horizon * 0.75e6")" 'NR == 1 || $6 >= from' "$out/run/flows.csv" \
        >"$out/last.csv"
    awk -f "$here/../papers/fat-tree/slowdown.awk" "$out/last.csv" | sort -n -s -k1,1 >"$out/flows.txt"
    awk -v n="$(wc -l <"$out/flows.txt")" '{ print int((NR - 1) * 20 / n) * 5, $2 }' "$out/flows.txt" |
        sort -k1,1n -k2,2g | awk 'BEGIN { bin = -1 }
            function out() { if (count) print bin, value[int(count * 0.95) + 1] }
            $1 != bin { out(); bin = $1; count = 0 }
            { value[++count] = $2 }
            END { out() }' >"$out/bins.txt"
    for pair in $(published "$mode"); do
        put "$mode" "${pair%:*}" "$(against \
            "$(calc "$(awk -v bin="${pair%:*}" '$1 == bin { print $2 }' "$out/bins.txt")")" "${pair#*:}")"
    done
done
draw from_percent p95 theirs
