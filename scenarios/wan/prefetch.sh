#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# prefetch - how many maps on the NIC, which watermark, runs and bits does the latency of the host need?
#
# This is a script, since speeds are relative to a run without latency.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" case,n,watermark,percent,ms,stall_percent,waited_us,pipeline_us,dma_reads,nic_bytes_per_qp
packets=$(pick 200000 500000)
# The distance does not matter. A switch that drops nothing while the NIC pauses it shows the NIC alone.
common=(rtt=1ms "bytes=$((packets * 4096))" switch.buffer=4GB)
# point NAME N WATERMARK SET...: runs one point and prints its row; percent is the speed of a NIC to which
# the host's memory is as near as its own
point() {
    local name=$1 n=$2 watermark=$3 hits stalls rest ms
    shift 3
    simulate goodput.yaml "${common[@]}" "n=$n" "watermark=$watermark" "$@"
    ms=$(calc "$(value "apps[0].fct_ns[0]") / 1e6")
    IFS=, read -r hits stalls rest \
        <<<"$(transport prefetch_hits prefetch_stalls stalled_us pipeline_us dma_reads nic_bytes_per_qp)"
    put "$name" "$n" "$watermark" "$(calc "100 * $ideal / $ms")" "$ms" \
        "$(calc "100 * $stalls / max(1, $hits + $stalls)")" "$rest"
}
# Rate, loss, latency of a read, blocks of a run, packets that wait beside the pipeline, bits of a map.
for case in $(pick "" "100:0.01:1us:1:32:16 100:0.05:8us:1:32:16 100:0.05:20us:1:32:16
    800:0.05:1us:1:32:16 800:0.05:1us:1:0:16") 800:0.05:4us:1:32:16 800:0.05:4us:8:32:16 \
    $(pick "" 800:0.05:4us:1:32:128); do
    IFS=: read -r rate loss latency run beside bits <<<"$case"
    sets=("rate=${rate}Gbps" "loss=$loss" "bits=$bits" "nic.adamap.run-blocks=$run"
        "nic.adamap.wait-packets=$beside")
    simulate goodput.yaml "${common[@]}" "${sets[@]}" n=64 nic.adamap.read-latency=0s
    ideal=$(calc "$(value "apps[0].fct_ns[0]") / 1e6")
    for n in $(pick maps "1 8" "1 2 4 8 16"); do
        for watermark in $(pick watermarks "$((n / 2))" "0 1 2 4 8 12"); do
            [ "$watermark" -lt "$n" ] || continue
            point "${rate}Gbps p=$loss dma=$latency run=$run beside=$beside b=$bits" "$n" "$watermark" \
                "${sets[@]}" "nic.adamap.read-latency=$latency"
        done
    done
done
heat n watermark percent
