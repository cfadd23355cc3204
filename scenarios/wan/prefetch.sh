#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# prefetch - how many maps on the NIC, which watermark, and which runs does the latency of the host need?
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" case,n,watermark,percent,stall_percent,waited_us,pipeline_percent,dma_reads,nic_bytes_per_qp
packets=$(pick 100000 500000)
# point NAME N WATERMARK SET...: runs one point and prints its row
point() {
    local name=$1 n=$2 watermark=$3 hits stalls waited stood reads bytes
    shift 3
    simulate goodput.yaml rtt=1ms "n=$n" "watermark=$watermark" "bytes=$((packets * 4096))" "$@"
    IFS=, read -r hits stalls waited stood reads bytes \
        <<<"$(transport prefetch_hits prefetch_stalls stalled_us pipeline_us dma_reads nic_bytes_per_qp)"
    put "$name" "$n" "$watermark" \
        "$(calc "$(value "apps[0].goodput_gbps") / $rate * 4194 / 4096 * 100")" \
        "$(calc "100 * $stalls / max(1, $hits + $stalls)")" \
        "$waited" \
        "$(calc "$stood / $(value "apps[0].fct_ns[0]") * 1e5")" "$reads" "$bytes"
}
# Rate, loss, latency of a read, blocks of a run, packets that wait beside the pipeline.
for case in $(pick "" "100:0.01:1us:1:32 100:0.05:8us:1:32") 800:0.05:4us:1:32 \
    $(pick "" "800:0.05:1us:1:0 800:0.05:2us:8:0 800:0.05:4us:8:0") 800:0.05:4us:8:32; do
    IFS=: read -r rate loss latency run beside <<<"$case"
    for n in $(pick "1 8" "1 2 4 8 16"); do
        for watermark in $(pick "$((n / 2))" "0 1 2 4 8 12"); do
            [ "$watermark" -lt "$n" ] || continue
            point "${rate}Gbps p=$loss dma=$latency run=$run beside=$beside" "$n" "$watermark" \
                "rate=${rate}Gbps" "loss=$loss" "nic.adamap.read-latency=$latency" \
                "nic.adamap.run-blocks=$run" "nic.adamap.wait-packets=$beside"
        done
    done
done
heat n watermark percent
