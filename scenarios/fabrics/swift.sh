#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# swift - does Swift keep the delay when 5000 flows share one link, each with less than a packet?
#
# This is a script, since published figures stand beside its runs.
# Published: Kumar et al., SIGCOMM 2020, incast of 50 hosts x 100 flows at 50 Gbps: 49.5 Gbps, 110 us.
# Assumed here: a star with links of 1 us, MTU 4096, go-back-N, 32 MB of buffer without PFC, fs-range
# 50 us (the paper prints no constants), a start window of one packet, flows that start in groups 10 us
# apart. The round trip is the mean queue at the bottleneck plus the idle path; throughput counts
# headers, too.
set -eu
. "$(dirname "$0")/fabrics_lib.sh"
begin "$1" case,window,nr,gbps,theirs_gbps,difference_percent,rtt_us,theirs_rtt_us,rtt_percent,dropped
from=$([ "$quick" = 1 ] && echo 40 || echo 100) # ms
until=$([ "$quick" = 1 ] && echo 60 || echo 200)
{
    echo "topology: {star: {hosts: 51, rate: 50Gbps, delay: 1us}}"
    echo "switch: {pfc: {enabled: false}, ecn: {enabled: false}}"
    echo "nic: {congestion-control: swift, mtu: 4096, swift: {fs-range: 50us, start-window: 1}}"
    echo 'observe: [{series: "port[switch0->host50].queue_bytes", every: 20us}]'
    echo "outputs: {flows: false}"
    echo "traffic:"
    for group in $(seq 100); do
        echo "  - incast: {to: host50, from: 'host[0-49]', bytes: 40MB, start: $((group * 10))us}"
    done
} >"$out/swift.yaml"

# run MS: prints the payload bytes that NICs have accepted at that time
run() {
    "$program" run "$out/swift.yaml" -o "$out/run" --quiet --set "until=$1ms" "${more[@]}" \
        >"$out/run.log" 2>&1 ||
        { cat "$out/run.log" >&2 && exit 1; }
    summary=$out/run/summary.json
    value nic_counters.rx_data_bytes
}
before=$(run "$from")
after=$(run "$until")
summary=$out/run/summary.json
gbps=$(calc "($after - $before) * 8 * (4096 + 82) / 4096 / ($until - $from) / 1e6")
queue=$(awk -F, -v from="$from" '$1 > from * 1e6 { sum += $3; n++ } END { print sum / n }' \
    "$out/run/series.csv")
# The idle path: two links there, two back, and the data frame twice.
rtt=$(calc "$queue * 8 / 50e3 + 4 * 1 + 2 * (4096 + 82) * 8 / 50e3")
put incast below-one 1 "$(against "$gbps" 49.5)" "$(against "$rtt" 110)" "$(value packets.dropped)"
labels=1 axis=3 draw window gbps theirs_gbps
