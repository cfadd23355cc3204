#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# prefetch - how many maps on the NIC, and which watermark, keep first retransmissions from waiting?
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" case,n,watermark,stall_percent,stalled_us_per_stall,dma_reads,percent
packets=$(pick 100000 1000000)
for case in "100Gbps 0.001 1us" "100Gbps 0.01 1us" "800Gbps 0.01 1us" "800Gbps 0.05 1us" \
    "800Gbps 0.05 4us"; do
    # shellcheck disable=SC2086
    set -- $case
    for n in $(pick "1 4" "1 2 3 4 8 16"); do
        for watermark in $(pick "$((n - 1))" "0 1 2 3 7 15"); do
            [ "$watermark" -lt "$n" ] || continue
            simulate goodput.yaml "rate=$1" "loss=$2" "nic.adamap.read-latency=$3" rtt=10ms "n=$n" \
                "watermark=$watermark" "bytes=$((packets * 4096))"
            IFS=, read -r hits stalls stalled reads \
                <<<"$(transport prefetch_hits prefetch_stalls stalled_us dma_reads)"
            put "$1 p=$2 dma=$3" "$n" "$watermark" \
                "$(calc "100 * $stalls / max(1, $hits + $stalls)")" \
                "$(calc "$stalled / max(1, $stalls)")" \
                "$reads" \
                "$(calc "$(value "apps[0].goodput_gbps") / ${1%Gbps} * 4194 / 4096 * 100")"
        done
    done
done
heat n watermark stall_percent -20
