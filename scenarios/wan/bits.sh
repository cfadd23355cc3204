#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bits - how many bits of a map does the latency of the host need, with three maps on the NIC?
#
# This is a script, since speeds are relative to a run without latency.
set -eu
. "$(dirname "$0")/wan_lib.sh"
begin "$1" case,latency_us,bits,map_us,percent,stall_percent,nic_bytes_per_qp
packets=$(pick 100000 500000)
for case in $(pick cases "" "100:0.05 800:0.001 800:0.01") 800:0.05; do
    rate=${case%:*} loss=${case#*:}
    for bits in $(pick bits "16 256" "16 64 128 256"); do
        for latency in 0 $(pick latencies "4" "1 2 4 8"); do
            simulate goodput.yaml rtt=1ms "bytes=$((packets * 4096))" switch.buffer=4GB "rate=${rate}Gbps" \
                "loss=$loss" "bits=$bits" n=3 watermark=2 "nic.adamap.read-latency=${latency}us"
            ms=$(calc "$(value "apps[0].fct_ns[0]") / 1e6")
            [ "$latency" != 0 ] || ideal=$ms
            IFS=, read -r hits stalls bytes <<<"$(transport prefetch_hits prefetch_stalls nic_bytes_per_qp)"
            put "${rate}Gbps p=$loss" "$latency" "$bits" \
                "$(calc "(1 / $loss + $bits) * 4194 * 8 / $rate / 1000")" "$(calc "100 * $ideal / $ms")" \
                "$(calc "100 * $stalls / max(1, $hits + $stalls)")" "$bytes"
        done
    done
done
heat latency_us bits percent
