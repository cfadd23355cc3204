#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# allreduce - how long does a ring all-reduce over 4 to 8 sites take, and what do lost packets add?
#
# This is a script, since it writes the plan of a ring.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" transport,sites,loss,ms,ideal_ms,over_ideal,retransmitted
bytes=$((1048576 * $(pick 8 64))) rtt=$(pick 2ms 10ms)
# ring SITES PART: prints a plan in which every site sends a part to the next site in each step, as
# soon as it has received a part from the site before
ring() {
    awk -v n="$1" -v part="$2" 'BEGIN {
        print "Nodes", n; print "Connections", n * 2 * (n - 1); print "Triggers", n * (2 * (n - 1) - 1)
        for (s = 0; s < 2 * (n - 1); s++) for (i = 0; i < n; i++) {
            # Connection s, i is received by site i + 1, which then sends connection s + 1, i + 1.
            id = s * n + i + 1; next_trigger = s * n + (i + 1) % n + 1; mine = (s - 1) * n + i + 1
            line = i "->" (i + 1) % n " id " id (s == 0 ? " start 0" : " trigger " mine) " size " part
            if (s < 2 * (n - 1) - 1) line = line " recv_done_trigger " next_trigger
            print line
        }
        for (t = 1; t <= n * (2 * (n - 1) - 1); t++) print "trigger id", t, "oneshot" }'
}
for transport in $(pick transports "adamap" "go-back-n irn adamap sdr"); do
    for sites in $(pick sites "4" "4 6 8"); do
        for loss in 0 $(pick losses "0.001" "0.00001 0.0001 0.001"); do
            part=$((bytes / sites))
            ring "$sites" $part >"$out/ring.cm"
            cat >"$out/ring.yaml" <<END
name: ring
until: 1000s
topology: {wan: {sites: $sites, hosts: 1, rtt: $rtt, shape: ring, rate: 100Gbps}}
switch: {pfc: {enabled: false}, ecn: {enabled: false}}
nic: {transport: $transport, congestion-control: none, timeout: 15, nak-interval: 4us, nak-once: on}
traffic: [{flows: {file: ring.cm, format: htsim}}]
links: {"border*--border*": {loss-rate: $loss, loss-packets: data}}
END
            here_was=$here here=$out
            simulate ring.yaml
            here=$here_was
            ms=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
                NR > 1 { end = $at["end_ns"] > end ? $at["end_ns"] : end } END { printf "%.6g", end / 1e6 }' \
                "$out/run/flows.csv")
            part_s=$(calc "$part / 4096 * $(frame_of "$transport") * 8 / 100e9")
            step_s=$(calc "$part_s + $(seconds $rtt) / 2 + 2e-6")
            ideal=$(calc "1000 * (2 * ($sites - 1) * $step_s + $(seconds $rtt) / 2)")
            put "$transport" "$sites" "$loss" "$ms" "$ideal" "$(calc "$ms / $ideal")" \
                "$(awk -F, 'NR > 1 { sum += $11 } END { print sum + 0 }' "$out/run/flows.csv")"
        done
    done
done
bars over_ideal 3
